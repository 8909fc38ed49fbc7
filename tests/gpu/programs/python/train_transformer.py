#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer for 50 steps and prints every loss, the same to the last bit each time.

    train_transformer.py                  just that
    train_transformer.py --steps N        for so many steps
    train_transformer.py --large          with kernels that memory has to do with, each step in a range of NVTX
    train_transformer.py --profile FILE   under torch.profiler; FILE gets, as JSON, what it counted
    train_transformer.py --ops FILE       the same; FILE gets what each operation and each module took
"""
import argparse
import os

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


def grow():
    global BATCH, LENGTH, WIDTH, HEADS, LAYERS
    BATCH, LENGTH, WIDTH, HEADS, LAYERS = 16, 1024, 1024, 16, 4


def train(steps, ranges=False):
    torch.manual_seed(20)
    torch.use_deterministic_algorithms(True)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    error = nn.CrossEntropyLoss()
    # Each word follows from the one before: something to learn in 50 steps. Made on the host, copied each step.
    texts = torch.zeros(steps, BATCH, LENGTH + 1, dtype=torch.long)
    texts[:, :, 0] = torch.randint(WORDS, (steps, BATCH))
    for place in range(LENGTH):
        texts[:, :, place + 1] = (texts[:, :, place] * 5 + 17) % WORDS
    for step in range(steps):
        if ranges:
            torch.cuda.nvtx.range_push("step")
        text = texts[step].pin_memory().cuda(non_blocking=True)
        scores = model(text[:, :-1])
        loss = error(scores.reshape(-1, WORDS), text[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.9f}")
        if ranges:
            torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--profile", metavar="FILE")
    parser.add_argument("--ops", metavar="FILE")
    args = parser.parse_args()
    if args.large:
        grow()
    if not args.profile and not args.ops:
        train(args.steps, args.large)
        return
    import torch_profile

    write = torch_profile.write_owners if args.ops else torch_profile.write_counts
    write(lambda: train(args.steps), args.ops or args.profile)


main()
