#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Databases that gputrace export --format sqlite writes, over the recordings of tests/golden: sqlite.py GPUTRACE

Covers FORMAT(sqlite). Each has the rows that gputrace info counts, references that lead to rows, and views that say what the reports say.
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

GPUTRACE = os.path.realpath(sys.argv.pop(1))
RECORDINGS = sorted((pathlib.Path(__file__).resolve().parent.parent / "golden" / "captures").glob("*.gputrace"))


def gputrace(*words):
    return subprocess.run([GPUTRACE, *words], check=True, capture_output=True, text=True).stdout


def report(recording, name, *words):
    return json.loads(gputrace("report", recording, name, "--json", "--limit", "1000000", *words))


class Database(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "x.sqlite")

    def open(self, recording, *words):
        gputrace("export", "--quiet", "--force", "-o", self.file, recording, *words)
        database = sqlite3.connect(self.file)
        self.addCleanup(database.close)
        return database

    def each(self):
        return ((recording, self.open(recording)) for recording in RECORDINGS)

    def test_it_is_whole_and_its_references_lead_to_rows(self):
        for _, database in self.each():
            self.assertEqual(database.execute("pragma integrity_check").fetchall(), [("ok",)])
            self.assertEqual(database.execute("pragma foreign_key_check").fetchall(), [])

    def test_it_has_the_rows_that_info_counts(self):
        for recording, database in self.each():
            counted = {row["table"]: row["rows"] for row in json.loads(gputrace("info", "--json", recording))["tables"]}
            self.assertIn("kernels", counted)
            for table, rows in counted.items():
                if table in ("series", "samples"):
                    continue
                self.assertEqual(database.execute(f'select count(*) from "{table}"').fetchone()[0], rows, (recording.name, table))

    def test_all_columns_are_in_the_catalogue(self):
        database = self.open(RECORDINGS[0])
        told = set(database.execute("select table_name, column_name from catalogue where column_name is not null"))
        tables = [name for name, in database.execute("select name from sqlite_master where type = 'table'")
                  if name not in ("catalogue", "codes", "about", "samples")]
        there = {(table, row[1]) for table in tables for row in database.execute(f'pragma table_info("{table}")') if row[1] != "id"}
        self.assertEqual(told, there)
        self.assertEqual(database.execute("select unit, refers_to from catalogue where table_name = 'kernels' and "
                                          "column_name in ('start_ns', 'shape') order by column_name").fetchall(),
                         [(None, "launch_shapes"), ("ns, boot-time clock", None)])

    def test_kernels_are_those_of_the_report(self):
        for recording, database in self.each():
            said = {row["kernel"]: (row["calls"], row["total_ns"], row["min_ns"], row["max_ns"])
                    for row in report(recording, "kernels", "--names", "short")["kernels"] if row["calls"]}
            found = {}
            for kernel, calls, total, least, most in database.execute(
                    "select kernel, sum(calls), sum(total_ns), min(min_ns), max(max_ns) from kernel_totals group by kernel"):
                found[kernel] = calls, total, least, most
            self.assertEqual(found, said, recording.name)
            shares = [share for share, in database.execute("select share_percent from kernel_totals")]
            self.assertTrue(not shares or abs(sum(shares) - 100) < 0.001, sum(shares))

    def test_calls_are_those_of_the_report(self):
        for recording, database in self.each():
            said = {row["function"]: (row["calls"], row["total_ns"]) for row in report(recording, "api")["functions"] if row["calls"]}
            found = {function: (calls, total) for function, calls, total in database.execute(
                "select function, count(*), sum(end_ns - start_ns) from api_calls where end_ns is not null and flags & 1024 = 0 group by 1")}
            self.assertEqual(found, said, recording.name)

    def test_copies_are_those_of_the_report(self):
        for recording, database in self.each():
            said = {}
            for row in report(recording, "copies")["copies"]:
                key = row["kind"], row["source"], row["destination"]
                said[key] = tuple(map(sum, zip(said.get(key, (0, 0, 0)), (row["calls"], row["bytes"], row["total_ns"]))))
            found = {(kind, source, destination): rest for kind, source, destination, *rest in (
                row[:6] for row in database.execute("select * from copy_totals"))}
            self.assertEqual({key: tuple(rest) for key, rest in found.items()}, said, recording.name)

    def test_a_part_of_a_recording_and_one_without_calls(self):
        recording, = [path for path in RECORDINGS if path.name == "h200-streams.gputrace"]
        whole = self.open(recording).execute("select count(*), count(api_call) from kernels").fetchone()
        part = self.open(recording, "--stream", "13").execute("select count(*), min(stream), max(stream) from kernel_runs").fetchone()
        self.assertTrue(0 < part[0] < whole[0])
        self.assertEqual(part[1:], (13, 13))
        database = self.open(recording, "--no-api")
        self.assertEqual(database.execute("select count(*) from api_calls").fetchone(), (0,))
        self.assertEqual(database.execute("select count(*), count(api_call) from kernel_runs").fetchone(), (whole[0], 0))
        self.assertEqual(database.execute("pragma foreign_key_check").fetchall(), [])

    def test_a_pipe_is_refused_in_a_sentence(self):
        done = subprocess.run([GPUTRACE, "export", "--format", "sqlite", "-o", "-", RECORDINGS[0]], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("sqlite needs a file of its own", done.stderr)

    def test_a_full_disk_leaves_nothing(self):
        limited = f"ulimit -f 100; exec {GPUTRACE} export --quiet -o {self.file} {RECORDINGS[-1]}"
        done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(list(self.file.parent.iterdir()), done.stderr)


if __name__ == "__main__":
    unittest.main()
