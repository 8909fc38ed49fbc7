# SPDX-License-Identifier: Apache-2.0
"""Memory of captured launches is what the program has, and what cannot be captured is refused with the reason."""
import json
import shutil

from cases.support import captured_memory, replay_bundles
from cases.support.bench import PROGRAMS, SKIPPED, expect
from cases.support.readings import facts_of, notes_of
from cases.support.replaying import bundles_in, expect_as_recorded, library, replay

# Cases of tests/gpu/programs/cuda/capture_cases.cu with no captured launch: the kernel, and words that the reason must have.
REFUSED = {"ipc": ("^reads$", "memory of another process"), "peer": ("^reads$", "memory of another GPU")}


def capture_cases(bench, name, *options, program=None, **environment):
    """(what the program said, bundles, rows of report replayable, recording) of a program of which launches are
    captured; facts None: it needs what this machine has not."""
    recording = bench.recording(f"capture-{name}")
    command = program or [bench.find("capture_cases"), name]
    traced = bench.run([bench.gputrace, "run", "-q", "--no-export", *options, "-o", str(recording), "--", *command],
                       **environment)
    if traced.status == SKIPPED:
        return None, [], [], recording
    facts = facts_of(traced, f"{name} while it is captured")
    expect(facts["wrong"] == "0", f"{name} gives wrong results while it is captured")
    return facts, bundles_in(recording), bench.report(recording, "replayable")["captured"], recording


def show_bundle(bench, bundle):
    """Contents of the bundle, its memory as floats; every blob was read, and is what its name says."""
    shown = bench.run([bench.find("show_bundle"), str(bundle), str(captured_memory.SHOWN)])
    expect(shown.status == 0, f"{bundle.name} cannot be read: {shown.tail()}")
    return json.loads(shown.stdout)


def reasons(rows):
    return [row["reason"] for row in rows]


def expect_replayed(bench, bundle, *verdict):
    status, said = replay(bench, bundle)
    return expect_as_recorded(status, said, bundle.name, *verdict)["verdict"]


def test_capture_memory(bench):
    """Memory of every kind is what the program has: kind, size, contents and who asked for it; it runs again."""
    facts, bundles, rows, _ = capture_cases(bench, "memory", "--capture-kernels", "^every_kind$")
    expect(len(bundles) == 1, f"{len(bundles)} bundles: {reasons(rows)}")
    shown = show_bundle(bench, bundles[0])
    told = {what: captured_memory.told_memory(facts[what]) for what in captured_memory.KINDS}
    wrong = [text for text in (captured_memory.wrong_memory(shown, what, told[what]) for what in told) if text]
    expect(not wrong, f"{wrong}")
    names = {what: captured_memory.memory_at(shown, told[what][0])["name"] for what in told}
    # Who maps memory is not told by the stack: the driver (580) has the parameters of cuMemMap elsewhere.
    expected = {what: {"variable": "variable_memory", "mapped": ""}.get(what, "capture_cases") for what in told}
    expect(names == expected, f"{names} asked for memory, not {expected}")
    origin = replay_bundles.read(bundles[0])["origin"]
    expect(origin["workspace_bytes"] == -1, f"{origin['workspace_bytes']} bytes of workspace, and who asked for one is not known")
    expect(not shown["missing"], f"what is missing: {shown['missing']}")
    sizes = {what: captured_memory.memory_at(shown, told[what][0])["size"] - told[what][1] for what in told}
    return {"rounded_up": sizes, "verdict": expect_replayed(bench, bundles[0])}


def test_capture_expandable(bench):
    """PyTorch's allocator with expandable segments: pieces that are mapped side by side are captured, and run again."""
    program = [bench.python, str(PROGRAMS / "replay_python.py"), "elementwise", "3"]
    facts, bundles, rows, _ = capture_cases(
        bench, "expandable", "--capture-kernels", "elementwise_kernel", "--range", "measured", program=program,
        PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True", PYTORCH_ALLOC_CONF="expandable_segments:True")
    expect(len(bundles) == 1, f"{len(bundles)} bundles of {facts['kernel']}: {reasons(rows)}")
    manifest = replay_bundles.read(bundles[0])
    targets = {pointer["target"] for pointer in manifest["pointers"] if pointer.get("step") == 0}
    memory = [manifest["memory"][target] for target in targets if manifest["memory"][target]["kind"] != "variable"]
    expect(memory and {row["kind"] for row in memory} == {"mapped"},
           f"memory of other kinds: {[(row['kind'], row['size']) for row in memory]}")
    # Two inputs and an output of 4096 x 1024 floats.
    expect(sum(row["size"] for row in memory) >= 3 * 4096 * 1024 * 4, f"{sum(row['size'] for row in memory)} bytes are there")
    expect(all(row.get("name", "") == "" for row in memory), f"asked for by {[row['name'] for row in memory]}")
    expect(manifest["origin"]["workspace_bytes"] == -1, "memory of PyTorch's allocator tells no workspace, and one was told")
    verdict = expect_replayed(bench, bundles[0])
    figures = {"sizes": [row["size"] for row in memory], "verdict": verdict}
    shutil.rmtree(bundles[0].parent)
    return figures


def test_capture_workspace(bench):
    """A library that asks for memory by itself: a transform of a length that needs some. It is in a bundle, by name and
    size, and is its workspace."""
    program = [bench.find("capture_cases"), "fft", library(bench, "libcufft")]
    facts, bundles, rows, _ = capture_cases(bench, "fft", "--capture-kernels", ".", "--range", "transform", "--launches", "1:8",
                                            program=program)
    work = int(facts["work_bytes"])
    expect(work > 0, "the transform needs no memory of its own: choose another length")
    expect(bundles, f"nothing was captured: {reasons(rows)}")
    origins = [replay_bundles.read(bundle) for bundle in bundles]
    asked = [(row["name"], row["size"]) for origin in origins for row in origin["memory"] if row.get("name", "").startswith("libcufft")]
    most = max(origin["origin"]["workspace_bytes"] for origin in origins)
    expect(any(size >= work for _, size in asked), f"no memory of libcufft's of {work} bytes: {asked}")
    expect(most >= work, f"{most} bytes of workspace, and the plan has {work}")
    return {"work_bytes": work, "workspace_bytes": most, "bundles": len(bundles), "of": len(rows),
            "verdict": expect_replayed(bench, bundles[0])}


def test_capture_choice(bench):
    """Launches 3 and 4 are those that are captured, with their memory; of two modules with a kernel of one name, the one
    that is launched."""
    facts, bundles, rows, _ = capture_cases(bench, "counted", "--capture-kernels", "^counted$", "--launches", "3:2")
    numbers = sorted(int(bundle.name.split("-")[1]) for bundle in bundles)
    expect(numbers == [3, 4], f"launches {numbers} were captured: {reasons(rows)}")
    expect([row["number"] for row in rows] == numbers, f"rows of launches {[row['number'] for row in rows]}")
    # Launch k adds k to what was 0 before the first.
    for number, before in ((3, 3), (4, 6)):
        bundle = next(bundle for bundle in bundles if bundle.name.split("-")[1] == str(number))
        out = captured_memory.memory_at(show_bundle(bench, bundle), int(facts["out"], 16))
        expect(out, f"launch {number}: its memory is missing")
        values = [sorted(set(out[when])) for when in ("before", "after")]
        expect(values == [[before], [before + number]], f"launch {number}: {values[0][:4]} before and {values[1][:4]} after")
        expect_replayed(bench, bundle)
    _, bundles, rows, _ = capture_cases(bench, "twins", "--capture-kernels", "^twin$", "--launches", "1:2")
    expect(len(bundles) == 2, f"{len(bundles)} bundles of two modules' kernels: {reasons(rows)}")
    images = []
    for bundle in bundles:
        manifest = replay_bundles.read(bundle)
        expect(not manifest["missing"], f"{bundle.name}: {manifest['missing']}")
        images.append(manifest["modules"][0]["image"]["hash"])
        # Had it the other one's code, it would add another number.
        expect_replayed(bench, bundle)
    expect(images[0] != images[1], "both bundles have the same code")
    return {"numbers": numbers, "images": len(set(images))}


def test_capture_refused(bench):
    """Memory of another process and of another GPU: refused with the reason, and the program is right. A launch that
    becomes a node of a graph is refused so too, or it is in a bundle with the others of its launch."""
    figures = {}
    for name, (kernel, words) in REFUSED.items():
        facts, bundles, rows, _ = capture_cases(bench, name, "--capture-kernels", kernel)
        if facts is None:
            figures[name] = "not here"
            continue
        expect(not bundles and len(rows) == 1, f"{name}: {len(bundles)} bundles, {len(rows)} rows: {reasons(rows)}")
        expect(words in rows[0]["reason"], f"{name}: {rows[0]['reason']}")
        figures[name] = rows[0]["reason"]
    _, bundles, rows, _ = capture_cases(bench, "graph", "--capture-kernels", "^counted$", "--launches", "1:9")
    expect(rows, "graph: no row says what became of its launches")
    expect(all("graph" in row["reason"] for row in rows if not row["bundle"]), f"graph: {reasons(rows)}")
    for bundle in bundles:
        expect_replayed(bench, bundle, "outputs as in the sequence")
    return {**figures, "graph": f"{len(bundles)} bundles" if bundles else rows[0]["reason"]}


def test_capture_beside(bench):
    """A kernel runs on another stream that ends only after the launch that is to be captured: after half a minute it is
    let go, and the program ends as it should."""
    facts, bundles, rows, recording = capture_cases(bench, "beside", "--capture-kernels", "^counted$", "--launches", "2:1")
    expect(facts["beside"] == "1", "the other kernel had ended before")
    expect(not bundles, "it was captured, though the other kernel had not ended")
    expect(25 <= float(facts["held_s"]) <= 40, f"the launch was held up for {facts['held_s']} s")
    expect(len(rows) == 1 and rows[0]["number"] == 2 and "half a minute" in rows[0]["reason"],
           f"rows: {[(row['number'], row['reason']) for row in rows]}")
    notes = notes_of(bench, recording, "kernel_capture")
    expect(any("not captured any more" in text for text in notes), f"notes: {notes}")
    return {"held_s": float(facts["held_s"]), "ended_s": float(facts["ended_s"]), "reason": rows[0]["reason"]}
