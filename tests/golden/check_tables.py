#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text tables fit the page they are for, and tell apart what differs; the summary is one page.

  check_tables.py GPUTRACE NAME...    of each captures/NAME.gputrace: every report and info, on pages
                                      of several widths and piped
"""
import json
import os
import pathlib
import subprocess
import sys

CAPTURES = pathlib.Path(__file__).resolve().parent / "captures"
REPORT_WIDTHS = (40, 80, 120, 200)
PIPED = 120
SUMMARY_LINES = 40  # at 80 columns: one page


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


def table(text, title):
    """The lines of a table; None where its only row is written as a list."""
    lines = text.splitlines()
    begin = lines.index(title) + 1
    end = next((i for i in range(begin, len(lines)) if not lines[i]), len(lines))
    return lines[begin:end]


def kernel_names(text):
    """What column kernel shows: it is the last."""
    heading, *rows = table(text, "Kernels")
    if not heading.endswith("kernel"):
        return None
    return [row[heading.index("kernel"):] for row in rows]


def check(gputrace, recording):
    found = []
    reports = [line.split()[0] for line in run(gputrace, "report", "--list").splitlines()
               if not line.startswith(" ")]
    for words in (["report", recording, *reports], ["info", recording]):
        for width in REPORT_WIDTHS:
            by_option = run(gputrace, *words, f"--width={width}")
            found += too_wide(by_option, width) + padded(by_option)
            if run(gputrace, *words, columns=width) != by_option:
                found.append(f"COLUMNS={width} is another page than --width={width}")
        piped = run(gputrace, *words)
        found += too_wide(piped, PIPED) + padded(piped)
    lines = run(gputrace, "report", recording, "--width=80").splitlines()
    if len(lines) > SUMMARY_LINES:
        found.append(f"the summary takes {len(lines)} lines")
    said = json.loads(run(gputrace, "report", recording, "--json", "kernels"))
    kernels = {row["kernel"] for row in said["kernels"]}
    for width in REPORT_WIDTHS:
        shown = kernel_names(run(gputrace, "report", recording, "kernels", f"--width={width}"))
        if shown is not None and len(set(shown)) != len(kernels):
            found.append(f"at {width} columns {len(kernels)} kernels read as {len(set(shown))}")
    return found


def main(gputrace, names):
    failed = False
    for name in names:
        for line in check(gputrace, CAPTURES / f"{name}.gputrace"):
            print(f"{name}: {line}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
