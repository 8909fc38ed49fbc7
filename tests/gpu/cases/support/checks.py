# SPDX-License-Identifier: Apache-2.0
"""Facts that hold for every recording, and for every program that runs with and without gputrace."""
import re
import sys

from cases.support.bench import TREE, expect


def without_times(text):
    """Measured figures differ from run to run: every number before a unit of time or rate, and every
    number with a fraction, reads as #."""
    text = re.sub(r"\d+(?:\.\d+)?(?=\s*(?:ns|us|ms|s|[KMGT]i?B/s|%)\b)", "#", text)
    return re.sub(r"\d+\.\d+", "#", text)


def without_varying(text, names):
    return re.sub(rf"^({'|'.join(names)})=\d+$", r"\1=#", text, flags=re.M) if names else text


def expect_same(plain, traced, exact, varies=()):
    expect(plain.status == traced.status, f"exit status {plain.status} without, {traced.status} with gputrace: "
           + traced.tail())
    texts = [ended.stdout if exact else without_varying(without_times(ended.stdout), varies)
             for ended in (plain, traced)]
    expect(texts[0] == texts[1], f"its output changed: {texts[0][-200:]!r} without, {texts[1][-200:]!r} with gputrace")


def expect_order(bench, recording):
    """Every kernel starts after the call that launched it: the shortest launch latency is not negative."""
    report = bench.report(recording, "gaps")
    lowest = [row[column] for section, rows in report.items() if "latency" in section and isinstance(rows, list)
              for row in rows for column in row if column.startswith("min") and row[column] is not None]
    # Kernels of graphs alone have no launch of their own.
    graphs = bench.report(recording, "graphs")["share"]
    in_graphs = bool(graphs) and graphs[0]["kernels"] > 0 and graphs[1]["kernels"] == 0
    expect(lowest or in_graphs, f"{recording.name}: the report gaps says nothing about launch latency")
    if not lowest:
        return {"launch_latency_min_ns": None}
    expect(min(lowest) >= 0, f"a kernel started {-min(lowest)} ns before its launch")
    return {"launch_latency_min_ns": min(lowest)}


def expect_complete(bench, recording):
    """A program that ended by itself leaves a ledger in which nothing is missing."""
    ledger = bench.report(recording, "summary")["ledger"]
    expect(ledger, "the recording has no ledger")
    missing = {row["class"]: row["value"] for row in ledger if row["is_loss"] == "yes" and row["value"]}
    expect(not missing, f"not in the recording: {missing}")


def check_expect(bench, recording, stdout, name):
    output = bench.folder / f"{recording.stem}.stdout"
    output.write_text(stdout)
    done = bench.run([sys.executable, str(TREE / "scripts" / "check-expect"), "--gputrace", bench.gputrace,
                      str(TREE / "samples" / f"{name}.expect"), str(output), str(recording)])
    expect(done.status == 0, f"facts of {name}.expect: {done.stdout.strip()[-300:]} {done.stderr.strip()[-300:]}")


def close(seen, expected, percent, what):
    off = 100 * abs(seen - expected) / expected
    expect(off <= percent, f"{what}: {seen:.1f} and {expected:.1f}, {off:.1f} % apart")


def expect_shares(bench, recording):
    """No share of these reports is below 0 or above 100."""
    for name in ("summary", "gaps", "streams", "kernels", "ranges", "waits", "api", "memory", "advice"):
        for title, rows in bench.report(recording, name).items():
            for row in (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else []:
                wrong = {column: value for column, value in row.items()
                         if column.endswith("_percent") and isinstance(value, (int, float)) and not -1e-9 <= value <= 100 + 1e-9}
                expect(not wrong, f"{name}, {title}: {wrong}")
