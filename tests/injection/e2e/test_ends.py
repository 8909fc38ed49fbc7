# SPDX-License-Identifier: Apache-2.0
"""Programs end, die or exit at every moment, and no launch is lost without a word."""
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import time

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, SECOND, environment, tool
from recordings import Recording, Run


class Endings(Case):
    def test_output_and_status_are_the_programs_own(self):
        for end in ("return=0", "return=3", "exit=4", "_exit=5", "abort", "segv", "kill", "term",
                    "fork", "fork_cuda"):
            words = ("--launches", 10, "--errors", 1, "--end", end)
            with self.subTest(end):
                alone, run = self.bare(*words), self.record(*words, options=("--quiet",))
                status = alone.status if alone.status >= 0 else 128 - alone.status
                self.assertEqual(run.status, status)
                self.assertEqual(re.sub(r'"pid":\d+', "", run.stdout),
                                 re.sub(r'"pid":\d+', "", alone.stdout))
                self.assertEqual(run.stderr, alone.stderr)

    def test_a_clean_end(self):
        for end in ("return=3", "exit=4"):
            with self.subTest(end):
                run = self.record("--launches", 30, "--end", end)
                self.check_ledger(run.recording, 30)
                self.assertEqual(run.recording.processes[0]["ended"], "cleanly")

    def test_death_after_the_work_was_fetched(self):
        """Kernels that ended a while ago have times, whatever the process died of."""
        for end in ("_exit=5", "abort", "segv", "kill", "term"):
            with self.subTest(end):
                run = self.record("--launches", 30, "--copies", 2, "--fills", 1,
                                  "--sleep-ms", 400, "--end", end)
                self.check_kernels(run)
                self.check_memory(run)
                self.check_calls(run)
                self.check_ledger(run.recording, 30)
                self.assertIn("died", run.recording.processes[0]["ended"])

    def test_death_with_work_in_flight(self):
        """Kernels the GPU had not finished are known by name; the ledger counts them."""
        for end in ("_exit=5", "kill"):
            with self.subTest(end):
                run = self.record("--driver", "--no-sync", "--launches", 40, "--end", end,
                                  script=f"kernel_ns={SECOND}")
                self.check_ledger(run.recording, 40, unfinished=40)
                self.assertEqual(run.recording.tables["kernels"], 40)
                self.check_calls(run)

    def test_the_environment_is_kept_whatever_happens(self):
        """Variables that change the speed are in the recording of a killed program too; no others are."""
        for end in ("return=0", "kill"):
            with self.subTest(end):
                run = self.record("--launches", 3, "--end", end, CUDA_LAUNCH_BLOCKING="1", NCCL_ALGO="Ring\n2",
                                  MY_TOKEN="secret")
                info = json.loads(tool("info", "--json", run.recording.path))
                kept = {row["name"]: row["value"] for row in info["environment"]}
                self.assertEqual(kept["CUDA_LAUNCH_BLOCKING"], "1")
                self.assertEqual(kept["NCCL_ALGO"], "Ring?2")
                self.assertNotIn("MY_TOKEN", kept)

    def test_killed_at_any_moment(self):
        """Every call that returned is in the recording, and at most one more that had not."""
        for delay_ms in (15, 60, 230):
            with self.subTest(delay_ms):
                self.check_kill(delay_ms / 1000)

    def check_kill(self, delay_s):
        folder = tempfile.mkdtemp(dir=self.folder)
        counter = pathlib.Path(folder, "count")
        program = [FAKES / "bin" / "app_work", "--driver", "--end", "spin",
                   "--count-file", str(counter)]
        with subprocess.Popen([GPUTRACE, "run", "-o", f"{folder}/X", "--quiet", *program],
                              env=environment(), stdout=subprocess.PIPE, text=True) as tracer:
            pid = json.loads(tracer.stdout.readline())["pid"]
            time.sleep(delay_s)
            os.kill(pid, signal.SIGKILL)
            self.assertEqual(tracer.wait(PATIENCE_S), 128 + signal.SIGKILL)
        returned, = struct.unpack("<Q", counter.read_bytes())
        recording = Recording(f"{folder}/X.gputrace")
        functions = recording.functions()
        self.assertGreater(returned, 0)
        seen = functions.get("cuLaunchKernel", 0) + \
            recording.functions("unfinished").get("cuLaunchKernel", 0)
        self.assertIn(seen, (returned, returned + 1))
        ledger = recording.ledger
        self.assertEqual(ledger["launches"], ledger["launches_timed"] +
                         ledger["launches_unfinished"] + ledger["launches_missing"])
        self.assertEqual(ledger["launches"], seen)

    def test_signals_reach_the_program(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        program = [FAKES / "bin" / "app_work", "--launches", "5", "--end", "wait"]
        with subprocess.Popen([GPUTRACE, "run", "-o", f"{folder}/X", "--quiet", *program],
                              env=environment(), stdout=subprocess.PIPE, text=True) as tracer:
            tracer.stdout.readline()
            tracer.send_signal(signal.SIGTERM)
            self.assertEqual(tracer.wait(PATIENCE_S), 128 + signal.SIGTERM)
        self.assertEqual(Recording(f"{folder}/X.gputrace").tables["kernels"], 5)


class Exits(Case):
    """Programs that call exit() while other threads launch."""

    def check_round(self, words, threads):
        folder = tempfile.mkdtemp(dir=self.folder)
        counter = pathlib.Path(folder, "count")
        run = Run(folder, "--threads", threads, "--end", "exit_spin", "--count-file", counter, *words,
                  script="strict=0,jitter_ns=1000", options=("--no-export", "--quiet"))
        self.assertEqual(run.status, 0, run.stderr)
        returned, = struct.unpack("<Q", counter.read_bytes())
        ledger = run.recording.ledger
        self.assertNotIn("chunks_left_out", {name for name, count in ledger.items() if count})
        self.assertEqual(ledger["launches"], ledger["launches_timed"] + ledger["launches_unfinished"] +
                         ledger["launches_captured"] + ledger["launches_missing"])
        late = ledger.get("launches_unrecorded", 0)
        # a launch of each thread may have been on its way
        self.assertTrue(returned <= ledger["launches"] + ledger["api_lost"] + late <= returned + threads,
                        (returned, ledger["launches"], late))
        return late

    def test_every_launch_is_recorded_or_counted(self):
        late = 0
        for i in range(40):
            words = (("--driver",) if i % 2 else ()) + (("--linger-ms", 10) if i % 4 > 1 else ())
            late += self.check_round(words, 1 + i % 5)
        self.assertGreater(late, 0)
