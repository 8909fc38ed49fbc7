# SPDX-License-Identifier: Apache-2.0
"""Readings of recordings and of what programs print."""
import json
import re
import struct

from cases.support.bench import expect


def rows_of(bench, recording, table):
    return [json.loads(line) for line in bench.run([bench.find("show_rows"), str(recording), table]).stdout.splitlines()]


def notes_of(bench, recording, topic):
    return [note["text"] for note in bench.info(recording, "notes") if note["topic"] == topic]


# Per thread: CUPTI shows no fewer for a launch, whatever the compiler says (model/gpu/occupancy.h).
LEAST_REGISTERS = 16


def read_ends(path):
    """(launches begun, returned, refused, kernels finished) of all threads, and of the child, as tests/gpu/programs/cuda/ends.cu
    keeps them."""
    numbers = struct.unpack("<261Q", path.read_bytes())[1:]
    rows = [numbers[at:at + 4] for at in range(0, len(numbers), 4)]
    return tuple(sum(row[field] for row in rows[:-1]) for field in range(4)), rows[-1]


def ledger_of(bench, recording):
    return {row["class"]: row["value"] for row in bench.report(recording, "summary")["ledger"]}


def numbers_of(stdout):
    """Numbers of lines key=value."""
    return {key: float(value) for key, value in re.findall(r"^(\w+)=(-?[\d.]+)$", stdout, re.MULTILINE)}


def facts_of(ended, what):
    expect(ended.status == 0, f"{what} exits with {ended.status}: {ended.tail()}")
    return dict(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)


def size_of(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
