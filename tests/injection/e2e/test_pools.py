# SPDX-License-Identifier: Apache-2.0
"""Pools that a program tells of through gputrace.h have its blocks and figures.

Covers SOURCE(pools).
"""
import pathlib
import unittest

from case import Case
from programs import FAKES, SECOND, find_injection
from recordings import Recording


class Pools(Case):
    """Pools that a program tells of through the real gputrace.h; tests/fakes/apps/telling/app_pools.c says how much that is."""

    CPP = FAKES / "bin" / "app_pools_cpp"

    def pools(self, *words, dies=False, **keywords):
        run = self.record(*words, program="app_pools", **keywords)
        if not dies:
            self.assertEqual(run.status, 0, run.stderr)
        return run

    def check_told(self, run, unopened=0, unended=0):
        """Every block is there, and all that were given back have ended."""
        blocks = run.recording.rows("pool_blocks")
        self.assertEqual(len(blocks), run.facts["allocs"])
        self.assertEqual(len(run.recording.rows("pools")), run.facts["recorded"])
        ledger = run.recording.ledger
        self.assertEqual({name: ledger.get(name, 0) for name in ("blocks_unopened", "blocks_unended", "records_lost",
                                                                 "not_written", "strings_lost", "sources_failed")},
                         {"blocks_unopened": unopened, "blocks_unended": unended, "records_lost": 0, "not_written": 0,
                          "strings_lost": 0, "sources_failed": 0})
        self.assertEqual([block["start_ns"] for block in blocks], sorted(block["start_ns"] for block in blocks))
        for block in blocks:
            self.assertTrue(block["flags"] & 1 or block["end_ns"] >= block["start_ns"], block)
        return blocks

    @staticmethod
    def is_out(block):
        return block["flags"] & 1

    def test_each_function(self):
        run = self.pools("basics")
        run.facts["allocs"] -= 1  # of no pool
        blocks = self.check_told(run, unopened=1, unended=1)
        pools = run.recording.rows("pools")
        self.assertEqual([(pool["name"], pool["number"], pool["place"], pool["device"]) for pool in pools],
                         [("device", 1, 0, 0), ("pinned", 2, 1, 0), ("managed", 3, 2, 0), ("host", 4, 3, None)])
        self.assertEqual([bool(pool["end_ns"]) for pool in pools], [False, True, True, False])
        self.assertEqual([(block["pool"], block["address"], block["size_bytes"], block["requested_bytes"], block["range"])
                          for block in blocks],
                         [(0, 0x1000, 512, 0, 0), (1, 0x1000, 1024, 0, 0), (0, 0x2000, 1024, 1000, 1),
                          (0, 0x1000, 256, 0, 0), (2, 0x3000, 2048, 0, None), (3, 0x4000, 1, 0, None),
                          (3, 0x4000, 2, 0, None), (3, 0x5000, 4096, 0, None)])
        self.assertEqual([block["address"] for block in blocks if self.is_out(block)], [0x5000])
        self.assertEqual(blocks[4]["end_ns"], pools[2]["end_ns"])
        self.assertEqual(blocks[5]["end_ns"], blocks[6]["start_ns"])
        self.assertEqual(len(run.recording.notes), 2)

    def test_streams_are_those_that_have_the_handles(self):
        run = self.pools("cuda")
        first, second, third = self.check_told(run)
        streams = run.recording.rows("streams")
        null = run.recording.rows("contexts")[0]["null_stream"]
        self.assertEqual(streams[first["stream"]]["number"], null)
        self.assertNotEqual(streams[second["stream"]]["number"], null)
        self.assertIsNone(third["stream"])
        self.assertEqual(run.recording.rows("pools")[0]["device"], 0)

    def test_before_and_after_cuda_starts(self):
        run = self.pools("loop", 3, "cuda", "loop", 3)
        self.assertEqual(len(self.check_told(run)), 9)
        self.assertEqual(run.recording.tables["processes"], 1)

    def test_many_blocks(self):
        """All that is recorded of them fits into the arena, however busy the machine is."""
        run = self.pools("loop", 100000)
        self.assertFalse([block for block in self.check_told(run) if self.is_out(block)])

    def test_threads_that_hand_one_another_the_same_addresses(self):
        run = self.pools("threads", 8)
        blocks = self.check_told(run)
        self.assertEqual(len(blocks), 80000)
        self.assertFalse([block for block in blocks if self.is_out(block)])
        ends = {}
        for block in blocks:  # in the order of their starts
            self.assertLessEqual(ends.get(block["address"], 0), block["start_ns"])
            ends[block["address"]] = block["end_ns"]
        self.assertEqual(len({block["thread"] for block in blocks}), 8)

    def counters(self, run):
        return {row["name"]: row["values"] for row in run.recording.ranges() if row["table"] == "counters"}

    def test_statistics_that_are_pushed(self):
        run = self.pools("stats")
        self.assertEqual(self.counters(run), {"num_allocs": [1, 2, 3, 4, 5, 5],
                                              "bytes_in_use": [1000, 2000, 3000, 4000, 5000, None],
                                              "largest_free_block": [None, None, 77, 77, 77, None]})
        self.assertEqual({row["pool"] for row in run.recording.rows("counters")}, {0})
        self.assertEqual(run.recording.notes, [])

    def test_statistics_that_are_asked_for(self):
        """Every 10 ms for a third of a second, or longer on a slow machine; each answer is a sample."""
        run = self.pools("pull")
        counters = self.counters(run)
        self.assertEqual(counters["num_allocs"], list(range(run.facts["pulls"])))
        self.assertEqual(set(counters["bytes_reserved"]), {4096})
        self.assertTrue(5 <= run.facts["pulls"] <= 100, run.facts)

    def test_a_pool_that_is_gone_is_not_asked(self):
        run = self.pools("destroy")
        self.assertEqual(len(run.recording.rows("pools")), 201)
        self.assertGreater(run.facts["pulls"], 0)

    def test_more_pools_than_are_kept(self):
        run = self.pools("many")
        self.assertFalse([block for block in self.check_told(run) if self.is_out(block)])
        self.assertEqual(len(run.recording.notes), 1)
        self.assertIn("more than 1024 pools", run.recording.notes[0])
        self.assertEqual(len(run.recording.rows("counters")), 10)

    def test_blocks_that_are_told_of_later(self):
        run = self.pools("later")
        around, inside = self.check_told(run)
        self.assertEqual((around["address"], around["size_bytes"], around["requested_bytes"], around["thread"],
                          around["range"], around["stream"]), (0x1000, 512, 500, None, None, None))
        self.assertEqual((inside["address"], inside["thread"]), (0x2000, 0))
        self.assertLess(around["start_ns"], inside["start_ns"])
        self.assertLess(inside["start_ns"], around["end_ns"])
        self.assertLess(abs(inside["start_ns"] - around["start_ns"] - 5_000_000), SECOND)
        self.assertLess(around["end_ns"], run.recording.rows("ranges")[0]["start_ns"])

    def test_programs_of_xla(self):
        run = self.pools("executable")
        self.assertEqual([(row["name"], row["device"], row["argument_bytes"], row["output_bytes"], row["temporary_bytes"],
                           row["alias_bytes"], row["code_bytes"]) for row in run.recording.rows("executables")],
                         [("jit_step", 0, 1, 2, 3, 4, 2**64 - 1), ("", None, 1, 2, 3, 4, 2**64 - 1)])

    def test_the_end_in_the_middle(self):
        for end in ("exit", "return", "_exit", "abort", "kill"):
            with self.subTest(end):
                run = self.pools("open", end, dies=True)
                blocks = self.check_told(run)
                self.assertEqual([(block["size_bytes"], bool(self.is_out(block))) for block in blocks],
                                 [(100, False), (200, True), (300, True)])
                self.assertEqual(blocks[1]["flags"] & 2, 0 if end in ("exit", "return") else 2)

    def test_the_child_of_a_fork_records_nothing(self):
        # It takes and gives one block of its parent's pool, then makes 1,500 pools with a block each; those get no
        # number in the child of a clone, which never has a session.
        for word, calls in ("fork", 2 + 2 * 1500), ("clone", 2 + 1500):
            with self.subTest(word):
                run = self.pools(word)
                self.check_told(run)
                self.assertEqual(run.recording.ledger["processes_unrecorded"], 1)
                self.assertEqual(run.recording.ledger["calls_unrecorded"], calls)

    def test_the_child_of_a_fork_that_starts_cuda_has_its_parent_s_pools(self):
        run = self.pools("child-cuda")
        self.assertEqual(run.recording.tables["processes"], 2)
        pools = run.recording.rows("pools")
        self.assertEqual(sorted((pool["name"], pool["process"]) for pool in pools),
                         [("of the parent", 0), ("of the parent", 1), ("on a GPU", 1)])
        child = next(row for row, pool in enumerate(pools) if (pool["name"], pool["process"]) == ("of the parent", 1))
        self.assertEqual([(block["size_bytes"], bool(self.is_out(block))) for block in run.recording.rows("pool_blocks")
                          if block["pool"] == child], [(128, False)])
        self.assertEqual({row["pool"] for row in run.recording.rows("counters") if row["name"] == "num_allocs"}, {0, child})

    def test_nothing_where_that_is_asked_for(self):
        run = self.pools("basics", "pull", GPUTRACE_POOLS="0")
        self.assertEqual((run.facts["recorded"], run.facts["pulls"]), (0, 0))
        self.assertEqual(run.recording.rows("pools") + run.recording.rows("pool_blocks"), [])
        run = self.record("basics", "pull", program="app_pools", GPUTRACE_DISABLE="1")
        self.assertEqual((run.status, run.facts["recorded"]), (0, 0))

    def test_nothing_happens_where_nobody_records(self):
        for extra in {}, {"CUDA_INJECTION64_PATH": "/nowhere/libgputrace-injection.so"}, \
                {"CUDA_INJECTION64_PATH": str(FAKES / "nvtx_other.so")}, {"NVTX_INJECTION64_PATH": ""}:
            with self.subTest(extra):
                run = self.bare("basics", "stats", "pull", "destroy", "many", "executable", "loop", 10, "fork",
                                program="app_pools", **extra)
                self.assertEqual((run.status, run.stderr), (0, ""))
                self.assertEqual((run.facts["recorded"], run.facts["pulls"]), (0, 0))

    def test_by_environment_alone(self):
        """Whichever of the two variables names the library, and where CUDA never starts."""
        for name in "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH":
            with self.subTest(name):
                folder = pathlib.Path(self.folder, f"{name}.gputrace")
                run = self.bare("loop", 5, program="app_pools", GPUTRACE_OUTPUT=str(folder), **{name: str(find_injection())})
                self.assertEqual((run.status, run.facts["recorded"]), (0, 1))
                self.assertEqual(Recording(folder).tables["pool_blocks"], 5)

    @unittest.skipUnless(CPP.exists(), "no compiler of C++, or sanitizers")
    def test_from_cpp(self):
        run = self.record(program="app_pools_cpp")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual([pool["name"] for pool in run.recording.rows("pools")], ["first file", "second file"])
        self.assertFalse([block for block in self.check_told(run) if self.is_out(block)])
        self.assertEqual(len(self.counters(run)["bytes_in_use"]), run.facts["pushed"])
