# SPDX-License-Identifier: Apache-2.0
"""Programs count their kernels, copies, fills and calls, and recordings have as many.

Covers SOURCE(clock), Covers SOURCE(activity), Covers SOURCE(api), Covers SOURCE(device).
"""
import json
import pathlib

from case import Case


class Counts(Case):
    def test_runtime_api(self):
        self.check_everything(self.record("--launches", 100, "--names", 4, "--streams", 3,
                                          "--copies", 5, "--bytes", 12345, "--fills", 2))

    def test_driver_api(self):
        self.check_everything(self.record("--driver", "--launches", 100, "--names", 6,
                                          "--streams", 3, "--copies", 5, "--bytes", 777, "--pinned"))

    def test_a_plain_name_is_not_demangled(self):
        """C functions may be called what a mangled type is: "a" is signed char, "i" is int."""
        run = self.record("--launches", 8, "--names", 8)
        self.check_kernels(run)
        self.assertIn("a", run.recording.kernels())

    def test_threads(self):
        run = self.record("--launches", 200, "--threads", 7, "--names", 2)
        self.check_everything(run)
        # main, too, called CUDA
        self.assertEqual(run.recording.tables["threads"], 8)

    def test_many_launches_through_small_buffers(self):
        # as many buffers as a slow writer (a sanitizer's) can leave waiting
        run = self.record("--launches", 5000, "--threads", 4, "--names", 3, script="kernel_ns=50",
                          options=("--buffer-size", "64K", "--flush-interval", "5ms"),
                          GPUTRACE_BUFFERS="256")
        self.check_everything(run)

    # Buffers for about 1,200 records of kernels, and as many again twice to discard them. The kernels take seconds together, so
    # that all are launched before many have ended, by a sanitized program on a busy machine too.
    OVERLOAD = {"script": "kernel_ns=2000000,strict=0", "GPUTRACE_BUFFERS": "4",
                "options": ("--buffer-size", "64K", "--flush-interval", "5ms")}

    def check_overload(self, launches, streams):
        """Nothing is lost silently: what libcupti itself counted is in the tables or in the ledger."""
        counts = pathlib.Path(self.folder, "counts.json")
        run = self.record("--launches", launches, "--streams", streams, FAKE_CUPTI_COUNTS=str(counts),
                          **self.OVERLOAD)
        self.assertEqual(run.status, 0, run.stderr)
        made = json.loads(counts.read_text())
        ledger, tables = run.recording.ledger, run.recording.tables
        self.assertEqual(ledger["dropped_by_cupti"], made["dropped"])
        self.assertEqual(ledger["discarded_no_buffer"], made["added"] - ledger["activity_records"])
        missing = launches - tables["kernels"]
        self.check_calls(run)
        self.check_ledger(run.recording, launches, missing=missing, dropped_by_cupti=made["dropped"],
                          discarded_no_buffer=made["added"] - ledger["activity_records"])
        self.assertEqual(sum(run.recording.kernels().values()), tables["kernels"])
        # records of other kinds, of which there are few, may be among the lost
        lost = made["dropped"] + ledger["discarded_no_buffer"]
        self.assertTrue(0 < missing <= lost <= missing + 10, (missing, lost))
        return made["dropped"]

    def test_more_launches_than_buffers_hold(self):
        """Records of work that waits hold every buffer: what does not fit is counted."""
        self.assertEqual(self.check_overload(2500, 2), 0)

    def test_more_launches_than_can_be_counted(self):
        """Without any buffer CUPTI drops records and says how many."""
        self.assertGreater(self.check_overload(6000, 8), 0)

    def test_graph(self):
        run = self.record("--driver", "--launches", 2, "--graph", "5x7")
        self.check_everything(run)
        self.assertEqual(run.recording.ledger["kernels"], 37)

    def check_captures(self, *words, **keywords):
        run = self.record(*words, program="app_captures", **keywords)
        self.assertEqual(run.status, 0, run.stderr)
        self.check_kernels(run)
        self.check_ledger(run.recording, run.facts["launches"],
                          timed=run.facts["launches"] - run.facts["captured"],
                          launches_captured=run.facts["captured"],
                          graph_launches=run.facts["graph_launches"])
        # The wait of the host at the end; events that fork and join the streams are part of the graph.
        waits = run.recording.report("waits")
        self.assertEqual([(row["kind"], row["calls"]) for row in waits["waits"]], [("context synchronize", 1)])
        self.assertEqual((run.recording.tables["syncs"], run.recording.tables["edges"]), (1, 1))

    def test_capture_by_several_threads(self):
        """As PyTorch's: backward launches from a thread of its own into the captured stream."""
        self.check_captures()
        self.check_captures("--driver")
        self.check_captures(options=("--api", "all"))

    def test_capture_that_ends_on_another_thread(self):
        self.check_captures("--end-elsewhere")
        self.check_captures("--end-elsewhere", "--driver")

    def test_what_is_lost_while_a_stream_is_captured_is_missing(self):
        """Work of both threads, into a stream that is not captured, during and after the capture."""
        for words in ((), ("--end-elsewhere",)):
            run = self.record("--replays", 0, "--kernels", 20, *words, program="app_captures",
                              script="drop=3")
            launches, captured = run.facts["launches"], run.facts["captured"]
            missing = (launches - captured) // 3
            self.check_ledger(run.recording, launches, timed=launches - captured - missing,
                              launches_captured=captured, missing=missing,
                              dropped_by_cupti=missing)

    def test_failing_calls(self):
        run = self.record("--launches", 2, "--errors", 3)
        self.check_everything(run)
        self.assertEqual(run.recording.functions("errors")["cudaFree"], 3)
        self.assertEqual([(row["function"], row["code"], row["calls"])
                          for row in run.recording.report("api")["errors"]], [("cudaFree", 1, 3)])

    def test_pageable_and_pinned_memory(self):
        for words, kind in (((), "pageable"), (("--pinned",), "pinned")):
            run = self.record("--copies", 2, *words)
            ends = {(row["kind"], row["source"], row["destination"])
                    for row in run.recording.report("copies")["copies"]}
            self.assertEqual(ends, {("HtoD", kind, "device"), ("DtoH", "device", kind),
                                    ("DtoD", "device", "device")})

    def test_what_the_driver_tells_of_the_gpu_is_what_reports_reckon_with(self):
        run = self.record("--launches", 1, "--copies", 2)
        sources = {row["kind"]: row["peak_source"] for row in run.recording.report("copies")["copies"]}
        self.assertRegex(sources["DtoD"], r"device memory, 6144 bits, 2 x \d+ MHz, read \+ write")
        row, = run.recording.report("kernels")["launch_shapes"]
        self.assertGreater(row["occupancy_percent"], 0)

    def test_kernel_times_are_those_of_the_model(self):
        run = self.record("--launches", 50, script="kernel_ns=25000")
        row, = run.recording.report("kernels")["kernels"]
        # start and end are put on the common timeline one by one, each rounded to a nanosecond
        self.assertAlmostEqual(row["min_ns"], 25000, delta=1)
        self.assertAlmostEqual(row["max_ns"], 25000, delta=1)
        self.assertAlmostEqual(row["total_ns"], 1250000, delta=50)

    def test_libcuda_opened_late(self):
        run = self.record(12, program="app_dlopen")
        self.assertEqual((run.status, run.recording.kernels()), (0, {"opened_late": 12}))
        self.check_ledger(run.recording, 12)
