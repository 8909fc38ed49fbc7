#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs two jitted functions on arrays that come and go; prints what JAX says of its memory meanwhile."""
import os

# Before jax is imported: memory is taken as it is needed.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_PLATFORMS", "cuda")

import jax
import jax.numpy as jnp

from pool_moments import Moments


def figures(device):
    """As python/gputrace_jax_memory.py maps them to pools, by the columns of the report memory."""
    stats = device.memory_stats()
    told = {"in_use_bytes": stats["bytes_in_use"], "allocations": stats["num_allocs"],
            "limit_bytes": stats["bytes_limit"]}
    if "pool_bytes" in stats:
        told.update(reserved_bytes=stats["pool_bytes"], cached_bytes=stats["pool_bytes"] - stats["bytes_in_use"])
    return told


def ask():
    return [figures(device) for device in jax.local_devices()]


def needs(compiled):
    analysis = compiled.memory_analysis()
    return {"argument_bytes": analysis.argument_size_in_bytes, "output_bytes": analysis.output_size_in_bytes,
            "temporary_bytes": analysis.temp_size_in_bytes, "alias_bytes": analysis.alias_size_in_bytes,
            "code_bytes": analysis.generated_code_size_in_bytes}


def gram(x):
    return x @ x.T


def spread(x):
    return jnp.std(jnp.sort(x, axis=0), axis=0)


def main():
    moments = Moments()
    x = jax.block_until_ready(jnp.ones((1024, 512)))
    moments.take("one array", ask)
    compiled = [jax.jit(function).lower(x).compile() for function in (gram, spread)]
    results = [jax.block_until_ready(function(x)) for function in compiled]
    moments.take("two results", ask)
    del results[0]
    moments.take("one of them is gone", ask)
    moments.say(jax=jax.__version__, executables={f"jit_{name}": needs(function) for name, function in
                                                  zip(("gram", "spread"), compiled)})


if __name__ == "__main__":
    main()
