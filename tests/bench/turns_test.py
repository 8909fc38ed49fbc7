#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/turns.py and bench/processes.py over fake_program.py, whose costs are known."""
import importlib.machinery
import importlib.util
import os
import pathlib
import random
import sys
import tempfile
import time
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parents[1] / "bench"
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))

import turns
from processes import WarmPython
from rounds import clean_environment


def load_attach():
    loader = importlib.machinery.SourceFileLoader("attach", str(BENCH / "attach"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("attach", loader))
    loader.exec_module(module)
    return module


attach = load_attach()


class FakeProgram(attach.Program):
    def command(self, tools, arguments):
        return [sys.executable, str(HERE / "fake_program.py"), *arguments]


class FakeVariant(attach.Attached):
    """A variant of the fake program, which is told its cost by the environment."""

    def __init__(self, bench, name, **settings):
        super().__init__(bench, FakeProgram("fake_program", "", warm=True), name, "")
        self.settings = {key: str(value) for key, value in settings.items()}
        self.processes = []

    def environment(self, folder):
        return clean_environment(**self.settings)

    def start(self, folder, arguments):
        self.processes.append(super().start(folder, arguments))
        return self.processes[-1]


class Turns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gputrace-test.")
        self.addCleanup(folder.cleanup)
        os.environ["FAKE_FOLDER"] = folder.name
        os.environ["PYTHONPATH"] = str(HERE)
        self.bench = types.SimpleNamespace(warm=None, tools=None, seconds=1)

    def variant(self, name, **settings):
        return FakeVariant(self.bench, name, **settings)

    def play(self, variants, count=60, rounds=1, seconds=60, **more):
        settings, order = turns.Settings(count, 0.12, 0.01, **more), random.Random(1)
        for _ in range(rounds):
            turns.run_round(variants, settings, order, 1, time.monotonic() + seconds)
        return {row["variant"]: row for row in attach.summarise(variants, {})}

    def check_costs(self, rows):
        for name, cost in (("again", 0), ("floor", 2), ("gputrace", 3)):
            price = rows[name]["price_percent"]
            self.assertLess(abs(price["median"] - cost), 0.6, name)
            self.assertLessEqual(price["low"], cost, name)
            self.assertGreaterEqual(price["high"], cost, name)
        self.assertLess(abs(rows["gputrace"]["over_floor_points"]["median"] - 1), 0.6)

    def four(self):
        return [self.variant("none"), self.variant("again"), self.variant("floor", FAKE_SHARE=0.02),
                self.variant("gputrace", FAKE_SHARE=0.03)]

    def test_finds_costs_below_the_drift_of_the_machine(self):
        variants = self.four()
        rows = self.play(variants, rounds=2)
        self.check_costs(rows)
        times = [time_us for run in variants[0].rounds for time_us in run["turns_us"]]
        self.assertGreater(max(times), 2 * min(times))
        self.assertEqual(rows["gputrace"]["turns"], 120)
        self.assertEqual(rows["gputrace"]["price_percent"]["count"], 120)
        self.assertEqual(len(rows["gputrace"]["round_prices_percent"]), 2)

    def test_forks_of_one_python_take_turns_too(self):
        self.bench.warm = WarmPython(sys.executable, ["json"])
        self.addCleanup(self.bench.warm.stop)
        self.check_costs(self.play(self.four()))

    def test_one_that_dies_is_left_out_with_what_it_said_and_the_others_go_on(self):
        dying = self.variant("floor", FAKE_DIES_AFTER=9)
        missing = self.variant("gputrace", FAKE_STARTS=0)
        rows = self.play([self.variant("none"), self.variant("again"), dying, missing], count=20)
        self.assertIn("exit status 3: out of blocks", rows["floor"]["failure"])
        self.assertIn("no GPU", rows["gputrace"]["failure"])
        self.assertEqual(rows["again"]["price_percent"]["count"], 20)

    def test_forks_that_die_are_left_out_too(self):
        self.bench.warm = WarmPython(sys.executable, ["json"])
        self.addCleanup(self.bench.warm.stop)
        dying, missing = self.variant("floor", FAKE_DIES_AFTER=9), self.variant("gputrace", FAKE_STARTS=0)
        rows = self.play([self.variant("none"), dying, missing], count=20)
        self.assertIn("out of blocks", rows["floor"]["failure"])
        self.assertIn("no GPU", rows["gputrace"]["failure"])
        self.assertEqual(rows["none"]["turns"], 20)

    def test_what_was_recorded_counts_warm_up_and_lead_in(self):
        variants = [self.variant("none")]
        self.play(variants, count=5)
        run = variants[0].rounds[0]
        blocks = pathlib.Path(os.environ["FAKE_FOLDER"], "blocks").read_text()
        self.assertEqual(int(blocks), 2 * 5)
        self.assertGreater(run["recorded"], 250 + 5 * 100)

    def test_other_tools_take_part_in_fewer_turns_and_are_paired_with_those(self):
        peer = self.variant("kineto", FAKE_SHARE=0.4)
        peer.is_peer = True
        rows = self.play([self.variant("none"), self.variant("floor", FAKE_SHARE=0.02), peer], peers_every=3)
        self.assertEqual((rows["floor"]["turns"], rows["kineto"]["turns"]), (60, 20))
        self.assertEqual(rows["kineto"]["over_floor_points"]["count"], 20)
        self.assertLess(abs(rows["kineto"]["price_percent"]["median"] - 40), 2)

    def test_a_deadline_ends_the_turns_after_one_at_least(self):
        rows = self.play([self.variant("none"), self.variant("again")], seconds=0)
        self.assertEqual(rows["again"]["turns"], 1)

    def test_waiting_takes_no_processor_time(self):
        settings = turns.Settings(1, 0.12, 0.01)
        with tempfile.TemporaryDirectory() as folder:
            player = turns.Player(self.variant("none"), folder, settings)
            self.addCleanup(player.close)
            player.start()
            player.meet()
            before, began = self.processor_time(player.pid), time.monotonic()
            time.sleep(0.5)
            self.assertLess(self.processor_time(player.pid) - before, 0.1 * (time.monotonic() - began))

    def test_pins_the_measuring_thread_to_one_core(self):
        core = max(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as folder:
            player = turns.Player(self.variant("none"), folder, turns.Settings(1, 0.12, 0.01, core))
            self.addCleanup(player.close)
            player.start()
            player.meet()
            self.assertEqual(os.sched_getaffinity(player.pid), {core})

    @staticmethod
    def processor_time(pid):
        """Seconds of all threads of a process."""
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()
