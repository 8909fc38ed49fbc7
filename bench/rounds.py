# SPDX-License-Identifier: Apache-2.0
"""Shared by bench/overhead and bench/attach: variants run in paired rounds, the programs and
libraries of a build folder, proof that a variant recorded, statistics, and where results go.

Paired rounds (attach has turns as well, turns.py): every round runs every variant once, in random order, and differences and ratios are
taken inside a round, because the machine's own speed drifts more between minutes than tools differ.
"""
import datetime
import glob
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RUN_LIMIT_S = 120
# A kernel record is at least 144 bytes in every CUPTI there is (CUpti_ActivityKernel4).
KERNEL_RECORD_BYTES = 144


class Failed(Exception):
    """A variant that gave no figure; the text says why."""


class Variant:
    """One way to run a program. run(folder) returns what one run measured, as a dictionary.

    rounds has one entry a round: that dictionary, or None where the run failed."""

    # Another tool: its figure is far from the others and needs fewer turns.
    is_peer = False

    def __init__(self, name, help_text, run):
        self.name, self.help, self.run = name, help_text, run
        self.rounds, self.failures = [], []

    def settle(self, folder):
        """Called once its process is warm, before its first turn."""

    @property
    def failure(self):
        """Why the last run that failed did, or None."""
        return self.failures[-1] if self.failures else None


def clean_environment(**more):
    """The caller's environment without anything that would inject a tool of its own."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("GPUTRACE_", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NSYS_", "KINETO_"))}
    env.update(more)
    return env


def last_json(text):
    """The last line of JSON that a program printed, or None."""
    lines = [line for line in text.splitlines() if line.startswith('{"')]
    try:
        return json.loads(lines[-1]) if lines else None
    except ValueError:
        return None


def tail_of(*texts):
    """The last line of the first text that is not empty, for a message of one line."""
    lines = next((text for text in texts if text.strip()), "silent").strip().splitlines()
    return lines[-1].strip()[-300:].replace("|", "/")


def run_program(command, env, ignore_status=False):
    """Runs a program that ends with one line of JSON; that line."""
    try:
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=RUN_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Failed(f"took longer than {RUN_LIMIT_S} s") from None
    except OSError as failure:
        raise Failed(str(failure)) from None
    row = last_json(done.stdout)
    if row is None or (done.returncode and not ignore_status):
        raise Failed(f"exit status {done.returncode}: {tail_of(done.stderr, done.stdout)}")
    return row


def size_of(folder, *patterns):
    return sum(path.stat().st_size for pattern in patterns for path in pathlib.Path(folder).rglob(pattern))


def find_nsys(asked):
    """An nsys that can record. Nsight Compute brings one that records but cannot make its report, which
    is enough: the measured figure comes from the program."""
    places = [asked, shutil.which("nsys")]
    places += sorted(glob.glob("/opt/nvidia/nsight-systems*/*/bin/nsys"), reverse=True)
    places += sorted(glob.glob("/opt/nvidia/nsight-systems*/*/target-linux-x64/nsys"), reverse=True)
    places += sorted(glob.glob("/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys"), reverse=True)
    places += sorted(glob.glob("/usr/local/cuda*/bin/nsys"), reverse=True)
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


class Tools:
    """The programs and libraries of one build folder, and what else is on this machine."""

    def __init__(self, args):
        build = pathlib.Path(args.build).resolve()
        self.loop = self.find(build, "loop_launch")
        self.launchers = {name: self.find(build, f"{name}_launch") for name in ("threads", "graph")}
        self.floor = self.find(build, "floor_injection.so")
        self.injection = getattr(args, "injection", None) or self.find(build, "libgputrace-injection.so")
        self.gputrace = self.find(build, "gputrace")
        self.python = args.python
        self.nsys = None if args.nsys == "none" else find_nsys(args.nsys)
        self.floor_report = {}

    @staticmethod
    def find(build, name):
        found = [path for path in build.rglob(name) if path.is_file() and "CMakeFiles" not in path.parts]
        return str(found[0]) if found else None


def floor_environment(tools, folder, **settings):
    """Environment of a program that has the floor attached."""
    return clean_environment(CUDA_INJECTION64_PATH=tools.floor, GPUTRACE_FLOOR_REPORT=f"{folder}/floor.json",
                             **settings)


def read_floor_report(tools, folder):
    """Report of the floor on the run that has just ended."""
    report = pathlib.Path(folder) / "floor.json"
    if not report.exists():
        raise Failed("the floor library recorded nothing: no libcupti, or another subscriber")
    tools.floor_report = json.loads(report.read_text())
    if tools.floor_report["refused"]:
        raise Failed(f"CUPTI refused {tools.floor_report['refused']}")
    return tools.floor_report


def expect_kernel_records(report, kernels):
    """Fails unless the floor got bytes enough for that many kernels."""
    if report["bytes"] < KERNEL_RECORD_BYTES * kernels:
        raise Failed(f"the floor saw {report['bytes']} bytes only, for {kernels} kernels")


def report_of(gputrace, recording, name):
    command = [gputrace or "gputrace", "report", "--json", "--limit", "1000000", str(recording), name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise Failed(f"gputrace report: {failure}") from None
    if done.returncode:
        raise Failed(f"gputrace report: {tail_of(done.stderr)}")
    return json.loads(done.stdout)


def count_kernels(gputrace, recording):
    """Kernels with times in a recording: one that lost half of them is no bargain."""
    return sum(row["calls"] for row in report_of(gputrace, recording, "kernels")["kernels"])


def expect_graph_launches(gputrace, recording, launches):
    """Fails unless so many launches of graphs are there, each with its length on the GPU."""
    runs = report_of(gputrace, recording, "graphs")["runs"]
    known = sum(row["launches"] for row in runs if row["span_ns"])
    if known < launches:
        raise Failed(f"the recording has {known} launches of graphs, at least {launches} were made")


def nsys_command(tools, folder, command):
    """nsys at its cheapest: CUDA only, without CPU sampling."""
    return [tools.nsys, "profile", "-t", "cuda", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true",
            "-o", f"{folder}/nsys", *command]


def size_of_nsys(folder, kernels):
    """Bytes that nsys wrote; fails when they cannot hold that many kernels."""
    size = size_of(folder, "*.nsys-rep", "*.qdstrm")
    if size < kernels:
        raise Failed(f"nsys wrote {size} bytes only, for {kernels} kernels")
    return size


def run_round(variants, order, allowed_failures=0):
    """Runs every variant once, in random order; one that has failed more often than allowed no more."""
    turn = list(variants)
    order.shuffle(turn)
    for variant in turn:
        run = None
        if len(variant.failures) <= allowed_failures:
            with tempfile.TemporaryDirectory(prefix="gputrace-bench.") as folder:
                try:
                    run = variant.run(folder)
                except Failed as failure:
                    variant.failures.append(str(failure))
        variant.rounds.append(run)


def median_interval(values, confidence=0.95):
    """The narrowest pair of order statistics that holds the median with at least that confidence.

    That is the sign test turned round: the median lies below the k-th smallest of n values with the
    probability that n tosses of a coin show heads fewer than k times. Nothing is assumed of how the
    values are spread. None when there are too few of them, which is with fewer than six for 95 %."""
    ordered = sorted(values)
    count = len(ordered)
    below, rank = 0.0, 0
    while rank < count // 2:
        below += math.comb(count, rank) / 2 ** count
        if 2 * below > 1 - confidence:
            break
        rank += 1
    return (ordered[rank - 1], ordered[count - rank]) if rank else None


def first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return lines[0].strip() if lines and done.returncode == 0 else None


def describe_machine(tools):
    smi = first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    device, _, driver = (smi or "").partition(", ")
    return {
        "date": datetime.date.today().isoformat(),
        "device": device or None,
        "driver": driver or None,
        "cupti": tools.floor_report.get("cupti"),
        "cupti_version": tools.floor_report.get("cupti_version"),
        "gputrace": first_line([tools.gputrace, "--version"]) if tools.gputrace else None,
        "nsys": first_line([tools.nsys, "--version"]) if tools.nsys else None,
        "torch": None,
        "cores": os.cpu_count(),
    }


def machine_lines(machine):
    """The machine as Markdown."""
    return [f"- {name}: {value}" for name, value in machine.items() if value is not None]


def save(folder, machine, groups, text, suffix=""):
    """Writes FOLDER/<date>-<gpu><suffix>.json, with every round, and .md with the text."""
    slug = re.sub(r"[^a-z0-9]+", "-", (machine["device"] or "no-gpu").lower().replace("nvidia", "")).strip("-")
    stem = pathlib.Path(folder) / f"{machine['date']}-{slug}{suffix}"
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".json").write_text(json.dumps({"version": 1, "machine": machine, "groups": groups}, indent=1)
                                         + "\n")
    stem.with_suffix(".md").write_text(text)
    print(f"saved {stem}.json and .md", file=sys.stderr)


def number(value, form):
    return "-" if value is None else format(value, form)
