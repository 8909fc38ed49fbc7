# SPDX-License-Identifier: Apache-2.0
"""Figures of PyTorch's and JAX's allocators are theirs at the same moments."""
import collections
import json
import re

from cases.support.bench import Failed, PROGRAMS, expect
from cases.support.checks import expect_complete
from cases.support.readings import notes_of
from programs.python import pool_moments


def zero_of(bench, recording):
    """The wall clock, in nanoseconds, at the time that a recording's times are counted from."""
    out = bench.folder / f"{recording.stem}.json"
    done = bench.run([bench.gputrace, "export", "--quiet", "--force", "--format", "chrome", "--no-api", "-o", str(out),
                      str(recording)])
    expect(done.status == 0, f"gputrace export exits with {done.status}: {done.tail()}")
    return json.loads(out.read_text())["baseTimeNanoseconds"]


def record_allocators(bench, name, words, program):
    """A program of tests/gpu that takes moments: recording, what it printed, and its notes."""
    recording = bench.recording(name)
    traced = bench.run([bench.gputrace, "run", "--allocators", words, "-o", str(recording), "--", bench.python,
                        str(PROGRAMS / program)])
    expect(traced.status == 0, f"the program itself fails: {traced.tail()}")
    expect_complete(bench, recording)
    notes = notes_of(bench, recording, "python")
    failed = [note for note in notes if "Error" in note]
    expect(not failed, f"notes of --allocators {words}: {failed}")
    return recording, pool_moments.read(traced.stdout), notes


def check_moments(bench, recording, said, teller):
    """The pools of a teller are at each moment as the program said that they are; those that it names in that order, last."""
    names = said.get("names", [])

    def pools_until(time_ns):
        rows = bench.report(recording, "memory", "--to", f"{time_ns}ns").get("pools", [])
        return sorted((row for row in rows if row["pool"].startswith(teller)),
                      key=lambda row: names.index(row["pool"]) if row["pool"] in names else -1)

    agree, wrong = pool_moments.compare(said["moments"], zero_of(bench, recording), pools_until)
    expect(not wrong, f"{len(wrong)} of {agree + len(wrong)} figures differ: " + "; ".join(wrong[:6]))
    expect(agree, "no figures to compare")
    return {"moments": len(said["moments"]), "equal_figures": agree}


def cost_of_samples(notes):
    """Time that samples took, as the sampler says, in microseconds."""
    for note in notes:
        found = re.fullmatch(r"Allocators were asked (\d+) times, which took ([\d.]+) us on average and ([\d.]+) us at most",
                             note)
        if found:
            return {"samples": int(found[1]), "mean_us": float(found[2]), "most_us": float(found[3])}
    raise Failed(f"no note says what samples took: {notes}")


def test_torch_memory(bench):
    """PyTorch's figures in the recording equal torch.cuda.memory_stats at the same moments; no memory is a mark."""
    plain = bench.run([bench.python, str(PROGRAMS / "torch_memory.py")])
    expect(plain.status == 0, f"the program itself fails: {plain.tail()}")
    recording, said, notes = record_allocators(bench, "torch-memory", "pytorch", "torch_memory.py")
    without = [moment["pools"] for moment in pool_moments.read(plain.stdout)["moments"]]
    expect(without == [moment["pools"] for moment in said["moments"]], "PyTorch's memory is another one with gputrace")
    expect(any(note.startswith("PyTorch out of memory: ") for note in notes), f"no note of it: {notes}")
    marks = [row["mark"] for row in bench.report(recording, "ranges")["marks"]]
    expect(any(mark.startswith("PyTorch out of memory: ") for mark in marks), f"no mark of it: {marks}")
    return {**check_moments(bench, recording, said, "PyTorch"), **cost_of_samples(notes), "torch": said["torch"],
            "accounts": expect_account(bench, recording, "torch-memory")}


def expect_account(bench, recording, name):
    """Parts of the account add up to the whole, and those that calls tell of to the peak that calls tell of."""
    report = bench.report(recording, "memory")
    peaks = {row["device"]: row["peak_bytes"] for row in report["devices"]}
    accounts = collections.defaultdict(list)
    for row in report["account"]:
        expect(row["bytes"] is None or row["bytes"] >= 0, f"{name}: {row['claim']} is {row['bytes']} bytes")
        accounts[row["device"], row["moment"]].append(row)
    for (device, moment), rows in accounts.items():
        bytes_of = {row["claim"]: 0 for row in rows}
        for row in rows:
            bytes_of[row["claim"]] += row["bytes"] or 0
        asked = sum(count for claim, count in bytes_of.items()
                    if claim.startswith("framework") or claim in ("CUDA's pools, in use", "graphs", "library", "program"))
        if moment in ("peak", "peak by calls"):
            expect(asked == peaks[device], f"{name}: {asked} bytes are in the account of {moment}, {peaks[device]} are the peak")
        unclaimed, = (row["bytes"] for row in rows if row["claim"] == "unclaimed")
        if unclaimed is not None:
            expect(sum(bytes_of.values()) == 2 * bytes_of["device total"], f"{name}: the account of {moment} does not add up")
    return sorted({moment for _, moment in accounts})


def test_torch_private(bench):
    """The private pools of a graph and of a MemPool have the figures that PyTorch's snapshot has, beside the device's."""
    recording, said, notes = record_allocators(bench, "torch-private", "pytorch", "torch_private.py")
    names = [row["pool"] for row in bench.report(recording, "memory")["pools"]]
    expect(sorted(set(names) - {"PyTorch caching allocator"}) == sorted(said["names"]), f"pools {names} for {said['names']}")
    account = bench.report(recording, "memory")["account"]
    owners = {row["name"] for row in account if row["claim"].startswith("framework")}
    expect(len(owners) == 1, f"private pools are claimed twice: {owners}")
    return {**check_moments(bench, recording, said, "PyTorch"), **cost_of_samples(notes), "pools": names}


def test_torch_blocks(bench):
    """Blocks that are out by PyTorch's own record have the bytes that were asked for, at the same moments."""
    recording, said, notes = record_allocators(bench, "torch-blocks", "pytorch-blocks", "torch_memory.py")
    zero_ns, figures = zero_of(bench, recording), {}
    for moment in said["moments"]:
        until_ns = moment["to_ns"] - zero_ns + int(pool_moments.APART_S * 1e9 / 2)
        rows = [row for row in bench.report(recording, "memory", "--to", f"{until_ns}ns")["memory"]
                if "PyTorch caching allocator" in row["memory"]]
        figures[moment["what"]] = [sum(row["now_bytes"] for row in rows), moment["pools"][0]["requested_bytes"]]
    wrong = {what: pair for what, pair in figures.items() if pair[0] != pair[1]}
    expect(not wrong, f"bytes of blocks, bytes asked for: {wrong}")
    return {"moments": len(figures), **cost_of_samples(notes)}


def test_jax_memory(bench):
    """JAX's figures equal Device.memory_stats() at the same moments, those of executables memory_analysis()."""
    recording, said, notes = record_allocators(bench, "jax-memory", "jax", "jax_memory.py")
    figures = check_moments(bench, recording, said, "JAX")
    rows = {row["executable"]: row for row in bench.report(recording, "memory")["executables"]}
    for name, needs in said["executables"].items():
        expect(name in rows, f"{name} is not among the executables {sorted(rows)}")
        told = {column: rows[name][column] for column in needs}
        expect(told == needs, f"{name} needs {needs}, the recording says {told}")
    return {**figures, **cost_of_samples(notes), "executables": len(said["executables"]), "jax": said["jax"]}
