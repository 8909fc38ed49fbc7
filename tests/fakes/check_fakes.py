#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the fakes themselves, through the smallest subscriber: check_fakes.py FAKES_FOLDER"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

FAKES = pathlib.Path(sys.argv.pop(1)).resolve()

# CUpti_ActivityKind, and the sizes of the records of CUPTI 13.0.
MEMCPY, MEMSET, DRIVER, RUNTIME, DEVICE, CONTEXT, KERNEL, OVERHEAD = 1, 2, 4, 5, 8, 9, 10, 17
SYNC, STREAM = 38, 37
SIZES = {MEMCPY: 96, MEMSET: 88, DRIVER: 40, RUNTIME: 40, DEVICE: 184, CONTEXT: 32, KERNEL: 216,
         OVERHEAD: 56, SYNC: 56, STREAM: 24}
BUFFER_BYTES = 16384
OPEN_BIT = 0x80000000
DRIVER_DOMAIN, RUNTIME_DOMAIN = "1", "2"


class Run:
    """One run of a program under the mini injection: facts is its own line, seen what was recorded."""

    def __init__(self, *words, program="app_work", script="", inject=True, timeout=60, **settings):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "seen.json")
            environment = dict(os.environ, LD_LIBRARY_PATH=str(FAKES), FAKE_CUPTI=script)
            environment.update({name: str(value) for name, value in settings.items()})
            # the programs are no place to look for leaks, and die as they are told to
            environment["ASAN_OPTIONS"] = "detect_leaks=0:handle_segv=0:handle_abort=0"
            if inject:
                environment["CUDA_INJECTION64_PATH"] = str(FAKES / "mini_injection.so")
                environment["MINI_OUTPUT"] = str(output)
            done = subprocess.run([FAKES / "bin" / program, *map(str, words)], env=environment,
                                  capture_output=True, text=True, timeout=timeout)
            self.status, self.stderr = done.returncode, done.stderr
            lines = done.stdout.splitlines()
            self.facts = json.loads(lines[-1]) if lines else None
            self.lines = [json.loads(line) for line in lines]
            self.seen = json.loads(output.read_text()) if output.exists() else None

    def records(self, kind):
        return self.seen["records"].get(str(kind), 0)

    def bytes(self, kind):
        return self.seen["bytes"].get(str(kind), 0)


class Work(unittest.TestCase):
    def check_counts(self, run):
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.records(KERNEL), run.facts["kernel_count"])
        self.assertEqual(run.records(MEMCPY), run.facts["copies"])
        self.assertEqual(run.bytes(MEMCPY), run.facts["copy_bytes"])
        self.assertEqual(run.records(MEMSET), run.facts["fills"])
        self.assertEqual(run.bytes(MEMSET), run.facts["fill_bytes"])
        self.assertEqual(run.seen["errors"] > 0, run.facts["errors"] > 0)
        self.assertEqual(run.seen["entries"][DRIVER_DOMAIN], run.seen["exits"][DRIVER_DOMAIN])
        self.assertEqual(run.seen["early"], 0)
        self.assertEqual(run.seen["without_times"], 0)
        self.assertEqual(run.seen["dropped"], 0)
        self.assertEqual(run.seen["buffers_given"], run.seen["buffers_returned"])

    def test_runs_without_a_subscriber(self):
        run = Run("--launches", 5, "--copies", 2, inject=False)
        self.assertEqual((run.status, run.facts["launches"]), (0, 5))

    def test_driver_api_is_recorded(self):
        run = Run("--driver", "--launches", 30, "--names", 3, "--streams", 2, "--threads", 3,
                  "--copies", 4, "--bytes", 5000, "--fills", 2, "--errors", 2)
        self.check_counts(run)
        self.assertEqual(run.facts["launches"], 90)
        self.assertEqual(run.records(STREAM), 3)
        self.assertEqual(run.records(DEVICE), 1)
        self.assertEqual(run.records(CONTEXT), 1)
        self.assertEqual(run.records(SYNC), 1)
        self.assertGreater(run.records(OVERHEAD), 0)
        self.assertNotIn(RUNTIME_DOMAIN, run.seen["entries"])

    def test_runtime_api_wraps_the_driver_api(self):
        run = Run("--launches", 20, "--copies", 3, "--fills", 1, "--errors", 1, "--pinned")
        self.check_counts(run)
        # a launch is cuModuleGetFunction and cuLaunchKernel inside cudaLaunchKernel
        self.assertGreaterEqual(run.seen["nested"], 40)
        self.assertEqual(run.records(RUNTIME), run.seen["exits"][RUNTIME_DOMAIN])

    def test_many_launches_fill_many_buffers(self):
        run = Run("--launches", 2000, "--threads", 4, MINI_FLUSH_MS=5)
        self.check_counts(run)
        self.assertGreater(run.seen["buffers_given"], 100)

    def test_kernels_of_a_graph_launch_share_a_correlation_id(self):
        run = Run("--driver", "--graph", "3x4")
        self.check_counts(run)
        self.assertEqual(run.facts["kernel_count"], 12)

    def test_cuda_12_layouts(self):
        for settings in ({"script": "version=22"}, {"MINI_CUPTI": "libcupti.so.12",
                         "LD_LIBRARY_PATH": f"{FAKES / 'cupti12'}:{FAKES}"}):
            run = Run("--launches", 200, "--copies", 3, "--fills", 2, **settings)
            self.assertEqual(run.seen["version"], 22)
            self.check_counts(run)

    def test_no_gpu(self):
        run = Run("--driver", script="devices=0")
        self.assertEqual(run.status, 99)
        self.assertIn("cuInit: 100", run.stderr)


class Scripts(unittest.TestCase):
    def test_late_records_wait(self):
        prompt = Run("--launches", 5, "--sleep-ms", 60, MINI_FLUSH_MS=10)
        late = Run("--launches", 5, "--sleep-ms", 60, MINI_FLUSH_MS=10, script="late=1000")
        self.assertGreater(prompt.seen["first_flush_records"], 0)
        self.assertEqual(late.seen["first_flush_records"], 0)
        self.assertEqual(late.records(KERNEL), 5)

    def test_shuffle_changes_the_order_and_nothing_else(self):
        plain = Run("--launches", 50)
        shuffled = Run("--launches", 50, script="shuffle=3")
        self.assertEqual(plain.seen["disordered"], 0)
        self.assertGreater(shuffled.seen["disordered"], 0)
        self.assertEqual(plain.seen["records"], shuffled.seen["records"])

    def test_open_kernels_have_no_times(self):
        run = Run("--launches", 20, "--sleep-ms", 30, script="open=3", MINI_FLUSH_MS=5)
        self.assertEqual(run.records(KERNEL), 20)
        self.assertEqual(run.seen["without_times"], 3)

    def test_dropped_records_are_counted(self):
        run = Run("--launches", 100, script="drop=7")
        self.assertEqual(run.records(KERNEL), 100 - 100 // 7)
        self.assertEqual(run.seen["dropped"], 100 // 7)

    def test_busy_subscriber(self):
        run = Run("--launches", 4, script="subscriber=busy")
        self.assertEqual((run.status, run.facts["launches"]), (0, 4))
        self.assertEqual(run.seen["subscribed"], 39)
        self.assertEqual(run.seen["records"], {})

    def test_subscribe_fails(self):
        run = Run("--launches", 4, script="init_fail=1")
        self.assertEqual((run.status, run.seen["subscribed"]), (0, 15))

    def test_kind_that_cannot_be_enabled(self):
        run = Run("--launches", 4, "--fills", 3, "--copies", 1, script="enable_fail=memset+stream")
        self.assertEqual((run.records(MEMSET), run.records(STREAM)), (0, 0))
        self.assertEqual((run.records(MEMCPY), run.records(KERNEL)), (3, 4))

    def test_flush_hangs(self):
        with self.assertRaises(subprocess.TimeoutExpired):
            Run("--launches", 4, script="flush_hang=1", timeout=1)

    def test_clock_offset(self):
        # kernels of a clock that lags begin before their launch, as CLOCK_REALTIME sees it
        behind = 2 ** 64 - 3600 * 10 ** 9
        run = Run("--launches", 10, script=f"clock_offset={behind}")
        self.assertEqual(run.seen["early"], 10)

    def test_what_is_not_understood_ends_the_program(self):
        for script in ("lat=3", "late", "late=x", "enable_fail=kernels", "subscriber=idle",
                       "devices=9", "late=-1"):
            run = Run("--launches", 1, script=script)
            self.assertEqual(run.status, -signal.SIGABRT, script)
            self.assertIn("fakes:", run.stderr)


class Endings(unittest.TestCase):
    def test_status(self):
        for end, status in (("return=3", 3), ("exit=4", 4), ("_exit=5", 5),
                            ("abort", -signal.SIGABRT), ("segv", -signal.SIGSEGV),
                            ("kill", -signal.SIGKILL), ("term", -signal.SIGTERM)):
            run = Run("--launches", 3, "--end", end)
            self.assertEqual((run.status, run.facts["launches"]), (status, 3), end)

    def test_fork(self):
        for end in ("fork", "fork_cuda"):
            run = Run("--launches", 3, "--end", end)
            self.assertEqual(run.status, 0, run.stderr)
            self.assertEqual(run.records(KERNEL), 3)

    def test_exec(self):
        run = Run("--launches", 3, "--end", "exec", "--execs", 2)
        self.assertEqual([line["launches"] for line in run.lines], [3, 3, 3])
        self.assertEqual(run.records(KERNEL), 3)

    def test_a_killed_process_leaves_its_buffers(self):
        """Every call is there; kernels that ended before the last flush have times."""
        with tempfile.TemporaryDirectory() as folder:
            shared = pathlib.Path(folder, "buffers")
            run = Run("--driver", "--launches", 200, "--sleep-ms", 100, "--end", "kill",
                      MINI_SHARED=shared, MINI_FLUSH_MS=20)
            self.assertEqual(run.status, -signal.SIGKILL)
            records = list(self.walk(shared.read_bytes()))
        kernels = [(start, end) for kind, start, end, is_open in records
                   if kind == KERNEL and not is_open]
        self.assertEqual(len(kernels), 200)
        self.assertTrue(all(0 < start < end for start, end in kernels))
        calls = sum(run.facts["calls"].values())
        self.assertEqual(sum(kind == DRIVER for kind, *_ in records), calls)

    def test_an_unfinished_kernel_stands_open_in_its_buffer(self):
        with tempfile.TemporaryDirectory() as folder:
            shared = pathlib.Path(folder, "buffers")
            Run("--driver", "--no-sync", "--launches", 7, "--end", "kill", MINI_SHARED=shared,
                script="kernel_ns=1000000000")
            kernels = [record for record in self.walk(shared.read_bytes()) if record[0] == KERNEL]
        self.assertEqual(kernels, [(KERNEL, 0, 0, True)] * 7)

    @staticmethod
    def walk(memory):
        for base in range(0, len(memory), BUFFER_BYTES):
            offset = base
            while offset + 4 <= base + BUFFER_BYTES:
                kind, = struct.unpack_from("<I", memory, offset)
                if kind == 0:
                    break
                start = end = 0
                if kind & ~OPEN_BIT == KERNEL:
                    start, end = struct.unpack_from("<QQ", memory, offset + 16)
                yield kind & ~OPEN_BIT, start, end, bool(kind & OPEN_BIT)
                offset += SIZES[kind & ~OPEN_BIT]
            if offset == base:
                break


class Captures(unittest.TestCase):
    """Launches into a captured stream, from any thread, make a graph and run nothing."""

    def check(self, *words):
        run = Run(*words, program="app_captures")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.records(KERNEL), run.facts["kernel_count"])
        self.assertEqual(run.facts["captured"], 15)
        self.assertEqual(sum(run.facts["kernels"].values()), run.facts["kernel_count"])

    def test_by_the_runtime(self):
        self.check()

    def test_by_the_driver(self):
        self.check("--driver", "--replays", 0)

    def test_ended_by_another_thread(self):
        self.check("--end-elsewhere")


class Waits(unittest.TestCase):
    """Calls that wait, order and ask come with parameters, and do what they say."""
    SLOW = "kernel_ns=2000000"

    def check(self, run):
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.seen["waits"], run.facts["waits"])
        self.assertEqual((run.seen["unknown_streams"], run.seen["unknown_events"]), (0, 0))
        self.assertEqual(run.seen["consumed"], run.facts["dependencies"])
        self.assertEqual(run.seen["consumed_early"], 0)
        self.assertEqual(run.facts["host_functions"], run.facts["rounds"])

    def test_runtime_calls(self):
        self.check(Run(program="app_waits", script=self.SLOW))

    def test_driver_calls(self):
        self.check(Run("--driver", "--rounds", 7, program="app_waits", script=self.SLOW))

    def test_queries_answer_by_time(self):
        run = Run("--rounds", 2, program="app_waits", script=self.SLOW)
        self.assertEqual((run.facts["ready"], run.facts["busy"]), (2, 4))

    def test_synchronization_records_are_those_of_the_real_library(self):
        run = Run("--rounds", 5, program="app_waits")
        expected = sum(run.facts["waits"][kind] for kind in (
            "EVENT_SYNCHRONIZE", "STREAM_WAIT_EVENT", "STREAM_SYNCHRONIZE", "CONTEXT_SYNCHRONIZE"))
        self.assertEqual(run.records(SYNC), expected)


class Programs(unittest.TestCase):
    def test_libcuda_opened_late(self):
        run = Run(12, program="app_dlopen")
        self.assertEqual((run.status, run.records(KERNEL)), (0, 12), run.stderr)

    def test_a_program_that_subscribes(self):
        alone = Run("first", program="app_subscriber", inject=False)
        self.assertEqual((alone.status, alone.facts["subscribed"]), (0, 0))
        self.assertGreater(alone.facts["callbacks"], 10)
        first = Run("first", program="app_subscriber")
        self.assertEqual((first.facts["subscribed"], first.seen["subscribed"]), (0, 39))
        later = Run("later", program="app_subscriber")
        self.assertEqual((later.facts["subscribed"], later.seen["subscribed"]), (39, 0))
        self.assertEqual(later.records(KERNEL), 5)

    def test_nvml_and_cuda_mean_the_same_gpu(self):
        run = Run(program="app_nvml", inject=False)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.facts, {
            "before_init": 1, "name": "NVIDIA H200", "pci": "0000:19:00.0",
            "uuid": "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00", "by_uuid": 0, "by_pci": 0})


class Nvml(unittest.TestCase):
    """What NVML tells before, during and after a kernel of 200 ms."""
    IDLE_MW, BUSY_MW = 120000, 620000

    def watch(self, script=""):
        script = f"kernel_ns=200000000,{script}".rstrip(",")
        run = Run(program="app_power", script=script, inject=False)
        self.assertEqual(run.status, 0, run.stderr)
        return run.lines

    def test_power_and_clocks_follow_the_work(self):
        lines = self.watch()
        self.assertEqual([line["when"] for line in lines], ["before", "meanwhile", "after"])
        for name, idle, busy in (("instant_mw", self.IDLE_MW, self.BUSY_MW),
                                 ("sm_mhz", 345, 1980), ("gpu_percent", 0, 97), ("reasons", 1, 0)):
            self.assertEqual([line[name] for line in lines], [idle, busy, idle], name)
        self.assertEqual(lines[0]["power_mw"], self.IDLE_MW)
        for line in lines[1:]:
            self.assertGreater(line["power_mw"], self.IDLE_MW)
            self.assertLess(line["power_mw"], self.BUSY_MW)
        self.assertEqual([line["celsius"] for line in lines], [35, 35, 37])

    def test_energy_is_the_integral_of_the_power(self):
        before, _, after = self.watch()
        elapsed_s = (after["time_ns"] - before["time_ns"]) / 1e9
        expected = self.IDLE_MW * (elapsed_s - 0.2) + self.BUSY_MW * 0.2
        self.assertAlmostEqual(after["energy_mj"] - before["energy_mj"], expected, delta=3000)
        received = after["received"] - before["received"]
        self.assertAlmostEqual(received, 2e9 * elapsed_s, delta=1e7)

    def test_a_throttle_lasts_as_long_as_it_is_told_to(self):
        lines = self.watch("throttle=36,throttle_start_ms=40,throttle_ms=110")
        self.assertEqual([line["reasons"] for line in lines], [1, 36, 1])
        self.assertEqual(lines[1]["sm_mhz"], 1200)
        self.assertEqual([line["reasons"] for line in self.watch("throttle=8")], [9, 8, 9])

    def test_another_process_is_listed(self):
        alone = self.watch()
        self.assertEqual([line["processes"] for line in alone], [1, 1, 1])
        self.assertEqual([line["last_pid"] for line in alone], [alone[0]["pid"]] * 3)
        self.assertEqual([line["running"] for line in alone], [None, 1, None])
        together = self.watch("others_bytes=1000000,others_percent=30")
        self.assertEqual([line["last_bytes"] for line in together], [1000000] * 3)
        self.assertEqual([line["running"] for line in together], [1, 2, 1])
        self.assertEqual([line["last_percent"] for line in together], [30] * 3)
        self.assertEqual(together[0]["used_bytes"] - alone[0]["used_bytes"], 1000000)
        self.assertEqual(together[0]["too_small"], 7)

    def test_ids_may_be_the_hosts(self):
        line = self.watch("host_pids=1")[0]
        self.assertEqual(line["last_pid"], line["pid"] + 5000000)

    def test_what_is_not_supported_says_so(self):
        known = self.watch()[0]
        for failure, names in (("power", ["power_mw"]), ("power_instant", ["instant_mw"]),
                               ("energy", ["energy_mj"]), ("clocks", ["sm_mhz"]),
                               ("temperature", ["celsius"]), ("utilization", ["gpu_percent"]),
                               ("memory", ["used_bytes"]), ("throttle", ["reasons"]),
                               ("pcie_bytes", ["received"]),
                               ("processes", ["processes", "last_pid", "last_bytes"])):
            line = self.watch(f"nvml_fail={failure}")[0]
            self.assertEqual([name for name in known if known[name] is not None
                              and line[name] is None], names)
        line = self.watch("nvml_fail=power+energy")[1]
        self.assertEqual((line["power_mw"], line["energy_mj"]), (None, None))
        self.assertEqual(Run(program="app_power", script="nvml_fail=weather",
                             inject=False).status, -signal.SIGABRT)


unittest.main()
