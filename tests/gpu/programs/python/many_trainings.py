#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records many short trainings, each in a process of its own. PyTorch is imported once, and the processes are forked, since
importing takes longer than such a training.

    many_trainings.py LIBRARY < LIST

LIBRARY is gputrace's injection library. Each line of LIST is "WORK RECORDING", WORK one of
    transformer  20 steps of train_transformer.py
    zeros        products of large matrices, all 0: the GPU needs little power
    random       the same of random numbers: the GPU needs so much power that its clocks fall
"""
import os
import pathlib
import runpy
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import torch


def multiply(make):
    left, right = (make(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    small = torch.ones(1 << 22, device="cuda")
    for _ in range(120):
        with torch.cuda.nvtx.range("step"):
            for _ in range(8):
                torch.mm(left, right)
            torch.tanh(small)
            torch.cumsum(small, 0)
            torch.softmax(small.view(1024, -1), 1)
            (small * 2 + 1).sum()
            torch.cuda.synchronize()


def train():
    sys.argv = ["train_transformer.py", "--steps", "20"]
    runpy.run_path(str(pathlib.Path(__file__).resolve().parent / "train_transformer.py"), run_name="__main__")


WORK = {"transformer": train, "zeros": lambda: multiply(torch.zeros), "random": lambda: multiply(torch.randn)}


def record(library, work, recording):
    pid = os.fork()
    if pid:
        if os.waitpid(pid, 0)[1]:
            raise SystemExit(f"{work} failed: {recording}")
        return
    os.environ.update(CUDA_INJECTION64_PATH=library, NVTX_INJECTION64_PATH=library, GPUTRACE_OUTPUT=recording)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    WORK[work]()
    sys.exit(0)


def main():
    for line in sys.stdin:
        record(sys.argv[1], *line.split())


main()
