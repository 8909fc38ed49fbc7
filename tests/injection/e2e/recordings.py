# SPDX-License-Identifier: Apache-2.0
"""Recordings as gputrace reads them, and programs that make one."""
import json
import pathlib
import subprocess

from programs import FAKES, GPUTRACE, PATIENCE_S, environment, shown_by, tool


def as_pairs(rows, key, value):
    return rows if isinstance(rows, dict) else {row[key]: row[value] for row in rows}


class Recording:
    """Answers of gputrace on a recording."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        info = json.loads(tool("info", "--json", path))
        self.version = info["version"]
        self.ledger = as_pairs(info["ledger"], "class", "count")
        self.tables = as_pairs(info["tables"], "table", "rows")
        self.processes = info["processes"]
        notes = [note["text"] for note in info["notes"]]
        # A busy machine may not let telemetry's thread run in the time that a program's end waits for it.
        self.late = [note for note in notes if "did not end with the program" in note]
        self.notes = [note for note in notes if note not in self.late]

    def report(self, name):
        return json.loads(tool("report", "--json", self.path, name))

    def kernels(self):
        return {row["full_name"]: row["calls"] for row in self.report("kernels")["kernels"]}

    def functions(self, column="calls"):
        return {row["function"]: row[column] for row in self.report("api")["functions"]}

    def counters(self, report, device=0):
        """Counters of a GPU in a report, by name."""
        return {row["counter"]: row for row in self.report(report)["counters"]
                if row["device"].startswith(f"{device}:")}

    def rows(self, table):
        """All rows of a table of the model."""
        return shown_by("show_rows", self.path, table)

    def ranges(self):
        """All rows of the tables of NVTX; each names its table."""
        return shown_by("show_ranges", self.path, errors="replace")


class Run:
    """A program that has run under gputrace run; recording is read when it is first asked for."""

    def __init__(self, folder, *words, program="app_work", script="", options=(), fakes=FAKES,
                 recorded=True, **extra):
        self.stem = pathlib.Path(folder, "X")
        self.command = [str(FAKES / "bin" / program), *map(str, words)]
        command = [GPUTRACE, "run", "-o", self.stem, *options, "--", *self.command] if recorded \
            else self.command
        done = subprocess.run(command, env=environment(script, fakes, **extra), cwd=folder,
                              capture_output=True, text=True, timeout=PATIENCE_S)
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.lines = [json.loads(line) for line in self.stdout.splitlines()]
        self.facts = self.lines[-1] if self.lines else None
        self._recording = None

    @property
    def recording(self):
        if not self._recording:
            self._recording = Recording(self.stem.with_suffix(".gputrace"))
        return self._recording
