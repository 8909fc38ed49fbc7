# SPDX-License-Identifier: Apache-2.0
"""Sentences for the recording, of what gputrace's files do inside a program in Python.

They lie in a file beside the recording's captures, a line each. The program must not notice: what
cannot be written is lost, and nothing here raises.
"""
import os

# The recording: these files are in an archive in it.
FOLDER = os.path.dirname(os.path.dirname(__file__))

MOST_NOTES = 20


class Notes:
    """Each sentence is said once, and so many by each of what has notes."""

    def __init__(self, whose=""):
        self.whose = whose  # begins the sentences of what failed: "PyTorch's "
        self.said = set()

    def add(self, sentence):
        try:
            line = " ".join(str(sentence).split())[:400]
            if line in self.said or len(self.said) >= MOST_NOTES:
                return
            self.said.add(line)
            name = "%s-%d.notes" % (os.uname().nodename, os.getpid())
            descriptor = os.open(os.path.join(FOLDER, name),
                                 os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, (line + "\n").encode("utf-8", "replace"))
            finally:
                os.close(descriptor)
        except Exception:  # the note is lost, the program goes on
            pass

    def failed(self, what, error):
        self.add("%s%s: %s: %s" % (self.whose, what, type(error).__name__, error))
