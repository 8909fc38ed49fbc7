# SPDX-License-Identifier: Apache-2.0
"""The stack of small layers that forward.py and train.py run: 24 times a linear layer of width 256,
GELU and a layer norm. Its kernels are so short that the program is bound by the host."""
import torch

DEPTH = 24
WIDTH = 256
BATCH = 64
KERNELS_OF_FORWARD = 3 * DEPTH


def stack():
    torch.manual_seed(1)
    layers = []
    for _ in range(DEPTH):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU(), torch.nn.LayerNorm(WIDTH)]
    return torch.nn.Sequential(*layers).cuda()


def rows():
    return torch.randn(BATCH, WIDTH, device="cuda")


def versions():
    return {"torch": torch.__version__}
