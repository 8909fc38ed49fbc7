# SPDX-License-Identifier: Apache-2.0
"""Probes of the injection library: gdb attaches to them, which sets their semaphores, and reads their arguments."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, environment
from recordings import Recording

# Arguments that are shown of each, by number: a plain one is a number, one in quotes a text.
PROBES = {
    "launch": ("0", "2", "'3'", "'4'"),
    "error": ("0", "1", "'4'"),
    "kernel": ("0", "1", "2", "5", "'8'"),
    "copy": ("0", "1", "2", "3", "9"),
    "alloc": ("0", "1", "2", "'7'"),
    "free": ("0", "1", "'5'"),
    "dropped": ("0",),
}


def commands(probes):
    """Stops when the library is there, and goes on with a line for each probe that is met."""
    lines = ["set pagination off", "set confirm off", "set print thread-events off", "catch load libgputrace-injection", "run", "delete"]
    for probe in probes:
        shown = ", ".join(f"(char *)$_probe_arg{number[1:-1]}" if number.startswith("'") else f"(long)$_probe_arg{number}" for number in PROBES[probe])
        form = " ".join("%s" if number.startswith("'") else "%ld" for number in PROBES[probe])
        lines += [f"break -probe-stap gputrace:{probe}", "commands", "silent", f'printf "@{probe} %d {form}\\n", $_probe_argc, {shown}', "continue", "end"]
    return "\n".join([*lines, "continue", ""])


@unittest.skipUnless(shutil.which("gdb"), "there is no gdb")
class Usdt(Case):
    def watch(self, probes, *words, script="", options=()):
        """Lines of the probes that were met, and the recording of the same run."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "gdb").write_text(commands(probes))
        done = subprocess.run([GPUTRACE, "run", "-o", folder / "r", "--no-export", "--quiet", *options, "gdb", "--nx", "--batch", "-x", folder / "gdb", "--args",
                               FAKES / "bin" / "app_work", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                              env=environment(script))
        if "ptrace" in done.stderr and "not permitted" in done.stderr:
            self.skipTest("nobody may trace here")
        said = {probe: [] for probe in probes}
        for probe, count, rest in re.findall(r"^@(\w+) (\d+) ?(.*)$", done.stdout, re.MULTILINE):
            said[probe].append((int(count), *(int(word) if re.fullmatch(r"-?\d+", word) else word for word in rest.split(" "))))
        return said, Recording(folder / "r.gputrace")

    def test_launches_and_kernels_are_those_of_the_recording(self):
        said, recording = self.watch(("launch", "kernel"), "--launches", 7, "--names", 2)
        kernels = recording.rows("kernels")
        self.assertEqual(len(kernels), 7)
        self.assertEqual({count for count, *_ in said["launch"]}, {5})
        self.assertEqual(sorted(correlation for _, correlation, *_ in said["launch"]), sorted(row["correlation"] for row in kernels))
        self.assertEqual({(result, kernel, call) for _, _, result, kernel, call in said["launch"]},
                         {(0, "_Z6work_0PfS_i", "cuLaunchKernel"), (0, "_Z6work_1PfS_i", "cuLaunchKernel")})
        self.assertEqual({count for count, *_ in said["kernel"]}, {9})
        found = sorted((correlation, end - start, device, name) for _, start, end, device, correlation, name in said["kernel"])
        self.assertEqual([row[0] for row in found], sorted(row["correlation"] for row in kernels))
        self.assertEqual({device for _, _, device, _ in found}, {0})
        # The collector puts CUPTI's times on another clock, which may run some millionths faster.
        for (_, lasts_ns, _, _), row in zip(found, sorted(kernels, key=lambda row: row["correlation"])):
            self.assertLess(abs(lasts_ns - (row["end_ns"] - row["start_ns"])), 100)

    def test_copies_are_those_of_the_recording(self):
        said, recording = self.watch(("copy",), "--copies", 4, "--bytes", 4096)
        rows = recording.rows("copies")
        self.assertGreater(len(rows), 0)
        self.assertEqual(sorted((correlation, size, kind) for _, _, _, size, kind, correlation in said["copy"]),
                         sorted((row["correlation"], row["size_bytes"], row["kind"]) for row in rows))
        self.assertTrue(all(count == 11 and end > start for count, start, end, *_ in said["copy"]))

    def test_memory_is_that_of_the_recording(self):
        said, recording = self.watch(("alloc", "free"), "--copies", 2, "--bytes", 8192)
        rows = recording.rows("allocations")
        self.assertEqual(sorted((address, size) for _, address, size, _, _ in said["alloc"]), sorted((row["address"], row["size_bytes"]) for row in rows))
        self.assertLessEqual({(address) for _, address, _, _ in said["free"]}, {row["address"] for row in rows})
        self.assertGreater(len(said["free"]), 0)

    def test_errors_are_those_of_the_recording(self):
        said, recording = self.watch(("error",), "--errors", 3, "--launches", 1)
        failed = [row for row in recording.report("api")["errors"]]
        self.assertEqual(len(said["error"]), sum(row["calls"] for row in failed))
        self.assertGreaterEqual(len(said["error"]), 3)
        self.assertTrue(all(result not in (0, 600) for _, result, _, _ in said["error"]))

    def test_dropped_records_are_those_of_the_ledger(self):
        said, recording = self.watch(("dropped",), "--launches", 40, script="drop=10")
        self.assertGreater(recording.ledger["dropped_by_cupti"], 0)
        self.assertEqual(sum(records for _, records in said["dropped"]), recording.ledger["dropped_by_cupti"])

    def test_one_that_nobody_attached_to_says_nothing(self):
        said, recording = self.watch(("error",), "--launches", 5, "--copies", 3)
        self.assertEqual(said["error"], [])
        self.assertEqual(recording.tables["kernels"], 5)
