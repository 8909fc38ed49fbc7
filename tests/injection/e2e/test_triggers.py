# SPDX-License-Identifier: Apache-2.0
"""Recordings are dumped when something goes wrong in the program: the dump has what went wrong."""
import os
import signal
import subprocess
import time

from case import Case
from programs import GPUTRACE, PATIENCE_S, SECOND, environment
from recordings import Recording
from steps import Steps


class Triggers(Case):
    def steps(self, *options, **more):
        steps = Steps(self.folder, *options, **more)
        self.addCleanup(steps.program.kill)
        return steps

    def dumped(self, steps, number=1):
        """The dump of that number, once it is there."""
        path = steps.path.with_name(f"r.dump-{number}.gputrace")
        end = time.monotonic() + PATIENCE_S
        while not path.exists():
            self.assertLess(time.monotonic(), end, "no dump")
            time.sleep(0.05)
        return Recording(path)

    def end(self, steps, *said):
        recording = steps.end()
        for text in said:
            self.assertIn(text, steps.said)
        return recording

    def slow_steps(self, recording):
        return [row for row in recording.rows("ranges")
                if row["text"] == "step" and row["end_ns"] - row["start_ns"] > 0.25 * SECOND]

    def test_a_step_over_a_limit(self):
        steps = self.steps("--dump-on", "slow=step:200ms", "--keep-last", "5s")
        steps.step(20)
        time.sleep(2.5)
        self.assertEqual(list(steps.path.parent.glob("*.dump-*")), [])
        steps.step("slow")
        dumped = self.dumped(steps)
        slow, = self.slow_steps(dumped)
        kernels = [row for row in dumped.rows("kernels") if slow["start_ns"] <= row["start_ns"] <= slow["end_ns"]]
        self.assertEqual(len(kernels), 21)
        self.assertEqual(dumped.ledger["launches_missing"], 0)
        self.end(steps, 'range "step" of process', "the limit is 200 ms", "r.dump-1.gputrace")

    def test_a_step_far_from_the_median(self):
        steps = self.steps("--dump-on", "slow=step:+20", "--max-dumps", "40")
        for _ in range(40):
            steps.step()
            time.sleep(0.02)
        steps.step("slow")
        # On a machine that has much to do others may be far from it, too.
        number = 1
        while not self.slow_steps(self.dumped(steps, number)):
            number += 1
        self.end(steps, 'range "step"')

    def test_a_call_that_fails(self):
        steps = self.steps("--dump-on", "error")
        steps.step(3)
        steps.step("fail")
        dumped = self.dumped(steps)
        self.assertEqual([row["result"] for row in dumped.rows("api_calls") if row["result"]], [1])
        # The same error is told of once; another one again.
        time.sleep(2.5)
        steps.step("fail")
        self.dumped(steps, 2)
        self.assertFalse(steps.path.with_name("r.dump-3.gputrace").exists())
        self.end(steps, "cudaFree returned cudaErrorInvalidValue (1): dumped to")

    def test_no_more_dumps_than_wanted(self):
        steps = self.steps("--dump-on", "error", "--max-dumps", "1")
        for _ in range(3):
            steps.step("fail")
            time.sleep(1.2)
        self.dumped(steps)
        time.sleep(1)
        self.assertFalse(steps.path.with_name("r.dump-2.gputrace").exists())
        self.end(steps, "that was dump 1, the last")

    def test_a_hang(self):
        steps = self.steps("--dump-on", "hang=2s", script=f"kernel_ns={3600 * SECOND}")
        steps.program.stdin.write("1\n")
        steps.program.stdin.flush()
        dumped = self.dumped(steps)
        self.assertEqual(dumped.ledger["launches_unfinished"], 1)
        os.kill(steps.pid(), signal.SIGKILL)
        self.end(steps, "work has not ended, and nothing was launched or ended for")
        self.assertFalse(steps.path.with_name("r.dump-2.gputrace").exists())

    def test_an_idle_program_does_not_hang(self):
        steps = self.steps("--dump-on", "hang=1s")
        steps.step(3)
        time.sleep(4)
        self.end(steps)
        self.assertEqual(list(steps.path.parent.glob("*.dump-*")), [])

    def test_a_signal(self):
        steps = self.steps("--dump-signal", "USR2")
        launches = steps.step(5)
        steps.program.send_signal(signal.SIGUSR2)
        self.assertEqual(self.dumped(steps).tables["kernels"], launches)
        # The program did not get it: it would have died of it.
        steps.step(1)
        self.end(steps, "asked for by a signal")

    def test_says_what_does_not_go(self):
        for words, said in (
                (("--dump-on", "sunshine"), "is none of error, memory"),
                (("--dump-on", "slow=step"), "is none of"),
                (("--dump-on", "slow=step:fast"), "is none of"),
                (("--dump-on", "hang=0s"), "is none of"),
                (("--dump-on", "error,"), "is none of"),
                (("--dump-signal", "KILL"), "is none of USR1"),
                (("--max-dumps", "2"), "goes with --dump-on")):
            done = subprocess.run([GPUTRACE, "run", *words, "true"], capture_output=True, text=True,
                                  env=environment(), cwd=self.folder, timeout=PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(said, done.stderr)
