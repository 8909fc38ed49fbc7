# SPDX-License-Identifier: Apache-2.0
"""Waits of the host and between streams have what the program waited for.

Covers SOURCE(sync).
"""
from case import Case
from programs import SECOND

# Words of the report for the names of format/kinds/sync.def that differ by more than that.
WORDS_OF_KINDS = {"WAIT_VALUE": "stream wait value", "WRITE_VALUE": "stream write value"}
LIVES = {"EVENT_CREATE", "EVENT_DESTROY"}  # they tell events apart and are no waits


class Waits(Case):
    def check_waits(self, run):
        """The report has what the program counted, each wait linked to the stream it waited for."""
        self.assertEqual(run.status, 0, run.stderr)
        report = run.recording.report("waits")
        expected = {WORDS_OF_KINDS.get(name, name.lower().replace("_", " ")): count
                    for name, count in run.facts["waits"].items() if name not in LIVES}
        self.assertEqual({row["kind"]: row["calls"] for row in report["waits"]}, expected)
        self.assertEqual([row["failed"] + row["unfinished"] for row in report["waits"]],
                         [0] * len(expected))
        answers = {"ready": 0, "not ready": 0}
        for row in report["queries"]:
            answers[row["answer"]] += row["calls"]
        self.assertEqual(answers, {"ready": run.facts["ready"], "not ready": run.facts["busy"]})
        return report

    def check_dependencies(self, run, report):
        rows = {row["kind"]: row for row in report["dependencies"]}
        self.assertEqual(rows["stream wait event"]["calls"], run.facts["rounds"])
        # The kernels are long, so that some are waited for on a machine that is slow, too.
        self.assertGreater(rows["stream wait event"]["held"], 0)
        self.assertGreaterEqual(rows["stream wait value"]["calls"], run.facts["rounds"])
        self.assertEqual({(row["from_stream"], row["to_stream"]) for row in rows.values()},
                         {(rows["stream wait event"]["from_stream"],
                           rows["stream wait event"]["to_stream"])})

    def test_runtime_api(self):
        run = self.record("--rounds", 20, program="app_waits", script="kernel_ns=5000000")
        self.check_dependencies(run, self.check_waits(run))

    def test_the_critical_path_goes_through_what_was_waited_for(self):
        run = self.record("--rounds", 20, program="app_waits", script="kernel_ns=5000000")
        report = run.recording.report("critical-path")
        self.assertEqual([row["path_ns"] for row in report["paths"]],
                         [row["length_ns"] for row in report["paths"]])
        self.assertEqual(sum(row["total_ns"] for row in report["by_kind"]), report["paths"][0]["length_ns"])
        kinds = {row["kind"]: row["stretches"] for row in report["by_kind"]}
        self.assertGreater(kinds.get("kernels", 0), 20, kinds)
        self.assertGreater(kinds.get("return from a wait", 0), 20, kinds)
        self.assertEqual([row["saved_ns"] for row in report["what_if"] if row["change"] == "as it is"], [0])
        self.assertTrue(all(row["saved_ns"] >= 0 for row in report["what_if"]), report["what_if"])

    def check_shared_events(self, *words):
        """Two processes that wait for each other: the path of each goes through the kernels of both."""
        rounds = 6
        run = self.record("--rounds", rounds, *words, program="app_ipc", script="kernel_ns=20000000")
        self.assertEqual(run.status, 0, run.stderr)
        path = run.recording.report("critical-path")
        waits = run.recording.report("waits")
        rows = {(row["path_of"].split()[-1], row["process"].split()[-1]): row for row in path["by_process"]}
        producer, consumer = (f"({run.facts[name]})" for name in ("pid", "consumer"))
        for path_of in producer, consumer:
            for process in producer, consumer:
                kernels = round(rows[path_of, process]["gpu_ns"] / 20_000_000)
                self.assertLessEqual(kernels, rounds, rows)
                self.assertGreater(kernels, rounds / 2, rows)  # on a slow machine some end before they are waited for
        for row in path["paths"]:  # one of them began first, and of the other nothing is known then
            self.assertGreater(row["path_ns"], 0.9 * run.facts["together_ns"])
            self.assertLessEqual(row["path_ns"], row["length_ns"])
        dependency, = waits["dependencies"]
        self.assertEqual((dependency["kind"], dependency["calls"]), ("stream wait event", rounds))
        self.assertEqual({row["kind"]: row["calls"] for row in waits["waits"] if "event" in row["kind"]},
                         {"event record": 2 * rounds, "stream wait event": rounds, "event synchronize": rounds * 3 // 2})

    def test_an_event_of_two_processes_by_the_runtime(self):
        self.check_shared_events()

    def test_an_event_of_two_processes_by_the_driver(self):
        self.check_shared_events("--driver")

    def test_driver_api(self):
        run = self.record("--rounds", 20, "--driver", program="app_waits", script="kernel_ns=5000000")
        self.check_dependencies(run, self.check_waits(run))

    def test_without_api_calls(self):
        run = self.record("--rounds", 5, program="app_waits", options=("--api", "none"))
        self.check_waits(run)
        self.assertEqual(run.recording.tables["api_calls"], 0)

    def test_nested_calls_are_no_waits_of_their_own(self):
        self.check_waits(self.record("--rounds", 5, program="app_waits", options=("--api", "all")))

    def test_waits_have_the_times_of_their_calls(self):
        run = self.record("--rounds", 10, program="app_waits")
        waits = {row["kind"]: row for row in run.recording.report("waits")["waits"]}
        calls = run.recording.functions("total_ns")
        for kind, function in (("event synchronize", "cudaEventSynchronize"),
                               ("stream synchronize", "cudaStreamSynchronize"),
                               ("context synchronize", "cudaDeviceSynchronize")):
            self.assertGreaterEqual(waits[kind]["total_ns"], calls[function])
            self.assertLess(waits[kind]["total_ns"], calls[function] + SECOND)  # a thread may lose its processor between the two
