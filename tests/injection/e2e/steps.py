# SPDX-License-Identifier: Apache-2.0
"""A program that is told what to do while gputrace records it."""
import pathlib
import subprocess
import tempfile

from programs import FAKES, GPUTRACE, PATIENCE_S, environment
from recordings import Recording

STEPS = FAKES / "bin" / "app_steps"


class Steps:
    """app_steps under gputrace run: its step N launches N kernels."""

    def __init__(self, folder, *options, words=(), script="", stem=None):
        self.stem = stem or pathlib.Path(tempfile.mkdtemp(dir=folder)) / "r"
        self.path = self.stem.with_suffix(".gputrace")
        self.program = subprocess.Popen([GPUTRACE, "run", "-o", self.stem, "--no-export", *options, STEPS, *words],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment(script))

    def step(self, count=1):
        """count: of steps, or another word that it knows."""
        self.program.stdin.write(f"{count}\n")
        self.program.stdin.flush()
        return int(self.program.stdout.readline())

    def tell(self, command, word=None, status=0):
        done = subprocess.run([GPUTRACE, command, str(word or self.path)], capture_output=True, text=True,
                              env=environment(), timeout=PATIENCE_S, check=False)
        assert done.returncode == status, (command, done)
        return done.stdout + done.stderr

    def pid(self):
        """The program is a child of gputrace run, the last one: before it comes who dumps."""
        children = pathlib.Path(f"/proc/{self.program.pid}/task/{self.program.pid}/children").read_text()
        return int(children.split()[-1])

    def end(self):
        _, self.said = self.program.communicate(timeout=PATIENCE_S)
        return Recording(self.path)
