# SPDX-License-Identifier: Apache-2.0
"""Occupancy of random launches is the driver's, and the achieved one is Nsight Compute's."""
import json
import shutil

from cases.support.bench import expect
from cases.support.checks import close
from cases.support.readings import LEAST_REGISTERS, notes_of


def expect_blocks(said, row, gpu, sizes):
    """A launch has as many blocks on a multiprocessor as the driver's calculator says. That goes by the carve-out which
    the program prefers; the launch may have got more shared memory, and the report goes by what it has."""
    block = (said["static"] + said["dynamic"] + gpu["reserved"] + 127) // 128 * 128
    wanted = gpu["shared"] if said["carveout"] < 0 else max(block, gpu["shared"] * said["carveout"] // 100)
    preferred = min(size for size in sizes if size >= wanted)
    limits = [row[f"blocks_by_{what}"] for what in ("warps", "registers", "blocks", "barriers")]
    blocks = min(preferred // block, *(limit for limit in limits if limit is not None))
    expect(blocks == said["blocks"], f"{blocks} blocks, {said['blocks']} by the driver: {said}, {row}")
    if said["carveout"] < 0 or row["shared_configured_bytes"] == preferred:
        expect(row["blocks_per_sm"] == said["blocks"], f"{row['blocks_per_sm']} blocks in the report: {said}, {row}")
    else:
        expect(row["blocks_per_sm"] >= said["blocks"] and row["shared_configured_bytes"] > preferred,
               f"{row['blocks_per_sm']} blocks of what the launch has: {said}, {row}")
    return row["blocks_per_sm"] != said["blocks"]


def expect_waves(said, row, gpu):
    """The report has no more waves than the driver for launches in clusters; in a green context, those of its part."""
    if "clusters" in said:
        expect(row["waves_per_sm"] <= 1.000001 * said["grid"] / (said["clusters"] * said["cluster"]), f"{said}, {row}")
    else:
        expect(row["multiprocessors"] == said["multiprocessors"] < gpu["multiprocessors"], f"{said}, {row}")
        close(row["waves_per_sm"], said["grid"] / (row["blocks_per_sm"] * said["multiprocessors"]), 0.001, "waves")


def test_occupancy(bench):
    """Thousands of random launches: registers, shared memory, and blocks on a multiprocessor as the driver says."""
    # Barriers are known from the modules alone.
    recording, traced = bench.record("occupancy", [bench.find("occupancy_shapes"), "5000"], "--keep-modules")
    expect(traced.status == 0, f"occupancy_shapes exits with {traced.status}: {traced.tail()}")
    gpu, *launches = [json.loads(line) for line in traced.stdout.splitlines()]
    rows = {row["grid"]: row for row in bench.report(recording, "occupancy")["occupancy"]}
    sizes = {row["shared_configured_bytes"] for row in rows.values()} | {gpu["shared"]}
    figures = {"launches": 0, "clusters": 0, "green": 0, "got_more_than_preferred": 0}
    for said in launches:
        row = rows[f"{said['grid']}x1x1"]
        expect(row["registers"] == max(LEAST_REGISTERS, said["registers"]), f"registers: {said}, {row}")
        expect((row["shared_static_bytes"], row["shared_dynamic_bytes"]) == (said["static"], said["dynamic"]),
               f"shared memory: {said}, {row}")
        if "blocks" in said:
            figures["launches"] += 1
            figures["got_more_than_preferred"] += expect_blocks(said, row, gpu, sizes)
        else:
            figures["clusters" if "clusters" in said else "green"] += 1
            expect_waves(said, row, gpu)
    expect(figures["launches"] >= 4000, f"only {figures['launches']} launches")
    figures["limited_by_barriers"] = sum(row["limited_by"] == "barriers" for row in rows.values())
    expect(figures["limited_by_barriers"] >= 10, "barriers limit too few launches")
    figures["registers"] = len({said["registers"] for said in launches})
    return figures


ACHIEVED = "sm__warps_active.avg.pct_of_peak_sustained_active"


def achieved_by_ncu(bench, program):
    """[percent] of each launch, as Nsight Compute measures it; None: it is not here, or may not."""
    if not shutil.which("ncu"):
        return None
    done = bench.run(["ncu", "--csv", "--metrics", ACHIEVED, program, "busy"])
    values = [line.rsplit('","', 1)[-1].strip('"') for line in done.stdout.splitlines() if ACHIEVED in line]
    return [float(value) for value in values] if done.status == 0 else None


def test_occupancy_achieved(bench):
    """Kernels that keep so many warps busy: PM samples say so within 3 points, and Nsight Compute what they say."""
    program, recording = bench.find("occupancy_shapes"), bench.recording("occupancy-achieved")
    traced = bench.run([bench.gputrace, "run", "--counters", "-o", str(recording), "--", program, "busy"])
    expect(traced.status == 0, f"occupancy_shapes exits with {traced.status}: {traced.tail()}")
    rows = {row["grid"]: row for row in bench.report(recording, "occupancy")["occupancy"]}
    by_ncu = achieved_by_ncu(bench, program)
    figures = {"by_ncu": "not here" if by_ncu is None else by_ncu[::3]}
    for at, said in enumerate(json.loads(line) for line in traced.stdout.splitlines()):
        row = rows[f"{said['grid']}x1x1"]
        figures[row["grid"]] = [said["percent"], row["achieved_percent"]]
        expect(row["achieved_source"] == "PM samples", f"not sampled: {row}, {notes_of(bench, recording, 'counters')}")
        for percent, whose in ((row["occupancy_percent"], "the theory"), (row["achieved_percent"], "samples")):
            expect(abs(percent - said["percent"]) <= 3, f"{percent} by {whose}: {said}")
        if by_ncu:
            expect(abs(by_ncu[3 * at] - row["achieved_percent"]) <= 3, f"{by_ncu[3 * at]} by ncu: {row}")
    return figures
