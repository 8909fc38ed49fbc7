# SPDX-License-Identifier: Apache-2.0
"""Recording is paused and goes on while programs run: counts go by what they launched themselves."""
import time

from cases.support.bench import PROGRAMS, expect
from cases.support.checks import expect_complete
from cases.support.readings import rows_of
from cases.support.told import Told

# paused_by and resumed_by (format/control/cause.h)
OPTIONS, COMMAND, TIME, PROGRAM, RANGE, END = 1, 2, 3, 4, 5, 6


def check(bench, told, steps, causes):
    """The launches of these steps and no others, each once; nothing is lost."""
    recording = told.end()
    expect_complete(bench, recording)
    counts = bench.counts(recording)
    expect(counts["kernels"] == sum(steps), f"{counts['kernels']} kernels are recorded, the steps had {sum(steps)}")
    pauses = rows_of(bench, recording, "pauses")
    seen = [(row["paused_by"], row["resumed_by"]) for row in pauses]
    expect(seen == causes, f"pauses: {seen} instead of {causes}")
    return {"kernels": counts["kernels"], "pauses": len(seen)}


def test_control_commands(bench):
    """start, stop and status from outside; memory is known through the pause."""
    with Told(bench, "control-commands", [bench.find("told_steps")]) as told:
        told.order("steps 2")
        seconds = [told.tell("stop").seconds]
        expect(told.tell("status").stdout.startswith("paused"), "not paused")
        told.order("steps 3")
        seconds.append(told.tell("start").seconds)
        expect(told.tell("status").stdout.startswith("recording"), "not recording")
        told.order("steps 2")
        figures = check(bench, told, (1, 2, 6, 7), [(COMMAND, COMMAND)])
        allocations = bench.report(told.recording, "memory")["devices"][0]["allocations"]
    expect(allocations == 7, f"{allocations} allocations of 7")
    return {**figures, "command_ms": [round(1e3 * value) for value in seconds]}


def test_control_often(bench):
    """Forty pauses with launches in between and in them: each step that was recorded is there, and no other."""
    with Told(bench, "control-often", [bench.find("told_steps")]) as told:
        recorded, number = [], 0
        for _ in range(40):
            told.order("steps 3")
            recorded += [number + 1, number + 2, number + 3]
            told.tell("stop")
            told.order("steps 2")
            number += 5
            told.tell("start")
        return check(bench, told, recorded, [(COMMAND, COMMAND)] * 40)


def test_control_start_paused(bench):
    with Told(bench, "control-paused", [bench.find("told_steps")], "--start-paused") as told:
        told.order("steps 2")
        told.tell("start")
        told.order("steps 1")
        told.tell("stop")
        told.order("steps 1")
        return check(bench, told, (3,), [(OPTIONS, COMMAND), (COMMAND, END)])


def test_control_program(bench):
    """cudaProfilerStart and cudaProfilerStop of the program."""
    with Told(bench, "control-program", [bench.find("told_steps"), "3:2"], "--profiler-api") as told:
        told.order("steps 6")
        return check(bench, told, (3, 4), [(OPTIONS, PROGRAM), (PROGRAM, END)])


def test_control_range(bench):
    with Told(bench, "control-range", [bench.find("told_steps")], "--record-range", "step", "--occurrences", "2:3") as told:
        told.order("steps 6")
        return check(bench, told, (2, 3, 4), [(OPTIONS, RANGE), (RANGE, RANGE), (RANGE, RANGE), (RANGE, END)])


def test_control_times(bench):
    with Told(bench, "control-times", [bench.find("told_steps")], "--delay", "2s", "--duration", "2s") as told:
        told.order("steps 1")
        for state in ("paused", "recording"):
            while told.tell("status").stdout.startswith(state):
                time.sleep(0.02)
            told.order("steps 2" if state == "paused" else "steps 1")
        return check(bench, told, (2, 3), [(OPTIONS, TIME), (TIME, END)])


def test_control_running(bench):
    """A kernel that runs when recording is paused has its end; one that was launched in the pause is not there."""
    with Told(bench, "control-running", [bench.find("told_steps")]) as told:
        told.order("steps 1")
        told.order("spin 500")
        told.tell("stop")
        told.order("wait")
        told.order("spin 500")
        told.tell("start")
        told.order("wait")
        told.order("steps 1")
        # One kernel of the first step, the one that spun, two of the second step.
        figures = check(bench, told, (1, 1, 2), [(COMMAND, COMMAND)])
    lasted_ms = sorted((row["end_ns"] - row["start_ns"]) // 1000000 for row in rows_of(bench, told.recording, "kernels"))
    expect(lasted_ms[-1] in range(490, 600) and lasted_ms[-2] < 490, f"kernels took {lasted_ms} ms, one of them 500")
    return {**figures, "kernels_ms": lasted_ms}


def test_control_pytorch(bench):
    """Three steps of a PyTorch training by their range, whose backward pass other threads launch: thrice the kernels
    that one step more adds to a whole recording."""
    program = [bench.python, str(PROGRAMS / "train_transformer.py"), "--large", "--steps"]
    kernels = {}
    for steps in (5, 6):
        recording, ended = bench.record(f"control-pytorch-{steps}", [*program, str(steps)], "--no-export")
        expect(ended.status == 0, f"it exits with {ended.status}: {ended.tail()}")
        kernels[steps] = bench.counts(recording)["kernels"]
    recording, ended = bench.record("control-pytorch", [*program, "6"], "--no-export", "--record-range", "step", "--occurrences", "3:3")
    expect(ended.status == 0, f"it exits with {ended.status}: {ended.tail()}")
    expect_complete(bench, recording)
    seen, of_step = bench.counts(recording)["kernels"], kernels[6] - kernels[5]
    expect(seen == 3 * of_step, f"{seen} kernels are recorded of three steps of {of_step}")
    return {"kernels": seen, "kernels_of_a_step": of_step}
