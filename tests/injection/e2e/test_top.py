# SPDX-License-Identifier: Apache-2.0
"""gputrace top shows, from another process, what runs now.

Covers COMMAND(top).
"""
import collections
import contextlib
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import tempfile
import time

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, SECOND, environment, tool
from steps import Steps
from watch import Watch

MARGIN_NS = 500_000  # clocks read later move what was near the edge of a window


class Top(Case):
    def steps(self, *options, **keywords):
        steps = Steps(self.folder, *options, **keywords)
        self.addCleanup(steps.program.kill)
        self.wait_for_roll(steps.path)
        return steps

    def wait_for_roll(self, path):
        """gputrace run has made the recording."""
        end = time.monotonic() + PATIENCE_S
        while not list(path.glob("*.roll")):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def watch(self, *words):
        watch = Watch(*words)
        self.addCleanup(watch.process.kill)
        return watch

    def check_end(self, watch):
        self.assertEqual(watch.end(), 0, watch.said)
        self.assertIn("the program has ended", watch.said)

    def window(self, shown):
        window, = shown["window"]
        return window["from_time_ns"], window["to_time_ns"]

    def is_apart(self, moments, shown):
        """Nothing that is counted lies at an edge of the window."""
        return all(abs(moment - edge) > MARGIN_NS for edge in self.window(shown) for moment in moments)

    @contextlib.contextmanager
    def running(self, *words, script="", program="app_work"):
        """The recording of a program that does not end by itself."""
        stem = pathlib.Path(tempfile.mkdtemp(dir=self.folder), "X")
        with subprocess.Popen([GPUTRACE, "run", "-q", "-o", stem, "--no-export", "--", FAKES / "bin" / program,
                               *map(str, words)], env=environment(script), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as run:
            try:
                self.wait_for_roll(stem.with_suffix(".gputrace"))
                yield stem.with_suffix(".gputrace")
            finally:
                children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text(encoding="ascii")
                for child in children.split():
                    os.kill(int(child), signal.SIGKILL)
                run.wait(PATIENCE_S)

    def test_figures_are_those_of_the_recording(self):
        """By its rows, and by its reports of the same window."""
        steps = self.steps()
        watch = self.watch(steps.path, "--json", "--interval", "600ms")
        for _ in range(25):
            steps.step(1)
            time.sleep(0.1)
        recording = steps.end()
        self.check_end(watch)
        start = min(row["start_ns"] for row in recording.rows("processes"))
        kernels = [(row["start_ns"] - start, row["end_ns"] - start) for row in recording.rows("kernels")]
        calls = [row["start_ns"] - start for row in recording.rows("api_calls") if row["function"] == "cuLaunchKernel"]
        ends = [row["end_ns"] - start for row in recording.rows("ranges") if row["text"] == "step"]
        compared = 0
        for shown in map(json.loads, watch.lines):
            if not shown["window"][0]["running"] or not shown["gpus"]:
                continue
            if not self.is_apart([moment for kernel in kernels for moment in kernel] + calls + ends, shown):
                continue
            begin, end = self.window(shown)
            gpu, = shown["gpus"]
            process, = shown["processes"]
            inside = [(first, last) for first, last in kernels if begin <= first < end]
            self.assertEqual(gpu["known_ns"], end - begin)
            self.assertEqual(gpu["kernels"], len(inside))
            self.assertAlmostEqual(gpu["busy_ns"], sum(last - first for first, last in inside), delta=100)
            self.assertEqual(process["launches"], sum(begin <= call < end for call in calls))
            self.assertEqual(process["losses"], 0)
            if process["steps"] is not None:
                self.assertEqual(process["steps"], sum(begin <= moment < end for moment in ends))
                self.assertEqual(process["step"], "train/step")
                self.assertAlmostEqual(process["steps_per_second"], process["steps"] * SECOND / (end - begin))
            if inside:
                self.check_reports(steps.path, shown)
                compared += process["steps"] is not None
        self.assertGreater(compared, 0)

    def check_reports(self, path, shown):
        begin, end = self.window(shown)
        cut = ("--from", f"{begin}ns", "--to", f"{end}ns")
        gpu, = shown["gpus"]
        row, = json.loads(tool("report", "--json", path, "kernels", *cut))["kernels"]
        live, = shown["kernels"]
        self.assertEqual((live["kernel"], live["calls"]), (row["kernel"], row["calls"]))
        self.assertAlmostEqual(live["total_ns"], row["total_ns"], delta=100)
        device, = json.loads(tool("report", "--json", path, "summary", *cut))["devices"]
        self.assertAlmostEqual(gpu["busy_ns"], device["busy_ns"], delta=100)
        self.assertAlmostEqual(gpu["busy_percent"], device["busy_percent"], places=3)
        memory, = json.loads(tool("report", "--json", path, "memory"))["devices"]
        self.assertLessEqual(gpu["memory_bytes"], memory["peak_bytes"])

    def test_copies_memory_and_power(self):
        with self.running("--launches", 3, "--copies", 4, "--bytes", 1 << 20, "--end", "wait") as path:
            end = time.monotonic() + PATIENCE_S
            gpus = []
            while not gpus or gpus[0]["copies"] != 12:
                self.assertLess(time.monotonic(), end, gpus)
                gpus = json.loads(tool("top", path, "--json", "--interval", "30s", "--count", 1))["gpus"]
            gpu, = gpus
        self.assertEqual(gpu["copied_bytes"], 12 << 20)
        self.assertEqual(gpu["kernels"], 3)
        self.assertAlmostEqual(gpu["copied_bytes_per_second"], (12 << 20) * SECOND / gpu["known_ns"], delta=1)

    def test_memory_is_that_of_now(self):
        steps = self.steps()
        watch = self.watch(steps.path, "--json", "--interval", "200ms")
        steps.step(3)
        watch.until(lambda shown: shown["gpus"] and shown["gpus"][0]["memory_bytes"] == 3 * 1024)
        steps.step(2)
        watch.until(lambda shown: shown["gpus"] and shown["gpus"][0]["memory_bytes"] == 5 * 1024)
        steps.end()
        self.check_end(watch)

    def follow(self, kind, *words, steps=20):
        """Lines behind the headings, or objects, and the recording, of steps that are made meanwhile."""
        program = self.steps()
        program.step(2)
        watch = self.watch(program.path, "--follow", kind, "--interval", "100ms", *words)
        if not words:
            with watch.came:
                self.assertTrue(watch.came.wait_for(lambda: watch.lines, PATIENCE_S))
        for _ in range(steps):
            program.step(1)
            time.sleep(0.05)
        recording = program.end()
        self.check_end(watch)
        return watch.lines if words else watch.lines[1:], recording

    def test_follows_kernels_each_once(self):
        lines, recording = self.follow("kernels")
        self.assertEqual(len(lines), recording.tables["kernels"] - (1 + 2))
        self.assertEqual({line.split()[-1] for line in lines}, {"work"})

    def test_follows_kernels_in_the_order_of_their_ends(self):
        lines, recording = self.follow("kernels", "--json", steps=40)
        rows = [json.loads(line) for line in lines]
        start = min(row["start_ns"] for row in recording.rows("processes"))
        first = min(row["end_time_ns"] for row in rows)
        later = [row["correlation"] for row in recording.rows("kernels") if row["end_ns"] - start >= first - MARGIN_NS]
        self.assertEqual(collections.Counter(row["correlation"] for row in rows), collections.Counter(later))
        self.assertEqual(rows, sorted(rows, key=lambda row: row["end_time_ns"]))

    def test_follows_ranges_each_once(self):
        lines, _ = self.follow("ranges")
        self.assertEqual([line.split()[-1] for line in lines], ["train/step"] * 20 + ["train"])

    def test_a_program_that_has_ended(self):
        run = self.record("--launches", 5)
        watch = self.watch(run.recording.path, "--json")
        self.check_end(watch)
        shown, = map(json.loads, watch.lines)
        self.assertEqual((shown["window"][0]["running"], shown["gpus"][0]["kernels"]), (0, 5))
        self.assertEqual(shown["processes"][0]["state"], "ended")

    def test_a_pause_is_not_idle(self):
        steps = self.steps()
        watch = self.watch(steps.path, "--json", "--interval", "200ms")
        steps.step(2)
        watch.until(lambda shown: shown["gpus"] and shown["gpus"][0]["busy_ns"] is not None)
        steps.tell("stop")
        shown = watch.until(lambda shown: shown["processes"] and shown["processes"][0]["state"] == "paused" and
                            shown["gpus"][0]["known_ns"] == 0)
        gpu, = shown["gpus"]
        self.assertEqual((gpu["busy_percent"], gpu["busy_ns"], gpu["kernels"], gpu["copied_bytes_per_second"]),
                         (None,) * 4)
        self.assertEqual(gpu["memory_bytes"], 2 * 1024)
        self.assertIsNone(shown["processes"][0]["launches_per_second"])
        self.assertTrue(any("paused in 1 of 1" in text for text in shown["remarks"]))
        steps.tell("start")
        steps.step(1)
        count = len(watch.lines)
        watch.until(lambda shown: len(watch.lines) > count and shown["processes"][0]["state"] == "recording")
        steps.end()
        self.check_end(watch)

    def test_work_that_does_not_end(self):
        """Nobody knows how busy a GPU was since that may have begun."""
        with self.running("--launches", 2, script=f"kernel_ns={3600 * SECOND}") as path:
            watch = self.watch(path, "--json", "--interval", "200ms")
            shown = watch.until(lambda shown: shown["gpus"] and shown["gpus"][0]["known_ns"] == 0)
        gpu, = shown["gpus"]
        self.assertEqual((gpu["busy_percent"], gpu["may_run"]), (None, "work_0"))
        self.assertGreater(gpu["may_run_ns"], 200_000_000)
        self.check_end(watch)

    def test_two_processes(self):
        first = self.steps("--join")
        second = self.steps("--join", stem=first.stem)
        first.step(3)
        second.step(4)
        watch = self.watch(first.pid(), "--json", "--interval", "500ms")
        shown = watch.until(lambda shown: len(shown["processes"]) == 2)
        self.assertEqual({row["pid"] for row in shown["processes"]}, {first.pid(), second.pid()})
        shown = watch.until(lambda shown: shown["gpus"] and shown["gpus"][0]["memory_bytes"] == 7 * 1024)
        self.assertEqual(shown["window"][0]["running"], 2)
        first.end()
        watch.until(lambda shown: shown["window"][0]["running"] == 1)
        second.end()
        self.check_end(watch)

    def test_a_process_that_is_not_recorded(self):
        for word, said in ((os.getpid(), "writes a recording"), (2 ** 22 + 1, "no process of that number")):
            watch = self.watch(word)
            self.assertEqual(watch.end(), 1)
            self.assertIn(said, watch.said)

    def test_text_of_each_refresh(self):
        steps = self.steps()
        steps.step(6)
        watch = self.watch(steps.path, "--interval", "100ms", "--count", 3)
        self.assertEqual(watch.end(), 0, watch.said)
        text = "".join(watch.lines)
        self.assertEqual(text.count("Figures are of"), 3)
        self.assertNotIn("\033", text)
        steps.end()

    def test_a_terminal_is_left_as_it_was(self):
        steps = self.steps()
        steps.step(6)
        ours, its = pty.openpty()
        with subprocess.Popen([GPUTRACE, "top", steps.path, "--interval", "100ms"], stdout=its,
                              stderr=subprocess.DEVNULL, env=environment(TERM="xterm")) as top:
            os.close(its)
            text = self.read_until(ours, lambda text: text.count(b"\033[H") >= 3)
            top.send_signal(signal.SIGINT)
            text += self.read_until(ours, lambda text: False)
            self.assertEqual(top.wait(PATIENCE_S), 0)
        os.close(ours)
        self.assertTrue(text.startswith(b"\033[?1049h\033[?25l"))
        before, _, after = text.partition(b"\033[?25h\033[?1049l")
        self.assertIn(b"Processes", before)
        self.assertIn(b"Processes", after)
        self.assertNotIn(b"\033[H", after)
        steps.end()

    def read_until(self, fd, is_there):
        """Until so much came, or the other side has closed."""
        text = b""
        with contextlib.suppress(OSError):
            while not is_there(text):
                self.assertTrue(select.select([fd], [], [], PATIENCE_S)[0])
                text += os.read(fd, 65536)
        return text
