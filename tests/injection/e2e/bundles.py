# SPDX-License-Identifier: Apache-2.0
"""Shared by tests of captured launches, graphs and sequences: they read bundles, and run them again."""
import json
import math
import pathlib
import subprocess

from case import Case
from programs import BUILD, GPUTRACE, PATIENCE_S, SMALL_CACHE, SOURCE, environment


class Bundles(Case):
    """Shared by tests of captured launches and of sequences."""

    CUBIN = SOURCE / "tests" / "cubins" / "replay_90.cubin"
    COUNT, ROOM, ROWS = 1000, 1024, 8
    HELD_THREADS = 132 * 2048  # at a time, by an H200

    @staticmethod
    def bundles(run):
        return sorted(run.stem.with_suffix(".gputrace").glob("launches/*"))

    def only(self, run):
        """Folder of the one bundle of a recording."""
        found = self.bundles(run)
        if len(found) != 1:
            self.fail(f"{len(found)} bundles: {self.told(run)}")
        return found[0]

    def manifest(self, run):
        manifest = json.loads((self.only(run) / "bundle.json").read_text())
        self.assertEqual(manifest["origin"]["local_bytes"], self.local_bytes(manifest))
        return manifest

    @classmethod
    def local_bytes(cls, manifest):
        """The most that one of its launches needs: for all of its threads, or for as many as the GPU holds."""
        most = 0
        for step in manifest["steps"]:
            if step["kind"] == "launch":
                threads = min(math.prod(step["grid"]) * math.prod(step["block"]), cls.HELD_THREADS)
                most = max(most, threads * manifest["functions"][step["function"]]["local_bytes"])
        return most

    def bundle(self, run):
        """The one bundle of a recording, as the reader of bundles has it; every blob was read."""
        done = subprocess.run([BUILD / "bin" / "show_bundle", self.only(run)], capture_output=True, text=True,
                              timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def told(self, run):
        return run.recording.rows("captured_launches")

    def replay(self, run, *words):
        """Its exit status, and what it says of buffers."""
        status, said = self.replay_all(run, *words)
        return status, said["buffers"]

    def replay_all(self, run, *words):
        """The same, and all that it says: in another process, on the same driver, with a lock of its own."""
        done = subprocess.run([GPUTRACE, "replay", "--json", "--time", "100ms", *map(str, words), run.recording.path],
                              env=environment(SMALL_CACHE, XDG_RUNTIME_DIR=str(pathlib.Path(run.recording.path).parent)),
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertTrue(done.stdout, done.stderr)
        return done.returncode, json.loads(done.stdout)
