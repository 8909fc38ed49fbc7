# SPDX-License-Identifier: Apache-2.0
"""Ranges and CUDA graphs run again as sequences, in every form."""
import collections

from cases.support import replay_bundles
from cases.support.bench import PROGRAMS, expect, sum_of
from cases.support.readings import facts_of, rows_of
from cases.support.replaying import REPLAY_LAUNCHES, bundles_in, capture_sequence, expect_as_recorded, forget_bundles, replay


def kinds_of(manifest):
    return dict(collections.Counter(step["kind"] for step in manifest["steps"]))


def launches_of(manifest):
    """(number, step) of the kernels of a sequence."""
    return [(number, step) for number, step in enumerate(manifest["steps"]) if step["kind"] == "launch"]


def replay_step(bench, bundle, number, *options, l2="warm"):
    """The row of one step alone, which does what it did when the sequence was run."""
    status, said = replay(bench, bundle, "--step", str(number), "--l2", l2, *options)
    row = said["times"][0]
    expect(said["launch"][0]["step"] == number and said["launch"][0]["launches"] == 1, f"step {number}: {said['launch']}")
    expect(status == 0 and row["verdict"].startswith("outputs as in the sequence"),
           f"step {number}: exit status {status}, {row['verdict']}: {said['buffers']} {said['remarks']}")
    return row


def expect_time_of_step(row, step, number):
    """The median is the step's own time in the program."""
    job_ns = step["end_ns"] - step["start_ns"]
    expect(row["job_ns"] == job_ns, f"step {number}: {row['job_ns']} ns in the program, and its times say {job_ns}")
    most = max(replay_bundles.STEP_NS, replay_bundles.STEP_PERCENT / 100 * job_ns)
    expect(abs(row["median_ns"] - job_ns) <= most, f"step {number}: {row['median_ns']} ns, and {job_ns} in the program")
    return {"median_ns": row["median_ns"], "job_ns": job_ns, "percent_off": replay_bundles.percent_off(row["median_ns"], job_ns)}


def expect_time_among(bench, bundle, number, step):
    """The step's time in the program, where some of what it reads is in the cache, is between what it takes with all of it
    there and with nothing."""
    job_ns = step["end_ns"] - step["start_ns"]
    warm = replay_step(bench, bundle, number)
    cold = replay_step(bench, bundle, number, l2="cold")
    expect(warm["job_ns"] == job_ns, f"step {number}: {warm['job_ns']} ns in the program, and its times say {job_ns}")
    least, most = (ns + sign * max(replay_bundles.STEP_NS, replay_bundles.STEP_PERCENT / 100 * ns)
                   for ns, sign in ((warm["median_ns"], -1), (cold["median_ns"], 1)))
    expect(least <= job_ns <= most, f"step {number}: {job_ns} ns in the program, and {warm['median_ns']} to {cold['median_ns']}")
    return {"warm_ns": warm["median_ns"], "cold_ns": cold["median_ns"], "job_ns": job_ns}


def test_replay_range(bench):
    """A launch-bound range of PyTorch's, captured as one sequence and run again as one graph: the gain is the one that
    torch.cuda.graph brings."""
    command = [bench.python, str(PROGRAMS / "replay_range.py"), str(REPLAY_LAUNCHES)]
    facts = facts_of(bench.run(command), "replay_range.py")
    plain_ns, graph_ns = float(facts["plain_ns"]), float(facts["graph_ns"])
    job, traced = bench.record("job-range", command, "--no-export")
    facts_of(traced, "replay_range.py under gputrace run")
    launches, rest = divmod(sum_of(bench.report(job, "kernels", "--range", "step"), "kernels", "calls"), REPLAY_LAUNCHES)
    expect(launches and not rest, f"{launches} kernels in each of {REPLAY_LAUNCHES} steps, and {rest} more")
    bundle, _ = capture_sequence(bench, "range", command)
    manifest = replay_bundles.read(bundle)
    expect(kinds_of(manifest)["launch"] == launches, f"{kinds_of(manifest)}, and {launches} launches in a step")
    figures = {"steps": kinds_of(manifest), "occurrences": manifest["origin"].get("job_launches", 0),
               "job_ns": manifest["origin"].get("job_ns"), "missing": manifest["missing"]}
    medians = {}
    for form in "recorded", "back-to-back", "graph":
        status, said = replay(bench, bundle, "--form", form, "--l2", "warm")
        expect(said["launch"][0]["launches"] == launches, f"{said['launch'][0]['launches']} launches of {launches}")
        medians[form] = expect_as_recorded(status, said, f"--form {form}")["median_ns"]
    status, said = replay(bench, bundle, "--form", "all", "--l2", "warm")
    expect_as_recorded(status, said, "--form all")
    expect([row["variant"] for row in said["times"]] == ["as recorded", "form=back-to-back", "form=one-stream", "form=graph"]
           and all("outputs as recorded" in row["verdict"] for row in said["times"]),
           f"--form all, in one stream: {[(row['variant'], row['verdict']) for row in said['times']]}")
    number, step = launches_of(manifest)[launches // 2]
    figures["step_alone"] = expect_time_among(bench, bundle, number, step)
    forget_bundles(bench, "range")
    gain, rewritten = plain_ns / medians["graph"], plain_ns / graph_ns
    figures = {**figures, **medians, "launches": launches, "plain_ns": plain_ns, "graph_ns": graph_ns, "gain": gain,
               "gain_of_pytorch": rewritten}
    expect(figures["occurrences"] > 0, f"no other step did the same: {figures}")
    expect(replay_bundles.percent_off(gain, rewritten) <= replay_bundles.GAIN_PERCENT,
           f"as a graph it is {gain:.2f} times as fast, and {rewritten:.2f} times with torch.cuda.graph: {figures}")
    return figures


def replay_forms(bench, bundle, *forms):
    """Median of a bundle's runs in each form, all of which left what was recorded."""
    return {form: expect_as_recorded(*replay(bench, bundle, "--form", form, "--l2", "warm"), f"--form {form}")["median_ns"]
            for form in forms}


def test_replay_graphs(bench):
    """Launches of a graph that was captured and of one that was made by hand, whose nodes are changed: in a sequence, by
    themselves, and for one of their kernels."""
    command = [bench.find("replay_graphs"), str(REPLAY_LAUNCHES)]
    bundle, facts = capture_sequence(bench, "graphs", command)
    manifest = replay_bundles.read(bundle)
    kinds = kinds_of(manifest)
    expect(facts["wrong"] == "0", f"{facts['wrong']} elements are wrong while a step is captured")
    expect({kind: kinds.get(kind) for kind in ("launch", "copy", "fill", "host_wait")} ==
           {"launch": int(facts["kernels"]), "copy": 3, "fill": 1, "host_wait": 1}, f"{kinds}")
    expect({step.get("graph", 0) for step in manifest["steps"]} == {0, 1, 2}, "steps are not of two launches of graphs")
    expect(manifest["origin"].get("job_launches") == REPLAY_LAUNCHES - 1 and not manifest["missing"],
           f"times of {manifest['origin'].get('job_launches')} steps: {manifest['missing']}")
    pinned = [step.get("pinned", False) for step in manifest["steps"] if step["kind"] == "copy"]
    expect(pinned == [True, True, False], f"copies are of pinned memory: {pinned}")
    figures = {"kinds": kinds, "step_ns": float(facts["step_ns"]), "job_ns": manifest["origin"]["job_ns"],
               **replay_forms(bench, bundle, "recorded", "back-to-back", "one-stream", "graph")}
    bundle, _ = capture_sequence(bench, "one-graph", command, "--capture-graphs", "--launches", "4:1")
    manifest = replay_bundles.read(bundle)
    expect(kinds_of(manifest)["launch"] == 4 and "focus" not in manifest, f"{kinds_of(manifest)} of the graph made by hand")
    figures["made_ns"] = {"job": manifest["origin"].get("job_ns"), **replay_forms(bench, bundle, "graph")}
    bundle, _ = capture_sequence(bench, "node", command, "--capture-kernels", "add", "--launches", "3:1")
    manifest = replay_bundles.read(bundle)
    focus = manifest["steps"][manifest["focus"]]
    expect(manifest["functions"][focus["function"]]["name"] == "add", f"step {manifest['focus']} was chosen")
    figures["node_ns"] = focus["end_ns"] - focus["start_ns"]
    status, said = replay(bench, bundle, "--l2", "warm")
    figures["node_alone_ns"] = expect_as_recorded(status, said, "the node alone", "outputs as in the sequence")["median_ns"]
    status, said = replay(bench, bundle, "--whole", "--l2", "warm")
    figures["node_whole_ns"] = expect_as_recorded(status, said, "the launch that the node is of")["median_ns"]
    return figures


def test_replay_torch_graph(bench):
    """A step of PyTorch's that torch.cuda.graph made a graph of: each of its kernels is a step, and as a graph it takes as
    long as in the job."""
    command = [bench.python, str(PROGRAMS / "replay_range.py"), str(REPLAY_LAUNCHES)]
    job_ns = float(facts_of(bench.run(command), "replay_range.py")["graph_ns"])
    bundle, facts = capture_sequence(bench, "torch-graph", command, "--capture-graphs", "--launches", "2:1")
    manifest = replay_bundles.read(bundle)
    kinds = kinds_of(manifest)
    expect(kinds["launch"] >= int(facts["kernels"]) * 2 // 3, f"{kinds} in the graph of {facts['kernels']} kernels")
    expect(manifest["origin"].get("job_launches", 0) >= REPLAY_LAUNCHES - 1, f"{manifest['missing']}")
    return {"kinds": kinds, "graph_ns": job_ns, "job_ns": manifest["origin"]["job_ns"],
            "missing": manifest["missing"], **replay_forms(bench, bundle, "recorded", "graph")}


def test_replay_sequence(bench):
    """A step over two streams with events, copies, a fill and waits of the host: it is all there, in its order, and does the
    same again in every form, also at other addresses."""
    command = [bench.find("replay_sequence"), str(REPLAY_LAUNCHES)]
    bundle, facts = capture_sequence(bench, "sequence", command)
    manifest = replay_bundles.read(bundle)
    kinds = kinds_of(manifest)
    expect(facts["wrong"] == "0", f"{facts['wrong']} elements are wrong while a step is captured")
    expect(kinds == {"launch": 4, "copy": 4, "fill": 1, "record": 3, "wait": 2, "host_wait": 4}, f"{kinds}")
    expect(manifest["steps"][6]["range"] == "step/inner", f"the second launch is in {manifest['steps'][6]['range']}")
    expect(manifest["origin"].get("job_launches") == REPLAY_LAUNCHES - 1 and not manifest["missing"],
           f"times of {manifest['origin'].get('job_launches')} steps: {manifest['missing']}")
    figures = {"step_ns": float(facts["step_ns"]), "job_ns": manifest["origin"]["job_ns"]}
    figures |= replay_forms(bench, bundle, "recorded", "back-to-back", "one-stream", "graph")
    status, said = replay(bench, bundle, "--relocate", "--l2", "warm")
    expect_as_recorded(status, said, "--relocate")
    # Data that a kernel left just before is in the cache, as with --l2 warm; the first and the last one read what was copied.
    steps = launches_of(manifest)
    for number, step in steps[1:3]:
        figures[f"step_{number}"] = expect_time_of_step(replay_step(bench, bundle, number), step, number)
    for number, _ in steps[0], steps[3]:
        figures[f"step_{number}_ns"] = replay_step(bench, bundle, number)["median_ns"]
    _, said = replay(bench, bundle, "--step", "^add", "--block", "128", "--block", "512")
    expect(said["launch"][0]["step"] == steps[2][0], f"--step ^add ran {said['launch']}")
    expect(all("outputs as in the sequence" in row["verdict"] for row in said["times"]),
           f"--step ^add: {[(row['variant'], row['verdict']) for row in said['times']]}")
    figures["relocated_step_ns"] = replay_step(bench, bundle, steps[2][0], "--relocate")["median_ns"]
    forget_bundles(bench, "sequence")
    return figures


def test_replay_priorities(bench):
    """The form priorities gains what the program gains when its stream has that priority."""
    command = [bench.find("replay_priorities"), str(REPLAY_LAUNCHES)]
    plain, rewritten = (facts_of(bench.run([*command, *more]), "replay_priorities") for more in ([], ["first"]))
    bundle, facts = capture_sequence(bench, "priorities", command)
    expect(facts["wrong"] == "0", f"{facts['wrong']} elements are wrong while a step is captured")
    manifest = replay_bundles.read(bundle)
    chain = {step["stream"] for _, step in launches_of(manifest)} - {launches_of(manifest)[0][1]["stream"]}
    expect(len(chain) == 1, f"the chain is in streams {chain}")
    number = manifest["streams"][chain.pop()]["number"]
    status, said = replay(bench, bundle, "--form", "recorded", "--form", "priorities", "--priority", f"{number}=-100")
    expect_as_recorded(status, said, "--form priorities")
    forms = {"recorded": said["times"][0], "first": said["times"][1]}
    expect("outputs as recorded" in forms["first"]["verdict"], f"{forms['first']}")
    gain, shown = (float(plain["step_ns"]) / float(rewritten["step_ns"]), forms["recorded"]["median_ns"] / forms["first"]["median_ns"])
    figures = {"step_ns": float(plain["step_ns"]), "rewritten_ns": float(rewritten["step_ns"]),
               "gain": gain, "shown": shown, **{name: row["median_ns"] for name, row in forms.items()}}
    expect(gain > 1.2, f"the priority gains nothing in the program: {figures}")
    expect(abs(shown / gain - 1) < 0.1, f"replay shows another gain: {figures}")
    status, said = replay(bench, bundle, "--form", "all")
    rows = {row["variant"]: row["verdict"] for row in said["times"]}
    expect(status == 0 and all("outputs as recorded" in verdict for verdict in rows.values()), f"--form all: {rows}")
    figures["all"] = {row["variant"]: round(row["median_ns"]) for row in said["times"]}
    forget_bundles(bench, "priorities")
    return figures


def shape_of(step):
    return tuple(step.get(member, 1 if member in ("rows", "slices") else 0)
                 for member in ("bytes", "rows", "slices", "to_pitch", "from_pitch", "to_slice_pitch", "from_slice_pitch"))


def check_rows(manifest):
    shapes = {(step["kind"], *shape_of(step)) for step in manifest["steps"] if step["kind"] in ("copy", "fill")}
    pitch = max(shape[5] for shape in shapes if shape[0] == "copy")
    wanted = {("copy", 1000, 64, 1, pitch, 0, 0, 0), ("fill", 40, 64, 1, pitch, 0, 0, 0),
              ("copy", 400, 5, 6, 512, pitch, 3072, 8 * pitch), ("fill", 64, 3, 4, 512, 0, 3072, 0)}
    expect(wanted <= shapes, f"of rows and slices: {sorted(wanted - shapes)} are not among {sorted(shapes)}")


def check_batch(manifest):
    calls = collections.Counter(step["correlation"] for step in manifest["steps"] if step["kind"] == "copy")
    expect(max(calls.values()) == 100, f"copies by call: {dict(calls)}")


def check_symbols(manifest):
    variables = {memory["address"]: memory["name"] for memory in manifest["memory"] if memory["kind"] == "variable"}
    copied = collections.Counter(variables.get(step.get("to") or step.get("from")) for step in manifest["steps"]
                                 if step["kind"] == "copy" and step["bytes"] == 16)
    expect(sorted(name for name in copied if name) == ["factors", "offsets"], f"copies of variables: {dict(copied)}")


def check_host(manifest):
    written = [step["bytes"] for step in manifest["steps"] if step.get("by_host") and step["kind"] == "copy"]
    kinds = {memory["kind"] for memory in manifest["memory"]}
    expect(len(written) == 4 and sum(written) == 4 * 8, f"the host wrote {written}")
    expect({"managed", "host"} <= kinds, f"memory: {kinds}")


def check_free(manifest):
    kinds = collections.Counter(memory["kind"] for memory in manifest["memory"])
    expect(kinds["pool"] == 1 and kinds["device"] == 2, f"memory: {dict(kinds)}")


STEPS = {"rows": check_rows, "batch": check_batch, "symbols": check_symbols, "symbols_first": check_symbols, "host": check_host,
         "free": check_free}


def test_replay_steps(bench):
    """A step with more than launches and copies on end is captured as it is, and does the same again in every form.
    Whether a variable can be copied to before a launch of its module is known is the driver's to say: it does so, or the
    reason is told."""
    figures = {}
    for how, check in STEPS.items():
        name = f"steps-{how}"
        recording = bench.recording(f"replay-{name}")
        traced = bench.run([bench.gputrace, "run", "-q", "--no-export", "--capture-sequence", "step", "-o", str(recording), "--",
                            bench.find("replay_steps"), how, str(REPLAY_LAUNCHES)])
        facts = facts_of(traced, f"{how} while a step of it is captured")
        if "unsupported" in facts:
            figures[how] = "not here"
            continue
        bundles = bundles_in(recording)
        reasons_told = [row["reason"] for row in bench.report(recording, "replayable")["captured"] if row["reason"]]
        expect(facts["wrong"] == "0", f"{how}: {facts['wrong']} elements are wrong while a step is captured")
        if how == "symbols_first" and not bundles and "the driver tells of" in " ".join(reasons_told):
            figures[how] = reasons_told[0]
            continue
        expect(len(bundles) == 1, f"{how}: {len(bundles)} bundles: {reasons_told}")
        manifest = replay_bundles.read(bundles[0])
        check(manifest)
        for form in "recorded", "back-to-back", "one-stream", "graph":
            status, said = replay(bench, bundles[0], "--form", form, "--l2", "warm")
            expect_as_recorded(status, said, f"{how}, --form {form}")
        status, said = replay(bench, bundles[0], "--relocate", "--l2", "warm")
        expect_as_recorded(status, said, f"{how}, --relocate")
        figures[how] = f"{len(manifest['steps'])} steps, times of {manifest['origin'].get('job_launches', 0)}"
        if manifest["missing"]:  # what CUPTI's records have, of the captured step and the one after
            bytes_of = {table: [row["size_bytes"] for row in rows_of(bench, recording, table)] for table in ("copies", "fills")}
            figures[how] += f"; {manifest['missing']}, bytes of its records: " + str(
                {table: numbers[:2 * len(numbers) // REPLAY_LAUNCHES] for table, numbers in bytes_of.items()})
        forget_bundles(bench, name)
    return figures
