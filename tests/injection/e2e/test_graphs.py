# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs lead from each node that ran to the calls that made it.

Covers SOURCE(graphs).
"""
import json

from case import Case
from programs import tool


class Graphs(Case):
    """CUDA graphs of every kind, from what they were made of to what each node ran."""

    def report(self, *words, **keywords):
        run = self.record(*words, program="app_graphs", **keywords)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.recording.ledger["kernels"], run.facts["kernel_count"])
        self.assertEqual(run.recording.ledger["graph_launches"], run.facts["graph_launches"])
        self.assertEqual(run.recording.ledger["launches_missing"], 0)
        return run, json.loads(tool("report", "--json", "--set", "top=100", run.recording.path, "graphs"))

    def nodes(self, report):
        return sorted((row["kernel"], row["runs"], row["made_by"]) for row in report["nodes"]
                      if row["type"] == "kernel")

    def test_captured_by_two_threads_on_two_streams(self):
        run, report = self.report("captured", "--launches", 5, "--nodes", 3)
        self.assertEqual([(row["made"], row["nodes"], row["kernels"], row["threads"]) for row in report["graphs"]],
                         [("captured", 8, 8, 2)])
        # forward in a chain, aside and backward after it, last after both of them
        self.assertEqual(report["graphs"][0]["dependencies"], 2 + 1 + 3 + 2)
        self.assertEqual(self.nodes(report),
                         [("aside", 5, "cuLaunchKernel")] + 3 * [("backward", 5, "cuLaunchKernel")]
                         + 3 * [("forward", 5, "cuLaunchKernel")] + [("last", 5, "cuLaunchKernel")])
        threads = {(row["kernel"], row["thread"]) for row in report["nodes"]}
        self.assertEqual(len(threads), 4)
        self.assertNotEqual(dict(threads)["backward"], dict(threads)["forward"])
        self.assertEqual([(row["launches"], row["activities"], row["width"]) for row in report["runs"]], [(5, 8, 2)])
        self.assertEqual([row["kernel"] for row in report["nodes"] if row["critical"] is None], ["aside"])
        self.assertEqual([(row["kernel"], row["in_graph_calls"], row["alone_calls"]) for row in report["compared"]],
                         [("forward", 15, 2)])
        self.assertEqual([(row["asked_for"], row["kernels"]) for row in report["share"]],
                         [("in graphs", 40), ("one by one", 2)])

    def test_a_capture_is_known_whichever_calls_are_recorded(self):
        for words in (("--api", "all"), ("--api", "outer")):
            _, report = self.report("captured", options=words)
            self.assertEqual([row["made_by"] for row in report["nodes"]], 10 * ["cuLaunchKernel"])
            self.assertEqual(report["graphs"][0]["made"], "captured")

    def test_by_the_runtime(self):
        run = self.record(program="app_captures")
        report = run.recording.report("graphs")
        self.assertEqual([(row["made"], row["nodes"], row["threads"]) for row in report["graphs"]], [("captured", 15, 2)])
        self.assertEqual([row["launches"] for row in report["runs"]], [3])
        self.assertEqual({row["made_by"] for row in report["nodes"]}, {"cuLaunchKernel"})

    def test_built_by_hand_and_cloned(self):
        run, report = self.report("by-hand")
        contents = {"nodes": 7, "kernels": 4, "fills": 1, "host": 1, "other": 1, "copies": 0, "children": 0}
        self.assertEqual([row["made"] for row in report["graphs"]], ["built by hand", "cloned"])
        for row in report["graphs"]:
            self.assertEqual({name: row[name] for name in contents}, contents)
        self.assertEqual(report["graphs"][0]["dependencies"], 7)
        self.assertEqual(report["graphs"][1]["clone_of"], report["graphs"][0]["graph"])
        # the clone of a clone leads to the call that added the node by hand
        self.assertEqual(self.nodes(report), sorted(2 * [
            (name, 3, "cuGraphAddKernelNode") for name in ("first", "left", "right", "both")]))
        self.assertEqual([(row["type"], row["runs"]) for row in report["nodes"] if row["type"] != "kernel"],
                         2 * [("fill", 3)])
        self.assertEqual([row["width"] for row in report["runs"]], [2, 2])
        self.assertEqual(run.facts["host_calls"], 6)

    def test_child_graphs(self):
        _, report = self.report("child")
        self.assertEqual([row["made"] for row in report["graphs"]], ["built by hand", "built by hand", "child graph", "child graph"])
        outer = report["graphs"][1]["graph"]
        self.assertEqual([row["inside_of"] for row in report["graphs"]], [None, None, outer, outer])
        self.assertEqual([(row["nodes"], row["children"]) for row in report["graphs"]],
                         [(2, 0), (4, 2), (2, 0), (2, 0)])
        self.assertEqual([(row["launches"], row["activities"], row["width"]) for row in report["runs"]], [(3, 6, 2)])
        # before, one of the two children, after: four kernels of 10 us in a row
        self.assertAlmostEqual(report["runs"][0]["critical_ns"], 40000, delta=100)
        self.assertEqual(report["execs"][0]["nodes"], 8)

    def test_iterations_of_a_loop_are_counted(self):
        run, report = self.report("conditional", "--launches", 4)
        runs = {row["kernel"]: (row["runs"], row["per_launch"]) for row in report["nodes"]}
        self.assertEqual(runs, {"before_loop": (4, 1), "body": (4 * run.facts["iterations"], run.facts["iterations"])})
        self.assertEqual([row["made"] for row in report["graphs"]], ["built by hand", "body of a conditional node"])
        self.assertEqual(report["graphs"][1]["inside_of"], report["graphs"][0]["graph"])
        self.assertEqual([row["conditional"] for row in report["graphs"]], [1, 0])

    def test_updates_and_uploads(self):
        _, report = self.report("updated")
        costs = {"uploads": 1, "updates": 2, "updates_failed": 1, "outcome": "topology changed", "sets": 1, "nodes_changed": 3}
        self.assertEqual({name: report["execs"][0][name] for name in costs}, costs)
        for name in ("instantiate_ns", "upload_ns", "update_ns", "set_ns"):
            self.assertGreater(report["execs"][0][name], 0, name)
        # a dependency and a node were taken away again
        self.assertEqual([(row["nodes"], row["dependencies"]) for row in report["graphs"]], [(2, 0), (2, 0)])

    def test_handles_that_are_used_again(self):
        _, report = self.report()
        self.assertEqual(sorted(row["launches"] for row in report["runs"]), [3, 3, 3, 3, 3, 6])
        self.assertEqual(len({row["exec"] for row in report["runs"]}), 6)
        self.assertNotIn(None, [row["graph"] for row in report["runs"]])

    def test_a_large_graph_loses_no_node(self):
        run, report = self.report("captured", "--nodes", 500, "--launches", 20)
        self.assertEqual(report["graphs"][0]["nodes"], 1002)
        self.assertEqual((report["runs"][0]["activities"], report["runs"][0]["launches"]), (1002, 20))
        self.assertEqual(report["execs"][0]["nodes"], 1002)

    def test_launches_as_a_whole(self):
        run = self.record("captured", program="app_graphs", options=("--graphs", "graph"))
        report = run.recording.report("graphs")
        nodes = 2 * run.facts["nodes"] + 2
        self.assertEqual([(row["launches"], row["activities"], row["busy_ns"]) for row in report["runs"]], [(3, None, None)])
        # ten kernels of 10 us, one after the other in the stream
        self.assertAlmostEqual(report["runs"][0]["span_ns"], nodes * 10000, delta=1000)
        self.assertEqual(report["graphs"][0]["nodes"], nodes)
        self.assertEqual([(row["asked_for"], row["kernels"]) for row in report["share"]],
                         [("in graphs", 0), ("one by one", 2)])
        self.assertEqual(run.recording.tables["graph_traces"], 3)
        self.assertTrue([note for note in run.recording.notes if "recorded as a whole" in note])

    def test_samples_of_launches(self):
        run = self.record("captured", "--launches", 100, program="app_graphs",
                          options=("--graphs", "sampled", "--graph-sample", "10"))
        report = run.recording.report("graphs")
        nodes = 2 * run.facts["nodes"] + 2
        # the first ten, and the 20th, 30th, ... 100th
        row = report["runs"][0]
        self.assertEqual((row["launches"], row["activities"]), (100, nodes))
        self.assertEqual({row["runs"] for row in report["nodes"]}, {19})
        self.assertEqual(report["share"][0]["kernels"], 19 * nodes)
        self.assertGreaterEqual(row["span_ns"], nodes * 10000 - 100)
        self.assertLess(row["span_ns"], 50 * nodes * 10000)  # a busy machine leaves gaps; all launches take 100 times as long
        # nothing is lost: what is in no table is counted
        self.assertEqual(run.recording.tables["graph_traces"], 81)
        self.assertEqual(run.recording.ledger["activity_folded"], 81 * nodes)
        self.assertTrue([note for note in run.recording.notes if "first 10 launches and every 10th" in note])

    def test_launches_as_a_whole_that_cupti_refuses(self):
        run = self.record("captured", program="app_graphs", options=("--graphs", "graph"),
                          script="enable_fail=graph_trace")
        self.assertEqual(run.recording.ledger["sources_failed"], 1)
        self.assertTrue([note for note in run.recording.notes if "graphs as a whole are not recorded" in note])
        self.assertFalse([note for note in run.recording.notes if "as was asked" in note])
        self.assertEqual([row["activities"] for row in run.recording.report("graphs")["runs"]], [10])

    def test_without_api_calls(self):
        run = self.record("by-hand", program="app_graphs", options=("--api", "none"))
        report = run.recording.report("graphs")
        self.assertEqual([row["launches"] for row in report["runs"]], [3, 3])
        self.assertEqual([row["span_ns"] for row in report["runs"]], [None, None])
        self.assertEqual({row["runs"] for row in report["nodes"]}, {3})

    def test_a_killed_program_keeps_its_graphs(self):
        run = self.record("--driver", "--launches", 1, "--graph", "5x7", "--end", "kill")
        report = run.recording.report("graphs")
        self.assertEqual([row["launches"] for row in report["runs"]], [7])
        self.assertEqual([(row["made"], row["nodes"], row["dependencies"]) for row in report["graphs"]],
                         [("built by hand", 5, 4)])

    def test_cuda_12_4(self):
        _, report = self.report("by-hand", script="version=22")
        self.assertEqual([(row["launches"], row["activities"]) for row in report["runs"]], [(3, 5), (3, 5)])
