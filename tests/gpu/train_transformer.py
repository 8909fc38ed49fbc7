#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer for 50 steps and prints every loss, the same to the last bit each time.

    train_transformer.py                  just that
    train_transformer.py --profile FILE   under torch.profiler; FILE gets, as JSON, what it counted
    train_transformer.py --ops FILE       the same; FILE gets the GPU time of each operation, and of modules
                                          the paths that there are
"""
import argparse
import collections
import json
import os
import tempfile

# Before CUDA starts: without it cuBLAS may choose another algorithm in another run.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
from torch import nn

STEPS, BATCH, LENGTH, WORDS, WIDTH, HEADS, LAYERS = 50, 16, 64, 256, 128, 4, 2


class Block(nn.Module):
    """Attention and two linear layers, written out: fused attention is not deterministic backwards."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-1, -2) * (width // HEADS) ** -0.5
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.mix(self.norm2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, text):
        return self.head(self.blocks(self.words(text) + self.places))


def train():
    torch.manual_seed(20)
    torch.use_deterministic_algorithms(True)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    # Each word follows from the one before: something to learn in 50 steps. Made on the host, copied each step.
    texts = torch.zeros(STEPS, BATCH, LENGTH + 1, dtype=torch.long)
    texts[:, :, 0] = torch.randint(WORDS, (STEPS, BATCH))
    for place in range(LENGTH):
        texts[:, :, place + 1] = (texts[:, :, place] * 5 + 17) % WORDS
    for step in range(STEPS):
        text = texts[step].pin_memory().cuda(non_blocking=True)
        scores = model(text[:, :-1])
        loss = nn.functional.cross_entropy(scores.reshape(-1, WORDS), text[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.9f}")
    torch.cuda.synchronize()


def count_activity(profiler):
    """How many GPU activities of each kind PyTorch's profiler saw."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(name)
        with open(name, encoding="utf-8") as trace:
            events = json.load(trace)["traceEvents"]
    seen = collections.Counter(event.get("cat") for event in events if event.get("ph") == "X")
    return {"kernels": seen["kernel"], "copies": seen["gpu_memcpy"], "fills": seen["gpu_memset"],
            "torch": torch.__version__}


def owners_of(operations, calls):
    """Name of the innermost operation around each call of one thread, "" for none, by correlation."""
    operations.sort(key=lambda event: (event["ts"], -event["dur"]))
    owners, open_ones, at = {}, [], 0
    for call in sorted(calls, key=lambda event: event["ts"]):
        while at < len(operations) and operations[at]["ts"] <= call["ts"]:
            open_ones.append(operations[at])
            at += 1
        while open_ones and open_ones[-1]["ts"] + open_ones[-1]["dur"] < call["ts"]:
            open_ones.pop()
        owners[call["args"].get("correlation")] = open_ones[-1]["name"] if open_ones else ""
    return owners


def kernels_of(events):
    """Microseconds of kernels, copies and fills by the innermost operation around the call that asked for them."""
    threads, work = collections.defaultdict(lambda: ([], [])), []
    for event in events:
        if event.get("ph") != "X":
            continue
        if event.get("cat") == "cpu_op":
            threads[event["tid"]][0].append(event)
        elif event.get("cat") in ("cuda_runtime", "cuda_driver"):
            threads[event["tid"]][1].append(event)
        elif event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            work.append(event)
    owners = {}
    for operations, calls in threads.values():
        owners.update(owners_of(operations, calls))
    owned = collections.Counter()
    for event in work:
        owned[owners.get(event["args"].get("correlation"), "")] += event["dur"]
    return dict(owned)


def profile_ops(name):
    """PyTorch's own profiler on the CPU and the GPU, as what is recorded with --pytorch ops is compared with."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        train()
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(trace)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    with open(name, "w", encoding="utf-8") as out:
        json.dump({"torch": torch.__version__, "ops_us": kernels_of(events),
                   "modules": [path for path, _ in Model().named_modules() if path]}, out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", metavar="FILE")
    parser.add_argument("--ops", metavar="FILE")
    args = parser.parse_args()
    if args.ops:
        profile_ops(args.ops)
        return
    if not args.profile:
        train()
        return
    from torch.profiler import ProfilerActivity, profile

    # Around everything that touches the GPU, so that it counts what a tool outside counts.
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        train()
    with open(args.profile, "w", encoding="utf-8") as out:
        json.dump(count_activity(profiler), out)


main()
