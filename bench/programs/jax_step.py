#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Iteration: one jitted training step in JAX of the stack of layers.py: forward, loss, backward, descent."""
import os

# Before jax is imported: no grabbing of three quarters of the memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import measure

DEPTH = 24
WIDTH = 256
BATCH = 64


def layer(weights, x):
    x = jax.nn.gelu(x @ weights["matrix"] + weights["bias"])
    x = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    return x * weights["scale"] + weights["shift"]


def loss(stack, x, target):
    for weights in stack:
        x = layer(weights, x)
    return jnp.mean((x - target) ** 2)


def train(stack, x, target):
    value, slopes = jax.value_and_grad(loss)(stack, x, target)
    return jax.tree_util.tree_map(lambda weight, slope: weight - 1e-4 * slope, stack, slopes), value


def make_stack(key):
    return [{"matrix": jax.random.normal(part, (WIDTH, WIDTH)) * WIDTH ** -0.5, "bias": jnp.zeros(WIDTH),
             "scale": jnp.ones(WIDTH), "shift": jnp.zeros(WIDTH)} for part in jax.random.split(key, DEPTH)]


def build():
    assert jax.devices()[0].platform == "gpu", "JAX sees no GPU"
    keys = jax.random.split(jax.random.PRNGKey(1), 3)
    x, target = (jax.random.normal(key, (BATCH, WIDTH)) for key in keys[1:])
    compiled = jax.jit(train, donate_argnums=0)
    state = compiled(make_stack(keys[0]), x, target)

    def step():
        nonlocal state
        state = compiled(state[0], x, target)

    # XLA fuses the rest as it likes, but each matrix product is a kernel: forward, and for its weights.
    return measure.Program(step, lambda: jax.block_until_ready(state), 2 * DEPTH, {"jax": jax.__version__})


measure.run_as_script(__name__, build)
