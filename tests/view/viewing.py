# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of gputrace view: a running one, and its answers."""
import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PATIENCE_S = 30
UI_PORT = 9001
HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "captures"
# Variables of whoever runs the tests; a browser would be opened, or a line more be said.
UNSET = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "NO_COLOR", "VTE_VERSION")


def environment(**more):
    plain = {name: value for name, value in os.environ.items() if name not in UNSET}
    return plain | {"LC_ALL": "C"} | more


class View:
    """gputrace view on its way; stopped and waited for at the end of a with block."""

    def __init__(self, gputrace, *words, **variables):
        self.process = subprocess.Popen([gputrace, "view", *map(str, words)], env=environment(**variables),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.said = ""
        while "http://" not in self.said:
            line = self.process.stderr.readline()
            self.said += line
            if not line:
                raise AssertionError(f"view ended: {self.said}")
        self.address = re.search(r"http://127\.0\.0\.1:\d+/\S+/", self.said)[0]
        self.port = int(re.search(r":(\d+)/", self.address)[1])
        self.token = self.address.split("/")[3]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        self.process.stderr.close()

    def ask(self, method, path, **headers):
        """The answer and its body; path begins with a slash or is below the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            path = path if path.startswith("/") else f"/{self.token}/{path}"
            connection.request(method, path, headers={name.replace("_", "-"): value
                                                      for name, value in headers.items()})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def is_there(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), PATIENCE_S).close()
        except ConnectionRefusedError:
            return False
        return self.process.poll() is None

    def end(self):
        """Waits for it to end by itself; the exit status."""
        self.said += self.process.stderr.read()
        return self.process.wait(PATIENCE_S)

    def interrupt(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.end()


def view_on_ui_port(gputrace, *words, **variables):
    """On port 9001; whoever else runs these tests on this machine is waited for."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        view = View(gputrace, *words, **variables)
        if view.port == UI_PORT:
            return view
        with view:
            pass
        time.sleep(0.2)
    raise unittest.SkipTest(f"port {UI_PORT} is in use by another program")


class Folder(unittest.TestCase):
    """A test with a folder of its own, which holds a trace."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bytes = b"\n" + os.urandom(99_999)
        self.trace = self.folder / "some trace.perfetto"
        self.trace.write_bytes(self.bytes)
