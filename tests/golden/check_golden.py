#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real recordings that are kept, and the facts that each of them must yield for ever.

  check_golden.py GPUTRACE facts NAME...        info and reports say what NAME.facts.json says, and what the program or another profiler
                                                said of that run (NAME.said.json, written by hand from its output)
  check_golden.py GPUTRACE import ENGINE NAME...  what export writes is what the importer finds,
                                                and viewer-assets/sql answers as the reports do
  check_golden.py GPUTRACE --accept NAME...     writes NAME.facts.json: read it before committing
  check_golden.py captures                      there are some, small, each with its facts

A NAME is one of captures/NAME.gputrace, or a path that ends so.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import read_trace

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE / "captures"
CHECK_TRACE = HERE.parent / "importer" / "check_trace.mjs"
QUERY = HERE.parent / "importer" / "query.mjs"
SQL = HERE.parents[1] / "viewer-assets" / "sql"
MOST_BYTES = 300_000
SUFFIX = ".gputrace"
OCCUPANCY, WAVES = "sm__maximum_warps_per_active_cycle_pct", "waves_per_multiprocessor"
LIMITED_BY = "occupancy_limited_by"
IDLE = ["span_ns", "active_ns", "gap_ns", "gaps"]
PROFILED = "profiled: "  # so begin the titles of launches that were run several times for their counters
PATIENCE_S = 100


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)
    if done.returncode:
        sys.exit(f"check_golden: {' '.join(map(str, words))} exited with {done.returncode}:\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def recording_of(name):
    path = pathlib.Path(name) if name.endswith(SUFFIX) else CAPTURES / (name + SUFFIX)
    if not path.is_dir():
        sys.exit(f"check_golden: there is no {path}")
    return path


def said_path(recording):
    return recording.with_suffix(".said.json")


def check_said(gputrace, recording):
    """What the recorded program, or another profiler, said of the same run: NAME.said.json, where there is one."""
    path, found = said_path(recording), []
    for fact in json.loads(path.read_text())["facts"] if path.is_file() else []:
        report = json.loads(run(gputrace, "report", "--json", "--limit", "1000000", *fact.get("options", []), recording, fact["report"]))
        rows = [row for row in report[fact["table"]]
                if all(row[column] == value for column, value in fact.get("where", {}).items())]
        seen = sum(row[fact["sum"]] or 0 for row in rows)
        if seen != fact["is"]:
            found.append(f"{fact['by']} says {fact['is']}, not {seen}: {fact}")
    return found


def facts_path(recording):
    return recording.with_suffix(".facts.json")


def summed(rows, key, columns):
    """Rows of one key added up: {key: {column: sum}}."""
    sums = {}
    for row in rows:
        entry = sums.setdefault(row[key] or "", dict.fromkeys(columns, 0))
        for column in columns:
            entry[column] += row[column]
    return sums


def exported(gputrace, recording, path, *options):
    said = json.loads(run(gputrace, "export", recording, "--json", "--force", "-o", path, *options))
    return said["exported"][0]


def chosen(rows, columns):
    """These columns of the rows; what is no whole number in six digits."""
    return [{column: float(f"{row[column]:.6g}") if isinstance(row[column], float) else row[column]
             for column in columns} for row in rows]


def shape_facts(rows):
    """What each launch shape leaves unused, in an order that does not depend on times."""
    columns = ["kernel", "grid", "block", "calls", "occupancy_percent", "limited_by", "waves_per_sm"]
    return sorted(chosen(rows, columns), key=json.dumps)


def graph_facts(report):
    """What was launched of CUDA graphs, if any was."""
    runs = chosen(report["runs"], ["exec", "launches", "activities", "span_ns", "busy_ns", "width"])
    return {"graphs": {"runs": runs, "share": chosen(report["share"], ["kernels", "kernel_ns"])}} if runs else {}


def operation_facts(report):
    """What frameworks called, if any did: whose each row is, and what it took."""
    whose = {"nn_modules": ["module", "direction"], "ops": ["op", "direction", "forward_op"],
             "hlo": ["instruction", "category", "hlo_module", "kernel"]}
    tables = {name: sorted(chosen(report[name], [*columns, "calls", "launches", "own_ns", "inclusive_ns"]),
                           key=json.dumps)
              for name, columns in whose.items() if report[name]}
    return {"operations": tables} if tables else {}


def path_facts(report):
    """What the path that set the time is made of, and what it would be without some of it."""
    return {"path": {
        "paths": chosen(report["paths"], ["ranges", "length_ns", "path_ns", "certain_ns", "assumed", "stretches"]),
        "by_kind": {row["kind"]: [row["stretches"], row["total_ns"], row["assumed_ns"]] for row in report["by_kind"]},
        "kernels": {row["kernel"]: [row["on_path"], row["on_path_ns"], row["slack_ns"]]
                    for row in report["kernels"] if row["on_path"]},
        "what_if": {row["change"]: row["length_ns"] for row in report["what_if"]},
        "waits": {row["function"]: [row["calls"], row["call_ns"], row["return_ns"]] for row in report["waits"]},
    }}


def path_holds(path):
    """Its parts add up to it, it is no longer than the time, and no change makes it longer."""
    length_ns = sum(row["length_ns"] for row in path["paths"])
    path_ns = sum(row["path_ns"] for row in path["paths"])
    return (path_ns == sum(kind[1] for kind in path["by_kind"].values()) and path_ns <= length_ns and
            all(0 <= changed_ns <= length_ns for changed_ns in path["what_if"].values()))


def range_facts(report):
    """Of ranges that asked the GPU for something, and how many there are in all."""
    if not report["ranges"]:
        return {}
    rows = chosen([row for row in report["ranges"] if row["gpu_ns"]],
                  ["range", "ranges", "gpu_ns", "kernels", "copies", "fills"])
    # The longest stand for all of many.
    rows.sort(key=lambda row: (-row["gpu_ns"], row["range"]))
    return {"ranges": {"paths": len(report["ranges"]), "busy_paths": len(rows), "longest": rows[:40]}}


def module_facts(report):
    """What loading GPU code cost and what ran of it, where that was recorded."""
    if not report["modules"]:
        return {}
    return {"modules": {
        "processes": chosen(report["processes"], ["modules", "different", "size_bytes", "reading_ns", "load_ns",
                                                  "functions_ns", "not_measured", "jit_ns", "calls"]),
        "modules": chosen(report["modules"], ["hash", "load_ns", "call", "size_bytes", "arch", "functions",
                                              "functions_used", "kernels", "kernel_ns", "file"]),
        "calls": chosen(report["calls"], ["call", "calls", "modules", "load_ns", "functions_ns", "call_ns"]),
        "functions": chosen(report["functions"], ["module", "kernels", "registers", "compiled_registers",
                                                  "shared_bytes", "local_bytes", "full_name", "source"]),
    }}


def wait_facts(report):
    """What waits of the host cost, where there were any, and which could go."""
    if not report["blocked"]:
        return {}
    figures = ["calls", "blocked_ns", "busy_ns", "idle_ns", "at_once", "emptied", "gap_ns"]
    return {"waits": {
        "blocked": chosen(report["blocked"], ["function", *figures]),
        "ops": chosen(report["blocked_ops"], ["op", *figures]),
        "avoidable": chosen(report["avoidable"], ["why", "function", "where", "calls", "blocked_ns", "gap_ns", "bytes"]),
        "events": chosen(report["events"], ["events", "single_use", "records", "unused_records"]),
    }}


def profiled_facts(report):
    """Which launches were run several times for their counters, if any were."""
    rows = report["profiled"]
    return {"profiled": {"launches": {row["kernel"]: row["launches"] for row in rows},
                         "passes": {row["kernel"]: row["passes"] for row in rows},
                         "counters": sorted(chosen(report["profiled_counters"], ["kernel", "counter", "unit", "mean"]),
                                            key=json.dumps)}} if rows else {}


def figures_of(kernels, copies, api):
    """What was launched, copied and called, of three reports."""
    return {
        "kernels": summed([row for row in kernels["kernels"] if row["calls"]], "kernel", ["calls", "total_ns"]), # not only profiled
        "copies": summed(copies["copies"], "kind", ["calls", "bytes"]),
        "api": summed(api["functions"], "function", ["calls", "errors"]),
    }


def facts_of(gputrace, recording):
    """What a recording yields, as far as it may never change."""
    info = json.loads(run(gputrace, "info", "--json", recording))
    said = json.loads(run(gputrace, "report", "--json", recording, "kernels", "copies", "api", "gaps",
                          "summary", "graphs", "ops", "ranges", "modules", "waits", "critical-path", "counters"))
    kernels, copies, api, gaps, summary, graphs, ops, ranges, modules, waits, path, counters = said["reports"]
    figures = figures_of(kernels, copies, api)
    ledger = {row["class"]: row["time_ns"] if row["count"] is None else row["count"]
              for row in info["ledger"]}
    with tempfile.TemporaryDirectory() as folder:
        trace = exported(gputrace, recording, pathlib.Path(folder) / "trace.perfetto")
    return {
        "processes": [[row["name"], row["ended"]] for row in info["processes"]],
        "devices": [row["name"] for row in info["devices"]],
        # Ceilings are also those of GPUs that were measured since.
        "tables": {row["table"]: row["rows"] for row in info["tables"] if row["table"] != "ceilings"},
        "launches": ledger.get("launches"),
        "ledger": ledger,
        "kernels": figures["kernels"],
        "times": {row["kernel"]: chosen([row], ["median_ns", "min_ns", "max_ns"])[0]
                  for row in kernels["kernels"] if row["calls"]},
        "shapes": shape_facts(kernels["launch_shapes"]),
        "idle": chosen(gaps["devices"], ["device", *IDLE, "busy_ns"]),
        "waited_for": chosen(gaps["waited_for"], ["host_call", "gaps", "total_ns"]),
        "latency": chosen(gaps["launch_latency"],
                          ["launches", "calls", "min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"]),
        "summary": chosen(summary["recording"], ["duration_ns", "kernels", "copies", "copied_bytes", "fills",
                                                 "api_calls", "errors", "unfinished", "ledger"]),
        "busy": chosen(summary["devices"], ["device", "busy_ns", "busy_percent"]),
        "copies": figures["copies"],
        "fills": summed(copies["fills"], "memory", ["calls", "bytes"]),
        "api": figures["api"],
        "errors": summed(api["errors"], "result", ["calls"]),
        **graph_facts(graphs),
        **operation_facts(ops),
        **range_facts(ranges),
        **module_facts(modules),
        **wait_facts(waits),
        **path_facts(path),
        **profiled_facts(counters),
        "notes": [row["text"] for row in info["notes"]],
        "export": {name: trace[name] for name in
                   ("gpu_slices", "api_slices", "arrows", "skipped")},
    }


def differences(expected, actual, where=""):
    """Lines that say where two trees differ; exactly, and both ways."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = []
        for key in sorted(expected.keys() | actual.keys()):
            here = f"{where}.{key}" if where else key
            if key not in expected:
                found.append(f"{here}: {json.dumps(actual[key])}, which the facts do not have")
            elif key not in actual:
                found.append(f"{here}: not there, {json.dumps(expected[key])} expected")
            else:
                found += differences(expected[key], actual[key], here)
        return found
    if expected == actual and isinstance(expected, type(actual)):
        return []
    return [f"{where}: {json.dumps(actual)}, {json.dumps(expected)} expected"]


def identity_holds(ledger):
    classes = ("launches_timed", "launches_unfinished", "launches_captured", "launches_missing")
    return ledger.get("launches", 0) == sum(ledger.get(name, 0) for name in classes)


def check_exported(gputrace, recording, facts):
    """What reports say, against what can be worked out from the bytes of the export."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.perfetto"
        exported(gputrace, recording, path, "--uncompressed")
        slices = read_trace.read_work(path.read_bytes())
    kernels = [row for row in slices if row.kernel]
    reported = {name: {**facts["kernels"][name], **times} for name, times in facts["times"].items()}
    # Launches that were profiled are shown, but their times are no figures.
    timed = [row for row in kernels if "profiled" not in row.arguments]
    found = differences(reported, read_trace.spreads(timed), "exported kernels")
    counted = collections.Counter(row.name.removeprefix(PROFILED) for row in kernels if "profiled" in row.arguments)
    found += [f"title and argument do not agree whether {row.name} was profiled" for row in kernels
              if row.name.startswith(PROFILED) != ("profiled" in row.arguments)]
    found += differences(facts.get("profiled", {}).get("launches", {}), dict(counted), "profiled kernels")
    # Reports leave out the time in which launches were held up.
    comparable = not facts["tables"].get("profiled_launches")
    idle = read_trace.idleness(slices) if comparable else {}
    for gpu, row in zip(sorted(idle), facts["idle"]):
        found += differences({name: row[name] for name in IDLE}, idle[gpu], f"exported GPU {gpu}")
    for row in facts["shapes"]:
        said = {(f"{kernel.arguments.get(OCCUPANCY, 0):.6g}", f"{kernel.arguments.get(WAVES, 0):.3g}",
                 kernel.arguments.get(LIMITED_BY, "unknown"))
                for kernel in kernels if (kernel.name.removeprefix(PROFILED), kernel.arguments["grid"],
                                           kernel.arguments["block"])
                == (row["kernel"], row["grid"], row["block"])}
        if (f"{row['occupancy_percent'] or 0:.6g}", f"{row['waves_per_sm'] or 0:.3g}",
                row["limited_by"] or "unknown") not in said:
            found.append(f"exported occupancy of {row}: {said}")
    copies = {}
    for row in slices:
        if not row.kernel and row.arguments["kind"] not in ("fill", "graph"):
            entry = copies.setdefault(row.arguments["kind"], {"calls": 0, "bytes": 0})
            entry["calls"] += 1
            entry["bytes"] += row.arguments["bytes"]
    return found + differences(facts["copies"], copies, "exported copies")


def check_facts(gputrace, recording):
    expected = json.loads(facts_path(recording).read_text())
    actual = facts_of(gputrace, recording)
    # A table that came later has nothing of an older recording.
    actual["tables"] = {table: rows for table, rows in actual["tables"].items()
                        if rows or table in expected["tables"]}
    found = differences(expected, actual) + check_exported(gputrace, recording, actual)
    found += check_said(gputrace, recording)
    if not path_holds(actual["path"]):
        found.append("path: it does not add up to the time, or a change makes it longer")
    if not identity_holds(actual["ledger"]):
        found.append("ledger: launches are not the sum of their classes")
    return found


def check_import(gputrace, engine, recording):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.perfetto"
        counts = pathlib.Path(folder) / "counts.json"
        counts.write_text(json.dumps(exported(gputrace, recording, trace)))
        done = subprocess.run(["node", CHECK_TRACE, "--engine", engine, "--counts", counts, trace],
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        if done.returncode:
            found.append((done.stdout + done.stderr).rstrip())
        found += check_queries(gputrace, engine, recording, trace)
    return found


def check_slices(gputrace, recording, rows, folder):
    """Every slice of a GPU as the importer has it, against the bytes that were written."""
    trace = folder / "plain.perfetto"
    exported(gputrace, recording, trace, "--uncompressed")
    imported = [[row["ts"], row["dur"], row["name"]] for row in rows]
    written = sorted([row.start, row.end - row.start, row.name]
                     for row in read_trace.read_slices(trace.read_bytes()))
    if imported == written:
        return []
    pairs = [pair for pair in zip(imported, written) if pair[0] != pair[1]]
    return [f"GPU slices: {len(imported)} imported, {len(written)} written, such as {pairs[:1]}"]


def check_memory(gputrace, recording, rows):
    """The most that was in use of each GPU by each process, as the lines of the trace have it and as the report does."""
    found = []
    for pid in sorted({row["pid"] for row in rows}):
        found += check_memory_of(gputrace, recording, pid, [row for row in rows if row["pid"] == pid])
    return found


def check_memory_of(gputrace, recording, pid, rows):
    report = json.loads(run(gputrace, "report", "--json", "--process", str(pid), recording, "memory"))
    reported = {f"GPU {row['device'].split(':')[0]} in use": row["peak_bytes"]
                for row in report["devices"] if row["peak_bytes"]}
    drawn = {row["line"]: row["bytes"] for row in rows if row["memory"] == row["line"].replace("in use", "memory")
             and row["line"].startswith("GPU")}
    kinds = {}
    for row in rows:
        if row["line"].startswith("GPU") and " in use: " in row["line"]:
            total = row["line"].split(":")[0]
            kinds[total] = kinds.get(total, 0) + row["bytes"]
    return differences(reported, drawn, f"memory.sql of {pid}") + differences(drawn, kinds, f"memory.sql, kinds of {pid}")


def check_device_events(gputrace, recording, rows):
    """Ranges that kernels told of, as slices have them and as the report does."""
    report = json.loads(run(gputrace, "report", "--json", recording, "device-events"))
    reported, drawn = ({f"{row['kernel']}: {row['name']}": {name: row[name] for name in ("count", "total_ns")} for row in rows}
                       for rows in (report["ranges"], rows))
    return differences(reported, drawn, "device-events.sql")


def check_queries(gputrace, engine, recording, trace):
    """viewer-assets/sql, asked of the trace, against the reports of the same names."""
    queries = sorted(SQL.glob("*.sql"))
    slices = trace.with_name("slices of GPUs.sql")
    slices.write_text("select ts, dur, name from gpu_slice order by ts, dur, name")
    rows = json.loads(run("node", QUERY, engine, trace, *queries, slices))
    said = json.loads(run(gputrace, "report", "--json", recording, "kernels", "copies", "api"))
    facts = figures_of(*said["reports"])
    answers = {
        "kernels": summed(rows["kernels.sql"], "kernel", ["calls", "total_ns"]),
        "copies": summed(rows["copies.sql"], "kind", ["calls", "bytes"]),
        "api": summed(rows["api.sql"], "function", ["calls", "errors"]),
    }
    found = [f"{path.name} is compared with nothing" for path in queries
             if path.stem not in answers and path.stem not in ("memory", "device-events")]
    found += check_memory(gputrace, recording, rows["memory.sql"])
    found += check_device_events(gputrace, recording, rows["device-events.sql"])
    for name, answer in answers.items():
        found += differences(facts[name], answer, f"{name}.sql")
    return found + check_slices(gputrace, recording, rows[slices.name], trace.parent)


def accept(gputrace, recording):
    path = facts_path(recording)
    path.write_text(json.dumps(facts_of(gputrace, recording), indent=1) + "\n")
    print(f"{path}: read it, then commit it")


def check_captures():
    recordings = sorted(CAPTURES.glob("*" + SUFFIX))
    found = [] if recordings else [f"{CAPTURES}: no recording is kept there"]
    for recording in recordings:
        size = sum(path.stat().st_size for path in recording.rglob("*") if path.is_file())
        if size > MOST_BYTES:
            found.append(f"{recording.name}: {size} bytes, {MOST_BYTES} are allowed")
        if not facts_path(recording).is_file():
            found.append(f"{recording.name}: no facts; make them with --accept and read them")
    for path in sorted(CAPTURES.glob("*.facts.json")):
        if not path.with_name(path.name.replace(".facts.json", SUFFIX)).is_dir():
            found.append(f"{path.name}: facts about a recording that is not there")
    return found


def check_self():
    facts = {"a": {"x": 1, "y": 2}, "b": [1]}
    assert not differences(facts, {"b": [1], "a": {"y": 2, "x": 1}})
    assert differences(facts, {"a": {"x": 1}, "b": [1]}) == ["a.y: not there, 2 expected"]
    assert differences(facts, {"a": {"x": 1, "y": 3}, "b": [1]}) == ["a.y: 3, 2 expected"]
    assert len(differences(facts, {"a": {"x": 1, "y": 2, "z": 0}, "b": []})) == 2
    assert differences({"a": 0}, {"a": None}) and differences({"a": 1}, {"a": 1.0})
    assert summed([{"k": "x", "n": 1}, {"k": "x", "n": 2}], "k", ["n"]) == {"x": {"n": 3}}
    assert identity_holds({"launches": 3, "launches_timed": 2, "launches_missing": 1})
    assert not identity_holds({"launches": 3, "launches_timed": 2})


def main(words):
    check_self()
    if words == ["captures"]:
        checks = {"": check_captures()}
    elif len(words) >= 3 and words[1] == "facts":
        checks = {name: check_facts(words[0], recording_of(name)) for name in words[2:]}
    elif len(words) >= 4 and words[1] == "import":
        checks = {name: check_import(words[0], words[2], recording_of(name))
                  for name in words[3:]}
    elif len(words) >= 3 and words[1] == "--accept":
        for name in words[2:]:
            accept(words[0], recording_of(name))
        return 0
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for name, found in checks.items():
        for line in found:
            print(f"{name}: {line}" if name else line)
    return 1 if any(checks.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
