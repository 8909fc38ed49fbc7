#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes worlds up, has gputrace report on them, and compares every figure with what really happened.

  check.py WORLD GPUTRACE FIRST [COUNT] [--jobs N] [--keep FOLDER] [--every]

WORLD is build/dev/bin/oracle_world, FIRST the seed of the first world. For each figure that differs: the seed, the filter,
report, row and column, what is right and what was said, and how to see it. --every: all of them, not one of each kind.
"""
import argparse
import collections
import json
import multiprocessing
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import advice
import energy
import exports
import figures
import invariants
import memory
import waits
from view import View, World

TABLES = {**figures.TABLES, **memory.TABLES, **waits.TABLES, **advice.TABLES, **energy.TABLES}
FEATURES = ("processes", "gpus", "threads", "ranges", "operations", "helpers", "graphs", "profiled", "death", "loss",
            "waits", "memory", "failures", "skew") # as enum feature has them


def near(column, right, said):
    if right is None or said is None or isinstance(right, str) or isinstance(said, str):
        return right == said
    if column.endswith("joules"):
        return abs(right - said) <= 1e-6 * abs(right) + 1e-12 # worlds last some milliseconds
    if column.endswith(("_percent", "_per_second")) or isinstance(said, float):
        return abs(right - said) <= 1e-6 * max(1, abs(right))
    if isinstance(right, float):
        return abs(right - said) <= 1 # means are rounded
    return right == said


def differences(table, right, said):
    """(row, column, right, said) for each figure that differs."""
    keys = TABLES[table][1]

    def by_key(rows):
        return figures.grouped(rows, lambda row: tuple(row.get(key) for key in keys))

    expected, found = by_key(right), by_key(said)
    for key in expected.keys() | found.keys():
        if len(found.get(key, [])) != len(expected.get(key, [])):
            if key not in found and table in figures.TOP and len(said) >= figures.TOP[table]:
                continue
            if key not in expected and table in figures.SOME:
                continue
            yield key, "(rows)", len(expected.get(key, [])), len(found.get(key, []))
            continue
        if len(found[key]) > 1:
            continue # rows that nothing tells apart
        for column, value in expected[key][0].items():
            if column not in found[key][0]:
                if table != ("ops", "ops"):
                    yield key, column, value, "(no such column)"
            elif not near(column, value, found[key][0][column]):
                yield key, column, value, found[key][0][column]


def options(filters):
    words = []
    for name, value in filters.items():
        word = "--" + {"from_": "from", "gpu": "device"}.get(name, name)
        words += [word, f"{value}ns" if name in ("from_", "to") else
                  f"^{value}$" if name == "kernel" else str(value)]
    return words


def some_filters(world):
    """Whole, and some parts of it."""
    chance = random.Random(world.seed)
    length = world.end - world.begin
    if length < 2:
        return [{}]
    cut = chance.randrange(1, length)
    if world.seed % 3 == 0:
        return [{}, {"to": cut}, {"from_": cut}]
    others = [{"gpu": chance.choice(world.gpus)}, {"stream": chance.choice([row["number"] for row in world.streams.values()])},
              {"process": chance.choice(list(world.processes))},
              {"kernel": chance.choice([row["name"] for row in world.kernels.values()])}]
    if world.ranges:
        name = chance.choice([row["name"] for row in world.ranges.values()])
        if "," not in name: # sequence numbers: a comma separates ranges
            others.append({"range": name})
    chosen = chance.sample(others, 2)
    parts = [{"to": cut}, {"from_": cut // 2}, *others]
    return [{}, *chosen, {key: value for part in chance.sample(parts, 2) for key, value in part.items()}]


def run(gputrace, folder, words):
    """The reports by their names; None: the filter leaves nothing."""
    done = subprocess.run([gputrace, "report", folder, "--json", *words], capture_output=True, text=True, timeout=60,
                          check=False)
    if done.returncode == 1 and ("nothing" in done.stderr or "no " in done.stderr):
        return None
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
    said = json.loads(done.stdout)
    return {part["report"]: part for part in said.get("reports", [said])}


def added(rows, keys):
    """Rows that are told apart by these columns alone, with the sums of the others that are numbers."""
    return [{**dict(zip(keys, key)), **{column: sum(row[column] or 0 for row in some) for column in some[0]
                                        if isinstance(some[0][column], (int, float))}}
            for key, some in figures.grouped(rows, lambda row: tuple(row[key] for key in keys)).items()]


def report(gputrace, folder, words):
    said = run(gputrace, folder, ["all", *words])
    if said is None:
        return None
    for row in said["streams"]["streams"]:
        row["stream"] = row["stream"].split()[0] # 7 of GPU 1
    for row in said["waits"]["dependencies"]:
        row["from_stream"], row["to_stream"] = row["from_stream"].split()[0], row["to_stream"].split()[0]
    for row in said["streams"]["overlaps"]:
        row["percents"] = figures.both_percents(row["stream_percent"], row["other_percent"])
    said["advice"]["known_rules"] = [row for row in said["advice"]["advice"] if row["rule"] in advice.WHICH]
    said["ops"]["ops"] = [merged(rows) for rows in figures.grouped(
        said["ops"]["ops"], lambda row: (row["op"], row["direction"])).values()]
    said["waits"]["avoidable_by_reason"] = added(
        [row for row in said["waits"]["avoidable"] if row["why"] in waits.WHYS], ("why", "function"))
    by_stream = run(gputrace, folder, ["kernels", "--by", "stream", *words])["kernels"]["kernels"]
    for row in by_stream:
        row["stream"] = row["stream"].removeprefix("stream ").split()[0]
    said["kernels"]["by_stream"] = added([row for row in by_stream if row["calls"]], ("stream",))
    said["kernels"]["by_range"] = [row for row in run(gputrace, folder, ["kernels", "--by", "range", *words])
                                   ["kernels"]["kernels"] if row["calls"]]
    return said


def merged(rows):
    """Backward operations have a row for each forward one."""
    if len(rows) == 1:
        return rows[0]
    return {**{key: rows[0][key] for key in ("op", "direction")},
            **{key: None if any(row[key] is None for row in rows) else sum(row[key] for row in rows)
               for key in ("calls", "own_ns", "own_wall_ns", "own_api_ns", "share_percent", "launches")}}


def check_view(gputrace, folder, world, filters):
    words = options({**filters, **({"process": world.processes[filters["process"]]["pid"]}
                                   if "process" in filters else {})})
    said = report(gputrace, folder, words)
    if said is None:
        return [], {}
    view = View(world, **filters)
    found = [(name, *rest) for name, *rest in invariants.broken(said, bool(filters), bool(view.not_measured()))]
    for table, (work_out, _) in TABLES.items():
        right = work_out(view)
        if right is not None:
            found += [(table, *rest) for rest in differences(table, right, said[table[0]][table[1]])]
    found += exports.broken(gputrace, folder, view, words)
    return [(world.seed, words, *rest) for rest in found], said


def check_partition(gputrace, folder, world, whole):
    """A filter for each process, and one for each GPU, leave all of it together."""
    found = []
    for option, values in (("--process", [row["pid"] for row in world.processes.values()]), ("--device", world.gpus)):
        if len(values) > 1:
            sides = [run(gputrace, folder, ["all", option, str(value)]) for value in values]
            found += [(world.seed, [option, "each"], *rest)
                      for rest in invariants.partition(whole, sides, option == "--process")]
    return found


def check_own_threads(gputrace, folder):
    """Ranges of each thread alone."""
    words = ["--set", "threads=own"]
    world = World(folder)
    world.own_threads = True
    said = run(gputrace, folder, ["ranges", *words])
    found = []
    for table in (("ranges", "ranges"), ("ranges", "each")):
        right = figures.TABLES[table][0](View(world))
        found += [(world.seed, words, table, *rest) for rest in differences(table, right, said[table[0]][table[1]])]
    return found


def check_world(arguments):
    maker, gputrace, seed, keep, whole, without = arguments
    base = pathlib.Path(keep or tempfile.mkdtemp(prefix="gputrace-oracle-"))
    folder = base / f"{seed}.gputrace"
    try:
        subprocess.run([maker, base, str(seed)], check=True)
        world = World(folder)
        found = []
        if any(world.features & 1 << FEATURES.index(name) for name in without):
            return 0, found
        said = []
        for filters in [{}] if whole else some_filters(world):
            wrong, answers = check_view(gputrace, folder, world, filters)
            found += wrong
            said.append((filters, answers))
        if world.features & 1 << FEATURES.index("helpers"):
            found += check_own_threads(gputrace, folder)
        if len(said) == 3 and "to" in said[1][0] and "from_" in said[2][0]:
            found += [(seed, ["--to/--from", str(said[1][0]["to"])], *rest)
                      for rest in invariants.pieces(*(answers for _, answers in said))]
        if not whole and seed % 3 == 1:
            found += check_partition(gputrace, folder, world, said[0][1])
        return world.features, found
    except Exception as error: # pylint: disable=broad-except
        return 0, [(seed, [], ("", ""), (), "(failed)", "", f"{type(error).__name__}: {error}")]
    finally:
        if not keep:
            shutil.rmtree(base)


# Known differences, and why they may be: (report and table, column, option of the filter or "",
# feature of the world or "", reason). A line goes when
# gputrace or the oracle is mended; one that nothing fits any more is named at the end.
KNOWN = [
    # Parts of recordings
]


def known(difference, features):
    _, words, (name, table), _, column, _, _ = difference
    for number, (where, which, option, feature, _) in enumerate(KNOWN):
        if feature and not features & 1 << FEATURES.index(feature):
            continue
        if re.fullmatch(where, f"{name} {table}") and re.fullmatch(which, column) and (
                not option or option in " ".join(words)):
            return number
    return None


def tell(difference, gputrace):
    seed, words, (name, table), key, column, right, said = difference
    verb = ["export", "--format", name.split()[1]] if name.startswith("export") else ["report", name, "--json", "--section", table]
    print(f"seed {seed}: {name} {table}, row {key}, {column}: {said} instead of {right}\n"
          f"    {gputrace} {verb[0]} {seed}.gputrace {' '.join([*verb[1:], *words])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world")
    parser.add_argument("gputrace")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="leave the worlds in this folder")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--without", default="", help="leave out worlds with these: " + ", ".join(FEATURES))
    parser.add_argument("--whole", action="store_true", help="without filters")
    chosen = parser.parse_args()

    seeds = range(chosen.first, chosen.first + chosen.count)
    kinds = collections.Counter()
    excused = collections.Counter()
    worlds = set()
    with multiprocessing.Pool(chosen.jobs) as pool:
        work = [(chosen.world, chosen.gputrace, seed, chosen.keep, chosen.whole,
                 chosen.without.split(",") if chosen.without else []) for seed in seeds]
        for found in pool.imap_unordered(check_world, work, chunksize=4):
            features, differ = found
            for difference in differ:
                excuse = None if chosen.every else known(difference, features)
                if excuse is not None:
                    excused[excuse] += 1
                    continue
                kind = (difference[1][0] if difference[1] else "", difference[2], difference[4])
                kinds[kind] += 1
                worlds.add(difference[0])
                if kinds[kind] <= 3 or chosen.every:
                    tell(difference, chosen.gputrace)
    for (option, (name, table), column), count in sorted(kinds.items(), key=lambda item: -item[1]):
        print(f"{count:6d}  {name} {table} {column} {option}")
    for number, (where, which, option, feature, reason) in enumerate(KNOWN):
        print(f"{excused[number]:6d}  known: {where} {which} {option} {feature}: {reason}")
    print(f"{chosen.count} worlds, {len(worlds)} with figures that are wrong")
    return bool(worlds)


if __name__ == "__main__":
    sys.exit(main())
