# SPDX-License-Identifier: Apache-2.0
"""Programs with small stacks, filters of system calls or few descriptors do not notice gputrace."""
import pathlib
import struct
import subprocess
import tempfile

from case import Case
from programs import BUILD, FAKES, GPUTRACE, PATIENCE_S, environment, find_injection, finish
from recordings import Recording


class Stacks(Case):
    def test_it_takes_little_of_the_static_tls_that_loaded_libraries_share(self):
        if "san" in BUILD.name:
            self.skipTest("a sanitizer has its own")
        elf = find_injection().read_bytes()
        table, entry, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
        sizes = [struct.unpack_from("<Q", elf, at + 40)[0] for at in range(table, table + entry * count, entry)
                 if struct.unpack_from("<I", elf, at)[0] == 7]  # PT_TLS
        self.assertEqual(len(sizes), 1)
        self.assertLessEqual(sizes[0], 256)

    def test_a_thread_whose_stack_is_as_small_as_can_be(self):
        if "san" in BUILD.name:
            self.skipTest("a sanitizer needs more of it")
        for options in ((), ("--hazards", "--numa", "--memory-libraries", "--api", "all"),
                        ("--kernel-counters=duration_ns", "--kernels", "wo.k"), ("--capture-kernels", "wo.k", "--launches", "1:3")):
            with self.subTest(options):
                run = self.record(program="app_small_stack", options=options)
                self.assertEqual(run.status, 0, run.stderr)
                self.check_ledger(run.recording, run.facts["launches"])
                self.assertEqual({name: run.recording.tables[name] for name in ("copies", "ranges")},
                                 {name: run.facts[name] for name in ("copies", "ranges")})


class Filters(Case):
    """Programs that die of system calls that they do not expect (seccomp): gputrace makes none of these."""

    def test_a_program_that_filters_its_system_calls(self):
        if "san" in BUILD.name:
            self.skipTest("a sanitizer makes calls of its own")
        for word in ("before", "after", "thread", "list"):
            with self.subTest(word):
                run = self.record(word, program="app_filter", options=("--telemetry", "off"))
                self.assertEqual(run.status, 0, run.stderr)
                self.check_ledger(run.recording, run.facts["launches"])
                self.assertEqual({name: run.recording.tables[name] for name in ("copies", "ranges")},
                                 {name: run.facts[name] for name in ("copies", "ranges")})
                self.assertEqual(run.recording.notes, [])
                self.assertEqual(list(run.recording.path.glob("*.arena")), [])

    def test_without_gputrace_run(self):
        """Nobody knows which filters are the program's, but for those that it adds later."""
        if "san" in BUILD.name:
            self.skipTest("a sanitizer makes calls of its own")
        for word, arenas in (("after", 1), ("thread", 0)):
            with self.subTest(word):
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder), "X.gputrace")
                done = subprocess.run([FAKES / "bin" / "app_filter", word], capture_output=True, timeout=PATIENCE_S,
                                      env=environment(CUDA_INJECTION64_PATH=str(find_injection()), GPUTRACE_OUTPUT=str(folder),
                                                      GPUTRACE_TELEMETRY="off"), check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_ledger(Recording(folder), 200)
                self.assertEqual(len(list(folder.glob("*.arena"))), arenas)
                self.assertEqual(finish(folder).returncode, 0)
                self.assertEqual(list(folder.glob("*.arena")), [])


class Descriptors(Case):
    """Files of the program and files of gputrace have nothing to do with each other."""

    def test_no_byte_goes_into_a_file_of_the_program(self):
        run = self.record("10000", "theirs", program="app_descriptors", options=("--telemetry", "off"),
                          GPUTRACE_FLUSH_INTERVAL="1ms")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.facts["bytes"], 0)
        self.check_ledger(run.recording, run.facts["launches"])
        self.assertEqual(run.recording.notes, [])

    def test_a_program_that_may_open_next_to_nothing(self):
        if "san" in BUILD.name:
            self.skipTest("a sanitizer opens files of its own")
        for limit in 4, 5, 6, 64:
            with self.subTest(limit):
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                done = subprocess.run([GPUTRACE, "run", "-o", folder / "X", "--", "sh", "-c",
                                       f"ulimit -n {limit}; exec {FAKES / 'bin' / 'app_work'} --launches 10"],
                                      env=environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_ledger(Recording(folder / "X.gputrace"), 10)
