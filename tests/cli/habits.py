#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the lines of a list: what people type out of habit does what they mean, or gets the right word.

    tests/cli/habits.py GPUTRACE [LIST]

LIST is habits.txt unless another is named. No line may end in an option that is unknown and resembles none, but for
those that want it.

A line is COMMAND => STATUS REGEX: COMMAND runs in a shell in a folder of its own that is made anew for
it, and REGEX must be found in what it prints (standard output, standard error) and the list of files it leaves
("left: a b"). "!REGEX" must not be found. A line "[WHAT]" says what is in the folder from there on:
always an executable "app" that says what it was given and records a saxpy, a script train.py and a folder
"out"; with [one] also saxpy.gputrace, with [several] also copies.gputrace, which was recorded later, though its
folder has the older date.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE.parent / "golden" / "captures"
APP = """#!/bin/sh
echo "ran app$(printf ' <%s>' "$@")"
cp "$CAPTURE" "$GPUTRACE_OUTPUT/new.capture"
"""
LINE = re.compile(r"^(.*\S)\s+=>\s+(\d+)\s+(.*\S)\s*$")


def fill(folder, what):
    (folder / "out").mkdir(parents=True)
    app = folder / "app"
    app.write_text(APP)
    app.chmod(0o755)
    (folder / "train.py").write_text("print('ran train')\n")
    if what in ("one", "several"):
        shutil.copytree(CAPTURES / "h200-saxpy.gputrace", folder / "saxpy.gputrace")
        os.utime(folder / "saxpy.gputrace", (2, 2))
    if what == "several":
        shutil.copytree(CAPTURES / "h200-copies.gputrace", folder / "copies.gputrace")
        os.utime(folder / "copies.gputrace", (1, 1))


def left(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if not str(path.relative_to(folder)).startswith(("app.gputrace/", "saxpy.gputrace/",
                                                                   "copies.gputrace/")))


def environment(gputrace, top):
    bin_folder = top / "bin"
    bin_folder.mkdir()
    (bin_folder / "gputrace").symlink_to(gputrace)
    (top / "injection.so").write_text("")
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("GPUTRACE_") and name not in ("NO_COLOR", "COLUMNS", "CUDA_INJECTION64_PATH")}
    return kept | {"PATH": f"{bin_folder}:{kept['PATH']}", "LC_ALL": "C",
                   "GPUTRACE_INJECTION": str(top / "injection.so"),
                   "CAPTURE": str(next((CAPTURES / "h200-saxpy.gputrace").glob("*.capture")))}


def try_line(command, status, wanted, folder, what, variables):
    shutil.rmtree(folder, ignore_errors=True)
    fill(folder, what)
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=variables, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", timeout=60, check=False)
    text = f"{done.stdout}{done.stderr}left: {' '.join(left(folder))}\n"
    found = re.search(wanted.removeprefix("!"), text)
    known = not re.search("unknown option .*; see ", text) or "unknown option" in wanted
    if done.returncode == status and known and bool(found) != wanted.startswith("!"):
        return True
    print(f"FAIL {command}\n  wanted {status} {wanted}\n  got    {done.returncode} "
          + text[-1500:].replace("\n", "\n         "))
    return False


def main():
    gputrace = pathlib.Path(sys.argv[1]).resolve()
    habits = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "habits.txt"
    tried = failed = 0
    what = ""
    with tempfile.TemporaryDirectory() as top:
        variables = environment(gputrace, pathlib.Path(top))
        for line in habits.read_text().splitlines():
            if line.startswith("["):
                what = line.strip("[]")
            elif line and not line.startswith("#"):
                match = LINE.match(line)
                if not match:
                    sys.exit(f"{habits.name}: not COMMAND => STATUS REGEX: {line}")
                tried += 1
                failed += not try_line(match[1], int(match[2]), match[3], pathlib.Path(top) / "work", what,
                                       variables)
    print(f"{tried} habits, {failed} of them met with the wrong answer")
    return failed != 0 or tried < 60


sys.exit(main())
