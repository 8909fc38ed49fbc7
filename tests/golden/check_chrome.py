#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What "gputrace export --format chrome" writes of the recordings that are kept, read by a JSON parser.

  check_chrome.py GPUTRACE NAME...                  against the native trace, the facts, and what Holistic Trace
                                                    Analysis needs; its own breakdowns too where Python has it
  check_chrome.py GPUTRACE --engine ENGINE NAME...  Perfetto's importer reads it without a loss

A NAME is one of captures/NAME.gputrace, or a path that ends so.
"""
import argparse
import collections
import gzip
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from check_golden import CHECK_TRACE, QUERY, differences, facts_path, recording_of, run

GPU_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_graph"}
LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync",
            "cudaMemsetAsync"} # of which Holistic Trace Analysis makes queues
CALL_CATEGORIES = {"cuda_runtime", "cuda_driver"}
COUNTS = ["gpu_slices", "api_slices", "skipped"]
KERNEL_ARGUMENTS = ["External id", "device", "context", "stream", "correlation", "registers per thread",
                    "shared memory", "blocks per SM", "warps per SM", "grid", "block", "est. achieved occupancy %"]
COPY_ARGUMENTS = ["External id", "device", "context", "stream", "correlation", "bytes", "memory bandwidth (GB/s)"]
GRAPH_ARGUMENTS = ["External id", "device", "context", "stream", "correlation", "graph id"]
SQL = """select
  (select count(*) from slice where category in ('kernel', 'gpu_memcpy', 'gpu_memset', 'cuda_graph')) as gpu_slices,
  (select count(*) from slice where category in ('cuda_runtime', 'cuda_driver')) as api_slices,
  (select count(*) from flow) as arrows"""


def export(gputrace, recording, path, *options):
    said = json.loads(run(gputrace, "export", recording, "--json", "--force", "-o", path, *options))
    return said["exported"][0]


def refuse_constant(text):
    raise ValueError(f"{text} is no JSON")


def load(text):
    return json.loads(text, parse_constant=refuse_constant)


def ns(event, key="ts"):
    return round(event[key] * 1000)


def nesting(events):
    """Events of one thread lie in each other or behind each other, or viewers cut them off."""
    found = []
    threads = collections.defaultdict(list)
    for event in events:
        threads[event["pid"], event["tid"]].append((ns(event), -ns(event, "dur"), event["name"]))
    for place, rows in threads.items():
        ends = []
        for start, duration, name in sorted(rows):
            while ends and ends[-1] <= start:
                ends.pop()
            if ends and start - duration > ends[-1]:
                found.append(f"{name} at {start} reaches out of the one around it, on {place}")
            ends.append(start - duration)
    return found


def arrows(events, slices, calls):
    """Each leads from the begin of a call to that of a slice."""
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    at = {"call": {(event["pid"], event["tid"], event["ts"]) for event in calls},
          "slice": {(event["pid"], event["tid"], event["ts"]) for event in slices}}
    found = [] if begins.keys() == ends.keys() else ["arrows with one end"]
    found += [f"arrow from nowhere: {event}" for event in begins.values()
              if (event["pid"], event["tid"], event["ts"]) not in at["call"]]
    found += [f"arrow to nowhere: {event}" for event in ends.values()
              if (event["pid"], event["tid"], event["ts"]) not in at["slice"] or event.get("bp") != "e"]
    return found, len(begins)


def columns(slices, calls):
    """What Holistic Trace Analysis makes its table of, and how it tells the two sides apart."""
    found = [f"{event['name']} lacks {key}" for event in [*slices, *calls]
             for key in ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args") if key not in event]
    for event in slices:
        wanted = {"kernel": KERNEL_ARGUMENTS, "cuda_graph": GRAPH_ARGUMENTS}.get(event["cat"], COPY_ARGUMENTS)
        found += [f"{event['name']} lacks {key}" for key in wanted if key not in event["args"]]
        if not event["args"]["stream"] > 0:
            found.append(f"{event['name']} is on stream {event['args']['stream']}, which means the host")
        if event["cat"] == "gpu_memcpy" and not event["name"].startswith("Memcpy "):
            found.append(f"{event['name']} is not known as a copy")
    found += [f"{event['name']} has a stream" for event in calls if "stream" in event["args"]]
    called = {event["args"]["correlation"] for event in calls}
    lost = [event["name"] for event in slices if event["args"]["correlation"] not in called]
    if calls and len(lost) > len(slices) // 100:
        found.append(f"{len(lost)} slices correlate with no call, such as {lost[0]}")
    return found


def against_facts(slices, facts):
    sums = collections.defaultdict(lambda: {"calls": 0, "total_ns": 0})
    for event in slices:
        if event["cat"] == "kernel" and "profiled" not in event["args"]: # no figure
            sums[event["name"]]["calls"] += 1
            sums[event["name"]]["total_ns"] += ns(event, "dur")
    expected = {name: row for name, row in facts["kernels"].items() if row["calls"]}
    return differences(expected, dict(sums), "kernels")


def words(events):
    """As Kineto's: only work of the GPU has a stream, operations of PyTorch have no numbers behind their names."""
    found = [f"{event['name']} has a stream and is no work of the GPU" for event in events
             if "stream" in event.get("args", {}) and event["cat"] not in GPU_CATEGORIES]
    named = [event for event in events if event.get("cat") in ("cpu_op", "user_annotation", "gpu_user_annotation")]
    found += [f"{event['cat']} {event['name']} has numbers in its name" for event in named
              if ", op_id = " in event["name"]]
    numbered = {event["name"] for event in named if "Sequence number" in event.get("args", {})}
    found += [f"{event['name']} is {event['cat']}, and an operation" for event in named
              if event["name"] in numbered and event["cat"] != "cpu_op"]
    return found


def queue_lengths(slices, calls):
    """Work that was launched and did not begin, by stream: after each launch and each begin."""
    called = {event["args"]["correlation"]: event for event in calls if event["name"] in LAUNCHES}
    steps = collections.defaultdict(list)
    for event in slices:
        call = called.get(event["args"]["correlation"])
        if call:
            steps[event["args"]["stream"]] += [(ns(call), 1), (ns(event), -1)]
    lengths = {}
    for stream, rows in steps.items():
        lengths[stream] = list(itertools.accumulate(change for _, change in sorted(rows, key=lambda row: row[0])))
    return lengths


def by_name(events):
    sums = collections.defaultdict(float)
    for event in events:
        sums[event["name"]] += event["dur"]
    return sums


def apart(told, seen, what):
    """To the nanosecond, but for what sums of doubles lose."""
    wrong = [f"{what}: {key} is {told.get(key)} us for Holistic Trace Analysis, not {seen.get(key)}"
             for key in {**told, **seen} if abs(told.get(key, -1) - seen.get(key, -1)) > 0.01]
    return wrong[:3]


def holistic(gputrace, recording, path, slices, calls):
    """The breakdowns of Holistic Trace Analysis itself, where it is installed."""
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    try:
        from hta.trace_analysis import TraceAnalysis
    except ImportError:
        print("without Holistic Trace Analysis, which this Python does not have")
        return []
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(path.parent))
    table = analysis.get_gpu_kernel_breakdown(visualize=False, duration_ratio=1.0, num_kernels=1 << 20,
                                              include_memory_kernels=True)[1]
    found = apart(dict(zip(table["name"], table["sum (us)"])), by_name(slices), "sums by name")
    series = analysis.get_queue_length_time_series(ranks=[0]).get(0)
    lengths = queue_lengths(slices, calls)
    seen = {} if series is None else {stream: sorted(rows["queue_length"]) for stream, rows in series.groupby("stream")}
    found += differences({stream: sorted(rows) for stream, rows in lengths.items()}, seen, "queue lengths")
    gaps = json.loads(run(gputrace, "report", recording, "gaps", "--json"))["devices"]
    # It takes a file for one GPU, and a profiled kernel for one that ran so long.
    if len(gaps) == 1 and not any("profiled" in event["args"] for event in slices):
        told = analysis.get_temporal_breakdown(visualize=False).iloc[0]
        found += apart({"idle": told["idle_time(us)"], "span": told["kernel_time(us)"]},
                       {"idle": gaps[0]["gap_ns"] / 1000, "span": gaps[0]["span_ns"] / 1000}, "time")
    print(f"Holistic Trace Analysis: {len(table)} names, {sum(map(len, lengths.values()))} lengths of queues")
    return found


def check(gputrace, recording, folder):
    facts = load(facts_path(recording).read_text())
    plain, packed = folder / "trace.json", folder / "trace.json.gz"
    native = export(gputrace, recording, folder / "trace.perfetto")
    written = export(gputrace, recording, plain, "--names", "short") # as the facts have them
    found = differences({key: native[key] for key in COUNTS}, {key: written[key] for key in COUNTS}, "export")
    export(gputrace, recording, packed, "--names", "short")
    text = plain.read_bytes()
    if gzip.decompress(packed.read_bytes()) != text:
        found.append("compressed, it is another text")
    trace = load(text)
    events = trace["traceEvents"]
    slices = [event for event in events if event.get("cat") in GPU_CATEGORIES]
    calls = [event for event in events if event.get("cat") in CALL_CATEGORIES]
    wrong, arrow_count = arrows(events, slices, calls)
    found += wrong + nesting([*slices, *calls]) + columns(slices, calls) + words(events) + against_facts(slices, facts)
    found += differences({"gpu_slices": len(slices), "api_slices": len(calls), "arrows": arrow_count},
                         {key: written[key] for key in ("gpu_slices", "api_slices", "arrows")}, "counted")
    found += differences(facts["devices"], [row["name"] for row in trace["deviceProperties"]], "deviceProperties")
    if not {event["pid"] for event in slices} <= {row["id"] for row in trace["deviceProperties"]}:
        found.append("slices on GPUs that are not described")
    # Programs that only allocate have no slices, but calls.
    middle = (slices or calls)[len(slices or calls) // 2]
    for options in ["--no-api"], ["--from", f"{middle['ts'] / 1000:.6f}ms"]:
        expected = export(gputrace, recording, folder / "cut.perfetto", *options)
        cut = export(gputrace, recording, folder / "cut.json", *options)
        found += differences({key: expected[key] for key in COUNTS}, {key: cut[key] for key in COUNTS},
                             " ".join(options))
        load((folder / "cut.json").read_bytes())
    return found + (holistic(gputrace, recording, packed, slices, calls) if slices else [])


def check_import(gputrace, engine, recording, folder):
    trace, question = folder / "trace.json", folder / "count.sql"
    written = export(gputrace, recording, trace)
    question.write_text(SQL)
    checked = subprocess.run(["node", CHECK_TRACE, "--engine", engine, trace], capture_output=True, text=True,
                             check=False)
    answer = json.loads(run("node", QUERY, engine, trace, question))["count.sql"][0]
    return ([checked.stdout] if checked.returncode else []) + \
        differences({key: written[key] for key in answer}, answer, "importer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gputrace")
    parser.add_argument("--engine")
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    failed = False
    for name in args.names:
        recording = recording_of(name)
        with tempfile.TemporaryDirectory() as folder:
            found = check_import(args.gputrace, args.engine, recording, pathlib.Path(folder)) if args.engine else \
                check(args.gputrace, recording, pathlib.Path(folder))
        for line in found[:20]:
            print(f"{name}: {line}")
        failed = failed or bool(found)
    return failed


if __name__ == "__main__":
    sys.exit(main())
