#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The start-up commands of viewer-assets in Perfetto's own importer, over the recordings of tests/golden:
commands_test.py GPUTRACE ENGINE

The tracks that they are to open must be there, under names that they open, and their table of kernels must say what
the report says.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from viewing import GOLDEN, HERE, PATIENCE_S

ENGINE = os.path.realpath(sys.argv.pop(2))
GPUTRACE = os.path.realpath(sys.argv.pop(1))
QUERY = HERE.parent / "importer" / "query.mjs"
COMMANDS = json.loads((HERE.parents[1] / "viewer-assets" / "startup-commands.json").read_text())

# Names of groups in the UI itself (v55.3 to v58.2): plugins dev.perfetto.Gpu and dev.perfetto.GpuByProcess.
NAMES_OF_THE_UI = ["GPU", "Hardware Queues", "CUDA", "GPU 0", "Device #0", "Context #1"]
# Lines over time would push the streams off the screen.
CLOSED_AT_FIRST = ["Counters", "Copies", "Load", "Telemetry", "System"]
# Contents of a trace, by the name that the UI shows.
NAMES = {
    "processes": "select name || ' ' || pid as name from process where pid > 0",
    "tracks": "select distinct name from track where name is not null",
    "queues": "select distinct name from gpu_track where type = 'gpu_render_stage'",
}
# Findings of reports that have tracks.
FINDINGS = {
    "idle": "select dur, name from slice where category = 'idle'",
    "steps": "select dur, name from slice where category = 'step'",
    "bytes": "select name, count(*) as calls, sum(extract_arg(arg_set_id, 'read_bytes')) as read_bytes,"
             " sum(extract_arg(arg_set_id, 'write_bytes')) as write_bytes from gpu_slice"
             " where extract_arg(arg_set_id, 'bytes_from') = 'kernel counters' group by name",
    "advice": "select extract_arg(arg_set_id, 'debug.finding') as finding, extract_arg(arg_set_id, 'debug.report') as report,"
              " name, ts, dur from slice where category = 'advice'",
}
ADVICE_MOST = 4  # exporters/perfetto/parts/advice.c
GAP_SHORT_NS, GAPS_MOST = 20000, 20000 # exporters/perfetto/parts/idle.c
# Groups of other traces, when one is merged with them, that may be long.
CLOSED = ["Scheduler", "Kernel threads", "CPU Frequency"]


def argument(command, index):
    found, = [each["args"][index] for each in COMMANDS if each["id"] == "dev.perfetto." + command]
    return found


def ask(recording, queries):
    """What Perfetto answers to queries over the trace of a recording, by the queries' names."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "a.perfetto")
        files = []
        for name, query in queries.items():
            files.append(pathlib.Path(folder, name))
            files[-1].write_text(query)
        subprocess.run([GPUTRACE, "export", "--quiet", "-o", trace, recording], check=True)
        answer = subprocess.run(["node", QUERY, ENGINE, trace, *files], check=True, capture_output=True, text=True,
                                timeout=PATIENCE_S)
    return json.loads(answer.stdout)


def reports_of(recording, *names):
    done = subprocess.run([GPUTRACE, "report", recording, *names, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["reports"]


def kernels_of(recording):
    """(profiled, calls, ns, of profiled ones their mean) of each; the report of kernels counts no launch that was profiled."""
    kernels, counters = reports_of(recording, "kernels", "counters")
    return sorted([(False, row["calls"], row["total_ns"]) for row in kernels["kernels"] if row["calls"]] +
                  [(True, row["launches"], row["mean_ns"]) for row in counters["profiled"]])


def shown_as(row):
    is_profiled = row["name"].startswith("profiled: ")
    return is_profiled, row["calls"], round(row["ms"] * 1e6 / (row["calls"] if is_profiled else 1))


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = argument("RunQueryAndShowTab", 0)
        cls.opened = re.compile(argument("ExpandTracksByRegex", 0))
        cls.pinned = re.compile(argument("PinTracksByRegex", 0))
        recordings = sorted(GOLDEN.glob("*.gputrace"))
        cls.answers = {recording: ask(recording, NAMES | FINDINGS | {"table": cls.table}) for recording in recordings}

    def names(self, kind):
        return {row["name"] for answer in self.answers.values() for row in answer[kind]}

    def test_processes_are_opened(self):
        self.assertTrue(self.names("processes"))
        for name in self.names("processes"):
            self.assertRegex(name, self.opened)

    def test_lines_over_time_stay_closed(self):
        for name in CLOSED_AT_FIRST:
            self.assertNotRegex(name, self.opened)

    def test_streams_the_path_and_idle_time_are_kept_in_view(self):
        pinned = {name for name in self.names("tracks") if self.pinned.search(name)}
        for name in ("Stream 7", "GPU busy", "GPU 0 idle", "Steps", "Critical path", "Advice"):
            self.assertIn(name, pinned)
        self.assertFalse([name for name in pinned if "range" in name or "memory" in name])

    def test_streams_are_opened_where_they_have_lanes(self):
        for name in self.names("queues"):
            self.assertRegex(name, self.opened)

    def test_what_the_ui_puts_around_them_is_opened(self):
        for name in NAMES_OF_THE_UI:
            self.assertRegex(name, self.opened)

    def test_not_everything_is_opened(self):
        for name in CLOSED:
            self.assertNotRegex(name, self.opened)

    def test_nothing_is_opened_in_vain(self):
        """Each part of the expression is for a name that there is, so that the address has no dead weight."""
        names = NAMES_OF_THE_UI + [name for kind in NAMES for name in self.names(kind)]
        for part in self.opened.pattern.split("|"):
            self.assertTrue(any(re.search(part, name) for name in names), part)

    def test_the_table_of_kernels_says_what_the_report_says(self):
        self.assertTrue(any(answer["table"] for answer in self.answers.values()))
        for recording, answer in self.answers.items():
            with self.subTest(recording.name):
                said = kernels_of(recording)
                shown = sorted(map(shown_as, answer["table"]))
                self.assertEqual(shown, said)
                self.assertTrue(all(row["name"] for row in answer["table"]))

    def test_idle_time_is_that_of_the_report_gaps(self):
        self.assertTrue(any(answer["idle"] for answer in self.answers.values()))
        for recording, answer in self.answers.items():
            with self.subTest(recording.name):
                summary, gaps = reports_of(recording, "summary", "gaps", "--limit", "1000000")
                lasts_ns = summary["recording"][0]["duration_ns"]
                least_ns = max(GAP_SHORT_NS, lasts_ns // GAPS_MOST)
                said = sorted((row["duration_ns"], row["host_call"] or "not known why")
                              for row in gaps["largest_gaps"] if row["duration_ns"] >= least_ns)
                self.assertEqual(sorted((row["dur"], row["name"]) for row in answer["idle"]), said)

    def test_steps_are_those_of_the_report(self):
        self.assertTrue(any(answer["steps"] for answer in self.answers.values()))
        for recording, answer in self.answers.items():
            with self.subTest(recording.name):
                steps, _ = reports_of(recording, "steps", "summary", "--limit", "1000000")
                guessed = any(row["range"].startswith("guessed: ") for row in steps["steps"])
                self.assertEqual(sorted((row["dur"], row["name"]) for row in answer["steps"]),
                                 sorted((row["wall_ns"], f"step {row['step']}{' (guessed)' * guessed}")
                                        for row in steps["each_step"]))

    def test_bytes_of_kernels_are_those_of_the_report(self):
        self.assertTrue(any(answer["bytes"] for answer in self.answers.values()))
        for recording, answer in self.answers.items():
            with self.subTest(recording.name):
                bandwidth, _ = reports_of(recording, "bandwidth", "summary", "--limit", "1000000")
                said = sorted((row["kernel"], row["read_bytes"], row["write_bytes"])
                              for row in bandwidth["kernels"] if row["source"] == "kernel counters")
                shown = sorted((row["name"].removeprefix("profiled: "), row["read_bytes"] / row["calls"],
                                row["write_bytes"] / row["calls"]) for row in answer["bytes"])
                self.assertEqual([row[0] for row in shown], [row[0] for row in said])
                for one, other in zip(shown, said):
                    self.assertAlmostEqual(one[1], other[1], delta=1)
                    self.assertAlmostEqual(one[2], other[2], delta=1)

    def test_advice_is_the_first_that_the_summary_says(self):
        self.assertTrue(any(answer["advice"] for answer in self.answers.values()))
        for recording, answer in self.answers.items():
            with self.subTest(recording.name):
                advice, summary = reports_of(recording, "advice", "summary", "--limit", "1000000")
                whole = [(row["advice"], row["report"]) for row in advice["advice"]]
                first = [row["finding"] for row in summary["stands_out"] if not row["finding"].startswith("The same is true")]
                self.assertEqual(len(answer["advice"]), min(len(first), ADVICE_MOST))
                for row in answer["advice"]:
                    self.assertIn((row["finding"], row["report"]), whole)
                    self.assertTrue(row["finding"].startswith(row["name"]), row)
                    self.assertGreater(row["dur"], 0)

    def test_the_table_begins_with_what_took_longest(self):
        for answer in self.answers.values():
            times = [row["ms"] for row in answer["table"]]
            self.assertEqual(times, sorted(times, reverse=True))

    def test_the_ui_takes_these_commands_from_an_address(self):
        allowed = {"dev.perfetto.ExpandTracksByRegex", "dev.perfetto.PinTracksByRegex", "dev.perfetto.RunQueryAndShowTab"}
        self.assertEqual({command["id"] for command in COMMANDS}, allowed)


if __name__ == "__main__":
    unittest.main()
