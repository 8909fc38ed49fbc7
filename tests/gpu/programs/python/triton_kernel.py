#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel, compiled in two ways: block sizes of 256 and 1024. Prints the line that it begins at, how often
it was launched, and whether it added right.

    triton_kernel.py [LAUNCHES]
"""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(left, right, out, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < count
    tl.store(out + places, tl.load(left + places, mask=mask) + tl.load(right + places, mask=mask), mask=mask)


def main():
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    left, right = (torch.randn(100000, device="cuda") for _ in range(2))
    out = torch.empty_like(left)
    for block in (256, 1024):
        for _ in range(launches):
            add_kernel[(triton.cdiv(left.numel(), block),)](left, right, out, left.numel(), BLOCK=block)
    torch.cuda.synchronize()
    first = next(number for number, line in enumerate(open(__file__), 1) if line.startswith("def add_kernel"))
    print(f"line={first}\nlaunches={2 * launches}\nwrong={int(not torch.equal(out, left + right))}")


main()
