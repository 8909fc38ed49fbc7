# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own profiler around a loop: what it counts, and whose work is."""
import collections
import json
import os
import tempfile

import torch
from torch.nn.modules import module as modules
from torch.profiler import ProfilerActivity, profile

from torch_owners import sums_of

MODULE = "nn.Module: "


class Called:
    """Paths of modules by the names that the profiler gives them."""

    def __init__(self):
        self.paths, self.calls, self.counts = {}, {}, collections.Counter()

    def hook(self, module, _):
        if id(module) not in self.paths:
            for path, below in module.named_modules():
                self.paths[id(below)] = path or type(module).__name__
        if id(module) not in self.calls:
            kind = type(module).__name__
            self.calls[id(module)] = f"{MODULE}{kind}_{self.counts[kind]}"
            self.counts[kind] += 1

    def names(self):
        return {name: self.paths[number] for number, name in self.calls.items()}


def events_of(profiler):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(name)
        with open(name, encoding="utf-8") as trace:
            return json.load(trace)["traceEvents"]


def write_owners(loop, name):
    """Runs the loop under the profiler; the file of that name gets what it says, as JSON."""
    called = Called()
    handle = modules.register_module_forward_pre_hook(called.hook)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, with_stack=True,
                 with_modules=True) as profiler:
        loop()
    handle.remove()
    with open(name, "w", encoding="utf-8") as out:
        json.dump({"torch": torch.__version__, "modules": sorted(set(called.paths.values())),
                   **sums_of(events_of(profiler), called.names())}, out)


def write_averages(loop, name):
    """Calls, host and GPU time of its own in microseconds of each operation, as the profiler's users read them."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        loop()
    rows = {row.key: [row.count, row.self_cpu_time_total, row.cpu_time_total, row.self_device_time_total]
            for row in profiler.key_averages()}
    with open(name, "w", encoding="utf-8") as out:
        json.dump(rows, out)


def write_counts(loop, name):
    """How many GPU activities of each kind it saw, around everything that touches the GPU."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        loop()
    seen = collections.Counter(event.get("cat") for event in events_of(profiler) if event.get("ph") == "X")
    with open(name, "w", encoding="utf-8") as out:
        json.dump({"kernels": seen["kernel"], "copies": seen["gpu_memcpy"], "fills": seen["gpu_memset"],
                   "torch": torch.__version__}, out)
