#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that share a recording (--join): whoever is the last sums up all of them. Usage: join.py GPUTRACE"""
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

GPUTRACE = os.path.realpath(sys.argv.pop(1))
CAPTURE = next((pathlib.Path(__file__).resolve().parents[2] / "golden" / "captures" / "h200-saxpy.gputrace").glob("*.capture"))
RECORD = f'cp "{CAPTURE}" "$GPUTRACE_OUTPUT/$$.capture"'
RUNS = " run{} so far; what joins it later sums up again"


def full_pipe():
    """A pipe that takes nothing before somebody has read from it."""
    reading, writing = os.pipe()
    size = fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writing, b"x" * size)
    return reading, writing, size


class Join(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.folder = pathlib.Path(top.name)
        (self.folder / "injection.so").touch()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUTRACE_")}
        self.environment |= {"GPUTRACE_INJECTION": str(self.folder / "injection.so"), "LC_ALL": "C"}

    def start(self, script, stderr=subprocess.PIPE):
        return subprocess.Popen([GPUTRACE, "run", "--join", "-o", "job", "sh", "-c", script], cwd=self.folder, stderr=stderr,
                                env=self.environment, stdin=subprocess.DEVNULL)

    def wait_until(self, holds):
        deadline = time.monotonic() + 30
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def has_ended(self, manifest):
        try:
            return json.loads((self.folder / "job.gputrace" / manifest).read_text())["exit_status"] is not None
        except (OSError, ValueError):
            return False

    @staticmethod
    def readers(run):
        """Processes of gputrace's that the run has begun."""
        try:
            children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
            return {child for child in children if pathlib.Path(f"/proc/{child}/comm").read_text() == "gputrace\n"}
        except OSError:
            return set()

    def sums_up(self, run):
        """It has been told that it is the last: the process that reads the recording is there, and stays, as nobody takes
        what it writes. The one that asks what the machine is made of goes."""
        before = self.readers(run)
        if before:
            time.sleep(1)
        return bool(before & self.readers(run))

    def test_sums_up_once_where_runs_end_together(self):
        go = self.folder / "go"
        runs = [self.start(f'{RECORD}; until [ -e "{go}" ]; do sleep 0.01; done') for _ in range(4)]
        self.wait_until(lambda: len(list(self.folder.glob("job.gputrace/*.capture"))) == 4)
        go.touch()
        texts = [run.communicate(timeout=60)[1].decode() for run in runs]
        self.assertEqual(sum("holds 4" + RUNS.format("s") in text for text in texts), 1, texts)
        self.assertEqual(sum("ledger:" in text for text in texts), 1)
        self.assertEqual(sum("is still being recorded by others" in text for text in texts), 3)

    def test_sums_up_what_came_while_it_summed_up(self):
        reading, writing, size = full_pipe()
        first = self.start(RECORD, writing)
        os.close(writing)
        self.wait_until(lambda: self.has_ended("manifest.json") and self.sums_up(first))
        second = self.start(RECORD)
        self.assertIn(b"is still being recorded by others", second.communicate(timeout=60)[1])
        with open(reading, "rb") as pipe:
            text = pipe.read()[size:].decode()
        self.assertEqual(first.wait(timeout=60), 0)
        self.assertIn("holds 2" + RUNS.format("s"), text)
        self.assertIn("44 launches = 44 kernels", text.rsplit("holds 2", 1)[1])

    def test_sums_up_again_what_joins_later(self):
        for runs in (1, 2):
            text = self.start(RECORD).communicate(timeout=60)[1].decode()
            self.assertIn(f"holds {runs}" + RUNS.format("" if runs == 1 else "s"), text)
            self.assertEqual(text.count("ledger:"), 1)

    def joined(self):
        done = self.start(RECORD)
        return done.communicate(timeout=60)[1].decode(), done.returncode

    def test_joins_only_what_nobody_else_can_write(self):
        job = self.folder / "job.gputrace"
        job.mkdir(mode=0o700)
        for mode in 0o770, 0o722, 0o777:
            job.chmod(mode)
            text, status = self.joined()
            self.assertIn("others may write into job.gputrace: say chmod go-w job.gputrace before a run joins it", text)
            self.assertEqual((status, list(job.iterdir())), (125, []))
        job.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(job, 65534, -1)
            text, status = self.joined()
            self.assertIn("job.gputrace belongs to another user (65534): a run joins only recordings of its own user", text)
            self.assertEqual((status, list(job.iterdir())), (125, []))
            os.chown(job, 0, -1)
        self.assertEqual(self.joined()[1], 0)

    def test_follows_no_link(self):
        (self.folder / "there").mkdir()
        (self.folder / "job.gputrace").symlink_to("there")
        text, status = self.joined()
        self.assertIn("job.gputrace is not a recording", text)
        self.assertEqual((status, list((self.folder / "there").iterdir())), (125, []))

    def test_leaves_an_empty_folder_that_was_there(self):
        job = self.folder / "job.gputrace"
        job.mkdir(mode=0o700)
        done = self.start("true")
        self.assertIn("nothing was recorded", done.communicate(timeout=60)[1].decode())
        self.assertTrue(job.is_dir())


unittest.main()
