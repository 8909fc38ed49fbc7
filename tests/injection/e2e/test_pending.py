# SPDX-License-Identifier: Apache-2.0
"""gputrace pending says, from another process, what programs that hang wait for.

Covers COMMAND(pending).
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from case import Case
from programs import FAKES, GPUTRACE, PATIENCE_S, SECOND, environment, tool

FOREVER = f"kernel_ns={3600 * SECOND}"


class Pending(Case):
    @contextlib.contextmanager
    def hanging(self, *words, program="app_work", folder=None, options=(), name="X"):
        """The recording and the process of a program whose kernels never end. It is killed at the end."""
        folder = folder or tempfile.mkdtemp(dir=self.folder)
        stem = pathlib.Path(folder, name)
        with subprocess.Popen([GPUTRACE, "run", "-q", "-o", stem, *options, "--", FAKES / "bin" / program,
                               *map(str, words)], env=environment(FOREVER), cwd=folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            recording = stem.with_suffix(".gputrace")
            try:
                yield recording, run.pid
            finally:
                for child in self.children(run.pid):
                    os.kill(child, signal.SIGKILL)
                run.wait(PATIENCE_S)

    def children(self, pid):
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        return [int(child) for child in text.split()]

    def pending(self, word):
        return json.loads(tool("pending", "--json", word))

    def until(self, word, is_there):
        """Asks until the program has come so far: a machine may be slow."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with contextlib.suppress(AssertionError):  # it has not begun to record
                said = self.pending(word)
                if is_there(said):
                    return said
            time.sleep(0.05)
        self.fail(f"never seen; last: {said}")

    def stuck(self, word, count):
        """When that much work is known to hang."""
        return self.until(word, lambda said: len(said["work"]) == count and said["threads"] and
                          all(row["state"] != "no record yet" for row in said["work"]))

    def test_the_first_kernel_of_each_stream(self):
        with self.hanging("--launches", 5, "--streams", 2, "--copies", 1) as (recording, _):
            said = self.stuck(recording, 5)
            child = said["processes"][0]["pid"]
            before = pathlib.Path(f"/proc/{child}/stat").read_text(encoding="ascii").split()[2]
            self.assertEqual(said["processes"][0]["state"], "still running")
            self.assertIn(before, "SR")
        self.assertEqual([(row["place"], row["state"]) for row in said["work"]],
                         [(1, "runs or is stuck"), (2, "behind other work"), (3, "behind other work"),
                          (1, "may have ended"), (2, "may have ended")])
        self.assertEqual({row["operation"] for row in said["work"]}, {"work_0"})
        self.assertEqual({row["call"] for row in said["work"]}, {"cuLaunchKernel"})
        self.assertTrue(all(row["age_ns"] > 200_000_000 for row in said["work"]))
        # The copies blocked until they had ended: they have no records, and are not pending.
        self.assertEqual([row["pending"] for row in said["streams"]], [3, 2])
        self.assertEqual([row["call"] for row in said["threads"]], ["cudaFree"])

    def test_a_stream_waits_for_an_event_that_never_comes(self):
        with self.hanging(program="app_waits") as (recording, _):
            said = self.stuck(recording, 2)
        self.assertEqual([(row["operation"], row["state"]) for row in said["work"]],
                         [("produce", "runs or is stuck"), ("consume", "its stream waits")])
        wait = said["stream_waits"][0]
        streams = [row["stream"] for row in said["work"]]
        self.assertEqual((wait["stream"], wait["recorded_on"], wait["held_by_stream"]),
                         (streams[1], streams[0], streams[0]))
        self.assertEqual((wait["kind"], wait["state"], wait["behind"], wait["held_by"]),
                         ("stream wait event", "waits", "produce", "produce"))
        thread = said["threads"][0]
        self.assertEqual((thread["call"], thread["waits"], thread["stream"]),
                         ("cudaEventSynchronize", "event synchronize", streams[1]))

    def test_a_launch_of_a_graph(self):
        with self.hanging("--launches", 0, "--graph", "3x2") as (recording, _):
            said = self.stuck(recording, 2)
        self.assertEqual([row["state"] for row in said["work"]],
                         ["runs or is stuck", "behind other work"])
        self.assertEqual([(row["ended_nodes"], row["nodes"]) for row in said["work"]], [(0, 3), (0, 3)])
        self.assertTrue(all(row["operation"].startswith("graph ") for row in said["work"]))

    def test_a_process_finds_its_recording(self):
        """By its own number, and by that of a process that started it; nothing is known of others."""
        with self.hanging("--launches", 1) as (recording, run):
            child = self.stuck(recording, 1)["processes"][0]["pid"]
            for pid in (child, run):
                self.assertEqual([row["operation"] for row in self.pending(pid)["work"]], ["work_0"])
        with self.assertRaisesRegex(AssertionError, "no process of that number"):
            self.pending(2 ** 22 + 1)
        with self.assertRaisesRegex(AssertionError, "writes a recording"):
            self.pending(os.getpid())

    def test_ranks_of_one_recording_and_of_several(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        with self.hanging("--launches", 1, folder=folder, options=("--join",)) as (recording, _):
            self.stuck(recording, 1)
            with self.hanging("--launches", 2, folder=folder, options=("--join",)):
                both = self.until(recording, lambda said: len(said["work"]) == 3)
                self.assertEqual(len({row["pid"] for row in both["work"]}), 2)
                with self.hanging("--launches", 4, folder=folder, name="Y"):
                    every = self.until(folder, lambda said: len(said["work"]) == 7)
        self.assertEqual(sorted(row["pending"] for row in every["processes"]), [1, 2, 4])

    def test_a_recording_that_is_paused(self):
        with self.hanging("--launches", 2) as (recording, _):
            self.stuck(recording, 2)
            self.assertFalse(any("is paused" in text for text in self.pending(recording)["remarks"]))
            tool("stop", recording)
            self.assertIn("Recording is paused in 1 process: work that was launched since is not known.",
                          self.pending(recording)["remarks"])

    def test_a_program_that_has_ended(self):
        with self.hanging("--launches", 2) as (recording, _):
            self.stuck(recording, 2)
        said = self.pending(recording)
        self.assertEqual([row["state"] for row in said["work"]], ["never ended", "behind other work"])
        self.assertTrue(any(text.startswith("The program has ended") for text in said["remarks"]))
        run = self.record("--launches", 3)
        self.assertEqual(self.pending(run.recording.path)["work"], [])
