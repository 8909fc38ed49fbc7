#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Matrix products on the tensor cores for some seconds, after a second of rest: enough to bring a GPU to its
limit of power, where it lowers its clocks. Prints how many products it made.

    matmul.py [SECONDS]
"""
import sys
import time

import torch

SIZE = 8192
AT_ONCE = 20


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    left, right = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    torch.cuda.synchronize()
    time.sleep(1)
    products, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(AT_ONCE):
            torch.matmul(left, right)
        torch.cuda.synchronize()
        products += AT_ONCE
    print(f"products={products}")


main()
