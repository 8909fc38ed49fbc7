# SPDX-License-Identifier: Apache-2.0
"""The kept digests: of each table the ways in which cases have it, and of each case which of them it has.

    = TABLE COLUMN ...              the columns of a table, in the order of its cells
    \tTABLE/WAY\tROWS\tCELL CELL ...
    CASE
    \tTABLE/WAY, TABLE/WAY ...

ROWS is how many there are, or -. A cell begins with the features that were the same each time (values.py) and ends with
a digest of these; . is a column that says nothing, - one of which nothing was the same, _ one that is not there. The
last cell is of rows with those columns whose values were the same, * and a digest, or -. A digest without letters is
of a; .5 are five columns that say nothing.
"""
import hashlib

import values

EVERY_OF_SLOW = 9
DIGITS = 3
CHANCE = 0.15


def reduced(letters):
    """Without the letters that others imply."""
    implied = {inner for letter in letters for inner in values.IMPLIED[letter]}
    return "".join(letter for letter in values.LETTERS if letter in letters and letter not in implied)


def cell(letters, hashes):
    if not letters:
        return "-"
    joined = "".join(hashes[letter] for letter in letters)
    word = hashlib.blake2b(joined.encode(), digest_size=2).hexdigest()[:DIGITS]
    return word if letters == "a" else letters + word


def letters_of(text):
    return "" if text in ("", "-", ".") else text[:-DIGITS] or "a"


def is_same_each_time(texts):
    return all(text == texts[0] for text in texts)


def cells_of_column(columns):
    """Cell of one column, given for each run."""
    hashes = [column.hashes() for column in columns]
    letters = [letter for letter in columns[0].letters if is_same_each_time([each[letter] for each in hashes])]
    if letters and all(column.says_nothing for column in columns):
        return "."
    return cell(reduced(letters), hashes[0])


def with_values(cells):
    return {name for name, text in cells.items() if letters_of(text)[:1] in ("a", "m")}


def cells_of_table(name, runs):
    """The cells by column, how many rows there are, and the cell of rows. A column that is not always there is not kept."""
    all_columns = [{column.name: column for column in values.columns_of(tables, name)} for tables in runs]
    names = list(dict.fromkeys(column for columns in all_columns for column in columns))
    counts = [tables[name].count for tables in runs]
    cells = {column: cells_of_column([columns[column] for columns in all_columns])
             if all(column in columns for columns in all_columns) else "-" for column in names}
    joints = [values.joint(columns.values(), with_values(cells)) for columns in all_columns]
    rows = "*" + joints[0][:DIGITS] if len(with_values(cells)) > 1 and is_same_each_time(joints) else "-"
    return cells, counts[0] if is_same_each_time(counts) else "-", rows


def cells_of(runs):
    """Tables of a case: each with its cells by column, and those of its rows."""
    result = {}
    for name in sorted({name for tables in runs for name in tables}):
        if all(name in tables for tables in runs):
            result[name] = cells_of_table(name, runs)
        else:
            result[name] = {}, "-", "-"
    return result


def compare_table(name, old, tables):
    cells, count, rows = old
    if name not in tables:
        return [(name, "*", "is gone")] if count != "-" else []
    columns = values.columns_of(tables, name)
    found = []
    for column in columns:
        before = cells.get(column.name)
        if before is None:
            found += [(name, column.name, "is new")] if cells else []
            continue
        letters = letters_of(before)
        now = "." if before == "." and column.says_nothing else \
            cell(letters, {letter: values.digest(column.feature(letter)) for letter in letters})
        if before not in ("-", now):
            found.append((name, column.name, "differs"))
    there = {column.name for column in columns}
    found += [(name, gone, "is gone") for gone, text in cells.items() if gone not in there and text != "-"]
    if count not in ("-", tables[name].count):
        found.append((name, "*", f"has other rows, not {count}"))
    elif rows != "-" and not found and rows != "*" + values.joint(columns, with_values(cells))[:DIGITS]:
        found.append((name, "*", "has other values together in a row"))
    return found


def compare(kept, tables):
    """(table, column, what) for each cell that is not what was kept."""
    if kept is None:
        return [("*", "*", "is not kept yet")]
    found = [(name, "*", "is new") for name in sorted(tables) if name not in kept]
    for name, old in kept.items():
        found += compare_table(name, old, tables)
    return found


def forget(tables, table, column):
    """Keeps a column no more, or with * how many rows there are, and what stands in one row neither."""
    cells, count, _ = tables.get(table, ({}, "-", "-"))
    if column in cells:
        cells = {**cells, column: "-"}
    tables[table] = cells, "-" if column == "*" else count, "-"


def shortened(words):
    result = []
    for word in words:
        if result and word in (".", "-") and result[-1][0] == word:
            result[-1] = word + str(int(result[-1][1:] or 1) + 1)
        else:
            result.append(word)
    return " ".join(result)


def lengthened(text):
    result = []
    for word in text.split():
        result += [word[0]] * int(word[1:] or 1) if word[0] in ".-" else [word]
    return result


def read(path):
    cases, columns, known, case = {}, {}, {}, {}
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith("= "):
            name, _, rest = line[2:].partition("\t")
            columns[name] = rest.split()
        elif line.startswith("\t") and "\t" in line[1:]:
            key, count, *words = line[1:].split("\t")
            *words, rows = lengthened(words[0]) if words else ["-"]
            named = zip(columns[key.partition("/")[0]], words)
            known[key] = {column: text for column, text in named if text != "_"}, count, rows
        elif line.startswith("\t"):
            for key in line[1:].split(", "):
                case[key.partition("/")[0]] = known[key]
        elif not line.startswith("#"):
            case = cases[line] = {}
    return cases


def all_columns(cases):
    result = {}
    for tables in cases.values():
        for name, (cells, _, _) in tables.items():
            known = result.setdefault(name, {})
            known.update(dict.fromkeys(cells))
    return {name: list(result[name]) for name in sorted(result)}


def lines_of_table(cases, name, columns):
    """Each way in which cases have a table, by the name that a digest of it gives it."""
    result = {}
    for tables in cases.values():
        if name in tables:
            cells, count, rows = tables[name]
            words = [cells.get(column, "_") for column in columns] if cells else []
            line = count + (f"\t{shortened([*words, rows])}" if words else "")
            tables[name] = f"{name}/{values.digest([line])[:5]}"
            result[tables[name]] = line
    return [f"\t{key}\t{line}" for key, line in sorted(result.items())]


def leave_out_chance(cases):
    """A column that was not the same each time in many cases is not kept in the others either."""
    counts = {}
    for tables in cases.values():
        for name, (cells, _, _) in tables.items():
            for column, text in cells.items():
                count = counts.setdefault((name, column), [0, 0])
                count[0] += text == "-"
                count[1] += text != "."
    chance = {key for key, (differed, all_of_them) in counts.items() if 0 < differed >= CHANCE * all_of_them}
    for tables in cases.values():
        for name in list(tables):
            for column in [column for column, text in tables[name][0].items() if text not in (".", "-")]:
                if (name, column) in chance:
                    forget(tables, name, column)


def write(path, cases):
    leave_out_chance(cases)
    cases = {case: dict(tables) for case, tables in sorted(cases.items())}
    lines = ["# Digests of what is recorded of these programs: tests/README.md"]
    for name, columns in all_columns(cases).items():
        lines += [f"= {name}\t" + " ".join(columns), *lines_of_table(cases, name, columns)]
    for case, tables in cases.items():
        lines += [case, "\t" + ", ".join(sorted(tables.values()))]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def share(all_cases):
    count = known = 0
    for cases in all_cases:
        for tables in cases.values():
            for cells, _, _ in tables.values():
                count += sum(text != "." for text in cells.values())
                known += sum(text not in (".", "-") for text in cells.values())
    return count, known
