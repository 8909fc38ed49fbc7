#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of PyTorch and Triton that are captured and run again: replay_python.py NAME [LAUNCHES]. Without a name it
lists them. Each is launched so often, one after the other, on the same inputs, in a range of NVTX that is called
measured, the first time over what was made of other inputs. Prints a regular expression that its kernel's name
matches, and how much of what it made is wrong.
"""
import sys

import torch
import triton
import triton.language as tl

ROWS, COLUMNS, HEADS, LENGTH, WIDTH = 4096, 1024, 16, 1024, 64


@triton.jit
def softmax_kernel(out, rows, columns, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    mask = places < columns
    values = tl.load(rows + tl.program_id(0) * columns + places, mask=mask, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + tl.program_id(0) * columns + places, powers / tl.sum(powers, axis=0), mask=mask)


@triton.jit
def attention_kernel(queries, keys, values, out, scale, length, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """One block of queries of one head: keys come block by block, the largest and the sum so far are kept."""
    head = tl.program_id(1) * length * WIDTH
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    across = tl.arange(0, WIDTH)
    query = tl.load(queries + head + mine[:, None] * WIDTH + across[None, :])
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    made = tl.zeros((BLOCK, WIDTH), tl.float32)
    for begin in range(0, length, BLOCK):
        theirs = begin + tl.arange(0, BLOCK)
        key = tl.load(keys + head + theirs[:, None] * WIDTH + across[None, :])
        value = tl.load(values + head + theirs[:, None] * WIDTH + across[None, :])
        scores = tl.dot(query, tl.trans(key)) * scale
        higher = tl.maximum(largest, tl.max(scores, axis=1))
        powers = tl.exp(scores - higher[:, None])
        shrink = tl.exp(largest - higher)
        total = total * shrink + tl.sum(powers, axis=1)
        made = made * shrink[:, None] + tl.dot(powers.to(value.dtype), value)
        largest = higher
    tl.store(out + head + mine[:, None] * WIDTH + across[None, :], (made / total[:, None]).to(query.dtype))


def elementwise():
    x, y, out = (torch.randn(ROWS, COLUMNS, device="cuda") for _ in range(3))
    return "elementwise_kernel", lambda: torch.add(x, y, alpha=2, out=out), lambda: (out, x + 2 * y), (x, y)


def layer_norm():
    x = torch.randn(ROWS, COLUMNS, device="cuda")
    weight, bias = torch.randn(2, COLUMNS, device="cuda")
    kept = {}

    def launch():
        # Given back first, so that the allocator hands the same out again: else launches take turns between two outputs,
        # and what a launch writes is further back in the level-2 cache than where it is run again.
        kept.pop("out", None)
        kept["out"] = torch.nn.functional.layer_norm(x, (COLUMNS,), weight, bias)
        kept.setdefault("address", kept["out"].data_ptr())
        kept["moved"] = kept.get("moved", 0) + (kept["out"].data_ptr() != kept["address"])

    def made():
        if kept["moved"]:
            sys.exit(f"layer_norm: {kept['moved']} outputs lie elsewhere than the first one")
        mean, variance = x.mean(1, keepdim=True), x.var(1, unbiased=False, keepdim=True)
        return kept["out"], (x - mean) / torch.sqrt(variance + 1e-5) * weight + bias
    return "layer_norm_kernel", launch, made, (x,)


def softmax():
    x = torch.randn(ROWS, COLUMNS, device="cuda")
    out = torch.empty_like(x)
    return ("^softmax_kernel$", lambda: softmax_kernel[(ROWS,)](out, x, COLUMNS, BLOCK=triton.next_power_of_2(COLUMNS)),
            lambda: (out, torch.softmax(x, 1)), (x,))


def attention():
    queries, keys, values = torch.randn(3, HEADS, LENGTH, WIDTH, device="cuda", dtype=torch.float16)
    out = torch.empty_like(queries)
    scale = WIDTH ** -0.5

    def launch():
        attention_kernel[(LENGTH // 64, HEADS)](queries, keys, values, out, scale, LENGTH, WIDTH=WIDTH, BLOCK=64)
    return ("^attention_kernel$", launch,
            lambda: (out, torch.nn.functional.scaled_dot_product_attention(queries, keys, values)),
            (queries, keys, values))


def gemm():
    a, b = torch.randn(2, 2048, 2048, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(a)
    return ("gemm|nvjet|cutlass|xmma", lambda: torch.mm(a, b, out=out),
            lambda: (out, (a.float() @ b.float()).to(a.dtype)), (a, b))


PROGRAMS = {program.__name__: program for program in (elementwise, layer_norm, softmax, attention, gemm)}


def main():
    if len(sys.argv) < 2:
        print("\n".join(PROGRAMS))
        return 0
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    torch.manual_seed(5)
    kernel, launch, made, inputs = PROGRAMS[sys.argv[1]]()
    for _ in range(3):  # compiles it, and lets libraries choose
        launch()
    for tensor in inputs:
        tensor.normal_()
    torch.cuda.synchronize()
    with torch.cuda.nvtx.range("measured"):
        for _ in range(launches):
            launch()
        torch.cuda.synchronize()
    got, wanted = made()
    wrong = int((~torch.isclose(got.float(), wanted.float(), rtol=2e-2, atol=2e-2)).sum())
    print(f"kernel={kernel}\nlaunches={launches}\nwrong={wrong}")
    return int(wrong > 0)


sys.exit(main())
