# SPDX-License-Identifier: Apache-2.0
"""The bench that tests run programs on: the built programs, a folder for recordings, and the time that is left."""
import json
import os
import pathlib
import signal
import subprocess
import time

TREE = pathlib.Path(__file__).resolve().parents[4]
PROGRAMS = TREE / "tests" / "gpu" / "programs" / "python"

# ctest reads this exit status as "not run".
SKIPPED = 77


class Failed(Exception):
    """A test that does not hold; the text says which fact."""


class OutOfTime(Failed):
    """A program that did not end in time."""


def expect(fact, text):
    if not fact:
        raise Failed(text)


class Ended:
    """Results of a program that has ended."""

    def __init__(self, status, stdout, stderr, seconds):
        self.status, self.stdout, self.stderr, self.seconds = status, stdout, stderr, seconds

    def tail(self):
        return (self.stderr.strip() or self.stdout.strip())[-400:]


class Bench:
    """The built programs, a folder for recordings, and the time that is left."""

    def __init__(self, build, folder, python, deaths, exits, limit_s):
        self.build, self.folder, self.python = pathlib.Path(build).resolve(), pathlib.Path(folder), python
        self.gputrace = self.find("gputrace")
        self.injection = self.find("libgputrace-injection.so")
        self.end = time.monotonic() + limit_s
        self.test_end = self.end
        self.recordings = []
        self.deaths, self.exits = deaths, exits

    def find(self, name):
        for path in sorted(self.build.rglob(name)):
            if path.is_file() and "CMakeFiles" not in path.parts:
                return str(path)
        raise Failed(f"{self.build} holds no {name}")

    def time_left(self):
        left = min(self.end, self.test_end) - time.monotonic()
        expect(left > 0, "no time left")
        return left

    def environment(self, **more):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith("GPUTRACE_") and key != "CUDA_INJECTION64_PATH"}
        env.update(more)
        return env

    def run(self, command, **more):
        begin = time.monotonic()
        process = subprocess.Popen(command, env=self.environment(**more), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            stdout, stderr = process.communicate(timeout=self.time_left())
        except subprocess.TimeoutExpired:
            # The traced program, too: it would keep the GPU from the next test.
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise OutOfTime(f"out of time in: {' '.join(map(str, command))}") from None
        # As a shell says it: killed by signal N reads 128 + N.
        status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        return Ended(status, stdout, stderr, time.monotonic() - begin)

    def recording(self, name):
        path = self.folder / f"{name}.gputrace"
        self.recordings.append(path)
        return path

    def record(self, name, command, *options):
        """(recording, what the program left) of the command under gputrace run."""
        recording = self.recording(name)
        return recording, self.run([self.gputrace, "run", "--telemetry", "100ms", *options, "-o", str(recording), "--",
                                    *command])

    def info(self, recording, section):
        """A section of gputrace info, which has rows."""
        done = self.run([self.gputrace, "info", "--json", str(recording)])
        expect(done.status == 0, f"gputrace info exits with {done.status}: {done.tail()}")
        return json.loads(done.stdout)[section]

    def report(self, recording, name, *options):
        """One report as JSON: its sections by name."""
        done = self.run([self.gputrace, "report", "--json", "--limit", "1000000", *options, str(recording), name])
        expect(done.status == 0, f"gputrace report {name} exits with {done.status}: {done.tail()}")
        return json.loads(done.stdout)

    def counts(self, recording):
        """Kernels, copies and fills with times."""
        kernels, copies = self.report(recording, "kernels"), self.report(recording, "copies")
        return {"kernels": sum_of(kernels, "kernels", "calls"), "copies": sum_of(copies, "copies", "calls"),
                "fills": sum_of(copies, "fills", "calls")}

    def samples(self):
        return sorted(path.stem for path in (TREE / "samples").glob("*.expect"))


def sum_of(report, section, column):
    return sum(row[column] or 0 for row in report.get(section, []))
