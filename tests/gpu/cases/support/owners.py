# SPDX-License-Identifier: Apache-2.0
"""Shares of the GPU's time by owner, beside those that another profiler names."""
from cases.support.bench import expect


def busy(bench, recording):
    """How many kernels, copies and fills there are, and their GPU time."""
    copies = bench.report(recording, "copies")
    tables = (bench.report(recording, "kernels")["kernels"], copies["copies"], copies.get("fills", []))
    return [sum(row[column] or 0 for table in tables for row in table) for column in ("calls", "total_ns")]


def busy_ns(bench, recording):
    return busy(bench, recording)[1]


def sums_by(rows, key_of):
    """[launches, time] of rows of the report ops, by what key_of makes of a row."""
    sums = {}
    for row in rows:
        row_sum = sums.setdefault(key_of(row), [0, 0])
        row_sum[0] += row["launches"]
        row_sum[1] += row["own_ns"]
    return {key: pair for key, pair in sums.items() if pair[0]}


def with_rest(sums, whole):
    """The same with what is nobody's as that of ""."""
    return {**sums, "": [whole[at] - sum(pair[at] for pair in sums.values()) for at in (0, 1)]}


def expect_agreement(mine, theirs, figures, whose, points=2, launches_percent=1):
    """Two runs agree about owners, each with [launches, time]: on their shares of the time and the launches they made."""
    totals = [sum(time for _, time in side.values()) for side in (mine, theirs)]
    expect(all(totals), f"no time at all: {whose} {theirs}, gputrace {mine}")
    apart = []
    for owner in sorted(set(mine) | set(theirs)):
        (our_launches, our_time), (launches, time) = (side.get(owner, (0, 0)) for side in (mine, theirs))
        shares = 100 * our_time / totals[0], 100 * time / totals[1]
        apart.append((abs(shares[0] - shares[1]), abs(our_launches - launches) > launches_percent / 100 * launches,
                      f"{owner or 'nobody'}: {our_launches} launches, {shares[0]:.2f} % by gputrace; "
                      f"{launches} launches, {shares[1]:.2f} % by {whose}"))
    apart.sort(key=lambda row: (-row[1], -row[0]))
    figures["owners"] = len(apart)
    figures["most_apart_points"] = max(row[0] for row in apart)
    wrong = [text for difference, launches, text in apart if difference > points or launches]
    expect(not wrong, f"{len(wrong)} of {len(apart)} owners differ: " + "; ".join(wrong[:8]))
