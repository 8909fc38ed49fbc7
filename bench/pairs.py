# SPDX-License-Identifier: Apache-2.0
"""Shared by bench/nvtx and bench/pools: loops of pairs of calls, run in turn as they are and with more, the
differences taken inside a round."""
import argparse
import pathlib
import platform
import random
import statistics
import sys

import rounds as paired


def command(loops, program, name, pairs):
    shape, steps, size, _ = loops[name]
    return [program, shape, str(pairs), str(steps), str(size)]


def measure(what, loops, variants_of, args):
    """The rounds of each loop by the name of the variant; variants_of(name) makes them, the base first."""
    groups = {}
    order = random.Random(args.seed)
    for name in loops:
        variants = variants_of(name)
        for _ in range(args.rounds):
            paired.run_round(variants, order, allowed_failures=args.rounds)
        groups[name] = {variant.name: variant.rounds for variant in variants}
        for variant in variants:
            if variant.failure:
                print(f"{what}: {name}, {variant.name}: {variant.failure}", file=sys.stderr)
    return groups


def added_of(group, variant):
    return [own["ns"] - base["ns"] for base, own in zip(group["base"], group[variant]) if base and own]


def cell_of(added):
    if not added:
        return "not measured"
    low, high = paired.median_interval(added) or (min(added), max(added))
    digits = 0 if max(abs(low), abs(high)) >= 10 else 1
    return f"{statistics.median(added):+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def table(groups, loops, columns):
    """A row for each loop; columns is a list of variants and headings."""
    lines = ["| loop | rounds | ns a pair and work, base | " + " | ".join(heading for _, heading in columns) + " | what |",
             "| --- | ---: | ---: |" + " ---: |" * len(columns) + " --- |"]
    for name, group in groups.items():
        bases = [row["ns"] for row in group["base"] if row]
        added = [added_of(group, variant) for variant, _ in columns]
        base = f"{statistics.median(bases):.1f}" if bases else "-"
        lines.append(f"| {name} | {min(len(values) for values in added)} | {base} | "
                     f"{' | '.join(cell_of(values) for values in added)} | {loops[name][3]} |")
    return "\n".join(lines)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def parse(argv, summary, what):
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("build", help="build folder with the target bench")
    parser.add_argument("--rounds", type=int, default=21, help="of all variants (default %(default)s)")
    parser.add_argument("--pairs", type=int, default=50000, help="in a run (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order inside a round")
    parser.add_argument("--save", metavar="DIR", help=f"also write DIR/<date>-<device>-{what}.md and .json")
    return parser.parse_args(argv)


def find_tools(what, build, program):
    tools = {name: paired.Tools.find(pathlib.Path(build).resolve(), file) for name, file in
             (("loop", program), ("gputrace", "gputrace"), ("injection", "libgputrace-injection.so"))}
    if not all(tools.values()):
        sys.exit(f"{what}: build the targets bench and all first")
    return tools


def show(what, title, tools, groups, lines, save):
    machine = {"date": paired.datetime.date.today().isoformat(), "device": None, "processor": processor(),
               "cores": paired.os.cpu_count(), "load": paired.os.getloadavg()[0],
               "gputrace": paired.first_line([tools["gputrace"], "--version"])}
    text = "\n".join([f"# {title}", "", *paired.machine_lines(machine), "", *lines, ""])
    print(text)
    if save:
        paired.save(save, machine, groups, text, f"-{what}")


def is_within(groups, bounds):
    """Whether the medians of these variants are no more than so many nanoseconds in each loop."""
    return all(statistics.median(added_of(group, variant) or [bound + 1]) <= bound
               for group in groups.values() for variant, bound in bounds.items())
