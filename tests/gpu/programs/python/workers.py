#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One of several workers that use one GPU at the same time, each in a process of its own.

    workers.py NUMBER FOLDER WORKERS

Waits until all workers have touched FOLDER, so that they run at the same time. Prints, as JSON, its process id and how often it
launched each kernel: the worker of number N launches 100 + 10 N additions and 50 multiplications, in a range of NVTX.
"""
import json
import os
import pathlib
import sys
import time

import torch

ELEMENTS = 1 << 22


def wait_for_all(folder, number, workers):
    (folder / f"ready-{number}").touch()
    end = time.monotonic() + 60
    while len(list(folder.glob("ready-*"))) < workers and time.monotonic() < end:
        time.sleep(0.001)


def main():
    number, folder, workers = int(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    a = torch.zeros(ELEMENTS, device="cuda")
    b = torch.ones(ELEMENTS, device="cuda")
    torch.cuda.synchronize()
    wait_for_all(folder, number, workers)
    additions, products = 100 + 10 * number, 50
    with torch.cuda.nvtx.range("work"):
        for _ in range(additions):
            a.add_(b)
        for _ in range(products):
            a.mul_(b)
        torch.cuda.synchronize()
    # One fill made each of the two tensors.
    print(json.dumps({"process": os.getpid(), "additions": additions, "products": products, "fills": 2,
                      "sum_is_right": bool((a == additions).all())}))


main()
