#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/setup says a line for each step, and shows what a step said only when it fails. Usage: setup.py GPUTRACE

It runs in a tree of its own, where cmake and the packages are stand-ins."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

GPUTRACE = os.path.realpath(sys.argv.pop(1))
TOP = pathlib.Path(__file__).resolve().parent.parent.parent
CHATTER = "a line that nobody reads"
CMAKE = f"""#!/bin/sh
i=0
while [ $i -lt 300 ]; do echo "{CHATTER}"; i=$((i + 1)); done
if [ "$1" = --build ]; then
	[ -z "${{BROKEN-}}" ] || {{ echo "it broke: $BROKEN"; exit 1; }}
	mkdir -p build/release/bin && ln -sf {GPUTRACE} build/release/bin/gputrace
fi
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        (self.top / "scripts").mkdir()
        shutil.copy(TOP / "scripts/setup", self.top / "scripts/setup")
        self.write("scripts/install-packages", "#!/bin/sh\n")
        self.write("bin/cmake", CMAKE)
        self.write("bin/nvidia-smi", "#!/bin/sh\nexit 1\n")  # no GPU, wherever this runs
        captures = self.top / "tests/golden/captures"
        captures.mkdir(parents=True)
        (captures / "h200-saxpy.gputrace").symlink_to(TOP / "tests/golden/captures/h200-saxpy.gputrace")

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run_setup(self, *words, **variables):
        return subprocess.run([self.top / "scripts/setup", *words], capture_output=True, text=True, check=False,
                              env=os.environ | {"PATH": f"{self.top / 'bin'}:{os.environ['PATH']}"} | variables)

    def log(self):
        return (self.top / "build/setup.log").read_text()

    def test_says_little_and_ends_with_what_to_type(self):
        done = self.run_setup()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn(CHATTER, done.stdout)
        self.assertLess(len(done.stdout.splitlines()), 60)
        steps = done.stdout.splitlines()[:3]
        self.assertRegex("\n".join(steps), r"installing .* \d+ s\nconfiguring .* \d+ s\nbuilding .* \d+ s")
        self.assertTrue(done.stdout.endswith("gputrace view build/first-trace/saxpy.perfetto\n"))
        self.assertTrue((self.top / "build/first-trace/saxpy.perfetto").exists())
        self.assertEqual(self.log().count(CHATTER), 600)

    def test_shows_what_a_step_said_that_failed(self):
        done = self.run_setup(BROKEN="by us")
        self.assertEqual(done.returncode, 1)
        self.assertIn("it broke: by us\n", done.stderr)
        self.assertIn("setup: building (about a minute) failed: cmake --build --preset release --target gputrace; all that was "
                      "said is in build/setup.log\n", done.stderr)
        self.assertIn("it broke: by us\n", self.log())

    def test_shows_everything_when_asked_to(self):
        self.assertEqual(self.run_setup("--verbose").stdout.count(CHATTER), 600)
        done = self.run_setup("--loud")
        self.assertEqual((done.returncode, done.stderr), (2, "usage: scripts/setup [--verbose]\n"))


unittest.main()
