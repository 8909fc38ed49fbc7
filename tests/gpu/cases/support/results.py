# SPDX-License-Identifier: Apache-2.0
"""Results of the tests, as a table, as JSON and as an archive of recordings."""
import datetime
import json
import pathlib
import subprocess
import tarfile
import time

from cases.support.bench import Failed
from cases.support.readings import size_of

# Recordings larger than this stay out of traces.tar.gz; it is to be carried about.
KEEP_BYTES = 6 << 20


def run_test(bench, name, limit_s, function):
    begin = time.monotonic()
    bench.test_end = begin + limit_s
    row = {"test": name, "ok": False}
    try:
        bench.time_left()
        row["figures"] = function(bench)
        row["ok"] = True
    except Failed as failure:
        row["why"] = str(failure)
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as failure:
        row["why"] = f"{type(failure).__name__}: {failure}"
    row["seconds"] = round(time.monotonic() - begin, 1)
    return row


def brief(row):
    """The row's figures in a few words, or why it failed."""
    if not row["ok"]:
        return row["why"].replace("\n", " ").replace("|", "/")[:300]
    words = []
    for name, value in (row["figures"] or {}).items():
        if name == "tries":
            words.append(f"{len(value)} tries, {sum(one['api_calls'] for one in value)} calls kept")
        elif isinstance(value, dict):
            words.append(f"{name} " + "/".join(str(part) for part in value.values()))
        elif name not in ("plain_s", "traced_s"):
            words.append(f"{name} {value:.1f}" if isinstance(value, float) else f"{name} {value}")
    return ", ".join(words)


def first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else None


def describe_machine(bench):
    smi = first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]) or ""
    device, _, driver = smi.partition(", ")
    return {"date": datetime.date.today().isoformat(), "device": device or None, "driver": driver or None,
            "gputrace": first_line([bench.gputrace, "--version"])}


def describe(machine, rows):
    lines = ["# GPU tests", ""] + [f"- {name}: {value}" for name, value in machine.items() if value]
    lines += ["", "| test | result | seconds | figures |", "| --- | --- | ---: | --- |"]
    lines += [f"| {row['test']} | {'ok' if row['ok'] else 'FAILED'} | {row['seconds']} | {brief(row)} |"
              for row in rows]
    return "\n".join(lines) + "\n"


def save(bench, folder, machine, rows):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    left_out = []
    with tarfile.open(folder / "traces.tar.gz", "w:gz") as archive:
        for recording in bench.recordings:
            for path in (recording, recording.with_suffix(".perfetto")):
                size = size_of(path) if path.is_dir() else path.stat().st_size if path.exists() else 0
                if size > KEEP_BYTES:
                    left_out.append(f"{path.name} ({size} bytes)")
                elif path.exists():
                    archive.add(path, arcname=path.name)
    result = {"version": 1, "machine": machine, "tests": rows, "left_out_of_traces": left_out}
    (folder / "gpu-tests.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / "gpu-tests.md").write_text(describe(machine, rows))
