# SPDX-License-Identifier: Apache-2.0
"""Recordings that keep what happened last: bounded on the disk, whole in what they keep.

Covers STAGE(gone), Covers COMMAND(dump).
"""
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

from kept import Kept
from programs import FAKES, GPUTRACE, PATIENCE_S, SECOND, environment, tool
from recordings import Recording
from steps import Steps


def steps_stem(folder):
    return pathlib.Path(tempfile.mkdtemp(dir=folder)) / "r"


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


class Keep(Kept):
    def test_the_last_of_a_time(self):
        steps = self.steps("--keep-last", "1s")
        count, launches = self.run_for(steps, 5)
        recording = steps.end()
        pause = self.check(recording, count, launches)
        kept_ns = max(row["end_ns"] for row in recording.rows("kernels")) - pause["end_ns"]
        self.assertGreater(kept_ns, 0.9 * SECOND)
        self.assertLess(kept_ns, 2.5 * SECOND)
        self.assertEqual(list(steps.path.glob("*.trimmed")), [])
        self.assertIn("--keep-last", tool("report", steps.path))
        device, = recording.report("gaps")["devices"]
        self.assertLess(device["span_ns"], 2.5 * SECOND)

    def test_each_process_has_its_own_part(self):
        """Two ranks of one recording, one of which ended long before: each has all it did, or counts what is gone."""
        one = self.steps("--keep-last", "1s", "--join")
        self.run_for(one, 3)
        other = Steps(self.folder, "--keep-last", "1s", "--join", stem=one.stem)
        self.addCleanup(other.program.kill)
        short = other.step(5)
        other.end()
        launched = one.step(1)
        recording = one.end()
        ledger = recording.ledger
        self.assertEqual(recording.tables["processes"], 2)
        self.assertEqual(recording.tables["kernels"] + ledger["kernels_gone"], launched + short)
        self.check_kept_ledger(recording, recording.tables["kernels"] - ledger["kernels_without_call"])
        # The pause of one is none of the other's.
        self.assertEqual(len(recording.rows("pauses")), 1)

    def test_a_process_that_is_killed(self):
        steps = self.steps("--keep-last", "1s")
        count, launches = self.run_for(steps, 3)
        os.kill(steps.pid(), signal.SIGKILL)
        recording = steps.end()
        self.check(recording, count, launches, was_killed=True)
        self.assertEqual(list(steps.path.glob("*.trimmed")), [])

    def test_as_much_as_fits(self):
        """More is written than may be kept: the disk never holds more, and nothing else is lost."""
        stem = steps_stem(self.folder)
        most = 8 << 20
        run = subprocess.Popen([GPUTRACE, "run", "-o", stem, "--no-export", "--keep-last", "8M", "--telemetry", "off",
                                FAKES / "bin" / "app_work", "--launches", "1000000", "--threads", "2", "--names", "7"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.addCleanup(run.kill)
        sizes = []
        path = stem.with_suffix(".gputrace")
        while run.poll() is None:
            sizes.append(sum(size_of(file) for pattern in ("*.capture", "*.trimmed") for file in path.glob(pattern)))
            time.sleep(0.01)
        said = run.communicate()[1]
        self.assertEqual(run.returncode, 0, said)
        recording = Recording(path)
        self.assertLess(max(sizes), most)
        self.assertGreater(max(sizes), most / 2)
        ledger = recording.ledger
        self.assertGreater(ledger["kernels_gone"], 0)
        lost = ledger["discarded_no_buffer"] + ledger["dropped_by_cupti"] + ledger["launches_missing"]
        self.assertEqual(lost, 0, ledger)
        self.assertEqual(recording.tables["kernels"] + ledger["kernels_gone"], 2000000)
        self.check_kept_ledger(recording, recording.tables["kernels"] - ledger["kernels_without_call"])

    def test_says_what_cannot_be_kept(self):
        for word in ("60", "1ms", "0", "1K", "long", ""):
            done = subprocess.run([GPUTRACE, "run", "--keep-last", word, "true"], capture_output=True, text=True,
                                  env=environment(), cwd=self.folder, timeout=PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("neither a time", done.stderr)


class Dump(Kept):
    def dump(self, steps, *words):
        done = subprocess.run([GPUTRACE, "dump", *map(str, words or (steps.path,))], capture_output=True, text=True,
                              env=environment(), timeout=PATIENCE_S, check=True)
        return Recording(pathlib.Path(done.stderr.rpartition(" in ")[2].strip()))

    def test_a_program_that_runs(self):
        steps = self.steps()
        launches = steps.step(20)
        dumped = self.dump(steps)
        steps.step(5)
        self.assertEqual(dumped.path.name, "r.dump-1.gputrace")
        self.assertEqual(dumped.tables["kernels"], launches)
        self.check_ledger(dumped, launches)
        self.assertEqual(dumped.notes, [])
        self.assertEqual(self.dump(steps, steps.pid()).path.name, "r.dump-2.gputrace")
        recording = steps.end()
        self.check_ledger(recording, 25 * 26 // 2)
        self.assertEqual(subprocess.run([GPUTRACE, "info", dumped.path], env=environment(), check=False,
                                        capture_output=True).returncode, 0)
        # One that has ended can be dumped, too.
        self.assertEqual(self.dump(steps).tables["kernels"], 25 * 26 // 2)

    def test_what_was_kept(self):
        steps = self.steps("--keep-last", "1s")
        count, launches = self.run_for(steps, 3)
        time.sleep(0.3)
        dumped = self.dump(steps)
        self.check(dumped, count, launches)
        steps.end()

    def test_while_the_program_works(self):
        """A dump at any moment has each launch until some moment before, each once, and of what is kept no fewer."""
        steps = self.steps("--keep-last", "1s")
        ends = threading.Event()
        counts = []

        def work():
            while not ends.is_set():
                counts.append(steps.step())
        worker = threading.Thread(target=work)
        worker.start()
        try:
            for _ in range(8):
                time.sleep(0.4)
                before = counts[-1] if counts else 0
                dumped = self.dump(steps)
                after = counts[-1] + len(counts) + 1
                ledger = dumped.ledger
                known = ledger["launches"] + ledger.get("kernels_gone", 0)
                self.assertGreaterEqual(known, before)
                self.assertLessEqual(known, after)
                self.assertEqual(ledger["launches_missing"], 0, ledger)
                self.assertEqual([name for name, value in ledger.items() if name.startswith("missing_") and value], [])
        finally:
            ends.set()
            worker.join()
        steps.end()

    def test_says_what_does_not_go(self):
        steps = self.steps()
        steps.step()
        tool("dump", "-o", steps.stem.with_name("here"), steps.path)
        done = subprocess.run([GPUTRACE, "dump", "-o", steps.stem.with_name("here"), steps.path], capture_output=True,
                              text=True, env=environment(), timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("give another name", done.stderr)
        steps.end()
