#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real recordings that are kept, and the facts that each of them must yield for ever.

  check_golden.py GPUTRACE facts NAME...        info and reports say what NAME.facts.json says
  check_golden.py GPUTRACE import ENGINE NAME...  what export writes is what the importer finds,
                                                and viewer-assets/sql answers as the reports do
  check_golden.py GPUTRACE --accept NAME...     writes NAME.facts.json: read it before committing
  check_golden.py captures                      there are some, small, each with its facts

A NAME is one of captures/NAME.gputrace, or a path that ends so.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE / "captures"
CHECK_TRACE = HERE.parent / "importer" / "check_trace.mjs"
QUERY = HERE.parent / "importer" / "query.mjs"
SQL = HERE.parents[1] / "viewer-assets" / "sql"
MOST_BYTES = 300_000
SUFFIX = ".gputrace"
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


def exported(gputrace, recording, path):
    said = json.loads(run(gputrace, "export", recording, "--json", "--force", "-o", path))
    return said["exported"][0]


def facts_of(gputrace, recording):
    """What a recording yields, as far as it may never change."""
    info = json.loads(run(gputrace, "info", "--json", recording))
    said = json.loads(run(gputrace, "report", "--json", recording, "kernels", "copies", "api"))
    kernels, copies, api = said["reports"]
    ledger = {row["class"]: row["time_ns"] if row["count"] is None else row["count"]
              for row in info["ledger"]}
    with tempfile.TemporaryDirectory() as folder:
        trace = exported(gputrace, recording, pathlib.Path(folder) / "trace.perfetto")
    return {
        "processes": [[row["name"], row["ended"]] for row in info["processes"]],
        "devices": [row["name"] for row in info["devices"]],
        "tables": {row["table"]: row["rows"] for row in info["tables"]},
        "launches": ledger.get("launches"),
        "ledger": ledger,
        "kernels": summed(kernels["kernels"], "kernel", ["calls", "total_ns"]),
        "copies": summed(copies["copies"], "kind", ["calls", "bytes"]),
        "fills": summed(copies["fills"], "memory", ["calls", "bytes"]),
        "api": summed(api["functions"], "function", ["calls", "errors"]),
        "errors": summed(api["errors"], "result", ["calls"]),
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


def check_facts(gputrace, recording):
    expected = json.loads(facts_path(recording).read_text())
    actual = facts_of(gputrace, recording)
    # A table that came later has nothing of an older recording.
    actual["tables"] = {table: rows for table, rows in actual["tables"].items()
                        if rows or table in expected["tables"]}
    found = differences(expected, actual)
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


def check_queries(gputrace, engine, recording, trace):
    """viewer-assets/sql, asked of the trace, against the reports of the same names."""
    queries = sorted(SQL.glob("*.sql"))
    rows = json.loads(run("node", QUERY, engine, trace, *queries))
    facts = facts_of(gputrace, recording)
    answers = {
        "kernels": summed(rows["kernels.sql"], "kernel", ["calls", "total_ns"]),
        "copies": summed(rows["copies.sql"], "kind", ["calls", "bytes"]),
        "api": summed(rows["api.sql"], "function", ["calls", "errors"]),
    }
    found = [f"{path.name} is compared with nothing" for path in queries
             if path.stem not in answers]
    for name, answer in answers.items():
        found += differences(facts[name], answer, f"{name}.sql")
    return found


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


sys.exit(main(sys.argv[1:]))
