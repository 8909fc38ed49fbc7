# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs lead from each node to the launch that made it, however they are recorded."""
from cases.support.bench import PROGRAMS, expect
from cases.support.checks import expect_complete, expect_same
from cases.support.readings import ledger_of


def test_graph(bench):
    """A training step captured by two threads and replayed: every captured launch is known as one, none as missing."""
    replays = 20
    command = [bench.python, str(PROGRAMS / "graph_capture.py"), str(replays)]
    plain = bench.run(command)
    expect(plain.status == 0, f"the program itself fails: {plain.tail()}")
    recording, traced = bench.record("graph", command)
    expect_same(plain, traced, exact=False)
    expect_complete(bench, recording)
    ledger = ledger_of(bench, recording)
    names = ("launches", "launches_timed", "launches_captured", "launches_missing", "graph_launches", "kernels")
    figures = {name: ledger[name] for name in names}
    expect(figures["graph_launches"] == replays, f"{figures['graph_launches']} graph launches, {replays} were made")
    expect(figures["launches_captured"] >= 12, f"a step of so few launches: {figures}")
    # Each replay runs what was captured; a fill in a graph may run as a kernel, too.
    expected = figures["launches_timed"] + replays * figures["launches_captured"]
    expect(expected <= figures["kernels"], f"{figures['kernels']} kernels, not {expected}: {figures}")
    return {**figures, **figures_of_graph(bench, recording, replays, figures["launches_captured"]),
            **captured_ranges(bench, recording)}


def figures_of_graph(bench, recording, replays, captured):
    """Every node of the one graph ran in each replay and leads to the launch, and the thread, that made it."""
    report = bench.report(recording, "graphs", "--set", "top=1000000")
    expect(len(report["runs"]) == 1, f"{len(report['runs'])} executable graphs, not one")
    run, graph, nodes = report["runs"][0], report["graphs"][0], report["nodes"]
    expect(graph["made"] == "captured" and graph["kernels"] >= captured, f"the graph that was captured: {graph}")
    expect(graph["threads"] >= 2, f"{graph['threads']} threads captured, not two")
    expect(graph["dependencies"] >= graph["nodes"] - 1, f"too few dependencies: {graph}")
    expect(run["launches"] == replays, f"{run['launches']} launches, {replays} were made")
    expect({row["runs"] for row in nodes} == {replays}, f"nodes that did not run {replays} times")
    nameless = [row for row in nodes if not row["made_by"] or not row["thread"]]
    expect(not nameless, f"nodes whose origin is not known: {nameless[:2]}")
    in_graphs = report["share"][0]
    expect(sum(row["runs"] for row in nodes) == in_graphs["kernels"] + in_graphs["copies"] + in_graphs["fills"],
           f"work of graphs that names no node: {in_graphs}")
    expect(run["critical_ns"] and run["critical_ns"] <= 1.05 * run["span_ns"], f"a critical path that is too long: {run}")
    return {"nodes": graph["nodes"], "span_ns": run["span_ns"], "critical_ns": run["critical_ns"],
            "at_once": run["at_once"], "width": run["width"], "launch_ns": run["launch_ns"]}


def captured_ranges(bench, recording):
    """Every kernel of the graph is of a part of the step that was captured, backward's by autograd's thread, too."""
    paths = {row["range"]: row["captured"] for row in bench.report(recording, "ranges")["ranges"]}
    kernels = bench.report(recording, "graphs")["share"][0]["kernels"]
    captured = {part: paths[f"capture/step/{part}"] for part in ("forward", "backward", "optimizer")}
    expect(all(captured.values()), f"parts of the step that own nothing in the graph: {captured}")
    expect(paths["capture"] == paths["capture/step"] == kernels,
           f"{paths['capture']} and {paths['capture/step']} kernels of the step that was captured, {kernels} in graphs")
    expect(sum(captured.values()) == kernels, f"kernels that are of no part of the step: {captured}, {kernels} in all")
    return captured


def test_graph_modes(bench):
    """1,000 launches of a graph of 1,000 nodes, node by node and as a whole: both count them all; what each costs."""
    program, figures, spans = bench.find("graph_large"), {}, {}
    for mode in ("nothing", "node", "graph"):
        recording = bench.recording(f"graph-mode-{mode}")
        command = [] if mode == "nothing" else [bench.gputrace, "run", "--graphs", mode, "-o", str(recording), "--"]
        ended = bench.run([*command, program])
        expect(ended.status == 0, f"{mode}: exit status {ended.status}: {ended.tail()}")
        facts = dict(line.split("=") for line in ended.stdout.splitlines() if "=" in line)
        figures[f"{mode}_us_per_launch"] = float(facts["us_per_launch"].split()[0])
        if mode == "nothing":
            continue
        report = bench.report(recording, "graphs")
        run, share = report["runs"][0], report["share"][0]
        expect(run["launches"] == int(facts["launches"]), f"{mode}: {run['launches']} launches")
        expected = int(facts["kernels"]) if mode == "node" else 0
        expect(share["kernels"] == expected, f"{mode}: {share['kernels']} kernels in graphs, not {expected}")
        rows = {row["table"]: row["rows"] for row in bench.info(recording, "tables")}
        expect(rows["graph_traces"] == (run["launches"] if mode == "graph" else 0),
               f"{mode}: {rows['graph_traces']} launches as a whole")
        spans[mode] = run["span_ns"]
    expect(spans["node"] and spans["graph"], f"launches without a length: {spans}")
    return {**figures, **{f"{mode}_span_ns": span for mode, span in spans.items()}}
