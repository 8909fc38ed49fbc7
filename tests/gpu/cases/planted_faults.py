# SPDX-License-Identifier: Apache-2.0
"""Reports name waits, hazards and faults that are planted in programs, and accuse no others."""
from cases.support.bench import expect
from cases.support.checks import check_expect


def test_waits_costs(bench):
    """The figures of report waits on a sample's stalls hold with more of them, and without API calls the report says
    what it does not know."""
    program = bench.find("stalls")
    recording, traced = bench.record("stalls-60", [program, "60"])
    expect(traced.status == 0, traced.tail())
    check_expect(bench, recording, traced.stdout, "stalls")
    report = bench.report(recording, "waits")
    device = report["meanwhile"][0]
    parts = device["busy_ns"] + device["copying_ns"] + device["idle_ns"]
    expect(parts == device["blocked_ns"], f"{parts} ns of {device['blocked_ns']} are explained")
    blind, traced = bench.record("stalls-blind", [program, "5"], "--api", "none")
    expect(traced.status == 0, traced.tail())
    unknown = bench.report(blind, "waits")["blocked"]
    expect(all(row["gap_ns"] is None for row in unknown), f"gaps are known without API calls: {unknown}")
    return {"gap_ns": device["gap_ns"], "blocked_ns": device["blocked_ns"], "idle_ns": device["idle_ns"],
            **{row["why"]: row["calls"] for row in report["avoidable"]}}


def test_hazards(bench):
    """A planted race and a use after free are named, with what would order them; events that order them leave none."""
    program = bench.find("hazards")
    figures = {}
    for words in ["10"], ["10", "ordered"]:
        name = "-".join(["hazards", *words])
        recording, traced = bench.record(name, [program, *words], "--hazards")
        expect(traced.status == 0, traced.tail())
        check_expect(bench, recording, traced.stdout, "hazards")
        rows = bench.report(recording, "hazards")["hazards"]
        expect(bool(rows) == (words == ["10"]), f"{name}: {rows}")
        expect(all(row["earlier_stream"] != row["later_stream"] and row["order_by"] for row in rows), f"{name}: {rows}")
        figures[name] = {row["kind"]: [row["times"], row["overlapped"]] for row in rows}
    return figures


def test_node_hazards(bench):
    """Two nodes of one graph, a box and a batch that race are named; dependencies and events leave none."""
    program = bench.find("node_hazards")
    figures = {}
    for words in ["10"], ["10", "ordered"]:
        name = "-".join(["node_hazards", *words])
        recording, traced = bench.record(name, [program, *words], "--hazards")
        expect(traced.status == 0, traced.tail())
        check_expect(bench, recording, traced.stdout, "node_hazards")
        rows = bench.report(recording, "hazards")["hazards"]
        expect(bool(rows) == (words == ["10"]), f"{name}: {rows}")
        nodes = [row for row in rows if row["earlier_node"] is not None]
        expect(len(nodes) == (words == ["10"]), f"{name}: {nodes}")
        expect(all(row["order_by"] == f"dependency of node {row['later_node']} on node {row['earlier_node']}"
                   and row["earlier_stream"] == row["later_stream"] for row in nodes), f"{name}: {nodes}")
        figures[name] = {row["kind"]: [row["times"], row["overlapped"]] for row in rows}
    return figures


# Rules that go by counters of launches.
COUNTED_FAULTS = ("low_occupancy", "uncoalesced", "spills", "bank_conflicts", "memory_roof")
# Environment that a fault of tests/gpu/programs/cuda/faults.cu needs.
FAULT_ENVIRONMENT = {"priorities_inverted": {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}}


def advised(bench, recording, rule):
    """Rows of report advice by that rule, but for those that ask for a measurement first."""
    return [row for row in bench.report(recording, "advice")["advice"]
            if row["rule"] == rule and row["kind"] != "measure"]


def test_advice(bench):
    """Each rule of report advice accuses the program that has its fault, and not the same program without it."""
    program = bench.find("faults")
    counts = "--kernel-counters" in bench.run([bench.gputrace, "run", "--help"]).stdout
    figures, wrong = {}, []
    for fault in bench.run([program]).stdout.split():
        counted = fault in COUNTED_FAULTS
        if counted and not counts:
            continue
        options = ["--kernel-counters=all", "--launches", "1:3"] if counted else []
        for way in "with", "without":
            recording = bench.recording(f"fault-{fault}-{way}")
            done = bench.run([bench.gputrace, "run", "-q", "--no-export", *options, "-o", str(recording), "--", program,
                              fault, way], **FAULT_ENVIRONMENT.get(fault, {}))
            expect(done.status == 0, f"{fault} exits with {done.status}: {done.tail()}")
            rows = advised(bench, recording, fault)
            figures[f"{fault} {way}"] = [rows[0]["bound"], rows[0]["gain_ns"]] if rows else None
            if bool(rows) != (way == "with"):
                wrong.append(f"{fault} {way}")
    expect(not wrong, f"accused wrongly, or not accused: {wrong}; {figures}")
    return figures
