# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's caching allocator says of itself: a pool for each device that was used.

  in gputrace             in torch.cuda.memory_stats(), of "all" pools
  num_allocs, num_frees   allocation: allocated, freed
  bytes_in_use            allocated_bytes.current, and its peak since the program last reset that
  bytes_requested         requested_bytes.current
  bytes_reserved          reserved_bytes.current, and its peak
  cached                  reserved_bytes - allocated_bytes
  free                    reserved_bytes - active_bytes: without what still waits for a stream
  num_segments            segment.current
  num_reserve_calls       num_device_alloc, where it is missing segment.allocated
  num_trims               num_device_free, where it is missing segment.freed
  num_failed              num_ooms

The largest free block is not among them and comes from torch.cuda.memory_snapshot(), which takes
the longer the more blocks there are. Splits, limits and the largest allocation are not told.

Private pools, of CUDA graphs and torch.cuda.MemPool, are pools of their own, with what snapshots
say of their segments; their memory is in the figures of the device's pool as well.
"""
import bisect
import sys
import time

from gputrace_allocators import PYTORCH, PYTORCH_PART, UNKNOWN, Seldom
from gputrace_imports import version_of, when_imported
from gputrace_notes import Notes

# Versions of torch that this was made for; the newest is the last whose documentation was read.
OLDEST = (2, 3)
NEWEST = (2, 11)

POOL = "PyTorch caching allocator"
NATIVE = "native"  # the allocator's name where it is PyTorch's own
DEFAULT_POOL = (0, 0)
PRIVATE_POOL = "PyTorch private pool (%s, %s)"
MOST_PRIVATE = 64  # of all devices: what programs make beyond that is in the device's pool alone

# Events that PyTorch keeps with pytorch-blocks. They are read when half as many are new, since
# reading takes as long for those that were read before; an allocation makes three, with its end.
EVENTS = 30000
EVENTS_OF_A_BLOCK = 3
LAST_KEPT = 4  # by which those that were read are found again

notes = Notes("PyTorch's ")


def whole(stats, name, part):
    """Figure of all of the allocator's own pools, small and large."""
    try:
        return stats[name]["all"][part]
    except (KeyError, TypeError):
        return UNKNOWN


def first(*values):
    for value in values:
        if value is not None and value != UNKNOWN:
            return value
    return UNKNOWN


def difference(one, other):
    return one - other if UNKNOWN not in (one, other) else UNKNOWN


def figures_of(stats):
    """As the table at the top says."""
    in_use = whole(stats, "allocated_bytes", "current")
    reserved = whole(stats, "reserved_bytes", "current")
    return {
        "num_allocs": whole(stats, "allocation", "allocated"),
        "num_frees": whole(stats, "allocation", "freed"),
        "bytes_in_use": in_use,
        "bytes_requested": whole(stats, "requested_bytes", "current"),
        "peak_bytes_in_use": whole(stats, "allocated_bytes", "peak"),
        "bytes_reserved": reserved,
        "peak_bytes_reserved": whole(stats, "reserved_bytes", "peak"),
        "cached": difference(reserved, in_use),
        "free": difference(reserved, whole(stats, "active_bytes", "current")),
        "num_segments": whole(stats, "segment", "current"),
        "num_reserve_calls": first(stats.get("num_device_alloc"),
                                   whole(stats, "segment", "allocated")),
        "num_trims": first(stats.get("num_device_free"), whole(stats, "segment", "freed")),
        "num_failed": first(stats.get("num_ooms")),
    }


def largest_free(segments):
    """By device, of what the allocator has and could hand out now."""
    largest = {}
    for segment in segments:
        device = segment["device"]
        sizes = [block["size"] for block in segment["blocks"] if block["state"] == "inactive"]
        largest[device] = max([largest.get(device, 0)] + sizes)
    return largest


def pool_of(segment):
    return tuple(segment.get("segment_pool_id", DEFAULT_POOL))


def figures_of_segments(segments):
    """Figures of one private pool, as of a snapshot; peaks and counts of calls are not told."""
    total = sum(segment["total_size"] for segment in segments)
    in_use = sum(segment["allocated_size"] for segment in segments)
    active = sum(segment.get("active_size", segment["allocated_size"]) for segment in segments)
    blocks = [block for segment in segments for block in segment["blocks"]]
    requested = [block.get("requested_size", UNKNOWN) for block in blocks
                 if block["state"] == "active_allocated"]
    return {
        "bytes_in_use": in_use,
        "bytes_requested": UNKNOWN if UNKNOWN in requested else sum(requested),
        "bytes_reserved": total,
        "cached": total - in_use,
        "free": total - active,
        "largest_free_block": max([block["size"] for block in blocks
                                   if block["state"] == "inactive"] or [0]),
        "num_segments": len(segments),
    }


class PrivatePools:
    """Those of graphs and of torch.cuda.MemPool, by device and PyTorch's id of the pool."""

    def __init__(self):
        self.peaks = {}  # bytes reserved, and in use at that moment: for a note at the end
        self.numbers = {}  # pools of the recording; 0: not recorded
        self.places = {}  # pools, by device, begin and end of a segment

    def look(self, sampler, segments):
        """All that there are at a moment; a pool that is known and has no segment has nothing."""
        found = {key: [] for key in self.numbers}
        for segment in segments:
            pool = pool_of(segment)
            if pool != DEFAULT_POOL:
                found.setdefault((segment["device"], pool), []).append(segment)
        for key, own in found.items():
            figures = figures_of_segments(own)
            now = [figures["bytes_reserved"], figures["bytes_in_use"]]
            self.peaks[key] = max(self.peaks.get(key, [0, 0]), now)
            number = self.number(sampler, key)
            if number:
                sampler.library.tell_stats(number, figures)

    def number(self, sampler, key):
        if key not in self.numbers:
            if len(self.numbers) == MOST_PRIVATE:
                notes.add("PyTorch has more than %d private pools: the others are in the figures "
                          "of their devices alone" % MOST_PRIVATE)
                return 0
            device, pool = key
            self.numbers[key] = sampler.pool(PRIVATE_POOL % pool, PYTORCH_PART, device)
        return self.numbers[key]

    def place(self, segments):
        """Where the segments of private pools are, as of a snapshot that comes with events.

        A segment that is gone stays until its place is another's: blocks that were given back are
        told of later.
        """
        there = sorted((segment["device"], segment["address"],
                        segment["address"] + segment["total_size"]) for segment in segments)
        for device, begin, end in list(self.places):
            at = bisect.bisect_left(there, (device, end))
            if at and there[at - 1][0] == device and there[at - 1][2] > begin:
                del self.places[device, begin, end]
        for segment, place in zip(sorted(segments, key=lambda segment: (
                segment["device"], segment["address"])), there):
            if pool_of(segment) != DEFAULT_POOL:
                self.places[place] = pool_of(segment)
        return sorted(self.places.items())

    def tell(self):
        for (device, pool), (reserved, in_use) in sorted(self.peaks.items()):
            notes.add("PyTorch's private pool %s of device %d had up to %d bytes, of which %d were "
                      "in use" % (pool, device, reserved, in_use))


def key_of(event):
    return event.get("time_us"), event["action"], event.get("addr"), event["size"]


class Owners:
    """Which pool of the recording a block of a device is of, by its address."""

    def __init__(self, private, sampler, device, whole, places):
        self.whole = whole
        own = [(place, pool) for place, pool in places if place[0] == device]
        self.begins = [place[1] for place, _ in own]
        self.pools = [(place[2], private.number(sampler, (device, pool))) for place, pool in own]

    def of(self, address):
        at = bisect.bisect_right(self.begins, address) - 1
        if at < 0 or address >= self.pools[at][0]:
            return self.whole
        return self.pools[at][1] or self.whole


class Events:
    """PyTorch's own record of blocks, as far as it was not read before."""

    def __init__(self, torch, private):
        self.torch = torch
        self.private = private
        self.last = {}  # by device
        self.counted = {}  # by device: allocations when they were read
        self.last_ns = {}  # by device: of what was told last

    def start(self):
        """Without the stacks of calls, which would cost the most."""
        self.torch.cuda.memory._record_memory_history(
            "all", context=None, stacks="python", max_entries=EVENTS)

    def read(self, sampler, pools, now):
        """Tells of devices with their pools and allocations so far; a snapshot has all devices."""
        library = sampler.library
        if not library.takes_times:
            notes.add("PyTorch's blocks are not recorded: the library takes none with times")
            return
        new = max(allocations - self.counted.get(device, 0) for device, _, allocations in pools)
        if not now and EVENTS_OF_A_BLOCK * new < EVENTS // 2:
            return
        snapshot = self.torch.cuda.memory._snapshot()
        traces = snapshot["device_traces"]
        places = self.private.place(snapshot["segments"])
        for device, pool, allocations in pools:
            self.counted[device] = allocations
            if device < len(traces):
                self.tell(library, Owners(self.private, sampler, device, pool, places), device,
                          self.new_of(device, traces[device]))

    def new_of(self, device, events):
        """The list's end behind what was read last."""
        last = self.last.get(device)
        self.last[device] = [key_of(event) for event in events[-LAST_KEPT:]]
        if not last:
            return events
        for end in range(len(events), 0, -1):
            # Most are told from the last by their own key alone.
            if key_of(events[end - 1]) == last[-1] and last == [
                    key_of(event) for event in events[max(0, end - len(last)):end]]:
                return events[end:]
        notes.add("PyTorch forgot events of its blocks before they were read: some are missing")
        return events

    def tell(self, library, owners, device, events):
        """Their times are microseconds of the wall clock, the library's are of CLOCK_MONOTONIC.

        Nanoseconds tell the order of several in one microsecond.
        """
        apart_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - time.time_ns()
        last_ns = self.last_ns.get(device, 0)
        for event in events:
            action = event["action"]
            if action not in ("alloc", "free_requested"):
                continue
            at_ns = 1000 * event["time_us"]
            # The clock may be set back, but not by as little as this.
            last_ns = last_ns + 1 if 0 <= last_ns - at_ns < 10 ** 6 else at_ns
            pool = owners.of(event["addr"])
            if action == "alloc":
                library.block_alloc_at(pool, event["addr"], event["size"], event["size"],
                                       event["stream"], last_ns + apart_ns)
            else:
                library.block_free_at(pool, event["addr"], event["stream"],
                                      last_ns + apart_ns)
        self.last_ns[device] = last_ns


class Reader:
    """Reads one torch, for the sampler."""

    def __init__(self, torch, sampler, blocks):
        self.torch = torch
        self.sampler = sampler
        self.notes = notes
        self.seldom = Seldom()
        self.private = PrivatePools()
        self.events = Events(torch, self.private) if blocks else None
        self.used = set()  # devices

    # -- at the start of CUDA --

    def start(self):
        """Called by torch when it begins with CUDA, on that thread; in the child of a fork again."""
        try:
            backend = self.torch.cuda.get_allocator_backend()
            if backend != NATIVE:
                notes.add("PyTorch's allocator is %s, not its own: its memory is recorded as CUDA's"
                          % backend)
                return
            if self.events:
                self.events.start()
            self.observe()
            self.sampler.add(self)
            notes.add("PyTorch %s in Python %d.%d: its allocator is asked for its figures%s"
                      % ((self.torch.__version__,) + tuple(sys.version_info[:2])
                         + (" and blocks" if self.events else "",)))
        except Exception as error:
            notes.failed("memory", error)

    def observe(self):
        """Without it all is recorded but what was free when memory ran out."""
        try:
            self.torch._C._cuda_attach_out_of_memory_observer(self.found_no_memory)
        except Exception as error:
            notes.failed("what is free when memory runs out", error)

    # -- while it runs --

    def read(self, sampler, now):
        if not self.torch.cuda.is_initialized():
            return
        self.read_devices(sampler, largest_free(self.look(sampler, now)), now)

    def end(self):
        self.private.tell()

    def read_devices(self, sampler, largest, now):
        pools = []
        for device in range(self.torch._C._cuda_getDeviceCount()):
            figures = figures_of(self.torch._C._cuda_memoryStats(device))
            if device not in self.used and not figures["peak_bytes_reserved"]:
                continue
            self.used.add(device)
            figures["largest_free_block"] = largest.get(device, UNKNOWN)
            pool = sampler.pool(POOL, PYTORCH, device)
            if pool:
                sampler.library.tell_stats(pool, figures)
                pools.append((device, pool, figures["num_allocs"]))
        try:
            if self.events and pools:
                self.events.read(sampler, pools, now)
        except Exception as error:
            self.events = None
            notes.failed("blocks are no longer recorded", error)

    def look(self, sampler, now):
        """Segments with their blocks; none: not now, or they cost too much."""
        if not self.seldom.is_due(now):
            return []
        begin_s = time.monotonic()
        function = self.torch.cuda.memory_snapshot
        if "include_traces" in getattr(getattr(function, "__code__", None), "co_varnames", ()):
            segments = function(include_traces=False)
        elif self.torch._C._cuda_isHistoryEnabled():
            return []  # all events that were kept would come with them
        else:
            segments = function()
        self.private.look(sampler, segments)
        self.seldom.took(time.monotonic() - begin_s)
        return segments

    def found_no_memory(self, device, wanted, total, free):
        """On the thread that wanted it, before torch raises; the third number is of no use here."""
        try:
            self.sampler.sample(now=True)
            text = ("PyTorch out of memory: %d bytes wanted on device %d, which has %d bytes free"
                    % (wanted, device, free))
            notes.add(text)
            self.torch._C._nvtx.markA(text)
        except Exception as error:
            notes.failed("out of memory", error)


def wait(sampler, blocks):
    def imported(torch):
        try:
            if not OLDEST <= version_of(torch) <= NEWEST:
                notes.add("PyTorch %s is not among the versions that --allocators was made for "
                          "(%d.%d to %d.%d): its figures may be missing or wrong"
                          % ((getattr(torch, "__version__", "of no version"),) + OLDEST + NEWEST))
            torch.cuda._lazy_call(Reader(torch, sampler, blocks).start)
        except Exception as error:
            notes.failed("memory is missing", error)

    when_imported("torch", imported)
