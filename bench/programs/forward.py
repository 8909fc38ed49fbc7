#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Iteration: one forward pass of a stack of small layers, without gradients: 72 launches."""
import layers
import measure
import torch


def build():
    model, data = layers.stack(), layers.rows()

    def step():
        with torch.no_grad():
            model(data)

    return measure.Program(step, torch.cuda.synchronize, layers.KERNELS_OF_FORWARD, layers.versions())


measure.run_as_script(__name__, build)
