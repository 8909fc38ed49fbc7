# SPDX-License-Identifier: Apache-2.0
"""Managed memory, pools and allocations are those that the program made."""
import os

from cases.support.bench import expect
from cases.support.checks import check_expect, close, expect_complete
from cases.support.readings import numbers_of, size_of


def record_sample(bench, name, sample, *options, arguments=()):
    """A sample with options: complete, its .expect file holds; what it printed."""
    recording, traced = bench.record(name, [bench.find(sample), *arguments], *options)
    expect(traced.status == 0, f"{sample} exits with {traced.status}: {traced.tail()}")
    expect_complete(bench, recording)
    check_expect(bench, recording, traced.stdout, sample)
    return recording, numbers_of(traced.stdout)


def test_memory_managed(bench):
    """Managed memory that both sides write to in turns: faults on both, and all of it moves each time."""
    recording, facts = record_sample(bench, "memory-managed", "managed", "--unified-memory")
    events = {row["kind"]: row for row in bench.info(recording, "unified")}
    least = facts["bytes"] * facts["turns"]
    for kind in ("migration to the GPU", "migration to the host"):
        expect(kind in events and events[kind]["value"] >= least,
               f"{kind}: {events.get(kind)}, at least {least:.0f} bytes moved")
    for kind in ("fault of the GPU", "fault of the host"):
        expect(events.get(kind, {"events": 0})["events"] > 0, f"no {kind} among {sorted(events)}")
    faults = events["fault of the host"]
    expect(faults["value"] == faults["events"], f"{faults['events']} records of the host's faults count {faults['value']}")
    return {kind: row["value"] for kind, row in events.items()}


def highest(bench, recording, counter):
    """The largest value of a counter, of a GPU or of any pool."""
    return max((row["max"] or 0 for row in bench.report(recording, "telemetry")["counters"]
                if row["counter"].split(": ")[-1] == counter), default=0)


def test_memory_pools(bench):
    """The figures of a pool, read beside telemetry, are those that the program itself reads."""
    recording, facts = record_sample(bench, "memory-pools", "fragment", "--memory-pools", "--telemetry", "10ms")
    used = highest(bench, recording, "bytes_in_use")
    reserved = highest(bench, recording, "bytes_reserved")
    expect(facts["used"] <= used <= facts["allocated"], f"{used} bytes in use, the program says {facts}")
    expect(reserved == facts["reserved"], f"{reserved} bytes reserved, the program says {facts}")
    return {"used": used, "reserved": reserved}


def test_memory_oom(bench):
    """Memory runs out: what was in use and what was left when the call failed is what the program knows."""
    recording, facts = record_sample(bench, "memory-oom", "oom")
    failure, = bench.report(recording, "memory")["failures"]
    used, left = failure["used_bytes"], failure["left_bytes"]
    expect(used >= facts["alive_bytes"], f"{used} bytes were in use, says the report, and {facts['alive_bytes']:.0f} were")
    close(left / 1e9, facts["left_gb"], 1, "GB left when the call failed")
    return {"used": used, "alive": facts["alive_bytes"], "left": left}


def test_memory_storm(bench):
    """100,000 allocations a second for thirty seconds, and as many frees: none is lost."""
    recording, facts = record_sample(bench, "memory-storm", "alloc_storm", "--no-export", arguments=("30", "100000"))
    expect(facts["seconds"] <= 30.3, f"the storm took {facts['seconds']} s, not 30: it was slower than that")
    return {**facts, "bytes": size_of(recording)}


def test_memory_libraries(bench):
    """Who asked: a program with the static runtime asks for all of its memory itself, PyTorch through its allocator."""
    recording, _ = record_sample(bench, "memory-libraries", "allocations", "--memory-libraries")
    named = {os.path.basename(row["library"]): row["made"] for row in bench.info(recording, "libraries")}
    made = sum(row["made"] for row in bench.info(recording, "memory"))
    expect(named == {"allocations": made}, f"{named} asked, {made} were made")
    command = [bench.python, "-c", "import torch; a = torch.ones(1 << 24, device='cuda'); print((a @ a).item())"]
    recording, traced = bench.record("memory-libraries-pytorch", command, "--memory-libraries")
    expect(traced.status == 0, f"PyTorch exits with {traced.status}: {traced.tail()}")
    named = {os.path.basename(row["library"]): row["made"] for row in bench.info(recording, "libraries")}
    expect(any(name.startswith("libc10_cuda") for name in named), f"not PyTorch's allocator, but {named}")
    return named
