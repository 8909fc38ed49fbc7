#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a jitted training step 30 times and prints a checksum after each tenth, the same each time.

    jax_program.py             just that
    jax_program.py --steps N   for so many steps
    jax_program.py --hlo FILE  under jax.profiler; FILE gets, as JSON, what each instruction of HLO took
"""
import argparse
import gzip
import json
import os
import pathlib
import tempfile

# Before jax is imported: no grabbing of three quarters of the memory, no choosing of algorithms by stopwatch.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0")
os.environ.setdefault("JAX_PLATFORMS", "cuda")

import jax
import jax.numpy as jnp


def loss(weights, x, y):
    hidden = jnp.tanh(x @ weights["in"])
    return jnp.mean((hidden @ weights["out"] - y) ** 2)


@jax.jit
def step(weights, x, y):
    value, slope = jax.value_and_grad(loss)(weights, x, y)
    return jax.tree_util.tree_map(lambda w, g: w - 0.05 * g, weights, slope), value


def instructions_of(folder):
    """[launches, microseconds] of what ran on the GPU by module and instruction, "" where the profiler names none."""
    owned = {}
    for path in pathlib.Path(folder).rglob("*.trace.json.gz"):
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
        devices = {event["pid"] for event in events if event.get("name") == "process_name"
                   and "/device:GPU" in event["args"]["name"]}
        lanes = {(event["pid"], event["tid"]) for event in events if event.get("name") == "thread_name"
                 and event["args"]["name"].startswith("Stream")}
        for event in events:
            if event.get("ph") != "X" or event["pid"] not in devices or (event["pid"], event["tid"]) not in lanes:
                continue
            args = event.get("args", {})
            module, name = args.get("hlo_module", "").split("(")[0], args.get("hlo_op", "")
            # It does not look into command buffers.
            named = name and not name.startswith("command_buffer")
            row = owned.setdefault(f"{module} {name}" if named else "", [0, 0.0])
            row[0] += 1
            row[1] += event["dur"]
    return owned


def profile_hlo(name, steps):
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            train(steps)
        with open(name, "w", encoding="utf-8") as out:
            json.dump({"jax": jax.__version__, "instructions": instructions_of(folder)}, out)


def train(steps):
    keys = jax.random.split(jax.random.PRNGKey(20), 4)
    weights = {"in": jax.random.normal(keys[0], (256, 512)) * 0.05, "out": jax.random.normal(keys[1], (512, 64)) * 0.05}
    x, y = jax.random.normal(keys[2], (1024, 256)), jax.random.normal(keys[3], (1024, 64))
    for index in range(steps):
        weights, value = step(weights, x, y)
        if index % 10 == 9:
            print(f"step {index} loss {float(value):.9f}")
    total = sum(float(jnp.sum(jnp.abs(leaf))) for leaf in jax.tree_util.tree_leaves(weights))
    print(f"checksum {total:.6f} on {jax.devices()[0].platform}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--hlo", metavar="FILE")
    args = parser.parse_args()
    if args.hlo:
        profile_hlo(args.hlo, args.steps)
    else:
        train(args.steps)


main()
