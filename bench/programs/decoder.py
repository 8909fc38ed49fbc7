#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Iteration: one training step of a small decoder-only transformer: eight texts of 64 words come from
the host, then forward, loss, backward, fused AdamW."""
import measure
import torch
import transformer

TEXTS = 8
LENGTH = 64


def build():
    model = transformer.transformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    on_host = torch.randint(transformer.WORDS, (TEXTS, LENGTH + 1)).pin_memory()
    texts = torch.empty_like(on_host, device="cuda")

    def step():
        texts.copy_(on_host, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        scores = model(texts[:, :-1])
        torch.nn.functional.cross_entropy(scores.reshape(-1, transformer.WORDS), texts[:, 1:].reshape(-1)).backward()
        optimizer.step()

    # Backward of a block: two at least for each of four linear layers, one for each norm, attention and GELU.
    at_least = (transformer.KERNELS_OF_BLOCK + 12) * transformer.BLOCKS
    return measure.Program(step, torch.cuda.synchronize, at_least, transformer.versions())


measure.run_as_script(__name__, build)
