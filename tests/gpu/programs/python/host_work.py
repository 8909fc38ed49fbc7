#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prepares its data on the host, by operations that take a millisecond or more each there, and trains with them on the GPU. One
thread, and one NVTX range, "measured", in which the steps are that count.

    host_work.py                  two steps to warm up, then 30 that count
    host_work.py --averages FILE  the same under torch.profiler; FILE gets its key_averages(): host and GPU time of each operation
"""
import argparse

import torch
from torch import nn

STEPS, WARM_UPS, COUNT = 30, 2, 1 << 20


class Host:
    """Operations of which each is one call of PyTorch, with no other one of these inside. Their results have memory of their
    own that stays: getting new memory from the system is no part of an operation's time that two runs agree on."""

    def __init__(self):
        self.data, self.out = torch.rand(COUNT) * 0.9, torch.zeros(COUNT)
        self.square, self.square_out = self.data.view(1024, 1024), torch.zeros(1024, 1024)
        self.cubes, self.cubes_out = self.data.view(4, 512, 512), torch.zeros(4, 512, 512)
        self.other = torch.rand(COUNT) + 1

    def prepare(self):
        data, square, out, square_out = self.data, self.square, self.out, self.square_out
        for function in (torch.exp, torch.sin, torch.cos, torch.tanh, torch.log1p, torch.erf, torch.atan, torch.expm1,
                         torch.cosh, torch.sinh, torch.acos, torch.asin, torch.lgamma, torch.digamma, torch.sigmoid,
                         torch.tan, torch.erfinv):
            function(data, out=out)
        torch.pow(data, self.other, out=out)
        torch.atan2(data, self.other, out=out)
        torch.cumsum(data, 0, out=out)
        torch.cumprod(data, 0, out=out)
        torch.logcumsumexp(square, 1, out=square_out)
        torch.mm(square, square, out=square_out)
        torch.addmm(square, square, square, out=square_out)
        torch.bmm(self.cubes, self.cubes, out=self.cubes_out)
        return torch.cat([square_out.view(-1)[:1024], out[:1024]]).view(2, 1024)


def make_step():
    torch.manual_seed(20)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    host = Host()

    def step():
        batch = host.prepare().clamp(-1, 1).cuda()
        loss = (model(batch) - batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def measure(step):
    torch.cuda.nvtx.range_push("measured")
    losses = [step() for _ in range(STEPS)]
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--averages", metavar="FILE")
    args = parser.parse_args()
    step = make_step()
    for _ in range(WARM_UPS):
        step()
    torch.cuda.synchronize()
    if args.averages:
        import torch_profile

        torch_profile.write_averages(lambda: measure(step), args.averages)
    else:
        print([f"{loss:.4f}" for loss in measure(step)])


main()
