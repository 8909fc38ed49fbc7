#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the questions of questions.txt: each is answered by one command, with the right figures.

    tests/cli/questions/questions.py GPUTRACE [WORD]

A block of questions.txt is

    ? QUESTION, a sentence
    $ COMMAND, which runs in a shell in a folder with links to the recordings of tests/golden/captures
    = REGEX that its output must match; {name:unit} is a figure of the source, as a person writes it
    < SOURCE, a query of SQL, over as many lines as it needs

The source never is a report. It runs on the rows of the recording that the command names (exported as SQLite), with
the views of SHORT_FORMS and a table "facts" of one cell, "json": NAME.facts.json, which the program or its author knew. The
regex must match for each row of the source, one behind the other. Units are formatted here a second time. With WORD only
questions and commands that contain it are asked. Every question with its command, a recording being app, and every option and
report that habits.txt tries stand in docs/other-profilers.md.
"""
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE.parents[1] / "golden" / "captures"
PAGE = HERE.parents[2] / "docs" / "other-profilers.md"
MARKS = {"?": "question", "$": "command", "=": "answer", "<": "source"}
RECORDING = re.compile(r"\bh[12]00-[\w-]+")
# Options, and names of reports in the style of nsys and HTA.
WORD = re.compile(r"(?<=\s)--?[A-Za-z][\w-]*|(?<=\s)[a-z]+_[\w:-]+")

# Work: kernels, copies and fills. "before" is the latest end of what began earlier: a gap ends where that is over.
SHORT_FORMS = """
create temp view ran as
  select k.id as kernel, k.start_ns, k.end_ns - k.start_ns as ns, k.stream, k.api_call, s.id as shape, s.short_name as name,
  s.demangled, s.family, s.origin, grid_x || 'x' || grid_y || 'x' || grid_z as grid,
  block_x || 'x' || block_y || 'x' || block_z as block, block_x * block_y * block_z / 32 as warps, registers,
  shared_static_bytes as shared from kernels k join launch_shapes s on s.id = k.shape;
create temp view work as
  select 'kernel' as what, start_ns, end_ns, device, stream, api_call from kernels union all
  select 'copy', start_ns, end_ns, device, stream, api_call from copies union all
  select 'fill', start_ns, end_ns, device, stream, api_call from fills;
create temp view work_in_order as
  select *, max(end_ns) over (order by start_ns, end_ns rows between unbounded preceding and 1 preceding) as before
  from work;
create temp view kernels_in_order as
  select *, max(end_ns) over (order by start_ns, end_ns rows between unbounded preceding and 1 preceding) as before
  from kernels;
create temp view busy as select sum(max(end_ns - max(start_ns, coalesce(before, 0)), 0)) as ns from kernels_in_order;
create temp view began as select value as ns from about where name = 'start_ns';
create temp view lasted as select max(value) - min(value) as ns from about where name in ('start_ns', 'end_ns');
"""


def scaled(value, scales):
    """Three digits of the largest unit that leaves 1 or more before the point."""
    at = 0
    while at + 1 < len(scales) and abs(value) >= 0.9995 * scales[at + 1][0]:
        at += 1
    factor, unit = scales[at]
    size = abs(value) / factor
    decimals = 0 if at == 0 and value == int(value) else 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value / factor:,.{decimals}f} {unit}"


def steps_of(factor, *units):
    return [(factor ** at, unit) for at, unit in enumerate(units)]


def binary(value):
    scales = steps_of(1024, "B", "KiB", "MiB", "GiB")
    whole = [f"{value // factor:,} {unit}" for factor, unit in scales[1:] if value % factor == 0 and
             1 <= value // factor < 1024]
    return whole[0] if whole else scaled(value, scales)


FORMATS = {
    "text": str,
    "raw": str,
    "count": "{:,}".format,
    "time": lambda value: scaled(value, steps_of(1000, "ns", "us", "ms", "s")),
    "at": lambda value: f"{value / 1e9:.6f} s",
    "size": lambda value: scaled(value, steps_of(1000, "B", "KB", "MB", "GB")),
    "binary": binary,
    "rate": lambda value: scaled(value, steps_of(1000, "B/s", "KB/s", "MB/s", "GB/s")),
    "percent": lambda value: "<0.1%" if 0 < value < 0.05 else f"{value:.1f}%",
    "real": lambda value: f"{value:,.2f}",
    "tenths": lambda value: f"{value:,.1f}",
}


def read_questions():
    """The blocks of the list, as dictionaries with the words of MARKS."""
    questions = []
    for number, line in enumerate((HERE / "questions.txt").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        word = MARKS.get(line[0])
        if not word or line[1:2] != " ":
            sys.exit(f"questions.txt:{number}: a line begins with ?, $, = or < and a blank")
        if word == "question":
            questions.append({name: "" for name in MARKS.values()})
        block = questions[-1]
        block[word] = f"{block[word]}\n{line[2:]}".strip("\n")
    return questions


def database_of(name, folder, gputrace):
    path = folder / f"{name}.sqlite"
    if not path.exists():
        subprocess.run([gputrace, "export", CAPTURES / f"{name}.gputrace", "--format", "sqlite", "-o", path], check=True,
                       capture_output=True)
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    facts = (CAPTURES / f"{name}.facts.json").read_text()
    database.executescript(SHORT_FORMS + "create temp table facts(json);")
    database.execute("insert into facts values (?)", (json.dumps(json.loads(facts)),))
    return database


def fill_in(answer, row):
    """The regex of the answer with the figures of one row of the source."""
    def figure(match):
        value = row[match[1]]
        if value is None:
            raise ValueError(f"the source has no {match[1]}")
        return re.escape(FORMATS[match[2] or "text"](value))
    return re.sub(r"\{(\w+)(?::(\w+))?\}", figure, answer)


def wrong(question, folder, gputrace, variables):
    """None where the command answers the question, else what is wrong."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for recording in CAPTURES.glob("*.gputrace"):
        (work / recording.name).symlink_to(recording)
    done = subprocess.run(["sh", "-c", question["command"]], cwd=work, env=variables, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)
    output = done.stdout + done.stderr
    if done.returncode != 0:
        return f"it ended with {done.returncode}: {output}"
    database = database_of(RECORDING.search(question["command"])[0], folder, gputrace)
    try:
        rows = database.execute(question["source"]).fetchall()
    except sqlite3.Error as problem:
        return f"its source: {problem}"
    finally:
        database.close()
    if not rows:
        return "the source has no rows"
    place = 0
    for row in rows:
        wanted = fill_in(question["answer"], row)
        found = re.compile(wanted, re.MULTILINE).search(output, place)
        if not found:
            return f"wanted {wanted}\n  in {output[:3000]}"
        place = found.end()
    return None


def missing_in_page(questions):
    """Everything that docs/other-profilers.md lacks: rows of questions with their commands, words of habits.txt."""
    page = PAGE.read_text()
    commands = {question["question"]: RECORDING.sub("app", question["command"]).replace("|", "\\|") for question in questions}
    rows = [f"| {question} | `{command}` |" for question, command in commands.items()]
    habits = [line.partition("=> ")[0] for line in (HERE / "habits.txt").read_text().splitlines()
              if line.startswith("gputrace")]
    words = {word for habit in habits for word in WORD.findall(habit)}
    known = set(re.findall(r"[\w:-]+", page))
    return [row for row in rows if row not in page] + sorted(words - known)


def main():
    gputrace = pathlib.Path(sys.argv[1]).resolve()
    questions = [question for question in read_questions() if len(sys.argv) < 3 or
                 sys.argv[2] in question["question"] + question["command"]]
    failed = 0
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top)
        (folder / "bin").mkdir()
        (folder / "bin" / "gputrace").symlink_to(gputrace)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GPUTRACE_") and
                name not in ("COLUMNS", "NO_COLOR")}
        variables = kept | {"PATH": f"{folder / 'bin'}:{kept['PATH']}", "LC_ALL": "C"}
        for question in questions:
            problem = wrong(question, folder, gputrace, variables)
            if problem:
                failed += 1
                print(f"FAIL {question['question']}\n  $ {question['command']}\n  {problem}")
    left_out = missing_in_page(questions)
    for row in left_out:
        print(f"docs/other-profilers.md does not have\n  {row}")
    print(f"{len(questions)} questions, {failed} without the right answer")
    return failed != 0 or bool(left_out) or not questions


if __name__ == "__main__":
    sys.exit(main())
