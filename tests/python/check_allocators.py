#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what gputrace run --allocators brings into programs in Python, with stubs of torch and jax beside this file.

    tests/python/check_allocators.py GPUTRACE [GROUP...]    groups: Sampled Blocks Executables Apart Kept Asked

Calls of the injection library go to tests/fakes/libraries/told_pools.c in its place.
"""
import collections
import json
import re
import subprocess
import sys
import time
import unittest

from case import FAKES, GPUTRACE, HERE, NEW, Case

PROGRAMS = HERE.parent / "gpu" / "programs" / "python"
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROGRAMS))

import pool_moments  # noqa: E402

HEADER = HERE.parent.parent / "include" / "gputrace" / "gputrace.h"
TOLD = FAKES / "told_pools.so"
SHOWS = [FAKES.parent / "bin" / name for name in ("show_rows", "show_ranges")]
BEGIN = f"import sys, time; sys.path.insert(0, {str(HERE)!r})\n"
# A program that knows of gputrace may ask for the figures of this moment.
NOW = "sys.modules['gputrace_allocators'].sample()\n"
POOL = "PyTorch caching allocator"
REPORTS = subprocess.run([GPUTRACE, "report", "--help"], capture_output=True, text=True, check=True).stdout
Pool = collections.namedtuple("Pool", "fits place device teller name")


def fields(name, struct):
    """Members of a struct of the header, in its order."""
    text = re.search(r"^struct %s \{\n(.*?)^\};" % struct, HEADER.read_text(), re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^\tuint64_t (\w+);", text, re.MULTILINE)


FIGURES = fields("figures", "gputrace_pool_stats")


@unittest.skipUnless(TOLD.exists(), "the fakes are not built")
class Told(Case):
    asked = "pytorch"

    def tell(self, text, *arguments, asked=None, words="", **more):
        """Runs a program; it must end well and say nothing else than it prints."""
        told = self.folder / "told"
        told.unlink(missing_ok=True)
        program = self.write("main.py", BEGIN + text)
        settings = {"GPUTRACE_ALLOCATORS": asked or self.asked, "GPUTRACE_ALLOCATOR_INTERVAL": "3600s",
                    "CUDA_INJECTION64_PATH": str(TOLD), "TOLD_POOLS": str(told), "STUB_INJECTS": "1"}
        said = self.stub(program, *arguments, words=words, **dict(settings, **more))
        self.lines = told.read_text().splitlines() if told.exists() else []
        return said

    def pools(self):
        found = {}
        for line in self.lines:
            word, number, *rest = line.split(" ", 6)
            if word == "pool":
                found[int(number)] = Pool(*map(int, rest[:4]), rest[4])
        return found

    def stats(self, pool=1):
        """The samples of a pool, in order, without what is not known."""
        samples = []
        for line in self.lines:
            word, *numbers = line.split(" ")
            if word == "stats" and int(numbers[0]) == pool:
                self.assertEqual((numbers[1], len(numbers)), ("1", 2 + len(FIGURES)))
                samples.append({name: int(figure) for name, figure in zip(FIGURES, numbers[2:]) if int(figure) >= 0})
        return samples


class Sampled(Told):
    TWO = ("import torch\n"
           "memory = torch.cuda.memory\n"
           "small = memory.caching_allocator_alloc(1000)\n"
           "large = memory.caching_allocator_alloc(3 << 20)\n" + NOW +
           "print(dict(memory.memory_stats()))\n"
           "memory.caching_allocator_delete(small)\n" + NOW +
           "print(dict(memory.memory_stats()))\n")

    def test_are_the_figures_that_the_program_sees_at_the_same_moments(self):
        for python in NEW:
            seen = [eval(line) for line in self.tell(self.TWO, python=python).splitlines()]
            self.assertEqual(self.pools(), {1: Pool(1, 0, 0, 1, POOL)})
            samples = self.stats()
            self.assertEqual(len(samples), 3)
            for stats, sample in zip(seen, samples):
                self.assertEqual(
                    [sample[name] for name in ("num_allocs", "num_frees", "bytes_in_use", "bytes_requested",
                                               "peak_bytes_in_use", "bytes_reserved", "peak_bytes_reserved",
                                               "num_segments", "num_reserve_calls", "num_trims", "num_failed")],
                    [stats[name] for name in (
                        "allocation.all.allocated", "allocation.all.freed", "allocated_bytes.all.current",
                        "requested_bytes.all.current", "allocated_bytes.all.peak", "reserved_bytes.all.current",
                        "reserved_bytes.all.peak", "segment.all.current", "num_device_alloc", "num_device_free",
                        "num_ooms")])
                self.assertEqual(sample["cached"], sample["bytes_reserved"] - sample["bytes_in_use"])
                self.assertEqual(sample["free"], sample["cached"])
            self.assertEqual([sample["num_frees"] for sample in samples], [0, 1, 1])

    def test_know_the_largest_free_block_from_a_snapshot(self):
        for version in ("2.3.0", "2.11.0"):
            self.tell(self.TWO, STUB_VERSION=version)
            # The rest of 2 MiB, in whose front 1,024 bytes are in use at first.
            self.assertEqual([sample["largest_free_block"] for sample in self.stats()][:2],
                             [(2 << 20) - 1024, 2 << 20])

    def test_leave_out_what_torch_does_not_tell(self):
        self.tell(self.TWO)
        for sample in self.stats():
            self.assertEqual({"largest_alloc", "bytes_reservable_limit", "limit", "num_splits"} & set(sample), set())

    def test_of_an_old_torch_count_its_segments(self):
        self.tell(self.TWO, STUB_VERSION="2.3.1")
        self.assertEqual([sample["num_reserve_calls"] for sample in self.stats()], [2, 2, 2])

    def test_are_of_each_device_that_was_used(self):
        self.tell("import torch\nfor device in 0, 2:\n    torch.cuda.memory.caching_allocator_alloc(700, device)\n",
                  STUB_DEVICES="4")
        self.assertEqual([pool.device for pool in self.pools().values()], [0, 2])
        self.assertEqual([len(self.stats(pool)) for pool in (1, 2)], [1, 1])

    def test_are_taken_at_an_interval_and_at_the_end(self):
        self.tell("import torch\ntorch.cuda.memory.caching_allocator_alloc(700)\n"
                  "end = time.monotonic() + 20\n"
                  f"while time.monotonic() < end and open({str(self.folder / 'told')!r}, 'a+').tell() < 1000:\n"
                  "    time.sleep(0.01)\n"
                  "torch.cuda.memory.caching_allocator_alloc(700)\n", GPUTRACE_ALLOCATOR_INTERVAL="10ms")
        samples = self.stats()
        self.assertGreater(len(samples), 3)
        self.assertEqual([samples[at]["num_allocs"] for at in (0, -1)], [1, 2])
        self.assertTrue(any(re.match(r"Allocators were asked \d+ times, which took [0-9.]+ us on average", note)
                            for note in self.notes()), self.notes())

    def test_are_told_when_no_memory_was_found(self):
        said = self.tell("import torch\ntorch.cuda.memory.caching_allocator_alloc(1 << 20)\n"
                         "try:\n    torch.cuda.memory.caching_allocator_alloc(9 << 20)\n"
                         "except torch.cuda.memory.OutOfMemoryError as error:\n    print(error)\n",
                         STUB_LIMIT=str(8 << 20))
        self.assertEqual(said, "CUDA out of memory. Tried to allocate 9437184 bytes\n")
        self.assertEqual([sample["num_failed"] for sample in self.stats()], [1, 1])
        text = "PyTorch out of memory: 9437184 bytes wanted on device 0, which has 6291456 bytes free"
        self.assertEqual(self.texts("mark"), [text])
        self.assertIn(text, self.notes())

    def test_tell_of_private_pools_at_the_end(self):
        self.tell("import torch\ntorch.cuda.memory.caching_allocator_alloc(1 << 20, 1, (0, 3))\n")
        self.assertIn("PyTorch's private pool (0, 3) of device 1 had up to 2097152 bytes, of which 1048576 were in use",
                      self.notes())

    PRIVATE = ("import torch\nmemory = torch.cuda.memory\n"
               "memory.caching_allocator_alloc(1000)\n"
               "small = memory.caching_allocator_alloc(1000, 0, (0, 3))\n"
               "memory.caching_allocator_alloc(3 << 20, 0, (0, 3))\n"
               "memory.caching_allocator_alloc(700, 0, (5, 0))\n" + NOW)

    def test_of_private_pools_are_their_own_and_in_the_device_s(self):
        self.tell(self.PRIVATE + "memory.caching_allocator_delete(small)\n" + NOW)
        self.assertEqual({pool.name: (pool.device, pool.teller) for pool in self.pools().values()},
                         {POOL: (0, 1), "PyTorch private pool (0, 3)": (0, 4), "PyTorch private pool (5, 0)": (0, 4)})
        numbers = {pool.name: number for number, pool in self.pools().items()}
        private = self.stats(numbers["PyTorch private pool (0, 3)"])
        # 1,024 bytes of a segment of 2 MiB, and 3 MiB of one of 4.
        self.assertEqual(private[0], {"bytes_in_use": 1024 + (3 << 20), "bytes_requested": 1000 + (3 << 20),
                                      "bytes_reserved": 6 << 20, "cached": (3 << 20) - 1024,
                                      "free": (3 << 20) - 1024, "largest_free_block": (2 << 20) - 1024,
                                      "num_segments": 2})
        self.assertEqual((private[-1]["bytes_in_use"], private[-1]["largest_free_block"]), (3 << 20, 2 << 20))
        self.assertEqual(self.stats(numbers["PyTorch private pool (5, 0)"])[0]["bytes_in_use"], 1024)
        whole = self.stats(numbers[POOL])
        self.assertEqual(whole[0]["bytes_in_use"], 1024 + 1024 + (3 << 20) + 1024)
        self.assertEqual(whole[0]["bytes_reserved"], 10 << 20)

    def test_of_a_private_pool_that_is_gone_are_none(self):
        self.tell("import torch\nmemory = torch.cuda.memory\n"
                  "block = memory.caching_allocator_alloc(1000, 0, (0, 3))\n" + NOW +
                  "memory.caching_allocator_delete(block)\nmemory.empty_cache()\n" + NOW)
        number, = [number for number, pool in self.pools().items() if pool.name != POOL]
        self.assertEqual(self.stats(number)[0]["bytes_reserved"], 2 << 20)
        self.assertEqual({self.stats(number)[-1][name] for name in ("bytes_reserved", "bytes_in_use", "num_segments")},
                         {0})

    def test_of_too_many_private_pools_are_in_the_device_s_alone(self):
        self.tell("import torch\n"
                  "for number in range(70):\n"
                  "    torch.cuda.memory.caching_allocator_alloc(1000, 0, (0, number + 1))\n" + NOW)
        self.assertEqual(len(self.pools()), 1 + 64)
        self.assertIn("PyTorch has more than 64 private pools: the others are in the figures of their devices alone",
                      self.notes())
        self.assertEqual(self.stats(next(number for number, pool in self.pools().items() if pool.name == POOL))[0]
                         ["bytes_reserved"], 70 * (2 << 20))

    def test_of_jax_are_the_figures_that_the_program_sees(self):
        said = self.tell("import jax\ndevice = jax.local_devices()[1]\ndevice.alloc(1000); device.alloc(5000)\n"
                         "device.free()\n" + NOW + "print(device.memory_stats())\n", asked="jax")
        self.assertEqual(self.pools(), {1: Pool(1, 0, 0, 2, "JAX BFC allocator"),
                                        2: Pool(1, 0, 1, 2, "JAX BFC allocator")})
        seen, samples = eval(said), self.stats(2)
        self.assertEqual(len(samples), 2)
        self.assertEqual(samples[0], {
            "num_allocs": 2, "bytes_in_use": 1024, "peak_bytes_in_use": 1024 + 5120, "largest_alloc": 5120,
            "bytes_reserved": 1 << 20, "peak_bytes_reserved": 1 << 20, "bytes_reservable_limit": 1 << 20,
            "limit": 1 << 20, "largest_free_block": (1 << 20) - 1024, "cached": (1 << 20) - 1024,
            "free": (1 << 20) - 1024})
        self.assertEqual([samples[1][name] for name in ("num_allocs", "bytes_in_use", "peak_bytes_in_use")],
                         [seen[name] for name in ("num_allocs", "bytes_in_use", "peak_bytes_in_use")])

    def test_of_an_old_jax_leave_out_what_it_does_not_tell(self):
        self.tell("import jax\njax.local_devices()[0].alloc(1000)\n", asked="jax", STUB_VERSION="0.4.30",
                  XLA_PYTHON_CLIENT_ALLOCATOR="platform")
        self.assertEqual(self.pools()[1].name, "JAX platform allocator")
        self.assertEqual(self.stats(1), [{"num_allocs": 1, "bytes_in_use": 1024, "peak_bytes_in_use": 1024,
                                          "largest_alloc": 1024, "limit": 1 << 20}])

    def test_of_both_stand_beside_each_other(self):
        self.tell("import jax, torch\njax.local_devices()\ntorch.cuda.memory.caching_allocator_alloc(700)\n",
                  asked="pytorch,jax")
        self.assertEqual([pool.teller for pool in self.pools().values()], [2, 2, 1])


class Blocks(Told):
    asked = "pytorch-blocks"

    def blocks(self):
        return [line.split(" ") for line in self.lines if line.startswith(("alloc", "free"))]

    def test_have_their_own_times(self):
        said = self.tell("import torch\nmemory = torch.cuda.memory\n"
                         "now = lambda: print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))\n"
                         "now(); address = memory.caching_allocator_alloc(1000)\n"
                         "now(); time.sleep(0.05); now(); memory.caching_allocator_delete(address)\n"
                         "now(); print(address)\n")
        *times, address = map(int, said.split())
        (alloc, pool, where, size, requested, _, begin), (free, _, again, _, end) = self.blocks()
        self.assertEqual((alloc, pool, size, requested, free), ("alloc", "1", "1000", "1000", "free"))
        self.assertEqual((int(where), int(again)), (address, address))
        slack = 5_000_000  # torch tells microseconds of another clock
        self.assertTrue(times[0] - slack <= int(begin) <= times[1] + slack, (times, begin))
        self.assertTrue(times[2] - slack <= int(end) <= times[3] + slack, (times, end))

    def test_are_of_the_pool_that_their_segment_is_of(self):
        self.tell("import torch\nmemory = torch.cuda.memory\n"
                  "blocks = [memory.caching_allocator_alloc(size, 0, pool)\n"
                  "          for size, pool in ((600, (0, 0)), (700, (0, 3)), (800, (5, 0)), (900, (0, 3)))]\n" + NOW +
                  "memory.caching_allocator_delete(blocks[1]); memory.caching_allocator_delete(blocks[3])\n"
                  "memory.empty_cache()\n" + NOW)
        names = {str(number): pool.name for number, pool in self.pools().items()}
        private = "PyTorch private pool (%d, %d)"
        self.assertEqual([(names[row[1]], int(row[3])) for row in self.blocks() if row[0] == "alloc"],
                         [(POOL, 600), (private % (0, 3), 700), (private % (5, 0), 800), (private % (0, 3), 900)])
        # Their segment is gone by then.
        self.assertEqual([names[row[1]] for row in self.blocks() if row[0] == "free"], [private % (0, 3)] * 2)

    def test_at_the_end_of_a_private_pool_s_segment_are_not_its_own(self):
        self.tell("import torch\nmemory = torch.cuda.memory\n"
                  "for size, pool in ((700, (0, 3)), (600, (0, 0))):\n"
                  "    memory.caching_allocator_alloc(size, 0, pool)\n" + NOW)
        names = {str(number): pool.name for number, pool in self.pools().items()}
        rows = [row for row in self.blocks() if row[0] == "alloc"]
        self.assertEqual(int(rows[1][2]) - int(rows[0][2]), 2 << 20, "the second begins where the first's segment ends")
        self.assertEqual([names[row[1]] for row in rows], ["PyTorch private pool (0, 3)", POOL])

    def test_are_told_once_each(self):
        self.tell("import torch\nmemory = torch.cuda.memory\n"
                  "for turn in range(5):\n"
                  "    for size in range(2000):\n"
                  "        memory.caching_allocator_delete(memory.caching_allocator_alloc(512 * (turn * 2000 + size)))\n"
                  "    for again in range(2):\n        " + NOW, STUB_LIMIT=str(64 << 20))
        sizes = [int(row[3]) for row in self.blocks() if row[0] == "alloc"]
        self.assertEqual(sizes, [512 * at for at in range(10000)])
        self.assertEqual(len(self.blocks()), 20000)
        self.assertFalse([note for note in self.notes() if "forgot" in note])

    def test_that_torch_forgot_are_noted(self):
        self.tell("import torch\nmemory = torch.cuda.memory\n"
                  "def some(count):\n"
                  "    for turn in range(count):\n"
                  "        memory.caching_allocator_delete(memory.caching_allocator_alloc(700))\n"
                  "some(10)\n" + NOW + "some(20000)\n" + NOW)
        self.assertIn("PyTorch forgot events of its blocks before they were read: some are missing", self.notes())


class Executables(Told):
    asked = "jax"

    def test_are_told_once_with_what_they_need(self):
        self.tell("import jax\nclient = jax.local_devices() and jax.xla_bridge.backends()['cuda']\n"
                  "client.compile('jit_step', client.devices[1:])\n" + NOW +
                  "client.compile('jit_both', client.devices)\n" + NOW)
        self.assertEqual([line for line in self.lines if line.startswith("executable")],
                         ["executable 1 1 4096 1024 65536 512 9000 jit_step",
                          "executable 1 -1 4096 1024 65536 512 9000 jit_both"])

    def test_that_cannot_tell_are_noted(self):
        self.tell("import jax\njax.local_devices()\njax.xla_bridge.backends()['cuda'].compile('jit_step', [])\n" + NOW,
                  STUB_FAIL="needs")
        self.assertIn("JAX's executables: RuntimeError: UNIMPLEMENTED", self.notes())


class Apart(Told):
    """The program does not notice."""

    def test_nothing_is_started_by_us(self):
        said = self.tell("import torch, jax\nprint(torch.cuda.is_initialized(), jax.xla_bridge._backends)\n"
                         "import _thread; print(_thread._count())\n", asked="pytorch,jax")
        self.assertEqual((said, self.lines), ("False {}\n0\n", []))

    def test_no_backend_without_a_gpu_is_asked(self):
        said = self.tell("import jax\njax.xla_bridge.backends()\nimport _thread; print(_thread._count())\n",
                         asked="jax", JAX_PLATFORMS="cpu")
        self.assertEqual((said, self.lines), ("0\n", []))

    def test_the_thread_is_none_of_the_program_s(self):
        said = self.tell("import torch, threading\ntorch.cuda.init()\nprint(threading.enumerate())\n")
        self.assertRegex(said, r"^\[<_MainThread\(MainThread, started \d+\)>\]\n$")

    def test_other_allocators_are_left_alone(self):
        self.tell("import torch\ntorch.cuda.memory.caching_allocator_alloc(1)\n", STUB_BACKEND="cudaMallocAsync")
        self.assertEqual(self.lines, [])
        self.assertIn("PyTorch's allocator is cudaMallocAsync, not its own: its memory is recorded as CUDA's",
                      self.notes())

    def test_failures_are_swallowed_and_noted_once(self):
        for asked, text in (("pytorch", "import torch\ntorch.cuda.init()\n"), ("jax", "import jax\njax.local_devices()\n")):
            self.tell(text + NOW * 30, asked=asked, STUB_FAIL="stats")
            name = {"pytorch": "PyTorch", "jax": "JAX"}[asked]
            self.assertEqual([note for note in self.notes() if note.startswith(name + "'s")],
                             [name + "'s memory: RuntimeError: no figures today",
                              name + "'s memory is not asked for any more"])
            self.assertEqual(self.lines, [])

    def test_figures_go_on_where_the_rest_fails(self):
        for asked, text, fails, note in (
                ("pytorch-blocks", "import torch\ntorch.cuda.memory.caching_allocator_alloc(1)\n", "times",
                 "PyTorch's blocks are no longer recorded: KeyError: 'time_us'"),
                ("jax", "import jax\njax.local_devices()\n", "executables",
                 "JAX's executables are no longer recorded: RuntimeError: no executables today")):
            self.tell(text + NOW * 12, asked=asked, STUB_FAIL=fails)
            self.assertEqual(len(self.stats()), 13)
            self.assertIn(note, self.notes())

    def test_go_together_with_ranges(self):
        self.tell("import model, torch\ntorch.cuda.memory.caching_allocator_alloc(1)\n"
                  "model.step(model.Net(), torch.optim.AdamW())\n" + NOW, words="modules")
        self.assertIn("nn.Module: first.proj", self.texts("push"))
        self.assertEqual(len(self.stats()), 2)
        self.assertEqual(len([note for note in self.notes() if note.startswith("PyTorch 2.11")]), 2)

    def test_the_thread_has_a_name(self):
        said = self.tell("import glob, torch\ntorch.cuda.init()\nend = time.monotonic() + 20\n"
                         "names = lambda: [open(name).read().strip() for name in glob.glob('/proc/self/task/*/comm')]\n"
                         "while 'gputrace-python' not in names() and time.monotonic() < end:\n    time.sleep(0.01)\n"
                         "print('gputrace-python' in names())\n")
        self.assertEqual(said, "True\n")

    def test_without_the_library_nothing_is_told(self):
        for library, injects in ((TOLD, ""), (FAKES / "nvtx_other.so", "1"), (HERE / "none.so", "")):
            said = self.tell("import torch\ntorch.cuda.memory.caching_allocator_alloc(1)\n" + NOW + "print('well')\n",
                             CUDA_INJECTION64_PATH=str(library), STUB_INJECTS=injects)
            self.assertEqual((said, self.lines), ("well\n", []))
        self.assertEqual(len([note for note in self.notes() if "way to the recording: AttributeError" in note]), 1)
        self.assertEqual(len([note for note in self.notes() if note.startswith("No library that records")]), 3)

    def test_a_library_that_records_later_is_told_from_then_on(self):
        begins = self.folder / "begins"
        self.tell("import torch\ntorch.cuda.memory.caching_allocator_alloc(1)\n" + NOW
                  + f"open({str(begins)!r}, 'w').close()\n" + NOW, TOLD_POOLS_LATER=str(begins))
        self.assertEqual(len(self.stats()), 2)

    def test_what_is_not_recorded_is_not_told(self):
        self.tell("import torch\ntorch.cuda.memory.caching_allocator_alloc(1)\n" + NOW, TOLD_POOLS_REFUSES="1")
        self.assertEqual(self.lines, [])

    FORK = ("import os, torch\n%s"
            "if os.fork() == 0:\n    %s\n    sys.exit(0)\n"
            "print(os.wait()[1])\n%s")

    def test_the_child_of_a_fork_tells_nothing_of_its_parent_s(self):
        init = "torch.cuda.memory.caching_allocator_alloc(1)\n" + NOW
        said = self.tell(self.FORK % (init, NOW.strip(), ""))
        self.assertEqual((said, len(self.stats())), ("0\n", 2))

    def test_the_child_of_a_fork_that_begins_with_cuda_itself_is_asked(self):
        said = self.tell(self.FORK % ("", "torch.cuda.memory.caching_allocator_alloc(1)", ""))
        self.assertEqual((said, [sample["num_allocs"] for sample in self.stats()]), ("0\n", [1]))

    def test_the_end_does_not_wait_for_the_interval(self):
        begin = time.monotonic()
        self.tell("import torch\ntorch.cuda.init()\n")
        self.assertLess(time.monotonic() - begin, 20)

    def test_a_costly_snapshot_is_taken_rarely(self):
        said = self.tell("import torch\nmemory = torch.cuda.memory\nsampler = sys.modules['gputrace_allocators'].sampler\n"
                         "memory.caching_allocator_alloc(1)\n"
                         "for turn in range(50):\n    sampler.sample()\nprint(memory.snapshots)\n")
        self.assertEqual(said, "1\n")
        self.assertEqual(len([sample for sample in self.stats() if "largest_free_block" in sample]), 2)

    def test_the_program_s_own_history_is_not_copied(self):
        text = ("import torch\nmemory = torch.cuda.memory\nmemory.caching_allocator_alloc(1)\n"
                "memory._record_memory_history(max_entries=10)\n" + NOW + "print(memory.snapshots)\n")
        self.assertEqual([self.tell(text, STUB_VERSION=version) for version in ("2.10.0", "2.11.0")], ["0\n", "1\n"])

    def test_other_versions_are_tried_and_noted(self):
        for asked, text, number in (("pytorch", "import torch\ntorch.cuda.memory.caching_allocator_alloc(1)\n", "3.1.0"),
                                    ("jax", "import jax\njax.local_devices()\n", "1.0.0")):
            self.tell(text, asked=asked, STUB_VERSION=number)
            self.assertTrue(self.pools())
            self.assertTrue([note for note in self.notes() if number + " is not among the versions" in note])


@unittest.skipUnless(TOLD.exists() and all(show.exists() for show in SHOWS), "the fakes are not built")
class Kept(Case):
    """Pools and blocks that are told are in the recording, with a CUDA of our own (tests/fakes)."""

    def record(self, words, text, **more):
        program = self.write("main.py", BEGIN + text)
        done = subprocess.run([GPUTRACE, "run", "--allocators", words, "--allocator-interval", "1h", "--telemetry", "off",
                               "-o", "x", sys.executable, program], cwd=self.folder, capture_output=True, text=True,
                              env=self.clean(LD_LIBRARY_PATH=str(FAKES), FAKE_CUPTI="", STUB_LOG=str(self.log),
                                             STUB_LIBRARY=str(FAKES / "nvtx_torch.so"), **more), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("--allocators", done.stderr)
        return done.stdout

    def rows(self, show, *words):
        shown = subprocess.run([show, self.folder / "x.gputrace", *words], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in shown.stdout.splitlines()]

    def table(self, name):
        return self.rows(SHOWS[0], name)

    def counters(self):
        return {row["name"]: row["values"] for row in self.rows(SHOWS[1]) if row["table"] == "counters"}

    def test_of_pytorch(self):
        seen = [eval(line) for line in self.record("pytorch", Sampled.TWO, STUB_DEVICES="1").splitlines()]
        pool, = self.table("pools")
        self.assertEqual((pool["name"], pool["teller"], pool["place"], pool["device"]), (POOL, 1, 0, 0))
        counters = self.counters()
        for name, of in (("num_allocs", "allocation.all.allocated"), ("num_frees", "allocation.all.freed"),
                         ("bytes_in_use", "allocated_bytes.all.current"), ("bytes_requested", "requested_bytes.all.current"),
                         ("bytes_reserved", "reserved_bytes.all.current")):
            self.assertEqual(counters[name], [stats[of] for stats in seen] + [seen[-1][of]], name)
        self.assertNotIn("num_splits", counters)
        notes = subprocess.run([GPUTRACE, "info", "x"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.assertIn("its allocator is asked for its figures", notes)
        self.assertIn("Allocators were asked 3 times", notes)

    def report_until(self, time_ns):
        said = subprocess.run([GPUTRACE, "report", "x", "memory", "--json", "--to", f"{time_ns}ns"], cwd=self.folder,
                              capture_output=True, text=True, check=True).stdout
        return json.loads(said)["pools"]

    @unittest.skipUnless("\n  memory " in REPORTS, "there is no report of memory")
    def test_of_pytorch_agree_with_the_report_at_each_moment(self):
        """As tests/gpu/programs/python/torch_memory.py has it, which the mapping of the figures comes from."""
        said = self.record("pytorch", f"sys.path.insert(0, {str(PROGRAMS)!r})\n"
                           "import torch, torch_memory\nfrom pool_moments import Moments\n"
                           "memory, moments = torch.cuda.memory, Moments()\n"
                           "ask = lambda: [torch_memory.figures(0)]\n"
                           "first = memory.caching_allocator_alloc(1000)\nmoments.take('one', ask)\n"
                           "rest = [memory.caching_allocator_alloc(size << 20) for size in (1, 3, 30)]\n"
                           "moments.take('three more', ask)\n"
                           "memory.caching_allocator_delete(rest[1])\nmemory.empty_cache()\n"
                           "moments.take('one less', ask)\nmoments.say()\n", STUB_DEVICES="1")
        subprocess.run([GPUTRACE, "export", "-q", "-o", "x.json", "x"], cwd=self.folder, check=True)
        zero_ns = json.loads((self.folder / "x.json").read_text())["baseTimeNanoseconds"]
        self.assertEqual(pool_moments.compare(pool_moments.read(said)["moments"], zero_ns, self.report_until), (30, []))

    def test_of_blocks_of_pytorch(self):
        self.record("pytorch-blocks", "import torch\nmemory = torch.cuda.memory\n"
                    "kept = [memory.caching_allocator_alloc(100 * size) for size in range(1, 4)]\n"
                    "memory.caching_allocator_delete(kept[1])\n" + NOW +
                    "for turn in range(500):\n"
                    "    memory.caching_allocator_delete(memory.caching_allocator_alloc(700))\n")
        blocks = self.table("pool_blocks")
        self.assertEqual(len(blocks), 503)
        self.assertEqual([block["requested_bytes"] for block in blocks], [100, 200, 300] + [700] * 500)
        self.assertEqual([at for at, block in enumerate(blocks) if block["flags"] & 1], [0, 2])
        self.assertEqual({block["thread"] for block in blocks}, {None})
        ended = [block for block in blocks if block["end_ns"]]
        self.assertTrue(all(block["start_ns"] <= block["end_ns"] for block in ended))
        ledger = subprocess.run([GPUTRACE, "info", "x", "--json"], cwd=self.folder, capture_output=True, text=True,
                                check=True).stdout
        self.assertFalse([row for row in json.loads(ledger)["ledger"] if row["class"].startswith("blocks_") and row["count"]])

    def test_of_jax(self):
        self.record("jax", "import jax\ndevice, other = jax.local_devices()\ndevice.alloc(1000)\n"
                    "jax.xla_bridge.backends()['cuda'].compile('jit_step', [device])\n")
        self.assertEqual([(pool["name"], pool["teller"], pool["device"]) for pool in self.table("pools")],
                         [("JAX BFC allocator", 2, 0), ("JAX BFC allocator", 2, 1)])
        row, = self.table("executables")
        self.assertEqual([row[name] for name in ("name", "device", "argument_bytes", "output_bytes", "temporary_bytes",
                                                 "alias_bytes", "code_bytes")],
                         ["jit_step", 0, 4096, 1024, 65536, 512, 9000])

    def test_without_pools_nothing_is(self):
        self.record("pytorch", Sampled.TWO, GPUTRACE_POOLS="0")
        self.assertEqual(self.table("pools"), [])


class Asked(Case):
    def gputrace(self, *command, **more):
        return subprocess.run([str(word) for word in (GPUTRACE,) + command], cwd=self.folder, text=True,
                              env=self.clean(**more), capture_output=True, check=False)

    def test_brings_its_files_with_or_without_pytorch_s(self):
        ask = ["printenv", "PYTHONPATH", "GPUTRACE_ALLOCATORS", "GPUTRACE_ALLOCATOR_INTERVAL"]
        done = self.gputrace("run", "--allocators", "jax,pytorch-blocks", "--allocator-interval", "20ms", "-o", "x", *ask)
        self.assertEqual(done.stdout, f"{self.folder.resolve()}/x.gputrace/python.zip\njax,pytorch-blocks\n20000000ns\n")
        done = self.gputrace("run", "--allocators", "pytorch", "--pytorch", "ops", "-o", "x", "printenv",
                             "GPUTRACE_ALLOCATORS", "GPUTRACE_PYTORCH")
        self.assertEqual(done.stdout, "pytorch\nops\n")
        done = self.gputrace("run", "-o", "x", *ask[:3], GPUTRACE_ALLOCATORS="jax")
        self.assertEqual(done.stdout, f"{self.folder.resolve()}/x.gputrace/python.zip\njax\n")
        self.assertFalse(list(self.folder.glob("*.gputrace")))

    def test_the_settings_of_a_run_are_in_it(self):
        done = self.gputrace("run", "-o", "x", "printenv", GPUTRACE_ALLOCATOR_INTERVAL="1ms")
        self.assertIn("GPUTRACE_ALLOCATOR_INTERVAL must be 10ms to 1h", done.stderr)

    def test_words_that_are_none_are_refused(self):
        for word in ("torch", "jax,", ",jax", "pytorch,x", "jax,jax,jax,jax,jax,jax,jax,jax,jax,jax"):
            done = self.gputrace("run", "--allocators", word, "true")
            self.assertEqual(done.returncode, 2, word)
            self.assertIn("--allocators takes pytorch, pytorch-blocks and jax", done.stderr)
        self.assertFalse(list(self.folder.glob("*.gputrace")))

    def test_goes_without_ranges(self):
        done = self.gputrace("run", "--allocators", "jax", "--no-nvtx", "true")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_says_when_nobody_was_there_to_be_asked(self):
        done = self.gputrace("run", "--allocators", "jax", sys.executable, "-c", "")
        self.assertIn("--allocators: no process imported torch or jax", done.stderr)

    def test_is_refused_where_no_path_can_be_written(self):
        done = self.gputrace("run", "--allocators", "jax", "-o", "a:b", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--allocators cannot record into", done.stderr)


if __name__ == "__main__":
    unittest.main()
