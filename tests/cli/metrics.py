#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gputrace metrics on the fakes' GPUs, without any, and by a libcupti that knows. Usage: metrics.py GPUTRACE FAKES"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPUTRACE, FAKES = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
sys.argv[1:] = []
READ = "dram__bytes_read"


def metrics(*words, fakes=FAKES, script="", status=0, **changes):
    """Its output, or its sentence where it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GPUTRACE_")}
    environment = {**kept, "LD_LIBRARY_PATH": str(fakes), "FAKE_CUPTI": script, **changes}
    done = subprocess.run([GPUTRACE, "metrics", *words], env=environment, timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == status, (words, done)
    return done.stderr if status else done.stdout


def tables(*words, **keywords):
    return json.loads(metrics("--json", *words, **keywords))


def by_name(rows, column, counted="samples"):
    return {row[column]: row for row in rows if row["counted"] == counted}


class Metrics(unittest.TestCase):
    def test_counters_of_this_machines_gpu(self):
        report = tables(script="devices=2")
        source, = report["source"]
        self.assertTrue(source["gpu"].startswith("0: "), source)
        self.assertEqual(source["chip"], "GH100")
        self.assertEqual(pathlib.Path(source["cupti"]).resolve(), (FAKES / "libcupti.so.13").resolve())
        counters = by_name(report["counters"], "counter")
        read = counters["dram_read_bytes"]
        self.assertEqual((read["metric"], read["passes"], read["left_out"], read["sets"], read["counted"]),
                         (READ + ".sum", 1, None, "default memory", "samples"))
        self.assertEqual(counters["l2_hit_percent"]["metric"],
                         "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct")
        fma = counters["fma_active_percent"]
        self.assertEqual((fma["left_out"], fma["passes"]), ("the chip cannot count it", None))
        sets = by_name(report["sets"], "option")
        self.assertEqual([sets["--counters=default"][name] for name in ("counters", "left_out", "passes")], [13, 3, 1])
        self.assertEqual([sets["--counters=memory"][name] for name in ("counters", "left_out", "passes")], [4, 0, 1])
        self.assertEqual([sets["--counters=links"][name] for name in ("counters", "left_out")], [4, 2])
        self.assertNotIn("metrics", report)
        launches = by_name(report["counters"], "counter", "launches")
        self.assertEqual((launches["duration_ns"]["metric"], launches["duration_ns"]["sets"]),
                         ("gpu__time_duration.sum", "default memory compute occupancy flops"))
        default = by_name(report["sets"], "option", "launches")["--kernel-counters=default"]
        self.assertEqual((default["left_out"], default["passes"]), (0, 1))
        self.assertTrue(tables("--gpu", "1", script="devices=2")["source"][0]["gpu"].startswith("1: "))

    def test_what_has_no_room_beside_the_others(self):
        report = tables(script="pm_room=2")
        left_out = {name: row["left_out"] for name, row in by_name(report["counters"], "counter").items()}
        self.assertIsNone(left_out["dram_write_bytes"])
        self.assertEqual(left_out["sm_active_percent"], "no room in the pass")
        self.assertEqual(by_name(report["sets"], "set")["default"]["left_out"], 11)

    def test_words_are_looked_for_in_names_and_descriptions(self):
        report = tables("READ", "Dram")
        self.assertEqual([(row["counter"], row["counted"]) for row in report["counters"]],
                         [("dram_read_bytes", "samples"), ("dram_read_bytes", "launches")])
        metric, = report["metrics"]
        self.assertEqual((metric["metric"], metric["type"], metric["unit"], metric["hardware"], metric["forms"],
                          metric["sampled_passes"], metric["launch_passes"]),
                         (READ, "counter", "bytes", "fake", ".sum", 1, 1))
        self.assertEqual(tables("no such thing")["metrics"], [])

    def test_all_of_cuptis_metrics_once_each(self):
        names = [row["metric"] for row in tables("--all")["metrics"]]
        self.assertEqual(names, sorted(set(names)))
        self.assertGreater(len(names), 8)
        self.assertIn(READ, metrics("--all", "--csv", "--section", "metrics"))

    def test_a_chip_needs_no_gpu(self):
        with tempfile.TemporaryDirectory() as empty:
            (pathlib.Path(empty) / "libcuda.so.1").touch()  # found first, and none
            alone = {"fakes": empty, "GPUTRACE_CUPTI": str(FAKES / "libcupti.so.13")}
            report = tables("--chip", "gh100", **alone)
            self.assertEqual((report["source"][0]["gpu"], report["source"][0]["chip"]), (None, "GH100"))
            self.assertEqual(len(by_name(report["counters"], "counter")), 13)
            self.assertIn("CUPTI knows GA100 GH100", metrics("--chip", "gh99", status=2, **alone))
            said = metrics(status=1, **alone)
            self.assertIn("this machine has no NVIDIA driver", said)
            self.assertIn("--chip NAME", said)
            self.assertEqual(len(said.splitlines()), 1)

    def test_what_stands_against_it_is_said_in_a_sentence(self):
        self.assertIn("there is no GPU 3: the last one is 0", metrics("--gpu", "3", status=2))
        self.assertIn("CUDA 12.6 or later", metrics("--cupti", str(FAKES / "cupti12" / "libcupti.so.12"), status=1))
        self.assertIn("cannot be used as libcupti", metrics("--cupti", "/nowhere/libcupti.so", status=1))
        self.assertIn("does not know the chip GX999", metrics(script="pm_chip=1", status=1))


if __name__ == "__main__":
    unittest.main()
