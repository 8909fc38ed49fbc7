# SPDX-License-Identifier: Apache-2.0
"""Calls of NVTX become the ranges, marks and counters that the program asked for.

Covers SOURCE(nvtx).
"""
import json
import pathlib
import subprocess
import tempfile
import unittest

from case import Case
from programs import BUILD, FAKES, PATIENCE_S, environment, find_injection, tool
from recordings import Recording


class Nvtx(Case):
    """Calls of NVTX by a program, with the real headers; tests/fakes/apps/telling/app_nvtx.c says how often it did."""

    def nvtx(self, *words, **keywords):
        return self.record(*words, program="app_nvtx", **keywords)

    def rows(self, run, table):
        return [row for row in run.recording.ranges() if row["table"] == table]

    def check_sent(self, run, calls=None, **others):
        expected = {"nvtx_calls": run.facts["calls"] if calls is None else calls, "nvtx_lost": 0, "ranges_torn": 0,
                    "ranges_unopened": 0, "nvtx_cut": 0, "strings_lost": 0, "records_lost": 0, "not_written": 0}
        expected.update(others)
        self.assertEqual({name: run.recording.ledger.get(name) for name in expected}, expected)

    def test_each_function(self):
        run = self.nvtx("basics")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run)
        ranges = {row["text"]: row for row in self.rows(run, "ranges")}
        self.assertEqual(set(ranges), {"narrow", "wide \U0001f600", "with attributes", "registered", "started narrow",
                                       "started wide", "wide \u20ac"})
        self.assertFalse(any(row["flags"] & 1 for row in self.rows(run, "ranges")))
        self.assertEqual(sorted(row["domain"] for row in self.rows(run, "ranges") if row["text"] == "registered"),
                         ["", "library"])
        self.assertEqual(ranges["wide \u20ac"]["category"], "3")
        self.assertEqual({row["name"] for row in self.rows(run, "domains")}, {"", "library", "Bibliothek \u00fc"})
        self.assertEqual([row["name"] for row in self.rows(run, "threads")], ["the main thread"])
        marks = {row["text"]: row for row in self.rows(run, "marks")}
        self.assertEqual({text: marks[text]["payload"] for text in ("uint64", "int64", "double", "uint32", "int32", "float")},
                         {"uint64": 2**64 - 1, "int64": 2**64 - 1, "double": 0x3ff8000000000000, "uint32": 7,
                          "int32": 2**32 - 7, "float": 0x3f000000})
        self.assertEqual(marks["mark narrow"]["range"], "wide \u20ac")

    @unittest.skipUnless((FAKES / "bin" / "app_nvtx_cpp").exists(), "no C++ compiler")
    @unittest.skipUnless((FAKES / "bin" / "app_nvtx_cpp").exists(), "no compiler of C++, or sanitizers")
    def test_from_cpp(self):
        run = self.record(program="app_nvtx_cpp")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run)
        ranges = self.rows(run, "ranges")
        self.assertEqual(sorted(row["text"] for row in ranges), ["moved to a thread", "outer", "registered", "work", "work"])
        inner = next(row for row in ranges if row["text"] == "registered")
        self.assertEqual((inner["domain"], inner["category"], inner["payload"], inner["color"], inner["parent"]),
                         ("library", "io", 42, 0xff010203, "outer"))

    def test_threads(self):
        run = self.nvtx("threads", 8, "loop", 10)
        self.check_sent(run, calls=2 * 8010)
        self.assertEqual(len(self.rows(run, "ranges")), 8010)
        self.assertEqual(len(self.rows(run, "threads")), 9)

    def test_deep_nesting(self):
        run = self.nvtx("deep", 100000)
        self.check_sent(run)
        self.assertEqual(max(row["depth"] for row in self.rows(run, "ranges")), 99999)

    def test_texts_that_never_come_again(self):
        """More than there is room for at one time; also where somebody else writes the last of them."""
        for end in ("exit", "kill"):
            with self.subTest(end):
                run = self.nvtx("cuda", "unique", 120000, "open", end)
                self.check_sent(run)
                texts = {row["text"] for row in self.rows(run, "ranges")}
                self.assertEqual(len(texts), 120000 + 2 + 3)
                self.assertIn("a text of its own for range number 119999", texts)
                self.assertEqual(set(run.recording.functions()) & {"cuLaunchKernel"}, {"cuLaunchKernel"})

    TENSOR = {"rank": 2, "shape": [3, 4, 0], "scale": 0.5, "layout": "columns", "kind": "float", "name": "on the stack",
              "label": "the label"}

    def test_payloads(self):
        """As they were when the program gave them, down to the texts that they point to."""
        run = self.nvtx("payloads")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run)
        pushed, started = self.rows(run, "ranges")
        self.assertEqual(pushed["text"], "the label")
        self.assertEqual(json.loads(pushed["data"]), [self.TENSOR, -5])
        self.assertEqual(json.loads(started["data"]),
                         [{"small": 200, "real": -1.25, "inner": {**self.TENSOR, "name": None}}, "0x0102ff"])
        together, one, last = self.rows(run, "marks")
        self.assertEqual(json.loads(last["data"]), [{"words": "at the end"}, {"text": "nothing else"}, {"words": None}])
        self.assertEqual(json.loads(together["data"]), [-5, 'a "text"', "0x0102ff"])
        self.assertEqual((one["text"], json.loads(one["data"])), ("with a payload", [-5]))

    def test_counters(self):
        run = self.nvtx("counters")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.recording.ledger["nvtx_calls"], run.facts["calls"])
        counters = {row["name"]: row for row in self.rows(run, "counters")}
        self.assertEqual(counters["queue"]["values"], [0, 1, 2, 3, 4, None])
        self.assertEqual(counters["queue"]["unit"], "requests")
        self.assertEqual(counters["memory.used"]["values"], [-3] * 5)
        self.assertEqual(counters["memory.share"]["values"], [0.25] * 5)

    def test_what_is_told_later_is_when_it_was(self):
        run = self.nvtx("later")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run)
        ranges = {}
        for row in self.rows(run, "ranges"):
            ranges.setdefault(row["text"], []).append(row)
        before, after = ranges["before"][0], ranges["after"][0]
        told = ranges["told range"]
        self.assertEqual([json.loads(row["data"])[0]["number"] for row in told], [7, 8, 9])
        for row in told:
            self.assertLess(row["start"], row["end"])
            self.assertGreater(row["start"], before["end"] - 1000)
            self.assertLess(row["end"], after["start"] + 1000)
            self.assertEqual((row["parent"], row["depth"], row["domain"]), ("", 0, "later"))
        marks = sorted(self.rows(run, "marks"), key=lambda row: row["start"])
        self.assertEqual([row["range"] for row in marks], ["", "after"])
        self.assertTrue(before["end"] - 1000 < marks[0]["start"] < after["start"] + 1000 < marks[1]["start"] + 1000)
        later, = [row for row in self.rows(run, "counters") if row["name"] == "later"]
        self.assertEqual(later["values"], [11, 22])
        self.assertTrue(before["end"] - 1000 < later["times"][0] < after["start"] + 1000)
        self.assertEqual(sum("clock that gputrace cannot convert" in note for note in run.recording.notes), 1)

    def test_domains_are_chosen(self):
        def domains(run, table="ranges"):
            return {row["domain"] for row in self.rows(run, table)}

        words = ("basics", "counters", "lock", "later")
        whole = self.nvtx(*words)
        self.assertEqual(domains(whole), {"", "library", "locks", "later"})
        run = self.nvtx(*words, options=("--nvtx-domains", "library,locks"))
        self.assertEqual((run.status, domains(run), domains(run, "marks")), (0, {"library", "locks"}, {"library", "locks"}))
        self.assertNotIn("queue", [row["name"] for row in self.rows(run, "counters")])
        self.assertEqual(run.facts["calls"], whole.facts["calls"])
        for key in ("nvtx_lost", "ranges_torn", "ranges_unopened"):
            self.assertEqual(run.recording.ledger[key], 0)
        run = self.nvtx(*words, options=("--no-nvtx-domains", "library,locks,default"))
        self.assertEqual(domains(run), {"later"})
        self.assertIn("queue", [row["name"] for row in self.rows(run, "counters")])
        run = self.nvtx(*words, options=("--nvtx-domains", "default"))
        self.assertEqual((domains(run), domains(run, "marks")), ({""}, {""}))
        self.assertIn("the domain is not enabled", self.nvtx("payloads", options=("--no-nvtx-domains", "payloads")).stderr)

    def test_memory_that_the_program_gives_out(self):
        run = self.nvtx("loop", 1, "memory")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run)
        rows = [(row["heap"], row["address"], row["bytes"], row["is_heap"], row["ended"], row["name"])
                for row in self.rows(run, "memory")]
        self.assertEqual(rows, [(-1, 0x10000, 4096, 1, 1, "the pool"), (0, 0x10000, 100, 0, 1, ""), (0, 0x10100, 500, 0, 1, "weights"),
                                (0, 0x10400, 300, 0, 1, ""), (-1, 0x90000, 7, 0, 0, "")])
        self.assertEqual({row["domain"] for row in self.rows(run, "memory")}, {"memory"})

    def test_locks_of_the_program_s_own(self):
        run = self.nvtx("lock")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run)
        ranges = sorted(self.rows(run, "ranges"), key=lambda row: row["start"])
        self.assertEqual([(row["text"], row["domain"], row["parent"]) for row in ranges],
                         [("around", "", ""), ("acquire the queue", "locks", "around"),
                          ("acquire the queue", "locks", "around"), ("acquire", "locks", "around")])
        mark, = self.rows(run, "marks")
        self.assertEqual((mark["text"], mark["domain"], mark["range"]), ("release the queue", "locks", "around"))

    def test_times_of_samples_are_those_of_ranges(self):
        run = self.nvtx("loop", 1, "counters", "loop", 1)
        before, after = sorted(self.rows(run, "ranges"), key=lambda row: row["start"])
        for counter in self.rows(run, "counters"):
            if counter["name"] in ("queue", "memory.used", "memory.share"):
                self.assertEqual(counter["times"], sorted(counter["times"]))
                self.assertLess(before["end"], counter["times"][0])
                self.assertLess(counter["times"][-1], after["start"])

    def test_what_is_no_proper_use(self):
        """Whatever the program passes, it goes on, and each call is in the recording."""
        run = self.nvtx("odd")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run, ranges_unopened=2)
        self.assertEqual([row["text"] for row in self.rows(run, "marks")],
                         ["\ufffd is no character", "bytes \ufffd\ufffd that are no UTF-8"])
        self.assertIn("unknown domain", {row["domain"] for row in self.rows(run, "ranges")})
        self.assertIn("5", {row["category"] for row in self.rows(run, "ranges")})

    def test_long_texts_are_cut(self):
        run = self.nvtx("long")
        self.check_sent(run, nvtx_cut=3)
        narrow, wide = sorted(self.rows(run, "ranges"), key=lambda row: row["start"])
        self.assertEqual(narrow["text"], ("abcdefghijklmnopqrstuvwxyz" * 1000)[:16000])
        self.assertEqual(wide["text"], "\u20ac" * 5333)

    def test_ranges_hold_what_cuda_does(self):
        run = self.nvtx("cuda")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run)
        self.check_ledger(run.recording, 3)
        launches = [row["range"] for row in self.rows(run, "calls") if row["function"] == "cuLaunchKernel"]
        self.assertEqual(launches, ["launch", "before CUDA", ""])
        self.assertEqual([row["name"] for row in self.rows(run, "devices")], ["the device"])
        self.assertEqual([row["name"] for row in self.rows(run, "contexts")], ["the context"])
        self.assertEqual({row["name"] for row in self.rows(run, "streams")}, {"the stream", "the default stream"})
        self.assertEqual([row["name"] for row in self.rows(run, "events")], ["the event"])

    def test_reports_and_filters_know_ranges(self):
        run = self.nvtx("cuda", "loop", 7)
        rows = {row["range"]: row for row in run.recording.report("ranges")["ranges"]}
        self.assertEqual({path: (row["ranges"], row["kernels"], row["open"]) for path, row in rows.items()},
                         {"before CUDA": (1, 2, 0), "before CUDA/launch": (1, 1, 0), "loop": (7, 0, 0)})
        self.assertGreater(rows["before CUDA"]["wall_ns"], rows["before CUDA/launch"]["wall_ns"])
        kernels = {row["range"]: row["calls"] for row in json.loads(tool(
            "report", "--json", run.recording.path, "kernels", "--by", "range"))["kernels"]}
        self.assertEqual(kernels, {"before CUDA/launch": 1, "before CUDA": 1, "(in no range)": 1})
        for word, count in (("before CUDA", 2), ("launch", 1), ("la.nch$", 1)):
            chosen = json.loads(tool("report", "--json", run.recording.path, "--range", word))["recording"][0]
            self.assertEqual(chosen["kernels"], count, word)
        path = f"{self.folder}/ranges.perfetto"
        said, = json.loads(tool("export", run.recording.path, "--json", "-o", path))["exported"]
        # two ranges and the loop's on the thread, the outer one above two streams, the inner one above one
        self.assertEqual((said["range_slices"], said["skipped"]), (2 + 7 + 3, 0))

    def test_several_copies_of_nvtx(self):
        run = self.nvtx("loop", 2, "load", FAKES / "nvtx_library.so", "loop", 1)
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run)
        self.assertEqual({row["name"] for row in self.rows(run, "domains")}, {"", "loaded"})

    def test_the_end_in_the_middle_of_ranges(self):
        """However the process ends, what is open is open in the recording."""
        for end in ("return", "exit", "_exit", "abort", "kill", "exec"):
            with self.subTest(end):
                run = self.nvtx("loop", 5, "open", end)
                self.check_sent(run, calls=10 + 4 + (6 if end == "exec" else 0))
                ranges = self.rows(run, "ranges")
                self.assertEqual({row["text"]: row["flags"] & 1 for row in ranges},
                                 {"loop": 0, "closed": 0, "open": 1, "started": 1})

    def test_the_child_of_a_fork(self):
        """It is only counted as long as it starts no CUDA; its parent goes on."""
        for word in "fork", "clone":
            with self.subTest(word):
                run = self.nvtx(word, "loop", 1)
                self.check_sent(run, processes_unrecorded=1, calls_unrecorded=3)
                self.assertEqual(run.recording.tables["processes"], 2)

    def test_the_child_of_a_clone_that_starts_cuda(self):
        """Nothing in it knows that it is a child, until it calls: it is counted, not recorded."""
        run = self.nvtx("clone-cuda")
        self.check_sent(run, processes_unrecorded=1, calls_unrecorded=7)
        self.assertEqual(run.recording.tables["processes"], 2)

    def test_the_child_of_a_fork_that_leaves_a_note(self):
        """There is no session that it could be written to."""
        run = self.nvtx("counters", "fork", "loop", 1)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.recording.tables["processes"], 2)
        note, = run.recording.notes
        self.assertIn("and called CUDA or NVTX itself", note)

    def test_the_child_of_a_fork_that_starts_cuda(self):
        """As without NVTX: CUDA starts in it for the first time, and it is recorded."""
        if "san" in BUILD.name:
            self.skipTest("a sanitizer of clang 14 keeps its allocator locked in a child forked while a thread starts")
        run = self.nvtx("counters", "child-cuda")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.recording.tables["processes"], 2)
        self.check_ledger(run.recording, 3, calls_unrecorded=2)
        pids = {row["text"]: row["pid"] for row in self.rows(run, "ranges")}
        self.assertNotEqual(pids["in the child"], pids["around the fork"])
        # It was left before there was a session to write it.
        self.assertIn("a counter of NVTX without numbers is not recorded", run.recording.notes)
        self.assertTrue(any(note.endswith("called NVTX before it started CUDA: 2 calls are only counted")
                            for note in run.recording.notes), run.recording.notes)

    def test_a_child_without_a_session_is_not_clean(self):
        """Forked after CUDA had started, it calls NVTX alone: a push and a pop with a mark or so between them."""
        for word in "fork", "clone":
            with self.subTest(word):
                run = self.nvtx("cuda", word)
                self.assertEqual(run.status, 0, run.stderr)
                self.assertEqual(run.recording.ledger["processes_unrecorded"], 1)
                self.assertGreaterEqual(run.recording.ledger["calls_unrecorded"], 2)
                self.assertIn("and called CUDA or NVTX itself", run.stderr.splitlines()[-1])

    def test_a_preloaded_function_that_gputrace_calls_pushes_a_range(self):
        if "san" in BUILD.name:
            self.skipTest("a sanitizer puts its own functions before the system's")
        note = ("a library called NVTX or gputrace.h for the first time while gputrace began, which called that library: "
                "what it tells is not recorded")
        for function in "pthread_create", "mkdir":
            with self.subTest(function):
                run = self.record("--launches", 10, LD_PRELOAD=str(FAKES / "nvtx_preload.so"), NVTX_PRELOAD=function,
                                  options=("--telemetry", "off"))
                self.assertEqual(run.status, 0, run.stderr)
                self.check_ledger(run.recording, 10)
                self.assertEqual(self.rows(run, "ranges"), [])
                self.assertEqual(run.recording.notes, [note])

    def test_by_environment_alone(self):
        """Either variable will do; with CUDA's alone ranges are seen from CUDA's start on, by who comes then."""
        for name, launches, calls, noted in (("NVTX_INJECTION64_PATH", 0, 14, False),
                                             ("CUDA_INJECTION64_PATH", 3, 5, True)):
            with self.subTest(name):
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                done = subprocess.run([FAKES / "bin" / "app_nvtx", "cuda", "load", FAKES / "nvtx_library.so"],
                                      env=environment(**{name: str(find_injection())}), cwd=folder,
                                      capture_output=True, timeout=PATIENCE_S, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                recording = Recording(folder / "app_nvtx.gputrace")
                self.assertEqual(any(note.startswith("the program had called NVTX when CUDA started") for note in recording.notes), noted)
                self.assertEqual(recording.ledger["launches"], launches)
                self.assertEqual(recording.ledger["nvtx_calls"], calls)

    def check_other(self, how, *words, **keywords):
        out = pathlib.Path(self.folder, f"other-{how}.json")
        run = self.nvtx(*words, NVTX_INJECTION64_PATH=str(FAKES / "nvtx_other.so"), NVTX_OTHER=how,
                        NVTX_OTHER_OUT=str(out), **keywords)
        self.assertEqual(run.status, 0, run.stderr)
        return run, json.loads(out.read_text())

    def test_another_library_hears_of_all_calls(self):
        alone, said_alone = self.check_other("hear", "basics", "loop", 3, recorded=False)
        for how in ("hear", "later"):
            with self.subTest(how):
                run, said = self.check_other(how, "loop", 1, "basics", "loop", 2)
                self.check_sent(run)
                self.assertEqual(said, said_alone)
                self.assertEqual(alone.facts, run.facts)
        run, said = self.check_other("hear", "basics", "loop", 3, options=("--no-nvtx",))
        self.assertEqual(said, said_alone)
        self.assertIn("nothing", run.stderr)

    def test_another_library_that_does_not_want_to(self):
        run, said = self.check_other("refuse", "basics")
        self.check_sent(run)
        self.assertEqual(said, {"asked": 1, "heard": 0, "wrong": 0})
        self.assertTrue(any("could not be used" in note for note in run.recording.notes))
        run, said = self.check_other("none", "basics")
        self.check_sent(run)
        self.assertEqual(run.recording.notes, [])

    def test_another_library_that_is_none(self):
        for path in ("/no/such/library.so", str(find_injection()), ""):
            run = self.nvtx("basics", NVTX_INJECTION64_PATH=path)
            self.check_sent(run)

    def test_not_wanted(self):
        run = self.nvtx("basics", "cuda", options=("--no-nvtx",))
        self.assertEqual(run.recording.ledger["nvtx_calls"], 0)
        self.check_ledger(run.recording, 3)

    def test_levels(self):
        run = self.nvtx("levels")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_sent(run, ranges_unopened=1)
