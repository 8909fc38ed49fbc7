#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer for 50 steps and prints every loss, the same to the last bit each time.

    train_transformer.py                  just that
    train_transformer.py --profile FILE   under torch.profiler; FILE gets, as JSON, what it counted
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", metavar="FILE")
    args = parser.parse_args()
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
