#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gputrace calibrate on a GPU that is not there: calibrate.py GPUTRACE FAKES_FOLDER

Its kernels take 10 us whatever they are asked to do, so that figures mean nothing; what is called,
said and written does.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPUTRACE, FAKES = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
NO_KERNELS = "this build of gputrace cannot measure"


class Calibrate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_it(self, *words, script="", **settings):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(FAKES), FAKE_CUPTI=script,
                           XDG_DATA_HOME=self.folder.name, **settings)
        environment["ASAN_OPTIONS"] = "detect_leaks=0"  # the fakes keep what they gave out
        done = subprocess.run([GPUTRACE, "calibrate", *words], env=environment, timeout=100,
                              capture_output=True, text=True, check=False)
        if NO_KERNELS in done.stderr:
            self.skipTest(done.stderr)
        return done

    def test_measures_what_is_asked_for(self):
        done = self.run_it("--ceiling", "fp32", "--ceiling", "tensor_bf16", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        rows = {row["ceiling"]: row for row in found["arithmetic"]}
        self.assertEqual(list(rows), ["fp32", "tensor_bf16"])
        self.assertGreater(rows["fp32"]["tflops"], 0)
        self.assertEqual(rows["fp32"]["how"], "fma.f32")
        self.assertIsNone(rows["fp32"]["sm_mhz"], "no kernel said at which clock it ran")
        self.assertRegex(rows["tensor_bf16"]["how"], "mma")
        self.assertEqual(found["rates"], [])
        device, = found["devices"]
        self.assertRegex(device["uuid"], "^GPU-[0-9a-f-]{36}$")
        self.assertTrue(device["name"] and device["driver"] and device["date"], device)
        self.assertEqual(list(pathlib.Path(self.folder.name).iterdir()), [], "a part is not kept")

    def test_goes_along_with_recordings(self):
        uuid = json.loads(self.run_it("--ceiling", "fp64", "--json").stdout)["devices"][0]["uuid"]
        folder = pathlib.Path(self.folder.name)
        stored = folder / "gputrace" / "calibrations" / f"{uuid}.json"
        stored.parent.mkdir(parents=True)
        before = self.rows_of_ceilings("before")
        ceilings = [{"name": "fp32", "value": 6e13}, {"name": "dram_copy", "value": 4e12}]
        stored.write_text(json.dumps({"version": 1, "calibrations": [
            {"uuid": uuid, "ceilings": ceilings}, {"uuid": "GPU-other", "ceilings": ceilings}]}))
        self.assertEqual(self.rows_of_ceilings("after"), before + 2)
        file, = (folder / "after.gputrace").glob("*.calibration")
        manifest = json.loads((folder / "after.gputrace" / "manifest.json").read_text())
        self.assertEqual(manifest["calibration"], file.name)
        self.assertNotIn("calibration", (folder / "before.gputrace" / "manifest.json").read_text())

    def rows_of_ceilings(self, name):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(FAKES), XDG_DATA_HOME=self.folder.name)
        for words in (["run", "-q", "--no-export", "-o", name, FAKES / "bin" / "app_work", "--launches", "3"],
                      ["info", name, "--section", "tables", "--json"]):
            done = subprocess.run([GPUTRACE, *words], env=environment, cwd=self.folder.name,
                                  timeout=100, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        return {row["table"]: row["rows"] for row in json.loads(done.stdout)["tables"]}["ceilings"]

    def test_chooses_gpus(self):
        both = json.loads(self.run_it("--ceiling", "fp64", "--json", script="devices=2").stdout)
        self.assertEqual(len(both["devices"]), 2)
        uuid = both["devices"][1]["uuid"]
        for word in ("1", uuid):
            done = self.run_it("--ceiling", "fp64", "--json", "--device", word, script="devices=2")
            self.assertEqual([row["uuid"] for row in json.loads(done.stdout)["devices"]], [uuid])
        done = self.run_it("--device", "2", script="devices=2")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "gputrace: there is no GPU 2 here: --device takes a number "
                                      "below 2 or a UUID\n")

    def test_says_that_there_is_no_gpu(self):
        done = self.run_it(script="devices=0")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "gputrace: the NVIDIA driver sees no GPU here; does "
                                      "CUDA_VISIBLE_DEVICES hide it?\n")

    def test_gives_up_on_a_kernel_that_does_nothing(self):
        done = self.run_it("--ceiling", "launch_latency")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a kernel was launched and did not begin", done.stderr)

    def test_is_not_measured_itself(self):
        """A profiler that the environment names would be in all figures."""
        done = self.run_it("--ceiling", "fp32", "--csv", "--section", "arithmetic",
                           CUDA_INJECTION64_PATH="/nowhere/libinjection.so")
        self.assertEqual(done.returncode, 0, done.stderr)


unittest.main()
