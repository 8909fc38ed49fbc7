#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Metrics that gputrace export --format prometheus writes, over the recordings of tests/golden: prometheus.py GPUTRACE DOCS

Covers FORMAT(prometheus). The text is read by a reader of its own, and every figure is held against reports of the same recording.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import exposition  # noqa: E402 pylint: disable=wrong-import-position

GPUTRACE = os.path.realpath(sys.argv.pop(1))
ROOT = HERE.parent.parent
RECORDINGS = sorted((HERE.parent / "golden" / "captures").glob("*.gputrace"))
GPU = {"gpu", "UUID", "pci_bus_id", "modelName", "Hostname"}  # as dcgm-exporter spells them


def gputrace(*words):
    return subprocess.run([GPUTRACE, *words], check=True, capture_output=True, text=True).stdout


def report(recording, name, *words):
    return json.loads(gputrace("report", recording, name, "--json", "--limit", "1000000", *words))


def ns(seconds):
    return round(seconds * 1e9)


class Metrics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def metrics(self, recording, *words):
        file = self.folder / "x.prom"
        gputrace("export", "--quiet", "--force", "-o", file, recording, *words)
        return exposition.parse(file.read_bytes())

    def each(self):
        return ((recording, self.metrics(recording)) for recording in RECORDINGS)

    def series(self, metrics, name, *labels):
        return metrics["gputrace_" + name].values(*labels) if "gputrace_" + name in metrics else {}

    def test_labels_join_with_those_of_dcgm_exporter(self):
        for recording, metrics in self.each():
            devices = {device["uuid"]: device for device in json.loads(gputrace("info", "--json", recording))["devices"]}
            for metric in metrics.values():
                for labels in map(dict, metric.series):
                    self.assertEqual(labels["recording"], recording.stem)
                    if "UUID" not in labels:
                        continue
                    self.assertLessEqual(GPU, set(labels))
                    self.assertTrue(re.fullmatch(r"[0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\.0", labels["pci_bus_id"]))
                    self.assertEqual(labels["pci_bus_id"].lower(), "0000" + devices[labels["UUID"]]["pci"])
                    self.assertEqual(labels["modelName"], devices[labels["UUID"]]["name"])

    def test_busy_and_idle_are_those_of_gaps(self):
        for recording, metrics in self.each():
            gaps = report(recording, "gaps")
            window_ns = report(recording, "summary")["recording"][0]["duration_ns"]
            self.assertEqual(ns(metrics["gputrace_measured_seconds_total"].only()), window_ns)
            busy = self.series(metrics, "gpu_busy_seconds_total", "gpu")
            idle = self.series(metrics, "gpu_idle_seconds_total", "gpu", "cause")
            for device in gaps["devices"]:
                gpu = device["device"].split(":")[0]
                causes = {cause: ns(seconds) for (number, cause), seconds in idle.items() if number == gpu}
                self.assertEqual(ns(busy[gpu]), device["busy_ns"])
                self.assertEqual(sum(causes.values()), device["idle_ns"])
                self.assertEqual(causes.pop("not in use"), window_ns - device["span_ns"])
                self.assertEqual(causes.pop("copies and fills alone"), device["active_ns"] - device["busy_ns"])
                self.assertEqual(causes, {row["host_call"]: row["total_ns"] for row in gaps["waited_for"] if row["device"] == device["device"]})
            self.assertEqual(len(busy) > 0, len(gaps["devices"]) > 0)

    def test_time_that_is_not_measured_is_the_rest(self):
        held_up = 0
        for recording, metrics in self.each():
            recorded_ns = json.loads(gputrace("info", "--json", recording))["recording"][0]["recorded_ns"]
            apart = ns(metrics["gputrace_not_measured_seconds_total"].only())
            self.assertEqual(ns(metrics["gputrace_measured_seconds_total"].only()) + apart, recorded_ns)
            held_up += apart > 0
        self.assertGreater(held_up, 0)

    def test_copies_and_fills_are_those_of_the_report(self):
        for recording, metrics in self.each():
            said = report(recording, "copies")
            for table, word, labels in (("copies", "copies copy", ("kind", "source", "destination")), ("fills", "fills fill", ("memory",))):
                many, one = word.split()
                found = [self.series(metrics, name, "gpu", *labels) for name in (f"{many}_total", f"{one}_bytes_total", f"{one}_seconds_total")]
                rows = {(row["device"].split(":")[0], *(row[label] for label in labels)): row for row in said[table]}
                self.assertEqual(found[0], {key: row["calls"] for key, row in rows.items()})
                self.assertEqual(found[1], {key: row["bytes"] for key, row in rows.items()})
                self.assertEqual({key: ns(value) for key, value in found[2].items()}, {key: row["total_ns"] for key, row in rows.items()})

    def test_kernels_are_those_of_the_summary(self):
        for recording, metrics in self.each():
            families = report(recording, "summary")["families"]
            self.assertEqual(self.series(metrics, "kernels_total", "family"), {row["family"]: row["calls"] for row in families})
            self.assertEqual({key: ns(value) for key, value in self.series(metrics, "kernel_seconds_total", "family").items()},
                             {row["family"]: row["total_ns"] for row in families})

    def test_energy_and_memory_are_known_or_left_out(self):
        known = collections.Counter()
        for recording, metrics in self.each():
            said = {row["device"].split(":")[0]: row["joules"] for row in report(recording, "energy").get("devices", []) if row["joules"] is not None}
            found = self.series(metrics, "gpu_energy_joules_total", "gpu")
            self.assertEqual(set(found), set(said))
            for gpu, joules in said.items():
                self.assertLess(abs(found[gpu] - joules), 1e-8 * joules)
            said = {row["device"].split(":")[0]: row["peak_bytes"] for row in report(recording, "memory").get("devices", []) if row["peak_bytes"]}
            peaks = self.series(metrics, "gpu_allocated_peak_bytes", "gpu")
            self.assertEqual(peaks, said)
            known.update(energy=bool(found), no_energy=not found, memory=bool(peaks), no_memory=not peaks)
        self.assertEqual(len(+known), 4, known)

    def test_steps_are_those_of_the_report(self):
        steps = 0
        for recording, metrics in self.each():
            said = report(recording, "steps", "--set", "top=1000000")
            counted = {re.search(r"\((\d+)\)$", row["process"])[1]: row["steps"] for row in said.get("steps", [])}
            walls = collections.Counter()
            for row in said.get("each_step", []):
                walls[re.search(r"\((\d+)\)$", row["process"])[1]] += row["wall_ns"]
            self.assertEqual(self.series(metrics, "steps_total", "pid"), counted)
            self.assertEqual({pid: ns(value) for pid, value in self.series(metrics, "step_seconds_total", "pid").items()}, dict(walls))
            steps += len(counted)
        self.assertGreater(steps, 0)

    def test_losses_and_errors_are_those_of_the_ledger(self):
        for recording, metrics in self.each():
            summary = report(recording, "summary")
            for name, losses in (("recorded_total", "no"), ("lost_total", "yes")):
                self.assertEqual(self.series(metrics, name, "class"),
                                 {row["class"]: row["value"] for row in summary["ledger"] if row["is_loss"] == losses and not row["class"].endswith("_ns")})
            errors = self.series(metrics, "cuda_errors_total", "recording")
            self.assertEqual(errors, {recording.stem: summary["recording"][0]["errors"]} if summary["recording"][0]["api_calls"] else {})

    def test_the_run_is_that_of_the_manifest(self):
        for recording, metrics in self.each():
            runs = json.loads(gputrace("info", "--json", recording))["runs"]
            for place, run in enumerate(runs, 1):
                self.assertEqual(ns(self.series(metrics, "elapsed_seconds_total", "run")[str(place)]), run["duration_ns"])
                self.assertEqual(self.series(metrics, "program_exit_status", "run")[str(place)], run["exit_status"])
                self.assertEqual(self.series(metrics, "program_running", "run")[str(place)], 0)
            self.assertEqual(len(self.series(metrics, "info", "run", "version")), len(runs))

    def test_recordings_without_a_manifest_say_less(self):
        recording = self.folder / "bare.gputrace"
        shutil.copytree(RECORDINGS[0], recording, ignore=shutil.ignore_patterns("manifest.json"))
        metrics = self.metrics(recording)
        self.assertIn("gputrace_gpu_busy_seconds_total", metrics)
        for name in ("info", "program_running", "program_exit_status", "elapsed_seconds_total", "processes_recorded"):
            self.assertNotIn("gputrace_" + name, metrics)

    def test_a_part_of_a_recording(self):
        recording, = [path for path in RECORDINGS if path.stem == "h200-streams"]
        part = self.metrics(recording, "--stream", "13")
        families = report(recording, "summary", "--stream", "13")["families"]
        self.assertEqual(self.series(part, "kernels_total", "family"), {row["family"]: row["calls"] for row in families})
        self.assertLess(sum(row["calls"] for row in families), sum(self.series(self.metrics(recording), "kernels_total", "family").values()))

    def test_names_are_bytes_and_are_escaped(self):
        recording = self.folder / 'a"b\\c\n\udcff.gputrace'
        shutil.copytree(RECORDINGS[0], recording)
        file = self.folder / "x.prom"
        subprocess.run([GPUTRACE, "export", "--quiet", "-o", file, recording], check=True)
        for metric in exposition.parse(file.read_bytes()).values():
            for labels in map(dict, metric.series):
                self.assertEqual(labels["recording"], 'a"b\\c\n\ufffd')

    def test_each_metric_is_in_the_documents(self):
        listed = re.findall(r"^METRIC\((\w+), +(\w+),", (ROOT / "exporters" / "prometheus" / "metrics.def").read_text(), re.MULTILINE)
        told = re.findall(r"^\| `gputrace_(\w+)` \| (\w+) \|", (ROOT / "docs" / "recording" / "metrics.md").read_text(), re.MULTILINE)
        self.assertEqual(sorted(told), sorted(listed))
        seen = {name for _, metrics in self.each() for name in metrics}
        while_it_runs = {"gputrace_processes_recorded", "gputrace_processes_paused"}
        self.assertEqual(seen, {"gputrace_" + name for name, _ in listed} - while_it_runs)

    def test_the_reader_finds_what_is_wrong(self):
        good = self.folder / "x.prom"
        gputrace("export", "--quiet", "-o", good, RECORDINGS[0])
        text = good.read_text()
        family = [line for line in text.splitlines() if "kernels_total" in line]
        for wrong in (text + family[-1] + "\n", text[:-1], text.replace("# TYPE gputrace_info gauge\n", ""), text.replace('"} 1\n', '"} 1 5\n', 1),
                      text.replace("# HELP gputrace_info", "# HELP gputrace_kernels_total"), text.replace('version="', 'version="\\d'),
                      text.replace('run="1"', 'run="1",run="2"'), text.replace('run="1"', 'ru-n="1"'), text + "# EOF\n"):
            self.assertNotEqual(wrong, text)
            with self.assertRaises((exposition.Wrong, KeyError)):
                exposition.parse(wrong)


if __name__ == "__main__":
    unittest.main()
