#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of libraries whose work depends on what memory holds: replay_torch_state.py NAME [LAUNCHES] [cold]. Without a
name it lists them. Each is launched so often on the same inputs, in a range of NVTX that is called measured, the first
time over what was made of other inputs; cold: so much memory is written between launches that the level-2 cache holds
nothing of theirs. Prints how much of what it made is wrong.
"""
import sys

import torch
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel

COLD_BYTES = 512 << 20
EDGE = 2048


@triton.jit
def persistent_kernel(a, b, c, counter, edge, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    """Blocks of c, one after the other, until a counter in memory says that there are no more."""
    across = edge // BLOCK
    tile = tl.atomic_add(counter, 1)
    while tile < across * across:
        rows = tile // across * BLOCK + tl.arange(0, BLOCK)
        columns = tile % across * BLOCK + tl.arange(0, BLOCK)
        deep = tl.arange(0, DEPTH)
        total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
        for begin in range(0, edge, DEPTH):
            left = tl.load(a + rows[:, None] * edge + (begin + deep)[None, :])
            right = tl.load(b + (begin + deep)[:, None] * edge + columns[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + rows[:, None] * edge + columns[None, :], total.to(tl.bfloat16))
        tile = tl.atomic_add(counter, 1)


def persistent():
    a, b = torch.randn(2, EDGE, EDGE, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(a)
    counter = torch.zeros(1, device="cuda", dtype=torch.int32)
    grid = torch.cuda.get_device_properties(0).multi_processor_count

    def launch():
        counter.zero_()
        persistent_kernel[(grid,)](a, b, out, counter, EDGE, BLOCK=128, DEPTH=64, num_warps=8)
    return launch, lambda: (out, a.float() @ b.float()), (a, b)


def attention():
    """cuDNN's, of which some versions take tiles from a counter."""
    shape = (4, 16, 2048, 128)
    queries, keys, values = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    kept = {}

    def launch():
        kept.pop("out", None)  # so that the allocator hands the same memory out again
        with torch.no_grad(), sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            kept["out"] = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)

    def made():
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
            return kept["out"][:1], torch.nn.functional.scaled_dot_product_attention(
                queries[:1].float(), keys[:1].float(), values[:1].float(), is_causal=True)
    return launch, made, (queries, keys, values)


def scan():
    """cub's, by which each block looks back at what those before it have summed up. It sums whole ones, as sums of others differ
    from run to run."""
    x = torch.randint(-100, 100, (1 << 23,), device="cuda", dtype=torch.int64)
    out = torch.empty_like(x)
    return (lambda: torch.cumsum(x, 0, out=out), lambda: (out.double(), torch.from_numpy(x.cpu().numpy().cumsum()).double().cuda()), (x,))


def split_k():
    """A product so deep that its sums are split, with a workspace of the library's."""
    a = torch.randn(128, 1 << 16, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(1 << 16, 128, device="cuda", dtype=torch.bfloat16)
    out = torch.empty(128, 128, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.mm(a, b, out=out), lambda: (out / 256, (a.float() @ b.float()) / 256), (a, b)


PROGRAMS = {program.__name__: program for program in (attention, scan, split_k, persistent)}


def main():
    if len(sys.argv) < 2:
        print("\n".join(PROGRAMS))
        return 0
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    flush = torch.empty(COLD_BYTES, device="cuda", dtype=torch.uint8) if "cold" in sys.argv[3:] else None
    torch.manual_seed(5)
    launch, made, inputs = PROGRAMS[sys.argv[1]]()
    for _ in range(3):  # compiles it, and lets libraries choose
        launch()
    for tensor in inputs:
        if tensor.is_floating_point():
            tensor.normal_()
        else:
            tensor.random_(-100, 100)
    torch.cuda.synchronize()
    with torch.cuda.nvtx.range("measured"):
        for _ in range(launches):
            if flush is not None:
                flush.zero_()
            launch()
        torch.cuda.synchronize()
    got, wanted = made()
    wrong = int((~torch.isclose(got.float(), wanted.float(), rtol=5e-2, atol=5e-2)).sum())
    print(f"launches={launches}\nwrong={wrong}")
    return int(wrong > 0)


sys.exit(main())
