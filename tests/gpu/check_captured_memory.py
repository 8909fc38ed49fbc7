#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how captured_memory.py judges the memory of a bundle, without a GPU."""
import unittest

from cases.support.captured_memory import KINDS, SHOWN, memory_at, told_memory, wrong_memory


class CapturedMemory(unittest.TestCase):
    def shown(self, kind="device", address=0x1000, size=4096, before=None):
        elements = size // 4
        step = -(-elements // SHOWN) if elements > SHOWN else 1
        values = [500 + i for i in range(0, elements, step)]
        return {"memory": [{"kind": kind, "address": address, "size": size, "before": before or values}]}

    def test_memory_is_of_its_kind_size_and_contents(self):
        told = told_memory("0x1000 4096 500")
        self.assertEqual(told, (0x1000, 4096, 500))
        for what, kind in KINDS.items():
            self.assertEqual(wrong_memory(self.shown(kind), what, told), "")
            other = "pool" if kind != "pool" else "device"
            self.assertIn(f"kind {other}", wrong_memory(self.shown(other), what, told))
        self.assertIn("nothing", wrong_memory(self.shown(address=0x3000), "device", told))
        self.assertIn("bytes", wrong_memory(self.shown(size=2048), "device", told))
        self.assertIn("bytes", wrong_memory(self.shown(size=4096 + (2 << 20)), "device", told))
        values = self.shown()["memory"][0]["before"]
        self.assertIn("element 1000", wrong_memory(self.shown(before=values[:1000] + [0] + values[1001:]), "device", told))
        self.assertIn("values are there", wrong_memory(self.shown(before=values[:100]), "device", told))

    def test_memory_may_be_larger_than_what_was_asked_for(self):
        shown = self.shown(address=0x800, size=0x2000)
        self.assertEqual(wrong_memory(shown, "device", (0x1000, 4096, 500 + 0x800 // 4)), "")
        self.assertIn("values are others", wrong_memory(shown, "device", (0x1000, 4096, 500)))
        self.assertIs(memory_at(shown, 0x27ff), shown["memory"][0])
        self.assertIsNone(memory_at(shown, 0x2800))

    def test_of_much_memory_some_values_are_enough(self):
        shown = self.shown(kind="mapped", size=6 << 20)
        self.assertLessEqual(len(shown["memory"][0]["before"]), SHOWN)
        self.assertEqual(wrong_memory(shown, "mapped", (0x1000, 6 << 20, 500)), "")
        self.assertIn("values are others", wrong_memory(shown, "mapped", (0x1000, 6 << 20, 501)))


if __name__ == "__main__":
    unittest.main()
