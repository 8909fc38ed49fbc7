# SPDX-License-Identifier: Apache-2.0
"""gputrace top while it runs."""
import json
import subprocess
import threading
import time

from programs import GPUTRACE, PATIENCE_S, environment


class Watch:
    """gputrace top with these words, whose lines are read as they come."""

    def __init__(self, *words):
        self.process = subprocess.Popen([GPUTRACE, "top", *map(str, words)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment())
        self.lines = []
        self.came = threading.Condition()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.came:
                self.lines.append(line)
                self.came.notify_all()

    def until(self, is_there):
        """Waits for a line of JSON of that kind, and gives it back."""
        end = time.monotonic() + PATIENCE_S
        with self.came:
            while not (found := [shown for shown in map(json.loads, self.lines) if is_there(shown)]):
                assert self.came.wait(end - time.monotonic()), self.lines[-3:]
        return found[0]

    def end(self):
        """Its status when it has ended by itself; said is its standard error."""
        self.process.wait(PATIENCE_S)
        self.reader.join(PATIENCE_S)
        self.said = self.process.stderr.read()
        self.process.stderr.close()
        self.process.stdout.close()
        return self.process.returncode
