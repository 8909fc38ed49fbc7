# SPDX-License-Identifier: Apache-2.0
"""A world as torch.profiler writes it. Covers IMPORTER(kineto)."""
import gzip
import json
import re

BASE = 1_790_857_026_000_000_000
COPIES = {"HtoD": "Pageable -> Device", "DtoH": "Device -> Pinned", "DtoD": "Device -> Device"}
DEVICE = {"name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
          "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
          "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}
OLD = {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset", "cuda_runtime": "Runtime", "cpu_op": "Operator"}


def micro(ns, whole):
    if whole:
        return ns // 1000
    return f"@{ns // 1000}.{ns % 1000:03}@"  # a number, of which a double would lose digits


class Writer:
    def __init__(self, offset=0, whole=False, old=False):
        self.offset, self.whole, self.old = offset, whole, old
        self.events = []

    def add(self, category, name, pid, tid, row, **args):
        category = OLD.get(category, category) if self.old else category
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                            "ts": micro(row.start + self.offset, self.whole), "dur": micro(row.end - row.start, self.whole), "args": args})

    def gpu(self, row):
        return {"device": row.device, "context": row.context, "stream": row.stream, "correlation": row.correlation}


def events(world, offset=0, whole=False, old=False):
    writer = Writer(offset, whole, old)
    for row in world.kernels:
        graph = {"graph node id": row.graph_node, "graph id": 3} if row.graph_node else {}
        writer.add("kernel", row.name, row.device, row.stream, row, **{
            "External id": 1, "queued": 0, **writer.gpu(row), "registers per thread": row.registers, "shared memory": row.shared,
            "blocks per SM": 0.5, "grid": list(row.grid), "block": list(row.block), "est. achieved occupancy %": 0, **graph})
        writer.events.append({"ph": "f", "id": row.correlation, "pid": row.device, "tid": row.stream,
                              "ts": micro(row.start + offset, whole), "cat": "ac2g", "name": "ac2g", "bp": "e"})
    for row in world.copies:
        writer.add("gpu_memcpy", f"Memcpy {row.kind} ({COPIES[row.kind]})", row.device, row.stream, row, bytes=row.bytes, **writer.gpu(row))
    for row in world.fills:
        writer.add("gpu_memset", "Memset (Device)", row.device, row.stream, row, bytes=row.bytes, **writer.gpu(row))
    for row in world.calls:
        writer.add("cuda_runtime", row.name, row.process, row.tid, row, cbid=211, correlation=row.correlation)
    for row in world.waits:
        writer.add("cuda_sync", "Stream Sync", 0, row.stream, row, cuda_sync_kind="Stream Sync", context=row.context, stream=row.stream,
                   correlation=row.correlation)
    for number, row in enumerate(world.ranges):
        args = {"External id": number, "Record function id": 0}
        if row.sequence >= 0:
            args.update({"Sequence number": row.sequence, "Fwd thread id": 0})
        if row.sizes:
            args["Input Dims"] = json.loads(row.sizes)
        writer.add("cpu_op" if row.op else "user_annotation", row.name, row.process, row.tid, row, **args)
    pid = world.processes[0]
    world.random.shuffle(writer.events)
    return writer.events + [
        {"name": "process_name", "ph": "M", "ts": 0, "pid": pid, "tid": 0, "args": {"name": "python3"}},
        {"name": "thread_name", "ph": "M", "ts": 0, "pid": pid, "tid": pid, "args": {"name": f"thread {pid} (trainer)"}},
        {"name": "thread_name", "ph": "M", "ts": 0, "pid": 0, "tid": 7, "args": {"name": "stream 7 "}}]


def head():
    return {"schemaVersion": 1, "deviceProperties": [{"id": number, **DEVICE} for number in range(2)], "cuda_driver_version": 13000,
            "cupti_version": 130001, "displayTimeUnit": "ms",
            "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"ranks": "[0, 1]"}]}}


def text(document):
    """Members in order, a line for each event, as torch.profiler writes them."""
    parts = []
    for key, value in document:
        if key == "traceEvents":
            parts.append('"traceEvents": [\n' + ",\n".join(json.dumps(event) for event in value) + "\n]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return re.sub(r'"@([0-9.]+)@"', r"\1", "{" + ",\n".join(parts) + "}\n").encode()


def base_after(world):
    return text([*head().items(), ("traceEvents", events(world)), ("baseTimeNanoseconds", BASE), ("traceName", "/x/trace.json")])


def base_before(world):
    return text([*head().items(), ("baseTimeNanoseconds", BASE), ("traceEvents", events(world)), ("traceName", "x")])


def absolute(world):
    return text([*head().items(), ("traceEvents", events(world, BASE, whole=world.step == 1000))])


def old_words(world):
    return text([("traceEvents", events(world, BASE, whole=world.step == 1000, old=True))])


def gzipped(world):
    return gzip.compress(base_after(world))


def careless(world):
    """As files in the wild are: members twice, numbers that are none, a comma too many, raw control characters, texts for numbers."""
    plain = base_before(world).decode()
    plain = plain.replace('"blocks per SM": 0.5', '"blocks per SM": NaN, "warps per SM": -Infinity, "bytes": inf, "stream": "seven", "stream": 7', 1)
    plain = plain.replace('"schemaVersion": 1', '"schemaVersion": 1, "INFO": ["a\tb\\u00e9\\ud83d\\ude00\\ud83d", [], {}], "schemaVersion": 1')
    at = plain.rindex("\n]")
    return (plain[:at] + "," + plain[at:]).replace('"queued": 0', '"queued": 0, "queued": nan').encode()


VARIANTS = {"base_after": (base_after, 1), "base_before": (base_before, 1), "absolute": (absolute, 1000), "decimals": (absolute, 1),
            "old_words": (old_words, 1000), "gzipped": (gzipped, 1), "careless": (careless, 1)}
