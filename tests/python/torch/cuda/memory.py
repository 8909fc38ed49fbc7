# SPDX-License-Identifier: Apache-2.0
"""A caching allocator, small but whole: torch's statistics, snapshots and events are of what it does.

STUB_DEVICES says how many devices there are, STUB_LIMIT how many bytes each has, STUB_BACKEND which
allocator torch says that it has.
"""
import os
import time

from .. import _C

SMALLEST = 512
SEGMENT = 2 << 20
LIMIT = int(os.environ.get("STUB_LIMIT", 1 << 30))
BACKEND = os.environ.get("STUB_BACKEND", "native")
NUMBER = tuple(int(part) for part in os.environ.get("STUB_VERSION", "2.11").split(".")[:2] if part.isdigit())
FIRST_ADDRESS = 0x7f0000000000


class OutOfMemoryError(RuntimeError):
    pass


class Stat(dict):
    def __init__(self):
        dict.__init__(self, current=0, peak=0, allocated=0, freed=0)

    def add(self, amount):
        self["current"] += amount
        self["peak"] = max(self["peak"], self["current"])
        self["allocated" if amount > 0 else "freed"] += abs(amount)


class Block:
    def __init__(self, address, size, pool):
        self.address, self.size, self.pool = address, size, pool
        self.requested, self.is_out = 0, False


class Device:
    def __init__(self, number):
        self.number = number
        self.stats = {name: Stat() for name in (
            "allocation", "segment", "active", "allocated_bytes", "reserved_bytes", "active_bytes",
            "requested_bytes")}
        self.counts = {"num_alloc_retries": 0, "num_ooms": 0, "num_device_alloc": 0, "num_device_free": 0}
        self.segments = []  # lists of blocks
        self.events = []
        self.next = FIRST_ADDRESS + (number << 40)

    def event(self, action, address, size):
        if history:
            self.events.append({"action": action, "addr": address, "size": size, "stream": 0,
                                "time_us": time.time_ns() // 1000})
            if os.environ.get("STUB_FAIL") == "times":
                del self.events[-1]["time_us"]
            del self.events[:-history]

    def find(self, size, pool):
        for blocks in self.segments:
            for at, block in enumerate(blocks):
                if not block.is_out and block.size >= size and block.pool == pool:
                    return blocks, at
        return None

    def extend(self, size, pool):
        whole = -(-size // SEGMENT) * SEGMENT
        if self.stats["reserved_bytes"]["current"] + whole > LIMIT:
            return False
        self.segments.append([Block(self.next, whole, pool)])
        self.event("segment_alloc", self.next, whole)
        self.next += whole
        self.stats["segment"].add(1)
        self.stats["reserved_bytes"].add(whole)
        self.counts["num_device_alloc"] += 1
        return True

    def trim(self):
        for blocks in [blocks for blocks in self.segments if len(blocks) == 1 and not blocks[0].is_out]:
            self.segments.remove(blocks)
            self.event("segment_free", blocks[0].address, blocks[0].size)
            self.stats["segment"].add(-1)
            self.stats["reserved_bytes"].add(-blocks[0].size)
            self.counts["num_device_free"] += 1

    def fail(self, wanted):
        self.counts["num_ooms"] += 1
        free = LIMIT - self.stats["reserved_bytes"]["current"]
        self.events.append({"action": "oom", "device_free": free, "size": wanted, "stream": 0,
                            "time_us": time.time_ns() // 1000})
        for observer in observers:
            observer(self.number, wanted, LIMIT, free)
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate %d bytes" % wanted)

    def alloc(self, wanted, pool):
        size = max(SMALLEST, -(-wanted // SMALLEST) * SMALLEST)
        found = self.find(size, pool)
        if not found and not self.extend(size, pool):
            self.counts["num_alloc_retries"] += 1
            self.trim()
            if not self.extend(size, pool):
                self.fail(wanted)
        blocks, at = found or self.find(size, pool)
        block = blocks[at]
        if block.size > size:
            blocks.insert(at + 1, Block(block.address + size, block.size - size, pool))
            block.size = size
        block.is_out, block.requested = True, wanted
        self.count(block, 1)
        self.event("alloc", block.address, wanted)
        return block.address

    def count(self, block, sign):
        for name in "allocation", "active":
            self.stats[name].add(sign)
        for name in "allocated_bytes", "active_bytes":
            self.stats[name].add(sign * block.size)
        self.stats["requested_bytes"].add(sign * block.requested)

    def free(self, address):
        for blocks in self.segments:
            for at, block in enumerate(blocks):
                if block.address == address and block.is_out:
                    self.count(block, -1)
                    block.is_out = False
                    self.event("free_requested", address, block.requested)
                    self.event("free_completed", address, block.requested)
                    self.join(blocks, at)
                    return
        raise ValueError(address)

    def join(self, blocks, at):
        for behind in (at, at - 1):
            if 0 <= behind < len(blocks) - 1 and not (blocks[behind].is_out or blocks[behind + 1].is_out):
                blocks[behind].size += blocks.pop(behind + 1).size

    def told(self):
        stats = {name: {"all": dict(stat), "small_pool": Stat(), "large_pool": Stat()}
                 for name, stat in self.stats.items()}
        counts = {name: count for name, count in self.counts.items()
                  if NUMBER >= (2, 4) or "device" not in name}
        return dict(stats, **counts)

    def shown(self):
        for blocks in self.segments:
            yield {"device": self.number, "address": blocks[0].address, "stream": 0, "segment_type": "large",
                   "total_size": sum(block.size for block in blocks),
                   "allocated_size": sum(block.size for block in blocks if block.is_out),
                   "segment_pool_id": blocks[0].pool,
                   "blocks": [{"address": block.address, "size": block.size, "requested_size": block.requested,
                               "state": "active_allocated" if block.is_out else "inactive"} for block in blocks]}


devices = [Device(number) for number in range(int(os.environ.get("STUB_DEVICES", 2)))]
observers = []
history = 0
snapshots = 0


def caching_allocator_alloc(size, device=0, pool=(0, 0)):
    from . import _lazy_init
    _lazy_init()
    return devices[device].alloc(size, pool)


def caching_allocator_delete(address, device=0):
    devices[device].free(address)


def empty_cache():
    for device in devices:
        device.trim()


def memory_stats(device=0):
    flat = {}
    for name, value in _C._cuda_memoryStats(device).items():
        if isinstance(value, dict):
            for kind, stat in value.items():
                flat.update({"%s.%s.%s" % (name, kind, part): figure for part, figure in stat.items()})
        else:
            flat[name] = value
    return flat


def _snapshot(device=None):
    return _C._cuda_memorySnapshot(None)


if NUMBER >= (2, 11):
    def memory_snapshot(mempool_id=None, include_traces=True):
        return _C._cuda_memorySnapshot(mempool_id)["segments"]
else:
    def memory_snapshot():
        return _C._cuda_memorySnapshot(None)["segments"]


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=None):
    global history
    assert enabled in ("all", None) and context in ("all", None)
    history = max_entries if enabled else 0
