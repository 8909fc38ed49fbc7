# SPDX-License-Identifier: Apache-2.0
"""Verdicts of gputrace compare: none where nothing changed, and the kernel that was made slower."""
import json

from cases.support.bench import expect

KERNELS = 40
A_A_PAIRS, PLANTED = 4, 3  # bench/results has runs with 20 and 10


def kernel_name(number):
    return f"{'move' if number % 2 else 'compute'}<{number}>"


def record_in_turn(bench, name, runs, before, after):
    """A folder with recordings of both commands, as gputrace repeat makes it."""
    folder = bench.folder / f"{name}.runs"
    done = bench.run([bench.gputrace, "repeat", "-n", str(runs), "--warm-up", "0", "-o", str(folder), "--interleave",
                      " ".join(after), "--", *before])
    expect(done.status == 0, f"gputrace repeat exits with {done.status}: {done.tail()}")
    return folder


def compare(bench, folder):
    done = bench.run([bench.gputrace, "compare", "--json", str(folder)])
    expect(done.status == 0, f"gputrace compare exits with {done.status}: {done.tail()}")
    return json.loads(done.stdout)


def verdicts(result):
    """(table, name, verdict, change in percent) of all that is said to have changed."""
    words = {"slower", "faster", "more", "less"}
    found = [("figures", row["figure"], row["verdict"], row["change_percent"]) for row in result["figures"] if row["verdict"] in words]
    for table in ("kernels", "ranges", "ops", "nn_modules", "hlo", "copies", "fills"):
        name = {"kernels": "kernel", "ranges": "range"}.get(table)
        found += [(table, row[name] if name else str(row), row["verdict"], row["change_percent"])
                  for row in result[table] if row["verdict"] in words]
    return found


def test_compare_same(bench):
    """The same program on both sides, three runs each: at most one verdict in all comparisons."""
    program, burn = bench.find("forty_kernels"), [bench.find("burn"), "1", "1"]
    found = []
    for pair in range(A_A_PAIRS):
        for name, command in (("forty", [program]), ("burn", burn)):
            result = compare(bench, record_in_turn(bench, f"same-{name}-{pair}", 3, command, command))
            expect("runs of side A" in result["headline"][0]["answer"], f"no verdicts at all: {result['headline'][0]}")
            found += verdicts(result)
    expect(len(found) <= 1, f"nothing changed, and verdicts are {found}")
    return {"comparisons": 2 * A_A_PAIRS, "verdicts": len(found)}


def test_compare_planted(bench):
    """One kernel of forty slower by 5 % (five runs each) and 10 % (three): it is named, and no other. Called once more: said."""
    program, named, others = bench.find("forty_kernels"), {5: 0, 10: 0}, []
    for percent, runs in ((5, 5), (10, 3)):
        for trial in range(PLANTED):
            number = (7 * trial + 3 + percent) % KERNELS
            result = compare(bench, record_in_turn(bench, f"planted-{percent}-{trial}", runs, [program],
                                                   [program, "30", "slower", str(number), str(percent)]))
            kernels = [row for row in verdicts(result) if row[0] == "kernels"]
            named[percent] += any(row[1:3] == (kernel_name(number), "slower") for row in kernels)
            others += [row for row in kernels if row[1] != kernel_name(number)]
    expect(named[5] >= PLANTED - 1 and named[10] == PLANTED and not others, f"named: {named}, others: {others}")
    result = compare(bench, record_in_turn(bench, "planted-call", 3, [program], [program, "30", "extra", "17"]))
    rows = {row["kernel"]: row["verdict"] for row in result["kernels"]}
    expect(rows[kernel_name(17)] == "more calls", f"a call more: {rows[kernel_name(17)]}")
    return {"trials": PLANTED, "named_5_percent": named[5], "named_10_percent": named[10]}
