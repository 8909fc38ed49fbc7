# SPDX-License-Identifier: Apache-2.0
"""The decoder-only transformer that decoder.py trains and decode.py lets write: six blocks of width 256
with four heads, on texts of at most 128 words out of 1,024. Written for this benchmark; it learns nothing."""
import torch
from torch import nn

BLOCKS = 6
WIDTH = 256
HEADS = 4
WORDS = 1024
LENGTH = 128
# Kernels of one block, forward: two norms, four linear layers, attention, GELU and two additions.
KERNELS_OF_BLOCK = 10


class Cache:
    """Keys and values of the words that one block has seen, so that a new word costs one row of attention."""

    def __init__(self, texts):
        shape = (texts, HEADS, LENGTH, WIDTH // HEADS)
        self.keys, self.values = torch.zeros(shape, device="cuda"), torch.zeros(shape, device="cuda")
        self.filled = 0

    def add(self, key, value):
        """Keeps those of one more word; returns all there are."""
        self.keys[:, :, self.filled:self.filled + 1] = key
        self.values[:, :, self.filled:self.filled + 1] = value
        self.filled += 1
        return self.keys[:, :, :self.filled], self.values[:, :, :self.filled]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def attend(self, x, cache):
        texts, length, width = x.shape
        query, key, value = (part.view(texts, length, HEADS, width // HEADS).transpose(1, 2)
                             for part in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            key, value = cache.add(key, value)
        # With a cache the one query is the last word, which may look at all words.
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=cache is None)
        return self.out(mixed.transpose(1, 2).reshape(texts, length, width))

    def forward(self, x, cache):
        x = x + self.attend(self.norm1(x), cache)
        return x + self.mix(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Parameter(torch.zeros(LENGTH, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, texts, caches=None):
        """A score for each word to come next. With caches, one a block, texts hold one new word each."""
        first = caches[0].filled if caches else 0
        x = self.words(texts) + self.places[first:first + texts.shape[1]]
        for index, block in enumerate(self.blocks):
            x = block(x, caches[index] if caches else None)
        return self.head(self.norm(x))


def transformer():
    torch.manual_seed(1)
    return Transformer().cuda()


def versions():
    return {"torch": torch.__version__}
