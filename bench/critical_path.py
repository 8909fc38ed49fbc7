#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The critical path of a training step of PyTorch's, by Holistic Trace Analysis and by gputrace, side by side.

    bench/critical_path.py HTA GPUTRACE [--steps N] [--width N] [--step K] [--output DIR]

HTA is the folder of its sources (the one that holds hta/), GPUTRACE the program. The same steps run twice, once
under PyTorch's profiler with its records of waits, and once under gputrace run; the two do not go into one process.
HTA reads both: the profiler's trace, and gputrace's own as a Chrome trace, which is the same run, so that what differs
then are the two programs alone. For the step K, and the mean of all but the first ten, it prints what the path is made
of in the four classes of HTA, in ms and percent of the path, the difference in points, and what the graphs of both
disagree about by what is known of it: what HTA weighs nothing (docs/reports/critical-path.md).

Python needs torch, and for HTA pandas, numpy, networkx and psutil.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

WARM = 10
# HTA's classes, and gputrace's kinds of each.
CLASSES = {
    "gpu_compute_bound": ("kernels", "graphs as a whole", "copies and fills"),
    "gpu_kernel_kernel_overhead": ("between work on the GPU", "delay of work, not explained"),
    "gpu_kernel_launch_overhead": ("launch latency",),
    "cpu_bound": ("API calls", "program's own time", "return from a wait", "waits for what is not known"),
}
STEP = "ProfilerStep"


def name_of(number):
    """HTA looks for names that contain one: all are of one length."""
    return f"{STEP}#{number:05}"


def ours_of(number):
    return f"step {number:05}"


def train(steps, width, after_step, named):
    """Steps of a transformer; named(i) is the range around step i."""
    import torch

    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, 4).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    data = torch.randn(8, 64, width).pin_memory()
    for number in range(steps):
        with named(number):
            batch = data.to("cuda", non_blocking=True)
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            loss.item()
        after_step()


def work_under_kineto(steps, width, trace):
    import torch
    from torch._C._profiler import _ExperimentalConfig
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                 experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True)) as profiler:
        # Names as torch.profiler's own schedule gives them, which HTA looks for.
        train(steps, width, lambda: None, lambda number: torch.profiler.record_function(name_of(number)))
    profiler.export_chrome_trace(trace)


def work_under_gputrace(steps, width):
    import torch

    train(steps, width, lambda: None, lambda number: torch.cuda.nvtx.range(ours_of(number)))


def read_hta(folder, trace, names):
    """{step: {class: ms}} of HTA's path of each step; names: {step: name of the range around it}."""
    sys.path.insert(0, str(folder))
    from hta.analyzers.critical_path_analysis import CriticalPathAnalysis
    from hta.common.trace import Trace

    read = Trace(trace_files={0: str(trace)}, trace_dir="")
    read.parse_traces(use_multiprocessing=False)
    read.decode_symbol_ids(use_shorten_name=False)
    shares = {}
    for number, name in names.items():
        # There is one of the host, and one of the GPU: the step is from the begin of the first to the end of both.
        found = CriticalPathAnalysis.critical_path_analysis(read, 0, name, (0, 1))
        if not found or not found[1]:
            sys.exit(f"critical_path: HTA found no path of step {number}")
        rows = found[0].get_critical_path_breakdown()
        # Times of a trace are microseconds.
        shares[number] = {name: float(rows[rows.bound_by == name].duration.sum()) / 1e3 for name in CLASSES}
    return shares


def read_gputrace(gputrace, recording, number):
    """(ms by kind, length in ms, assumed edges) of one step."""
    said = json.loads(subprocess.run(
        [gputrace, "report", "--json", "--range", ours_of(number), str(recording), "critical-path"],
        check=True, capture_output=True, text=True).stdout)
    report = said if "by_kind" in said else said["reports"][0]
    return ({row["kind"]: row["total_ns"] / 1e6 for row in report["by_kind"]},
            sum(row["length_ns"] for row in report["paths"]) / 1e6,
            sum(row["assumed"] for row in report["paths"]))


def in_classes(kinds):
    return {name: sum(kinds.get(kind, 0) for kind in of_it) for name, of_it in CLASSES.items()}


def percent(shares):
    whole = sum(shares.values()) or 1
    return {name: 100 * value / whole for name, value in shares.items()}


def compare(title, theirs, kinds, length_ms, assumed):
    ours = in_classes(kinds)
    print(f"{title}: HTA's path is {sum(theirs.values()):.3f} ms long, gputrace's {length_ms:.3f} ms, "
          f"with {assumed:g} assumed edges")
    print(f"  {'class':28} {'HTA ms':>9} {'%':>6} {'gputrace ms':>12} {'%':>6} {'points':>7}")
    worst = 0
    for name in CLASSES:
        points = percent(ours)[name] - percent(theirs)[name]
        worst = max(worst, abs(points))
        print(f"  {name:28} {theirs[name]:9.3f} {percent(theirs)[name]:6.1f} {ours[name]:12.3f} "
              f"{percent(ours)[name]:6.1f} {points:+7.1f}")
    print("  of gputrace's: " + ", ".join(f"{kind} {ms:.3f} ms" for kind, ms in sorted(kinds.items(), key=lambda k: -k[1])))
    print("  HTA weighs nothing: the host between operations at the top (a part of the program's own time), "
          "calls that wait, and returns from them "
          f"({kinds.get('return from a wait', 0) + kinds.get('waits for what is not known', 0):.3f} ms here)")
    return worst


def mean(rows):
    return {key: sum(row.get(key, 0) for row in rows) / len(rows) for key in {key for row in rows for key in row}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hta", type=pathlib.Path)
    parser.add_argument("gputrace")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--width", type=int, default=256,
                        help="of the model (default %(default)s, whose steps wait for the host; 2048: for the GPU)")
    parser.add_argument("--step", type=int, help="default: the last but one")
    parser.add_argument("--output", type=pathlib.Path, help="keep trace and recording there")
    parser.add_argument("--worker", choices=("kineto", "gputrace"), help=argparse.SUPPRESS)
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker == "kineto":
        return work_under_kineto(args.steps, args.width, args.trace)
    if args.worker == "gputrace":
        return work_under_gputrace(args.steps, args.width)
    with tempfile.TemporaryDirectory() as made:
        folder = args.output or pathlib.Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        trace, recording = folder / "kineto.json", folder / "steps.gputrace"
        again = [sys.executable, __file__, str(args.hta), args.gputrace, "--steps", str(args.steps),
                 "--width", str(args.width)]
        subprocess.run([*again, "--worker", "kineto", "--trace", str(trace)], check=True)
        subprocess.run([args.gputrace, "run", "--force", "--no-export", "-q", "-o", str(recording), "--", *again,
                        "--worker", "gputrace"], check=True)
        numbers = list(range(min(WARM, args.steps - 1), args.steps))
        exported = folder / "gputrace.json"
        subprocess.run([args.gputrace, "export", "--format", "chrome", "-q", "--force", "-o", str(exported),
                        str(recording)], check=True)
        theirs = read_hta(args.hta, trace, {number: name_of(number) for number in numbers})
        same = read_hta(args.hta, exported, {number: ours_of(number) for number in numbers})
        ours = {number: read_gputrace(args.gputrace, recording, number) for number in numbers}
    step = args.step if args.step in numbers else numbers[-2] if len(numbers) > 1 else numbers[-1]
    for what, rows in (("the same run", same), ("the run under PyTorch's profiler", theirs)):
        print(f"HTA of {what}")
        compare(f"step {step}", rows[step], *ours[step])
        worst = compare(f"mean of steps {numbers[0]} to {numbers[-1]}", mean(list(rows.values())),
                        mean([row[0] for row in ours.values()]), sum(row[1] for row in ours.values()) / len(ours),
                        sum(row[2] for row in ours.values()) / len(ours))
        print(f"largest difference of the means: {worst:.1f} points\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
