# SPDX-License-Identifier: Apache-2.0
"""Change detectors: very many cases are run, and all that comes out of each is compared with what is kept.

A case has a name and a function (folder) -> [(part, text)...]: what came out, with all that differs each time replaced.
Kept is a line for each case: its parts, each as it is where it is short, else as the number of its lines and a digest.
"""
import argparse
import contextlib
import difflib
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

MOST_AS_IT_IS = 90
MOST_TOLD = 25
PATIENCE_S = 60
VARIES = "~"  # a part that differed while it was accepted
SEPARATOR = " | "


class Case:
    def __init__(self, name, run):
        self.name, self.run = name, run


def brief(text):
    text = text.strip("\n")
    if len(text) <= MOST_AS_IT_IS and "\n" not in text and SEPARATOR.strip() not in text:
        return text.replace("\r", "")  # a terminal's, which a text file would not keep
    digest = hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=3).hexdigest()
    return f"{text.count(chr(10)) + 1}/{digest}"


def line_of(parts):
    return SEPARATOR.join(f"{part}: {brief(text)}" for part, text in parts if text)


def run_command(command, folder, environment):
    """Its status, and what it wrote."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        patience = threading.Timer(PATIENCE_S, process.kill)
        patience.start()
        status = process.wait()
        patience.cancel()
        out.seek(0)
        err.seek(0)
        return status, out.read(), err.read()


def read_files(folder):
    """{path: bytes}, in order of paths"""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return dict(sorted(found.items()))


def run_case(case):
    """Its parts; in a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="gputrace-kept-") as folder:
        return case.run(pathlib.Path(folder))


def run_cases(cases, jobs):
    with ThreadPoolExecutor(jobs) as pool:
        yield from zip(cases, pool.map(run_case, cases))


# Ends with whoever started it, however that ends.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextlib.contextmanager
def load(count):
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


# ---- what is kept ----

def read(path):
    """{name: line}, in their order; a name stands on a line of its own begin, and "=" for the line of the case before."""
    lines, before = {}, ""
    for line in path.read_text().splitlines() if path.is_file() else []:
        name, _, rest = line.partition("\t")
        before = before if rest == "=" else rest
        lines[name] = before
    return lines


def write(path, lines):
    before, out = "", []
    for name, line in lines.items():
        out.append(f"{name}\t{'=' if line == before else line}\n")
        before = line
    path.write_text("".join(out))


def parts_of(line):
    return dict(part.partition(": ")[::2] for part in line.split(SEPARATOR)) if line else {}


def weaker(line, other):
    """Parts that are the same in both; VARIES for the rest."""
    ours, theirs = parts_of(line), parts_of(other)
    return SEPARATOR.join(f"{part}: {ours.get(part) if ours.get(part) == theirs.get(part) else VARIES}"
                          for part in {**ours, **theirs})


def differ(kept, now):
    """Words that say where two lines differ."""
    ours, theirs = parts_of(kept), parts_of(now)
    return [f"{part}: {theirs.get(part, 'nothing')}, not {ours.get(part, 'nothing')}"
            for part in {**ours, **theirs} if ours.get(part) != VARIES and ours.get(part) != theirs.get(part)]


# ---- what is asked for ----

def accept(cases, args):
    """Twice, the second time under load; a name that comes twice would be compared with another's line."""
    lines, varying = {}, 0
    for case, parts in run_cases(cases, args.jobs):
        lines[case.name] = line_of(parts)
    with load(2):
        for case, parts in run_cases(cases, args.jobs):
            line = line_of(parts)
            if line != lines[case.name]:
                print(f"{case.name}: varies: {'; '.join(differ(lines[case.name], line))}")
                lines[case.name] = weaker(lines[case.name], line)
                varying += 1
    if args.only:
        lines = {**read(args.kept), **lines}
    write(args.kept, lines)
    print(f"{args.kept}: {len(lines)} cases, of which {varying} vary; {args.kept.stat().st_size} bytes")
    return 0


def show(cases, args):
    for case, parts in run_cases(cases, args.jobs):
        print(f"== {case.name}")
        for part, text in parts:
            print(f"---- {part}\n{text}")
    return 0


def show_difference(cases, others, args):
    """All that comes of the cases with two builds, as a diff."""
    for (case, parts), (_, other) in zip(run_cases(cases, args.jobs), run_cases(others, args.jobs)):
        texts = [[f"{part}: {line}" for part, text in both for line in text.splitlines()] for both in (other, parts)]
        if texts[0] != texts[1]:
            print(f"== {case.name}")
            print("\n".join(difflib.unified_diff(*texts, "there", "here", lineterm="", n=1)))
    return 0


def check(cases, args):
    kept, told, seen = read(args.kept), 0, set()
    for case, parts in run_cases(cases, args.jobs):
        seen.add(case.name)
        found = differ(kept[case.name], line_of(parts)) if case.name in kept else ["it is new"]
        told += bool(found)
        if found and told <= MOST_TOLD:
            print(f"{case.name}: {'; '.join(found)}")
    gone = [name for name in kept if name not in seen] if args.every == 1 and not args.only else []
    for name in gone[:MOST_TOLD]:
        print(f"{name}: no such case any more")
    print(f"{len(seen)} cases, {told + len(gone)} differ")
    if told or gone:
        print(f"To see what changed, compare with a build of the tree before the change:\n"
              f"  {args.script} --only 'TEXT OF THE CASE' --with OTHER_BUILD BUILD\n"
              f"If it is meant, accept it and say so in the commit (tests/README.md):\n"
              f"  {args.script} --accept BUILD")
    return 1 if told or gone else 0


def main(script, cases_of, kept):
    """cases_of(build) gives all cases."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="COUNT", help="runs one case of so many")
    parser.add_argument("--only", default="", metavar="TEXT", help="runs cases with this text in their name")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="COUNT", help="so many at a time")
    parser.add_argument("--names", action="store_true", help="prints the names of the cases")
    parser.add_argument("--show", action="store_true", help="prints all that comes of the cases")
    parser.add_argument("--accept", action="store_true", help="keeps what comes of them now")
    parser.add_argument("--with", dest="other", metavar="BUILD", help="prints what differs from what another build makes")
    parser.add_argument("build", type=pathlib.Path)
    args = parser.parse_args()
    args.script, args.kept = script, kept
    cases = choose(cases_of(args.build.resolve()), args)
    if args.names:
        print("\n".join(case.name for case in cases))
        return 0
    if args.other:
        return show_difference(cases, choose(cases_of(pathlib.Path(args.other).resolve()), args), args)
    return (show if args.show else accept if args.accept else check)(cases, args)


def choose(cases, args):
    names = set()
    for case in cases:
        if case.name in names:
            sys.exit(f"changes: two cases are called '{case.name}'")
        names.add(case.name)
    return [case for i, case in enumerate(cases) if i % args.every == 0 and args.only in case.name]
