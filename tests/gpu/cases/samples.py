# SPDX-License-Identifier: Apache-2.0
"""The samples run as without gputrace, and recordings have the facts of their .expect files."""
import json
import re

from cases.support.bench import expect
from cases.support.checks import check_expect, expect_complete, expect_order, expect_same
from cases.support.readings import rows_of

# Values that samples print about themselves and that depend on how fast their threads and the GPU happen to be.
VARIES = {"pool": ["peak_bytes", "largest_bytes", "peak_reserved_bytes", "hits", "misses", "splits", "pieces_returned"], "stalls": ["not_ready"], "runtime": ["apart_ns", "together_ns"],
          "device_phases": [f"{phase}_{unit}" for phase in ("load", "compute", "store") for unit in ("cycles", "ns")]}
# Options of gputrace run for samples whose facts it does not record by itself.
SAMPLE_OPTIONS = {"hazards": ["--hazards"], "node_hazards": ["--hazards"]} | {
    f"device_{name}": ["--device-events=64M"] for name in ("phases", "persistent", "imbalanced", "groups", "graph", "nested")}


def test_sample(bench, name):
    """One sample: same output and status, and the facts its .expect file lists."""
    program = bench.find(name)
    plain = bench.run([program])
    recording, traced = bench.record(name, [program], *SAMPLE_OPTIONS.get(name, ()))
    expect_same(plain, traced, exact=False, varies=VARIES.get(name, ()))
    expect_complete(bench, recording)
    check_expect(bench, recording, traced.stdout, name)
    told = expect_inside(bench, recording) if name.startswith("device_") else {}
    return {"status": traced.status, "plain_s": plain.seconds, "traced_s": traced.seconds, **bench.counts(recording), **told}


def expect_inside(bench, recording):
    """No device event lies further outside of its kernel, by CUPTI, than the bound that the report states; that is at most
    1 us."""
    kernels, outside_ns = rows_of(bench, recording, "kernels"), []
    for event in rows_of(bench, recording, "device_events"):
        if event["kernel"] is not None:
            kernel = kernels[event["kernel"]]
            times = [event[name] for name in ("start_ns", "end_ns") if event[name] is not None]
            outside_ns.append(max(kernel["start_ns"] - min(times), max(times) - kernel["end_ns"], 0))
    bound_ns = max(row["bound_ns"] for row in bench.report(recording, "device-events")["clocks"])
    expect(outside_ns and bound_ns <= 1000, f"{len(outside_ns)} events of known kernels, within {bound_ns} ns")
    expect(max(outside_ns) <= bound_ns, f"an event lies {max(outside_ns)} ns outside of its kernel, and the bound is {bound_ns} ns")
    return {"events": len(outside_ns), "outside_ns": max(outside_ns), "bound_ns": bound_ns}


def test_environment(bench):
    """By environment alone, without gputrace run, the same recording comes out."""
    program = bench.find("saxpy")
    plain = bench.run([program])
    recording = bench.recording("saxpy-by-environment")
    traced = bench.run([program], CUDA_INJECTION64_PATH=bench.injection, GPUTRACE_OUTPUT=str(recording))
    expect_same(plain, traced, exact=False)
    expect(plain.stderr == traced.stderr, f"something was printed on its stderr: {traced.stderr[-200:]!r}")
    check_expect(bench, recording, traced.stdout, "saxpy")
    with_run, _ = bench.record("saxpy-by-run", [program])
    seen, by_run = bench.counts(recording), bench.counts(with_run)
    expect(seen == by_run, f"{seen} by environment, {by_run} by gputrace run")
    return seen


def test_bandwidth(bench):
    """saxpy's GB/s from bytes and times of the trace agree with its own CUDA events within 3 %."""
    recording, traced = bench.record("saxpy-bandwidth", [bench.find("saxpy")])
    expect(traced.status == 0, f"saxpy exits with {traced.status}: {traced.tail()}")
    # Its output names what one launch of the kernel moves and the rate by CUDA events.
    moved = re.search(r"^bytes_per_launch=(\d+)$", traced.stdout, re.MULTILINE)
    rate = re.search(r"^gbps=(\d+(?:\.\d+)?)$", traced.stdout, re.MULTILINE)
    expect(moved and rate, f"saxpy prints no bytes_per_launch or no gbps: {traced.stdout[-200:]!r}")
    rows = [row for row in bench.report(recording, "kernels")["kernels"] if "saxpy" in row["kernel"]]
    expect(len(rows) == 1, f"{len(rows)} kernels are called saxpy")
    by_events, by_trace = float(rate[1]), int(moved[1]) / rows[0]["median_ns"]
    off = 100 * abs(by_trace - by_events) / by_events
    figures = {"events_gb_per_s": by_events, "trace_gb_per_s": by_trace, "off_percent": off}
    expect(off <= 3, f"{by_trace:.1f} GB/s by the trace, {by_events:.1f} by CUDA events")
    return figures


def figures_of_phase(bench, recording, *options):
    """Figures of the reports on a phase, without times: they differ from run to run. Only the calls that
    phases make are in them: a wait for all streams at the start or the end is one for each stream as well."""
    made = ("cuLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaStreamSynchronize")
    kernels, copies = (bench.report(recording, name, *options) for name in ("kernels", "copies"))
    calls = bench.report(recording, "api", *options)["functions"]
    return {"kernels": sorted((row["kernel"], row["calls"]) for row in kernels["kernels"]),
            "copies": sorted((row["kind"], row["source"], row["destination"], row["calls"], row["bytes"])
                             for row in copies["copies"]),
            "fills": sorted((row["memory"], row["calls"], row["bytes"]) for row in copies["fills"]),
            "calls": sorted((row["function"], row["calls"]) for row in calls if row["function"] in made)}


def windows_of_phases(bench, recording):
    """A phase lies between two sleeps, which are the longest gaps: from the middle of one to that of the next."""
    gaps = bench.report(recording, "gaps", "--set", "largest=4")["largest_gaps"]
    gaps = sorted(gap["start_time_ns"] + gap["duration_ns"] // 2 for gap in gaps if gap["duration_ns"] > 200e6)
    expect(len(gaps) == 4, f"{len(gaps)} sleeps, not 4")
    return [("--from", f"{begin}ns", "--to", f"{end}ns") for begin, end in zip(gaps, gaps[1:])]


def test_phases(bench):
    """A phase cut out of a recording of three shows what a recording of only that phase shows."""
    program = bench.find("phases")
    whole, _ = bench.record("phases-all", [program])
    streams = streams_by_kernel(bench, whole)
    for number, window in enumerate(windows_of_phases(bench, whole), 1):
        alone, _ = bench.record(f"phases-{number}", [program, str(number)])
        kernel = bench.report(alone, "kernels")["kernels"][0]["kernel"]
        # Between the two sleeps of a program of one phase there is only that phase.
        gaps = bench.report(alone, "gaps", "--set", "largest=2")["largest_gaps"]
        begin, end = sorted(gap["start_time_ns"] + gap["duration_ns"] // 2 for gap in gaps)
        expected = figures_of_phase(bench, alone, "--from", f"{begin}ns", "--to", f"{end}ns")
        expect(expected["kernels"] and expected["copies"] and expected["fills"], f"phase {number} did nothing")
        for options in (window, ("--stream", str(streams[kernel])), (*window, "--device", "0")):
            seen = figures_of_phase(bench, whole, *options)
            expect(seen == expected, f"{' '.join(options)}: {seen}, alone {expected}")
        seen = figures_of_phase(bench, whole, "--kernel", "^" + re.escape(kernel.split("(")[0]) + "[(]")
        expect(seen["kernels"] == expected["kernels"] and not seen["copies"] and not seen["fills"],
               f"only kernel {kernel}: {seen}, alone {expected}")
    return bench.counts(whole)


def streams_by_kernel(bench, recording):
    """CUPTI's number of the stream that each kernel ran on; no report shows it, so all are tried."""
    streams = {}
    for number in range(1, 64):
        done = bench.run([bench.gputrace, "report", "--json", "--stream", str(number), str(recording), "kernels"])
        for row in json.loads(done.stdout)["kernels"] if done.status == 0 else []:
            streams[row["kernel"]] = number
    return streams


def test_order(bench):
    """In every recording so far kernels start after their API call began."""
    lowest = []
    expect(bench.recordings, "no recordings; run it after other tests")
    for recording in list(bench.recordings):
        # stalls-blind has no API calls, so no launch has a latency.
        if recording.is_dir() and not recording.name.startswith(("killed", "error", "stalls-blind")):
            if bench.counts(recording)["kernels"]:
                lowest.append(expect_order(bench, recording)["launch_latency_min_ns"])
    lowest = [latency for latency in lowest if latency is not None]
    expect(lowest, "no recording holds kernels")
    return {"recordings": len(lowest), "launch_latency_min_ns": min(lowest)}
