# SPDX-License-Identifier: Apache-2.0
"""Invariants of every column by its unit, and of parts and wholes, whatever the world. Rows are those of JSON."""

# Shares that may exceed 100: what the hardware does beyond its declared rates, differences, and sums of the same kind.
ABOVE = {"efficiency_percent", "peak_percent", "difference_percent"}
# May be negative: differences, and times between two clocks that are only known to some nanoseconds.
NEGATIVE = {"difference_percent", "priority", "more_ns"}
LATENCIES = {"min_ns", "p50_ns"}

# Rows that JSON has at most
SHOWN = {"critical-path": 20, "memory": 10}

# (report, table of the parts, column of the parts, table of the whole, column of the whole, what tells the wholes apart)
SUMS = [
    ("gaps", "waited_for", "total_ns", "devices", "gap_ns", "device"),
    ("gaps", "waited_for", "share_percent", 100, None, "device"),
    ("gaps", "gap_sizes", "total_ns", "devices", "gap_ns", "device"),
    ("gaps", "gap_sizes", "gaps", "devices", "gaps", "device"),
    ("gaps", "gap_sizes", "share_percent", 100, None, "device"),
    ("kernels", "kernels", "share_percent", 100, None, None),
    ("kernels", "families", "share_percent", 100, None, None),
    ("kernels", "families", "total_ns", "kernels", "total_ns", None),
    ("kernels", "families", "calls", "kernels", "calls", None),
    ("kernels", "launch_shapes", "total_ns", "kernels", "total_ns", None),
    ("kernels", "launch_shapes", "calls", "kernels", "calls", None),
    ("kernels", "launch_shapes", "total_ns", "kernels", "total_ns", "kernel"),
    ("occupancy", "occupancy", "total_ns", "devices", "total_ns", "device"),
    ("copies", "sizes", "total_ns", "copies", "total_ns", None),
    ("copies", "sizes", "bytes", "copies", "bytes", None),
    ("copies", "sizes", "calls", "copies", "calls", None),
    ("graphs", "share", "kernels_percent", 100, None, None),
    ("graphs", "share", "kernel_ns_percent", 100, None, None),
    ("waits", "meanwhile", "blocked_ns", "blocked", "blocked_ns", None),
    ("waits", "meanwhile", "busy_ns", "blocked", "busy_ns", None),
    ("waits", "meanwhile", "idle_ns", "blocked", "idle_ns", None),
    ("waits", "meanwhile", "calls", "blocked", "calls", None),
    ("waits", "meanwhile", "emptied", "blocked", "emptied", None),
    ("waits", "meanwhile", "gap_ns", "blocked", "gap_ns", None),
    ("memory", "leaks", "bytes", "memory", "kept_bytes", "process"),
    ("memory", "leaks", "count", "memory", "kept", "process"),
    ("memory", "peak", "bytes", "devices", "peak_bytes", "device"),
    ("critical-path", "by_kind", "total_ns", "paths", "path_ns", None),
    ("critical-path", "by_kind", "stretches", "paths", "stretches", None),
    ("critical-path", "by_range", "total_ns", "paths", "path_ns", None),
    ("roofline", "kernels", "calls", "kernels", "calls", "kernel"),
]
# (report, table, columns that add up, their sum)
ADD_UP = [
    ("gaps", "devices", ("active_ns", "gap_ns"), "span_ns"),
    ("gaps", "devices", ("busy_percent", "idle_percent"), 100),
    ("waits", "meanwhile", ("busy_ns", "copying_ns", "idle_ns"), "blocked_ns"),
    ("energy", "devices", ("active_joules", "quiet_joules", "untold_joules"), "joules"),
]
# (report, table, column that is no larger, than this one)
AT_MOST = [
    ("summary", "devices", "overlap_ns", "copy_ns"),
    ("gaps", "devices", "busy_ns", "active_ns"),
    ("kernels", "kernels", "min_ns", "median_ns"),
    ("kernels", "kernels", "median_ns", "max_ns"),
    ("kernels", "kernels", "max_ns", "total_ns"),
    ("streams", "devices", "overlap_ns", "active_ns"),
    ("streams", "devices", "hidden_copy_ns", "copy_ns"),
    ("streams", "streams", "hidden_copy_ns", "copy_ns"),
    ("ranges", "ranges", "idle_ns", "span_ns"),
    ("ranges", "ranges", "captured", "kernels"),
    ("ranges", "ranges", "open", "ranges"),
    ("steps", "each_step", "busy_ns", "wall_ns"),
    ("steps", "each_step", "quiet_ns", "wall_ns"),
    ("steps", "each_step", "host_ns", "wall_ns"),
    ("waits", "blocked", "idle_ns", "blocked_ns"),
    ("waits", "blocked", "busy_ns", "blocked_ns"),
    ("waits", "avoidable", "emptied", "calls"),
    ("waits", "events", "single_use", "events"),
    ("waits", "events", "unused_records", "records"),
    ("waits", "dependencies", "held", "calls"),
    ("waits", "dependencies", "max_held_ns", "held_ns"),
    ("graphs", "runs", "busy_ns", "span_ns"),
    ("graphs", "runs", "critical_ns", "span_ns"),
    ("memory", "devices", "now_bytes", "peak_bytes"),
    ("memory", "memory", "now_bytes", "peak_bytes"),
    ("memory", "devices", "kept_bytes", "peak_bytes"),
    ("ops", "ops", "own_ns", "inclusive_ns"),
    ("ops", "ops", "own_wall_ns", "wall_ns"),
    ("ops", "ops", "own_api_ns", "own_wall_ns"),
    ("critical-path", "paths", "certain_ns", "path_ns"),
    ("critical-path", "paths", "path_ns", "length_ns"),
    ("critical-path", "kernels", "on_path_ns", "total_ns"),
    ("critical-path", "kernels", "on_path", "calls"),
    ("critical-path", "waits", "return_ns", "call_ns"),
    ("critical-path", "by_range", "gpu_ns", "total_ns"),
    ("energy", "devices", "shared_joules", "active_joules"),
    ("energy", "work", "joules", "at_most_joules"),
    ("energy", "ranges", "joules", "at_most_joules"),
]


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def tables(said):
    for name, part in said.items():
        for table, rows in part.items():
            if isinstance(rows, list) and rows and isinstance(rows[0], dict):
                yield (name, table), rows


def by_unit(said):
    for table, rows in tables(said):
        for place, row in enumerate(rows):
            for column, value in row.items():
                if not number(value):
                    continue
                if column.endswith("_percent") and column not in ABOVE and value > 100.0001:
                    yield table, (place,), column, "at most 100", value
                if value < 0 and column not in NEGATIVE and not (table[1] == "launch_latency" and column in LATENCIES):
                    yield table, (place,), column, "at least 0", value


def total(rows, column):
    values = [row.get(column) for row in rows]
    return sum(value for value in values if number(value)) if any(number(value) for value in values) else None


def same(left, right, parts):
    return left is None or right is None or abs(left - right) <= max(1e-6 * abs(right), 0 if isinstance(right, int) else 1e-3 * parts)


def sums(said, restricted, held):
    for name, table, column, whole, whole_column, key in SUMS:
        rows = said.get(name, {}).get(table) or []
        if len(rows) >= SHOWN.get(name, len(rows) + 1):
            continue # the rest is not there
        for value in {row.get(key) for row in rows} if key else [None]:
            parts = [row for row in rows if not key or row.get(key) == value]
            if isinstance(whole, int):
                right = whole
            else:
                right = total([row for row in said[name].get(whole) or [] if not key or row.get(key) == value],
                              whole_column)
            found = total(parts, column)
            if parts and found and not same(found, right, len(parts)):
                yield (name, table), (value,), f"sum of {column}", right, found
    for name, table, columns, whole in ADD_UP:
        for place, row in enumerate(said.get(name, {}).get(table) or []):
            values = [row.get(column) for column in columns]
            right = whole if isinstance(whole, int) else row.get(whole)
            if held and name == "waits" and all(number(value) for value in values) and sum(values) < right:
                continue # the rest is not measured
            if values and all(number(value) for value in values) and not same(sum(values), right, 3):
                yield (name, table), (place,), " + ".join(columns), right, sum(values)
    for name, table, small, large in AT_MOST:
        if name == "critical-path" and (restricted or said.get(name, {}).get("by_process")):
            continue # the path goes over other work, and what is on the paths of two processes counts for each
        for place, row in enumerate(said.get(name, {}).get(table) or []):
            if (name, table) == ("graphs", "runs") and row["total_ns"] is None:
                continue # launches of which some were recorded as a whole: means of others than span_ns is of
            if number(row.get(small)) and number(row.get(large)) and row[small] > row[large] + 1:
                yield (name, table), (place,), f"{small} above {large}", row[large], row[small]


def gains(said):
    """No change saves more than all there is, and shares go with times."""
    whole = said["summary"]["recording"][0]["duration_ns"]
    for place, row in enumerate(said.get("advice", {}).get("advice") or []):
        if row["gain_ns"] is None:
            continue
        if row["gain_ns"] > whole:
            yield ("advice", "advice"), (place, row["rule"]), "gain_ns", f"at most {whole}", row["gain_ns"]
        if not same(row["gain_percent"], 100 * row["gain_ns"] / whole if whole else None, 1):
            yield ("advice", "advice"), (place, row["rule"]), "gain_percent", 100 * row["gain_ns"] / whole, row["gain_percent"]
    changes = said.get("critical-path", {}).get("what_if") or []
    for place, row in enumerate(changes):
        if not same(row["length_ns"] + row["saved_ns"], changes[0]["length_ns"], 1):
            yield ("critical-path", "what_if"), (place,), "length_ns + saved_ns", changes[0]["length_ns"], row["length_ns"]


def failures(said):
    """Report errors counts by process what report api counts by function; of each process one row is the first at most."""
    if "errors" not in said or "api" not in said or any("inside other calls" in text for text in said["errors"].get("remarks", [])):
        return
    counts = [{}, {}]
    for sums, name in zip(counts, ("api", "errors")):
        for row in said[name].get("errors") or []:
            sums[row["code"]] = sums.get(row["code"], 0) + row["calls"]
    if counts[0] != counts[1]:
        yield ("errors", "errors"), (), "calls by code", counts[0], counts[1]
    rows = said["errors"].get("errors") or []
    for process in {row["process"] for row in rows if row["process"]}:
        firsts = [row["time_ns"] for row in rows if row["process"] == process and row["first"] == "first"]
        least = min(row["time_ns"] for row in rows if row["process"] == process)
        if len(firsts) > 1 or firsts and firsts[0] != least:
            yield ("errors", "errors"), (process,), "first", least, firsts


# Columns whose figures of a window and of the rest add up to those of the whole, and reports where they need not
PIECES = {"calls", "total_ns", "bytes", "kernels", "copies", "copied_bytes", "fills", "own_ns", "launches", "allocations",
          "allocated_bytes", "frees", "errors", "busy_ns", "copy_ns", "active_ns", "blocked_ns", "marks", "records", "joules", "active_joules", "quiet_joules", "covered_ns"}
WHOLE = {"critical-path", "startup", "graphs", "advice", "hazards", "links", "modules", "outliers", "ranges", "families", "bandwidth", "memory", "waited_on", "avoidable", "work",
         "dependencies", "replayable", "gap_sizes"}


def keyed(rows):
    """Rows by the texts in them, but for sentences on where a figure is from and the forward operations that check.py puts
    together, and the sizes that classes begin with; without those that nothing tells apart."""
    found = {}
    for row in rows:
        key = tuple((column, value) for column, value in row.items()
                    if isinstance(value, str) and column not in ("source", "evidence", "forward_op") or value is None and column == "device" or column.startswith("from_"))
        found.setdefault(key, []).append(row)
    return {key: some[0] for key, some in found.items() if len(some) == 1}


def pieces(whole, first, second):
    """What --to and --from leave of a recording at one moment, against all of it."""
    if not first or not second:
        return # nothing begins in one of them, though something may run on
    for table, rows in tables(whole):
        name, part = table
        if table == ("summary", "recording") and rows[0].get("unfinished"):
            continue # what has no time is in no window
        if name == "errors":
            continue # a row tells of the first call, which is another one in each piece; failures() counts them
        if name in WHOLE or part in WHOLE or part.startswith("top_") or len(rows) >= 20:
            continue
        sides = [keyed(side.get(name, {}).get(part) or []) for side in (first, second)]
        for key, row in keyed(rows).items():
            for column in PIECES & row.keys() - {"calls" if name == "ops" and whole["graphs"]["execs"] else ""}: # launches are
                values = [side.get(key, {}).get(column, 0) for side in sides]
                if None in values:
                    if name == "ops":
                        continue # of operations that began before the window it is not known
                    values = [value or 0 for value in values]
                if number(row[column]) and not same(sum(values), row[column], 2):
                    yield table, tuple(value for _, value in key), f"{column} of two pieces", row[column], sum(values)


# Tables that a filter by process or by GPU shares out: each of their rows is of one of them, or is a sum over them.
SHARED_OUT = {("kernels", "kernels"), ("kernels", "families"), ("kernels", "launch_shapes"), ("copies", "copies"),
              ("copies", "fills"), ("copies", "sizes"), ("occupancy", "occupancy"), ("graphs", "share")}
OF_PROCESSES = {("api", "functions"), ("api", "errors"), ("waits", "waits"), ("waits", "blocked"), ("ranges", "ranges")}
ADDED = {"calls", "total_ns", "bytes", "errors", "unfinished", "profiled", "kernels", "copies", "fills", "marks", "ranges", "wall_ns",
         "copied_bytes", "blocked_ns", "failed"}


def partition(whole, sides, by_process):
    """Rows that a filter leaves for each process, or each GPU, against all rows."""
    for table in SHARED_OUT | (OF_PROCESSES if by_process else set()):
        name, part = table
        rows = whole[name][part]
        if len(rows) >= 20:
            continue
        keyed_sides = [keyed(side[name][part]) if side else {} for side in sides]
        for key, row in keyed(rows).items():
            for column in ADDED & row.keys() - {"kernels" if part == "families" else ""}: # how many names
                added = sum(side.get(key, {}).get(column) or 0 for side in keyed_sides)
                if number(row[column]) and added != row[column]:
                    yield table, tuple(value for _, value in key), f"{column} of all parts", row[column], added


def broken(said, restricted, held):
    """((report, table), row, column, what should hold, what was said)"""
    yield from by_unit(said)
    yield from sums(said, restricted, held)
    yield from gains(said)
    yield from failures(said)
