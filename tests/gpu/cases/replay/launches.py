# SPDX-License-Identifier: Apache-2.0
"""Launches of C programs, PyTorch and Triton run again as recorded, and take as long as in the job."""
import re

from cases.support import replay_bundles
from cases.support.bench import PROGRAMS, expect
from cases.support.readings import facts_of
from cases.support.replaying import (
    REPLAY_LAUNCHES, REPLAY_RUNS, capture_launch, expect_as_recorded, forget_bundles, library, replay,
    replayed_command,
)

# Programs of tests/gpu whose kernels are run again, and what of them has no time of its own to compare with: what
# changes its inputs finds other caches when they are restored, and managed memory moves.
REPLAYED = ("saxpy", "pool", "managed", "in_place", "reduction", "pointer_table", "constant_data", "cooperative",
            "clusters", "tensor_map", "gemm")
REPLAYED_PYTHON = ("elementwise", "layer_norm", "softmax", "attention", "gemm")
REPLAY_UNTIMED = ("in_place", "managed")


def time_in_job(bench, name, command, kernel, *options):
    """Median of the kernel's launches where nothing is captured."""
    recording, traced = bench.record(f"job-{name}", command, "--no-export")
    facts_of(traced, name)
    rows = [row for row in bench.report(recording, "kernels", *options)["kernels"] if row["calls"] == REPLAY_LAUNCHES
            and re.search(kernel, row.get("full_name") or row["kernel"])]
    expect(len(rows) == 1, f"{len(rows)} kernels match {kernel} and have {REPLAY_LAUNCHES} launches")
    return rows[0]["median_ns"]


def compare_replays(bench, name, bundle, job_ns, *options):
    """Outputs are as recorded; ten processes agree with each other and, where it is given, with the job."""
    status, said = replay(bench, bundle, *options)
    first = expect_as_recorded(status, said, name)
    medians = [first["median_ns"]] + [replay(bench, bundle, "--no-verify", *options)[1]["times"][0]["median_ns"]
                                      for _ in range(REPLAY_RUNS - 1)]
    off, most = replay_bundles.apart(medians)
    median = sorted(medians)[len(medians) // 2]
    figures = {"job_ns": job_ns, "median_ns": median, "apart_ns": off, "clock": first["clock"],
               "captured_ns": first["job_ns"], "percent_off": replay_bundles.percent_off(median, job_ns)}
    expect(off <= most, f"{name}: {REPLAY_RUNS} runs are {off} ns apart, not {most}: {medians}")
    if name not in REPLAY_UNTIMED:
        expect(figures["percent_off"] <= replay_bundles.JOB_PERCENT,
               f"{name}: {median} ns, and {job_ns} in the job: {figures['percent_off']:.1f} % apart")
    return figures


def test_replay(bench, name):
    """A launch of a C program, captured and run again in other processes."""
    more = ["warm", library(bench, "libcublas")] if name == "gemm" else []
    command = replayed_command(bench, name, *more)
    kernel = facts_of(bench.run(command), name)["kernel"]
    # The library's names are its own.
    pattern = f"^{kernel}$" if kernel else "gemm|nvjet|cutlass|xmma"
    job_ns = time_in_job(bench, name, command, pattern)
    bundle = capture_launch(bench, name, command, pattern)
    figures = compare_replays(bench, name, bundle, job_ns, "--l2", "warm")
    forget_bundles(bench, name)
    return figures


def test_replay_python(bench, name):
    """The same of kernels of PyTorch, of Triton and of the library behind torch.mm."""
    command = [bench.python, str(PROGRAMS / "replay_python.py"), name, str(REPLAY_LAUNCHES)]
    kernel = facts_of(bench.run(command), name)["kernel"]
    job_ns = time_in_job(bench, f"python-{name}", command, kernel, "--range", "measured")
    bundle = capture_launch(bench, f"python-{name}", command, kernel, "--range", "measured")
    figures = compare_replays(bench, f"python-{name}", bundle, job_ns, "--l2", "warm")
    forget_bundles(bench, f"python-{name}")
    return figures


def test_replay_cold(bench):
    """Where the program writes so much between launches that the level-2 cache has nothing of theirs: --l2 cold."""
    command = replayed_command(bench, "saxpy", "cold")
    job_ns = time_in_job(bench, "cold", command, "^saxpy$")
    bundle = capture_launch(bench, "cold", command, "^saxpy$")
    figures = compare_replays(bench, "cold", bundle, job_ns, "--l2", "cold")
    forget_bundles(bench, "cold")
    return figures
