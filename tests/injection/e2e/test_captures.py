# SPDX-License-Identifier: Apache-2.0
"""Launches are captured with their memory and run again.

Covers SOURCE(captures).
"""
import json
import pathlib
import re
import subprocess
import tempfile

from bundles import Bundles
from programs import BUILD, GPUTRACE, PATIENCE_S, SMALL_CACHE, environment


class Captures(Bundles):
    """Launches that are captured with all that running them again needs: app_replay's, whose kernels change memory."""

    def capture(self, *words, chosen="replay", options=(), **keywords):
        run = self.record("--cubin", self.CUBIN, *words, program="app_replay",
                          options=("--no-export", "--capture-kernels", chosen, *options), **keywords)
        self.assertEqual(run.status, 0, run.stderr)
        return run

    def memory(self, bundle, address):
        found = [memory for memory in bundle["memory"] if memory["address"] == address]
        self.assertEqual(len(found), 1)
        return found[0]

    def variable(self, bundle, name):
        return next(memory for memory in bundle["memory"] if memory["name"] == name)

    def test_what_was_captured_gives_the_same_in_another_process(self):
        for words in (["--kernel", "gather"], ["--kernel", "weigh"], ["--memory", "device"],
                      ["--memory", "managed"], ["--memory", "host"], ["--memory", "pool"]):
            with self.subTest(words=words):
                run = self.capture(*words, options=("--launches", "1:1"))
                status, buffers = self.replay(run)
                self.assertEqual((status, len(buffers) > 0), (0, True))
                self.assertEqual([row["differing"] for row in buffers], [0] * len(buffers))

    def test_faults_of_captured_kernels_are_told_apart(self):
        half = self.replay(self.capture("--kernel", "half", options=("--launches", "1:1")))[1][0]
        self.assertEqual((half["mismatches"], half["outside_bytes"], half["varies"]), (0, 0, 0))
        self.assertGreaterEqual(half["untouched_bytes"], 4 * self.COUNT / 2)
        status, (vary,) = self.replay(self.capture("--kernel", "vary", options=("--launches", "1:1")))
        self.assertEqual((status, vary["outside_bytes"]), (3, 0))
        self.assertEqual(vary["varies"], self.COUNT)

    def test_a_launch_with_its_memory_before_and_after(self):
        run = self.capture(options=("--launches", "2:1"))
        bundle = self.bundle(run)
        self.assertEqual((bundle["function"], bundle["grid"], bundle["block"]),
                         ("replay_scale", [4, 1, 1], [256, 1, 1]))
        self.assertEqual([parameter[1] for parameter in bundle["parameters"]], [8, 4, 4])
        memory = self.memory(bundle, run.facts["in"])
        self.assertEqual((memory["kind"], memory["size"], memory["same"]), ("device", 4 * self.ROOM, False))
        # The first launch has doubled what the program wrote.
        self.assertEqual(memory["before"], [2 * i for i in range(self.COUNT)] + list(range(self.COUNT, self.ROOM)))
        self.assertEqual(memory["after"], [4 * i for i in range(self.COUNT)] + list(range(self.COUNT, self.ROOM)))
        self.assertEqual(bundle["pointers"], [[None, 0, bundle["memory"].index(memory), True]])
        self.assertEqual(bundle["missing"], [])
        self.assertEqual(bundle["image_bytes"], self.CUBIN.stat().st_size)
        self.assertEqual((bundle["priority"], bundle["nonblocking"]), (-1, True))
        self.assertEqual(bundle["job_ns"], run.recording.report("replayable")["captured"][0]["duration_ns"])
        rows = self.told(run)
        self.assertEqual([(row["number"], row["reason"]) for row in rows], [(2, "")])
        self.assertEqual(self.bundles(run)[0].name, f"{run.facts['pid']}-2-replay_scale")

    def test_it_writes_the_same_again_in_another_process(self):
        for kernel, status in (("scale", 0), ("gather", 0), ("weigh", 0), ("vary", 3)):
            with self.subTest(kernel):
                run = self.capture("--kernel", kernel)
                done = subprocess.run([GPUTRACE, "replay", "--json", "--runs", "10", run.recording.path],
                                      capture_output=True, text=True, env=environment(SMALL_CACHE), timeout=PATIENCE_S)
                self.assertEqual(done.returncode, status, done.stderr)
                times = json.loads(done.stdout)["times"][0]
                self.assertEqual(times["verdict"].startswith("outputs as recorded"), status == 0)
                # Times are read again in another clock, each rounded by itself.
                duration_ns = run.recording.report("replayable")["captured"][0]["duration_ns"]
                self.assertLessEqual(abs(times["job_ns"] - duration_ns), 1)

    def test_what_is_done_for_it_is_not_the_programs(self):
        run = self.capture(options=("--launches", "1:3", "--api", "all"))
        functions = run.recording.functions()
        for call, count in run.facts["calls"].items():
            if functions.get(call): # none where each was held up
                self.assertEqual(functions[call], count, call)
        for call in ("cuCtxPushCurrent", "cuMemcpyDtoH", "cuFuncGetAttribute", "cuMemGetAddressRange"):
            self.assertFalse([name for name in functions if name.startswith(call)], call)
        self.assertEqual(run.recording.tables["copies"], run.facts["calls"]["cuMemcpyHtoD"])
        self.assertEqual(run.recording.tables["kernels"], run.facts["launches"])
        self.assertEqual(run.recording.ledger["launches_missing"], 0)

    def test_pointers_in_memory_are_followed(self):
        run = self.capture("--kernel", "gather")
        bundle = self.bundle(run)
        table = self.memory(bundle, run.facts["in"])
        sums = self.memory(bundle, run.facts["out"])
        targets = [pointer[2] for pointer in bundle["pointers"] if pointer[0] == bundle["memory"].index(table)]
        self.assertTrue(table["pointers"])
        self.assertEqual(len(targets), self.ROWS)
        for number, target in enumerate(targets):
            row = bundle["memory"][target]
            self.assertEqual(row["before"], [number + i for i in range(self.ROOM)])
            self.assertTrue(row["same"])
        self.assertEqual(sums["after"][:self.COUNT], [sum(row + i for row in range(self.ROWS)) for i in range(self.COUNT)])
        self.assertFalse(sums["same"])

    def test_variables_of_the_module(self):
        bundle = self.bundle(self.capture("--kernel", "weigh", options=("--launches", "2:1")))
        weights = self.variable(bundle, "replay_weights")
        launches = self.variable(bundle, "replay_launches")
        self.assertEqual((weights["kind"], weights["before"], weights["same"]), ("variable", [1, 2, 3, 4], True))
        self.assertEqual((launches["size"], launches["same"]), (4, False))

    def test_kinds_of_memory(self):
        for kind in ("managed", "host", "pool"):
            with self.subTest(kind):
                run = self.capture("--memory", kind)
                memory = self.memory(self.bundle(run), run.facts["in"])
                self.assertEqual(memory["kind"], kind)
                self.assertEqual(memory["after"][:self.COUNT], [2 * i for i in range(self.COUNT)])

    def test_who_asked_for_memory(self):
        """A library that asks as soon as it is loaded is known; of what an allocator has it is not known for whom."""
        names = {None: ("app_replay", 0), "libcublas_fake.so": ("libcublas_fake.so", 4 * self.ROOM),
                 "libc10_cuda_fake.so": ("libc10_cuda_fake.so", -1)}
        for library, (name, bytes_) in names.items():
            with self.subTest(library):
                run = self.capture(*(["--library", BUILD / "fakes" / library] if library else []))
                self.assertEqual(self.memory(self.bundle(run), run.facts["in"])["name"], name)
                manifest = json.loads((self.bundles(run)[0] / "bundle.json").read_text())
                self.assertEqual(manifest["origin"]["workspace_bytes"], bytes_)
        run = self.capture("--kernel", "gather", "--memory", "managed", GPUTRACE_MEMORY="0")
        named = [memory["name"] for memory in self.bundle(run)["memory"] if memory["kind"] == "managed"]
        self.assertEqual(named, ["app_replay"] * (self.ROWS + 2))

    def test_ways_of_launching(self):
        for how in ("extra", "kernel"):
            with self.subTest(how):
                run = self.capture("--how", how)
                self.assertFalse(self.memory(self.bundle(run), run.facts["in"])["same"])
        bundle = self.bundle(self.capture("--how", "attributes"))
        self.assertEqual((bundle["cluster"], bundle["cooperative"], bundle["launch_priority"], bundle["shared_bytes"]),
                         ([2, 1, 1], True, -3, 128))

    def test_a_module_that_is_loaded_by_asking(self):
        run = self.capture(script="lazy=1")
        self.assertFalse(self.memory(self.bundle(run), run.facts["in"])["same"])
        self.assertEqual(len(run.recording.report("modules")["modules"]), 1)

    def test_of_modules_with_one_function_the_last_is_taken(self):
        """Which of them was launched is not known where the calls that bring them along do not say so."""
        images = []
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder, "other.cubin")
            bytes_ = bytearray(self.CUBIN.read_bytes())
            bytes_[15] ^= 1  # of the padding behind what says that it is an ELF file
            other.write_bytes(bytes_)
            for words in ([], ["--before", other], ["--before", self.CUBIN, "--cubin", other], ["--cubin", other]):
                run = self.capture(*words, options=("--launches", "1:1"), script="lazy=1")
                manifest = json.loads((self.bundles(run)[0] / "bundle.json").read_text())
                images.append(manifest["modules"][0]["image"]["hash"])
                self.assertEqual("2 modules that were loaded have a function" in str(manifest["missing"]),
                                 "--before" in words)
        self.assertEqual(images, [images[0], images[0], images[3], images[3]])
        self.assertNotEqual(images[0], images[3])

    def test_launches_that_become_nodes_are_refused_and_captured_as_nodes(self):
        run = self.capture("--how", "captured", options=("--launches", "1:1"))
        rows = self.told(run)
        becoming, nodes = [[row for row in rows if (row["number"] == 0) == is_becoming] for is_becoming in (True, False)]
        self.assertEqual(len(nodes), 1)
        self.assertEqual((nodes[0]["reason"], nodes[0]["node"], nodes[0]["steps"]), ("", "replay_scale", 1))
        for row in becoming:
            self.assertIn("captured into a CUDA graph", row["reason"])
        self.assertEqual(run.recording.tables["kernels"], run.facts["launches"])
        self.assertEqual([row["differing"] for row in self.replay(run)[1]], [0])

    def test_threads_that_launch_meanwhile(self):
        run = self.capture("--threads", 5, "--launches", 4, options=("--launches", "1:100"))
        self.assertEqual(len(self.bundles(run)), run.facts["launches"])
        self.assertEqual(sorted(row["number"] for row in self.told(run)), list(range(1, 25)))
        for folder in self.bundles(run):
            self.assertTrue((folder / "bundle.json").exists())

    def test_no_more_than_may_be_written(self):
        run = self.capture("--launches", 150, options=("--launches", "1:150", "--max-bytes", "1M"))
        rows = self.told(run)
        captured = [row for row in rows if row["bundle"]]
        self.assertLessEqual(sum(row["bytes"] for row in captured), 1 << 20)
        self.assertEqual(len(captured), len(self.bundles(run)))
        self.assertLess(0, len(captured))
        self.assertLess(len(captured), 150)
        for row in rows[len(captured):]:
            self.assertIn("--max-bytes", row["reason"])
        self.check_held(run, rows)

    def check_held(self, run, rows):
        """The note says for how long the program was held up in all, also for what was refused in the end."""
        (said,) = [int(found[1]) for found in map(re.compile(r"held the program up for (\d+) ms").search, run.recording.notes)
                   if found]
        self.assertGreaterEqual(said + 1, sum(row["end_ns"] - row["start_ns"] for row in rows) / 1e6)

    def test_memory_of_other_processes_is_refused(self):
        run = self.capture("--how", "ipc")
        self.assertEqual(self.bundles(run), [])
        self.assertIn("another process", self.told(run)[0]["reason"])

    def test_what_gets_nowhere_is_given_up(self):
        run = self.capture("--launches", 2, script="kernel_ns=600000000", GPUTRACE_LAUNCHES_PATIENCE="100ms")
        self.assertEqual(self.bundles(run), [])
        (row,) = self.told(run)
        self.assertEqual(row["reason"], "nothing got on for half a minute; no launches are captured any more")
        self.assertIn("launches are not captured any more: nothing got on", str(run.recording.notes))
        self.assertEqual(run.recording.tables["kernels"], 2)

    def test_only_what_is_chosen_is_captured(self):
        run = self.capture(chosen="gather")
        self.assertEqual((self.bundles(run), self.told(run)), ([], []))
        self.assertTrue([note for note in run.recording.notes if note.startswith("no launch was captured")])
