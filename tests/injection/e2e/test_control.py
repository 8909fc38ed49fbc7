# SPDX-License-Identifier: Apache-2.0
"""Recording is paused and goes on while the program runs, from outside and by the program itself.

Covers SOURCE(profiler).
"""
import signal
import subprocess
import time

from case import Case
from programs import GPUTRACE, PATIENCE_S, SECOND, environment, tool
from steps import Steps

COMMAND, TIME, PROGRAM, RANGE, END = 2, 3, 4, 5, 6


class Control(Case):
    def pauses(self, recording):
        return [(row["paused_by"], row["resumed_by"]) for row in recording.rows("pauses")]

    def check(self, recording, steps, pauses):
        """The launches of these steps and no others; nothing is lost."""
        launches = sum(steps)
        self.assertEqual(recording.tables["kernels"], launches)
        self.check_ledger(recording, launches)
        self.assertEqual(recording.ledger["ranges_torn"], 0)
        self.assertEqual(self.pauses(recording), pauses)
        self.assertEqual(recording.notes, [])

    def test_stops_and_starts_by_command(self):
        steps = Steps(self.folder)
        self.addCleanup(steps.program.kill)
        steps.step(2)
        self.assertIn("paused in 1 process", steps.tell("stop"))
        self.assertTrue(steps.tell("status").startswith("paused "))
        steps.step(3)
        self.assertIn("recording in 1 process", steps.tell("start", steps.pid()))
        self.assertTrue(steps.tell("status").startswith("recording "))
        steps.step(2)
        recording = steps.end()
        self.check(recording, (1, 2, 6, 7), [(COMMAND, COMMAND)])
        # Memory is known through the pause.
        self.assertEqual(recording.report("memory")["devices"][0]["allocations"], 7)
        names = [row["text"] for row in recording.rows("ranges")]
        self.assertEqual(sorted(names), ["step"] * 4 + ["train"])
        self.assertIn("nothing records into", steps.tell("stop", status=1))

    def test_a_pause_is_neither_busy_nor_idle(self):
        steps = Steps(self.folder)
        self.addCleanup(steps.program.kill)
        steps.step(1)
        steps.tell("stop")
        time.sleep(1)
        steps.tell("start")
        steps.step(1)
        recording = steps.end()
        device, = recording.report("gaps")["devices"]
        pause, = recording.rows("pauses")
        self.assertGreater(pause["end_ns"] - pause["start_ns"], 0.9 * SECOND)
        self.assertLess(device["span_ns"], 0.5 * SECOND)
        kinds = {row["kind"]: row["total_ns"] for row in recording.report("critical-path")["by_kind"]}
        self.assertGreater(kinds["not measured"], 0.9 * SECOND)
        # "train" was open when recording was paused: nobody knows when it ended.
        train, = [row for row in recording.rows("ranges") if row["text"] == "train"]
        self.assertEqual(train["end_ns"], pause["start_ns"])
        self.assertIn("paused once", tool("report", steps.path))

    def test_starts_paused(self):
        steps = Steps(self.folder, "--start-paused")
        self.addCleanup(steps.program.kill)
        steps.step(2)
        steps.tell("start")
        steps.step(1)
        steps.tell("stop")
        steps.step(1)
        self.check(steps.end(), (3,), [(1, COMMAND), (COMMAND, END)])

    def test_is_started_before_the_program_uses_cuda(self):
        steps = Steps(self.folder, "--start-paused")
        self.addCleanup(steps.program.kill)
        while not list(steps.path.glob("*.roll")):
            time.sleep(0.01)
        steps.tell("start")
        steps.step(2)
        recording = steps.end()
        self.assertEqual(recording.tables["kernels"], 3)

    def test_a_process_that_is_killed_while_paused(self):
        steps = Steps(self.folder)
        self.addCleanup(steps.program.kill)
        steps.step(2)
        steps.tell("stop")
        steps.step(1)
        subprocess.run(["kill", f"-{int(signal.SIGKILL)}", str(steps.pid())], check=True)
        recording = steps.end()
        self.assertEqual(recording.tables["kernels"], 3)
        self.assertEqual(self.pauses(recording), [(COMMAND, 0)])

    def test_the_program_says_when(self):
        steps = Steps(self.folder, "--profiler-api", words=("3:2",))
        self.addCleanup(steps.program.kill)
        steps.step(6)
        self.check(steps.end(), (3, 4), [(1, PROGRAM), (PROGRAM, END)])

    def test_a_range_says_when(self):
        steps = Steps(self.folder, "--record-range", "step", "--occurrences", "2:3")
        self.addCleanup(steps.program.kill)
        steps.step(6)
        recording = steps.end()
        self.check(recording, (2, 3, 4), [(1, RANGE), (RANGE, RANGE), (RANGE, RANGE), (RANGE, END)])
        ranges = recording.rows("ranges")
        self.assertEqual([row["text"] for row in ranges], ["step"] * 3)
        for row in ranges:
            self.assertGreater(row["end_ns"], row["start_ns"])

    def test_begins_and_ends_at_times(self):
        steps = Steps(self.folder, "--delay", "1s", "--duration", "1s")
        self.addCleanup(steps.program.kill)
        steps.step(1)
        while "paused" in steps.tell("status"):
            time.sleep(0.02)
        steps.step(2)
        while "recording" in steps.tell("status"):
            time.sleep(0.02)
        steps.step(1)
        recording = steps.end()
        self.check(recording, (2, 3), [(1, TIME), (TIME, END)])
        first, second = recording.rows("pauses")
        self.assertLess(abs(second["start_ns"] - first["end_ns"] - SECOND), 0.5 * SECOND)

    def test_says_what_does_not_go(self):
        for words, said in (
                (("--record-range", "a", "--profiler-api"), "exclude each other"),
                (("--record-range", "a", "--delay", "1s"), "no --delay"),
                (("--record-range", "a", "--no-nvtx"), "one of NVTX"),
                (("--occurrences", "1:2"), "goes with --record-range"),
                (("--record-range", "a", "--occurrences", "0:2"), "is not FIRST:COUNT"),
                (("--start-at", "noon"), "is no moment"),
                (("--start-at", "@1"), "is over"),
                (("--start-at", "@99999999999"), "is no moment"),
                (("--start-at", "2999-01-01T00:00:00Z", "--delay", "1s"), "exclude each other")):
            done = subprocess.run([GPUTRACE, "run", *words, "true"], capture_output=True, text=True,
                                  env=environment(), cwd=self.folder, timeout=PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(said, done.stderr)
        other = subprocess.Popen(["sleep", "3600"])
        self.addCleanup(other.communicate)
        self.addCleanup(other.kill)
        for command in ("start", "stop", "status"):
            done = subprocess.run([GPUTRACE, command, str(other.pid)], capture_output=True, text=True, env=environment(),
                                  cwd=self.folder, timeout=PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(f"process {other.pid}", done.stderr)
