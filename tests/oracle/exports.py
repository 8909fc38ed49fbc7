# SPDX-License-Identifier: Apache-2.0
"""Exported traces, compared slice by slice with what happened."""
import collections
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import read_trace # pylint: disable=wrong-import-position

CATEGORIES = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "fill", "cuda_graph": "graph"}


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def placed(view):
    """Work that has a place in time: profiled launches, too."""
    return [row for row in view.work if not row["is_unfinished"]]


def right_work(view):
    """What, GPU, stream, begin, end, size."""
    return collections.Counter(
        (row["kind"], row["gpu"], view.world.streams[row["stream"]]["number"], row["begin"] - view.world.begin,
         max(row["end"], row["begin"] + 1) - view.world.begin, row["bytes"]) for row in placed(view))


def right_calls(view):
    return collections.Counter(
        (view.world.threads[call["thread"]]["tid"], view.world.function(call), call["begin"] - view.world.begin,
         call["end"] - view.world.begin) for call in view.calls if call["end"])


def right_ranges(view):
    """Names of PyTorch's operations are without the numbers that it writes behind them."""
    world = view.world
    return collections.Counter(
        (world.threads[row["thread"]]["tid"], re.sub(r", (?:seq|op_id) = .*", "", row["name"]), row["begin"] - world.begin, row["end"] - world.begin)
        for row in world.ranges.values() if row["end"])


def said_in_chrome(trace):
    found = {"work": collections.Counter(), "calls": collections.Counter(), "ranges": collections.Counter()}
    for event in trace["traceEvents"]:
        if event["ph"] != "X":
            continue
        begin = nanoseconds(event["ts"])
        end = begin + nanoseconds(event["dur"])
        kind, arguments = event.get("cat"), event.get("args", {})
        if kind in CATEGORIES:
            found["work"][CATEGORIES[kind], event["pid"], arguments["stream"], begin, end,
                          arguments.get("bytes", 0)] += 1
        elif kind in ("cuda_runtime", "cuda_driver"):
            found["calls"][event["tid"], event["name"], begin, end] += 1
        elif kind in ("user_annotation", "cpu_op"):
            found["ranges"][event["tid"], event["name"], begin, end] += 1
    return found


def counted(right, said):
    """(how many are missing or too many, one of them)"""
    missing, more = right - said, said - right
    if missing or more:
        return sum(missing.values()) + sum(more.values()), next(iter(missing or more))
    return None


def export(gputrace, folder, style, words):
    run = subprocess.run([gputrace, "export", folder, "--format", style, "-o", "-", "--compression", "none", "-q", *words],
                         capture_output=True, timeout=60, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"export {style}: exit {run.returncode}: {run.stderr.decode()}")
    return run.stdout


def broken(gputrace, folder, view, words):
    """((export, what), row, "slices", right, said)"""
    chrome = said_in_chrome(json.loads(export(gputrace, folder, "chrome", words)))
    right = {"work": right_work(view), "calls": right_calls(view)}
    if not view.filters:
        right["ranges"] = right_ranges(view)
    for what, rows in right.items():
        wrong = counted(rows, chrome[what])
        if wrong:
            yield ("export chrome", what), wrong[1], "slices", sum(rows.values()), sum(chrome[what].values())
    slices = read_trace.read_work(export(gputrace, folder, "perfetto", words))
    said = collections.Counter((row.gpu, row.start, row.end) for row in slices)
    rows = collections.Counter((row["gpu"], row["begin"], max(row["end"], row["begin"] + 1)) for row in placed(view))
    wrong = counted(rows, said)
    if wrong:
        yield ("export perfetto", "slices"), wrong[1], "slices", sum(rows.values()), sum(said.values())
