#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema.py GPUTRACE CAPTURES: the JSON of every report on real recordings is what report --schema says.

The schema comes from the headings of reports on an empty recording, the JSON from real ones: a table or a column that
only some recordings have, a cell of another type, and a column without a meaning are found.
"""
import json
import pathlib
import subprocess
import sys

TYPES = {"string": str, "integer": int, "number": (int, float)}
WITH = ["h200-pytorch", "h100-step-ops", "h200-graphs", "h200-waits", "h200-traffic-samples", "h200-traffic-counters", "h200-oom",
        "h200-device_phases", "h200-jax-hlo", "h100-workers"]


def ask(*words):
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def check_row(where, row, schema):
    assert list(row) == list(schema["properties"]) == schema["required"], f"{where}: {list(row)}"
    for name, value in row.items():
        kind, null = schema["properties"][name]["type"]
        assert null == "null" and (value is None or (isinstance(value, TYPES[kind]) and not isinstance(value, bool))), \
            f"{where}: {name} is {value!r}, not {kind}"


def check_report(where, report, schema):
    assert [*report] == [name for name in schema["required"]], f"{where}: {[*report]}, not {schema['required']}"
    rows = 0
    for name, table in report.items():
        if name in ("report", "remarks"):
            continue
        for row in table:
            check_row(f"{where} {report['report']} {name}", row, schema["properties"][name]["items"])
            rows += 1
    return rows


def main():
    gputrace, captures = sys.argv[1], pathlib.Path(sys.argv[2])
    schema = ask(gputrace, "report", "--schema")
    for report, of_report in schema["$defs"].items():
        for table, of_table in of_report["properties"].items():
            for column, of_column in of_table.get("items", {}).get("properties", {}).items():
                assert of_column["description"], f"{report} {table} {column} has no meaning"
    rows = 0
    for name in WITH:
        answer = ask(gputrace, "report", "--json", str(captures / f"{name}.gputrace"), "all")
        assert answer["version"] == schema["anyOf"][1]["properties"]["version"]["const"]
        assert {report["report"] for report in answer["reports"]} == set(schema["$defs"])
        for report in answer["reports"]:
            rows += check_report(name, report, schema["$defs"][report["report"]])
    assert rows > 8000, rows
    one = ask(gputrace, "report", "--schema", "kernels")
    assert one["$defs"] == {"kernels": schema["$defs"]["kernels"]}
    assert one["anyOf"][0]["anyOf"] == [{"$ref": "#/$defs/kernels"}]
    print(f"{rows} rows of {len(schema['$defs'])} reports are as the schema says")


main()
