#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text tables fit the page they are for, and tell apart what differs; the summary is one page.

  check_tables.py [--few] GPUTRACE PAGES NAME...    of each captures/NAME.gputrace: every report and info, on pages
                                                    of several widths and piped; --few: of one width

The program PAGES (pages.c) makes the pages of all reports in one process. The command line is asked for some of them, which must be the
same to the byte: for all reports at one width and piped, and for one report alone. Each recording asks for another width and another report.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

CAPTURES = pathlib.Path(__file__).resolve().parent / "captures"
FEW = (60,)
IS_SHORT = "--few" in sys.argv
WIDTHS = FEW if IS_SHORT else (40, 60, 80, 120, 200)
PIPED = 120         # is one of the widths, or made for the pipe alone
SUMMARY_LINES = 40  # at 80 columns: one page
RANGES_LINES = 13   # more, where the program names what it does
ROWS = 20           # of a table, where no number is asked for
NAMES = ("kernel", "next")  # columns of kernels; a table has one of them


def run(gputrace, *words, columns=None):
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    if columns is not None:
        environment["COLUMNS"] = str(columns)
    return subprocess.run([gputrace, *words], capture_output=True, text=True, check=True, timeout=60,
                          env=environment).stdout


def too_wide(text, width):
    return [f"{len(line)} columns instead of {width}: {line}" for line in text.splitlines()
            if len(line) > width]


def padded(text):
    return [f"blanks at the end: {line}" for line in text.splitlines() if line != line.rstrip()]


def fits(text, width):
    return too_wide(text, width) + padded(text)


def tables(text):
    """The lines of each table by its name in JSON: "Top kernels, by total" is top_kernels."""
    found = {}
    for part in text.split("\n\n"):
        title, *lines = part.splitlines()
        found[title.split(", by ")[0].lower().replace(" ", "_")] = lines
    return found


def alike(text, said):
    """Tables in which fewer kernels can be told apart than there are."""
    found = []
    shown = tables(text)
    checked = 0
    for title, rows in said.items():
        if title not in shown or not isinstance(rows, list) or not rows:
            continue
        column = next((name for name in NAMES if name in rows[0]), None)
        if column is None or "instruction" in rows[0]: # of which the kernel is no more than a part
            continue
        heading, *lines = shown[title]
        at = re.search(rf"\b{column}\b", heading)
        if at is None:
            found.append(f"table {title} has no {column}: {heading}")
            continue
        kernels = {row[column] for row in rows[:ROWS]}
        end = next((i for i, line in enumerate(lines) if line.startswith("(")), len(lines))
        # An option that a last column has no room for stands on a line of its own, further left.
        cells = [line[at.start():].split("  ")[0] for line in lines[:end]
                 if not line.lstrip(" (\"'").startswith("--")]
        names = {cell for cell in cells if cell} # none where another column goes on in the next line
        checked += 1
        if len(names) != len(kernels):
            found.append(f"{len(kernels)} kernels of {title} read as {len(names)}")
    return found, checked


def made(program, recording):
    """Pages by report, "all" for all of them behind one another, and width."""
    widths = map(str, sorted({*WIDTHS, PIPED}))
    _, *pages = run(program, recording, *widths).split("\f")
    heads, texts = zip(*(page.split("\n", 1) for page in pages))
    names, columns = zip(*map(str.split, heads))
    return dict(zip(zip(names, map(int, columns)), texts))


def check_report(pages, report, said):
    found = []
    checked = 0
    for width in WIDTHS:
        text = pages[report, width]
        same, tables_checked = alike(text, said)
        checked += tables_checked
        found += [f"{report} at {width}: {line}" for line in fits(text, width) + same]
    if report == "kernels" and said["kernels"] and checked < 2 * len(WIDTHS):
        found.append(f"only {checked} tables of kernels were looked at")
    return found


def check_command_line(gputrace, recording, reports, pages):
    """Pages of the command line are those that were looked at."""
    turn = sorted(CAPTURES.glob("*.gputrace")).index(recording)
    width, report = WIDTHS[turn % len(WIDTHS)], reports[turn % len(reports)]
    every = ("report", recording, *reports)
    alone = ("report", recording, report)
    found = []
    for name, page, text in (("all", width, run(gputrace, *every, f"--width={width}")),
                             ("all", width, run(gputrace, *every, columns=width)),
                             ("all", PIPED, run(gputrace, *every)),
                             (report, width, run(gputrace, *alone, f"--width={width}")),
                             (report, PIPED, run(gputrace, *alone))):
        if text != pages[name, page]:
            found.append(f"the command line shows {name} at {page} otherwise than the library:\n{text}")
    return found


def check_info(gputrace, recording):
    found = []
    for width in WIDTHS:
        by_option = run(gputrace, "info", recording, f"--width={width}")
        found += fits(by_option, width)
        if run(gputrace, "info", recording, columns=width) != by_option:
            found.append(f"COLUMNS={width} is another page than --width={width}")
    return found + fits(run(gputrace, "info", recording), PIPED)


def check_full_names(gputrace, recording):
    """Names that are asked for in full are there in full, on lines that fit."""
    found = []
    for form in ("full", "mangled"):
        words = ("report", recording, "kernels", "--names", form, "--section", "kernels")
        names = [row["kernel"] for row in json.loads(run(gputrace, *words, "--json"))["kernels"]]
        for width in WIDTHS if IS_SHORT else WIDTHS[1:]:
            text = run(gputrace, *words, f"--width={width}")
            letters = "".join(text.split())
            found += too_wide(text, width)
            found += [f"at {width} columns {name} is not there in full" for name in names[:ROWS]
                      if "".join(name.split()) not in letters]
    return found


def check_evidence(said):
    """Report advice goes by what is where it says: a report, a table with rows, a column; and no advice is without."""
    advice = said["advice"]
    found = []
    for row in advice["evidence"]:
        table = said[row["report"]].get(row["table"])
        if not table or row["column"] not in table[0]:
            found.append(f"report {row['report']} has no column {row['column']} in rows of {row['table']}")
    cited = {row["number"] for row in advice["evidence"]}
    return found + [f"advice without evidence: {row['advice']}" for row in advice["advice"] if row["number"] not in cited]


def report_names(gputrace):
    names = [row["report"] for row in json.loads(run(gputrace, "report", "--list", "--json"))["reports"]]
    assert {"summary", "kernels"} <= set(names), names
    return names


def check(gputrace, program, recording):
    reports = report_names(gputrace)
    said = {part["report"]: part for part in json.loads(run(gputrace, "report", recording, *reports, "--json"))["reports"]}
    pages = made(program, recording)
    found = []
    for report in reports:
        found += check_report(pages, report, said[report])
    for (report, width), text in pages.items():
        if report == "all" or width == PIPED:
            found += fits(text, width)
    found += check_command_line(gputrace, recording, reports, pages) + check_info(gputrace, recording)
    lines = run(gputrace, "report", recording, "--width=80").splitlines()
    if len(lines) > SUMMARY_LINES + RANGES_LINES * ("Top ranges" in lines):
        found.append(f"the summary takes {len(lines)} lines")
    return found + check_full_names(gputrace, recording) + check_evidence(said)


def main(gputrace, program, names):
    failed = False
    for name in names:
        for line in check(gputrace, program, CAPTURES / f"{name}.gputrace"):
            print(f"{name}: {line}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    gputrace_path, program_path, *recordings = (word for word in sys.argv[1:] if word != "--few")
    sys.exit(main(gputrace_path, program_path, recordings))
