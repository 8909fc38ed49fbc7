# SPDX-License-Identifier: Apache-2.0
"""JAX's kernels and instructions are those that its own profiler names."""
import json

from cases.support.bench import PROGRAMS, expect
from cases.support.checks import expect_complete, expect_order, expect_same
from cases.support.owners import busy_ns, expect_agreement, sums_by


def test_jax(bench):
    """A jitted program: same output and status, and its kernels are in the recording."""
    command = [bench.python, str(PROGRAMS / "jax_program.py")]
    plain = bench.run(command)
    expect(plain.status == 0, f"the program itself fails: {plain.tail()}")
    recording, traced = bench.record("jax", command)
    expect_same(plain, traced, exact=True)
    expect_complete(bench, recording)
    seen = bench.counts(recording)
    expect(seen["kernels"] >= 30, f"30 jitted steps gave {seen['kernels']} kernels")
    return {**seen, "plain_s": plain.seconds, "traced_s": traced.seconds, **expect_order(bench, recording)}


def profile_jax(bench, **more):
    """Figures of JAX's own profiler on the same program, in a run of its own, and how much of the time it names."""
    out = bench.folder / "hlo.json"
    done = bench.run([bench.python, str(PROGRAMS / "jax_program.py"), "--hlo", str(out)], **more)
    expect(done.status == 0 and out.exists(), f"jax.profiler failed: {done.tail()}")
    profiled = json.loads(out.read_text())
    times = {name: time for name, (_, time) in profiled["instructions"].items()}
    return profiled, 100 * sum(time for name, time in times.items() if name) / max(sum(times.values()), 1e-9)


def test_jax_hlo(bench):
    """95 % of a jitted program's GPU time belong to instructions of HLO, with the shares of JAX's own profiler."""
    command = [bench.python, str(PROGRAMS / "jax_program.py")]
    recording, traced = bench.record("jax-hlo", command)
    expect(traced.status == 0, f"the program itself fails: {traced.tail()}")
    rows = bench.report(recording, "ops")["hlo"]
    # A command buffer is no instruction that anybody wrote: what runs in it has one each.
    named = [row for row in rows if row["instruction"] and row["category"] != "command buffer"]
    figures = {"owned_percent": 100 * sum(row["own_ns"] for row in named) / busy_ns(bench, recording),
               "categories": {row["category"]: 0 for row in rows}}
    for row in rows:
        figures["categories"][row["category"]] += row["launches"]
    expect(figures["owned_percent"] >= 95, f"{figures['owned_percent']:.2f} % belong to instructions: {figures}")
    expect({"fusion", "gemm call"} <= set(figures["categories"]), f"categories: {figures['categories']}")
    profiled, figures["named_by_jax_percent"] = profile_jax(bench)
    if figures["named_by_jax_percent"] < 90:
        # It does not look into command buffers: without them each instruction is launched by itself.
        profiled, figures["named_by_jax_percent"] = profile_jax(
            bench, XLA_FLAGS="--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0 --xla_gpu_enable_command_buffer=")
        figures["reference"] = "without command buffers"
    theirs = {name: pair for name, pair in profiled["instructions"].items() if name}
    expect(theirs, f"jax.profiler names no instruction: {profiled['instructions']}")
    mine = sums_by(named, lambda row: f"{row['hlo_module'] or ''} {row['instruction']}")
    if not any(not name.startswith(" ") for name in theirs):  # it names no modules
        mine = sums_by(named, lambda row: f" {row['instruction']}")
    expect_agreement(mine, theirs, figures, "jax.profiler")
    return {**figures, "jax": profiled["jax"]}
