# SPDX-License-Identifier: Apache-2.0
"""Recordings that keep what happened last, and what holds for each of them."""
import time

from case import Case
from steps import Steps

KEPT = 7  # GT_CAUSE_KEPT


class Kept(Case):
    def steps(self, *options):
        steps = Steps(self.folder, *options)
        self.addCleanup(steps.program.kill)
        return steps

    def run_for(self, steps, seconds):
        """Steps, in so many seconds; how many and how many launches they had."""
        end = time.monotonic() + seconds
        count = launches = 0
        while time.monotonic() < end:
            launches = steps.step()
            count += 1
            time.sleep(0.01)
        return count, launches

    def check_kept_ledger(self, recording, kept):
        recording.ledger["kernels_without_call"] = 0
        self.check_ledger(recording, kept)

    def check(self, recording, count, launches, was_killed=False):
        """The last steps are there, each whole, and what is gone was counted."""
        ledger = recording.ledger
        self.assertGreater(ledger["kernels_gone"], 0)
        self.assertEqual(recording.tables["kernels"] + ledger["kernels_gone"], launches)
        # Kernels that went on have no launch any more.
        kept = recording.tables["kernels"] - ledger["kernels_without_call"]
        if was_killed:
            self.assertEqual((ledger["launches"], ledger["launches_missing"]), (kept, 0))
        else:
            self.check_kept_ledger(recording, kept)
        self.assertEqual(ledger.get("ranges_torn", 0), 0)
        self.assertEqual([name for name, value in ledger.items() if name.startswith("missing_") and value], [])
        steps = [row for row in recording.rows("ranges") if row["text"] == "step"]
        self.assertGreater(len(steps), 2)
        # The Nth step has N kernels.
        kernels = sorted(row["start_ns"] for row in recording.rows("kernels"))
        for back, step in enumerate([] if was_killed else reversed(steps[1:])):
            inside = sum(step["start_ns"] <= start <= step["end_ns"] for start in kernels)
            self.assertEqual(inside, count - back)
        pause, = recording.rows("pauses")
        self.assertEqual((pause["paused_by"], pause["resumed_by"]), (KEPT, KEPT))
        # All memory is known, also what was allocated long ago.
        self.assertEqual(recording.report("memory")["devices"][0]["allocations"], count)
        return pause
