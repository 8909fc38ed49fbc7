#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures a training step with torch.cuda.graph and replays it: graph_capture.py [REPLAYS]

Forward is launched by the thread that captures, backward by autograd's own thread, and a branch of the
forward pass on a second stream. The parts of a step are ranges of torch.cuda.nvtx, which the thread that
captures pushes. The losses of the first and the last replay are printed.
"""
import os
import sys

# Before CUDA starts: without it cuBLAS may choose another algorithm in another run.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
from torch import nn

WIDTH, BATCH, WARM_UP = 256, 64, 3


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.branch, self.last = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.side = torch.cuda.Stream()

    def forward(self, x):
        x = torch.relu(self.first(x))
        here = torch.cuda.current_stream()
        self.side.wait_stream(here)
        with torch.cuda.stream(self.side):
            branch = torch.relu(self.branch(x))
        y = torch.tanh(x)
        here.wait_stream(self.side)
        return self.last(y + branch)


def main():
    replays = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    torch.manual_seed(20)
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, target = torch.randn(2, BATCH, WIDTH).cuda()

    def step():
        with torch.cuda.nvtx.range("step"):
            optimizer.zero_grad(set_to_none=True)
            with torch.cuda.nvtx.range("forward"):
                loss = nn.functional.mse_loss(model(x), target)
            with torch.cuda.nvtx.range("backward"):
                loss.backward()
            with torch.cuda.nvtx.range("optimizer"):
                optimizer.step()
        return loss

    # As PyTorch wants it: on a stream of its own before the capture.
    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        for _ in range(WARM_UP):
            step()
    torch.cuda.current_stream().wait_stream(warm)

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.nvtx.range("capture"), torch.cuda.graph(graph):
        loss = step()
    graph.replay()
    print(f"first loss {loss.item():.6f}")
    for _ in range(replays - 1):
        graph.replay()
    print(f"last loss {loss.item():.6f} after {replays} replays")


main()
