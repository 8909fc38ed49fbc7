#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains an encoder of BERT's size. The steps that count are one NVTX range, "measured", which the main thread opens.
PyTorch launches the backward pass from threads of its own.

    train_bert.py                  two steps to warm up, then four that count
    train_bert.py --small          a small encoder, for a recording that is kept
    train_bert.py --steps N        so many that count
    train_bert.py --averages FILE  the same under torch.profiler; FILE gets its key_averages(): host and GPU time of each operation
    train_bert.py --ops FILE       under torch.profiler; FILE gets, as JSON, what each operation took in the steps that count
"""
import argparse

import torch
from torch import nn

WORDS, WARM_UPS = 1000, 2


class Bert(nn.Module):
    def __init__(self, width, layers, heads, length):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.places = nn.Parameter(torch.zeros(length, width))
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, WORDS)

    def forward(self, text):
        return self.head(self.layers(self.words(text) + self.places))


def make_step(small):
    width, layers, heads, length, batch = (64, 2, 4, 32, 4) if small else (768, 12, 12, 128, 16)
    torch.manual_seed(20)
    model = Bert(width, layers, heads, length).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    text = torch.randint(WORDS, (batch, length), device="cuda")
    error = nn.CrossEntropyLoss()

    def step():
        with torch.cuda.nvtx.range("forward"):
            loss = error(model(text).reshape(-1, WORDS), text.reshape(-1))
        with torch.cuda.nvtx.range("backward"):
            loss.backward()
        with torch.cuda.nvtx.range("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        return loss.item()

    return step


def measure(step, steps):
    torch.cuda.nvtx.range_push("measured")
    losses = [step() for _ in range(steps)]
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--averages", metavar="FILE")
    parser.add_argument("--ops", metavar="FILE")
    args = parser.parse_args()
    step = make_step(args.small)
    for _ in range(WARM_UPS):
        step()
    torch.cuda.synchronize()
    if args.averages:
        import torch_profile

        torch_profile.write_averages(lambda: measure(step, args.steps), args.averages)
    elif args.ops:
        import torch_profile

        torch_profile.write_owners(lambda: measure(step, args.steps), args.ops)
    else:
        print([f"{loss:.4f}" for loss in measure(step, args.steps)])


main()
