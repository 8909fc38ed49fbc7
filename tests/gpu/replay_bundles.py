# SPDX-License-Identifier: Apache-2.0
"""What scripts/run-gpu-tests asks of `gputrace replay`: how far figures may be apart, bundles that something is wrong
with, and launches that were captured one by one as a sequence.
"""
import json
import shutil
import statistics

MIB = 1 << 20
JOB_PERCENT = 2.0  # that a median may be away from the time in the program
RUNS_PERCENT, RUNS_NS = 1.0, 200.0  # that runs may be apart: by the larger of both
GAIN_PERCENT = 10.0


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


# What is done to a bundle, and what the sentence must say of it.
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


class Joined:
    """Bundles of single launches, one after the other, become one of a sequence."""

    def __init__(self, folder):
        self.folder, self.manifest = folder, None
        self.numbers = {}  # in the lists of the joined bundle, by what stands there
        (folder / "blobs").mkdir(parents=True)

    def number(self, name, key, row):
        """Of that row of that list, which is added when it is not there yet."""
        known = self.numbers.setdefault(name, {})
        if key not in known:
            known[key] = len(self.manifest[name])
            self.manifest[name].append(row)
        return known[key]

    def add_function(self, manifest, function):
        module = manifest["modules"][function["module"]]
        number = self.number("modules", module["image"]["hash"], module)
        return self.number("functions", (number, function["name"]), {**function, "module": number})

    def add_memory(self, manifest, memory):
        """What was there before the first launch that reaches it, and after the last one."""
        if memory["kind"] == "variable":
            image = manifest["modules"][memory["module"]]
            memory = {**memory, "module": self.number("modules", image["image"]["hash"], image)}
        number = self.number("memory", (memory["address"], memory["size"]), dict(memory))
        mine = self.manifest["memory"][number]
        mine["after"] = memory.get("after") or memory.get("before")
        mine["same"] = mine["after"] == mine.get("before")
        return number

    def add(self, bundle):
        manifest = read(bundle)
        for blob in (bundle / "blobs").iterdir():
            if not (self.folder / "blobs" / blob.name).exists():
                shutil.copy(blob, self.folder / "blobs")
        if not self.manifest:
            lists = ("modules", "functions", "memory", "pointers", "streams", "steps", "missing")
            self.manifest = {**manifest, **{name: [] for name in lists}}
        before = len(self.manifest["memory"])
        functions = [self.add_function(manifest, function) for function in manifest["functions"]]
        memory = [self.add_memory(manifest, row) for row in manifest["memory"]]
        streams = [self.number("streams", row["number"], row) for row in manifest["streams"]]
        first = len(self.manifest["steps"])
        for step in manifest["steps"]:
            moved = {**step, "stream": streams[step["stream"]], "function": functions[step["function"]]}
            self.manifest["steps"].append({key: value for key, value in moved.items() if not key.endswith("_ns")})
        for pointer in manifest["pointers"]:
            self.add_pointer(pointer, memory, first, before)

    def add_pointer(self, pointer, memory, first, before):
        """Of contents only those before the first launch that reaches them."""
        moved = {**pointer, "target": memory[pointer["target"]]}
        if "step" in pointer:
            self.manifest["pointers"].append({**moved, "step": first + pointer["step"]})
        elif memory[pointer["memory"]] >= before:
            self.manifest["pointers"].append({**moved, "memory": memory[pointer["memory"]]})

    def end(self):
        """Memory by address, as a bundle has it."""
        rows = self.manifest["memory"]
        order = sorted(range(len(rows)), key=lambda number: int(rows[number]["address"], 16))
        places = {number: place for place, number in enumerate(order)}
        self.manifest["memory"] = [rows[number] for number in order]
        for pointer in self.manifest["pointers"]:
            for name in "target", "memory":
                if name in pointer:
                    pointer[name] = places[pointer[name]]
        write(self.folder, self.manifest)
        return self.folder


def joined(bundles, folder):
    """A bundle in that folder which holds the launches of all of them, in their order."""
    made = Joined(folder)
    for bundle in bundles:
        made.add(bundle)
    return made.end()


def damaged(bundle, folder, damage):
    """A copy of the bundle in that folder, to which that was done."""
    shutil.copytree(bundle, folder)
    damage(folder)
    return folder
