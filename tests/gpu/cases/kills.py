# SPDX-License-Identifier: Apache-2.0
"""Programs that are killed at random moments leave every call that returned."""
import os
import pathlib
import random
import signal
import struct
import subprocess
import time

from cases.support.bench import Failed, PROGRAMS, expect, sum_of

KILLS = 10
SAMPLE_KILLS = 4


class Started:
    """gputrace run on a program that is to be killed."""

    def __init__(self, bench, recording, command):
        self.bench = bench
        self.process = subprocess.Popen([bench.gputrace, "run", "-o", str(recording), "--", *command],
                                        env=bench.environment(), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            for pid in self.children():
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
        self.process.communicate()

    def children(self):
        """Process ids of the program: what gputrace run started."""
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == self.process.pid and fields[0] != "Z":
                found.append(int(stat.parent.name))
        return found

    def wait_until(self, ready):
        while not ready():
            if self.process.poll() is not None:
                raise Failed(f"it ended too early: {self.finish()}")
            self.bench.time_left()
            time.sleep(0.005)

    def finish(self):
        _, stderr = self.process.communicate(timeout=self.bench.time_left())
        return f"status {self.process.returncode}, {stderr.strip()[-300:]}"

    def status(self):
        said = self.finish()
        expect(self.process.returncode == 128 + signal.SIGKILL, f"after kill -9 gputrace run ends with {said}")


def read_count(path):
    """(process id, launches that returned) as counted_launches.py keeps them."""
    data = path.read_bytes() if path.exists() else b""
    return struct.unpack("<QQ", data) if len(data) == 16 else (0, 0)


def kill_counted(bench, number, moments):
    """One try; how many launches had returned and how many of them the recording has."""
    recording, counter = bench.recording(f"killed-{number}"), bench.folder / f"killed-{number}.count"
    command = [bench.python, str(PROGRAMS / "counted_launches.py"), str(counter)]
    with Started(bench, recording, command) as started:
        started.wait_until(lambda: read_count(counter)[1] > 0)
        time.sleep(moments.uniform(0, 1))
        os.kill(read_count(counter)[0], signal.SIGKILL)
        started.status()
    launched = read_count(counter)[1]
    rows = [row for row in bench.report(recording, "api")["functions"] if row["function"] == "cuLaunchKernel"]
    calls, open_calls = sum(row["calls"] for row in rows), sum(row["unfinished"] or 0 for row in rows)
    kernels = bench.counts(recording)["kernels"]
    # The last one may have returned without having been counted yet.
    expect(launched <= calls <= launched + 1, f"try {number}: {launched} launches returned, {calls} are recorded")
    expect(calls + open_calls <= launched + 2, f"try {number}: {open_calls} calls never returned")
    return {"launched": launched, "api_calls": calls, "kernels_with_times": kernels}


def test_kill(bench):
    """kill -9 at random moments: the recording opens and has every API call up to the kill."""
    moments = random.Random()
    return {"tries": [kill_counted(bench, number, moments) for number in range(KILLS)]}


def test_kill_sample(bench):
    """kill -9 of the sample launches at random moments: the recording opens and its ledger adds up."""
    # Long enough to be in the middle of its launches whenever the kill comes.
    command, moments, tries = [bench.find("launches"), "2000000"], random.Random(), []
    for number in range(SAMPLE_KILLS):
        recording = bench.recording(f"killed-sample-{number}")
        with Started(bench, recording, command) as started:
            started.wait_until(lambda: any(recording.glob("*.arena")))
            # CUDA takes a few hundred milliseconds to start after the arena is made.
            time.sleep(moments.uniform(0.6, 2))
            pids = started.children()
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            said = started.finish()
        # It may have ended by itself first; then its status is its own.
        status = started.process.returncode
        expect(status in (0, 128 + signal.SIGKILL), f"try {number}: gputrace run ends with {said}")
        done = bench.run([bench.gputrace, "info", str(recording)])
        expect(done.status == 0, f"try {number}: gputrace info exits with {done.status}: {done.tail()}")
        calls = sum_of(bench.report(recording, "api"), "functions", "calls")
        expect(status == 0 or calls > 0, f"try {number}: no API call was kept")
        tries.append({"status": status, "api_calls": calls})
    expect(any(row["status"] for row in tries), "none of the tries was killed before it ended")
    return {"tries": tries}
