#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports on a terminal: their width, colours, and the pager. Usage: pager.py GPUTRACE RECORDING"""
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import unittest

GPUTRACE, RECORDING = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
MARKED = "sed s/^/P:/"
BOLD = "\033[1m"
UNSET = ("COLUMNS", "LESS", "NO_COLOR", "PAGER", "GPUTRACE_PAGER")


def environment(changes):
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    return {**kept, "TERM": "xterm", **changes}


def on_terminal(*words, rows=10, columns=100, typed=b"", **changes):
    """Output that a terminal shows, and the exit status. typed is sent once something is shown."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execve(GPUTRACE, ["gputrace", "report", RECORDING, *words], environment(changes))
    shown = b""
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:  # everybody on it has ended
            break
        if not read:
            break
        if typed:
            os.write(terminal, typed)
            typed = b""
        shown += read
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return shown.decode().replace("\r\n", "\n"), status


def piped(*words, **changes):
    done = subprocess.run([GPUTRACE, "report", RECORDING, *words], env=environment(changes), timeout=60,
                          capture_output=True, text=True, check=True)
    return done.stdout


class Pager(unittest.TestCase):
    def test_shows_what_is_longer_than_the_terminal(self):
        shown, status = on_terminal("kernels", PAGER=MARKED)
        self.assertEqual(status, 0)
        self.assertTrue(all(line.startswith("P:") for line in shown.splitlines()))

    def test_is_left_out_for_what_fits(self):
        shown, status = on_terminal("kernels", PAGER=MARKED, rows=500)
        self.assertEqual(status, 0)
        self.assertNotIn("P:", shown)

    def test_is_not_wanted(self):
        for words, changes in ((["--no-pager"], {"PAGER": MARKED}), ([], {"PAGER": "cat"}),
                               ([], {"PAGER": MARKED, "GPUTRACE_PAGER": ""}), (["--json"], {"PAGER": MARKED})):
            shown, status = on_terminal("kernels", *words, **changes)
            self.assertEqual(status, 0)
            self.assertNotIn("P:", shown)
            self.assertIn("total", shown)

    def test_of_gputrace_goes_before_the_general_one(self):
        shown, _ = on_terminal("kernels", PAGER="false", GPUTRACE_PAGER=MARKED)
        self.assertIn("P:", shown)

    def test_may_end_before_it_has_read_all(self):
        shown, status = on_terminal("--no-pager", "kernels", "gaps", "api")
        self.assertGreater(len(shown), 1000)
        shown, status = on_terminal("kernels", "gaps", "api", PAGER="head -n 1")
        self.assertEqual((len(shown.splitlines()), status), (1, 0))
        self.assertEqual(on_terminal("kernels", PAGER="exit 3")[1], 0)

    def test_that_is_not_there_does_not_keep_the_text_away(self):
        for pager in ("/there/is/none", "no-such-pager -R", "no-such-pager|cat"):
            shown, status = on_terminal("kernels", PAGER=pager)
            self.assertEqual(status, 0)
            self.assertIn("total", shown)
            self.assertTrue(shown.startswith(f"gputrace: '{pager}', which PAGER names as the pager, cannot be run\n"), shown[:200])
            self.assertNotIn("sh:", shown)
        shown, _ = on_terminal("kernels", PAGER=MARKED, GPUTRACE_PAGER="/there/is/none")
        self.assertTrue(shown.startswith("gputrace: '/there/is/none', which GPUTRACE_PAGER names "), shown[:200])

    def test_shows_help_that_is_longer_than_the_terminal(self):
        shown, status = on_terminal("--help", PAGER=MARKED)
        self.assertEqual(status, 0)
        self.assertTrue(all(line.startswith("P:") for line in shown.splitlines()))
        self.assertNotIn("P:", on_terminal("--help", PAGER=MARKED, rows=500)[0])

    def test_gets_the_interrupt_for_itself(self):
        shown, status = on_terminal("kernels", typed=b"\003",
                                    PAGER="trap 'echo heard' INT; echo ready; sleep 1; sed s/^/P:/")
        self.assertEqual(status, 0)
        self.assertIn("heard", shown)
        self.assertIn("P:", shown)


class Colour(unittest.TestCase):
    def test_is_for_terminals(self):
        self.assertIn(BOLD, on_terminal("kernels", PAGER="cat")[0])
        self.assertNotIn("\033", piped("kernels"))

    def test_is_refused(self):
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            self.assertNotIn("\033", on_terminal("kernels", PAGER="cat", **changes)[0])
        self.assertNotIn("\033", on_terminal("kernels", "--color=never", PAGER="cat")[0])
        self.assertIn(BOLD, on_terminal("kernels", PAGER="cat", NO_COLOR="")[0])

    def test_can_be_asked_for(self):
        self.assertIn(BOLD, piped("kernels", "--color=always", NO_COLOR="1"))
        self.assertNotIn("\033", piped("kernels", "--color=always", "--json"))


class Page(unittest.TestCase):
    def test_is_as_wide_as_the_terminal(self):
        for columns in (60, 90):
            shown, _ = on_terminal("kernels", PAGER="cat", NO_COLOR="1", COLUMNS="200", columns=columns)
            widest = max(len(line) for line in shown.splitlines())
            self.assertLessEqual(widest, columns)
            self.assertGreater(widest, columns - 15)

    def test_of_help_is_as_wide_as_the_terminal(self):
        for columns in (50, 130):
            shown, _ = on_terminal("--help", PAGER="cat", COLUMNS="200", columns=columns)
            widest = max(len(line) for line in shown.splitlines())
            self.assertLessEqual(widest, columns)
            self.assertGreater(widest, columns - 15)

    def test_that_nobody_reads_any_more_ends_it(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([GPUTRACE, "report", RECORDING], stdout=writing, stderr=subprocess.PIPE, timeout=60,
                              env=environment({}), check=False, restore_signals=True)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
