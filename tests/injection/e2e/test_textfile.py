# SPDX-License-Identifier: Apache-2.0
"""Metrics that gputrace run --metrics writes for node_exporter: while the program runs, and at its end."""
import os
import pathlib
import stat
import subprocess
import sys
import time

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, SOURCE, environment, tool
from steps import Steps

sys.path.insert(0, str(SOURCE / "tests" / "support"))
import exposition  # noqa: E402 pylint: disable=wrong-import-position


class Textfile(Case):
    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.folder, "gputrace.prom")
        self.options = ("--metrics", self.file, "--metrics-interval", "1s")

    def wait_for(self, told):
        """The metrics of the first file that is as told; every one before it can be read too, and none goes back."""
        end, before = time.monotonic() + PATIENCE_S, {}
        while time.monotonic() < end:
            if self.file.exists():
                metrics = exposition.parse(self.file.read_bytes())
                self.check_onward(before, metrics)
                if told(metrics):
                    return metrics
                before = metrics
            time.sleep(0.05)
        raise AssertionError(self.file.read_text() if self.file.exists() else "there is no file")

    def check_onward(self, before, after):
        for name, metric in before.items():
            for labels, value in metric.series.items() if metric.type == "counter" else ():
                self.assertLessEqual(value, after[name].series[labels], (name, dict(labels)))

    def count(self, metrics, name):
        return metrics["gputrace_recorded_total"].values("class").get(name) if "gputrace_recorded_total" in metrics else None

    def run_it(self, *words, **extra):
        return subprocess.run([GPUTRACE, "run", "-o", pathlib.Path(self.folder, "r"), "--no-export", *map(str, words)], capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False, env=environment(**extra))

    def test_counters_go_on_while_it_runs_and_are_whole_at_the_end(self):
        steps = Steps(self.folder, *self.options)
        self.addCleanup(steps.program.kill)
        steps.step(3)
        first = self.wait_for(lambda metrics: self.count(metrics, "activity_records"))
        # Counts that are not known while the program runs are left out: calls are counted by the buffer.
        self.assertIsNone(self.count(first, "api_calls"))
        self.assertEqual(first["gputrace_program_running"].only(), 1)
        self.assertEqual(first["gputrace_processes_recorded"].only(), 1)
        self.assertNotIn("gputrace_program_exit_status", first)
        self.assertNotIn("gputrace_gpu_busy_seconds_total", first)
        self.assertEqual(set(first["gputrace_lost_total"].series.values()), {0})
        steps.step(4)
        second = self.wait_for(lambda metrics: self.count(metrics, "activity_records") > self.count(first, "activity_records"))
        recording = steps.end()
        last = exposition.parse(self.file.read_bytes())
        self.check_onward(first, second)
        self.check_onward(second, last)
        for name in ("api_calls", "activity_records"):
            self.assertEqual(self.count(last, name), recording.ledger[name])
        self.assertEqual(last["gputrace_kernels_total"].only(), recording.tables["kernels"])
        self.assertEqual(last["gputrace_program_running"].only(), 0)
        self.assertEqual(last["gputrace_program_exit_status"].only(), 0)
        self.assertEqual(last["gputrace_processes_recorded"].only(), 0)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o644)
        self.assertEqual([path.name for path in self.file.parent.glob("gputrace.prom*")], [self.file.name])

    def test_at_the_end_it_says_what_export_says(self):
        steps = Steps(self.folder, *self.options)
        self.addCleanup(steps.program.kill)
        steps.step(6)
        steps.end()
        file = pathlib.Path(self.folder, "again.prom")
        tool("export", "--quiet", "-o", file, steps.path)
        found, again = exposition.parse(self.file.read_bytes()), exposition.parse(file.read_bytes())
        for name in again:
            self.assertEqual(found.pop(name).series, again[name].series, name)
        self.assertEqual(set(found), {"gputrace_processes_recorded", "gputrace_processes_paused"})

    def test_a_pause_shows(self):
        steps = Steps(self.folder, *self.options)
        self.addCleanup(steps.program.kill)
        steps.step(1)
        steps.tell("stop")
        metrics = self.wait_for(lambda metrics: "gputrace_processes_paused" in metrics and metrics["gputrace_processes_paused"].only() == 1)
        self.assertEqual(metrics["gputrace_processes_recorded"].only(), 1)
        steps.end()

    def test_a_process_that_dies_keeps_its_counts(self):
        words = (FAKES / "bin" / "app_work", "--launches", "300", "--end", "kill")
        done = self.run_it(*self.options, *words)
        self.assertEqual(done.returncode, 137, done.stderr)
        metrics = exposition.parse(self.file.read_bytes())
        self.assertEqual(metrics["gputrace_program_exit_status"].only(), 137)
        timed = sum(metrics["gputrace_kernels_total"].series.values()) if "gputrace_kernels_total" in metrics else 0
        self.assertEqual(timed + metrics["gputrace_lost_total"].values("class")["launches_unfinished"], 300)

    def test_jobs_and_ranks_are_labels(self):
        done = self.run_it("--metrics", pathlib.Path(self.folder, "rank-%q{RANK}.prom"), FAKES / "bin" / "app_work", "--launches", "5",
                           RANK="3", WORLD_SIZE="8", SLURM_JOB_ID="4711")
        self.assertEqual(done.returncode, 0, done.stderr)
        metrics = exposition.parse(pathlib.Path(self.folder, "rank-3.prom").read_bytes())
        tool("export", "--quiet", "-o", pathlib.Path(self.folder, "again.prom"), pathlib.Path(self.folder, "r.gputrace"))
        again = exposition.parse(pathlib.Path(self.folder, "again.prom").read_bytes())
        for metric in [*metrics.values(), *again.values()]:
            self.assertEqual({dict(labels)["hpc_job"] for labels in metric.series}, {"4711"}, metric.name)
        for name, metric in again.items():
            self.assertEqual(metric.series, metrics[name].series)
        self.assertEqual({dict(labels).get("rank") for labels in metrics["gputrace_gpu_busy_seconds_total"].series}, {"3"})

    def test_two_gpus_of_one_program(self):
        done = self.run_it(*self.options, FAKES / "bin" / "app_work", "--gpus", "2", "--launches", "10", script="devices=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        metrics = exposition.parse(self.file.read_bytes())
        self.assertEqual(len(metrics["gputrace_gpu_busy_seconds_total"].values("UUID")), 2)

    def test_runs_that_join_have_each_their_own_file(self):
        folder = pathlib.Path(self.folder)
        runs = [subprocess.Popen([GPUTRACE, "run", "-o", folder / "j", "--join", "--quiet", "--metrics", folder / f"{i}.prom",
                                  FAKES / "bin" / "app_work", "--launches", "20"], env=environment(), stdout=subprocess.DEVNULL)
                for i in range(2)]
        self.assertEqual([run.wait(PATIENCE_S) for run in runs], [0, 0])
        both = [exposition.parse((folder / f"{i}.prom").read_bytes()) for i in range(2)]
        told = [next(iter(metrics["gputrace_program_exit_status"].values("run"))) for metrics in both]
        self.assertEqual(sorted(told), ["1", "2"])
        # One of them was the last, and knows all.
        self.assertIn(40, [sum(metrics["gputrace_kernels_total"].series.values()) for metrics in both if "gputrace_kernels_total" in metrics])

    def test_a_program_that_records_nothing(self):
        done = self.run_it("--metrics", self.file, "sh", "-c", "exit 5")
        self.assertEqual(done.returncode, 5)
        metrics = exposition.parse(self.file.read_bytes())
        self.assertEqual(metrics["gputrace_program_exit_status"].only(), 5)
        self.assertNotIn("gputrace_recorded_total", metrics)

    def test_it_says_before_the_program_what_does_not_go(self):
        for words, said in ((("--metrics", "/nowhere/x.prom"), "cannot write /nowhere/x.prom: there is no folder /nowhere"),
                            (("--metrics", "x.txt"), "must end with .prom"),
                            (("--metrics", "x%n.prom"), "%n is a number that is free"),
                            (("--metrics", "%q{NOTHING_OF_THAT_NAME}.prom"), "NOTHING_OF_THAT_NAME"),
                            (("--metrics", self.folder + "/d.prom"), "it is a folder"),
                            (("--metrics-interval", "2s"), "goes with --metrics"),
                            (("--metrics", "x.prom", "--metrics-interval", "10ms"), "1s")):
            os.makedirs(self.folder + "/d.prom", exist_ok=True)
            done = self.run_it(*words, "touch", pathlib.Path(self.folder, "ran"))
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse(pathlib.Path(self.folder, "ran").exists())
            self.assertFalse(pathlib.Path(self.folder, "r.gputrace").exists())
