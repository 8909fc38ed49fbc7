#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Iteration: one word of each of four texts that a small decoder-only transformer writes at once, with a
cache of keys and values. The host reads every word, as a program does that looks for the end of a text:
so each iteration waits for the GPU. After 128 words the texts begin anew."""
import measure
import torch
import transformer

TEXTS = 4


def build():
    model = transformer.transformer().eval()
    caches = [transformer.Cache(TEXTS) for _ in range(transformer.BLOCKS)]
    words = torch.zeros(TEXTS, 1, dtype=torch.long, device="cuda")
    written = []

    def step():
        nonlocal words
        if caches[0].filled == transformer.LENGTH:
            written.clear()
            for cache in caches:
                cache.filled = 0
        with torch.no_grad():
            words = model(words, caches)[:, -1].argmax(dim=-1, keepdim=True)
        written.append(words.tolist())

    return measure.Program(step, torch.cuda.synchronize, transformer.KERNELS_OF_BLOCK * transformer.BLOCKS,
                           transformer.versions())


measure.run_as_script(__name__, build)
