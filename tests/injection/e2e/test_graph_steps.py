# SPDX-License-Identifier: Apache-2.0
"""Launches of CUDA graphs are captured, and their nodes run again as steps."""
import json

from bundles import Bundles


class GraphSteps(Bundles):
    """Launches of CUDA graphs that are captured, all but their first destroyed by then: app_graph_steps."""

    def capture(self, how, *words, options=("--capture-sequence", "step"), **keywords):
        run = self.record("--cubin", self.CUBIN, "--how", how, *words, program="app_graph_steps",
                          options=("--no-export", *options), **keywords)
        self.assertEqual(run.status, 0, run.stderr)
        return run

    def manifests(self, run):
        return [json.loads((folder / "bundle.json").read_text()) for folder in self.bundles(run)]

    @staticmethod
    def steps(manifest):
        """Steps that came of graphs, each as a word: K1 a kernel on stream 1, R1:0 a record there of event 0, W0:0 a wait."""
        letters = {"launch": "K", "copy": "C", "fill": "F", "record": "R", "wait": "W"}
        return " ".join(f"{letters[step['kind']]}{step['stream']}" + (f":{step['event']}" if "event" in step else "")
                        for step in manifest["steps"] if "graph" in step)

    def check_replay(self, run, *words):
        status, buffers = self.replay(run, *words)
        self.assertEqual((status, [row["differing"] for row in buffers]), (0, [0] * len(buffers)))
        self.assertTrue(buffers)

    def test_a_chain_stays_on_the_stream_of_the_launch(self):
        run = self.capture("chain")
        manifest = self.manifest(run)
        self.assertEqual(self.steps(manifest), "C0 K0 F0 C0 C0")
        self.assertEqual([step.get("graph") for step in manifest["steps"]], [1] * 5 + [None] * 2)
        self.assertEqual(len({step["correlation"] for step in manifest["steps"] if "graph" in step}), 1)
        self.assertEqual([stream["nonblocking"] for stream in manifest["streams"]], [True, True])
        self.assertEqual(manifest["missing"], [])
        copies = [step for step in manifest["steps"] if step["kind"] == "copy"]
        self.assertEqual([("from" in step, "to" in step) for step in copies], [(False, True), (True, True), (True, False)])
        (row,) = self.told(run)
        self.assertEqual((row["reason"], row["range"], row["steps"]), ("", "step", 7))
        self.check_replay(run)

    def test_who_asked_for_its_memory(self):
        for options in (("--capture-graphs",), ("--capture-kernels", "scale"), ("--capture-sequence", "step")):
            with self.subTest(options):
                run = self.capture("chain", "--steps", 1, options=options)
                names = {memory["name"] for memory in self.bundle(run)["memory"] if memory["kind"] != "variable"}
                self.assertEqual(names, {"app_graph_steps"})

    def test_branches_go_to_streams_of_nobody_with_events(self):
        for how in ("fork", "child"):
            with self.subTest(how):
                run = self.capture(how)
                manifest = self.manifest(run)
                self.assertEqual(self.steps(manifest), "K0 R0:0 K0 W1:0 K1 R1:0 W0:0 K0")
                self.assertEqual([(stream["number"] > 0, stream["priority"]) for stream in manifest["streams"]],
                                 [(True, -1), (False, -1), (True, 0)])
                for form in ("recorded", "one-stream", "graph"):
                    self.check_replay(run, "--form", form)

    def test_what_waits_for_a_graph_of_no_nodes_waits_for_what_that_waits_for(self):
        run = self.capture("hollow")
        self.assertEqual(self.steps(self.manifest(run)), "K0 K0")
        for form in ("recorded", "one-stream", "graph"):
            self.check_replay(run, "--form", form)

    def test_more_branches_than_streams(self):
        run = self.capture("many")
        manifest = self.manifest(run)
        work = [step for step in manifest["steps"] if step["kind"] == "launch"]
        self.assertEqual((len(work), len(manifest["streams"])), (42, 34))
        self.assertEqual(len({step["stream"] for step in work}), 33)
        self.check_replay(run)

    def test_a_programmatic_dependency(self):
        self.assertEqual([step["programmatic"] for step in self.manifest(self.capture("programmatic"))["steps"]
                          if step["kind"] == "launch"], [False, True])

    def test_what_becomes_of_an_executable_graph_is_followed(self):
        for how, shown, memory in (("hand", "K0 F0 C0 K0", {0: 4, 2: 6.00784302}), ("update", "K0 F0 C0 K0", {0: 9}),
                                   ("set", "K0 F0 C0 K0", {0: 1, 4: 605}), ("disabled", "K0 C0 K0", {0: 4, 1: 2, 2: 4}),
                                   ("gone", "K0 K0", {0: 36}),
                                   ("childchange", "K0 R0:0 K0 W1:0 K1 R1:0 W0:0 K0", {1: 8, 2: 147, 3: 36, 4: 125})):
            with self.subTest(how):
                run = self.capture(how)
                self.assertEqual(self.steps(self.manifest(run)), shown)
                for number, value in memory.items():
                    self.assertAlmostEqual(run.facts["values"][number], value, 5)
                self.check_replay(run)

    def test_one_that_is_launched_twice_runs_one_after_the_other(self):
        run = self.capture("twice")
        manifest = self.manifest(run)
        self.assertEqual(self.steps(manifest), "K0 R0:0 K0 W1:0 K1 R1:0 W0:0 K0 K2 R2:0 K2 W3:0 K3 R3:0 W2:0 K2")
        numbers = [step.get("graph", 0) for step in manifest["steps"]]
        self.assertEqual(numbers, [1] * 8 + [0] * 3 + [2] * 8 + [0] * 2)
        self.assertEqual([(step["kind"], step.get("stream"), step["event"]) for step in manifest["steps"][9:11]],
                         [("record", 0, 0), ("wait", 2, 0)])
        self.check_replay(run)
        first, _, again, _ = [stream["number"] for stream in manifest["streams"]]
        status, said = self.replay_all(run, "--form", "priorities")
        self.assertEqual((status, said["times"][-1]["variant"]), (0, f"form=priorities({again}=first,{first}=last)"))

    def test_what_the_host_writes_comes_before_the_graph(self):
        run = self.capture("written", "--steps", 3, options=("--capture-sequence", "step", "--launches", "2:1"))
        steps = self.manifest(run)["steps"]
        # Data written before the first of the two is in what memory held before.
        self.assertEqual([(step["kind"], step.get("stream"), step.get("graph", 0), "by_host" in step)
                          for step in steps if step["kind"] in ("launch", "copy")],
                         [("launch", 0, 1, False)] * 2 + [("copy", 1, 0, True)] * 2 + [("launch", 1, 2, False)] * 2)
        copies = [step for step in steps if "by_host" in step and step["kind"] == "copy"]
        self.assertEqual({(int(step["to"], 16), step["bytes"]) for step in copies},
                         {(run.facts["managed"] + 16, 8), (run.facts["pinned"] + 24, 8)})
        last = steps.index(copies[-1])
        self.assertEqual((steps[last + 1]["kind"], "by_host" in steps[last + 1], steps[last + 2].get("graph")),
                         ("host_wait", True, 2))
        memory = {memory["address"]: memory for memory in self.bundle(run)["memory"]}
        managed, pinned = memory[run.facts["managed"]], memory[run.facts["pinned"]]
        self.assertEqual((managed["before"][5], managed["after"][5], managed["before"][6], managed["after"][6]),
                         (200, 200, 4, 16))
        self.assertEqual((pinned["before"][7], pinned["after"][7], pinned["before"][8], pinned["after"][8]),
                         (150, 150, 9, 81))
        for form in ("recorded", "one-stream", "graph"):
            self.check_replay(run, "--form", form)

    def test_launches_without_work_are_none(self):
        for how in ("empty", "bare", "within"):
            with self.subTest(how):
                run = self.capture(how)
                manifest = self.manifest(run)
                self.assertEqual(self.steps(manifest), "K0 F0 C0 K0")
                other = 2 if how == "within" else 1  # its copy's branches had streams, before it was seen to be no step
                self.assertEqual([(step["kind"], step["stream"], step.get("graph")) for step in manifest["steps"]],
                                 [("record", 0, None), ("wait", other, None), ("launch", 0, 1), ("fill", 0, 1), ("copy", 0, 1),
                                  ("launch", 0, 1), ("host_wait", 0, None), ("host_wait", other, None)])
                self.assertEqual(len(manifest["streams"]), 2 * other)
                self.check_replay(run)
                run = self.capture(how, options=("--capture-graphs", "--launches", "1:3"))
                self.assertEqual([row["reason"] for row in self.told(run)],
                                 ["it has no launch, copy or fill"] * 2 + [""])
                self.assertEqual([folder.name.split("-")[1] for folder in self.bundles(run)], ["3"])

    def test_copies_and_fills_of_rows_and_slices(self):
        run = self.capture("boxes")
        manifest = self.manifest(run)
        self.assertEqual(self.steps(manifest), "C0 C0 F0 C0 K0")
        x, y, z = run.facts["memory"][:3]
        shape = ("to", "from", "bytes", "rows", "slices", "to_pitch", "from_pitch", "to_slice_pitch", "from_slice_pitch")
        rows, slices, fill, back = [tuple(step.get(member) for member in shape) for step in manifest["steps"][:4]]
        self.assertEqual(rows, (hex(x), None, 64, 8, None, 128, None, None, None))
        self.assertEqual(slices, (hex(y + 64), hex(x + 16), 32, 2, 3, 64, 128, 5 * 64, 2 * 128))
        self.assertEqual(fill, (hex(z + 32), None, 64, 4, None, 128, None, None, None))
        self.assertEqual(back, (None, hex(y), 64, 4, None, 0, 128, None, None))
        memory = {memory["address"]: memory for memory in self.bundle(run)["memory"]}
        half = [i * 1.0 for i in range(256)]
        # The third row of the host's, from its second element on, with what was there behind it.
        self.assertEqual(memory[x]["after"][2 * 32:2 * 32 + 17], half[3 * 24 + 1:3 * 24 + 17] + [1])
        # The second row of the second slice: of the fourth row.
        self.assertEqual(memory[y]["after"][16 + 5 * 16 + 16:][:9], half[4 * 24 + 1 + 4:][:8] + [2])
        filled = 0.747058809  # 0x3f3f3f3f
        self.assertEqual(memory[z]["after"][8 + 32 - 1:][:18], [3] + [filled] * 16 + [3])
        for form in ("recorded", "one-stream", "graph"):
            self.check_replay(run, "--form", form)
        self.check_replay(run, "--relocate")

    def test_what_gets_nowhere_is_given_up(self):
        run = self.capture("written", "--steps", 1, script="kernel_ns=600000000", GPUTRACE_LAUNCHES_PATIENCE="100ms")
        self.assertEqual(self.bundles(run), [])
        (row,) = self.told(run)
        self.assertIn("nothing got on for half a minute", row["reason"])
        self.assertIn("sequences are not captured any more: nothing got on", str(run.recording.notes))
        bare = self.bare("--cubin", self.CUBIN, "--how", "written", "--steps", 1, program="app_graph_steps")
        self.assertEqual((run.facts["values"], run.facts["calls"]), (bare.facts["values"], bare.facts["calls"]))

    def test_a_graph_that_ends_while_what_was_given_up_still_reads_in_it(self):
        for options in (("--capture-graphs",), ("--capture-kernels", "scale"), ("--capture-sequence", "step")):
            with self.subTest(options):
                run = self.capture("busy", "--steps", 1, options=options, script="kernel_ns=600000000",
                                   GPUTRACE_LAUNCHES_PATIENCE="100ms")
                self.assertEqual((run.status, self.bundles(run)), (0, []), run.stderr)
                self.assertIn("nothing got on for half a minute", self.told(run)[0]["reason"])

    def test_a_node_is_chosen_by_the_name_that_it_has(self):
        run = self.capture("renamed", "--steps", 4, options=("--capture-kernels", "reciprocal|nothing", "--launches", "1:9"))
        (row,) = self.told(run)
        self.assertEqual((row["number"], row["node"], row["reason"]), (1, "replay_reciprocal", ""))
        self.check_replay(run)
        rows = self.told(self.capture("renamed", "--steps", 4, options=("--capture-kernels", "scale", "--launches", "1:9")))
        self.assertEqual([row["number"] for row in rows if not row["reason"]], [1, 3, 4, 6])

    def test_times_are_those_of_other_occurrences(self):
        for how in ("fork", "many"):
            with self.subTest(how):
                run = self.capture(how, "--steps", 4)
                manifest = self.manifest(run)
                self.assertEqual(manifest["origin"]["job_launches"], 3)
                for step in manifest["steps"]:
                    self.assertEqual("end_ns" in step, step["kind"] == "launch")

    def test_times_of_graphs_that_were_recorded_as_a_whole_are_missing(self):
        manifest = self.manifest(self.capture("fork", options=("--capture-sequence", "step", "--graphs", "graph")))
        self.assertNotIn("job_ns", manifest["origin"])
        self.assertIn("the times of its steps", manifest["missing"][0])

    def test_what_cannot_be_captured_is_refused_with_the_reason(self):
        for how, words in (("host", "has a function of the host"), ("alloc", "allocates or frees memory"),
                           ("conditional", "a conditional node"), ("updatable", "kernels may change a node"),
                           ("roundtrip", "brings from the host what another one"),
                           ("pinned", "reaches pinned memory that a copy of it before wrote"),
                           ("disabledupdate", "updated after one of its nodes was switched off")):
            with self.subTest(how):
                run = self.capture(how)
                self.assertEqual(self.bundles(run), [])
                (row,) = self.told(run)
                self.assertIn(words, row["reason"])

    def test_the_program_computes_the_same(self):
        for how in ("chain", "fork", "child", "childchange", "many", "update", "set", "disabled"):
            with self.subTest(how):
                bare = self.bare("--cubin", self.CUBIN, "--how", how, program="app_graph_steps")
                run = self.capture(how)
                self.assertEqual(run.facts["values"], bare.facts["values"])
                self.assertEqual(run.facts["calls"], bare.facts["calls"])

    def test_launches_of_graphs_by_themselves(self):
        run = self.capture("fork", "--steps", 4, options=("--capture-graphs", "--launches", "2:1"))
        manifest = self.manifest(run)
        self.assertEqual(self.steps(manifest), "K0 R0:0 K0 W1:0 K1 R1:0 W0:0 K0")
        self.assertEqual((len(manifest["steps"]), "focus" in manifest), (8, False))
        self.assertEqual((manifest["origin"]["job_launches"], manifest["missing"]), (3, []))
        self.assertEqual(self.bundles(run)[0].name, f"{run.facts['pid']}-2-graph")
        (row,) = self.told(run)
        self.assertEqual((row["node"], row["range"], row["steps"], row["number"]), ("*", "", 8, 2))
        self.assertEqual(run.recording.report("replayable")["captured"][0]["kernel"], "CUDA graph")
        memory = {memory["address"]: memory for memory in self.bundle(run)["memory"]}
        self.assertEqual(memory[run.facts["memory"][0]]["before"][0], 10)
        self.assertEqual(memory[run.facts["memory"][0]]["after"][0], 100)
        self.check_replay(run)

    def test_launches_of_graphs_in_a_range(self):
        run = self.capture("twice", "--steps", 3, options=("--capture-graphs", "--range", "step", "--launches", "2:3"))
        self.assertEqual([row["number"] for row in self.told(run)], [2, 3, 4])
        self.assertEqual(len(self.bundles(run)), 3)

    def test_kernels_that_are_nodes_are_captured_with_their_graph(self):
        run = self.capture("fork", "--steps", 3, options=("--capture-kernels", "scale", "--launches", "7:1"))
        manifest = self.manifest(run)  # the third of the second launch: the branch
        self.assertEqual(self.steps(manifest), "K0 R0:0 K0 W1:0 K1 R1:0 W0:0 K0")
        self.assertEqual((manifest["focus"], manifest["steps"][4]["kind"], manifest["steps"][4]["stream"]), (4, "launch", 1))
        rows = [row for row in self.told(run) if row["number"]]
        self.assertEqual([(row["number"], row["node"], row["reason"]) for row in rows], [(7, "replay_scale", "")])
        self.assertEqual(manifest["origin"]["job_launches"], 2)
        self.check_replay(run)

    def test_one_node_of_a_launch_is_captured(self):
        run = self.capture("hand", options=("--capture-kernels", "scale", "--launches", "1:4"))
        self.assertEqual([row["reason"].split(",")[0] for row in self.told(run)],
                         ["", "this launch of its CUDA graph was taken for another node"] * 2)
        self.assertEqual([manifest["focus"] for manifest in self.manifests(run)], [0, 0])
        self.assertEqual([folder.name.split("-")[1] for folder in self.bundles(run)], ["1", "3"])

    def test_kernels_that_are_switched_off_are_not_counted(self):
        run = self.capture("disabledkernel", options=("--capture-kernels", "scale", "--launches", "1:4"))
        self.assertEqual([(row["number"], row["reason"]) for row in self.told(run)], [(1, ""), (2, "")])
        self.assertEqual([self.steps(manifest) for manifest in self.manifests(run)], ["F0 C0 K0"] * 2)

    def test_kernels_are_not_looked_for_in_graphs_that_are_not_known(self):
        run = self.capture("host", options=("--capture-kernels", "scale"))
        self.assertEqual(self.told(run), [])
        self.assertIn("the first one because the CUDA graph has a function of the host", str(run.recording.notes))

    def test_of_another_name_nothing_is_captured(self):
        self.assertEqual(self.told(self.capture("hand", options=("--capture-kernels", "nothing"))), [])

    def test_what_is_asked_of_graphs_is_not_the_programs(self):
        functions = self.capture("child", options=("--capture-sequence", "step", "--api", "all")).recording.functions()
        for call in ("cuGraphGetNodes", "cuGraphNodeGetType", "cuGraphKernelNodeGetParams", "cuFuncGetName"):
            self.assertFalse([name for name in functions if name.startswith(call)], call)
