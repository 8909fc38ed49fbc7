# SPDX-License-Identifier: Apache-2.0
"""Programs end, die and exit with threads launching, and all launches are in the ledger."""
import concurrent.futures
import random
import shutil

from cases.support.bench import expect
from cases.support.readings import ledger_of, read_ends

# Ways of tests/gpu/programs/cuda/ends.cu. The process knows nothing of these, or has no time for much.
DEATHS = ("kill", "segv", "abort", "_exit", "quick_exit", "exec")
# Its exit handlers run at these, while other threads still launch.
EXITS = ("exit", "return", "exit-in-thread")
AT_ONCE = 6


def end_once(bench, number, way, moments):
    """A program that ends this way; what it counted itself, and what the recording has of it."""
    recording, counter = bench.folder / f"ends-{number}.gputrace", bench.folder / f"ends-{number}.count"
    threads, milliseconds = moments.randint(1, 8), moments.randint(0, 200)
    ended = bench.run([bench.gputrace, "run", "--no-export", "-o", str(recording), "--", bench.find("ends"),
                       str(counter), str(threads), way, str(milliseconds)])
    case = f"{way} of {threads} threads after {milliseconds} ms (status {ended.status})"
    expect(counter.exists(), f"{case}: it did not run: {ended.tail()}")
    (begun, returned, refused), child = read_ends(counter)
    ledger = ledger_of(bench, recording)
    said = [line for line in ended.stderr.splitlines() if line.startswith("gputrace:")][-1:]
    known = sum(ledger.get(name, 0) for name in ("launches", "launches_unrecorded", "api_lost"))
    kept = sum(ledger.get(name, 0) for name in ("launches_timed", "launches_unfinished", "launches_missing"))
    shutil.rmtree(recording)
    counter.unlink()
    # A call that did not return is known if it came as far as the driver.
    expect(returned <= known <= begun - refused, f"{case}: {returned} launches returned, {known} are known, {begun} begun")
    expect(ledger.get("launches", 0) == kept, f"{case}: the classes of launches add up to {kept}: {ledger}")
    return {"way": way, "status": ended.status, "threads": threads, "begun": begun, "returned": returned,
            "refused": refused, "known": known, "said": said, "child": child,
            "unrecorded": ledger.get("launches_unrecorded", 0), "missing": ledger.get("launches_missing", 0)}


def end_often(bench, ways, number):
    """So many programs, several at a time; a summary by the way they ended."""
    seed = random.randrange(1 << 32)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        futures = [pool.submit(end_once, bench, f"{ways[0]}-{at}", ways[at % len(ways)], random.Random(seed + at))
                   for at in range(number)]
    failures = [str(future.exception()) for future in futures if future.exception()]
    expect(not failures, f"{len(failures)} of {number} (seed {seed}): " + "; ".join(failures[:6]))
    rows = [future.result() for future in futures]
    figures = {"programs": number, "launches": sum(row["returned"] for row in rows)}
    for way in ways:
        mine = [row for row in rows if row["way"] == way]
        statuses = sorted({row["status"] for row in mine})
        figures[way] = {"programs": len(mine), "unrecorded": sum(row["unrecorded"] for row in mine),
                        "missing": sum(row["missing"] for row in mine), "statuses": statuses}
    return figures


def test_deaths(bench):
    """Programs that die with threads launching, in every way: all launches are in the ledger."""
    return end_often(bench, DEATHS, bench.deaths)


def test_exits(bench):
    """Programs that end by exit() with threads still launching: all launches are in the ledger."""
    return end_often(bench, EXITS, bench.exits)


def test_ends(bench):
    """Programs that wait for their threads lose nothing, also when a child of a fork launches in between."""
    figures = {}
    for way in ("end", "fork"):
        row = end_once(bench, way, way, random.Random(1))
        expect(row["status"] == 0, f"{way} exits with {row['status']}")
        expect(row["known"] == row["returned"] + row["child"][1], f"{way}: the counts differ: {row}")
        expect(row["missing"] == 0, f"{way}: kernels are missing: {row}")
        figures[way] = {name: row[name] for name in ("returned", "known", "unrecorded", "child", "said")}
    return figures
