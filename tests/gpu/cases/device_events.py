# SPDX-License-Identifier: Apache-2.0
"""Kernels write events, and each arrives or is counted as lost."""
from cases.support.bench import PROGRAMS, SKIPPED, expect, sum_of
from cases.support.readings import facts_of, ledger_of


def device_counts(bench, recording):
    """Ranges and values of a recording by name, and what was lost or is of no launch."""
    report = bench.report(recording, "device-events")
    return ({row["name"]: row["count"] for section in ("ranges", "values") for row in report.get(section, [])},
            ledger_of(bench, recording).get("device_events_lost", 0), report)


def expect_rings(bench, recording, name):
    """Wherever the account of memory names gputrace's ring it has the size of a ring of 64 MiB; in how many accounts."""
    rings = [row["bytes"] for row in bench.report(recording, "memory").get("account", [])
             if row["claim"] == "gputrace's rings"]
    chunks = (64 << 20) // 512
    expect(set(rings) <= {chunks * (512 + 4) + 2 * 512}, f"{name}: rings of {rings} bytes are in the account of memory")
    return len(rings)


def test_device_programs(bench):
    """Kernels of Triton's and of NVRTC's write every event that they say, and without gputrace none."""
    figures = {}
    for name, keys in (("device_triton", ("load", "add", "store", "length")), ("device_rawkernel", ("scale", "add"))):
        plain = bench.run([bench.python, str(PROGRAMS / f"{name}.py")])
        if plain.status == SKIPPED:
            figures[name] = "not run: " + plain.tail()
            continue
        expect(plain.status == 0 and "wrong=0" in plain.stdout and "ring=0" in plain.stdout, f"{name}: {plain.tail()}")
        recording, traced = bench.record(name, [bench.python, str(PROGRAMS / f"{name}.py")], "--device-events=64M")
        expect(traced.status == 0 and "wrong=0" in traced.stdout and "ring=1" in traced.stdout, f"{name}: {traced.tail()}")
        facts = facts_of(traced, name)
        counts, lost, report = device_counts(bench, recording)
        expect(lost == 0, f"{name}: {lost} events were lost")
        for key in keys:
            expect(counts.get(key, 0) >= int(facts[key]), f"{name}: {counts.get(key, 0)} of {key}, {facts[key]} were written")
        expect(sum_of(report, "ranges", "unended") == 0, f"{name}: ranges without an end")
        figures[name] = {**counts, "rings in the account": expect_rings(bench, recording, name)}
    return figures


def test_device_full(bench):
    """A ring that is full loses what the ledger says, and not an event more."""
    program, figures = bench.find("device_full"), {}
    for name, options in (("1M", ["--device-events=1M"]), ("last 1M", ["--device-events=1M", "--device-events-last"]),
                          ("16M", ["--device-events=16M"]), ("last 16M", ["--device-events=16M", "--device-events-last"]),
                          ("1G", ["--device-events=1G"])):
        recording, traced = bench.record(f"device-full-{name.replace(' ', '-')}", [program], *options)
        marks = int(facts_of(traced, name)["marks"])
        ledger = ledger_of(bench, recording)
        kept, lost = (ledger.get(f"device_events{what}", 0) for what in ("", "_lost"))
        expect(kept + lost == marks, f"{name}: {kept} kept and {lost} lost are not the {marks} that were written")
        expect(not ledger.get("device_events_broken", 0), f"{name}: chunks make no sense")
        expect(kept > 0 and (lost > 0) == (name != "1G"), f"{name}: {kept} kept, {lost} lost")
        figures[name] = f"{kept} kept, {lost} lost"
    return figures


def test_device_lanes(bench):
    """In a kernel without barriers the threads of a warp stay together when one of them writes events."""
    program, figures = bench.find("device_lanes"), {}
    before = facts_of(bench.run([program]), "device_lanes")
    recording, traced = bench.record("device_lanes", [program], "--device-events=64M")
    facts = facts_of(traced, "device_lanes, recorded,")
    expect((before["recorded"], facts["recorded"]) == ("0", "1"), f"recorded: {before['recorded']}, {facts['recorded']}")
    counts, lost, _ = device_counts(bench, recording)
    expect(lost == 0 and counts.get("turn", 0) >= 2 * int(facts["turns"]), f"{counts}, {lost} lost")
    for kind in ("marks", "ranges", "room", "values"):
        cycles, apart = (int(facts[f"{kind}_{what}"]) for what in ("cycles", "apart_cycles"))
        expect(apart < cycles / 100, f"{kind}: the writer was {apart} of {cycles} cycles later than its neighbour")
        figures[kind] = f"{cycles} cycles, {apart} apart, {before[f'{kind}_cycles']} where nobody records"
    return figures
