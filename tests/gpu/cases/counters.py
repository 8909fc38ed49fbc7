# SPDX-License-Identifier: Apache-2.0
"""Counters by PM samples and of launches agree with known traffic and with Nsight Compute."""
import csv
import json
import os
import shlex
import shutil
import subprocess

from cases.support.bench import Failed, OutOfTime, PROGRAMS, expect, sum_of
from cases.support.checks import close, expect_complete
from cases.support.readings import ledger_of, notes_of, rows_of


def moved_by(report, durations, kernel):
    """Bytes that one execution of a kernel read and wrote, by its samples."""
    rows = [row for row in report["kernels"] if row["kernel"] == kernel]
    expect(len(rows) == 1, f"{kernel} has {len(rows)} rows, every {report['coverage'][0]['interval_ns']} ns: "
           f"{report['kernels']}, {report['coverage']}, {report['remarks']}")
    row = rows[0]
    expect(row["samples"] >= 100, f"{kernel} has {row['samples']} samples of its own, every {report['coverage'][0]['interval_ns']} ns")
    rates = [row[f"dram_{way}_bytes_per_second"] for way in ("read", "write")]
    expect(None not in rates, f"the bytes of {kernel} were not measured")
    return [rate * durations[kernel] / 1e9 for rate in rates]


def sample_traffic(bench, interval, gibibytes=1):
    """Known traffic under run --counters: the figures, and the recording."""
    recording = bench.recording(f"traffic-{interval}")
    traced = bench.run([bench.gputrace, "run", "--counters", "--counter-interval", interval, "-o", str(recording),
                        "--", bench.find("traffic"), str(gibibytes)])
    expect(traced.status == 0, f"traffic exits with {traced.status}: {traced.tail()}")
    expect_complete(bench, recording)
    notes = notes_of(bench, recording, "counters")
    expect(not any(note.startswith("no counters") for note in notes), f"it is not allowed here: {notes}")
    known, report = json.loads(traced.stdout), bench.report(recording, "counters")
    durations = {row["kernel"]: row["mean_ns"] for row in bench.report(recording, "kernels")["kernels"]}
    expect(report["coverage"], f"no sample every {interval}: {notes}")
    coverage, = report["coverage"]
    figures = {"notes": notes, "sampled": [row["counter"] for row in report["counters"] if row["samples"]],
               "samples": coverage["samples"], "gaps": coverage["gaps"], "interval_ns": coverage["interval_ns"]}
    for kernel, bytes_of in known.items():
        measured = moved_by(report, durations, kernel)
        figures[kernel] = measured
        for was, should in zip(measured, (bytes_of["read"], bytes_of["written"])):
            if should:
                close(was, should, 5, f"bytes of {kernel} by samples every {interval}")
            else:
                expect(was <= 0.05 * max(bytes_of.values()), f"{kernel} moved {was:.3g} bytes that it should not")
    return figures


def test_counters(bench):
    """Kernels of known traffic: bytes by PM samples within 5 %, at three intervals; no gap at 100 us and longer."""
    # At 1 ms only kernels of several milliseconds have samples of their own.
    figures = {interval: sample_traffic(bench, interval, gibibytes) for interval, gibibytes in (("20us", 1), ("100us", 1), ("1ms", 4))}
    for interval, nanoseconds in (("20us", 20e3), ("100us", 100e3), ("1ms", 1e6)):
        close(figures[interval]["interval_ns"], nanoseconds, 2, f"the interval of samples, asked for {interval}")
    expect(not figures["100us"]["gaps"] and not figures["1ms"]["gaps"], f"samples were lost: {figures}")
    return figures


# Metrics asked of Nsight Compute for the same launches: our name, its name.
ASKED = {"dram_read_bytes": "dram__bytes_read.sum", "dram_write_bytes": "dram__bytes_write.sum",
         "dram_throughput_percent": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
         "warps_active_percent": "sm__warps_active.avg.pct_of_peak_sustained_active", "duration_ns": "gpu__time_duration.sum"}
# Compared launches of a training step. Smaller figures, or shorter launches, differ from run to run.
COUNTED_FIRST, COUNTED_LAUNCHES, LEAST_BYTES, LEAST_NS = 41, 20, 32 << 20, 10000


def counted_by_ncu(bench, command):
    """[{our name: figure}] of those launches, in their order; None: Nsight Compute is not here, or may not."""
    if not shutil.which("ncu"):
        return None
    done = bench.run(["ncu", "--csv", "--nvtx", "--nvtx-include", "step/", "--cache-control", "none", "--clock-control", "none",
                      "--print-units", "base", "--launch-skip", str(COUNTED_FIRST - 1), "--launch-count", str(COUNTED_LAUNCHES),
                      "--metrics", ",".join(ASKED.values()), *command])
    lines = done.stdout[done.stdout.find('"ID"'):].splitlines()
    launches = {}
    for row in csv.DictReader(lines):
        for ours, theirs in ASKED.items():
            if row.get("Metric Name") == theirs:
                launches.setdefault(int(row["ID"]), {"kernel": row["Kernel Name"]})[ours] = float(row["Metric Value"].replace(",", ""))
    return [launches[number] for number in sorted(launches)] or None


def test_counters_step(bench):
    """A training step of a transformer: bytes of its kernels add up to the device's, and agree with Nsight Compute's."""
    command = [bench.python, str(PROGRAMS / "train_transformer.py"), "--large", "--steps"]
    sampled, counted = bench.recording("step-sampled"), bench.recording("step-counted")
    done = bench.run([bench.gputrace, "run", "--no-export", "--counters=memory", "-o", str(sampled), "--", *command, "12"])
    expect(done.status == 0, f"sampled, it exits with {done.status}: {done.tail()}")
    coverage = bench.report(sampled, "counters")["coverage"][0]
    expect(coverage["gaps"] == 0, f"samples were lost: {coverage}")
    report, copies = bench.report(sampled, "bandwidth"), bench.report(sampled, "copies")
    device = report["devices"][0]
    # Bytes that a copy within the device moves are read and written; the kernels whose bytes are not known take their share.
    moved = sum(row["bytes"] * (2 if row["kind"] == "DtoD" else 1) for row in copies["copies"]) + sum_of(copies, "fills", "bytes")
    done = bench.run([bench.gputrace, "run", "--no-export", "--kernel-counters=dram_read_bytes,dram_write_bytes,warps_active_percent",
                      "--range", "step", "--launches", "1:100000", "-o", str(counted), "--", *command, "1"])
    expect(done.status == 0, f"counted, it exits with {done.status}: {done.tail()}")
    rows, occupancy = bench.report(counted, "bandwidth"), bench.report(counted, "occupancy")["occupancy"]
    top = rows["kernels"][:20]
    figures = {"of_kernels": device["kernel_bytes"], "of_copies_and_fills": moved, "of_the_device": device["sampled_bytes"],
               "known_percent": device["known_percent"], "counted_in_one_step": rows["devices"][0]["kernel_bytes"],
               "top_with_bytes": sum(row["read_bytes"] is not None for row in top),
               "shapes": len(occupancy), "with_occupancy": sum(row["achieved_percent"] is not None for row in occupancy)}
    try:
        expect(figures["top_with_bytes"] == len(top), "a kernel of the top 20 has no bytes")
        expect(figures["with_occupancy"] == len(occupancy), "a launch shape has no achieved occupancy")
        close(100 * figures["of_kernels"] / figures["known_percent"] + moved, figures["of_the_device"], 5,
              "bytes of kernels, copies and fills, and of the device")
    except Failed as failure:
        raise Failed(f"{failure}; {figures}") from failure
    return figures


def counted_by_both(bench, name):
    """Figures of each launch, ours and Nsight Compute's, of two runs of a training step; None: the other is not here."""
    command = [bench.python, str(PROGRAMS / "train_transformer.py"), "--large", "--steps", "1"]
    recording = bench.recording(name)
    done = bench.run([bench.gputrace, "run", "--no-export", "--kernel-counters=" + ",".join(ASKED), "--range", "step",
                      "--launches", f"{COUNTED_FIRST}:{COUNTED_LAUNCHES}", "-o", str(recording), "--", *command])
    expect(done.status == 0, f"it exits with {done.status}: {done.tail()}")
    ours = {}
    for row in rows_of(bench, recording, "kernel_counters"):
        ours.setdefault(row["kernel"], {})[row["name"]] = row["value"]
    ours = [ours[kernel] for kernel in sorted(ours)]
    theirs = counted_by_ncu(bench, command)
    if theirs is not None:
        expect(len(ours) == len(theirs) == COUNTED_LAUNCHES, f"{len(ours)} launches, {len(theirs)} by ncu")
    return theirs and list(zip(ours, theirs))


def other_than_ncu(mine, other):
    """{our name: (ours, theirs)} of what is further apart than 3 points, or 3 % of the bytes."""
    wrong = {}
    for name in ASKED:
        if name.endswith("_bytes"):
            fits = abs(mine[name] - other[name]) <= 0.03 * max(other[name], mine[name], LEAST_BYTES)
        else:
            fits = abs(mine[name] - other[name]) <= 3 or other["duration_ns"] < LEAST_NS or name == "duration_ns"
        if not fits:
            wrong[name] = mine[name], other[name]
    return wrong


def test_counters_ncu(bench):
    """Twenty launches of a training step: bytes, throughput and warps are what Nsight Compute says, within 3 %.

    Both measure runs of their own, of which one launch in a hundred was an outlier: what is apart is measured again."""
    launches = counted_by_both(bench, "step-ncu")
    if launches is None:
        return {"by_ncu": "not here"}
    wrong = [other_than_ncu(mine, other) for mine, other in launches]
    figures = {"launches": [[other["kernel"][:40]] + [[mine[name], other[name]] for name in ASKED] for mine, other in launches]}
    if any(wrong):
        figures["once apart"] = [[other["kernel"][:40], found] for (_, other), found in zip(launches, wrong) if found]
        again = [other_than_ncu(mine, other) for mine, other in counted_by_both(bench, "step-ncu-again")]
        twice = [[other["kernel"][:40], name, first[name], second[name]]
                 for (_, other), first, second in zip(launches, wrong, again) for name in first.keys() & second.keys()]
        expect(not twice, f"{len(twice)} figures are others than ncu's, twice: {twice}")
    return figures


# Profiled launches, and the counters that are read of each: seven passes of 25 to 55 ms on an H200, and one.
COUNTED_MANY = ((400, "memory,occupancy"), (1200, "duration_ns"))
if "GPUTRACE_TEST_LAUNCHES" in os.environ:
    COUNTED_MANY = ((int(os.environ["GPUTRACE_TEST_LAUNCHES"]), os.environ.get("GPUTRACE_TEST_COUNTERS", "memory,occupancy")),)

COUNTED_ON = int(os.environ.get("GPUTRACE_TEST_GPUS", 1))


def count_many(bench, launches, counters):
    each = launches // COUNTED_ON
    # A step has more than 100 launches.
    command = [bench.python, str(PROGRAMS / "train_transformer.py"), "--steps", str(4 + each // 100)]
    if COUNTED_ON > 1:
        one = shlex.join(command)
        command = ["sh", "-c", " & ".join(f"CUDA_VISIBLE_DEVICES={gpu} {one}" for gpu in range(COUNTED_ON)) + " & wait"]
    try:
        recording, traced = bench.record(f"counters-many-{launches}-{counters}", command, "--no-export",
                                         f"--kernel-counters={counters}", "--launches", f"1:{each}")
    except OutOfTime as failure:
        done = subprocess.run([bench.gputrace, "finish", str(bench.recordings[-1])], capture_output=True, text=True, timeout=60)
        info = json.loads(subprocess.run([bench.gputrace, "info", "--json", str(bench.recordings[-1])], capture_output=True,
                                         text=True, timeout=60, check=True).stdout)
        counted = [row["rows"] for row in info["tables"] if row["table"] == "profiled_launches"]
        ledger = ledger_of(bench, bench.recordings[-1])
        lost = {name: ledger[name] for name in ("launches", "launches_unfinished", "dropped_by_cupti", "discarded_no_buffer")}
        raise Failed(f"profiled by then: {counted}, {lost}; {failure}; finish: {done.stderr.strip()[-300:]}") from failure
    expect(traced.status == 0, f"it exits with {traced.status}: {traced.tail()}")
    ledger = ledger_of(bench, recording)
    tables = {row["table"]: row["rows"] for row in bench.info(recording, "tables")}
    figures = {"profiled": tables["profiled_launches"], "launches": ledger["launches"], "kernels": tables["kernels"],
               "dropped": ledger["dropped_by_cupti"], "discarded": ledger["discarded_no_buffer"],
               "unfinished": ledger["launches_unfinished"], "seconds": round(traced.seconds, 1)}
    notes = [row["text"] for row in bench.info(recording, "notes")]
    try:
        expect_complete(bench, recording)
        expect(figures["profiled"] == each * COUNTED_ON, f"{launches} launches were to be profiled")
        expect(figures["kernels"] == figures["launches"] and not figures["unfinished"], "kernels are missing or without times")
    except Failed as failure:
        raise Failed(f"{counters}: {failure}; {figures}; {notes}") from failure
    return figures


def test_counters_many(bench):
    """More profiled launches of a training step than there are buffers: the ledger is clean.

    GPUTRACE_TEST_LAUNCHES and GPUTRACE_TEST_COUNTERS choose another number and other counters, GPUTRACE_TEST_GPUS over how
    many GPUs they are spread, a process on each."""
    return {counters: count_many(bench, launches, counters) for launches, counters in COUNTED_MANY}
