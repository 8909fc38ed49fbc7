# SPDX-License-Identifier: Apache-2.0
"""A program in Python with what gputrace run brings along, and with the stubs of packages beside this file.

GPUTRACE_TEST_PYTHONS names the Pythons, with colons between them; without it the one that runs this and those
that stand along PATH. The first argument of the test is taken as gputrace.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

GPUTRACE = pathlib.Path(sys.argv.pop(1)).resolve()
FAKES = GPUTRACE.parent.parent / "fakes"
HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["python2.7"] + [f"python3.{minor}" for minor in range(6, 15)]


def usable(python):
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def pythons():
    named = os.environ.get("GPUTRACE_TEST_PYTHONS")
    found = named.split(":") if named else [sys.executable] + [shutil.which(name) for name in NAMES]
    found = {str(pathlib.Path(path).resolve()): path for path in found if path}
    return [path for path in found.values() if usable(path)]


def version(python):
    said = subprocess.run([python, "-c", "import sys; print('%d %d' % sys.version_info[:2])"], capture_output=True,
                          text=True, check=True).stdout
    return tuple(int(word) for word in said.split())


PYTHONS = {python: version(python) for python in pythons()}
NEW = [python for python, number in PYTHONS.items() if number >= (3, 8)]


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        """The archive as run makes it, in a folder that stands for a recording."""
        cls.top = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.top.cleanup)
        cls.archive = pathlib.Path(cls.top.name) / "python.zip"
        subprocess.run([GPUTRACE, "run", "--pytorch", "ops", "-o", "x", "sh", "-c",
                        f'cp "${{PYTHONPATH%%:*}}" {cls.archive}'], cwd=cls.top.name, env=cls.clean(), check=True,
                       capture_output=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(self.archive, self.folder)
        self.log = self.folder / "log.json"

    @staticmethod
    def clean(**more):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("GPUTRACE_", "PYTHON", "STUB_"))}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # of the stub, in the source tree
        return dict(environment, **more)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def python(self, *command, python=sys.executable, words="modules", path=(), brought=True, **more):
        """words are those of --pytorch."""
        entries = ([str(self.folder / "python.zip")] if brought else []) + [str(entry) for entry in path]
        environment = self.clean(PYTHONPATH=":".join(entries), STUB_LOG=str(self.log), **more)
        if brought:
            environment["GPUTRACE_PYTORCH"] = words
        return subprocess.run([str(word) for word in (python,) + command], cwd=self.folder, env=environment, text=True,
                              capture_output=True, check=False)

    def stub(self, *command, **how):
        """A program that finds the stub of torch, and must end well and say nothing else."""
        done = self.python(*command, path=[HERE] + list(how.pop("path", ())), **how)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def events(self, thread=None):
        return [event for event in json.loads(self.log.read_text()) if thread in (None, event[0])]

    def texts(self, what, thread=None):
        return [text for _, kind, text in self.events(thread) if kind == what]

    def notes(self):
        return [line for path in sorted(self.folder.glob("*.notes")) for line in path.read_text().splitlines()]
