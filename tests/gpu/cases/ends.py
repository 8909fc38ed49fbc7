# SPDX-License-Identifier: Apache-2.0
"""Programs end, die and exit with threads launching, and all launches are in the ledger."""
import concurrent.futures
import pathlib
import random
import shutil
import tempfile

from cases.support.bench import expect
from cases.support.readings import ledger_of, read_ends

# Ways of tests/gpu/programs/cuda/ends.cu. The process knows nothing of these, or has no time for much.
DEATHS = ("kill", "segv", "abort", "_exit", "quick_exit", "exec")
# Its exit handlers run at these, while other threads still launch.
EXITS = ("exit", "return", "exit-in-thread")
AT_ONCE = 6
# Ends that a preloaded library catches, and those that only a wait before helps against.
CAUGHT = ("_exit", "_Exit", "quick_exit", "abort", "exec", "exec-in-thread")
KILLED = ("kill", "segv")


def end_once(bench, number, way, moments):
    """A program that ends this way; what it counted itself, and what the recording has of it."""
    recording, counter = bench.folder / f"ends-{number}.gputrace", bench.folder / f"ends-{number}.count"
    threads, milliseconds = moments.randint(1, 8), moments.randint(0, 200)
    ended = bench.run([bench.gputrace, "run", "--no-export", "-o", str(recording), "--", bench.find("ends"),
                       str(counter), str(threads), way, str(milliseconds)])
    case = f"{way} of {threads} threads after {milliseconds} ms (status {ended.status})"
    expect(counter.exists(), f"{case}: it did not run: {ended.tail()}")
    (begun, returned, refused, _), child = read_ends(counter)
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


def settle_once(bench, way, threads, *options):
    """Kernels that finished before a program ended this way, as they counted it, and those that have times."""
    # The kernels write to the file: the driver takes memory for that, and no file of a disk.
    with tempfile.TemporaryDirectory(prefix="ends-", dir="/dev/shm") as folder:
        counter, recording = pathlib.Path(folder, "count"), bench.folder / "ends-last.gputrace"
        ended = bench.run([bench.gputrace, "run", "--no-export", *options, "-o", str(recording), "--", bench.find("ends"),
                           str(counter), str(threads), way, "30"])
        case = f"{way} of {threads} threads {' '.join(options)} (status {ended.status})"
        expect(counter.exists() and ended.status != 2, f"{case}: it did not run: {ended.tail()}")
        (_, returned, _, finished), _ = read_ends(counter)
    ledger = ledger_of(bench, recording)
    shutil.rmtree(recording)
    expect(finished == returned > 0, f"{case}: {returned} kernels were launched, {finished} finished")
    expect(ledger["launches"] == returned and ledger.get("launches_missing", 0) == 0, f"{case}: {returned} were launched: {ledger}")
    return {"case": case, "finished": finished, "timed": ledger["launches_timed"]}


def test_last_kernels(bench):
    """Kernels that finished before the end have times, if a preloaded library catches the end or a wait came before it.

    Figures: of kernels that finished, those without times, by the way of the end, with one thread and with four."""
    figures = {}
    for options in (), ("--no-preload",):
        rows = {f"{way} {threads}": settle_once(bench, f"settled:{way}", threads, *options)
                for way in CAUGHT + KILLED for threads in (1, 4)}
        if not options:
            late = [row for name, row in rows.items() if name.split()[0] in CAUGHT and row["timed"] != row["finished"]]
            expect(not late, f"kernels that finished have no times: {late}")
        figures[" ".join(options) or "preloaded"] = {name: row["finished"] - row["timed"] for name, row in rows.items()}
    waited = {f"{way} {threads}": settle_once(bench, f"waited:{way}", threads, "--no-preload")
              for way in KILLED + ("_exit", "exec") for threads in (1, 4)}
    late = [row for row in waited.values() if row["timed"] != row["finished"]]
    expect(not late, f"kernels that were waited for 50 ms before the end have no times: {late}")
    figures["waited"] = sum(row["finished"] for row in waited.values())
    return figures
