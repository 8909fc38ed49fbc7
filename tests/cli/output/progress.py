#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far a long export is stands on the terminal, and nowhere else. Usage: progress.py GPUTRACE

The export writes into a pipe that is not read for longer than the second that gputrace waits, so that
it is slow however fast the machine is."""
import os
import pathlib
import pty
import select
import signal
import sys
import tempfile
import time
import unittest

GPUTRACE = os.path.realpath(sys.argv.pop(1))
CAPTURES = pathlib.Path(__file__).resolve().parents[2] / "golden" / "captures"
ERASE = b"\r\x1b[K"


class Progress(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.TemporaryDirectory()
        self.addCleanup(self.top.cleanup)
        recording = pathlib.Path(self.top.name) / "long.gputrace"
        recording.mkdir()
        capture = next((CAPTURES / "h200-saxpy.gputrace").glob("*.capture")).read_bytes()
        for i in range(400):
            (recording / f"vm-{1000 + i}-{i}.capture").write_bytes(capture)

    def start(self, terminal, *options, term="xterm"):
        """The process, what its standard output is read from, and its terminal (standard error)."""
        reader, writer = os.pipe()
        pid, fd = pty.fork()
        if pid == 0:
            os.dup2(writer, 1)
            if not terminal:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.chdir(self.top.name)
            os.environ["TERM"] = term
            os.execv(GPUTRACE, ["gputrace", "export", *options, "--uncompressed", "-o", "-", "long"])
        os.close(writer)
        return pid, reader, fd

    def seen(self, fd, until=None):
        """Output on the terminal, up to a text, or until nobody has it open."""
        text = b""
        while until is None or until not in text:
            if not select.select([fd], [], [], 20)[0]:
                self.fail(f"only {text!r} came")
            try:
                part = os.read(fd, 4096)
            except OSError:
                break
            if not part:
                break
            text += part
        return text

    def drain(self, reader):
        size = 0
        while part := os.read(reader, 1 << 16):
            size += len(part)
        os.close(reader)
        return size

    def keep_waiting(self, reader):
        """For more than the second, from when it has begun to write: however long the machine takes until then."""
        self.assertTrue(select.select([reader], [], [], 20)[0], "it writes nothing")
        time.sleep(1.3)

    def run_slowly(self, terminal, *options, **how):
        pid, reader, fd = self.start(terminal, *options, **how)
        self.keep_waiting(reader)
        size = self.drain(reader)
        text = self.seen(fd)
        os.close(fd)
        self.assertEqual(os.waitpid(pid, 0)[1], 0, text)
        self.assertGreater(size, 1 << 17)
        return text

    def test_is_on_a_terminal_and_gone_at_the_end(self):
        text = self.run_slowly(True)
        self.assertRegex(text, rb"\r\x1b\[Kgputrace: writing standard output: [0-9.]+ .B")
        self.assertIn(ERASE, text[text.rindex(b"writing"):])
        last = text[text.rindex(ERASE) + len(ERASE):]
        self.assertTrue(last.startswith(b"gputrace: wrote "), last)

    def test_is_not_there_when_quiet_or_on_a_dumb_terminal(self):
        self.assertEqual(self.run_slowly(True, "--quiet"), b"")
        self.assertNotIn(b"\x1b", self.run_slowly(True, term="dumb"))

    def test_is_not_there_without_a_terminal(self):
        self.assertEqual(self.run_slowly(False), b"")

    def test_goes_with_an_interrupt(self):
        pid, reader, fd = self.start(True)
        self.keep_waiting(reader)
        while not select.select([fd], [], [], 0)[0]:
            self.assertNotEqual(os.read(reader, 1 << 16), b"", "it ended without a word")
        self.seen(fd, b"writing")
        os.write(fd, b"\x03")
        status = os.waitpid(pid, 0)[1]
        self.assertTrue(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, status)
        self.assertTrue(self.seen(fd).endswith(ERASE))
        os.close(reader)
        os.close(fd)


unittest.main()
