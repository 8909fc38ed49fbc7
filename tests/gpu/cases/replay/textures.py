# SPDX-License-Identifier: Apache-2.0
"""Launches with textures and surfaces run again as recorded."""
from cases.support import replay_bundles
from cases.support.bench import expect
from cases.support.replaying import capture_launch, capture_sequence, expect_as_recorded, forget_bundles, replay

# Kernels that tests/gpu/programs/cuda/replay_textures.cu launches, and what the texture, or else the surface, is of.
TEXTURED = {"filtered": "array", "fetched": "linear", "pitched": "pitch", "painted": "array", "mipmapped": "mipmap",
            "reduced": "mipmap", "layered": "array", "volume": "array", "looked_up": "array", "cubed": "array", "lined": "array",
            "viewed": "array", "bordered": "array"}


def replay_textures(bench, name, bundle):
    """The figures of one: the same again, also at other addresses; handles are the program's where they can be."""
    manifest = replay_bundles.read(bundle)
    objects = [row["resource"] for row in manifest["objects"]]
    expect(TEXTURED[name] in objects, f"{name}: objects are of {objects}")
    expect(manifest["handles"], f"{name}: no handle was found")
    status, said = replay(bench, bundle)
    row = expect_as_recorded(status, said, name)
    rewritten = [remark for remark in said["remarks"] if "handles of textures and surfaces" in remark]
    moved_status, moved = replay(bench, bundle, "--relocate")
    expect_as_recorded(moved_status, moved, f"{name} at other addresses")
    other_status, other = replay(bench, bundle, "--inputs", "random", "--runs", "1")
    expect(other_status == 0, f"{name} with other inputs: {other['times'][0]['verdict']}")
    return {"median_ns": row["median_ns"], "objects": objects, "arrays": [row["array"] for row in manifest["memory"] if "array" in row],
            "handles": [row["value"] for row in manifest["objects"]], "rewritten": rewritten,
            "buffers": [[row["bytes"], row["element"], row["type_from"]] for row in said["buffers"]]}


def test_array_facts(bench):
    """The assumptions of captures and replay on arrays, textures and surfaces hold; the numbers of handles are kept."""
    ended = bench.run([bench.find("array_facts")])
    answers = dict(line.split("=", 1) for line in ended.stdout.splitlines())
    wrong = [name for name, answer in answers.items() if answer == "no"]
    expect(ended.status == 0, f"array_facts exits with {ended.status}: {', '.join(wrong) or ended.tail()}")
    return {name: answer for name, answer in answers.items() if answer != "ok"} | {"ok": sum(answer == "ok" for answer in answers.values())}


def test_replay_textures(bench):
    """Kernels with textures of arrays, of memory and of rows of it, of mipmapped, layered and 3D arrays, of cubemaps and of
    one dimension, with a view, with a colour beyond the border, and with surfaces: captured, and run again with outputs as
    recorded, alone and as a sequence."""
    figures = {}
    for name in TEXTURED:
        command = [bench.find("replay_textures"), name, "3"]
        bundle = capture_launch(bench, f"textures-{name}", command, f"^{name}$")
        figures[name] = replay_textures(bench, name, bundle)
        forget_bundles(bench, f"textures-{name}")
    bundle, facts = capture_sequence(bench, "textures", [bench.find("replay_textures"), "painted", "3"])
    expect(facts["wrong"] == "0", f"{facts['wrong']} elements are wrong while a step is captured")
    figures["sequence"] = replay_textures(bench, "painted", bundle)
    forget_bundles(bench, "textures")
    return figures
