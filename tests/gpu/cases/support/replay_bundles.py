# SPDX-License-Identifier: Apache-2.0
"""Checks of scripts/run-gpu-tests on `gputrace replay`: how far figures may be apart, and bundles that something is
wrong with.
"""
import json
import shutil
import statistics

MIB = 1 << 20
JOB_PERCENT = 2.0  # that a median may be away from the time in the program
STATE_PERCENT = 3.0  # the same where its work depends on what memory holds
RUNS_PERCENT, RUNS_NS = 1.0, 200.0  # that runs may be apart: by the larger of both
GAIN_PERCENT = 10.0
STEP_PERCENT, STEP_NS = 5.0, 200.0  # that one step alone may be away from its time in the program: by the larger of both


def percent_off(value, wanted):
    return 100 * abs(value - wanted) / wanted


def apart(medians):
    """By how many nanoseconds medians of several runs are apart, and by how many they may be."""
    return max(medians) - min(medians), max(RUNS_NS, RUNS_PERCENT / 100 * statistics.median(medians))


def read(bundle):
    return json.loads((bundle / "bundle.json").read_text())


def write(bundle, manifest):
    (bundle / "bundle.json").write_text(json.dumps(manifest))


def largest_blob(bundle):
    return max((bundle / "blobs").iterdir(), key=lambda path: path.stat().st_size)


def cut_blob(bundle):
    blob = largest_blob(bundle)
    blob.write_bytes(blob.read_bytes()[:blob.stat().st_size // 2])


def change_blob(bundle):
    blob = largest_blob(bundle)
    bytes_ = bytearray(blob.read_bytes())
    bytes_[len(bytes_) // 2] ^= 0x55
    blob.write_bytes(bytes_)


def lose_blob(bundle):
    largest_blob(bundle).unlink()


def cut_manifest(bundle):
    path = bundle / "bundle.json"
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])


def lose_manifest(bundle):
    (bundle / "bundle.json").unlink()


def overlap_memory(bundle):
    manifest = read(bundle)
    manifest["memory"][1]["address"] = manifest["memory"][0]["address"]
    write(bundle, manifest)


def become_newer(bundle):
    write(bundle, {**read(bundle), "version": 99})


def become_too_large(bundle):
    """More memory, behind all that there is, than any GPU has."""
    manifest = read(bundle)
    last = manifest["memory"][-1]
    end = int(last["address"], 16) + last["size"]
    manifest["memory"].append({"kind": "device", "address": hex((end // MIB + 64) * MIB), "size": 1 << 42})
    write(bundle, manifest)


def move_memory(bundle, address):
    """Puts the first memory of the GPU that a parameter leads to elsewhere; as if it had been there in the program."""
    manifest = read(bundle)
    target = next(pointer["target"] for pointer in manifest["pointers"] if pointer.get("declared"))
    moved = manifest["memory"].pop(target)
    moved["address"] = hex(address)
    place = sum(int(row["address"], 16) < address for row in manifest["memory"])
    manifest["memory"].insert(place, moved)
    for pointer in manifest["pointers"]:
        for name in "target", "memory":
            if name in pointer:
                pointer[name] = number_after(pointer[name], target, place)
    write(bundle, manifest)


def number_after(number, moved_from, moved_to):
    """The number in a list of what had that number, after one entry went to another place."""
    if number == moved_from:
        return moved_to
    if number > moved_from:
        number -= 1
    return number + (number >= moved_to)


# Damage done to a bundle, and what the sentence must say of it.
DAMAGES = {
    "a blob is cut": (cut_blob, r"is cut"),
    "a blob is changed": (change_blob, r"changed"),
    "a blob is missing": (lose_blob, r"missing"),
    "bundle.json is cut": (cut_manifest, r"bundle\.json is damaged"),
    "bundle.json is missing": (lose_manifest, r"has no bundle\.json"),
    "memory overlaps": (overlap_memory, r"overlap"),
    "it is of a newer version": (become_newer, r"newer"),
    "it is too large": (become_too_large, r"memory, of which"),
}


def damaged(bundle, folder, damage):
    """A copy of the bundle in that folder, to which that was done."""
    shutil.copytree(bundle, folder)
    damage(folder)
    return folder
