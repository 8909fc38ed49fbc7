# SPDX-License-Identifier: Apache-2.0
"""What holds of every column, by its unit, whatever the world."""

# Shares that may exceed 100: sums over threads, what copies of the hardware can do, and differences.
ABOVE = {"efficiency_percent", "difference_percent"}
# May be negative: differences, times between two clocks.
NEGATIVE = {"difference_percent", "saved_ns", "saved_percent", "priority"}


def broken(said):
    """((report, table), row, column, what should hold, what was said)"""
    for name, part in said.items():
        for table, rows in part.items():
            if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
                continue
            for number, row in enumerate(rows):
                for column, value in row.items():
                    if isinstance(value, bool) or not isinstance(value, (int, float)):
                        continue
                    if column.endswith("_percent") and column not in ABOVE and value > 100.0001:
                        yield (name, table), (number,), column, "at most 100", value
                    if value < 0 and column not in NEGATIVE:
                        yield (name, table), (number,), column, "at least 0", value
