#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Iteration: one training step of a stack of small layers: forward, loss, backward, fused AdamW."""
import layers
import measure
import torch


def build():
    model, data, target = layers.stack(), layers.rows(), layers.rows()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(data), target).backward()
        optimizer.step()

    # Backward has at least one kernel for each of forward's, and two for a linear layer.
    at_least = 2 * layers.KERNELS_OF_FORWARD + layers.DEPTH
    return measure.Program(step, torch.cuda.synchronize, at_least, layers.versions())


measure.run_as_script(__name__, build)
