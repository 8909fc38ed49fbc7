# SPDX-License-Identifier: Apache-2.0
"""Processes that measure: started anew, or forked from a Python that has imported PyTorch already."""
import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess

import rounds as paired
from rounds import Failed, clean_environment

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
START_LIMIT_S = 300
# One that was killed is gone at once.
KILL_LIMIT_S = 20


class Process:
    """A process that ends with one line of JSON. ended() is its exit status, None while it runs; wait(limit_s)
    the same, None when it ran longer than that; kill() ends it, however it is."""

    def __init__(self, folder):
        self.output, self.errors = (pathlib.Path(folder) / name for name in ("stdout", "stderr"))

    def row(self, limit_s, ignore_status=False):
        """The line of JSON that it ends with."""
        status = self.wait(limit_s)
        if status is None:
            self.kill()
            raise Failed(f"took longer than {limit_s} s")
        out, err = (name.read_text(errors="replace") for name in (self.output, self.errors))
        row = paired.last_json(out)
        if row is None or (status and not ignore_status):
            raise Failed(f"exit status {status}: {paired.tail_of(err, out)}")
        return row


class StartedProcess(Process):
    """One started anew."""

    def __init__(self, command, env, folder):
        super().__init__(folder)
        try:
            with open(self.output, "wb") as output, open(self.errors, "wb") as errors:
                self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=output,
                                                stderr=errors)
        except OSError as failure:
            raise Failed(str(failure)) from None

    def ended(self):
        return self.process.poll()

    def wait(self, limit_s):
        try:
            return self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        self.process.kill()
        self.process.wait()


class ForkedProcess(Process):
    """A fork of a WarmPython."""

    def __init__(self, warm, pid, folder):
        super().__init__(folder)
        self.warm, self.pid, self.status = warm, pid, None

    def ended(self):
        if self.status is None:
            self.status = self.warm.ask({"wait": self.pid, "block": False}, START_LIMIT_S)["status"]
        return self.status

    def wait(self, limit_s):
        if self.status is None:
            answer = self.warm.ask({"wait": self.pid, "block": True}, limit_s)
            if answer is None:
                # The question stands: its answer comes when the process ends, which is now.
                os.kill(self.pid, signal.SIGKILL)
                self.status = self.warm.read(START_LIMIT_S)["status"]
                return None
            self.status = answer["status"]
        return self.status

    def kill(self):
        if self.warm.process and self.ended() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait(KILL_LIMIT_S)


class WarmPython:
    """A Python that has imported PyTorch and forks one process for each run (programs/serve.py)."""

    def __init__(self, python, modules):
        self.command = [python, str(PROGRAMS / "serve.py"), *modules]
        self.process = None

    def read(self, limit_s):
        """The next answer, or None when none came in time."""
        if not select.select([self.process.stdout], [], [], limit_s)[0]:
            return None
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.process = None
            raise Failed("programs/serve.py ended; what it said stands above")
        return json.loads(line)

    def ask(self, request, limit_s):
        """The answer to a request, or None when none came in time."""
        if not self.process:
            raise Failed("programs/serve.py ended; what it said stands above")
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
        return self.read(limit_s)

    def start(self):
        if self.process:
            return
        # Unbuffered, so that select() sees every line that has not been read.
        self.process = subprocess.Popen(self.command, env=clean_environment(),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        if not self.read(START_LIMIT_S):
            self.stop()
            raise Failed(f"{' '.join(self.command)} did not start within {START_LIMIT_S} s")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def fork(self, program, arguments, env, folder):
        """Starts one program."""
        self.start()
        output, errors = (os.path.join(folder, name) for name in ("stdout", "stderr"))
        answer = self.ask({"program": program, "arguments": arguments, "environment": env, "stdout": output,
                           "stderr": errors}, START_LIMIT_S)
        return ForkedProcess(self, answer["pid"], folder)
