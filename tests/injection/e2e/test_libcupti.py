# SPDX-License-Identifier: Apache-2.0
"""The fake libcupti comes late, loses, refuses or hangs as a script says, or another tool has it."""
import pathlib
import re

from case import Case
from programs import FAKES, SECOND


class Scripts(Case):
    TOGETHER = {
        "hangs": (("--launches", 20), {"script": "flush_hang=1"}),
        "hangs later": (("--launches", 20, "--sleep-ms", 300), {"script": "flush_hang=2"}),
    }

    def test_late_records(self):
        self.check_everything(self.record("--launches", 500, "--copies", 3, "--fills", 2,
                                          script="late=50"))

    def test_records_in_any_order(self):
        for seed in (1, 2):
            self.check_everything(self.record("--launches", 500, "--names", 3, "--copies", 3,
                                              "--fills", 2, script=f"shuffle={seed}"))

    def test_late_and_in_any_order_over_many_buffers(self):
        self.check_everything(self.record("--launches", 3000, "--names", 3, "--streams", 2,
                                          "--sleep-ms", 100, script="late=2,shuffle=5",
                                          options=("--buffer-size", "64K",
                                                   "--flush-interval", "5ms")))

    def test_kernels_that_never_get_times(self):
        run = self.record("--launches", 50, "--sleep-ms", 50, script="open=3",
                          options=("--flush-interval", "10ms"))
        self.check_ledger(run.recording, 50, unfinished=3)
        self.assertEqual(run.recording.tables["kernels"], 50)

    def test_dropped_records(self):
        run = self.record("--launches", 100, script="drop=7")
        self.check_ledger(run.recording, 100, missing=14, dropped_by_cupti=14)

    def test_a_kind_that_cannot_be_recorded(self):
        run = self.record("--launches", 20, "--fills", 3, "--copies", 1,
                          script="enable_fail=memset")
        self.check_kernels(run)
        self.assertEqual((run.recording.tables["fills"], run.recording.tables["copies"]), (0, 3))
        self.assertTrue(any("fills" in note for note in run.recording.notes))
        self.assertNotIn("clean", re.search("ledger: .*", run.stderr)[0])

    def test_kinds_that_are_chosen(self):
        words = ("--launches", 20, "--fills", 3, "--copies", 1)
        run = self.record(*words, GPUTRACE_KINDS="kernel,memset")
        self.check_kernels(run)
        self.assertEqual((run.recording.tables["fills"], run.recording.tables["copies"]), (3, 0))
        run = self.record(*words, GPUTRACE_KINDS="kernel,kernels")
        self.check_kernels(run)
        self.assertTrue(any("no kind of activity 'kernels'" in note
                            for note in run.recording.notes))

    def test_times_that_the_gpu_takes_itself(self):
        for script, said in (("hw_trace=1", "takes the times of kernels itself"),
                             ("hw_trace=2", "cuptiActivityEnableHWTrace says")):
            run = self.record("--launches", 20, "--sleep-ms", 20, script=script)
            self.check_ledger(run.recording, 20)
            self.assertEqual([said in note for note in run.recording.notes], [True])

    def test_subscribing_fails(self):
        run = self.record("--launches", 5, script="init_fail=1")
        self.assertEqual((run.status, run.facts["launches"]), (0, 5))
        self.assertEqual(run.recording.tables["kernels"], 0)
        self.assertTrue(any("NOT_INITIALIZED" in note for note in run.recording.notes))
        self.assertEqual(run.recording.ledger["sources_failed"], 1)

    def test_a_flush_that_hangs(self):
        """The program ends all the same, within the watchdog's time, and the recording says so."""
        run = self.made("hangs")
        self.assertEqual(run.status, 0)
        self.check_calls(run)
        self.check_ledger(run.recording, 20, unfinished=20, flush_timeouts=1)
        self.assertTrue(any("did not come back" in note for note in run.recording.notes))

    def test_a_flush_that_hangs_later(self):
        run = self.made("hangs later")
        self.assertEqual(run.status, 0)
        self.check_ledger(run.recording, 20, flush_timeouts=1)
        self.assertTrue(any("did not come back" in note for note in run.recording.notes))

    def test_records_of_cuda_12_4(self):
        words = ("--launches", 100, "--names", 3, "--copies", 3, "--fills", 2)
        self.check_everything(self.record(*words, script="version=22"))
        only_12 = pathlib.Path(self.folder, "only12")
        only_12.mkdir()
        for library in ("libcuda.so.1", "libnvidia-ml.so.1", "cupti12/libcupti.so.12"):
            (only_12 / pathlib.Path(library).name).symlink_to(FAKES / library)
        self.check_everything(self.record(*words, script="driver=12040", fakes=only_12))

    def test_a_clock_of_its_own(self):
        """CUPTI's clock may be anywhere: kernels still lie after their calls, and near them."""
        for offset in (3600 * SECOND, 2 ** 64 - 3600 * SECOND, 12345):
            with self.subTest(offset):
                run = self.record("--launches", 50, script=f"clock_offset={offset}")
                self.check_everything(run)
                row = run.recording.report("gaps")["launch_latency"][0]
                self.assertLess(row["max_ns"], SECOND)

    def test_several_gpus(self):
        run = self.record("--launches", 5, script="devices=3")
        self.check_everything(run)
        self.assertEqual(run.recording.tables["devices"], 3)

    def test_no_gpu(self):
        alone, run = (make("--driver", script="devices=0") for make in (self.bare, self.record))
        self.assertEqual((run.status, run.stdout), (alone.status, alone.stdout))
        self.assertIn(alone.stderr, run.stderr)


class Subscribers(Case):
    def test_a_tool_that_was_there_first(self):
        alone = self.bare("first", program="app_subscriber")
        run = self.record("first", program="app_subscriber")
        self.assertEqual((run.status, run.facts), (alone.status, alone.facts))
        self.assertTrue(any("app_subscriber" in note for note in run.recording.notes))
        self.assertEqual(run.recording.tables["kernels"], 0)

    def test_a_tool_that_comes_later(self):
        run = self.record("later", program="app_subscriber")
        self.assertEqual((run.status, run.facts["subscribed"]), (0, 39))
        self.assertEqual(run.recording.kernels(), {"subscribed": 5})

    def test_busy_from_the_start(self):
        run = self.record("--launches", 20, "--copies", 2, script="subscriber=busy")
        self.assertEqual((run.status, run.facts["launches"]), (0, 20))
        self.assertTrue(any("other-profiler" in note for note in run.recording.notes))
        self.assertEqual(run.recording.ledger["sources_failed"], 1)

    def test_no_cupti_at_all(self):
        """A libcupti that is no library stands for none: the program runs, the recording says why."""
        broken = pathlib.Path(self.folder, "libcupti-broken.so")
        broken.write_text("not a library\n")
        run = self.record("--launches", 6, GPUTRACE_CUPTI=str(broken))
        self.assertEqual((run.status, run.facts["launches"]), (0, 6))
        self.assertEqual(run.recording.tables["kernels"], 0)
        self.assertTrue(any("libcupti-broken" in note for note in run.recording.notes))
