# SPDX-License-Identifier: Apache-2.0
"""Several processes and contexts on one GPU are in one recording, with sums and shares that fit."""
import concurrent.futures
import json
import shutil

from cases.support.bench import PROGRAMS, expect, sum_of
from cases.support.checks import expect_complete, expect_shares
from cases.support.owners import busy
from cases.support.readings import ledger_of, numbers_of, read_ends

NOBODY = 65534

WORKERS = 4


def test_workers(bench):
    """Four PyTorch workers on one GPU in one recording: counts are the programs', sums those of each worker's own recording, and no
    share is above 100 %."""
    recording, folder = bench.recording("workers"), bench.folder / "workers"
    folder.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        ended = list(pool.map(lambda number: bench.run(
            [bench.gputrace, "run", "--join", "-o", str(recording), "--", bench.python, str(PROGRAMS / "workers.py"),
             str(number), str(folder), str(WORKERS)]), range(WORKERS)))
    for one in ended:
        expect(one.status == 0, f"a worker fails: {one.tail()}")
    said = [json.loads(one.stdout.strip().splitlines()[-1]) for one in ended]
    expect(all(one["sum_is_right"] for one in said), f"wrong results: {said}")
    for one in said:
        seen = sum_of(bench.report(recording, "kernels", "--range", "work", "--process", str(one["process"])), "kernels", "calls")
        expect(seen == one["additions"] + one["products"], f"{seen} kernels of {one}")
    return expect_sums_of_processes(bench, recording)


def expect_sums_of_processes(bench, recording):
    """Times and counts of all processes are the sums of recordings that hold one capture each; the GPU's busy time is less."""
    each = []
    for number, capture in enumerate(sorted(recording.glob("*.capture"))):
        own = bench.folder / f"{recording.stem}-own-{number}.gputrace"
        own.mkdir(exist_ok=True)
        shutil.copy(capture, own)
        each.append((busy(bench, own), bench.report(own, "summary")["devices"][0]["busy_ns"]))
    whole = busy(bench, recording)
    sums = [sum(pair[at] for pair, _ in each) for at in (0, 1)]
    expect(whole == sums, f"{whole} launches and ns in all, {sums} in the captures one by one")
    device = bench.report(recording, "summary")["devices"][0]
    expect(max(ns for _, ns in each) <= device["busy_ns"] <= sum(ns for _, ns in each), f"busy {device}, one by one {each}")
    expect_shares(bench, recording)
    return {"captures": len(each), "launches": whole[0], "busy_percent": device["busy_percent"]}


def test_contexts(bench):
    """Three contexts of one GPU, one of the runtime and two of the driver API."""
    recording, traced = bench.record("contexts", [bench.find("contexts")])
    expect(traced.status == 0, f"contexts exits with {traced.status}: {traced.tail()}")
    said = numbers_of(traced.stdout)
    expect(said["right"] == 1, f"wrong results: {traced.stdout}")
    expect_complete(bench, recording)
    seen = bench.counts(recording)
    expect(seen == {key: said[key] for key in ("kernels", "copies", "fills")}, f"{seen}, the program says {said}")
    expect_shares(bench, recording)
    return seen


def test_processes(bench):
    """Three processes: one may not write (another user), one is killed, one ends well."""
    place = bench.folder / "open"
    place.mkdir(exist_ok=True)
    # Another user must find the programs, however the build's folder is guarded.
    for name, folder in (("ends", "bin"), ("gputrace", "bin"), ("libgputrace-injection.so", "lib")):
        (place / folder).mkdir(exist_ok=True)
        shutil.copy(bench.find(name), place / folder / name)
    for path in (bench.folder, place, *place.rglob("*")):
        path.chmod(0o755)
    recording = bench.recording("processes")
    program, counters = place / "bin" / "ends", [bench.folder / f"count-{number}" for number in range(3)]
    lines = [f"{program} {counters[0]} 2 end 100 {NOBODY}", f"{program} {counters[1]} 2 kill 100",
             f"{program} {counters[2]} 2 end 100"]
    ended = bench.run([str(place / "bin" / "gputrace"), "run", "-o", str(recording), "--", "sh", "-c", "; ".join(lines)])
    expect(ended.status == 0, f"the script exits with {ended.status}: {ended.tail()}")
    said = ended.stderr.strip().splitlines()
    info = bench.run([bench.gputrace, "info", str(recording)]).stdout
    ledger = ledger_of(bench, recording)
    known = [read_ends(counter)[0] for counter in counters]
    expect(ledger.get("processes_unrecorded") == 1, f"one process could not be recorded: {ledger}")
    expect("1 died and was salvaged, 1 is missing" in said[-1] and f"user {NOBODY}) is not recorded" in said[-1], f"run says {said}")
    for report in ("kernels", "summary", "api", "gaps", "copies"):
        text = bench.run([bench.gputrace, "report", str(recording), report]).stdout
        expect("is not recorded" in text or "is missing" in text, f"the report {report} says nothing of it: {text[-300:]}")
    expect("is not recorded" in info and "salvaged" in info, f"info says {info[-600:]}")
    total = ledger["launches"] + ledger.get("launches_unrecorded", 0)
    returned = known[1][1] + known[2][1]
    expect(returned <= total <= known[1][0] + known[2][0], f"{total} launches are known, {returned} returned: {ledger}")
    return {"said": said[-2:], "launches": total}


def test_forked_workers(bench):
    """Workers that multiprocessing forks end with _exit right after a wait: every kernel has its times.

    Figures: microseconds a round, without and with gputrace, of a worker that waits all the time; how many launches have no
    times of workers that never wait, without the library that catches their end."""
    program, figures = [bench.python, str(PROGRAMS / "forked_workers.py")], {}
    ways = {"at once": [], "by return": ["--end", "return"], "rounds": ["--rounds", "4", "--launches", "100"],
            "no wait": ["--no-wait"]}
    if bench.run([bench.python, "-c", "import torch"]).status == 0:
        ways |= {"torch": ["--torch"], "torch by return": ["--torch", "--end", "return"]}
    for way, words in ways.items():
        recording, traced = bench.record("workers-" + way.replace(" ", "-"), [*program, *words])
        expect(traced.status == 0, f"{way}: it exits with {traced.status}: {traced.tail()}")
        expect_complete(bench, recording)
        ledger, made = ledger_of(bench, recording), numbers_of(traced.stdout)["launches"]
        # PyTorch fills the tensor first.
        most = made + (2 * 4 if "torch" in way else 0)
        expect(made <= ledger["launches"] <= most, f"{way}: {made} launches were made, {ledger['launches']} are recorded")
        expect(ledger["launches_timed"] == ledger["launches"], f"{way}: launches without times: {ledger}")
        figures[way] = ledger["launches"]
    busy = [*program, "--workers", "1", "--launches", "1", "--rounds", "20000"]
    plain, (recording, traced) = bench.run(busy), bench.record("workers-busy", busy)
    expect(plain.status == traced.status == 0, f"busy: it exits with {traced.status}: {traced.tail()}")
    ledger = ledger_of(bench, recording)
    expect(ledger["launches"] == 20000 and ledger["launches_missing"] == 0, f"busy: {ledger}")
    expect(ledger["launches_unfinished"] == 0, f"busy: launches without times: {ledger}")
    recording, traced = bench.record("workers-not-preloaded", [*program, "--no-wait"], "--no-preload")
    figures["not_preloaded_without_times"] = ledger_of(bench, recording)["launches_unfinished"]
    figures["busy_us"] = [numbers_of(ended.stdout)["round_us"] for ended in (plain, traced)]
    return figures
