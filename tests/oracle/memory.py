# SPDX-License-Identifier: Apache-2.0
"""Who had memory, when it was most and at the end: tables peak, leaks, ranges and account (docs/reports/memory.md).

Worlds have no telemetry, no pools and no libraries: whatever was allocated is the program's, and the total is not known.
"""
from figures import block_figures, block_lives, grouped, percent


def on_gpus(view):
    """Blocks of each GPU, without those that could not be had."""
    calls = view.world.calls
    blocks = [row for row in view.world.blocks.values() if row["gpu"] is not None and not calls[row["made"]]["result"]]
    return grouped(blocks, lambda row: row["gpu"]).items()


def kind_of(block):
    return "pinned memory" if block["gpu"] is None else "device memory"


def origin(view, block):
    """Where it was asked for: kind, range and call."""
    call = view.world.calls[block["made"]]
    number = view.world.innermost(call)
    return kind_of(block), None if number is None else view.world.path(number), view.world.function(call)


def alive(view, blocks, moment):
    return [row for row in blocks for begin, end, _ in block_lives(view, [row])
            if begin <= moment and (end is None or end > moment)]


def sums(blocks):
    sizes = [row["bytes"] for row in blocks]
    return {"bytes": sum(sizes), "count": len(sizes), "largest_bytes": max(sizes)}


def peak(view):
    if view.filters:
        return None
    rows = []
    for gpu, blocks in on_gpus(view):
        there = alive(view, blocks, view.world.begin + block_figures(view, blocks)["peak_time_ns"])
        total = sum(row["bytes"] for row in there)
        for (process, (memory, path, call)), some in grouped(
                there, lambda row: (row["process"], origin(view, row))).items():
            rows.append({**sums(some), "share_percent": percent(sums(some)["bytes"], total), "memory": memory,
                         "range": path, "call": call, "library": None, "device": view.world.gpu_name(gpu),
                         "process": view.world.process_name(process)})
    return rows if len(rows) <= 10 else None


def leaks(view):
    """Blocks that were never freed, by where they were asked for."""
    if view.filters:
        return None
    world = view.world
    kept = [row for row in world.blocks.values() if row["freed"] is None and not world.calls[row["made"]]["result"]]
    rows = []
    for (gpu, process, (memory, path, call)), some in grouped(
            kept, lambda row: (row["gpu"], row["process"], origin(view, row))).items():
        times = [life[0] - world.begin for life in block_lives(view, some)]
        rows.append({**sums(some), "memory": memory, "range": path, "call": call, "library": None,
                     "device": None if gpu is None else world.gpu_name(gpu), "process": world.process_name(process),
                     "first_time_ns": min(times), "last_time_ns": max(times), "holds": None})
    return rows if len(rows) <= 10 else None


def in_use(view, blocks, moment):
    return sum(row["bytes"] for row in alive(view, blocks, moment))


def range_rows(view, number, blocks):
    """Effects of one range on the memory that its process has on a GPU."""
    world = view.world
    row = world.ranges[number]
    begin, end = row["begin"], world.range_end(row)
    calls = world.calls
    mine = [block for block in blocks if block["process"] == world.threads[row["thread"]]["process"]]
    asked = [block for block in mine if number in world.ranges_of_call(calls[block["made"]])]
    moments = [begin] + [life[0] for life in block_lives(view, mine) if begin < life[0] <= end]
    most = max(in_use(view, mine, moment) for moment in moments)
    kept = [block for block in asked if row["end"] and (block["freed"] is None or calls[block["freed"]]["begin"] > end)]
    return {"kept": kept, "asked": asked, "peak": most, "rise": most - in_use(view, mine, begin)}


def ranges(view):
    if view.filters:
        return None
    world = view.world
    rows = []
    for gpu, blocks in on_gpus(view):
        for (process, path), numbers in grouped(
                world.ranges, lambda number: (world.threads[world.ranges[number]["thread"]]["process"], world.path(number))).items():
            each = [range_rows(view, number, blocks) for number in numbers]
            asked = [block for one in each for block in one["asked"]]
            rise = max(one["rise"] for one in each)
            if asked or rise:
                kept = [block for one in each for block in one["kept"]]
                rows.append({"range": path, "memory": "all on the GPU", "ranges": len(numbers),
                             "kept_bytes": sum(block["bytes"] for block in kept), "kept": len(kept),
                             "peak_bytes": max(one["peak"] for one in each), "rise_bytes": rise,
                             "asked": len(asked), "asked_bytes": sum(block["bytes"] for block in asked),
                             "device": world.gpu_name(gpu), "process": world.process_name(process)})
    return rows if len(rows) <= 10 else None


UNKNOWN = ("device total", "contexts, modules", "other processes", "unclaimed")


def account(view):
    if view.filters:
        return None
    rows = []
    for gpu, blocks in on_gpus(view):
        figures = block_figures(view, blocks)
        for moment, time, size in (("peak by calls", figures["peak_time_ns"], figures["peak_bytes"]),
                                   ("end", view.world.end - view.world.begin, figures["now_bytes"])):
            place = {"moment": moment, "time_ns": time, "device": view.world.gpu_name(gpu)}
            rows.append({**place, "claim": "program", "bytes": size, "share_percent": percent(size, size)})
            rows += [{**place, "claim": claim, "bytes": None, "share_percent": None} for claim in UNKNOWN]
    return rows


TABLES = {
    ("memory", "peak"): (peak, ("device", "process", "memory", "range", "call")),
    ("memory", "leaks"): (leaks, ("device", "process", "memory", "range", "call")),
    ("memory", "ranges"): (ranges, ("range", "device", "process")),
    ("memory", "account"): (account, ("device", "moment", "claim")),
}
