# SPDX-License-Identifier: Apache-2.0
"""Steps and start-up are what the program's own clocks say, joules what NVML's energy counter says."""
import json
import statistics

from cases.support.bench import PROGRAMS, expect
from cases.support.checks import expect_complete

STEP_PERCENT = 1.0  # that a step may be away from the program's clock
ENERGY_PERCENT = 3.0
LOOP_SECONDS = 30
TICK_NS = 10_000_000  # the kernel tells the start of a process in ticks


def record_steps(bench, framework, *options):
    """(recording, what the program says of its own clocks)"""
    recording = bench.recording("-".join(["own-clocks", framework, *(option.strip("-") for option in options)]))
    command = [bench.python, str(PROGRAMS / "clocked_steps.py"), framework, *options]
    done = bench.run([bench.gputrace, "run", "--telemetry", "100ms", "-o", str(recording), "--", *command])
    expect(done.status == 0, f"{framework} fails under gputrace: {done.tail()}")
    expect_complete(bench, recording)
    return recording, json.loads(done.stdout.splitlines()[-1])


def percent_apart(seen, told):
    return 100 * (seen / told - 1)


def check_startup(bench, recording, facts, *options):
    """Start-up ends where the step begins that the report names. Steps that are guessed begin at a kernel inside a step."""
    row = bench.report(recording, "startup", *options)["startup"][0]
    begins = [begin - facts["start"] for begin, _ in facts["steps"]]
    told = begins[row["steps"]] if options else min(begins, key=lambda begin: abs(begin - row["startup_ns"]))
    step_ns = 0 if options else statistics.median(end - begin for begin, end in facts["steps"])
    apart = abs(row["startup_ns"] - told)
    text = f"start-up is {row['startup_ns']} ns until {row['until']}, by the program's clock {told} ns"
    expect(apart <= TICK_NS + told / 100 + step_ns, text)
    parts = sum(part["wall_ns"] for part in bench.report(recording, "startup", *options)["parts"])
    expect(parts == row["startup_ns"], f"parts of start-up add up to {parts} ns of {row['startup_ns']}")
    return {"startup_ns": row["startup_ns"], "told_startup_ns": told, "until": row["until"]}


def check_ranged(bench, recording, facts):
    """Each step of a range takes what the program's clock says."""
    rows = sorted(bench.report(recording, "steps", "--range", "step")["each_step"], key=lambda row: row["step"])
    told = [end - begin for begin, end in facts["steps"]]
    expect(len(rows) == len(told), f"{len(rows)} steps of {len(told)}")
    apart = [percent_apart(row["wall_ns"], wall_ns) for row, wall_ns in zip(rows, told)]
    figures = {"steps": len(rows), "most_apart_percent": max(apart, key=abs), "mean_ns": statistics.mean(told)}
    expect(all(abs(percent) <= STEP_PERCENT for percent in apart), f"steps by the program's clock: {apart}")
    return {**figures, **check_startup(bench, recording, facts, "--range", "step")}


def check_guessed(bench, recording, facts):
    """Steps that are guessed go from one launch to the next: their median is that of the program's begins."""
    row = bench.report(recording, "steps")["steps"][0]
    begins = [begin for begin, _ in facts["steps"]]
    told = statistics.median(after - before for before, after in zip(begins, begins[1:]))
    apart = percent_apart(row["median_ns"], told)
    figures = {"guessed_steps": row["steps"], "told_steps": len(begins), "range": row["range"],
               "median_ns": row["median_ns"], "told_median_ns": told, "median_apart_percent": apart}
    expect(row["range"].startswith("guessed: "), f"not guessed: {row}")
    expect(len(begins) - 2 <= row["steps"] <= len(begins), f"number of steps: {figures}")
    expect(abs(apart) <= STEP_PERCENT, f"median of a step: {figures}")
    return {**figures, **check_startup(bench, recording, facts)}


def test_own_clocks(bench, framework):
    """Steps in ranges, steps that are guessed, and start-up, beside clocks that the program itself reads."""
    ranged = check_ranged(bench, *record_steps(bench, framework, "--ranges"))
    return {"ranged": ranged, "guessed": check_guessed(bench, *record_steps(bench, framework))}


def test_own_energy(bench, framework):
    """Joules of a loop beside NVML's energy counter, which the program itself reads."""
    recording, facts = record_steps(bench, framework, "--seconds", str(LOOP_SECONDS))
    loop = bench.report(recording, "steps", "--range", "loop")["each_step"][0]
    begin = loop["start_time_ns"]
    device = bench.report(recording, "energy", "--from", f"{begin}ns", "--to", f"{begin + loop['wall_ns']}ns")["devices"][0]
    (begin_ns, begin_mj), (end_ns, end_mj) = facts["energy"]
    watts = (end_mj - begin_mj) * 1e6 / (end_ns - begin_ns)
    told = watts * loop["wall_ns"] / 1e9
    ranges = {row["range"]: row for row in bench.report(recording, "energy")["ranges"]}
    figures = {"joules": device["joules"], "told_joules": told, "apart_percent": percent_apart(device["joules"], told),
               "told_watts": watts, "source": device["source"], "range_joules": ranges["loop"]["joules"],
               "active_joules": device["active_joules"]}
    expect(abs(figures["apart_percent"]) <= ENERGY_PERCENT, f"energy of the loop: {figures}")
    return figures
