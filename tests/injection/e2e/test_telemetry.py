# SPDX-License-Identifier: Apache-2.0
"""Power, clocks and energy are those of the fake GPU.

Covers SOURCE(telemetry).
"""
import pathlib
import subprocess
import tempfile
import time

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, SECOND, environment, tool
from recordings import Recording


class Telemetry(Case):
    """Telemetry comes from NVML, on a thread of its own; the fake GPU's figures are known (tests/fakes/README.md)."""

    # One kernel of 1.2 s, asleep for 0.3 s after it; a sample every 20 ms.
    BURN = {"program": "app_work", "script": f"kernel_ns={12 * SECOND // 10}", "options": ("--telemetry", "20ms")}
    WORK = ("--driver", "--launches", 1, "--sleep-ms", 300)
    TOGETHER = {
        "burn": (WORK, BURN),
        "every 100 ms": (WORK, BURN | {"options": ("--telemetry", "100ms")}),
        "by itself": (WORK, BURN | {"options": ()}),
        "throttled": (("--driver", "--launches", 20, "--sleep-ms", 100),
                      BURN | {"script": f"kernel_ns={SECOND // 10},throttle=4,throttle_start_ms=400,throttle_ms=800"}),
        "not told": (WORK, BURN | {"script": BURN["script"] + ",devices=2,nvml_fail=energy+ecc+clocks"}),
        "killed": ((*WORK, "--end", "kill"), BURN),
    }

    def check_pace(self, recording, interval_ns):
        """Never more often than asked for; on a machine that has much else to do turns are left out."""
        samples = recording.counters("telemetry")["power_mw"]["samples"]
        energy, = recording.report("telemetry")["energy"]
        turns = energy["duration_ns"] / interval_ns
        # one as CUDA comes up and one as the program ends stand beside the turns
        self.assertTrue(turns / 4 <= samples <= turns + 3, (samples, turns))

    def test_power_clocks_and_energy_move_with_the_work(self):
        run = self.made("burn")
        self.check_ledger(run.recording, 1)
        self.assertEqual(run.recording.notes, [])
        counters = run.recording.counters("telemetry")
        self.assertEqual(len(counters), 19)
        power, clock = counters["power_mw"], counters["sm_clock_mhz"]
        self.check_pace(run.recording, 20_000_000)
        self.assertEqual((power["min"], power["max"]), (120000, 620000))
        self.assertEqual((clock["min"], clock["max"]), (345, 1980))
        self.assertIn(counters["temperature_c"]["max"], (45, 46, 47))
        self.assertEqual(counters["memory_used_bytes"]["max"], 512 << 20)
        self.assertAlmostEqual(counters["pcie_rx_bytes_per_second"]["median"], 2e9, delta=2e8)
        self.assertGreater(counters["energy_mj"]["difference"], 620 * 600)
        energy, = run.recording.report("telemetry")["energy"]
        self.assertLess(abs(energy["difference_percent"]), 5)
        self.assertGreater(energy["duration_ns"], 0.9 * SECOND)
        idle, = run.recording.report("telemetry")["throttles"]
        self.assertEqual((idle["reason"], idle["slows"]), ("gpu_idle", "no"))

    def test_its_library_is_loaded_where_the_program_starts_cuda(self):
        """On a thread of ours a child that the program forks meanwhile would have what a loader holds."""
        told = pathlib.Path(self.folder, "loaded")
        self.record(*self.WORK, FAKE_NVML_LOADED=str(told))
        self.assertEqual(told.read_text(), "the program's first thread")

    def test_as_often_as_asked_by_itself_and_off(self):
        for name in ("every 100 ms", "by itself"):
            self.check_pace(self.made(name).recording, 100_000_000)
        # the first as soon as CUDA is up, the last as the program ends, unless the first took so long that the
        # end would be held up: on a machine that has much else to do
        for _ in range(10):
            short = self.record("--launches", 1, "--sleep-ms", 60, GPUTRACE_TELEMETRY="100ms")
            samples = short.recording.counters("telemetry")["power_mw"]["samples"]
            if samples == 2:
                break
        self.assertEqual(samples, 2)
        for off in ({"options": ("--telemetry", "off")}, {"GPUTRACE_TELEMETRY": "off"}):
            run = self.record(*self.WORK, **off)
            self.check_ledger(run.recording, 1)
            self.assertEqual((run.recording.tables["counters"], run.recording.notes), (0, []))

    def test_kernels_that_a_throttle_slowed_are_named(self):
        run = self.made("throttled")
        row, = [row for row in run.recording.report("telemetry")["throttles"] if row["reason"] == "sw_power_cap"]
        self.assertEqual((row["slows"], row["times"]), ("yes", 1))
        self.assertAlmostEqual(row["total_ns"], 800e6, delta=400e6)  # samples may come late
        kernels, = run.recording.report("kernels")["kernels"]
        self.assertTrue(3 <= kernels["throttled_calls"] <= 13, kernels)
        self.assertIn("sw_power_cap", tool("report", run.recording.path, "kernels"))

    def test_what_nvml_does_not_tell_is_not_measured_and_noted_once(self):
        run = self.made("not told")
        counters = run.recording.counters("telemetry")
        missing = {"energy_mj", "ecc_corrected", "ecc_uncorrected", "sm_clock_mhz", "memory_clock_mhz"}
        self.assertEqual({name for name, row in counters.items() if not row["samples"]}, missing)
        note, = run.recording.notes
        self.assertTrue(all(name in note for name in missing), note)
        self.check_ledger(run.recording, 1)

    def test_no_nvml(self):
        without = pathlib.Path(self.folder, "without")
        without.mkdir()
        for library in ("libcuda.so.1", "libcupti.so.13"):
            (without / library).symlink_to(FAKES / library)
        run = self.record(*self.WORK, fakes=without, options=self.BURN["options"])
        self.check_ledger(run.recording, 1)
        self.assertEqual(["NVML" in note for note in run.recording.notes], [True, True])  # telemetry, topology
        self.assertEqual(run.recording.tables["counters"], 0)

    def test_gpus_that_the_program_does_not_use_are_left_out(self):
        run = self.record("--launches", 5, "--sleep-ms", 200, script="devices=3", options=self.BURN["options"])
        self.assertEqual(run.recording.tables["devices"], 3)
        self.assertEqual({row["device"][:2] for row in run.recording.report("telemetry")["counters"]}, {"0:"})

    def test_processes_on_one_gpu_are_shown_once(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        app = FAKES / "bin" / "app_work"
        script = f"{app} --launches 3 --sleep-ms 500 & {app} --launches 4 --sleep-ms 900 & wait"
        subprocess.run([GPUTRACE, "run", "-o", f"{folder}/X", "--quiet", "--telemetry", "100ms", "sh", "-c", script],
                       env=environment(), check=True, capture_output=True, timeout=PATIENCE_S)
        recording = Recording(f"{folder}/X.gputrace")
        self.assertEqual((len(recording.processes), recording.tables["counters"]), (2, 19))
        self.check_pace(recording, 100_000_000)

    def test_a_forked_child_samples_nothing(self):
        run = self.record("--launches", 10, "--sleep-ms", 200, "--end", "fork_cuda", options=self.BURN["options"])
        self.assertEqual((run.status, len(run.recording.processes)), (0, 1))
        self.assertEqual((run.recording.tables["counters"], run.recording.notes), (19, []))

    def test_a_killed_program_keeps_its_samples(self):
        run = self.made("killed")
        self.check_ledger(run.recording, 1)
        self.check_pace(run.recording, 20_000_000)
        energy, = run.recording.report("telemetry")["energy"]
        self.assertGreater(energy["duration_ns"], 0.9 * SECOND)

    def test_a_call_of_nvml_that_hangs(self):
        """The program ends when it would have, but for a moment, and the recording says why it has so little."""
        words, keywords = ("--launches", 10, "--sleep-ms", 250), {"options": ("--telemetry", "50ms")}
        begin = time.monotonic()
        self.record(*words, **keywords)
        usual = time.monotonic() - begin  # more than its 0.3 s on a machine that has much else to do
        for readings, samples in ((1, 0), (25, 1)):
            begin = time.monotonic()
            run = self.record(*words, script=f"nvml_hang={readings}", **keywords)
            self.assertLess(time.monotonic() - begin, 3 * usual + 1 + 5)  # run gives NVML 5 s to tell of the machine
            self.assertEqual(run.status, 0)
            self.check_ledger(run.recording, 10, sources_failed=1)
            self.assertEqual(len(run.recording.late), 1)
            seen = run.recording.counters("telemetry")
            self.assertEqual(seen["power_mw"]["samples"] if seen else 0, samples)
