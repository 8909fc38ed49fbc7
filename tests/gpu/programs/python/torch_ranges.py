#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains inside NVTX ranges that the main thread alone opens: setup, warmup, and ten that are called measured."""
import torch
from torch.cuda import nvtx


def main():
    torch.manual_seed(1)
    with nvtx.range("setup"):
        model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512),
                                    torch.nn.LayerNorm(512), torch.nn.Linear(512, 64)).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        batch = torch.randn(256, 512, device="cuda")
        wanted = torch.randint(64, (256,), device="cuda")

    def step():
        with nvtx.range("forward"):
            loss = torch.nn.functional.cross_entropy(model(batch), wanted)
        with nvtx.range("backward"):
            loss.backward()
        with nvtx.range("optimizer"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        return loss

    with nvtx.range("warmup"):
        for _ in range(3):
            step()
        torch.cuda.synchronize()
    for _ in range(10):
        with nvtx.range("measured"):
            loss = step()
    with nvtx.range("result"):
        print(loss.item(), torch.__version__)


if __name__ == "__main__":
    main()
