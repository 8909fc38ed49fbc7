#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how replay_bundles.py judges figures and damages bundles, without a GPU."""
import json
import pathlib
import tempfile
import unittest

from cases.support import replay_bundles
from cases.support.replay_bundles import DAMAGES, apart, damaged, move_memory, number_after, percent_off, read

MANIFEST = {
    "version": 1, "origin": {"cc_major": 9, "cc_minor": 0}, "modules": [{"arch": 90}],
    "memory": [{"kind": "device", "address": hex(0x7f0000000000 + number * 0x200000), "size": 0x100000} for number in range(3)],
    "pointers": [{"step": 0, "offset": 8, "target": 1, "declared": True}, {"memory": 2, "offset": 0, "target": 0}],
}


class ReplayBundles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bundle = self.folder / "bundle"
        (self.bundle / "blobs").mkdir(parents=True)
        (self.bundle / "blobs" / "small").write_bytes(b"ab")
        (self.bundle / "blobs" / "large").write_bytes(bytes(100))
        (self.bundle / "bundle.json").write_text(json.dumps(MANIFEST))

    def files(self, bundle):
        return {path.name: path.read_bytes() for path in sorted(bundle.rglob("*")) if path.is_file()}

    def test_each_damage_changes_one_file_of_a_copy(self):
        whole = self.files(self.bundle)
        for number, (damage, _) in enumerate(DAMAGES.values()):
            copy = self.files(damaged(self.bundle, self.folder / str(number), damage))
            self.assertEqual(sum(copy.get(name) != whole[name] for name in whole), 1, damage.__name__)
        self.assertEqual(self.files(self.bundle), whole)

    def test_what_is_too_large_lies_behind_all_the_rest(self):
        memory = read(damaged(self.bundle, self.folder / "copy", replay_bundles.become_too_large))["memory"]
        ends = [int(row["address"], 16) + row["size"] for row in memory]
        self.assertTrue(all(end <= int(row["address"], 16) for end, row in zip(ends, memory[1:])))
        self.assertGreater(memory[-1]["size"], 1 << 40)

    def test_moved_memory_keeps_its_order_and_what_leads_to_it(self):
        for address, place in ((0x1000, 0), (0x7f0000300000, 1), (0x7fff00000000, 2)):
            copy = damaged(self.bundle, self.folder / str(address), lambda bundle, address=address: move_memory(bundle, address))
            manifest = read(copy)
            addresses = [int(row["address"], 16) for row in manifest["memory"]]
            self.assertEqual(addresses, sorted(addresses))
            self.assertEqual(manifest["pointers"][0]["target"], place)
            self.assertEqual(addresses[place], address)
            other = manifest["memory"][manifest["pointers"][1]["target"]]
            self.assertEqual(other, MANIFEST["memory"][0])
            self.assertEqual(manifest["memory"][manifest["pointers"][1]["memory"]], MANIFEST["memory"][2])

    def test_numbers_follow_what_was_moved(self):
        for size in range(1, 6):
            for begin in range(size):
                for end in range(size):
                    order = list(range(size))
                    order.insert(end, order.pop(begin))
                    self.assertEqual([order.index(number) for number in range(size)],
                                     [number_after(number, begin, end) for number in range(size)])

    def test_runs_may_be_apart_by_a_hundredth_or_by_200_ns(self):
        self.assertEqual(apart([10000, 10150, 10100]), (150, 200.0))
        self.assertEqual(apart([100000, 100900, 101000]), (1000, 1009.0))
        self.assertAlmostEqual(percent_off(98, 100), 2)


if __name__ == "__main__":
    unittest.main()
