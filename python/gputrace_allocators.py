# SPDX-License-Identifier: Apache-2.0
"""Figures of the allocators of PyTorch and JAX, in a program that was not written for it.

An allocator of a framework takes memory from CUDA in large pieces and hands out small ones, of
which CUDA knows nothing; but it keeps statistics, which are read here at an interval, on a thread
of its own, and told to the library that gputrace run loads (include/gputrace/gputrace.h).
GPUTRACE_ALLOCATORS says of which framework: words with commas between them.

  pytorch         gputrace_pytorch_memory.py
  pytorch-blocks  the same, and each block with its times
  jax             gputrace_jax_memory.py

Nothing happens, and no thread is there, until the program itself has started the framework's CUDA.
The program must not notice: whatever goes wrong here is swallowed and noted in the recording.
"""
import os
import time

from gputrace_notes import Notes

API_VERSION = 1
UNKNOWN = 2 ** 64 - 1
DEVICE_MEMORY = 0  # GPUTRACE_POOL_DEVICE
PYTORCH = 1  # GPUTRACE_TELLER_PYTORCH
JAX = 2
PYTORCH_PART = 4

# Members of struct gputrace_pool_stats, in its order.
FIGURES = ("num_allocs", "num_frees", "bytes_in_use", "bytes_requested", "peak_bytes_in_use",
           "largest_alloc", "bytes_reserved", "peak_bytes_reserved", "bytes_reservable_limit",
           "limit", "largest_free_block", "cached", "free", "num_segments", "num_reserve_calls",
           "num_splits", "num_trims", "num_failed")

INTERVAL_S = 0.1
UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0))
THREAD = "gputrace-python"  # as long as a name can be
MOST_FAILURES = 10  # in a row: what fails so often is not asked again
MOST_EXIT_S = 0.5  # that the program's end waits for a sample that is being taken

# Figures that cost more the more there is to tell are asked for at most once in so many seconds,
# and so rarely that they take at most one part in RARELY of the time.
SELDOM_S = 1.0
RARELY = 100

notes = Notes("The allocators' ")


def number(value):
    """A figure as the library takes it."""
    try:
        return int(value) if 0 <= value < UNKNOWN else UNKNOWN
    except Exception:
        return UNKNOWN


class Library:
    """The table of functions of the library, which is in this process already, or OSError."""

    def __init__(self, path):
        import ctypes

        class Pool(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                        ("place", ctypes.c_uint32), ("device", ctypes.c_int32),
                        ("teller", ctypes.c_uint32), ("padding", ctypes.c_uint32)]

        class Stats(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_size_t)] + [
                (figure, ctypes.c_uint64) for figure in FIGURES]

        class Executable(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                        ("device", ctypes.c_int32), ("padding", ctypes.c_uint32)] + [
                (what + "_bytes", ctypes.c_uint64)
                for what in ("argument", "output", "temporary", "alias", "code")]

        # Called with Python's lock held: they are short, and giving it up would cost more.
        function = ctypes.PYFUNCTYPE
        pointer, word = ctypes.c_void_p, ctypes.c_uint64

        class Api(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_size_t),
                        ("pool_create", function(word, pointer)),
                        ("pool_destroy", function(None, word)),
                        ("block_alloc", function(None, word, pointer, word, word, pointer)),
                        ("block_free", function(None, word, pointer, pointer)),
                        ("pool_stats", function(None, word, pointer)),
                        ("pool_pull", function(None, word, pointer, pointer, word)),
                        ("executable", function(None, pointer)),
                        ("block_alloc_at",
                         function(None, word, pointer, word, word, pointer, word)),
                        ("block_free_at", function(None, word, pointer, pointer, word))]

        get_api = ctypes.PyDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW).gputrace_get_api
        get_api.restype, get_api.argtypes = pointer, [ctypes.c_uint32]
        table = get_api(API_VERSION)
        if not table:
            raise OSError("nothing is recorded, or this version is not known")
        api = Api.from_address(table)
        self.pool_create, self.pool_stats = api.pool_create, api.pool_stats
        self.executable = api.executable
        # Those of a library whose table ends before them are not there.
        self.takes_times = api.struct_size >= ctypes.sizeof(Api)
        if self.takes_times:
            self.block_alloc_at, self.block_free_at = api.block_alloc_at, api.block_free_at
        self.kinds = Pool, Stats, Executable
        self.address, self.size = ctypes.addressof, ctypes.sizeof

    def create_pool(self, name, teller, device):
        kind = self.kinds[0]
        pool = kind(self.size(kind), name.encode("utf-8", "replace"), DEVICE_MEMORY, device, teller)
        return self.pool_create(self.address(pool))

    def tell_stats(self, pool, figures):
        kind = self.kinds[1]
        stats = kind(self.size(kind), *[number(figures.get(name, UNKNOWN)) for name in FIGURES])
        self.pool_stats(pool, self.address(stats))

    def tell_executable(self, name, device, sizes):
        """The sizes of arguments, output, temporaries, aliases and code."""
        kind = self.kinds[2]
        executable = kind(self.size(kind), name.encode("utf-8", "replace"), device, 0,
                          *[number(size) for size in sizes])
        self.executable(self.address(executable))


def name_thread():
    """The name that the recording, and top, show."""
    try:
        import _thread

        with open("/proc/self/task/%d/comm" % _thread.get_native_id(), "w") as file:
            file.write(THREAD)
    except OSError:
        pass


class Seldom:
    """When to do again what takes long, by how long it took."""

    def __init__(self):
        self.next_s = self.last_s = 0.0

    def is_due(self, now=False):
        """Now or never: the program waits for it."""
        return self.last_s < MOST_EXIT_S if now else time.monotonic() >= self.next_s

    def took(self, seconds):
        self.last_s = seconds
        self.next_s = time.monotonic() + max(SELDOM_S, RARELY * seconds)


class Sampler:
    """Has its readers tell their pools' figures, in turn.

    A reader has notes, and read(sampler, now), which may raise; the program waits for it where that
    says so: at its end, and when it found no memory. After the last comes end(). The child of a fork has no thread, and what
    the parent told is not told again: it stays off until something is added there.
    """

    def __init__(self, path, interval_s):
        self.path = path
        self.interval_s = interval_s
        self.pid = None  # of the process that has the thread
        self.library = None
        self.count = self.total_ns = self.longest_ns = 0

    def add(self, reader):
        if self.pid != os.getpid():
            self.begin()
        reader.failures = 0
        self.readers.append(reader)

    def begin(self):
        import _thread
        import atexit

        if self.pid is None:
            atexit.register(self.finish)
        self.pid = os.getpid()
        self.library, self.readers, self.pools = None, [], {}
        self.count = self.total_ns = self.longest_ns = 0
        self.one_at_a_time = _thread.RLock()
        self.stopped, self.ended = _thread.allocate_lock(), _thread.allocate_lock()
        self.stopped.acquire()
        self.ended.acquire()
        # Not one of threading's, which the program could count.
        _thread.start_new_thread(self.run, (self.stopped, self.ended))

    def run(self, stopped, ended):
        try:
            import signal
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            name_thread()
            while not stopped.acquire(timeout=self.interval_s):
                self.sample()
        except Exception as error:
            notes.failed("thread", error)
        finally:
            ended.release()

    def find_library(self):
        """Once it is there: the driver loads it when the program begins with CUDA."""
        if self.library is None and self.path:
            try:
                self.library = Library(self.path)
            except OSError:
                pass
            except Exception as error:
                self.path = ""
                notes.failed("way to the recording", error)
        return self.library

    def pool(self, name, teller, device):
        """Its number, 0: it is not recorded."""
        key = name, device
        if not self.pools.get(key):
            self.pools[key] = self.library.create_pool(name, teller, device)
        return self.pools[key]

    def sample(self, now=False):
        """On any thread, at any time: what is told is what the framework says at this moment."""
        if self.pid != os.getpid():
            return
        with self.one_at_a_time:
            if not self.find_library():
                return
            begin_ns = time.perf_counter_ns()
            for reader in list(self.readers):
                self.read(reader, now)
            took_ns = time.perf_counter_ns() - begin_ns
            self.count += 1
            self.total_ns += took_ns
            self.longest_ns = max(self.longest_ns, took_ns)

    def read(self, reader, now):
        try:
            reader.read(self, now)
            reader.failures = 0
        except Exception as error:
            reader.failures += 1
            reader.notes.failed("memory", error)
            if reader.failures >= MOST_FAILURES:
                self.readers.remove(reader)
                reader.notes.add("%smemory is not asked for any more" % reader.notes.whose)

    def finish(self):
        """At the program's end, before what the framework itself does there."""
        try:
            if self.pid != os.getpid():
                return
            self.stopped.release()
            if self.ended.acquire(timeout=MOST_EXIT_S):
                self.sample(now=True)
                for reader in self.readers:
                    reader.end()
            self.pid = 0
            if not self.library:
                notes.add("No library that records pools was found in the program: of allocators "
                          "nothing is recorded")
            elif self.count:
                notes.add("Allocators were asked %d times, which took %.1f us on average and %.1f "
                          "us at most" % (self.count, self.total_ns / self.count / 1e3,
                                          self.longest_ns / 1e3))
        except Exception as error:
            notes.failed("last sample", error)


def seconds(text):
    """Of "100ms"; the default of what is no such time."""
    for unit, factor in UNITS:
        try:
            if text.endswith(unit):
                return max(0.01, min(3600.0, float(text[:-len(unit)]) * factor))
        except ValueError:
            pass
    return INTERVAL_S


sampler = Sampler(os.environ.get("CUDA_INJECTION64_PATH", ""),
                  seconds(os.environ.get("GPUTRACE_ALLOCATOR_INTERVAL", "")))


def sample():
    """For programs that know of gputrace: a sample that is taken now, before this returns."""
    sampler.sample(now=True)


def wait():
    """Called by sitecustomize, from the archive in the recording's folder."""
    words = os.environ["GPUTRACE_ALLOCATORS"].split(",")
    if "pytorch" in words or "pytorch-blocks" in words:
        import gputrace_pytorch_memory
        gputrace_pytorch_memory.wait(sampler, "pytorch-blocks" in words)
    if "jax" in words:
        import gputrace_jax_memory
        gputrace_jax_memory.wait(sampler)
