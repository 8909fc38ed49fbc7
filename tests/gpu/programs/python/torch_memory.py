#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills and empties PyTorch's cache, trains a little and runs out of memory; prints what PyTorch says meanwhile."""
import torch

from pool_moments import Moments

TOO_MUCH = 1 << 46  # bytes; no GPU has them


def figures(device):
    """As python/gputrace_pytorch_memory.py maps them to pools, by the columns of the report memory."""
    stats = torch.cuda.memory_stats(device)
    free = [block["size"] for segment in torch.cuda.memory_snapshot() if segment["device"] == device
            for block in segment["blocks"] if block["state"] == "inactive"]
    in_use, reserved = stats["allocated_bytes.all.current"], stats["reserved_bytes.all.current"]
    return {"in_use_bytes": in_use, "reserved_bytes": reserved, "cached_bytes": reserved - in_use,
            "requested_bytes": stats["requested_bytes.all.current"],
            "largest_free_bytes": max(free, default=0),
            "allocations": stats["allocation.all.allocated"],
            "reserve_calls": stats.get("num_device_alloc", stats["segment.all.allocated"]),
            "trims": stats.get("num_device_free", stats["segment.all.freed"]),
            "failed": stats["num_ooms"], "segments": stats["segment.all.current"]}


def ask():
    torch.cuda.synchronize()
    return [figures(0)]


def train(model, steps):
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(steps):
        loss = model(torch.full((64, 512), 0.01 * step, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    moments = Moments()
    first = torch.empty(1000, dtype=torch.uint8, device="cuda")
    moments.take("one small tensor", ask)
    many = [torch.empty(size << 20, dtype=torch.uint8, device="cuda") for size in (1, 3, 30, 300)]
    moments.take("four large ones", ask)
    del many[1], many[1]
    moments.take("two of them are gone", ask)
    torch.cuda.empty_cache()
    moments.take("the cache is empty", ask)
    model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(8)]).cuda()
    train(model, 5)
    moments.take("after five steps", ask)
    try:
        torch.empty(TOO_MUCH, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        pass
    moments.take("after what could not be had", ask)
    del first, many
    moments.say(torch=torch.__version__)


if __name__ == "__main__":
    main()
