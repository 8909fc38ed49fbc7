# SPDX-License-Identifier: Apache-2.0
"""Kernels write events, and each arrives once or is counted as lost.

Covers SOURCE(device_events).
"""
import json
import subprocess

from case import Case
from programs import BUILD, PATIENCE_S, SECOND


class Device(Case):
    """Events that kernels write, which threads of app_device play with the writer that kernels have."""

    INT, TIME = 4, 6

    def play(self, *words, options=("--device-events=1M",), **keywords):
        return self.record(*words, program="app_device", options=("--no-export", *options), **keywords)

    @staticmethod
    def records(run, kind):
        rows = []
        for capture in sorted(run.stem.with_suffix(".gputrace").glob("*.capture")):
            shown = subprocess.run([BUILD / "bin" / "show_records", capture, kind],
                                   capture_output=True, text=True, check=True, timeout=5 * PATIENCE_S)
            rows += json.loads(f"[{','.join(shown.stdout.splitlines())}]")  # at once: there may be many
        return rows

    def events(self, run):
        return [event for event in self.records(run, "device_event") if event["tag"] & 15 != self.TIME]

    def values_of(self, events):
        return sorted(event["value"] for event in events if event["tag"] & 15 == self.INT)

    def values(self, run):
        return self.values_of(self.events(run))

    def ring(self, run):
        return [ring for ring in self.records(run, "device_ring") if not ring["made_ns"] and not ring["gone_ns"]][-1]

    @staticmethod
    def expected(launches, writers, events):
        return sorted(launch << 48 | writer << 32 | i for launch in range(launches)
                      for writer in range(writers) for i in range(events))

    def check_exact(self, run, launches=2, writers=4, events=10):
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.facts["unheard"], 0)
        written = self.events(run)
        self.assertEqual(self.values_of(written), self.expected(launches, writers, events))
        self.assertEqual(len(written), run.facts["written"])

    def test_every_event_arrives_once(self):
        run = self.play("--events", 300, "--writers", 16, "--launches", 3)
        self.check_exact(run, 3, 16, 300)
        self.assertEqual(self.ring(run)["lost"], 0)
        self.assertEqual(run.recording.ledger["device_events"], len(self.records(run, "device_event")))
        self.assertEqual(run.recording.ledger["device_events_broken"], 0)
        self.assertEqual(run.recording.notes, [])

    def test_contexts_one_after_another_write_as_well(self):
        """More of them than there may be at a time: what one has had the next ones have again."""
        for words in ((), ("--reload",), ("--argument",)):
            with self.subTest(words=words):
                run = self.play("--contexts", 20, "--launches", 2, "--events", 3, *words)
                self.check_exact(run, 40, 4, 3)
                self.assertEqual(run.recording.notes, [])

    def test_a_module_that_lies_where_another_one_did_writes_as_well(self):
        self.check_exact(self.play("--reload", "--launches", 4), launches=4)
        self.check_exact(self.play("--reload", "--graph", "--launches", 3), launches=3)

    def test_chunks_that_are_taken_together_arrive_as_well(self):
        # 32768 chunks: runs of up to 16
        run = self.play("--events", 3000, "--writers", 4, "--launches", 3, options=("--device-events=16M",))
        self.check_exact(run, 3, 4, 3000)
        ring = self.ring(run)
        used = {chunk["ticket"] for chunk in self.records(run, "device_chunk")}
        self.assertGreater(ring["chunks"], len(used))  # those at the end of a run, which nobody needed
        self.assertEqual(ring["lost"], 0)
        self.assertEqual(run.recording.ledger["device_events_broken"], 0)

    def test_chunks_of_runs_are_used_again(self):
        # 16384 chunks: runs of up to 8; more than the ring holds
        run = self.play("--events", 45000, "--writers", 12, "--launches", 1, "--pause", 100,
                        options=("--device-events=8M", "--device-events-interval", "1ms"))
        self.check_exact(run, 1, 12, 45000)

    def test_chunks_say_who_wrote_them(self):
        run = self.play("--events", 100, "--writers", 3, "--launches", 1)
        chunks = {chunk["ticket"]: chunk for chunk in self.records(run, "device_chunk")}
        for event in self.events(run):
            chunk = chunks[event["ticket"]]
            if event["tag"] & 15 == self.INT:
                self.assertEqual(event["value"] >> 32, chunk["block"])
            self.assertEqual((chunk["blocks"], chunk["threads"], chunk["sm"]), (3, 128, chunk["block"]))
            self.assertEqual(event["context"], chunk["context"])
        parts = sorted((chunk["block"], chunk["part"]) for chunk in chunks.values())
        self.assertEqual(parts, [(block, part) for block in range(3) for part in range(len(parts) // 3)])

    def test_more_than_the_ring_holds_is_copied_out_meanwhile(self):
        # 2048 chunks of 28 events
        run = self.play("--events", 12000, "--writers", 8, "--pause", 1,
                        options=("--device-events=1M", "--device-events-interval", "1ms"))
        self.check_exact(run, 2, 8, 12000)

    def test_a_full_ring_loses_what_the_count_says(self):
        run = self.play("--events", 200000, "--launches", 1,
                        options=("--device-events=1M", "--device-events-interval", "10s"))
        ring = self.ring(run)
        self.assertGreater(ring["lost"], 0)
        self.assertEqual(ring["chunk_count"], 2048)
        values = self.values(run)
        self.assertEqual(len(values), len(set(values)))
        self.assertEqual(len(self.events(run)) + ring["lost"], run.facts["written"])
        self.assertEqual(run.recording.ledger["device_events_lost"], ring["lost"])

    def test_the_last_events_are_kept_where_that_is_asked_for(self):
        run = self.play("--events", 40000, "--launches", 1,
                        options=("--device-events=1M", "--device-events-last"))
        ring = self.ring(run)
        kept = self.events(run)
        self.assertEqual(ring["flags"], 1)
        self.assertGreater(ring["overwritten"], 0)
        times = len(self.records(run, "device_event")) - len(kept)
        self.assertGreater(len(kept) + times, 2000 * 28)
        self.assertEqual(run.recording.ledger["device_events_lost"], ring["lost"] + ring["overwritten"])
        # of each writer the last ones
        last = {}
        for value in self.values(run):
            last.setdefault(value >> 32, []).append(value & 0xffffffff)
        for writer, numbers in last.items():
            if numbers[-1] == 39999:
                # A chunk that its writer held while the others came round once is passed over, and stays longer.
                first = next(i for i in range(len(numbers)) if numbers[i] == 40000 - len(numbers) + i)
                self.assertLessEqual(first, 28, f"{writer}: {numbers[:first + 1]}")
                self.assertEqual(numbers[first:], list(range(40000 - len(numbers) + first, 40000)), writer)
        self.assertTrue(any(numbers[-1] == 39999 for numbers in last.values()))

    def test_events_of_a_kernel_that_does_not_end_are_there(self):
        run = self.play("--for-ever", "--pause", 1000, "--end", "kill", "--launches", 1)
        self.assertEqual(run.status, 137)
        values = self.values(run)
        self.assertGreater(len(values), 1000)
        self.assertEqual(len(values), len(set(values)))
        for writer in range(4):
            numbers = [value & 0xffffffff for value in values if value >> 32 == writer]
            self.assertEqual(numbers, list(range(len(numbers))))

    def test_what_was_copied_until_then_survives_every_end(self):
        for end, status in (("_exit", 0), ("abort", 134), ("kill", 137), ("exec", 0), ("fork", 0)):
            with self.subTest(end=end):
                run = self.play("--pause", 3000, "--events", 30, "--end", end)
                self.assertEqual(run.status, status, run.stderr)
                expected = self.expected(2, 4, 30)
                values = self.values(run)
                self.assertEqual(len(values), len(set(values)))
                self.assertTrue(set(values) <= set(expected))
                self.assertGreater(len(values), 100)
                if end == "fork":
                    self.assertEqual(values, expected)

    def test_what_is_in_the_ring_is_copied_before_its_context_ends(self):
        run = self.play("--destroy", options=("--device-events", "--device-events-interval", "10s"))
        self.check_exact(run)
        self.assertEqual(self.ring(run)["chunk_count"], 32768)
        rings = self.records(run, "device_ring")
        made = [ring for ring in rings if ring["made_ns"]]
        gone = [ring for ring in rings if ring["gone_ns"]]
        self.assertEqual([ring["chunk_count"] for ring in made], [32768])
        self.assertEqual([ring["context"] for ring in gone], [ring["context"] for ring in made])
        self.assertGreater(gone[0]["gone_ns"], made[0]["made_ns"])

    def test_programs_may_ask_for_the_ring(self):
        self.check_exact(self.play("--argument"))

    def test_kernels_of_no_context_and_nodes_made_by_hand_find_it(self):
        self.check_exact(self.play("--kernel"))
        self.check_exact(self.play("--graph"))

    def test_a_module_without_the_variable_costs_nothing(self):
        for options in (("--device-events",), ()):
            run = self.play("--plain", options=options)
            self.assertEqual(run.facts["unheard"], 8)
            self.assertEqual(self.records(run, "device_ring"), [])
            self.assertEqual(run.recording.ledger["own_launches"], 0)
            self.assertEqual(run.recording.notes, [])

    def test_nothing_is_written_where_nobody_asked(self):
        for words in (("--argument",), ()):
            run = self.play(*words, options=())
            self.assertEqual((run.status, run.facts["unheard"]), (0, 8))
            self.assertEqual(self.records(run, "device_name"), [])
        self.assertEqual(self.bare(program="app_device").facts["unheard"], 8)

    def test_what_gputrace_does_itself_is_in_no_figure(self):
        for api in ("light", "outer", "all"):
            run = self.play("--plain", "--launches", 5, options=("--device-events", "--api", api))
            other = self.play("--launches", 5, options=("--device-events", "--api", api))
            self.assertEqual(other.recording.kernels(), run.recording.kernels())
            calls = other.recording.functions()
            calls.pop("cuModuleGetGlobal", None)
            self.assertEqual(calls, run.recording.functions())
            self.assertEqual(other.recording.tables["copies"], 0)
            self.assertEqual(other.recording.tables["fills"], 0)
            self.assertGreater(other.recording.ledger["own_launches"], 0)

    def test_the_clock_is_read_by_kernels_of_our_own(self):
        run = self.play("--events", 1100, "--pause", 2000, "--launches", 1, "--writers", 1)
        times = self.records(run, "device_time")
        self.assertGreater(len(times), 8)
        self.assertEqual(len({time["correlation"] for time in times}), len(times))
        own = {call["correlation"] for call in self.records(run, "own_call")}
        for time_ in times:
            self.assertIn(time_["correlation"], own)
            self.assertEqual(time_["step_ns"], 32)
            self.assertLess(time_["first_ns"], time_["last_ns"])
        self.assertGreater(times[-1]["first_ns"] - times[0]["first_ns"], SECOND)

    def test_without_api_calls_the_clock_is_read_all_the_same(self):
        run = self.play(options=("--device-events", "--api", "none"))
        self.check_exact(run)
        own = {call["correlation"] for call in self.records(run, "own_call")}
        times = self.records(run, "device_time")
        self.assertGreaterEqual(len(times), 8)
        self.assertTrue({time["correlation"] for time in times} <= own)
        self.assertEqual(sum(run.recording.kernels().values()), 2)

    def test_names_are_told_once_and_bad_ones_are_refused(self):
        run = self.play()
        self.assertEqual(len(self.records(run, "device_name")), 2)
        self.assertEqual(run.recording.ledger["device_names_refused"], 0)
        for name, refused in (("x" * 63, 0), ("x" * 64, 1), ("", 0)):
            run = self.play("--name", name)
            self.assertEqual(run.recording.ledger["device_names_refused"], refused)
            self.assertEqual(len(self.records(run, "device_name")), 2 + (bool(name) and not refused))

    def test_less_memory_makes_a_smaller_ring(self):
        run = self.play(options=("--device-events=8M",), script="most_bytes=3000000")
        self.check_exact(run)
        self.assertEqual(self.ring(run)["chunk_count"], 4096)
        self.assertIn("less memory", " ".join(run.recording.notes))

    def test_the_program_does_not_notice_what_fails(self):
        alone = self.bare(program="app_device")
        for script in ("most_bytes=1000", *(f"cuda_fail={call}" for call in (
                "memory_alloc", "host_alloc", "host_address", "stream_create", "set_bytes", "copy_in", "copy_out",
                "context_push", "time_module", "time_launch", "function_module", "exchange_capture"))):
            with self.subTest(script=script):
                run = self.play(script=script)
                self.assertEqual((run.status, run.facts["calls"]), (0, alone.facts["calls"]), run.stderr)
                self.assertEqual(run.recording.tables["kernels"], 2)
                if script.endswith(("context_push", "function_module", "exchange_capture")):
                    continue
                notes = run.recording.notes
                if "time_" in script:  # the collector has its own word on that
                    self.assertIn("left out", notes.pop())
                self.assertEqual(len(notes), 1, notes)

    def test_a_gpu_that_does_not_come_to_copies_holds_nobody_up(self):
        for first in (1, 4):
            run = self.play(script=f"copy_hang={first}", options=("--device-events",))
            self.assertEqual(run.status, 0, run.stderr)
            self.assertGreater(len(run.recording.notes), 0)
            self.assertEqual(run.recording.tables["kernels"], 2)
