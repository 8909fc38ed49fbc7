#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A step of many short kernels, which takes as long as launching them: replay_range.py [STEPS]. Each step is a range of
NVTX that is called step. Prints how long a step takes so, and as a graph of torch.cuda.graph, in nanoseconds.
"""
import sys
import time

import torch

WIDTH, LAYERS = 128, 30


def step(x, weights):
    for weight in weights:
        x = torch.tanh(x @ weight) + x
    return x


def time_of(run, steps):
    torch.cuda.synchronize()
    begin = time.perf_counter_ns()
    for _ in range(steps):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - begin) / steps


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    torch.manual_seed(6)
    x = torch.randn(WIDTH, WIDTH, device="cuda")
    weights = [torch.randn(WIDTH, WIDTH, device="cuda") / WIDTH for _ in range(LAYERS)]

    def ranged():
        with torch.cuda.nvtx.range("step"):
            step(x, weights)

    with torch.no_grad():
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(10):
                step(x, weights)
        torch.cuda.synchronize()
        plain = time_of(ranged, steps)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step(x, weights)
        graph.replay()
        as_graph = time_of(graph.replay, steps)
    print(f"kernels={3 * LAYERS}\nplain_ns={plain:.0f}\ngraph_ns={as_graph:.0f}")


main()
