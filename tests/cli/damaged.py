#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers of commands to recordings that are damaged or cut short: one sentence, one exit status.

  damaged.py GPUTRACE FOLDER SOURCE [COUNT]

FOLDER holds good recordings; bits of their captures are flipped at places that the number of the
copy gives, or the captures are cut. SOURCE is the folder of the sources, for the classes of the ledger.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

GPUTRACE, CAPTURES, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 60
FILE_HEADER = 16  # no checksum covers it
MOST = 1 << 53
COMMANDS = {
    "finish": [],
    "info": ["--json"],
    "report": [],
    "export": ["--quiet", "--force", "-o", "out.perfetto"],
}

classes = set(re.findall(r"^LEDGER_CLASS\((\w+),", (SOURCE / "model/ledger.def").read_text(), re.M))
classes |= {f"missing_{name}" for name in re.findall(r"^RECORD\((\w+),", (SOURCE / "format/records.def").read_text(), re.M)}
failures = []


def say(number, text):
    failures.append(text)
    print(f"{number}: {text}")


def capture_of(folder):
    return next(folder.glob("*.capture"))


def flip(folder, chance, count):
    """How many bits differ afterwards."""
    path = capture_of(folder)
    good = path.read_bytes()
    bad = bytearray(good)
    for _ in range(count):
        bad[chance.randrange(FILE_HEADER, len(bad))] ^= 1 << chance.randrange(8)
    path.write_bytes(bad)
    return bytes(bad) != good


def cut(folder, chance):
    path = capture_of(folder)
    os.truncate(path, chance.randrange(path.stat().st_size))
    return True


def run(command, folder):
    words = [GPUTRACE, command, *COMMANDS[command], folder.name]
    return subprocess.run(words, cwd=folder.parent, capture_output=True, text=True, timeout=120)


def conditions(done, folder):
    """The lines about the recording itself."""
    start = f"gputrace: {folder.name} is "
    return [line for line in done.stderr.splitlines() if line.startswith(start)]


def check_ledger(number, done):
    document = json.loads(done.stdout)
    ledger = {row["class"]: row for row in document["ledger"]}
    tables = {row["table"]: row["rows"] for row in document["tables"]}
    line = next(text for text in document["remarks"] if text.startswith("ledger: "))
    for name, row in ledger.items():
        value = row["count"] if row["count"] is not None else row["time_ns"]
        if name not in classes:
            say(number, f"the ledger has a class '{name}'")
        if value is not None and not 0 <= value <= MOST:
            say(number, f"the ledger has {value} of {name}")
    if tables["kernels"] and re.search(r"ledger: (at least )?0 launches =", line):
        say(number, f"{tables['kernels']} kernels beside '{line}'")
    if "clean" in line:
        say(number, f"it is called clean: {line}")


def check(number, folder, damaged):
    done = {command: run(command, folder) for command in COMMANDS}
    statuses = {command: result.returncode for command, result in done.items()}
    said = {command: conditions(result, folder) for command, result in done.items()}
    if len(set(statuses.values())) != 1:
        say(number, f"exit statuses differ: {statuses}")
    if min(statuses.values()) < 0:
        say(number, f"a command was killed: {statuses}")
    if statuses["info"] != 0:
        errors = {result.stderr for result in done.values()}
        if len(errors) != 1:
            say(number, f"they fail in different words: {errors}")
        return
    if len(set(map(tuple, said.values()))) != 1:
        say(number, f"they say different things: {said}")
    if bool(said["info"]) != damaged:
        say(number, f"damaged is {damaged}, and it says {said['info']}")
    complete = "it is complete" in done["finish"].stderr
    if complete == damaged:
        say(number, f"finish says {done['finish'].stderr}")
    if damaged:
        check_ledger(number, done["info"])


def try_one(number, recordings, top):
    chance = random.Random(number)
    folder = pathlib.Path(top) / "a.gputrace"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(chance.choice(recordings), folder)
    for path in [folder, *folder.iterdir()]:
        path.chmod(0o700)
    kind = number % 5
    if kind == 0:
        damaged = False
    elif kind == 4:
        damaged = cut(folder, chance)
    else:
        damaged = flip(folder, chance, [1, 10, 40][kind - 1])
    check(number, folder, damaged)


recordings = sorted(CAPTURES.glob("*.gputrace"))
assert recordings
with tempfile.TemporaryDirectory() as top:
    for number in range(COUNT):
        try_one(number, recordings, top)
print(f"{COUNT} recordings, {len(failures)} failures")
sys.exit(1 if failures else 0)
