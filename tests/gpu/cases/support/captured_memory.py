# SPDX-License-Identifier: Apache-2.0
"""Checks of scripts/run-gpu-tests on the memory in a bundle, beside what tests/gpu/programs/cuda/capture_cases.cu says of it."""

# The kind of memory of a bundle, by what tests/gpu/programs/cuda/capture_cases.cu calls it.
KINDS = {"device": "device", "pool": "pool", "managed": "managed", "pinned": "host", "registered": "host",
         "mapped": "mapped", "variable": "variable"}
ROUNDED = 2 << 20  # that memory may be larger than what the program asked for, all in all
SHOWN = 4096  # values of each memory that show_bundle is to print


def memory_at(shown, address):
    """The memory of a bundle, as show_bundle prints it, that the address is in; None: it is in none."""
    return next((row for row in shown["memory"] if row["address"] <= address < row["address"] + row["size"]), None)


def told_memory(text):
    """(address, size, first value) as a program says it: 0x7f0000000000 65536 1000000."""
    address, size, first = text.split()
    return int(address, 16), int(size), int(first)


def wrong_memory(shown, what, told):
    """Fault of the memory of a bundle that the program calls so, whose element i is i more than the first;
    an empty text: none."""
    address, size, first = told
    row = memory_at(shown, address)
    if not row:
        return f"{what}: nothing is at 0x{address:x}"
    if row["kind"] != KINDS[what]:
        return f"{what}: it is of the kind {row['kind']}"
    before = address - row["address"]
    if before + size > row["size"] or row["size"] - size >= ROUNDED:
        return f"{what}: {row['size']} bytes from 0x{row['address']:x} on, not {size} from 0x{address:x} on"
    elements = row["size"] // 4
    step = -(-elements // SHOWN) if elements > SHOWN else 1
    places = [(place, place * step - before // 4) for place in range(len(row["before"]))]
    mine = [(place, element) for place, element in places if 0 <= element < size // 4]
    if len(mine) < min(SHOWN, size // 4) // 2:
        return f"{what}: {len(mine)} values are there"
    wrong = [element for place, element in mine if row["before"][place] != first + element]
    return f"{what}: {len(wrong)} values are others, first that of element {wrong[0]}" if wrong else ""
