# SPDX-License-Identifier: Apache-2.0
"""Shared by all test classes: they record programs, and compare recordings with what programs say."""
import concurrent.futures
import shutil
import tempfile
import unittest

from recordings import Run

DEMANGLED = {
    "_Z6work_0PfS_i": "work_0(float*, float*, int)",
    "_Z6work_1PfS_i": "work_1(float*, float*, int)",
    "_ZN3app6work_3IfEEvPT_i": "void app::work_3<float>(float*, int)",
}
# Made inside the runtime's first call, which began before there was a subscriber.
START_OF_RUNTIME = {"cuDevicePrimaryCtxRetain", "cuModuleLoadData"}
# Calls that only ask, that name a function, or that set something are not recorded.
NOT_RECORDED = {"cuInit", "cudaSetDevice", "cuCtxSetCurrent", "cuModuleGetFunction"}
# By default a launch of the runtime is recorded as the call of the driver that it makes.
IN_DRIVER = {"cudaLaunchKernel": "cuLaunchKernel"}


class Case(unittest.TestCase):
    # Recordings that are asleep for most of their time, by name: they are made at the same time, before the first test.
    TOGETHER = {}

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="gputrace-e2e-")
        cls.addClassCleanup(shutil.rmtree, folder)
        pool = concurrent.futures.ThreadPoolExecutor(len(cls.TOGETHER) or 1)
        cls.addClassCleanup(pool.shutdown)
        cls.together = {name: pool.submit(Run, tempfile.mkdtemp(dir=folder), *words, **keywords)
                        for name, (words, keywords) in cls.TOGETHER.items()}

    def made(self, name):
        return self.together[name].result()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gputrace-e2e-")
        self.addCleanup(shutil.rmtree, self.folder)

    def record(self, *words, **keywords):
        return Run(tempfile.mkdtemp(dir=self.folder), *words, **keywords)

    def bare(self, *words, **keywords):
        return self.record(*words, recorded=False, **keywords)

    def check_kernels(self, run):
        expected = {DEMANGLED.get(name, name): count
                    for name, count in run.facts["kernels"].items()}
        self.assertEqual(run.recording.kernels(), expected)
        self.assertEqual(run.recording.tables["kernels"], run.facts["kernel_count"])

    def check_memory(self, run):
        report = run.recording.report("copies")
        each = run.facts["copy_bytes"] // 3
        by_kind = {}
        for row in report["copies"]:
            by_kind[row["kind"]] = by_kind.get(row["kind"], 0) + row["bytes"]
        self.assertEqual(by_kind, dict.fromkeys(("HtoD", "DtoD", "DtoH"), each) if each else {})
        self.assertEqual(sum(row["calls"] for row in report["copies"]), run.facts["copies"])
        self.assertEqual(sum(row["calls"] for row in report["fills"]), run.facts["fills"])
        self.assertEqual(sum(row["bytes"] for row in report["fills"]), run.facts["fill_bytes"])

    def check_calls(self, run):
        made = {IN_DRIVER.get(name, name): count for name, count in run.facts["calls"].items()
                if name not in NOT_RECORDED}
        seen = {name: count for name, count in run.recording.functions().items()
                if name not in START_OF_RUNTIME or name in made}
        self.assertEqual(seen, made)

    def check_ledger(self, recording, launches, timed=None, unfinished=0, missing=0, **others):
        """Exactly these classes; every class that names a loss is 0 unless it is given."""
        timed = launches - unfinished - missing if timed is None else timed
        expected = {"launches": launches, "launches_timed": timed,
                    "launches_unfinished": unfinished, "launches_missing": missing}
        for loss in ("dropped_by_cupti", "discarded_no_buffer", "discarded_uncounted", "api_lost", "records_lost",
                     "unknown_records", "strings_lost", "not_written", "sources_failed",
                     "flush_timeouts", "launches_refused", "kernels_without_call"):
            expected[loss] = others.pop(loss, len(recording.late) if loss == "sources_failed" else 0)
        expected.update({"launches_captured": 0, **others})
        self.assertEqual({name: recording.ledger.get(name) for name in expected}, expected)
        captured = expected.get("launches_captured", 0)
        self.assertEqual(launches, timed + unfinished + captured + missing)

    def check_order(self, recording):
        """Every kernel begins after its call did."""
        for row in recording.report("gaps")["launch_latency"]:
            if row["calls"]:
                self.assertGreater(row["min_ns"], 0)

    def check_everything(self, run):
        self.assertEqual(run.status, 0, run.stderr)
        self.check_kernels(run)
        self.check_memory(run)
        self.check_calls(run)
        self.check_order(run.recording)
        self.check_ledger(run.recording, run.facts["launches"],
                          graph_launches=run.facts["graph_launches"])
        self.assertEqual(run.recording.notes, [])
        self.assertGreater(run.stem.with_suffix(".perfetto").stat().st_size, 100)
