# SPDX-License-Identifier: Apache-2.0
"""PyTorch's kernels, operations, modules and ranges are those that its own profiler names."""
import json
import re
import statistics

from cases.support.bench import PROGRAMS, expect
from cases.support.checks import expect_complete, expect_order, expect_same
from cases.support.owners import busy, busy_ns, expect_agreement, sums_by, with_rest
from cases.support.readings import notes_of


def test_pytorch(bench):
    """A training loop: losses the same to the last bit, as many kernels, copies and fills as Kineto counts."""
    command = [bench.python, str(PROGRAMS / "train_transformer.py")]
    plain = bench.run(command)
    expect(plain.status == 0, f"the program itself fails: {plain.tail()}")
    recording, traced = bench.record("pytorch", command)
    expect_same(plain, traced, exact=True)
    expect_complete(bench, recording)
    counts = bench.folder / "kineto.json"
    profiled = bench.run([*command, "--profile", str(counts)])
    expect(profiled.status == 0 and counts.exists(), f"torch.profiler failed: {profiled.tail()}")
    kineto, seen = json.loads(counts.read_text()), bench.counts(recording)
    version = kineto.pop("torch")
    figures = {"gputrace": seen, "kineto": kineto, "torch": version, "plain_s": plain.seconds,
               "traced_s": traced.seconds, **expect_order(bench, recording)}
    expect(seen == kineto, f"gputrace counts {seen}, Kineto {kineto}")
    return figures


# Words in the note of a recording for what --pytorch turned on.
NOTED = {"ops": "operations", "modules": "modules and optimizers",
         "shapes,modules": "operations with shapes and modules and optimizers"}

# Fewer than it does by itself: PyTorch's profiler follows every call in Python, and keeps them all.
LOOP = [str(PROGRAMS / "train_transformer.py"), "--steps", "20"]


def record_pytorch(bench, words):
    """The training loop under --pytorch: losses as without, a complete recording, and the report ops."""
    command = [bench.python, *LOOP]
    plain = bench.run(command)
    expect(plain.status == 0, f"the program itself fails: {plain.tail()}")
    recording = bench.recording("pytorch-" + words.replace(",", "-"))
    traced = bench.run([bench.gputrace, "run", "--pytorch", words, "-o", str(recording), "--", *command])
    expect_same(plain, traced, exact=True)
    expect_complete(bench, recording)
    notes = notes_of(bench, recording, "python")
    expect(len(notes) == 1 and re.fullmatch(rf"PyTorch \S+ in Python \S+: {NOTED[words]} have ranges", notes[0]),
           f"notes of --pytorch {words}: {notes}")
    report = bench.report(recording, "ops")
    return recording, report, {"plain_s": plain.seconds, "traced_s": traced.seconds}


def profile_pytorch(bench):
    """Figures of PyTorch's own profiler on the same loop, in a run of its own, once for all tests."""
    out = bench.folder / "ops.json"
    if not out.exists():
        done = bench.run([bench.python, *LOOP, "--ops", str(out)])
        expect(done.status == 0 and out.exists(), f"torch.profiler failed: {done.tail()}")
    return json.loads(out.read_text())


def check_ops(bench, recording, report, profiled, figures):
    """99 % of the GPU time has an operation, backward is tied to forward, and the profiler says the same of each."""
    mine = sums_by(report["ops"], lambda row: row["op"])
    whole = busy(bench, recording)
    figures["ops_percent"] = 100 * sum(time for _, time in mine.values()) / whole[1]
    expect(figures["ops_percent"] >= 99, f"{figures['ops_percent']:.2f} % of the GPU time belong to operations")
    backward = [row for row in report["ops"] if row["direction"] == "backward" and row["own_ns"]]
    expect(backward, "no operation of backward has GPU time")
    tied = sum(row["own_ns"] for row in backward if row["forward_op"])
    figures["tied_percent"] = 100 * tied / sum(row["own_ns"] for row in backward)
    expect(figures["tied_percent"] >= 95, f"{figures['tied_percent']:.1f} % of backward are tied to a forward operation; "
           f"not {[row['op'] for row in backward if not row['forward_op']][:5]}")
    theirs = {}
    for name, (launches, time_ns) in profiled["ops"].items():
        pair = theirs.setdefault(name.replace("autograd::engine::evaluate_function: ", ""), [0, 0])
        pair[0] += launches
        pair[1] += time_ns
    expect_agreement(with_rest(mine, whole), theirs, figures, "torch.profiler")


def check_modules(bench, recording, report, profiled, figures):
    """99 % of forward and backward belong to paths that the model has, the same as the profiler says."""
    rows = report["nn_modules"]
    paths = {row["module"] for row in rows if row["direction"]}
    expect(paths <= set(profiled["modules"]), f"paths that the model has not: {sorted(paths - set(profiled['modules']))}")
    leaves = {"words", "blocks.0.qkv", "blocks.1.mix.0", "head"}
    for direction in ("forward", "backward"):
        missing = leaves - {row["module"] for row in rows if row["direction"] == direction and row["own_ns"]}
        expect(not missing, f"{direction}: {missing} have no GPU time")
    steps = {row["module"]: row for row in rows if not row["direction"]}
    expect(list(steps) == ["AdamW.step"] and steps["AdamW.step"]["calls"] == 20, f"optimizers: {steps}")
    mine = with_rest(sums_by(rows, lambda row: f"{row['direction'] or ''} {row['module']}".strip()),
                     busy(bench, recording))
    theirs = profiled["owners"]
    # Work that copies the input and makes the first gradient is asked for outside of any module.
    shares = [100 * sum(time for owner, (_, time) in side.items() if owner.startswith(("forward", "backward")))
              / sum(time for _, time in side.values()) for side in (mine, theirs)]
    figures["modules_percent"], figures["outside_percent"] = shares[0], 100 * mine[""][1] / busy_ns(bench, recording)
    expect(figures["modules_percent"] >= 0.99 * shares[1],
           f"{shares[0]:.2f} % of the GPU time belong to modules, {shares[1]:.2f} % are forward and backward by torch.profiler")
    expect(figures["outside_percent"] <= 3, f"{figures['outside_percent']:.2f} % belong to no module and no optimizer")
    expect_agreement(mine, theirs, figures, "torch.profiler")


def test_pytorch_ops(bench):
    """Operations: nearly all GPU time has one, and PyTorch's own profiler says the same, operation by operation."""
    recording, report, figures = record_pytorch(bench, "ops")
    profiled = profile_pytorch(bench)
    check_ops(bench, recording, report, profiled, figures)
    return {**figures, "torch": profiled["torch"]}


def test_pytorch_modules(bench):
    """Modules: nearly all of forward and backward has one, and PyTorch's own profiler says the same, one by one."""
    recording, report, figures = record_pytorch(bench, "modules")
    profiled = profile_pytorch(bench)
    check_modules(bench, recording, report, profiled, figures)
    return {**figures, "torch": profiled["torch"]}


def test_pytorch_both(bench):
    """Operations with shapes and modules together: of each the same as alone."""
    recording, report, figures = record_pytorch(bench, "shapes,modules")
    profiled = profile_pytorch(bench)
    check_ops(bench, recording, report, profiled, figures)
    check_modules(bench, recording, report, profiled, figures)
    return {**figures, "torch": profiled["torch"]}


def top_ops(sums, count):
    """The operations with most GPU time, without what belongs to none."""
    return sorted((name for name in sums if name), key=lambda name: -sums[name][1])[:count]


RANGE_OPS_RUNS = 3 # of each profiler, in turn: clocks differ from run to run


def range_ops_by_kineto(bench, program, out):
    """{operation: (launches, GPU time in ns)} by torch.profiler."""
    profiled = bench.run([*program, "--ops", str(out)])
    expect(profiled.status == 0 and out.exists(), f"torch.profiler failed: {profiled.tail()}")
    theirs = {}
    for name, (launches, time_us) in json.loads(out.read_text())["ops"].items():
        pair = theirs.setdefault(name.replace("autograd::engine::evaluate_function: ", ""), [0, 0])
        pair[0] += launches
        pair[1] += 1000 * time_us
    return theirs


def expect_parts_add_up(bench, recording):
    """The parts of the range have all of its kernels; how many."""
    rows = {row["range"]: row for row in bench.report(recording, "ranges", "--range", "measured")["ranges"]}
    kernels = sum(rows[f"measured/{part}"]["kernels"] for part in ("forward", "backward", "optimizer"))
    expect(kernels == rows["measured"]["kernels"], f"{kernels} kernels in its parts, {rows['measured']['kernels']} in the range")
    expect(all(0 <= row["busy_percent"] <= 100 for row in rows.values()), f"shares: {rows}")
    return kernels


def test_range_ops(bench):
    """A step of BERT's size in one range of the main thread: its operations, forward and backward, are those of Kineto within
    1 %, or what runs of one profiler differ by, by the median of some runs, and the parts of the range add up to it."""
    program = [bench.python, str(PROGRAMS / "train_bert.py"), "--steps", "30"]
    mine, theirs = [], []
    for number in range(RANGE_OPS_RUNS):
        recording = bench.recording(f"range-ops-{number}")
        traced = bench.run([bench.gputrace, "run", "--pytorch", "ops", "-o", str(recording), "--", *program])
        expect(traced.status == 0, f"the program fails under gputrace: {traced.tail()}")
        expect_complete(bench, recording)
        mine.append(sums_by(bench.report(recording, "ops", "--range", "measured")["ops"], lambda row: row["op"]))
        theirs.append(range_ops_by_kineto(bench, program, bench.folder / f"range-ops-{number}.json"))
        kernels = expect_parts_add_up(bench, recording)
    apart, spread = {}, {}
    for name in top_ops(theirs[0], 25):
        launches = {sums.get(name, (0, 0))[0] for sums in mine + theirs}
        expect(len(launches) == 1, f"{name}: {launches} launches in {RANGE_OPS_RUNS} runs of gputrace and of torch.profiler")
        ours, other = (sorted(sums[name][1] for sums in sides) for sides in (mine, theirs))
        apart[name] = 100 * (statistics.median(ours) / statistics.median(other) - 1)
        spread[name] = 100 * max(side[-1] / side[0] - 1 for side in (ours, other))
    most = max(apart, key=lambda name: abs(apart[name]))
    figures = {"ops": len(apart), "most_apart_percent": apart[most], "most_apart": most,
               "runs_apart_percent": max(spread.values()), "kernels": kernels}
    wrong = [f"{name} {percent:+.2f} %, runs of one profiler {spread[name]:.2f} %" for name, percent in apart.items()
             if abs(percent) > max(1, spread[name])]
    expect(not wrong, f"operations take another time than torch.profiler says: {wrong}; {figures}")
    return figures


AUTOGRAD = "autograd::engine::evaluate_function: "


def averages_by_kineto(bench, program, out):
    """{operation: [calls, host time, GPU time in ns]}, both its own, as torch.profiler's key_averages() has them."""
    profiled = bench.run([*program, "--averages", str(out)])
    expect(profiled.status == 0 and out.exists(), f"torch.profiler failed: {profiled.tail()}")
    theirs = {}
    for name, (calls, host_us, _, gpu_us) in json.loads(out.read_text()).items():
        # Autograd's own range, and the operation of the same name inside, are one call.
        row = theirs.setdefault(name.removeprefix(AUTOGRAD), [0, 0, 0])
        row[0] = max(row[0], calls)
        row[1] += 1000 * host_us
        row[2] += 1000 * gpu_us
    return theirs


def averages_by_gputrace(bench, program, recording):
    """The same by the report ops."""
    traced = bench.run([bench.gputrace, "run", "--pytorch", "ops", "-o", str(recording), "--", *program])
    expect(traced.status == 0, f"the program fails under gputrace: {traced.tail()}")
    expect_complete(bench, recording)
    mine = {}
    for row in bench.report(recording, "ops", "--range", "measured")["ops"]:
        sums = mine.setdefault(row["op"], [0, 0, 0])
        sums[0] += row["calls"]
        sums[1] += (row["own_wall_ns"] or 0) - (row["own_api_ns"] or 0)
        sums[2] += row["own_ns"]
    return mine


def compare_averages(bench, name, column):
    """The 20 operations with most in a column: [calls here, calls there, medians in ns, percent apart, spread of the
    runs of one profiler in percent]."""
    program = [bench.python, str(PROGRAMS / name)]
    mine, theirs = [], []
    for number in range(RANGE_OPS_RUNS):
        mine.append(averages_by_gputrace(bench, program, bench.recording(f"{name}-{number}")))
        theirs.append(averages_by_kineto(bench, program, bench.folder / f"{name}-{number}.json"))
    # Rows of calls, and stretches of the user's ranges on the GPU, are no operations.
    names = [op for op in theirs[0] if op in mine[0] and theirs[0][op][column] and not op.startswith("Optimizer.")]
    rows = {}
    for op in sorted(names, key=lambda op: -theirs[0][op][column])[:20]:
        ours, other = ([sums[op] for sums in sides] for sides in (mine, theirs))
        medians = [statistics.median(sums[column] for sums in side) for side in (ours, other)]
        spread = max(100 * (max(sums[column] for sums in side) / max(1, min(sums[column] for sums in side)) - 1)
                     for side in (ours, other))
        rows[op] = [ours[0][0], other[0][0], *medians, 100 * (medians[0] / medians[1] - 1), spread]
    return rows


def expect_averages(rows, percent):
    expect(len(rows) == 20, f"{len(rows)} operations")
    wrong = [op for op, row in rows.items() if row[0] != row[1]]
    expect(not wrong, f"calls: {wrong}; {rows}")
    wrong = [f"{op} {row[4]:+.1f} %, runs of one profiler {row[5]:.1f} %" for op, row in rows.items()
             if abs(row[4]) > max(percent, row[5])]
    expect(not wrong, f"operations take another time than torch.profiler says: {wrong}; {rows}")
    most = max(rows, key=lambda op: abs(rows[op][4]))
    return {"most_apart": most, "most_apart_percent": rows[most][4], "runs_apart_percent": max(row[5] for row in rows.values())}


def test_gpu_ops(bench):
    """GPU time of operations' own beside torch.profiler's: of the 20 with most in a training step, and their calls."""
    return expect_averages(compare_averages(bench, "train_bert.py", 2), 5)


def test_host_ops(bench):
    """Host time of operations' own beside torch.profiler's, where an operation takes a millisecond. It says nothing of
    short operations: each profiler adds a microsecond or more to each, and runs of the same one are 20 to 50 % apart."""
    return expect_averages(compare_averages(bench, "host_work.py", 1), 5)


def kernels_of(bench, recording, *options):
    """By path of the ranges that the program itself opened: kernels, their time, and how much of that is by time alone."""
    rows = bench.report(recording, "ranges", "--set", "fold=no", *options)["ranges"]
    for row in rows:
        expect(row["busy_percent"] is None or 0 <= row["busy_percent"] <= 100, f"busy of a range: {row}")
    return {row["range"]: row for row in rows}


def test_torch_ranges(bench):
    """Ranges of the main thread own PyTorch's backward pass: by time, and by sequence numbers where operations are recorded."""
    command = [bench.python, str(PROGRAMS / "torch_ranges.py")]
    figures = {}
    for words in ("", "ops", "modules"):
        recording = bench.recording("torch-ranges" + words)
        options = ["--pytorch", words] if words else []
        traced = bench.run([bench.gputrace, "run", *options, "-o", str(recording), "--", *command])
        expect(traced.status == 0, f"{words or 'plain'}: {traced.tail()}")
        expect_complete(bench, recording)
        rows, own = kernels_of(bench, recording), kernels_of(bench, recording, "--set", "threads=own")
        launched = sum(row["calls"] for row in bench.report(recording, "kernels")["kernels"])
        owned = sum(rows[path]["kernels"] for path in ("setup", "warmup", "measured", "result"))
        expect(owned == launched, f"{words or 'plain'}: {owned} of {launched} kernels belong to ranges of the program")
        parts = {part: rows["measured/" + part] for part in ("forward", "backward", "optimizer")}
        expect(sum(row["kernels"] for row in parts.values()) == rows["measured"]["kernels"], f"parts of a step: {rows}")
        backward = parts["backward"]
        by_time = 100 * backward["by_time_ns"] / backward["gpu_ns"]
        missing = rows["measured"]["kernels"] - own["measured"]["kernels"]
        expect(missing >= 0.9 * backward["kernels"], f"{missing} kernels of {backward['kernels']} are other threads'")
        expect(by_time >= 95 if words != "ops" else by_time <= 20, f"{words or 'plain'}: {by_time:.1f} % is by time")
        figures[words or "plain"] = {"kernels": launched, "backward": backward["kernels"], "own": own["measured"]["kernels"],
                                     "by_time_percent": by_time, "busy_percent": rows["measured"]["busy_percent"]}
        if words != "ops":
            continue
        ops = bench.report(recording, "ops", "--range", "measured")["ops"]
        time_ns = sum(row["own_ns"] for row in ops)
        chosen = bench.report(recording, "kernels", "--range", "measured")["kernels"]
        share = 100 * time_ns / sum(row["total_ns"] for row in chosen)
        expect(share >= 95, f"--range measured: operations have {share:.1f} % of the kernels' time")
        expect(any(row["direction"] == "backward" and row["own_ns"] for row in ops), "--range measured: no backward pass")
        figures["ops_percent"] = share
    return figures
