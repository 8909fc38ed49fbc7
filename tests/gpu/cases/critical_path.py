# SPDX-License-Identifier: Apache-2.0
"""The critical path of known programs is theirs, and changes of it take as long as the changed program."""
import re

from cases.support.bench import expect, sum_of
from cases.support.checks import check_expect


def test_ipc_events(bench):
    """The path of each of two processes goes through the kernels of both, in turns, and no path through one alone."""
    recording, traced = bench.record("ipc_events-path", [bench.find("ipc_events"), "20"])
    expect(traced.status == 0, traced.tail())
    check_expect(bench, recording, traced.stdout, "ipc_events")
    report = bench.report(recording, "critical-path")
    rows = {(row["path_of"], row["process"]): row["gpu_ns"] for row in report["by_process"]}
    expect(len(rows) == 4 and all(rows.values()), f"whose time it is: {rows}")
    expect(all(row["path_ns"] >= 0.95 * row["length_ns"] for row in report["paths"]), f"paths: {report['paths']}")
    return {f"{path} through {process}": gpu_ns for (path, process), gpu_ns in rows.items()}


# How chain is changed, beside the change of the report that says how long that takes.
CHANGES = [
    ([], "consume takes no time", ["--without", "consume"]),
    ([], "produce takes no time", ["--without", "produce"]),
    ([], "finish takes no time", ["--without", "finish"]),
    ([], "cudaEventSynchronize waits for nothing", ["--no-wait"]),
    (["--copies", "before"], "copies and fills run beside all else", ["--copies", "beside"]),
    (["--tiny", "2000"], "launches cost nothing", ["--tiny", "2000", "--graph"]),
]


def run_chain(bench, options, before=()):
    """Length in ms of the rounds of the sample chain."""
    ended = bench.run([*before, bench.find("chain"), "--rounds", "10", *options])
    expect(ended.status == 0, f"chain {options} fails: {ended.tail()}")
    return float(re.search(r"^rounds_ms=(\S+)$", ended.stdout, re.MULTILINE)[1])


def record_chain(bench, name, options):
    """(recording, that length)"""
    recording = bench.recording(name)
    return recording, run_chain(bench, options, [bench.gputrace, "run", "--no-export", "-o", str(recording), "--"])


def path_of_chain(bench, recording):
    """Names of the kernels on the path that take long, one after the other."""
    members = bench.report(recording, "critical-path")["longest_members"]
    long = [row for row in members if row["kind"] == "kernels" and row["duration_ns"] > 500_000]
    return [row["name"] for row in sorted(long, key=lambda row: row["start_time_ns"])]


def test_critical_path(bench):
    """The path of a known chain is that chain, and each change is as long as the program that is changed so."""
    figures, plain = {}, {}
    for number, (options, change, changed) in enumerate(CHANGES):
        key = " ".join(options)
        if key not in plain:
            plain[key] = record_chain(bench, f"chain-{number}", options)
        recording, took_ms = plain[key]
        if not options:
            found = path_of_chain(bench, recording)
            expect(found == ["produce", "consume", "finish"] * 10, f"the path of chain is {found}")
        rows = {row["change"]: row for row in bench.report(recording, "critical-path", "--set", "kernels=9")["what_if"]}
        expect(change in rows, f"no change is called '{change}': {sorted(rows)}")
        # Not recorded: what CUPTI takes for each node of a graph is no part of the change.
        really_ms = run_chain(bench, changed)
        # Time before and after the rounds is in both lengths of the report, and in neither of the program's.
        told_ms = took_ms - rows[change]["saved_ns"] / 1e6
        figures[f"{key} {change}".strip()] = {"as_it_is_ms": took_ms, "told_ms": told_ms, "really_ms": really_ms}
        expect(abs(told_ms - really_ms) <= 0.1 * really_ms,
               f"'{change}' would take {told_ms:.2f} ms, and takes {really_ms:.2f} instead of {took_ms:.2f} ms")
    return figures


def expect_bounded_path(bench, recording, *options):
    """Parts of a path add up to it, and a change saves at least nothing and at most the length."""
    told = bench.report(recording, "critical-path", "--set", "kernels=9", *options)
    length_ns, path_ns = sum_of(told, "paths", "length_ns"), sum_of(told, "paths", "path_ns")
    for section in ("by_kind", "by_name", "by_range"):
        sum_ns = sum_of(told, section, "total_ns")
        expect(sum_ns == path_ns, f"{options}: {section} adds up to {sum_ns}, and the path is {path_ns}")
    kernels_ns = sum(row["total_ns"] for row in told["by_kind"] if row["kind"] == "kernels")
    expect(sum_of(told, "kernels", "on_path_ns") == kernels_ns, f"{options}: kernels do not add up to {kernels_ns}")
    for row in told["what_if"]:
        expect(0 <= row["saved_ns"] <= length_ns, f"{options}: {row['change']} saves {row['saved_ns']} of {length_ns} ns")
    return {"ranges": sum_of(told, "paths", "ranges"), "length_ns": length_ns}


def test_critical_path_ranges(bench):
    """Ranges of the sample steps, which end with a wait: no change makes one longer."""
    figures = {}
    for name, options in (("nodes", []), ("whole", ["--graphs", "graph"])):
        recording = bench.recording(f"steps-path-{name}")
        command = [bench.gputrace, "run", "--no-export", *options, "-o", str(recording), "--", bench.find("steps")]
        ended = bench.run(command)
        expect(ended.status == 0, f"steps fails: {ended.tail()}")
        for chosen in ("train/step", "train/step/forward", "helper", "train"):
            figures[f"{name} {chosen}"] = expect_bounded_path(bench, recording, "--range", chosen)
    return figures
