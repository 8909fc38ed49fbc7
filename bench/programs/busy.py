#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Iteration: a product of matrices and a sum of them, half a millisecond of the GPU's: 2 launches."""
import measure
import torch

SIDE = 4096


def build():
    torch.manual_seed(1)
    left, right = (torch.randn(SIDE, SIDE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    product = torch.empty_like(left)

    def step():
        torch.mm(left, right, out=product)
        torch.add(left, product, out=product)

    return measure.Program(step, torch.cuda.synchronize, 2, {"torch": torch.__version__})


measure.run_as_script(__name__, build)
