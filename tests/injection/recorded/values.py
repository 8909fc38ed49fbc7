# SPDX-License-Identifier: Apache-2.0
"""Contents of a recording, as values that do not differ from run to run where nothing else does.

A table is a list of columns and rows, as show_recording prints them. Several features of each column are digested:

    a  all values, in their order
    m  all values, sorted: where rows come in another order each time
    n  which of them are equal, by first appearance: of handles, addresses, numbers of threads
    c  how often each value is there, sorted
    z  how many rows there are, and how many of them say nothing

Who keeps a digest keeps those features that were the same in all runs (kept.py).
"""
import hashlib
import json
import re

# Further rows of a table only count.
MOST_ROWS = 4000
NOTHING = {"", "0", "-"}
LETTERS = "amncz"
# Letters that say part of what a letter says.
IMPLIED = {"a": "mncz", "m": "cz", "n": "cz", "c": "z", "z": ""}

# Columns that the machine, its time or its load decide, not the program.
LEFT_OUT = re.compile(r"""
    processes\.(environment|host|kernel_release|architecture|cpus|capture) | devices\.host
    | pci_devices\.(host|path|cpus|numa_node|device) | gpu_pairs\.(from|to) | contexts\.memory_bytes
    | (raw\ )?copy_places?\.(cpu|cpu_node|memory_node|pages|pages_there)
    | raw\ meta\.(host|kernel|machine|boot_id|cpus|environment|written|tool|cupti_path) | .*\.started_ticks
    | (bundle|bundle\.steps)\.(.*\.)?correlation | bundle\.(origin\.)?(gputrace|date|host|pid|job_ns)
    | bundle\.steps\.(start|end)_ns | ledgers\..*_ns | device_clocks\..*
""", re.X)
# Tables that say nothing of the program, or the same as others.
NO_TABLES = {"clocks", "numa_nodes", "raw clock", "raw counter", "raw ledger", "raw written", "raw context_memory",
             "raw device_clock", "raw device"}
# Numbers that are nobody's choice: that two of them are equal is all that they say.
NUMBERED = re.compile(r"(^|.*_)(handle|pid|tid)$|^(unit|processors)$")
# Allocators give them out, and give them out again, in an order of their own: that there is one is all that they say.
GIVEN = re.compile(r"(^|.*_)(address|pointer|base)$")
# They differ each time, and so it is by chance where two are equal.
CHANCE = re.compile(r".*(_ns|_ticks|_bound)$")
# In sentences of notes.
DURATIONS = re.compile(r"\b[\d.]+ (ns|us|ms|s)\b")
LABELS = ("name", "function", "text", "kind", "size_bytes", "type", "number")


class Table:
    def __init__(self, columns):
        self.columns = columns  # (name, type, target)
        self.rows = []
        self.more = 0

    @property
    def count(self):
        return str(len(self.rows) + self.more)

    def add(self, cells):
        if len(self.rows) < MOST_ROWS:
            self.rows.append(cells)
        else:
            self.more += 1


def parse(text):
    """The tables of what show_recording printed, by name. Those of several captures with one name are one."""
    tables = {}
    table = None
    for line in text.split("\n")[:-1]:
        cells = line.split("\t")
        if line.startswith("= "):
            columns = [tuple(cell.split(":")) for cell in cells[1:]]
            table = tables.setdefault(cells[0][2:], Table(columns))
        else:
            table.add(cells)
    for name in ("ledgers", "raw meta"):
        if name in tables:
            pivot(tables, name)
    if "pci_devices" in tables:  # of the machine's network adapters there is no uuid
        leave_rows(tables["pci_devices"], "uuid")
    rank_correlations(tables)
    return {name: table for name, table in tables.items() if name not in NO_TABLES}


def rank_correlations(tables):
    """Calls of gputrace's own take numbers too, and it is by chance how many: which of those that are there it is."""
    places = [(table, i) for table in tables.values() for i, column in enumerate(table.columns)
              if column[0] == "correlation"]
    numbers = sorted({int(row[i]) for table, i in places for row in table.rows} - {0})
    ranks = {str(number): str(i + 1) for i, number in enumerate(numbers)}
    for table, i in places:
        for row in table.rows:
            row[i] = ranks.get(row[i], row[i])


def leave_rows(table, column):
    """Those alone that have something in that column."""
    at = [name for name, _, _ in table.columns].index(column)
    table.rows = [row for row in table.rows if row[at]]


def pivot(tables, name):
    """A table of names and values becomes one with a column for each name."""
    old = tables[name]
    at = {column[0]: i for i, column in enumerate(old.columns)}
    values = {}
    for row in old.rows:
        values.setdefault(row[at["name"]], []).append(row[at["value"]])
    table = tables[name] = Table([(key, "count", "") for key in sorted(values)])
    most = max(map(len, values.values()), default=0)
    table.rows = [[values[column[0]][i] if i < len(values[column[0]]) else "" for column in table.columns]
                  for i in range(most)]


def add_objects(value, path, key, row, into):
    """Each object of JSON is a row of the table of its path, what is said of one thing inside of it a column of it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            add_objects(inner, path, f"{key}.{name}" if key else name, row, into)
    elif isinstance(value, list):
        row[f"{key}.count"] = str(len(value))
        for inner in value:
            rows = into.setdefault(f"{path}.{key}", [])
            rows.append({})
            add_objects(inner, f"{path}.{key}", "" if isinstance(inner, dict) else "value", rows[-1], into)
    else:
        row[key] = str(value)


def add_bundles(tables, folders):
    objects = {}
    for folder in folders:
        rows = objects.setdefault("bundle", [])
        rows.append({})
        add_objects(json.loads((folder / "bundle.json").read_text()), "bundle", "", rows[-1], objects)
    for name, rows in objects.items():
        keys = sorted({key for row in rows for key in row})
        table = tables[name] = Table([(key, kind_of([row.get(key, "") for row in rows]), "") for key in keys])
        table.rows = [[row.get(key, "") for key in keys] for row in rows]


def kind_of(cells):
    return "handle" if any(cell.startswith("0x") for cell in cells) else "text"


def label(tables, target, row, depth=0):
    """Name of a row, whichever number it has."""
    table = tables.get(target)
    if row in NOTHING - {"0"} or table is None or int(row) >= len(table.rows):
        return row
    cells = table.rows[int(row)]
    words = [cells[i] for i, column in enumerate(table.columns) if column[0] in LABELS]
    if depth < 2:
        words += [label(tables, column[2], cells[i], depth + 1) for i, column in enumerate(table.columns)
                  if column[0] in ("shape", "api_call") and column[2]]
    return "/".join(words)


def of_time(table, i):
    """Whether times are known; of ends also whether they come before their begin."""
    name = table.columns[i][0]
    begin = next((j for j, column in enumerate(table.columns) if column[0] == "start_ns"), None)
    result = []
    for row in table.rows:
        known = "0" if row[i] in NOTHING else "1"
        if name == "end_ns" and begin is not None and known == "1" and int(row[i]) < int(row[begin]):
            known = "2"
        result.append(known)
    return result


class Column:
    """One column of a table; features are made when they are asked for."""

    def __init__(self, tables, table_name, i):
        table = tables[table_name]
        self.name, self.kind, self.target = table.columns[i]
        self.cells = of_time(table, i) if self.kind == "time" else [row[i] for row in table.rows]
        numbered = self.kind == "handle" or NUMBERED.match(self.name)
        if LEFT_OUT.fullmatch(f"{table_name}.{self.name}"):
            self.letters = ""
        elif GIVEN.match(self.name):
            self.letters = "z"
        elif numbered:
            self.letters = "ncz"
        elif self.kind in ("id", "wide", "text") and not CHANCE.match(self.name):
            self.letters = "amncz"
        else:
            self.letters = "amz"
        if self.kind == "text" and self.name in ("text", "line"):
            self.cells = [DURATIONS.sub(r"N \1", cell) for cell in self.cells]
        self.says_nothing = all(cell in NOTHING for cell in self.cells)
        self.labels = [label(tables, self.target, cell) for cell in self.cells] \
            if self.kind == "id" and self.target else self.cells

    def feature(self, letter):
        if letter == "a":
            return self.cells
        if letter == "m":
            return sorted(self.labels)
        if letter == "n":
            seen = {}
            return [cell if cell in NOTHING else str(seen.setdefault(cell, len(seen) + 1)) for cell in self.cells]
        if letter == "c":
            counts = {}
            for cell in self.cells:
                counts[cell] = counts.get(cell, 0) + 1
            return sorted(str(count) for cell, count in counts.items() if cell not in NOTHING)
        return [str(len(self.cells)), str(sum(cell in NOTHING for cell in self.cells))]

    def hashes(self):
        return {letter: digest(self.feature(letter)) for letter in self.letters}


def digest(words):
    return hashlib.blake2b("\x1f".join(words).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def columns_of(tables, name):
    return [Column(tables, name, i) for i in range(len(tables[name].columns))]


def joint(columns, names):
    """Rows of those columns whose values are the same each time, whatever order they come in."""
    chosen = [column.labels for column in columns if column.name in names]
    return digest(sorted("\x1e".join(row) for row in zip(*chosen)))
