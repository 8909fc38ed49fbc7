#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how pool_moments.py takes and compares moments, without a GPU."""
import contextlib
import io
import types
import sys
import unittest

from programs.python import pool_moments
from programs.python.pool_moments import Moments, compare, read

pool_moments.APART_S = 0.0


class PoolMoments(unittest.TestCase):
    def setUp(self):
        self.samples = 0
        sys.modules["gputrace_allocators"] = types.SimpleNamespace(sample=self.sample)
        self.addCleanup(sys.modules.pop, "gputrace_allocators")

    def sample(self):
        self.samples += 1

    def test_have_the_same_figures_before_and_after_the_sample(self):
        moments = Moments()
        moments.take("rest", lambda: [{"in_use_bytes": 5}])
        with self.assertRaisesRegex(RuntimeError, "busy: the memory is not at rest"):
            moments.take("busy", lambda: [{"in_use_bytes": self.samples}])
        self.assertEqual((self.samples, len(moments.taken)), (2, 1))
        self.assertLessEqual(moments.taken[0]["from_ns"], moments.taken[0]["to_ns"])

    def test_are_read_from_what_was_printed_last(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            print("training")
            moments = Moments()
            moments.take("rest", lambda: [{"in_use_bytes": 5}])
            moments.say(torch="2.11")
        self.assertEqual(read(said.getvalue()), {"moments": moments.taken, "torch": "2.11"})

    def test_are_compared_with_the_recording_up_to_each(self):
        moments = [{"what": what, "from_ns": at - 1, "to_ns": at, "pools": [{"in_use_bytes": at, "segments": 2}]}
                   for what, at in (("first", 1000), ("second", 2000))]
        rows = {900: {"in_use_bytes": 1000.0, "segments": 2}, 1900: {"in_use_bytes": 2000, "segments": None}}
        self.assertEqual(compare(moments, 100, lambda until_ns: [rows[until_ns]]),
                         (3, ["second: segments: 2 in the program, None in the recording"]))
        self.assertEqual(compare(moments[:1], 100, lambda until_ns: [])[1],
                         ["first: 1 pools in the program, 0 in the recording"])


if __name__ == "__main__":
    unittest.main()
