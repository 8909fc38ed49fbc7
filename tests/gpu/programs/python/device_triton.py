#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel that writes device events: ranges around its load, its sum and its store, and the sum's length as
a value. Prints how many there must be.

    device_triton.py [LAUNCHES]
"""
import pathlib
import sys

import torch
import triton
import triton.language as tl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "include" / "gputrace"))
import gputrace_device as events  # noqa: E402

ROUNDS = 20


@triton.jit
def sums(source, out, count, ring, LOAD: tl.constexpr, ADD: tl.constexpr, STORE: tl.constexpr, LENGTH: tl.constexpr,
         ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    state = events.start(ring)
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(ROUNDS):
        state = events.begin(state, ring, LOAD)
        taken = tl.load(source + (places + step * BLOCK) % count)
        state = events.end(state, ring, LOAD)
        state = events.begin(state, ring, ADD)
        total += taken
        state = events.end(state, ring, ADD)
    state = events.value(state, ring, LENGTH, ROUNDS)
    state = events.begin(state, ring, STORE)
    tl.store(out + places, total, mask=places < count)
    state = events.end(state, ring, STORE)
    events.close(state, ring)


def main():
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    block, count = 256, 64 * 256
    source = torch.ones(count, device="cuda")
    out = torch.empty_like(source)
    names = [events.name(text) for text in ("load", "add", "store", "length")]
    blocks = triton.cdiv(count, block)
    for _ in range(launches):
        sums[(blocks,)](source, out, count, events.ring(), *names, ROUNDS=ROUNDS, BLOCK=block)
    torch.cuda.synchronize()
    print(f"launches={launches}\nblocks={blocks}\nload={launches * blocks * ROUNDS}\nadd={launches * blocks * ROUNDS}\n"
          f"store={launches * blocks}\nlength={launches * blocks}\nrows={launches * blocks * (2 * ROUNDS + 2)}\n"
          f"ring={int(events.ring() != 0)}\nwrong={int(not torch.equal(out, torch.full_like(out, ROUNDS)))}")


main()
