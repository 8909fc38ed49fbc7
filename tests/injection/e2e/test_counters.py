# SPDX-License-Identifier: Apache-2.0
"""Counters of the GPU and of single launches are those of the fake GPU.

Covers SOURCE(counters).
"""
import time

from case import Case
from programs import FAKES, SECOND, tool


class Counters(Case):
    """Hardware counters by PM sampling; what the fake GPU counts is known (tests/fakes/README.md)."""

    # Twenty kernels of 30 ms, of which a sampler that begins late misses some.
    WORK = ("--driver", "--launches", 20)
    BURN = {"script": "kernel_ns=30000000", "options": ("--counters", "--telemetry", "off")}
    ALL = {"dram_read_bytes", "dram_write_bytes", "dram_throughput_percent", "sm_active_percent", "warps_active_percent",
           "tensor_active_percent", "l2_hit_percent", "pcie_read_bytes", "pcie_write_bytes", "gpc_cycles"}
    TOGETHER = {
        "burn": (WORK, BURN),
        "gpus": ((*WORK, "--gpus", 2, "--sleep-ms", 300), BURN | {"script": "kernel_ns=30000000,devices=3"}),
        "overflow": ((*WORK, "--sleep-ms", 300), BURN | {"script": "kernel_ns=30000000,pm_overflow=2"}),
        "killed": ((*WORK, "--sleep-ms", 200, "--end", "kill"), BURN),
        "late": ((*WORK, "--sleep-ms", 100, "--end", "fork_cuda"), BURN),
    }

    def with_script(self, script, *options, **keywords):
        return self.record(*self.WORK, script=f"kernel_ns=30000000,{script}",
                           options=("--counters", "--telemetry", "off", *options), **keywords)

    def check_values(self, recording):
        """The samples of a kernel have its work, to the last digit, whatever was sampled when."""
        kernel, = recording.report("counters")["kernels"]
        self.assertGreater(kernel["samples"], 100)
        self.assertAlmostEqual(kernel["dram_read_bytes_per_second"], 2e9, delta=1)
        self.assertAlmostEqual(kernel["dram_write_bytes_per_second"], 1e9, delta=1)
        self.assertAlmostEqual(kernel["dram_throughput_percent"], 80, places=6)
        self.assertAlmostEqual(kernel["warps_active_percent"], 50, places=6)
        self.assertIsNone(kernel["fma_active_percent"])

    def test_samples_have_the_values_times_and_columns_that_they_should(self):
        run = self.made("burn")
        self.assertEqual(run.status, 0)
        self.check_ledger(run.recording, 20)
        self.check_values(run.recording)
        counters = run.recording.counters("counters")
        self.assertEqual(set(counters), self.ALL)
        self.assertEqual(counters["pcie_write_bytes"]["max"], 2e9)
        self.assertEqual(counters["dram_read_bytes"]["unit"], "bytes/s")
        coverage, = run.recording.report("counters")["coverage"]
        self.assertEqual((coverage["interval_ns"], coverage["gaps"]), (100000, 0))
        # the first sample spans 10 s more, and is not there
        self.assertLess(coverage["sampled_ns"], 5 * SECOND)
        note, = run.recording.notes
        self.assertEqual(note, "not sampled on GPU 0, as its chip cannot count them: fma_active_percent, nvlink_rx_bytes, "
                               "nvlink_tx_bytes")
        self.assertEqual(run.recording.report("telemetry")["counters"], [])

    def test_off_by_itself(self):
        run = self.record(*self.WORK, options=("--telemetry", "off"))
        self.assertEqual(run.recording.tables["counters"], 0)
        self.assertEqual(run.recording.notes, [])

    def test_what_is_asked_for_and_how_often(self):
        run = self.record(*self.WORK, script="kernel_ns=30000000", options=(
            "--counters=links,dram_read_bytes,lts__t_sectors.sum,weather", "--counter-interval", "1ms", "--telemetry", "off"))
        counters = run.recording.counters("counters")
        self.assertEqual(set(counters), {"pcie_read_bytes", "pcie_write_bytes", "dram_read_bytes", "lts__t_sectors.sum"})
        self.assertEqual(counters["lts__t_sectors.sum"]["unit"], "sectors/s")
        self.assertEqual(counters["lts__t_sectors.sum"]["max"], 5e8)
        coverage, = run.recording.report("counters")["coverage"]
        self.assertEqual(coverage["interval_ns"], 1000000)
        self.assertTrue(any("'weather' is no set of counters" in note for note in run.recording.notes))

    def test_intervals_that_cannot_be(self):
        for interval in ("10us", "1s"):
            run = self.record(*self.WORK, options=("--counters", "--counter-interval", interval))
            self.assertEqual(run.status, 2)
            self.assertIn("--counter-interval", run.stderr)

    def test_every_gpu_in_use_at_once(self):
        recording = self.made("gpus").recording
        self.assertEqual({row["device"][:2] for row in recording.report("counters")["counters"]}, {"0:", "1:"})
        self.check_values(recording)
        self.assertEqual(recording.counters("counters", 1)["dram_read_bytes"]["max"], 0)
        self.assertEqual(recording.counters("counters", 1)["pcie_read_bytes"]["max"], 1e9)

    def test_gpus_that_sample_by_their_clock(self):
        run = self.with_script("pm_by_clock=1")
        coverage, = run.recording.report("counters")["coverage"]
        self.assertEqual((coverage["interval_ns"], coverage["gaps"]), (100000, 0))
        self.check_values(run.recording)

    def test_what_does_not_fit_into_one_pass_is_left_out_by_name(self):
        run = self.with_script("pm_room=3")
        self.assertEqual(set(run.recording.counters("counters")),
                         {"dram_read_bytes", "dram_write_bytes", "dram_throughput_percent"})
        note, = [note for note in run.recording.notes if "one pass" in note]
        self.assertIn("beside the others: sm_active_percent, warps_active_percent", note)

    def test_a_full_buffer_is_a_gap(self):
        run = self.made("overflow")
        self.check_ledger(run.recording, 20)
        coverage, = run.recording.report("counters")["coverage"]
        self.assertEqual(coverage["gaps"], 1)
        self.assertGreater(coverage["gap_ns"], 1000000)
        self.assertGreater(coverage["samples"], 500)
        self.assertTrue(any("the hardware's buffer was full" in note for note in run.recording.notes))

    def test_each_blocker_is_named_and_all_else_is_recorded(self):
        for script, words in (
                ("pm_error=35", "NVreg_RestrictProfilingToAdminUsers=0"), ("pm_error=26", "another profiler has them"),
                ("pm_error=43", "MIG slice"), ("pm_error=999", "cuptiPmSamplingEnable says"),
                ("pm_unsupported=1", "of this architecture"), ("pm_unsupported=2", "virtual GPU"),
                ("pm_unsupported=3", "hypervisor"), ("pm_unsupported=4", "WSL"), ("pm_chip=1", "the chip GX999"),
                ("pm_decode_fail=1", "end early")):
            run = self.with_script(script)
            self.assertEqual(run.status, 0)
            self.check_ledger(run.recording, 20, sources_failed=1 + len(run.recording.late))
            self.check_kernels(run)
            self.assertTrue(any(words in note for note in run.recording.notes), (script, run.recording.notes))
            self.assertIn(words, tool("report", run.recording.path, "counters").replace("\n", " "))
            self.assertEqual(run.recording.report("counters")["kernels"], [])

    def test_the_same_blocker_on_several_gpus_is_said_once(self):
        run = self.record(*self.WORK, "--gpus", 2, script="kernel_ns=30000000,devices=2,pm_error=35", options=self.BURN["options"])
        self.assertEqual(len(run.recording.notes), 1)

    def test_an_older_cupti_has_none(self):
        run = self.record(*self.WORK, script="version=22", fakes=FAKES, GPUTRACE_CUPTI=str(FAKES / "cupti12" / "libcupti.so.12"),
                          options=self.BURN["options"])
        self.assertEqual(run.status, 0)
        self.assertTrue(any("CUDA 12.6 or later" in note for note in run.recording.notes), run.recording.notes)
        self.check_kernels(run)

    def test_a_killed_program_keeps_its_samples(self):
        run = self.made("killed")
        self.check_ledger(run.recording, 20)
        self.check_values(run.recording)

    def test_a_forked_child_samples_nothing(self):
        run = self.made("late")
        self.assertEqual((run.status, len(run.recording.processes)), (0, 1))
        self.check_values(run.recording)

    def test_nothing_is_launched_before_samples_are_taken(self):
        run = self.with_script("pm_ready_ms=700")
        self.assertEqual(run.status, 0)
        self.check_values(run.recording)
        self.check_ledger(run.recording, 20)
        for row in run.recording.report("bandwidth")["kernels"]:
            self.assertGreater(row["covered_percent"], 99.9)

    def test_samples_that_come_faster_than_the_default_set_can_be_fetched(self):
        run = self.with_script("pm_room=1000", "--counter-interval", "20us")
        self.assertEqual(set(run.recording.counters("counters")),
                         {"dram_read_bytes", "dram_write_bytes", "dram_throughput_percent"})
        self.assertIn("cannot be fetched as fast", " ".join(run.recording.notes))

    def test_stretches_without_samples(self):
        run = self.with_script("pm_ready_ms=1", GPUTRACE_COUNTER_PAUSE="100ms")
        coverage, = run.recording.report("counters")["coverage"]
        self.assertEqual(coverage["gaps"], 0)
        self.assertLess(coverage["kernel_ns"], 500e6)

    def test_a_decoding_that_hangs(self):
        begin = time.monotonic()
        run = self.with_script("pm_hang=2")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(run.status, 0)
        self.check_ledger(run.recording, 20, sources_failed=1)
        self.assertEqual(len(run.recording.late), 1)


class KernelCounters(Case):
    """Launches that are run several times: CUPTI never finishes their records, and keeps the buffers that they are in."""

    OPTIONS = ("--kernel-counters=memory", "--launches", "1:100000", "--telemetry", "off")

    def check_profiled(self, run, launches):
        self.assertEqual(run.status, 0, run.stderr)
        self.check_ledger(run.recording, run.facts["launches"])
        self.assertEqual(run.recording.tables["kernels"], run.facts["launches"])
        self.assertEqual(run.recording.tables["profiled_launches"], launches)

    def test_more_launches_than_there_are_buffers(self):
        self.check_profiled(self.record("--launches", 700, options=self.OPTIONS), 700)

    def test_contexts_one_after_another(self):
        """Each is one of its own, also where its handle is that of one that is gone."""
        for script in ("", "same_context=1"):
            with self.subTest(script):
                run = self.record("--contexts", 40, "--launches", 2, "--plain", "--writers", 1, program="app_device",
                                  options=self.OPTIONS, script=script)
                self.assertEqual(run.status, 0, run.stderr)
                self.assertEqual(run.recording.tables["kernels"], 80)
                self.assertEqual(run.recording.tables["profiled_launches"], 80)
                self.assertEqual(run.recording.tables["contexts"], 40)

    def test_few_buffers(self):
        for size in "64K", "1M":
            run = self.record("--launches", 300, "--names", 3, options=(*self.OPTIONS, "--buffer-size", size), GPUTRACE_BUFFERS="4")
            self.check_profiled(run, 300)

    def test_times_of_what_runs_beside_them(self):
        """Records are not forced out of CUPTI while other work has no times yet: it would never get any."""
        run = self.record("--launches", 150, "--names", 2, "--streams", 3, "--threads", 3, script="kernel_ns=2000000",
                          options=(*self.OPTIONS, "--kernels", "work_1"), GPUTRACE_BUFFERS="4")
        self.check_profiled(run, 225)

    def test_work_that_does_not_end(self):
        """Its time is given up when hardly a buffer is left, and nothing else is lost."""
        run = self.record("--launches", 100, "--names", 2, script="open=2",
                          options=(*self.OPTIONS, "--kernels", "work_1"), GPUTRACE_BUFFERS="4")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual((run.recording.tables["kernels"], run.recording.tables["profiled_launches"]), (100, 50))
        self.assertEqual(run.recording.ledger["launches_missing"], 0)
        self.assertIn(run.recording.ledger["launches_unfinished"], (2, 3))
        self.assertTrue(any("that work has no times" in note for note in run.recording.notes), run.recording.notes)
