#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's add_ on a small tensor over and over; prints what a launch cost the host as one line of JSON.

    loop_torch.py base [LAUNCHES]           no profiler of its own (other tools may be injected)
    loop_torch.py kineto [LAUNCHES] [FILE]  under torch.profiler, CUDA activity only; its trace goes to FILE
    loop_torch.py kineto-cpu [LAUNCHES] [FILE]  the same with CPU and CUDA activity, as most people run it
"""
import json
import os
import sys
import time

import torch

WARM_UP = 5000
PROFILER_WARM_UP = 1000


def measure(tensor, count):
    """(us a launch of the loop alone, us with the wait for the last kernel)"""
    begin = time.perf_counter_ns()
    for _ in range(count):
        tensor.add_(1.0)
    launched = time.perf_counter_ns()
    torch.cuda.synchronize()
    finished = time.perf_counter_ns()
    return (launched - begin) / count / 1e3, (finished - begin) / count / 1e3


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "base"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 30000
    tensor = torch.zeros(32, device="cuda")
    result = {"launches": count, "recorded_launches": count + WARM_UP, "torch": torch.__version__}
    measure(tensor, WARM_UP)
    if mode == "base":
        result["launch_us"], result["launch_and_sync_us"] = measure(tensor, count)
    elif mode in ("kineto", "kineto-cpu"):
        from torch.profiler import ProfilerActivity, profile

        activities = [ProfilerActivity.CUDA] + ([ProfilerActivity.CPU] if mode == "kineto-cpu" else [])
        with profile(activities=activities) as profiler:
            # The profiler's own warm-up is not what a launch costs.
            measure(tensor, PROFILER_WARM_UP)
            result["recorded_launches"] = count + PROFILER_WARM_UP
            result["launch_us"], result["launch_and_sync_us"] = measure(tensor, count)
        if len(sys.argv) > 3:
            begin = time.perf_counter()
            profiler.export_chrome_trace(sys.argv[3])
            result["export_s"] = time.perf_counter() - begin
            result["bytes"] = os.path.getsize(sys.argv[3])
            with open(sys.argv[3], encoding="utf-8") as trace:
                result["kernels"] = trace.read().count('"cat": "kernel"')
    else:
        sys.exit(__doc__)
    print(json.dumps(result))


main()
