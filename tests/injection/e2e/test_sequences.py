# SPDX-License-Identifier: Apache-2.0
"""Ranges are captured as sequences of steps and run again in every form.

Covers SOURCE(captures).
"""
import subprocess

from bundles import Bundles
from programs import GPUTRACE, PATIENCE_S, SMALL_CACHE, environment


class Sequences(Bundles):
    """Occurrences of a range that are captured as one bundle: app_sequence's steps."""

    FILLED = 0.747058868408203125  # 0x3f3f3f3f

    def capture(self, *words, options=(), **keywords):
        run = self.record("--cubin", self.CUBIN, *words, program="app_sequence",
                          options=("--no-export", "--capture-sequence", "step", *options), **keywords)
        self.assertEqual(run.status, 0, run.stderr)
        return run

    def contents(self, run):
        """Memory as the reader of bundles has it, by address."""
        return {memory["address"]: memory for memory in self.bundle(run)["memory"]}

    def test_steps_are_in_the_order_of_the_calls(self):
        run = self.capture()
        manifest = self.manifest(run)
        self.assertEqual([(step["kind"], step.get("stream"), step.get("event"), step["range"]) for step in manifest["steps"]],
                         [("copy", 0, None, "step"), ("launch", 0, None, "step"), ("record", 0, 0, "step"),
                          ("wait", 1, 0, "step"), ("fill", 1, None, "step"), ("copy", 1, None, "step"),
                          ("launch", 1, None, "step/inner"), ("host_wait", 1, None, "step"), ("copy", 2, None, "step"),
                          ("host_wait", 2, None, "step")])
        self.assertEqual([(stream["priority"], stream["nonblocking"]) for stream in manifest["streams"]],
                         [(-1, True), (0, False), (0, False)])
        copy, fill, inside, out = [manifest["steps"][number] for number in (0, 4, 5, 8)]
        x, y = hex(run.facts["x"]), hex(run.facts["y"])
        self.assertEqual((copy["to"], copy["bytes"], copy["parameters"]["size"]), (x, 4096, 4096))
        self.assertEqual((fill["to"], fill["bytes"], fill["value"], fill["value_bytes"]), (y, 4096, 0x3f3f3f3f, 4))
        self.assertEqual((inside["from"], inside["to"], inside["bytes"]), (x, y, 2048))
        self.assertEqual((out["from"], "to" in out, "parameters" in out), (y, False, False))
        self.assertEqual((len(manifest["functions"]), len(manifest["modules"]), manifest["missing"]), (1, 1, []))
        self.assertEqual(self.bundles(run)[0].name, f"{run.facts['pid']}-1-step")
        (row,) = self.told(run)
        self.assertEqual((row["number"], row["reason"], row["range"], row["steps"]), (1, "", "step", 10))

    def test_pinned_memory_that_is_copied_is_pinned_when_it_runs_again(self):
        run = self.capture("--how", "pinned")
        copies = [step for step in self.manifest(run)["steps"] if step["kind"] == "copy"]
        self.assertEqual([step.get("pinned", False) for step in copies], [True, False, False])
        self.assertEqual(self.replay(run)[0], 0)
        self.assertEqual(self.replay(run, "--form", "graph")[0], 0)

    def test_memory_is_that_of_before_and_after_the_range(self):
        run = self.capture(options=("--launches", "2:1"))
        memory = self.contents(run)
        x, y = memory[run.facts["x"]], memory[run.facts["y"]]
        half = self.ROOM // 2
        doubled = [2 * i for i in range(self.COUNT)] + list(range(self.COUNT, self.ROOM))
        self.assertEqual(x["before"], doubled)  # of the occurrence before, which did the same
        self.assertEqual(x["after"], doubled)
        self.assertEqual(y["after"][:half], [6 * i for i in range(half)])
        self.assertAlmostEqual(y["after"][half], 3 * self.FILLED, 5)
        first = self.contents(self.capture())
        self.assertEqual([memory["same"] for memory in first.values() if memory["kind"] == "device"], [False, False])

    def test_it_does_the_same_again_in_every_form(self):
        run = self.capture()
        for form in ("recorded", "back-to-back", "one-stream", "graph"):
            with self.subTest(form):
                status, buffers = self.replay(run, "--form", form)
                self.assertEqual((status, len(buffers)), (0, 2))
                self.assertEqual([row["differing"] for row in buffers], [0, 0])
        self.assertEqual(self.replay(run, "--relocate")[0], 0)

    def test_each_of_its_steps_does_the_same_alone(self):
        run = self.capture("--steps", 6, options=("--launches", "3:1"))
        steps = self.manifest(run)["steps"]
        for number, step in enumerate(steps):
            if step["kind"] not in ("launch", "copy", "fill"):
                continue
            with self.subTest(number=number):
                status, said = self.replay_all(run, "--step", number)
                self.assertEqual((status, said["launch"][0]["step"]), (0, number), said["remarks"])
                self.assertEqual(said["times"][0]["job_ns"], step["end_ns"] - step["start_ns"])
        status, said = self.replay_all(run, "--step", "scale", "--block", 64, "--relocate")
        self.assertEqual((status, said["launch"][0]["step"]), (0, 1))
        self.assertIn("2 launches fit --step, of which the first is run; --list shows all steps", said["remarks"])
        self.assertEqual([row["verdict"] for row in said["times"]],
                         ["outputs as in the sequence", "as fast, outputs as in the sequence"])

    def test_times_are_those_of_other_occurrences(self):
        run = self.capture("--steps", 6, options=("--launches", "3:1"))
        manifest = self.manifest(run)
        origin, steps = manifest["origin"], manifest["steps"]
        work = [step for step in steps if step["kind"] in ("launch", "copy", "fill")]
        self.assertEqual((origin["job_launches"], work[0]["call_ns"]), (5, 0))
        for before, step in zip(work, work[1:]):
            self.assertGreater(step["call_ns"], before["call_ns"])
        for step in work:
            self.assertGreaterEqual(step["start_ns"], step["call_ns"])
            self.assertGreater(step["end_ns"], step["start_ns"])
        self.assertEqual([step for step in steps if step not in work and "call_ns" in step], [])
        span = max(step["end_ns"] for step in work) - min(step["start_ns"] for step in work)
        self.assertTrue(span / 4 < origin["job_ns"] < 4 * span, (origin, span))

    def test_times_that_no_occurrence_has_are_missing(self):
        for words in (["--steps", 1], ["--how", "table", "--steps", 2]):
            with self.subTest(words=words):
                manifest = self.manifest(self.capture(*words))
                self.assertNotIn("job_ns", manifest["origin"])
                self.assertEqual([step for step in manifest["steps"] if "end_ns" in step], [])
                self.assertEqual(len(manifest["missing"]), 1)
                self.assertIn("the times of its steps", manifest["missing"][0])

    def test_calls_of_the_runtime(self):
        run = self.capture("--how", "runtime")
        steps = self.manifest(run)["steps"]
        self.assertEqual(steps[0]["kind"], "copy")
        self.assertEqual((steps[-1]["kind"], "stream" in steps[-1], "event" in steps[-1]), ("host_wait", False, False))
        for form in ("recorded", "graph"):
            self.assertEqual(self.replay(run, "--form", form)[0], 0)

    def test_copies_and_fills_of_rows_and_slices(self):
        run = self.capture("--how", "rows")
        x, y = run.facts["x"], run.facts["y"]
        shape = ("to", "from", "bytes", "rows", "slices", "to_pitch", "from_pitch", "to_slice_pitch", "from_slice_pitch")
        rows, box, fill, boxes, whole, back, wait = [
            (step["kind"], *(step.get(member) for member in shape)) for step in self.manifest(run)["steps"][-7:]]
        self.assertEqual(rows, ("copy", hex(x), None, 100, 8, None, 512, None, None, None))
        self.assertEqual(box, ("copy", hex(y + 128), hex(x), 64, 3, 2, 128, 512, 5 * 128, 4 * 512))
        self.assertEqual(fill, ("fill", hex(y + 2048), None, 16, 5, None, 64, None, None, None))
        self.assertEqual(boxes, ("fill", hex(x + 64), None, 16, 2, 2, 512, None, 4 * 512, 0))
        self.assertEqual(whole, ("copy", hex(y + 3072), None, 256, 1, None, 0, None, None, None))
        self.assertEqual(back, ("copy", None, hex(y), 128, 4, None, 0, 512, None, None))
        self.assertEqual(wait[0], "host_wait")
        memory = self.contents(run)
        half = [i * 1.0 for i in range(self.ROOM)]
        # Row 2 of x: what the host has in its third row but one element, over the doubled ones.
        self.assertEqual(memory[x]["after"][2 * 128:2 * 128 + 16], half[301:317])
        self.assertEqual(memory[x]["after"][2 * 128 + 25], 2.0 * (2 * 128 + 25))
        # The second slice of the box, its first row.
        self.assertEqual(memory[y]["after"][6 * 32:6 * 32 + 16], half[501:517])
        self.assertAlmostEqual(memory[x]["after"][4 * 128 + 16], self.FILLED, 5)
        manifest = self.manifest(run)  # a fill of two slices is two of the GPU's
        self.assertEqual((manifest["origin"].get("job_launches"), manifest["missing"]), (2, []))
        self.assertGreater(manifest["steps"][-4]["end_ns"], manifest["steps"][-4]["start_ns"])
        self.assertEqual(memory[y]["after"][768:832], half[:64])
        for form in ("recorded", "back-to-back", "one-stream", "graph"):
            status, buffers = self.replay(run, "--form", form)
            self.assertEqual((status, [row["differing"] for row in buffers]), (0, [0, 0]), form)
        self.assertEqual(self.replay(run, "--relocate")[0], 0)

    def test_local_memory_is_the_most_that_a_launch_needs(self):
        for how, last in (("pinned", 64), ("table", 16), ("infinite", 16)):
            with self.subTest(how):
                manifest = self.manifest(self.capture("--how", how, script="local_bytes=64"))
                used = [manifest["functions"][step["function"]]["local_bytes"] for step in manifest["steps"]
                        if step["kind"] == "launch"]
                self.assertEqual((used[-1], manifest["origin"]["local_bytes"]), (last, 64 * 1024))

    def test_several_copies_in_one_call(self):
        run = self.capture("--how", "batches")
        x, y = run.facts["x"], run.facts["y"]
        manifest = self.manifest(run)
        copies = manifest["steps"][10:]
        self.assertEqual(len(copies), 71)
        for i, copy in enumerate(copies[:-1]):
            wanted = (hex(x + 16 * i), None, 16) if i % 2 else (hex(y + 32 * i), hex(x + 2048), 32)
            self.assertEqual((copy["kind"], copy["to"], copy.get("from"), copy["bytes"]), ("copy", *wanted))
            self.assertEqual(copy["correlation"], copies[0]["correlation"])
        self.assertEqual([copies[-1][key] for key in ("bytes", "rows", "slices", "to_pitch", "to_slice_pitch", "from_pitch",
                                                      "from_slice_pitch")], [16, 2, 2, 32, 96, 64, 256])
        self.assertEqual(len(manifest["missing"]), 1)
        self.assertIn("70 copies are to overlap with kernels", manifest["missing"][0])
        for form in ("recorded", "graph"):
            status, buffers = self.replay(run, "--form", form)
            self.assertEqual((status, [row["differing"] for row in buffers]), (0, [0, 0]), form)

    def test_copies_and_fills_of_variables(self):
        # The last two: the driver tells of all variables as one piece of memory.
        for options, settings in (((), {}), (("--api", "all"), {}), ((), {"FAKE_SEGMENTS": "1"}),
                                  (("--launches", "2:1"), {"FAKE_SEGMENTS": "1"})):
            run = self.capture("--how", "symbols", options=options, **settings)
            manifest = self.manifest(run)
            first, fill, *_, launch, out, wait = manifest["steps"]
            variables = {memory["name"]: memory for memory in manifest["memory"] if memory["kind"] == "variable"}
            weights = variables["replay_weights"]
            self.assertEqual({name: memory["size"] for name, memory in variables.items()},
                             {"replay_weights": 16, "replay_launches": 4})
            self.assertEqual((first["kind"], first["to"], first["bytes"], first["parameters"]["size"]),
                             ("copy", weights["address"], 16, 16))
            self.assertEqual((fill["kind"], int(fill["to"], 16)), ("fill", int(weights["address"], 16) + 8))
            self.assertEqual((launch["kind"], out["from"], out["bytes"], "to" in out, wait["kind"]),
                             ("launch", variables["replay_launches"]["address"], 4, False, "host_wait"))
            self.assertEqual([step for step in manifest["steps"] if not step["range"].startswith("step")], [])
            memory = self.contents(run)
            x, y = run.facts["x"], run.facts["y"]
            self.assertEqual(memory[int(weights["address"], 16)]["before"][:2], [1, 2] if options == ("--launches", "2:1")
                             else [0, 0])
            self.assertEqual(memory[y]["after"][1], 2 * memory[x]["after"][1])
            self.assertAlmostEqual(memory[y]["after"][2], self.FILLED * memory[x]["after"][2], 5)
            for form in ("recorded", "one-stream", "graph"):
                status, buffers = self.replay(run, "--form", form)
                self.assertEqual((status, [row["differing"] for row in buffers if row["differing"]]), (0, []), form)
            self.assertEqual(self.replay(run, "--relocate")[0], 0)

    def test_pointers_in_variables_of_several_modules_are_listed(self):
        # Those of the second module are known when there already are variables of the first one, in one piece of memory.
        for settings in ({}, {"FAKE_SEGMENTS": "1"}):
            run = self.capture("--how", "modules", **settings)
            manifest = self.manifest(run)
            memory = manifest["memory"]
            weights = [number for number, entry in enumerate(memory) if entry["name"] == "replay_weights"]
            self.assertEqual([memory[number]["module"] for number in weights], [0, 1])
            self.assertEqual([(pointer["memory"], pointer["offset"], int(memory[pointer["target"]]["address"], 16))
                              for pointer in manifest["pointers"] if "memory" in pointer],
                             [(weights[0], 0, run.facts["x"]), (weights[1], 0, run.facts["y"])])
            self.assertEqual([entry["name"] for entry in memory if entry["pointers"]], ["replay_weights"] * 2)
            for words in ((), ("--relocate",)):
                status, buffers = self.replay(run, *words)
                self.assertEqual((status, [row["differing"] for row in buffers if row["differing"]]), (0, []), words)

    def test_what_gets_nowhere_is_given_up(self):
        run = self.capture("--steps", 1, script="kernel_ns=600000000", GPUTRACE_LAUNCHES_PATIENCE="100ms")
        self.assertEqual(self.bundles(run), [])
        (row,) = self.told(run)
        self.assertIn("nothing got on for half a minute; no sequences are captured any more", row["reason"])
        self.assertIn("sequences are not captured any more: nothing got on", str(run.recording.notes))
        self.assertEqual(run.recording.tables["kernels"], run.facts["calls"]["cuLaunchKernel"])
        self.assertEqual(run.facts["last"], self.bare("--cubin", self.CUBIN, "--steps", 1, program="app_sequence").facts["last"])

    def test_what_the_host_writes_is_a_step(self):
        run = self.capture("--how", "host", options=("--launches", "2:1"))
        manifest = self.manifest(run)
        steps = manifest["steps"]
        written = [(i, step) for i, step in enumerate(steps) if step.get("by_host")]
        memory = {entry["kind"]: entry for entry in manifest["memory"]}
        managed, pinned = memory["managed"], memory["host"]
        at = {name: int(entry["address"], 16) for name, entry in memory.items()}
        kinds = [(step["kind"], int(step.get("to", "0"), 16), step.get("bytes")) for _, step in written]
        # Two stretches of a page are one; what the kernel wrote between them is what it is.
        self.assertEqual(kinds, [("copy", at["managed"] + 16, 4080 - 16 + 8), ("copy", at["host"], 8), ("host_wait", 0, None),
                                 ("copy", at["managed"] + 24, 8), ("host_wait", 0, None)])
        first, last = written[0][0], written[-1][0]
        self.assertEqual(steps[first + 3]["kind"], "launch")
        self.assertEqual(last, len(steps) - 1)
        self.assertEqual(manifest["missing"], [])
        self.assertGreater(manifest["origin"]["job_launches"], 0)
        after = self.contents(run)
        values = after[at["managed"]]["after"]
        self.assertEqual(values[4:8], [24, 300, -1, 42])
        self.assertEqual(values[1020], 7)
        self.assertNotEqual(pinned["before"], pinned["after"])
        self.assertEqual(managed["kind"], "managed")
        for form in ("recorded", "back-to-back", "one-stream", "graph"):
            status, buffers = self.replay(run, "--form", form)
            self.assertEqual((status, [row["differing"] for row in buffers if row["differing"]]), (0, []), form)
        self.assertEqual(self.replay(run, "--relocate")[0], 0)

    def test_what_the_host_writes_into_much_memory_is_missing(self):
        manifest = self.manifest(self.capture("--how", "large"))
        self.assertEqual([step for step in manifest["steps"] if step.get("by_host")], [])
        self.assertEqual(len(manifest["missing"]), 1)
        self.assertIn("into 1 pieces of managed or pinned memory", manifest["missing"][0])

    def test_memory_that_the_range_frees(self):
        run = self.capture("--how", "free", options=("--launches", "2:1"))
        manifest = self.manifest(run)
        y = run.facts["y"]
        freed = [memory for memory in manifest["memory"] if int(memory["address"], 16) not in (run.facts["x"], y)]
        self.assertGreaterEqual(len(freed), 2)
        self.assertEqual([memory for memory in freed if not memory["after"]["hash"]], [])
        self.assertIn("pool", [memory["kind"] for memory in freed])
        values = self.contents(run)[y]["after"]
        self.assertAlmostEqual(values[0], self.FILLED, 5)
        self.assertEqual(values[16:32], [0.0] * 16)
        self.assertEqual(values[32:40], [10.0 * i for i in range(32, 40)])
        for form in ("recorded", "back-to-back", "one-stream", "graph"):
            status, buffers = self.replay(run, "--form", form)
            self.assertEqual((status, [row["differing"] for row in buffers if row["differing"]]), (0, []), form)
        self.assertEqual(self.replay(run, "--relocate")[0], 0)

    def test_the_step_that_made_the_first_infinity_is_named(self):
        run = self.capture("--how", "infinite")
        done = subprocess.run([GPUTRACE, "replay", "--runs", "3", run.recording.path], env=environment(SMALL_CACHE),
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("step 8", done.stdout)

    def test_tables_that_are_made_in_the_sequence_are_followed(self):
        run = self.capture("--how", "table", options=("--launches", "2:1"))
        manifest = self.manifest(run)
        self.assertEqual(len([memory for memory in manifest["memory"] if memory["kind"] == "device"]), 3 + self.ROWS)
        self.assertEqual(self.replay(run)[0], 0)
        self.assertEqual(self.replay(run, "--step", "gather")[0], 0)

    def test_what_cannot_be_captured_refuses_all_of_it(self):
        for how, words in (("graph", "captured into a CUDA graph"),
                           ("function", "function of the host"), ("remapped", "other memory of its steps was that was freed"), ("context", "more than one context"),
                           ("fails", "goes beyond the memory"), ("never", "ended before the range did"), ("unheard", "was not heard of")):
            with self.subTest(how):
                run = self.capture("--how", how)
                self.assertEqual(self.bundles(run), [])
                (row,) = self.told(run)
                self.assertIn(words, row["reason"])
                self.assertEqual((row["range"], row["bytes"]), ("step", 0))
                self.assertEqual(run.recording.tables["kernels"], run.facts["calls"]["cuLaunchKernel"])

    def test_no_more_than_may_be_written(self):
        run = self.capture("--steps", 400, options=("--launches", "1:400", "--max-bytes", "1M"))
        rows = self.told(run)
        captured = [row for row in rows if row["bundle"]]
        self.assertEqual(len(captured), len(self.bundles(run)))
        self.assertLessEqual(sum(row["bytes"] for row in captured), 1 << 20)
        self.assertTrue(0 < len(captured) < 400)
        self.assertIn("--max-bytes", rows[len(captured)]["reason"])

    def test_what_is_done_for_it_is_not_the_programs(self):
        run = self.capture(options=("--api", "all"))
        functions = run.recording.functions()
        for call, count in run.facts["calls"].items():
            # Times of a captured occurrence are no figures, and its calls are left out of them.
            own = count // 3 if count >= 3 else 0
            if call in functions and call != "cuMemAlloc":
                self.assertEqual(functions[call], count - own, call)
        for call in ("cuCtxPushCurrent", "cuFuncGetAttribute", "cuMemGetAddressRange", "cuStreamGetPriority"):
            self.assertFalse([name for name in functions if name.startswith(call)], call)
        self.assertEqual(run.recording.tables["copies"], 9)
        self.assertEqual(run.recording.tables["kernels"], 6)
