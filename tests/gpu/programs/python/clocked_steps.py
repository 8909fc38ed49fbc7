#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small model and says by its own clocks, as JSON on its last line, when it and each step began and ended.

    clocked_steps.py torch|jax              25 steps, each waits for its loss
    clocked_steps.py torch|jax --ranges     the same, each step in an NVTX range "step"
    clocked_steps.py torch|jax --seconds S  steps for so long in an NVTX range "loop", and what NVML's energy counter said

Times are nanoseconds of CLOCK_MONOTONIC, energy is millijoules.
"""
import argparse
import contextlib
import ctypes
import json
import os
import time

STEPS = 25


def process_start_ns():
    """When the kernel started this process, in steps of a clock tick."""
    with open("/proc/self/stat", encoding="ascii") as stat:
        ticks = int(stat.read().rpartition(")")[2].split()[19])
    booted = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK") - booted


class Counter:
    """NVML's energy counter of the first GPU."""

    def __init__(self):
        self.nvml, self.device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)):
            raise SystemExit("NVML does not open the first GPU")

    def read(self):
        """The counter just after it changed, which it does ten times a second."""
        first = self.value()
        while True:
            value = self.value()
            if value != first:
                return time.monotonic_ns(), value
            time.sleep(0.001)

    def value(self):
        energy = ctypes.c_ulonglong()
        if self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(energy)):
            raise SystemExit("this GPU has no energy counter")
        return energy.value


def torch_step(_):
    import torch
    from torch import nn

    torch.manual_seed(20)
    model = nn.Sequential(*[nn.Sequential(nn.Linear(2048, 8192), nn.GELU(), nn.Linear(8192, 2048)) for _ in range(6)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randn(4096, 2048, device="cuda")

    def step():
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, torch.cuda.nvtx.range


def jax_step(ranged):
    """JAX has no call for NVTX ranges: PyTorch's is taken, where ranges are wanted."""
    if ranged:
        import torch
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(20), 7)
    state = [jax.random.normal(key, (4096, 4096)) * 0.02 for key in keys[:6]]
    x = jax.random.normal(keys[6], (8192, 4096))

    def loss(weights, x):
        y = x
        for weight in weights:
            y = jnp.tanh(y @ weight)
        return jnp.mean((y - x) ** 2)

    @jax.jit
    def update(weights, x):
        value, slopes = jax.value_and_grad(loss)(weights, x)
        return [weight - 0.01 * slope for weight, slope in zip(weights, slopes)], value

    def step():
        nonlocal state
        state, value = update(state, x)
        return float(value)

    return step, torch.cuda.nvtx.range if ranged else None


def timed(step, opened):
    begin = time.monotonic_ns()
    with opened:
        step()
    return begin, time.monotonic_ns()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("framework", choices=("torch", "jax"))
    parser.add_argument("--ranges", action="store_true")
    parser.add_argument("--seconds", type=float)
    args = parser.parse_args()
    facts = {"start": process_start_ns()}
    make = torch_step if args.framework == "torch" else jax_step
    step, ranged = make(args.ranges or args.seconds)
    if not args.seconds:
        facts["steps"] = [timed(step, ranged("step") if args.ranges else contextlib.nullcontext()) for _ in range(STEPS)]
    else:
        for _ in range(3):
            step()
        counter = Counter()
        with ranged("loop"):
            first = counter.read()
            end = first[0] + int(args.seconds * 1e9)
            while time.monotonic_ns() < end:
                step()
            last = counter.read()
        facts["energy"] = first, last
    print(json.dumps(facts))


main()
