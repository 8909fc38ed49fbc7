#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures a graph and fills a torch.cuda.MemPool; prints what PyTorch says of these private pools meanwhile."""
import torch

from pool_moments import Moments, sample_now
from torch_memory import figures


def private_figures(pool):
    """As python/gputrace_pytorch_memory.py maps a pool's segments, by the columns of the report memory."""
    segments = [segment for segment in torch.cuda.memory_snapshot() if tuple(segment["segment_pool_id"]) == pool]
    free = [block["size"] for segment in segments for block in segment["blocks"] if block["state"] == "inactive"]
    reserved = sum(segment["total_size"] for segment in segments)
    in_use = sum(segment["allocated_size"] for segment in segments)
    return {"in_use_bytes": in_use, "reserved_bytes": reserved, "cached_bytes": reserved - in_use,
            "largest_free_bytes": max(free, default=0), "segments": len(segments)}


def main():
    moments = Moments()
    graph = torch.cuda.CUDAGraph()
    start = torch.ones(1 << 20, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        doubled = start * 2
        added = (doubled + start) + 1
    sample_now()  # so that its pool is the first that is told of
    own = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(own):
        kept = [torch.empty(size << 20, dtype=torch.uint8, device="cuda") for size in (3, 30)]
    pools = [tuple(graph.pool()), tuple(own.id)]

    def ask():
        torch.cuda.synchronize()
        return [figures(0), *map(private_figures, pools)]

    moments.take("a graph is captured, and a pool filled", ask)
    graph.replay()
    moments.take("the graph has run", ask)
    del kept[1]
    moments.take("a block of the pool is given back", ask)
    moments.say(torch=torch.__version__, names=["PyTorch private pool (%s, %s)" % pool for pool in pools],
                sum=float(added.sum()))


if __name__ == "__main__":
    main()
