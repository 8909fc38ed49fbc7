#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of gputrace compare, worked out a second time from single launches. Usage: figures.py GPUTRACE GOLDEN"""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import unittest

GPUTRACE, GOLDEN = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
RUNS = GOLDEN / "compared" / "forty.runs"
LAUNCHES = 160  # in a step, as tests/gpu/programs/cuda/forty_kernels.cu makes them


def ask(*words):
    done = subprocess.run([GPUTRACE, *map(str, words), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def student_tail(t, degrees):
    """P(T > t), by Simpson's rule over the density from 0 to t."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    pieces = 20000
    width = t / pieces
    heights = [scale * (1 + (i * width) ** 2 / degrees) ** (-(degrees + 1) / 2) for i in range(pieces + 1)]
    return 0.5 - width / 3 * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))


def student_quantile(probability, degrees):
    low, high = 0.0, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, degrees) > 1 - probability else (low, middle)
    return low


class Run:
    """One recording: walls of its steps, and times of each kernel in steady steps."""

    def __init__(self, path):
        steps = sorted(ask("report", path, "steps", "--range", "step", "--limit", 1000000)["each_step"], key=lambda row: row["step"])
        walls = [row["wall_ns"] for row in steps]
        limit = statistics.median(walls) * 1.2
        warm_up = next(i for i, wall in enumerate(walls) if wall <= limit)
        self.walls = walls[warm_up:]
        events = sorted(ask("report", path, "events", "--limit", 1000000)["events"], key=lambda row: row["start_time_ns"])
        launched = [row for row in events if row["what"] == "kernel"][warm_up * LAUNCHES:]
        assert len(launched) == len(self.walls) * LAUNCHES
        self.times = {}
        for row in launched:
            self.times.setdefault(row["name"], []).append(row["duration_ns"])

    def log_of(self, name):
        """The first launch is warm-up."""
        return statistics.mean(math.log(ns) for ns in self.times[name][1:])


class Forty(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sides = [[Run(RUNS / f"{side}-{number}.gputrace") for number in (1, 2, 3)] for side in "ab"]
        cls.said = ask("compare", RUNS)
        cls.rows = {row["kernel"]: row for row in cls.said["kernels"]}

    def logs(self):
        return {name: [run.log_of(name) for side in self.sides for run in side] for name in self.sides[0][0].times}

    def test_times_of_kernels(self):
        self.assertEqual(set(self.rows), set(self.sides[0][0].times))
        for name, row in self.rows.items():
            for letter, side in zip("ab", self.sides):
                totals = [sum(run.times[name]) / len(run.walls) for run in side]
                self.assertAlmostEqual(row[f"total_{letter}_ns"], statistics.mean(totals), delta=1)
                self.assertEqual(row[f"{letter}_count"], len(side[0].times[name]) / len(side[0].walls))

    def test_verdicts(self):
        """The method of docs/reports/compare.md, step by step."""
        logs = self.logs()
        factors = [statistics.median(values[run] - statistics.mean(values) for values in logs.values()) for run in range(6)]
        freed = {name: [value - factor for value, factor in zip(values, factors)] for name, values in logs.items()}
        own = {name: (statistics.variance(values[:3]) + statistics.variance(values[3:])) / 2 for name, values in freed.items()}
        pooled = statistics.mean(own.values())
        quantile = student_quantile(1 - 0.05 / (2 * len(logs)), 2 * (3 - 1) + 8)
        for name, values in freed.items():
            row, raw = self.rows[name], statistics.mean(logs[name][3:]) - statistics.mean(logs[name][:3])
            change = statistics.mean(values[3:]) - statistics.mean(values[:3])
            margin = quantile * math.sqrt(max(own[name], pooled) * (1 / 3 + 1 / 3))
            self.assertAlmostEqual(row["change_percent"], 100 * math.expm1(raw), places=6)
            self.assertAlmostEqual(row["corrected_percent"], 100 * math.expm1(change), places=6)
            self.assertAlmostEqual(row["within_percent"], 100 * math.expm1(margin), places=4)
            needed = max(margin, math.log(1.02))
            if min(change, raw) > needed:
                right = "slower"
            else:
                right = "same" if max(change, raw) + margin <= math.log(1.02) and min(change, raw) - margin >= -math.log(1.02) \
                    else "cannot tell"
            self.assertEqual(row["verdict"], right, name)
        self.assertEqual([name for name, row in self.rows.items() if row["verdict"] == "slower"], ["compute<14>"])

    def test_figures(self):
        figures = {row["figure"]: row for row in self.said["figures"]}
        for letter, side in zip("ab", self.sides):
            walls = [statistics.mean(math.log(wall) for wall in run.walls) for run in side]
            self.assertAlmostEqual(figures["step"][letter] / math.exp(statistics.mean(walls)), 1, places=9)
            self.assertAlmostEqual(figures["step launches"][letter], LAUNCHES, places=6)
            gpu = [math.log(sum(map(sum, run.times.values())) / len(run.walls)) for run in side]
            self.assertAlmostEqual(figures["step gpu time"][letter] / math.exp(statistics.mean(gpu)), 1, places=9)


class Filters(unittest.TestCase):
    def test_figures_are_of_the_processes_that_are_shown(self):
        recording = GOLDEN / "captures" / "h100-workers.gputrace"
        startups = {row["process"]: row["startup_ns"] for row in ask("report", recording, "startup")["startup"]}
        self.assertGreater(len(set(startups.values())), 1)
        for process in ask("info", recording)["processes"]:
            pid = process["pid"]
            kernels = ask("report", recording, "kernels", "--process", pid)["kernels"]
            memory = ask("report", recording, "memory", "--process", pid)["memory"]
            figures = {row["figure"]: row["a"] for row in ask("compare", recording, recording, "--process", pid)["figures"]}
            startup = next(ns for name, ns in startups.items() if name.endswith(f"({pid})"))
            self.assertAlmostEqual(figures["start-up"] / startup, 1, places=9)
            self.assertAlmostEqual(figures["launches"], sum(row["calls"] for row in kernels), places=6)
            self.assertAlmostEqual(figures["memory peak"], max(row["peak_bytes"] for row in memory if row["device"]), delta=1)


unittest.main()
