# SPDX-License-Identifier: Apache-2.0
"""Options of gputrace run, of the commands that read a recording, and of scripts/check-expect."""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from case import Case
from programs import GPUTRACE, PATIENCE_S, SECOND, SOURCE, environment, tool
from recordings import Run


class Options(Case):
    def test_api_none(self):
        run = self.record("--launches", 20, options=("--api", "none"))
        self.check_kernels(run)
        self.assertEqual(run.recording.tables["api_calls"], 0)

    def test_api_all(self):
        run = self.record("--launches", 20, options=("--api", "all"))
        self.check_kernels(run)
        functions = run.recording.functions()
        self.assertEqual((functions["cudaLaunchKernel"], functions["cuLaunchKernel"]), (20, 20))
        self.check_ledger(run.recording, 20)

    def test_api_outer(self):
        run = self.record("--launches", 20, options=("--api", "outer"))
        self.check_kernels(run)
        functions = run.recording.functions()
        self.assertEqual(functions["cudaLaunchKernel"], 20)
        self.assertNotIn("cuLaunchKernel", functions)
        self.check_order(run.recording)
        self.check_ledger(run.recording, 20)

    def test_the_trace_says_what_machine_it_was(self):
        run = self.record("--launches", 3, options=("--no-export",))
        trace = run.stem.with_suffix(".plain")
        tool("export", run.recording.path, "--format", "perfetto", "--uncompressed", "-q", "-o", trace)
        machine = os.uname()
        for fact in machine.sysname, machine.release, machine.machine, machine.nodename:
            self.assertIn(fact.encode(), trace.read_bytes())

    def test_no_export(self):
        run = self.record("--launches", 3, options=("--no-export",))
        self.check_kernels(run)
        self.assertFalse(run.stem.with_suffix(".perfetto").exists())

    def test_quiet(self):
        run = self.record("--launches", 3, options=("--quiet",))
        self.check_kernels(run)
        self.assertEqual(run.stderr, "")

    def test_verbose(self):
        """Every process says in one line whether it is recorded; without it none says anything."""
        run = self.record("--launches", 3, options=("--verbose", "--quiet"))
        line, = run.stderr.splitlines()
        self.assertIn("recording into", line)
        self.assertIn(str(run.stem.resolve()), line)
        run = self.record("--launches", 3, options=("--verbose", "--quiet"), script="init_fail=1")
        self.assertRegex(run.stderr.splitlines()[0], "not recording: .*NOT_INITIALIZED")

    def test_flush_interval(self):
        """Between two flushes nothing is known: of a program killed meanwhile no kernel has times."""
        for interval, unfinished in (("10ms", 0), ("1h", 30)):
            with self.subTest(interval):
                run = self.record("--launches", 30, "--sleep-ms", 500, "--end", "kill",
                                  script="late=1", options=("--flush-interval", interval))
                self.check_ledger(run.recording, 30, unfinished=unfinished)

    def test_an_existing_recording_stays(self):
        run = self.record("--launches", 3)
        again = Run(run.stem.parent, "--launches", 4)
        self.assertEqual((again.status, again.stdout), (125, ""))
        self.check_ledger(run.recording, 3)
        forced = Run(run.stem.parent, "--launches", 4, options=("--force",))
        self.check_ledger(forced.recording, 4)


def csv_rows(text):
    """The first table of CSV."""
    first = text.split("\n# ")[0]
    return list(csv.DictReader(io.StringIO(first.split("\n", 1)[1] if first.startswith("# ") else first)))


class Readers(Case):
    """The options of what reads a recording, and what run says of it at its end."""

    def setUp(self):
        super().setUp()
        self.run_of_three = self.record("--driver", "--launches", 10, "--names", 3, "--copies", 2)
        self.path = self.run_of_three.recording.path

    def kernels(self, *options):
        return [(row["kernel"], int(row["calls"])) for row in
                csv_rows(tool("report", self.path, "kernels", "--csv", "--names", "full", *options))]

    def test_limit_and_sort(self):
        calls = {name: count for name, count in self.kernels()}
        self.assertEqual(sorted(calls.values()), [3, 3, 4])
        by_name = sorted(calls)
        self.assertEqual(self.kernels("--sort", "kernel"), [(name, calls[name]) for name in by_name])
        self.assertEqual([name for name, _ in self.kernels("--sort", "kernel:desc")], by_name[::-1])
        # numbers from the largest; of equal ones the next key decides
        self.assertEqual(self.kernels("--sort", "calls,kernel:desc"),
                         sorted(calls.items(), key=lambda row: (row[1], row[0]), reverse=True))
        self.assertEqual(self.kernels("--sort", "kernel", "--limit", "2"),
                         [(name, calls[name]) for name in by_name[:2]])
        self.assertEqual(self.kernels("--limit", "0"), [])
        self.assertEqual(len(self.kernels("--limit", "3")), 3)

    def test_output(self):
        for words in (("report", self.path, "kernels", "--json"), ("info", self.path, "--csv"),
                      ("report", self.path)):
            with self.subTest(words[0]):
                path = pathlib.Path(tempfile.mkdtemp(dir=self.folder), "out")
                self.assertEqual(tool(*words, "--output", path), "")
                self.assertEqual(path.read_text(), tool(*words))
                self.assertEqual(tool(*words, "--output", "-"), tool(*words))

    def test_uncompressed(self):
        said, content = {}, {}
        for name, options in (("packed", ()), ("plain", ("--uncompressed",))):
            path = pathlib.Path(self.folder, name + ".perfetto")
            said[name], = json.loads(tool("export", self.path, "--json", "-o", path, *options))["exported"]
            content[name] = path.read_bytes()
            self.assertEqual(said[name]["file_bytes"], len(content[name]))
        self.assertIn(b"work_1(float*, float*, int)", content["plain"])
        self.assertNotIn(b"work_1(float*, float*, int)", content["packed"])
        self.assertLess(len(content["packed"]), len(content["plain"]))
        for column in ("gpu_slices", "api_slices", "arrows", "skipped"):
            self.assertEqual(said["plain"][column], said["packed"][column])

    def test_what_run_says(self):
        """The summary has the program's end, the GPU's kernels, the busiest ones and the ledger."""
        said = self.run_of_three.stderr
        self.assertRegex(said, r"app_work exited with status 0 after [\d.]+ m?s")
        self.assertRegex(said, r"wrote \S*X\.gputrace \([\d.]+ [KM]?B\) and \S*X\.perfetto \([\d.]+ [KM]?B\)\n")
        self.assertRegex(said, r"to look at it: gputrace view \S*X\.perfetto, or drop it into https://ui\.perfetto\.dev\n")
        self.assertLess(max(map(len, said.splitlines())), 200)
        # 10 kernels of 10 us, one after the other
        self.assertRegex(said, r"(?m)^GPU 0 +NVIDIA H200, busy 100 us, [\d.]+% of the time")
        self.assertRegex(said, r"(?m)^ *4 +40\.0 us +40\.0%  work_0$")
        self.assertRegex(said, r"(?m)^ *3 +30\.0 us +30\.0%  work_1$")
        self.assertIn("ledger: 10 launches = 10 kernels, clean", said)
        self.assertNotRegex(said, "(?m)^note ")
        self.assertLessEqual(len(said.splitlines()), 40)

    def test_what_run_says_of_a_bad_end(self):
        run = self.record("--driver", "--no-sync", "--launches", 4, "--end", "kill", script=f"kernel_ns={SECOND}")
        self.assertRegex(run.stderr, r"app_work was killed by signal 9 \(SIGKILL\) after [\d.]+ m?s")
        ledger = re.search("ledger: .*", run.stderr)[0]
        self.assertIn("4 launches = 0 kernels + 4 unfinished", ledger)
        self.assertNotIn("clean", ledger)
        run = self.record("--launches", 4, script="enable_fail=memset", options=("--no-export",))
        self.assertRegex(run.stderr, "(?m)^note .*fills")
        self.assertNotIn(".perfetto", run.stderr)


class Expectations(Case):
    """scripts/check-expect, on a recording whose facts are known."""

    EXPECT = """
kernels("work_0") + kernels("work_1") == launches   # a comment
kernels() == launches
kernel_median_ns("work_0") ~1% 10000
copied_bytes(HtoD, pageable, device) == bytes_each_way
copies(DtoD) == 2
calls(cuLaunchKernel) == launches
api_errors() == 1
fills() == 0
ledger(launches) == launches
rows(kernels) >= launches / 2
max(api, errors, code) == 1
known(kernels, kernels, total_ns) == 2
known(kernels, kernels, tile) == 0
"""

    def check(self, expect):
        run = self.record("--launches", 10, "--names", 2, "--copies", 2, "--errors", 1)
        files = {"x.expect": expect, "x.out": f"launches=10\nname=x\nbytes_each_way={2 * 4096}\n"}
        for name, text in files.items():
            (run.stem.parent / name).write_text(text)
        return subprocess.run([sys.executable, SOURCE / "scripts" / "check-expect", "x.expect",
                               "x.out", "X.gputrace", "--gputrace", GPUTRACE],
                              cwd=run.stem.parent, capture_output=True, text=True,
                              env=environment(), timeout=PATIENCE_S)

    def test_what_holds(self):
        done = self.check(self.EXPECT)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_what_does_not_hold(self):
        for line, said in (("kernels() == launches + 1", "10 and 11"),
                           ("kernel_median_ns(work_0) ~1% 11000", "10000 and 11000"),
                           ("api_errors(cudaMalloc) > 0", "0 and 0")):
            done = self.check(self.EXPECT + line + "\n")
            self.assertEqual((done.returncode, done.stdout.count("\n")), (1, 1))
            self.assertIn(said, done.stdout)

    def test_what_makes_no_sense(self):
        for line in ("kernels() = 10", "nothing == 0", "ledger(nothing) == 0", "open(1) == 1",
                     "sum(kernels, kernels, nothing) == 1", "kernels( == 1"):
            done = self.check(self.EXPECT + line + "\n")
            self.assertEqual((done.returncode, done.stdout.count("\n")), (2, 1), line)

    def test_no_expectation_at_all(self):
        self.assertEqual(self.check("# nothing\n").returncode, 2)
