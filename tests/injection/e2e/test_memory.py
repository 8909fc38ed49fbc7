# SPDX-License-Identifier: Apache-2.0
"""Allocations, pools and accesses of CUDA's memory are those that the program made."""
import os

from case import Case
from programs import BUILD


class Memory(Case):
    """Memory of every kind that a program had, with the bytes it asked for."""

    def check_had(self, run):
        """Everything once, in the order in which the program asked, with who ended it."""
        calls = run.recording.rows("memory_calls")
        rows = run.recording.rows("allocations")
        self.assertEqual([[row["kind"], row["size_bytes"], int(row["ended_by"] is not None)] for row in rows],
                         run.facts["had"])
        for row in rows:
            made = calls[row["made_by"]]
            self.assertEqual((made["kind"], made["address"], made["result"]), (row["kind"], row["address"], 0))
            self.assertEqual(row["start_ns"], made["start_ns"])
            if row["ended_by"] is not None:
                self.assertEqual(row["end_ns"], calls[row["ended_by"]]["start_ns"])
                self.assertGreaterEqual(row["end_ns"], made["end_ns"])
        return calls

    def test_every_kind(self):
        run = self.record(program="app_memory")
        self.assertEqual(run.status, 0, run.stderr)
        calls = self.check_had(run)
        refused = [call for call in calls if call["result"]]
        self.assertEqual([(call["size_bytes"], call["address"]) for call in refused], [(1 << 60, 0)])
        for call in calls:
            self.assertIsNotNone(call["api_call"] if call["kind"] < 64 else 0, call)

    def test_memory_of_graphs(self):
        """A graph that frees what it allocates has it in each launch; what it does not free stays to the next."""
        run = self.record("graph", program="app_memory")
        self.assertEqual(run.status, 0, run.stderr)
        calls = run.recording.rows("memory_calls")
        rows = run.recording.rows("allocations")
        self.assertEqual([[row["kind"], row["size_bytes"], int(row["end_ns"] > 0)] for row in rows], run.facts["had"])
        self.assertEqual([row["launch"] for row in rows], [0, 0, 1, 1, 2, 2])
        self.assertEqual({calls[row["made_by"]]["kind"] for row in rows}, {3, 19})
        self.assertEqual({row["device"] for row in rows}, {0})
        nodes = run.recording.rows("graph_nodes")
        self.assertEqual(sorted((node["memory_bytes"], bool(node["memory_address"])) for node in nodes)[1:], # the driver's own is first
                         2 * [(0, True)] + 2 * [(4096, True)] + 2 * [(8192, True)])

    def test_managed_memory(self):
        """Advice and prefetches as calls; what comes of them where that is asked for."""
        run = self.record("managed", program="app_memory", GPUTRACE_UNIFIED_MEMORY="1")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_had(run)
        told = [(row["kind"], row["size_bytes"], row["place"], row["value"], row["options"])
                for row in run.recording.rows("memory_calls") if row["kind"] > 64]
        self.assertEqual(told, [(71, 1 << 20, 0, 1, 3), (72, 1 << 20, 0, 1, 0), (72, 1 << 20, None, 2, 0)])
        events = run.recording.rows("unified_events")
        self.assertEqual([(row["kind"], row["value"], row["source"], row["target"], row["detail"], row["flags"])
                          for row in sorted(events, key=lambda row: (row["start_ns"], row["kind"]))],
                         [(1, 1 << 20, None, 0, 1, 0), (4, 1, 0, None, 2, 0),
                          (2, 1 << 20, 0, None, 1, 0), (3, 1, None, None, 2, 0)])
        self.assertEqual([row["end_ns"] > row["start_ns"] for row in events if row["kind"] < 3], [True, True])
        run = self.record("managed", program="app_memory")
        self.assertEqual(run.recording.rows("unified_events"), [])
        run = self.record("managed", program="app_memory", GPUTRACE_UNIFIED_MEMORY="1",
                          FAKE_CUPTI="enable_fail=unified")
        self.assertEqual([note for note in run.recording.notes if "managed" in note],
                         ["what happens to managed memory is not recorded: CUPTI says CUPTI_ERROR_NOT_SUPPORTED"], run.recording.notes)

    def test_who_asked(self):
        """The object that called CUDA, whichever runtime it has and whoever called it."""
        if "san" in BUILD.name:
            self.skipTest("what a sanitizer puts on the stack is not a program's")
        for words in {}, {"GPUTRACE_API": "all"}:
            run = self.record(BUILD / "fakes", program="app_askers", GPUTRACE_MEMORY_LIBRARIES="1", **words)
            self.assertEqual(run.status, 0, run.stderr)
            rows = run.recording.rows("allocations")
            self.assertEqual([[row["size_bytes"], os.path.basename(row["library"])] for row in rows], run.facts["asked"])
        run = self.record(BUILD / "fakes", program="app_askers")
        self.assertEqual({row["library"] for row in run.recording.rows("allocations")}, {""})

    def memory_samples(self, word):
        run = self.record(word, program="app_memory", GPUTRACE_TELEMETRY="1h")
        self.assertEqual(run.status, 0, run.stderr)
        counters = run.recording.report("telemetry")["counters"]
        return sum(row["samples"] for row in counters if row["counter"] == "memory_used_bytes")

    def test_a_failed_allocation_has_telemetry_read(self):
        """At the begin, at the end, and in between because a call failed; a busy machine may be late with the first."""
        self.assertIn(3, (self.memory_samples("fails") for _ in range(5)))
        self.assertLess(self.memory_samples("pools"), 3)

    def test_a_failed_allocation_says_what_was_left(self):
        run = self.record("fails", program="app_memory", GPUTRACE_TELEMETRY="off")
        self.assertEqual(run.status, 0, run.stderr)
        rows = run.recording.rows("memory_calls")
        self.assertEqual([row["left_bytes"] for row in rows if row["result"]], [run.facts["left_bytes"]], rows)
        self.assertEqual([row["left_bytes"] for row in rows if not row["result"]], [0] * (len(rows) - 1))

    def test_pools(self):
        """CUDA's pools are read over time; a pool that is gone is asked no more."""
        run = self.record("pools", program="app_memory", GPUTRACE_CUDA_POOLS="1", GPUTRACE_TELEMETRY="10ms")
        self.assertEqual(run.status, 0, run.stderr)
        pools = run.recording.rows("pools")
        self.assertEqual([(row["name"], row["device"], row["teller"], row["end_ns"] > 0) for row in pools],
                         [("", 0, 3, True), ("default pool", 0, 3, False)])
        counters = [row for row in run.recording.rows("counters") if row["pool"] is not None]
        self.assertEqual(sorted((row["pool"], row["name"]) for row in counters), sorted(
            (pool, name) for pool in (0, 1)
            for name in ("bytes_in_use", "peak_bytes_in_use", "bytes_reserved", "peak_bytes_reserved", "release_threshold")))

    def test_pools_where_that_is_not_asked_for(self):
        run = self.record("pools", program="app_memory")
        self.assertEqual([row for row in run.recording.rows("counters") if row["pool"] is not None], [])
        self.assertEqual(len(run.recording.rows("pools")), 2)

    def test_nothing_where_that_is_asked_for(self):
        run = self.record(program="app_memory", GPUTRACE_MEMORY="0")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.recording.rows("memory_calls") + run.recording.rows("allocations"), [])
        self.assertEqual(run.recording.notes, [])
        self.assertGreater(run.recording.tables["api_calls"], 30)

    def test_many_pairs(self):
        """All that is recorded of them fits into the arena, however busy the machine is."""
        run = self.record(20000, program="app_memory")
        self.assertEqual(run.status, 0, run.stderr)
        self.check_had(run)
        self.assertEqual(len(run.recording.rows("memory_calls")), 2 * 20000)
        self.check_ledger(run.recording, 0)

    def check_accesses(self, run):
        """Both sides of each copy, the one of each fill, with as many bytes as the GPU copied or filled."""
        by_call = {}
        for row in run.recording.rows("accesses"):
            self.assertNotEqual(row["address"], 0)
            by_call.setdefault(row["api_call"], []).append((row["kind"], row["rows"] * row["size_bytes"]))
        for table, kinds in ("copies", (1, 2)), ("fills", (3,)):
            for row in run.recording.rows(table):
                self.assertEqual(sorted(by_call.pop(row["api_call"])), [(kind, row["size_bytes"]) for kind in kinds])
        self.assertEqual(by_call, {})

    def test_addresses_of_copies_and_fills(self):
        for words in [], ["--driver"], ["--pinned"]:
            run = self.record("--launches", 3, "--copies", 5, "--bytes", 4096, *words, GPUTRACE_ACCESSES="1")
            self.check_everything(run)
            self.check_accesses(run)
            self.assertGreaterEqual(len(run.recording.rows("accesses")), 10)
            report = run.recording.report("hazards")
            known = {row["work"]: (row["count"], row["known"]) for row in report["covered"]}
            self.assertEqual(known["copies"], (run.facts["copies"],) * 2)
            self.assertEqual(known.get("fills", (0, 0)), (run.facts["fills"],) * 2)
            self.assertEqual(known["kernels"][1], 0)
            self.assertEqual(report["hazards"], [])

    def test_hazards_that_were_planted(self):
        for words, times in ([], 7), (["ordered"], 0):
            run = self.record(7, *words, program="app_hazards", GPUTRACE_ACCESSES="1")
            self.assertEqual(run.status, 0, run.stderr)
            self.check_accesses(run)
            report = run.recording.report("hazards")
            found = {row["kind"]: (row["times"], row["earlier"].split(" (")[0], row["later"].split(" (")[0])
                     for row in report["hazards"]}
            expected = {"read after write": (7, "fill", "copy DtoD"), "write after read": (7, "copy DtoD", "fill"),
                        "use after free": (7, "copy DtoD", "free into a pool")}
            self.assertEqual(found, expected if times else {})
            self.assertTrue(all(row["earlier_stream"] != row["later_stream"] for row in report["hazards"]))

    def test_hazards_of_boxes_batches_and_nodes(self):
        for words, times in ([], 5), (["ordered"], 0):
            run = self.record(5, "more", *words, program="app_hazards", GPUTRACE_ACCESSES="1")
            self.assertEqual(run.status, 0, run.stderr)
            report = run.recording.report("hazards")
            covered = {row["work"]: (row["count"], row["known"]) for row in report["covered"]}
            self.assertEqual(covered, {"copies": (15, 15), "fills": (20, 20)})
            found = sorted((row["kind"], row["times"], row["bytes"], row["earlier_call"])
                           for row in report["hazards"])
            self.assertEqual(found, [] if not times else [
                ("write after read", times, 16, "cuMemcpyBatchAsync"),
                ("write after read", times, 32 * 4 * 4, "cuMemcpy3DAsync"),
                ("write after write", times, 4096, "cuGraphAddMemsetNode")])
            for row in report["hazards"]:
                if row["kind"] == "write after write":
                    self.assertEqual(row["order_by"],
                                     f"dependency of node {row['later_node']} on node {row['earlier_node']}")
                    self.assertEqual(row["earlier_stream"], row["later_stream"])

    def test_where_copies_are_asked_for(self):
        for words in [], ["--driver"], ["--pinned"]:
            run = self.record("--launches", 3, "--copies", 5, "--bytes", 4096, *words, GPUTRACE_NUMA="1")
            self.check_everything(run)
            places = run.recording.rows("copy_places")
            self.assertEqual(sorted(row["api_call"] for row in places),
                             sorted(row["api_call"] for row in run.recording.rows("copies")))
            self.assertTrue(all(row["cpu_node"] >= 0 and row["cpu"] < os.cpu_count() for row in places))
            report = run.recording.report("links")
            self.assertEqual(sum(row["copies"] for row in report["copy_nodes"]), run.facts["copies"] * 2 // 3)
        self.assertEqual(self.record("--launches", 3, "--copies", 5).recording.rows("copy_places"), [])

    def test_what_the_machine_is_made_of(self):
        run = self.record("--launches", 3, "--copies", 4, "--bytes", 4096,
                          script="devices=4,nvlinks=18,numa_nodes=2")
        self.check_everything(run)
        report = run.recording.report("topology")
        self.assertEqual({(row["from"], row["to"]): row["nvlinks"] for row in report["pairs"]},
                         {(f"GPU {a}", f"GPU {b}"): 18 for a in range(4) for b in range(a + 1, 4)})
        gpus = [row for row in report["tree"] if row["part"].strip().startswith("GPU ")]
        self.assertEqual([row["nvlinks"] for row in gpus], [18] * 4)
        self.assertIn("yes", [row["used"] for row in gpus])
        links = run.recording.report("links")["links"]
        self.assertEqual(sum(row["bytes"] for row in links), run.facts["copy_bytes"] * 2 // 3)
        self.assertEqual({row["link"] for row in links}, {"PCIe"})

    def test_a_driver_that_does_not_answer_holds_up_the_end_for_seconds_alone(self):
        run = self.record("--launches", 3, script="nvml_hang=1")
        self.assertEqual(run.status, 0)
        report = run.recording.report("topology")
        self.assertIn("NVML did not answer", "".join(report["remarks"]))

    def test_no_addresses_where_nobody_asks_for_them(self):
        run = self.record("--launches", 3, "--copies", 5, "--bytes", 4096)
        self.assertEqual(run.recording.rows("accesses"), [])

    def test_memory_of_a_program_that_works(self):
        """Two pieces on the device and one of the host for each thread, given back in the end."""
        for words in [], ["--driver"], ["--pinned"]:
            run = self.record("--launches", 3, "--copies", 2, "--bytes", 4096, *words)
            self.check_everything(run)
            rows = run.recording.rows("allocations")
            device = [row for row in rows if row["device"] == 0]
            self.assertEqual([row["size_bytes"] for row in rows], [4096] * (3 if "--pinned" in words else 2))
            self.assertEqual(len(device), 2)
            self.assertEqual([row for row in rows if row["ended_by"] is None], [])
