#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gputrace replay on a GPU that is not there: replay.py GPUTRACE MAKE_BUNDLE FAKES_FOLDER

The fake driver knows a few kernels, which do what they are for and take 10 us.
"""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

GPUTRACE, MAKE, FAKES = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, LD_LIBRARY_PATH=str(FAKES), XDG_DATA_HOME=folder.name,
                                XDG_RUNTIME_DIR=folder.name, ASAN_OPTIONS="detect_leaks=0")

    def make(self, *words, name="bundle"):
        bundle = self.folder / name
        subprocess.run([MAKE, bundle, *words], check=True, timeout=60, env=self.environment)
        return bundle

    # Before each run with a cold cache twice its size is written, which takes the host's memory its time.
    CACHE = "l2_bytes=1048576"

    def start(self, bundle, *words, script=CACHE, **settings):
        return subprocess.Popen(
            [GPUTRACE, "replay", bundle, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(self.environment, FAKE_CUPTI=script, **settings), text=True)

    def run_it(self, bundle, *words, script=CACHE, **settings):
        process = self.start(bundle, *words, script=script, **settings)
        out, err = process.communicate(timeout=100)
        return process.returncode, out, err

    def found(self, bundle, *words, status=0, **settings):
        code, out, err = self.run_it(bundle, "--time", "200ms", "--within", "90%", "--json", *words, **settings)
        self.assertEqual(code, status, err)
        return json.loads(out)

    def test_runs_a_launch_again(self):
        bundle = self.make()
        found = self.found(bundle, CUDA_INJECTION64_PATH="/nowhere/libinjection.so")
        row, = found["times"]
        self.assertEqual((row["variant"], row["clock"]), ("as recorded", "CUPTI"))
        self.assertEqual(row["median_ns"], 10000)
        self.assertGreaterEqual(row["runs"], 10)
        self.assertEqual(row["verdict"], "outputs as recorded")
        self.assertRegex(row["peak"], "^dram_copy, ")
        buffer, = found["buffers"]
        self.assertEqual((buffer["mismatches"], buffer["element"]), (0, "f32"))
        self.assertEqual(len(list((bundle / "results").iterdir())), 1)

    # The share of a small cache that may be restored is little, so that outputs are looked at as well.
    SMALL = "l2_bytes=4096"

    def test_times_the_same_work_in_each_state_of_the_cache(self):
        for word in "tiles", "reset", "look-back":
            bundle = self.make(word, "job", name=word)
            for state in "cold", "warm", "as-is":
                found = self.found(bundle, "--l2", state, "--fail-if", "slower-than-job:1%", script=self.SMALL)
                row, = found["times"]
                self.assertEqual((row["median_ns"], row["least_ns"], row["job_percent"]), (10000, 10000, 0), word + state)
                self.assertEqual((row["verdict"], row["fits"], row["other_mode"]), ("outputs as recorded", state, 0))
                self.assertIn("against the time in the program, by the state of the caches: cold 10.0 us (+0.0%), "
                              f"warm 10.0 us (+0.0%), as-is 10.0 us (+0.0%); {state} fits best", found["remarks"])
            self.assertEqual(self.found(bundle, "--l2", "warm", "--no-verify", script=self.SMALL)["times"][0]["median_ns"], 10000)

    def test_times_the_same_work_in_variants(self):
        bundle = self.make("tiles", "job")
        found = self.found(bundle, "--l2", "warm", "--runs", "10", "--block", "64", "--tune", "block=32,256", script=self.SMALL)
        self.assertEqual([row["median_ns"] for row in found["times"]], [10000] * 4)
        found = self.found(self.make("sequence", name="steps"), "--l2", "warm", "--runs", "10", "--form", "all", script=self.SMALL)
        self.assertTrue(all(row["median_ns"] >= 20000 and "outputs as recorded" in row["verdict"]
                            for row in found["times"]), found["times"])

    def test_restores_all_where_a_run_over_other_bytes_faults(self):
        bundle = self.make("settle", "job")
        words = ["--l2", "warm", "--runs", "10"]
        found = self.found(bundle, *words, "--block", "64", script=self.SMALL)
        self.assertEqual([row["median_ns"] for row in found["times"]], [10000, 10000])
        self.assertTrue(all("outputs as recorded" in row["verdict"] for row in found["times"]), found["times"])
        self.assertIn("of what changes 2.05 KB are restored right before each run", found["remarks"])
        found = self.found(bundle, *words, "--no-verify", script=self.SMALL)
        self.assertEqual(found["times"][0]["median_ns"], 10000)
        self.assertEqual(len(list((bundle / "results").iterdir())), 3)

    def test_says_that_the_work_is_not_known_to_be_the_same(self):
        bundle = self.make("tired", "job")
        for words, status in ((), 3), (("--no-verify",), 0), (("--no-verify", "--fail-if", "slower-than-job:50%"), 3):
            code, out, err = self.run_it(bundle, "--runs", "10", "--wide", *words, script=self.SMALL)
            self.assertEqual(code, status, err)
            self.assertIn("it is not known that each run did the same work: a second run from the same memory wrote less "
                          "than the first one: 512 of 1024 bytes of memory 1 are as before it", err)
            self.assertIn("not known to do the same work in each run", " ".join(out.split()))

    def test_warns_where_the_time_is_far_from_that_in_the_program(self):
        bundle = self.make("slow")
        words = "with cold caches, which fit best, it takes 10.0 us: 75% less than in the program; "
        code, out, err = self.run_it(bundle, "--runs", "10", script=self.SMALL)
        self.assertEqual(code, 0, err)
        self.assertIn(words, " ".join(out.split()) + " ")
        # The fake GPU has another UUID than the bundle.
        self.assertIn(words + "it was recorded on another GPU (NVIDIA H200)", err)
        self.same_gpu(bundle)
        code, out, err = self.run_it(bundle, "--runs", "10", "--fail-if", "slower-than-job:5%", script=self.SMALL)
        self.assertIn(words + "nothing is known of the reason, which may be work beside it in the program", err)
        self.assertEqual(code, 3)
        self.assertEqual(self.run_it(bundle, "--runs", "10", "--inputs", "zero", "--fail-if", "slower-than-job:5%")[0], 0)

    def same_gpu(self, bundle):
        """It was recorded on the fake GPU, at its clock."""
        uuid = self.run_it(bundle, "--history", "--json")[1]
        manifest = json.loads((bundle / "bundle.json").read_text())
        manifest["origin"]["uuid"] = json.loads(uuid)["history"][0]["uuid"]
        manifest["origin"]["sm_clock_mhz"] = 0
        (bundle / "bundle.json").write_text(json.dumps(manifest))

    def test_compares_nothing_that_was_there_before(self):
        found = self.found(self.make("reset"), "--inputs", "random", "--runs", "10")
        self.assertEqual(found["times"][0]["verdict"], "outputs not compared")

    def test_says_what_is_wrong_with_outputs(self):
        for word, column, verdict in (("wrong", "mismatches", "outputs differ"),
                                      ("spill", "outside_bytes", "writes outside of its buffers"),
                                      ("vary", "varies", "outputs differ from run to run")):
            found = self.found(self.make(word, name=word), status=3)
            self.assertEqual(found["times"][0]["verdict"], verdict)
            self.assertGreater(max(row[column] or 0 for row in found["buffers"]), 0, word)
            self.assertEqual(self.run_it(self.folder / word, "--no-verify")[0], 0)

    def test_tries_variants_beside_it(self):
        bundle = self.make()
        found = self.found(bundle, "--block", "64", "--cluster", "2", "--cluster", "16", status=3)
        rows = {row["variant"]: row["verdict"] for row in found["times"]}
        self.assertEqual(list(rows), ["as recorded", "block=64 cluster=2", "block=64 cluster=16"])
        self.assertRegex(rows["block=64 cluster=2"], "outputs as recorded")
        self.assertRegex(rows["block=64 cluster=16"], "^cannot be run: ")
        found = self.found(bundle, "--tune", "block=32..256*2 shared=0,1K")
        self.assertEqual(len(found["times"]), 9)

    def test_goes_on_where_a_variant_faults(self):
        bundle = self.make("brittle")
        words = ["--runs", "10", "--block", "1024", "--block", "64", "--block", "768", "--tune", "block=32,1024,256"]
        found = self.found(bundle, *words, status=3)
        rows = {row["variant"]: row["verdict"] for row in found["times"][:4]}
        self.assertEqual(list(rows), ["as recorded", "block=1024", "block=64", "block=768"])
        self.assertRegex(rows["block=1024"], "^cannot be run: .*CUDA_ERROR_ILLEGAL_ADDRESS")
        self.assertRegex(rows["block=64"], "outputs as recorded$")
        self.assertRegex(rows["block=768"], "^cannot be run: .*CUDA_ERROR_ILLEGAL_ADDRESS")
        self.assertEqual([row["variant"] for row in found["times"][4:]], ["block=32", "block=1024", "block=256"])
        self.assertRegex(found["times"][6]["verdict"], "outputs as recorded$")
        # Each result is kept once, and what was compared before the fault is still there.
        self.assertEqual(len(list((bundle / "results").iterdir())), 7)
        self.assertEqual([row["variant"] for row in found["buffers"]], ["as recorded", "block=64", "block=32", "block=256"])
        found = self.found(bundle, "--runs", "10", "--tune", "block=1024,64")
        self.assertEqual(len(found["times"]), 3)

    def test_compares_what_was_there_before_the_launch(self):
        bundle = self.make("again")
        found = self.found(bundle, "--runs", "10", "--block", "256", "--block", "64", status=3)
        rows = {row["variant"]: row["verdict"] for row in found["times"]}
        self.assertEqual(rows["as recorded"], "outputs as recorded")
        self.assertRegex(rows["block=256"], "outputs as recorded$")
        self.assertRegex(rows["block=64"], "outputs not written$")
        row = found["buffers"][0]
        self.assertEqual((row["memory"], row["known_by"], row["written_bytes"], row["mismatches"], row["unwritten_bytes"]),
                         (1, "poison", 512, 0, 0))
        self.assertEqual(found["buffers"][2]["unwritten_bytes"], 512)
        self.assertIn("memory that holds the same afterwards: 1 written with what was there, 1 neither read nor written",
                      found["remarks"])

    def test_finds_inputs_that_fault_in_other_processes(self):
        for words in ("pick",), ("pick", "behind"):
            self.expect_picked(self.make(*words, name="-".join(words)))

    def expect_picked(self, bundle):
        found = self.found(bundle, "--runs", "10", "--tune", "block=64,128")
        self.assertEqual([row["variant"] for row in found["times"]], ["as recorded", "block=64", "block=128"])
        self.assertTrue(all("outputs as recorded" in row["verdict"] for row in found["times"]), found["times"])
        self.assertEqual({row["known_by"] for row in found["buffers"]}, {"poison"})
        self.assertEqual([row["written_bytes"] for row in found["buffers"]], [1024, 1024, 1024])
        self.assertIn("memory that holds the same afterwards: 1 written with what was there, 1 read", found["remarks"])
        self.assertEqual(len(list((bundle / "results").iterdir())), 3)

    def test_ends_where_what_was_left_cannot_be_read(self):
        code, out, err = self.run_it(self.make(), GPUTRACE_REPLAY_LEFT="77")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "gputrace: what the process before this one left cannot be read; GPUTRACE_REPLAY_LEFT "
                              "is set by gputrace alone\n")

    def test_runs_a_sequence_in_every_form(self):
        bundle = self.make("sequence")
        for form in ("recorded", "back-to-back", "one-stream", "graph"):
            found = self.found(bundle, "--form", form)
            self.assertEqual(found["launch"][0]["launches"], 2)
            # On a busy machine it may be doubted that all runs did the same work.
            self.assertTrue(found["times"][0]["verdict"].startswith("outputs as recorded"), form)
        history = json.loads(self.run_it(bundle, "--history", "--json")[1])["history"]
        self.assertEqual(len({row["conditions"] for row in history}), 4)

    def test_runs_all_forms_beside_each_other(self):
        bundle = self.make("sequence")
        found = self.found(bundle, "--form", "all", "--runs", "10")
        rows = {row["variant"]: row["verdict"] for row in found["times"]}
        self.assertEqual(list(rows), [
            "as recorded", "form=back-to-back", "form=one-stream", "form=graph",
            "form=priorities(7=first,13=last)", "form=priorities(13=first,7=last)"])
        self.assertTrue(all("outputs as recorded" in verdict for verdict in rows.values()), rows)
        self.assertEqual({row["variant"] for row in found["buffers"]}, set(rows))
        found = self.found(bundle, "--form", "priorities", "--priority", "13=-1")
        self.assertRegex(found["launch"][0]["conditions"], r"form=priorities\(13=-1\)$")

    def test_runs_launches_of_graphs_in_every_form(self):
        bundle = self.make("graph")
        for form in ("recorded", "back-to-back", "one-stream", "graph", "nodes"):
            found = self.found(bundle, "--form", form)
            # On a busy machine it may be doubted that all runs did the same work.
            self.assertTrue(found["times"][0]["verdict"].startswith("outputs as recorded"), form)
            self.assertEqual(found["times"][0]["clock"], "CUPTI")
        found = self.found(bundle, "--form", "all", "--runs", "10")
        self.assertEqual([row["variant"] for row in found["times"]],
                         ["as recorded", "form=back-to-back", "form=one-stream", "form=graph", "form=nodes"])

    def test_runs_one_step_alone(self):
        bundle = self.make("sequence")
        found = self.found(bundle, "--step", "scale", "--block", "64", "--l2", "warm")
        self.assertEqual([row["median_ns"] for row in found["times"]], [10000, 10000])
        self.assertEqual(found["times"][0]["job_ns"], 5000)
        self.assertEqual(found["times"][1]["verdict"], "as fast, outputs as in the sequence")
        self.assertEqual((found["launch"][0]["step"], found["launch"][0]["kernel"]), (5, "scale(float* const*, int)"))
        self.assertEqual({row["memory"] for row in found["buffers"]}, {2})
        self.assertIn("all steps, run once one after the other, gave what was recorded; outputs are compared with what "
                      "the step left then", found["remarks"])
        self.found(bundle, "--step", "0", "--runs", "10")
        found = self.found(bundle, "--step", "2", "--relocate", "--runs", "10", "--tune", "block=32,64")
        self.assertEqual(len(found["times"]), 3)
        self.assertTrue(all("outputs as in the sequence" in row["verdict"] for row in found["times"]), found["times"])
        self.assertEqual(self.found(bundle, "--runs", "10")["launch"][0]["step"], None)

    def test_runs_the_node_that_was_chosen(self):
        bundle = self.make("graph", "focus")
        self.assertEqual(self.found(bundle, "--runs", "10")["launch"][0]["step"], 7)
        self.assertEqual(self.found(bundle, "--runs", "10", "--whole")["launch"][0]["launches"], 2)
        steps = json.loads(self.run_it(bundle, "--list", "--json")[1])["steps"]
        self.assertEqual([row["step"] for row in steps if row["chosen"] == "yes"], [7])
        self.assertEqual([row["graph"] for row in steps], [None] + 9 * [1] + [None])

    def test_tells_where_a_sequence_goes_astray_before_a_step(self):
        bundle = self.make("sequence", "astray")
        found = self.found(bundle, "--step", "5", "--runs", "10", status=3)
        self.assertEqual(found["times"][0]["verdict"], "the sequence did not give what was recorded")
        self.assertTrue(any("255 elements differ, the first in memory 1" in text for text in found["remarks"]))

    def test_goes_on_where_a_variant_of_a_step_faults(self):
        bundle = self.make("sequence", "brittle")
        found = self.found(bundle, "--step", "brittle", "--runs", "10", "--block", "1024", "--block", "64", status=3)
        rows = [row["verdict"] for row in found["times"]]
        self.assertEqual(rows[0], "outputs as in the sequence")
        self.assertEqual(len(rows), 3)
        self.assertRegex(rows[1], "^cannot be run: .*CUDA_ERROR_ILLEGAL_ADDRESS")
        self.assertRegex(rows[2], "outputs as in the sequence$")

    def test_guards_a_launch(self):
        bundle = self.make()
        self.found(bundle)
        self.found(bundle, "--fail-if", "slower:5%")
        code, _, err = self.run_it(bundle, "--fail-if", "slower:5%", script="kernel_ns=11000," + self.CACHE)
        self.assertEqual(code, 3)
        self.assertRegex(err, r"as recorded: 11\.0 us, which is 10\.0% slower than the result of ")
        self.assertEqual(self.run_it(bundle, "--fail-if", "slower-than-job:300%")[0], 0)

    def test_throws_out_what_ran_with_throttled_clocks(self):
        bundle = self.make()
        row, = self.found(bundle, "--runs", "20", script="throttle=64,throttle_ms=60," + self.CACHE)["times"]
        self.assertEqual(row["runs"] + row["thrown_out"] + row["other_mode"], 20)
        row, = self.found(bundle, "--runs", "20")["times"]
        self.assertEqual((row["runs"] + row["other_mode"], row["thrown_out"]), (20, 0))
        self.assertGreater(row["sm_mhz"], 0)
        found = self.found(bundle, "--runs", "20", script="throttle=64," + self.CACHE)
        row, = found["times"]
        self.assertEqual((row["runs"], row["thrown_out"], row["median_ns"], row["stable"]), (0, 20, None, "-"))
        self.assertIn("20 runs as recorded do not count: the GPU's clocks were held down", found["remarks"])

    def test_says_who_else_uses_the_gpu(self):
        code, out, err = self.run_it(self.make(), script="others_bytes=1000000," + self.CACHE)
        self.assertEqual(code, 0, err)
        self.assertIn("1 other process has a context on GPU 0", err)
        self.assertIn("1 other process had a context on the GPU", out)

    def test_waits_for_another_that_measures(self):
        bundle = self.make()
        uuid = self.found(bundle)
        lock, = (self.folder / "gputrace").glob("*.lock")
        self.assertRegex(lock.name, "^GPU-[0-9a-f-]{36}.lock$", uuid)
        with open(lock, "r+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            for command in ("replay", "calibrate"):
                words = [bundle] if command == "replay" else ["--ceiling", "fp32"]
                process = subprocess.Popen(
                    [GPUTRACE, command, *words], stderr=subprocess.PIPE,
                    stdout=subprocess.DEVNULL, env=self.environment, text=True)
                line = process.stderr.readline()
                if "this build of gputrace cannot measure" not in line:
                    self.assertRegex(line, r"^gputrace: waiting for process \d+, which measures on GPU-")
                    self.assertIsNone(process.poll())
                process.terminate()
                process.communicate(timeout=60)

    def test_begins_again_where_addresses_are_taken(self):
        begun = time.monotonic()
        code, out, err = self.run_it(self.make("high"))
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, r"^gputrace: .*; so it was in 7 processes, each with other addresses\. "
                              r"At others it cannot run: .*\n$")
        self.assertLess(time.monotonic() - begun, 60)

    def test_goes_elsewhere_where_addresses_are_taken_and_pointers_are_known(self):
        bundle = self.make("high", "reached")
        code, out, err = self.run_it(bundle)
        self.assertEqual(code, 0, err)
        self.assertIn("memory lies at other addresses than in the program", out)
        self.assertIn("outputs as recorded", out)
        code, out, err = self.run_it(bundle, "--history", "--json")
        self.assertTrue(all(row["conditions"].endswith(" relocated") for row in json.loads(out)["history"]), out)

    def test_runs_what_a_program_launched(self):
        cubin = pathlib.Path(__file__).resolve().parent.parent.parent / "cubins" / "replay_90.cubin"
        subprocess.run([GPUTRACE, "run", "-q", "--no-export", "--capture-kernels", ".", "-o", "app", "--",
                        FAKES / "bin" / "app_replay", "--cubin", cubin, "--launches", "5"],
                       env=self.environment, cwd=self.folder, check=True, timeout=100,
                       stdout=subprocess.DEVNULL)
        found = self.found(self.folder / "app.gputrace", "--launch", "replay_scale")
        row, = found["times"]
        self.assertEqual(row["verdict"], "outputs as recorded")
        self.assertEqual((row["median_ns"], row["job_ns"]), (10000, 10000))
        self.assertIn("time in the program: median of 4 launches of this kernel in this shape that "
                      "were not captured", found["remarks"])

    def test_is_replaced_with_its_recording(self):
        bundle = self.make(name="app.gputrace/launches/71-1-saxpy")
        (self.folder / "app.gputrace" / "node-1-1.capture").touch()
        self.found(bundle)
        words = [GPUTRACE, "run", "-q", "--no-export", "-f", "-o", "app", "--",
                 FAKES / "bin" / "app_work", "--launches", "1"]
        stranger = bundle / "blobs" / "more" / "thesis.txt"
        stranger.parent.mkdir()
        stranger.touch()
        for status, left in ((125, True), (0, False)):
            done = subprocess.run(words, env=self.environment, cwd=self.folder, timeout=100,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, bundle.exists()), (status, left), done.stderr)
            self.assertEqual("thesis.txt, which gputrace did not write" in done.stderr, left)
            if left:
                shutil.rmtree(stranger.parent)

    def test_fails_in_a_sentence(self):
        whole = self.make()
        blob = max((whole / "blobs").iterdir(), key=lambda path: path.stat().st_size)
        content = blob.read_bytes()
        for change in (content[:-1], content[:5] + bytes([content[5] ^ 1]) + content[6:], b""):
            blob.write_bytes(change)
            self.expect_sentence(whole, blob.name)
        blob.unlink()
        self.expect_sentence(whole, blob.name)
        blob.write_bytes(content)
        manifest = (whole / "bundle.json").read_bytes()
        (whole / "bundle.json").write_bytes(manifest[:-20])
        self.expect_sentence(whole, "bundle.json")
        (whole / "bundle.json").unlink()
        self.expect_sentence(whole, "bundle.json")
        shutil.rmtree(whole)
        self.expect_sentence(self.make("newer"), "sm_100.*sm_90")
        self.expect_sentence(self.make(name="much"), "memory", script="most_bytes=4096")

    def expect_sentence(self, bundle, part, **settings):
        code, out, err = self.run_it(bundle, **settings)
        self.assertEqual((code, out), (1, ""), err)
        self.assertRegex(err, r"^gputrace: [^\n]*\n$")
        self.assertRegex(err, part)


unittest.main()
