#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gputrace import of files that are made here: import_test.py GPUTRACE [FLIPS]

The contents of the files are known (world.py), and each figure is worked out from that, not read from the file. FLIPS: damaged files of each
format.
"""
import gzip
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import kineto  # noqa: E402
import nsys  # noqa: E402
import world  # noqa: E402

GPUTRACE = os.path.realpath(sys.argv.pop(1))
FLIPS = int(sys.argv.pop(1)) if sys.argv[1:] and sys.argv[1].isdigit() else 30
CUTS = 20
SLOW = 60  # seconds that one command may take, with sanitizers


def run(*words, cwd):
    return subprocess.run([GPUTRACE, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=SLOW, check=False)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def gputrace(self, *words):
        result = run(*words, cwd=self.folder)
        self.assertEqual(result.returncode, 0, (words, result.stderr))
        return result.stdout

    def write(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def bring(self, name, *words):
        """Imports as x.gputrace and returns what was said."""
        result = run("import", name, "-f", "-o", "x", *words, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.left_over(), [])
        return result.stderr

    def left_over(self):
        return [path.name for path in self.folder.rglob("*") if ".partial" in path.name or ".old-" in path.name]

    def refuse(self, name, *words, status=1):
        """One sentence, and nothing left behind."""
        before = sorted(self.folder.rglob("*"))
        result = run("import", name, *words, cwd=self.folder)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertRegex(result.stderr, r"\Agputrace: [^\n]+\n\Z")
        self.assertEqual(sorted(self.folder.rglob("*")), before)
        return result.stderr

    def report(self, name, *words):
        return json.loads(self.gputrace("report", "x", name, "--json", "--limit", "1000000", *words))

    def info(self):
        return json.loads(self.gputrace("info", "x", "--json"))

    def notes(self):
        return " | ".join(row["text"] for row in self.info()["notes"])

    def seen(self, figures):
        """The same figures as world.figures, as reports have them."""
        rows = {row["table"]: row["rows"] for row in self.info()["tables"]}
        kernels, copies, gaps = self.report("kernels"), self.report("copies"), self.report("gaps")
        ranges = {row["range"]: row for row in self.report("ranges", "--set", "fold=no")["ranges"]}
        ops = self.report("ops")["ops"]
        copied = {}
        for row in copies["copies"]:
            copied[row["kind"]] = copied.get(row["kind"], 0) + row["bytes"]
        measured = [row for name, row in ranges.items() if name == "measured" or name.endswith("/measured")]
        return {
            "rows": {table: rows[table] for table in figures["rows"]},
            "kernel_ns": sum(row["total_ns"] for row in kernels["kernels"]),
            "kernel_calls": sorted(row["calls"] for row in kernels["kernels"]),
            "shapes": sorted(row["calls"] for row in kernels["launch_shapes"]),
            "copied": sorted(copied.items()),
            "filled": sum(row["bytes"] for row in copies["fills"]),
            "busy_ns": [row["busy_ns"] for row in sorted(gaps["devices"], key=lambda row: row["device"])],
            "gap_ns": [row["gap_ns"] for row in sorted(gaps["devices"], key=lambda row: row["device"])],
            "calls": sorted((row["function"], row["calls"], row["total_ns"]) for row in self.report("api")["functions"]),
            "measured": (sum(row["ranges"] for row in measured), sum(row["wall_ns"] for row in measured)),
            "op_calls": sorted(sums(ops, "calls").items()),
            "op_own_ns": sorted((op, value) for op, value in sums(ops, "own_ns").items() if value),
            "waited_ns": sum(row["total_ns"] for row in self.report("waits")["waits"] if row["host_waits"] == "yes"),
        }

    def expect(self, made):
        figures = world.figures(made)
        self.assertEqual(self.seen(figures), {**figures, "op_own_ns": [pair for pair in figures["op_own_ns"] if pair[1]]})


def sums(rows, column):
    total = {}
    for row in rows:
        total[row["op"]] = total.get(row["op"], 0) + row[column]
    return total


class Kineto(Case):
    def test_figures_are_those_of_the_world(self):
        for number, (name, (write, step)) in enumerate(kineto.VARIANTS.items()):
            with self.subTest(name):
                made = world.World(number, step=step)
                if name == "old_words":
                    made.waits = []  # there were none then, but for the calls themselves
                said = self.bring(self.write("t.json.gz" if name == "gzipped" else "t.json", write(made)))
                self.assertNotIn("not complete", said)
                if name == "old_words":
                    made.waits = [call for call in made.calls if "Synchronize" in call.name]
                self.expect(made)

    def test_places_and_facts(self):
        made = world.World(1)
        self.bring(self.write("t.json", kineto.base_after(made)))
        info = self.info()
        self.assertEqual([(row["pid"], row["name"], row["ended"]) for row in info["processes"]],
                         [(1000, "python3", "imported; its end is not known")])
        self.assertEqual({(row["name"], row["compute_capability"], row["sm_count"]) for row in info["devices"]}, {("NVIDIA H200", "9.0", 132)})
        self.assertIsNone(info["recording"][0]["clock_bound_ns"])
        self.assertIn("rank 3 of 8", self.notes())
        self.assertIn("trainer (1000)", json.dumps(self.report("waits")))
        shapes = self.report("kernels")["launch_shapes"]
        self.assertEqual({(row["grid"], row["block"], row["registers"]) for row in shapes},
                         {("x".join(map(str, grid)), "x".join(map(str, block)), registers) for _, grid, block, registers, _ in world.KERNELS})
        # 96 registers for each of 128 threads: 12,288, of which 65,536 hold 5 blocks of 4 warps of 64 that fit.
        self.assertEqual([row["occupancy_percent"] for row in shapes if row["kernel"] == "gemm_kernel"], [100 * 5 * 4 / 64])

    def test_the_ledger_claims_nothing(self):
        self.bring(self.write("t.json", kineto.base_after(world.World(1))))
        said = self.gputrace("report", "x", "kernels")
        self.assertNotIn("nothing is missing", said)
        self.assertRegex(" ".join(said.split()), "imported from another profiler's file, which does not say what it lost")
        self.assertNotIn("complete", self.report("summary")["recording"][0]["ledger"].replace("incomplete", ""))
        self.assertEqual(run("report", "x", "--strict", "kernels", cwd=self.folder).returncode, 3)
        self.assertNotIn("launches_refused", [row["class"] for row in self.info()["ledger"]])
        self.assertIn("imported does not say", " ".join(self.gputrace("report", "x", "memory").split()))

    def test_the_base_dates_it_wherever_it_stands(self):
        made = world.World(1)
        self.gputrace("import", self.write("t.json", kineto.base_after(made)), "-o", "a", "-q")
        self.gputrace("import", self.write("t.json", kineto.base_before(made)), "-o", "b", "-q")
        dates = []
        for name in "ab":
            self.gputrace("export", name, "-q", "-o", name + ".sqlite")
            rows = sqlite3.connect(self.folder / (name + ".sqlite")).execute("select realtime_ns from clocks order by 1").fetchall()
            dates.append([time for time, in rows])
        ends = [row.start for row in made.ranges + made.calls] + [row.end for row in made.kernels + made.ranges + made.copies + made.fills]
        self.assertEqual(dates[0], [kineto.BASE + min(ends), kineto.BASE + max(ends)])
        self.assertEqual(dates[0], dates[1])

    def test_steps_repeat(self):
        made = world.World(3, steps=6)
        made.ranges = [row._replace(name=f"ProfilerStep#{number}") if row.name == "measured" else row for number, row in enumerate(made.ranges)]
        self.bring(self.write("t.json", kineto.base_after(made)))
        self.assertEqual([(row["range"], row["steps"]) for row in self.report("steps")["steps"]], [("ProfilerStep", 6)])

    def test_what_overlaps_is_a_range_all_the_same(self):
        made = world.World(4, steps=1)
        one = made.ranges[-1]
        made.ranges = [one._replace(name=name, start=start, end=end) for name, start, end in
                       (("a", 1000, 5000), ("b", 3000, 9000), ("c", 3000, 3000), ("d", 5000, 5000), ("d", 5000, 5000), ("e", 5000, 9000))]
        self.bring(self.write("t.json", kineto.base_after(made)))
        rows = self.report("ranges")["ranges"]
        self.assertEqual({row["open"] for row in rows}, {0})
        total = {}
        for row in rows:
            total[row["range"].split("/")[-1]] = total.get(row["range"].split("/")[-1], 0) + row["wall_ns"]
        self.assertEqual(total, {"a": 4000, "b": 6000, "c": 0, "d": 0, "e": 4000})
        self.assertEqual([row["count"] for row in self.info()["ledger"] if row["class"] in ("ranges_torn", "ranges_unopened")], [0, 0])

    def test_what_is_left_out_is_said(self):
        made = world.World(1)
        extra = [{"ph": "X", "cat": "python_function", "name": "f", "pid": 1000, "tid": 1000, "ts": 1, "dur": 2, "args": {}}] * 3
        self.assertIn("3 events of category python_function are not imported", self.bring(self.write(
            "t.json", kineto.text([("traceEvents", kineto.events(made) + extra)]))))
        made.kernels = []
        self.assertIn("no kernels in this file", self.bring(self.write("t.json", kineto.base_after(made))))

    def test_merged_ranks_are_refused(self):
        made = world.World(1, processes=2)
        self.assertIn("several processes", self.refuse(self.write("t.json", kineto.base_after(made))))

    def test_every_cut_keeps_what_stands_before_it(self):
        whole = kineto.base_after(world.World(5))
        for part in range(CUTS):
            cut = whole[:len(whole) * part // CUTS]
            name = self.write("t.json", cut)
            events = [json.loads(line.strip(b" ,")) for line in cut.split(b"\n") if line.startswith(b'{"ph"') and line.endswith((b"},", b"}"))]
            kernels = sum(event.get("cat") == "kernel" for event in events)
            if not events:
                self.refuse(name)
                continue
            with self.subTest(part):
                self.assertIn("t.json is not complete: it ends early", self.bring(name))
                self.assertEqual([row["rows"] for row in self.info()["tables"] if row["table"] == "kernels"], [kernels])
                self.assertIn("it ends early", self.notes())
                self.assertIn("cut short", self.gputrace("report", "x", "kernels"))

    def test_every_cut_of_a_packed_file(self):
        whole = kineto.gzipped(world.World(5))
        for part in range(CUTS):
            with self.subTest(part):
                self.try_damaged("t.json.gz", whole[:len(whole) * part // CUTS])

    def try_damaged(self, name, content):
        """Whatever the bytes are: a recording that reads, or one sentence and nothing."""
        self.write(name, content)
        result = run("import", name, "-f", "-o", "x", cwd=self.folder)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual(self.left_over(), [])
        if result.returncode == 1:
            self.assertRegex(result.stderr, r"\Agputrace: [^\n]+\n\Z")
        else:
            self.gputrace("report", "x")
            self.gputrace("info", "x")

    def test_damage(self):
        numbers = random.Random(7)
        for write in (kineto.careless, kineto.gzipped):
            whole = write(world.World(6, steps=2))
            for _ in range(FLIPS):
                damaged = bytearray(whole)
                for _ in range(numbers.choice([1, 3, 30])):
                    damaged[numbers.randrange(len(damaged))] = numbers.randrange(256)
                self.try_damaged("t.json", bytes(damaged))

    def test_what_is_no_trace(self):
        self.assertIn("is empty", self.refuse(self.write("t.json", b"")))
        self.assertIn("folder", self.refuse("."))
        self.assertIn("No such file", self.refuse("absent.json"))
        self.assertIn("JSON without traceEvents", self.refuse(self.write("t.json", b'{"a": [1, {"b": null}]}')))
        self.assertIn("nothing to import", self.refuse(self.write("t.json", b'{"traceEvents": []}')))
        self.assertIn("nothing to import", self.refuse(self.write("t.json", b'[{"a": 1}, 2, "x"]')))
        self.assertIn("nothing to import", self.refuse(self.write("t.json", b'{"traceEvents": [{"ph": "X", "cat": "other", "ts": 1, "dur": 1}]}')))
        self.assertIn("no trace of torch.profiler", self.refuse(self.write("t.json", b'{"traceEvents"')))
        self.assertIn("too deep", self.refuse(self.write("t.json", b'{"x": ' + b"[" * 100000)))
        self.assertIn("neither", self.refuse(self.write("t.json", b"no JSON")))
        self.assertIn("no trace", self.refuse(self.write("t.json.gz", gzip.compress(b"no JSON"))))
        self.refuse(self.write("t.json", b'{"traceEvents": [' + b'{"ph":"X","cat":"kernel","name":"' + b"x" * 300000))

    def test_a_name_of_a_megabyte_and_numbers_out_of_range(self):
        event = {"ph": "X", "cat": "kernel", "name": "k" * (1 << 20), "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"stream": 7, "context": 1}}
        far = [dict(event, name="far", ts=10 ** 300), dict(event, name="late", ts=1e25), dict(event, name="back", dur=-4),
               dict(event, name="wide", args={"stream": 1 << 80, "grid": [1, 2, 3, 4, "x"], "block": {}, "correlation": "none"})]
        self.bring(self.write("t.json", json.dumps({"traceEvents": [event, *far]}).encode()))
        self.assertEqual([row["rows"] for row in self.info()["tables"] if row["table"] == "kernels"], [5])
        self.assertEqual(sum(row["total_ns"] or 0 for row in self.report("kernels")["kernels"]), 10000)

    def test_memory_does_not_grow_with_the_file(self):
        """Events that become nothing: 60 MB of them and 6 MB of them take the same."""
        peaks = []
        for count in (40_000, 400_000):
            line = b'{"ph": "X", "cat": "python_function", "name": "f", "pid": 1, "tid": 1, "ts": 1.25, "dur": 2, "args": {"Python id": 7, "x": "' + b"y" * 40 + b'"}},\n'
            last = b'{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {}}'
            self.write("t.json", b'{"traceEvents": [' + line * count + last + b"]}")
            result = subprocess.run([sys.executable, "-c", "import resource, subprocess, sys; "
                                     "subprocess.run(sys.argv[1:], check=True); "
                                     "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                                     GPUTRACE, "import", "-q", "-f", "-o", "x", "t.json"],
                                    cwd=self.folder, capture_output=True, text=True, timeout=2 * SLOW, check=True)
            peaks.append(int(result.stdout))
        self.assertLess(peaks[1], peaks[0] + 8192, peaks)


class Nsys(Case):
    def bring_world(self, made, *arguments, **named):
        nsys.write(made, self.folder / "t.sqlite", *arguments, **named)
        return self.bring("t.sqlite")

    def test_figures_are_those_of_the_world_in_every_schema(self):
        for number, schema in enumerate(nsys.SCHEMAS):
            with self.subTest(schema):
                made = world.World(100 + number, processes=1 + number % 2)
                said = self.bring_world(made, schema)
                self.assertNotIn("newer", said)
                self.expect(made)

    def test_places_and_facts(self):
        made = world.World(9, processes=2)
        self.bring_world(made)
        info = self.info()
        self.assertEqual([(row["pid"], row["name"]) for row in info["processes"]], [(1000, "python3"), (1010, "python3")])
        self.assertEqual(sorted((row["ordinal"], row["name"], row["pci"]) for row in info["devices"]),
                         [(0, "NVIDIA H200", "0000:00:00.0"), (1, "NVIDIA H200", "0000:01:00.0")])
        marks = [row["rows"] for row in info["tables"] if row["table"] in ("marks", "domains")]
        self.assertEqual(marks[1], 1)
        self.assertIn("node7", {path.name.split("-")[0] for path in (self.folder / "x.gputrace").glob("*.capture")})

    def test_of_the_environment_only_known_names_are_kept(self):
        self.bring_world(world.World(9))
        self.assertEqual({row["name"]: row["value"] for row in self.info()["environment"]}, nsys.KEPT)
        self.gputrace("export", "x", "-q", "-o", "all.sqlite")
        self.assertNotIn(nsys.SECRET.encode(), (self.folder / "all.sqlite").read_bytes())
        for path in (self.folder / "x.gputrace").iterdir():
            self.assertNotIn(nsys.SECRET.encode(), path.read_bytes())

    def test_any_table_and_column_may_be_missing(self):
        made = world.World(10)
        for table in nsys.TABLES:
            if table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"):
                continue
            with self.subTest(table):
                self.bring_world(made, without=[table])
                self.assertEqual([row["rows"] for row in self.info()["tables"] if row["table"] == "kernels"], [len(made.kernels)])
        optional = {column for columns in nsys.TABLES.values() for column in columns.split(", ")} - {"start", "end", "id integer not null primary key", "value text not null", "value", "name"}
        for column in sorted(optional):
            with self.subTest(column):
                self.bring_world(made, without=[column])
                self.assertEqual(sum(row["total_ns"] for row in self.report("kernels")["kernels"]),
                                 sum(row.end - row.start for row in made.kernels))

    def test_rows_of_nobody_are_counted_once(self):
        made = world.World(11, processes=2)
        self.bring_world(made, without=["globalPid"])
        rows = {row["table"]: row["rows"] for row in self.info()["tables"]}
        self.assertEqual((rows["kernels"], rows["api_calls"], rows["processes"]), (len(made.kernels), len(made.calls), 2))

    def test_no_kernels(self):
        made = world.World(12)
        self.assertIn("no kernels in this file", self.bring_world(made, without=["CUPTI_ACTIVITY_KIND_KERNEL"]))
        self.assertIn("no kernels in this file", self.notes())
        nsys.write(made, self.folder / "t.sqlite", without=[table for table in nsys.TABLES if table.startswith(("CUPTI", "NVTX"))])
        self.assertIn("no kernels in this file", self.refuse("t.sqlite"))

    def test_whole_graphs(self):
        made = world.World(13)
        made.add_graph()
        made.kernels = []
        said = self.bring_world(made)
        self.assertIn("as launches of CUDA graphs were recorded as a whole", said)
        self.expect(made)

    def test_no_calls(self):
        self.bring_world(world.World(14), without=["CUPTI_ACTIVITY_KIND_RUNTIME"])
        said = " ".join(self.gputrace("report", "x", "kernels").split())
        self.assertIn("launches are not in the file", said)
        self.assertNotIn("--api none)", said)
        self.assertNotIn("launches", [row["class"] for row in self.info()["ledger"]])

    def test_a_newer_schema_is_said(self):
        made = world.World(15)
        self.assertIn("has schema 3.26.1, which is newer", self.bring_world(made, "3.26.1"))
        self.expect(made)

    def test_migrations_are_no_copies(self):
        made = world.World(16)
        nsys.write(made, self.folder / "t.sqlite")
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            database.execute("update CUPTI_ACTIVITY_KIND_MEMCPY set copyKind = 11, virtualAddress = 4096 where rowid = 1")
        self.bring("t.sqlite")
        rows = {row["table"]: row["rows"] for row in self.info()["tables"]}
        self.assertEqual((rows["copies"], rows["unified_events"]), (len(made.copies) - 1, 1))

    def test_every_cut(self):
        made = world.World(17)
        nsys.write(made, self.folder / "whole.sqlite")
        whole = (self.folder / "whole.sqlite").read_bytes()
        for part in range(CUTS):
            with self.subTest(part):
                Kineto.try_damaged(self, "t.sqlite", whole[:len(whole) * part // CUTS])

    def test_damage(self):
        nsys.write(world.World(18, steps=2), self.folder / "whole.sqlite")
        whole = (self.folder / "whole.sqlite").read_bytes()
        numbers = random.Random(8)
        for _ in range(FLIPS):
            damaged = bytearray(whole)
            for _ in range(numbers.choice([1, 3, 30, 300])):
                damaged[numbers.randrange(100, len(damaged))] = numbers.randrange(256)
            Kineto.try_damaged(self, "t.sqlite", bytes(damaged))

    def test_what_is_no_export(self):
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            database.execute("create table other (a)")
        self.assertIn("none of nsys export", self.refuse("t.sqlite"))
        self.write("t.sqlite", b"SQLite format 3\0" + b"x" * 5000)
        self.refuse("t.sqlite")

    def test_views_are_no_tables(self):
        nsys.write(world.World(19), self.folder / "t.sqlite", without=["NVTX_EVENTS"])
        with sqlite3.connect(self.folder / "t.sqlite") as database:
            database.execute("create view NVTX_EVENTS as with recursive n(start) as (select 1 union all select start + 1 from n) "
                             "select start, start + 1 as end, 59 as eventType, 'x' as text, 0 as globalTid from n")
        self.bring("t.sqlite")
        self.assertEqual([row["rows"] for row in self.info()["tables"] if row["table"] == "ranges"], [0])

    def test_odd_names_of_files(self):
        nsys.write(world.World(20), self.folder / "a?b#c%41.sqlite")
        self.bring("a?b#c%41.sqlite")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a?b#c%41.sqlite", "x.gputrace"])


class Output(Case):
    def setUp(self):
        super().setUp()
        self.write("run.pt.trace.json", kineto.base_after(world.World(21, steps=1)))

    def test_the_name_comes_from_the_file(self):
        self.gputrace("import", "run.pt.trace.json", "-q")
        self.assertTrue((self.folder / "run.gputrace" / "manifest.json").exists())
        (self.folder / "results").mkdir()
        self.gputrace("import", "run.pt.trace.json", "-q", "-o", "results/")
        self.gputrace("import", "run.pt.trace.json", "-q", "-o", "results/other.gputrace")
        self.assertEqual(sorted(path.name for path in (self.folder / "results").iterdir()), ["other.gputrace", "run.gputrace"])

    def test_an_existing_recording_stays(self):
        self.gputrace("import", "run.pt.trace.json", "-q")
        before = {path: path.read_bytes() for path in (self.folder / "run.gputrace").iterdir()}
        self.assertIn("--force", self.refuse("run.pt.trace.json"))
        self.write("bad.json", b"{}")
        self.refuse("bad.json", "-f", "-o", "run")
        self.assertEqual({path: path.read_bytes() for path in (self.folder / "run.gputrace").iterdir()}, before)
        self.gputrace("import", "run.pt.trace.json", "-q", "-f")
        self.assertEqual(len(list(self.folder.glob("*.gputrace"))), 1)

    def test_a_folder_that_is_no_recording_stays(self):
        (self.folder / "run.gputrace").mkdir()
        (self.folder / "run.gputrace" / "precious").write_text("x")
        self.refuse("run.pt.trace.json", "-f")

    def test_quiet_says_nothing(self):
        result = run("import", "run.pt.trace.json", "-q", cwd=self.folder)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_what_was_imported_is_said(self):
        made = world.World(21, steps=1)
        said = run("import", "run.pt.trace.json", cwd=self.folder).stderr
        self.assertRegex(said, rf"wrote run\.gputrace, from torch\.profiler: {len(made.kernels)} kernels, 1 copy, 1 fill, "
                               rf"{len(made.calls)} API calls, {len(made.ranges)} ranges")

    def test_other_commands_point_to_import(self):
        said = run("report", "run.pt.trace.json", cwd=self.folder).stderr
        self.assertIn("gputrace import run.pt.trace.json", said)

    def test_all_reports_and_exports_read_it(self):
        self.gputrace("import", "run.pt.trace.json", "-q")
        names = re.findall(r"^  ([a-z-]+)  ", self.gputrace("report", "--list"), re.MULTILINE)
        self.assertGreater(len(names), 20)
        for name in names:
            self.gputrace("report", "run", name)
        for form in ("perfetto", "chrome", "sqlite"):
            self.gputrace("export", "run", "-q", "-f", "-t", form)


if __name__ == "__main__":
    unittest.main()
