# SPDX-License-Identifier: Apache-2.0
"""Measures one program of bench/programs and prints one line of JSON.

    PROGRAM.py [--mode MODE] [--seconds SECONDS | --turns SOCKET [--pin CORE]]

MODE is base (no profiler of the program's own), kineto or kineto-cpu (torch.profiler with CUDA activity only,
or with both), jax-profiler-cuda or jax-profiler (jax.profiler without the host's and Python's events, or as it is).

An iteration is what the program is about: a forward pass, a training step, a word. Iterations run
in blocks of BLOCK_S, longer than a recorder's flush interval, so that each block holds its share of
the work that a recorder does now and then; each block ends with a wait for the GPU.

With --turns it measures a block whenever the other end of that socket asks for one (bench/turns.py), and
sleeps in between.

A program gives a function build() that returns a Program. "recorded" counts the iterations that a
tool could see: with an attached tool all of them, with a profiler of the program's own those inside.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import sys
import tempfile
import time

BLOCK_S = 0.125
WARM_UP_S = 0.25


class Program:
    """step() does one iteration and waits for nothing that such a program would not wait for; wait() waits
    for the GPU.

    kernels_at_least: kernels that an iteration launches, as far as it is sure; for the proof that a
    tool recorded them. versions: what to note of the libraries."""

    def __init__(self, step, wait, kernels_at_least, versions):
        self.step, self.wait = step, wait
        self.kernels_at_least, self.versions = kernels_at_least, versions


def run_block(program, seconds):
    """(iterations, nanoseconds) of one block, with the wait for what it started."""
    iterations = 0
    begin = time.perf_counter_ns()
    end = begin + int(seconds * 1e9)
    while time.perf_counter_ns() < end:
        program.step()
        iterations += 1
    program.wait()
    return iterations, time.perf_counter_ns() - begin


def measure(program, seconds):
    """Warm-up, then blocks: the figures of one run."""
    warm_up, _ = run_block(program, WARM_UP_S)
    blocks = [run_block(program, BLOCK_S) for _ in range(max(1, round(seconds / BLOCK_S)))]
    iterations = sum(count for count, _ in blocks)
    return {
        "iteration_us": statistics.median(time_ns / count for count, time_ns in blocks) / 1e3,
        "mean_iteration_us": sum(time_ns for _, time_ns in blocks) / iterations / 1e3,
        "iterations": iterations,
        "recorded": iterations + warm_up,
    }


def pin(core):
    """Keeps this thread on one core. Threads that run already, such as a tool's, keep their freedom."""
    if core is not None:
        os.sched_setaffinity(0, {core})


def take_turns(program, path, core):
    """Warm-up, then a block for each line of JSON, {"lead_in_s", "block_s"}, until the socket is closed.

    The lead-in is worked like the block but not measured. Between two lines the process sleeps in a read."""
    recorded, _ = run_block(program, WARM_UP_S)
    pin(core)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        stream = line.makefile("rw")
        print(json.dumps({"pid": os.getpid()}), file=stream, flush=True)
        while request := stream.readline():
            request = json.loads(request)
            lead_in, _ = run_block(program, request["lead_in_s"])
            iterations, time_ns = run_block(program, request["block_s"])
            recorded += lead_in + iterations
            print(json.dumps({"iterations": iterations, "time_ns": time_ns}), file=stream, flush=True)
    return {"recorded": recorded}


def under_torch_profiler(work, with_cpu):
    """Figures of work() inside torch.profiler, which is Kineto. Its own start and the first iterations under
    it belong to the warm-up."""
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CUDA] + ([ProfilerActivity.CPU] if with_cpu else [])
    with profile(activities=activities) as profiler:
        result = work()
    events = profiler.profiler.kineto_results.events()
    result["kernels"] = sum(event.device_type() == DeviceType.CUDA for event in events)
    return result


def count_in_jax_profile(folder):
    """Kernels, copies and fills in the profile that jax.profiler wrote: what lies on a stream of a GPU. Other
    lines of a GPU show the same kernels again, by module and operation."""
    from jax.profiler import ProfileData

    count = 0
    for profile in pathlib.Path(folder).rglob("*.xplane.pb"):
        for plane in ProfileData.from_file(str(profile)).planes:
            if plane.name.startswith("/device:GPU"):
                count += sum(len(list(line.events)) for line in plane.lines if line.name.startswith("Stream"))
    return count


def under_jax_profiler(work, with_host):
    """The same inside jax.profiler, which is XLA's."""
    import jax

    options = jax.profiler.ProfileOptions()
    if not with_host:
        options.host_tracer_level = options.python_tracer_level = 0
    with tempfile.TemporaryDirectory(prefix="gputrace-bench.") as folder:
        with jax.profiler.trace(folder, profiler_options=options):
            result = work()
        result["kernels"] = count_in_jax_profile(folder)
    return result


PROFILERS = {
    "kineto": lambda work: under_torch_profiler(work, False),
    "kineto-cpu": lambda work: under_torch_profiler(work, True),
    "jax-profiler-cuda": lambda work: under_jax_profiler(work, False),
    "jax-profiler": lambda work: under_jax_profiler(work, True),
}


def main(build, argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="base", choices=("base", *PROFILERS))
    parser.add_argument("--seconds", type=float, default=1.0, help="measured time (default %(default)s)")
    parser.add_argument("--turns", metavar="SOCKET", help="measure when asked to")
    parser.add_argument("--pin", metavar="CORE", type=int, help="keep the measuring thread on this core, with --turns")
    args = parser.parse_args(argv)
    program = build()

    def work():
        return take_turns(program, args.turns, args.pin) if args.turns else measure(program, args.seconds)

    if args.mode == "base":
        result = work()
    else:
        # A program is warm before its profiler starts, as in practice.
        run_block(program, WARM_UP_S)
        result = PROFILERS[args.mode](work)
    print(json.dumps({"mode": args.mode, **result, "kernels_at_least": program.kernels_at_least,
                      **program.versions}), flush=True)


def run_as_script(name, build):
    """For the last line of each program."""
    if name == "__main__":
        main(build, sys.argv[1:])
