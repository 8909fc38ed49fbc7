# SPDX-License-Identifier: Apache-2.0
"""Modules are known as they are loaded, with what cubins say of their functions."""
from cases.support.bench import PROGRAMS, expect
from cases.support.readings import LEAST_REGISTERS, facts_of


def record_modules(bench, name, command, **more):
    """(recording, its report modules, what the program left) of the command with its modules kept."""
    recording = bench.recording(name)
    traced = bench.run([bench.gputrace, "run", "--keep-modules", "-o", str(recording), "--", *command], **more)
    expect(traced.status == 0, f"{name} exits with {traced.status}: {traced.tail()}")
    return recording, bench.report(recording, "modules"), traced


def expect_kept(recording, report):
    """The kept modules are those that were loaded, and nothing else is there."""
    files = {f"modules/{path.name}": path.stat().st_size for path in (recording / "modules").iterdir()}
    named = {row["file"]: row["size_bytes"] for row in report["modules"]}
    expect(files == named, f"kept are {files}, loaded {named}")
    expect(all((recording / name).read_bytes()[:4] == b"\x7fELF" for name in files), "not every kept module is an ELF file")


def takes(report):
    """Resources of each launched function, by name: only kept modules tell its local memory."""
    return {row["full_name"]: (row["registers"], row["shared_bytes"]) for row in report["functions"]}


def expect_local(bench, recording, report):
    """Launches have the local memory that the kept modules say, and it is known of all."""
    said = {row["full_name"]: row["local_bytes"] for row in report["functions"]}
    shown = {row["mangled_name"]: row["local_bytes"] for row in bench.report(recording, "kernels")["launch_shapes"]}
    expect(shown == said and None not in said.values(), f"local memory by the cubins {said}, of launches {shown}")


def expect_registers(report):
    """Launches took the registers that the compiler named, but 16 at least."""
    taken = {row["full_name"]: (row["compiled_registers"], row["registers"]) for row in report["functions"]}
    wrong = {name: pair for name, pair in taken.items() if pair[0] is None or pair[1] != max(LEAST_REGISTERS, pair[0])}
    expect(not wrong, f"registers as compiled and as launched: {wrong}")


def expect_compilations(report):
    """The PTX of the sample was compiled, and that is a part of loading it."""
    compiled = [row for row in report["modules"] if row["jit_ns"]]
    expect(any(row["operation"] == "compile" for row in report["compilations"]),
           f"no compilation is recorded: {report['compilations']}")
    expect(compiled and all(row["load_ns"] >= row["jit_ns"] for row in compiled),
           f"compiled and loaded in {[(row['jit_ns'], row['load_ns']) for row in report['modules']]} ns")


def test_modules(bench):
    """Lazy and eager loading, PTX; what a cubin says of a function fits what CUPTI says of its launches."""
    program = bench.find("modules")
    launched = bench.report(bench.record("modules-plain", [program])[0], "modules")
    recording, lazy, _ = record_modules(bench, "modules-lazy", [program], CUDA_MODULE_LOADING="LAZY")
    expect_kept(recording, lazy)
    _, eager, _ = record_modules(bench, "modules-eager", [program], CUDA_MODULE_LOADING="EAGER")
    expect(takes(launched) == takes(lazy), f"by launches {takes(launched)}, by the cubins {takes(lazy)}")
    for report in (lazy, eager):
        expect_registers(report)
    expect_local(bench, recording, lazy)
    _, jit, _ = record_modules(bench, "modules-jit", [program],
                               GPUTRACE_KINDS="kernel,memcpy,memset,overhead,device,context,stream,jit")
    expect_compilations(jit)
    expect({row["full_name"] for row in lazy["functions"]} == {row["full_name"] for row in eager["functions"]},
           "lazy and eager loading know other functions")
    return {name: {"calls": [(row["call"], row["modules"], row["load_ns"]) for row in report["calls"]],
                   "modules": [{key: row[key] for key in ("call", "load_ns", "jit_ns", "size_bytes", "functions", "kernels")}
                               for row in report["modules"]],
                   "compilations": report["compilations"], "gputrace_ns": report["processes"][0]["gputrace_ns"]}
            for name, report in (("launched", launched), ("lazy", lazy), ("eager", eager), ("jit", jit))}


def test_triton(bench):
    """A Triton kernel compiled in two ways: each launch is of its module, and its file and line are there."""
    recording, report, traced = record_modules(bench, "triton", [bench.python, str(PROGRAMS / "triton_kernel.py")])
    facts = facts_of(traced, "triton")
    rows = [row for row in report["functions"] if row["full_name"] == "add_kernel"]
    expect_kept(recording, report)
    expect(sum(row["kernels"] for row in rows) == int(facts["launches"]),
           f"{sum(row['kernels'] for row in rows)} launches of add_kernel, {facts['launches']} were made")
    expect(len(rows) == 2, f"add_kernel is in {len(rows)} modules, not 2")
    for row in rows:
        file, _, line = (row["source"] or "").rpartition(":")
        expect(file.endswith("triton_kernel.py") and abs(int(line) - int(facts["line"])) <= 3,
               f"add_kernel was written at {row['source']}, not near line {facts['line']}")
    compilers = {row["compiler"] for row in report["modules"] if row["compiler"]}
    return {"modules": len(report["modules"]), "sources": [row["source"] for row in rows], "compilers": sorted(compilers)}
