# SPDX-License-Identifier: Apache-2.0
"""What JAX's allocator, XLA's, says of itself: a pool for each GPU of each backend that is there.

  in gputrace                        in Device.memory_stats()
  num_allocs                         num_allocs
  bytes_in_use                       bytes_in_use, and peak_bytes_in_use
  largest_alloc                      largest_alloc_size
  bytes_reserved                     pool_bytes, and peak_pool_bytes: what it has from CUDA
  bytes_reservable_limit, limit      the same, bytes_limit
  largest_free_block                 largest_free_block_bytes; 0 while there is free memory: not told
  cached, free                       pool_bytes - bytes_in_use

Its bytes_reserved is of something else, the reservations of a stack, and is not recorded. Executables
that are alive are told of once, with what XLA's compiler says that they need.
"""
import os
import sys
import time

from gputrace_allocators import JAX, UNKNOWN, Seldom
from gputrace_imports import version_of, when_imported
from gputrace_notes import Notes

# Versions of jax that this was made for; the newest is the last whose sources were read.
OLDEST = (0, 4)
NEWEST = (0, 11)

BRIDGE = "jax._src.xla_bridge"
GPUS = ("gpu", "cuda")  # as a backend's platform is called
NAMES = {"": "BFC", "default": "BFC", "bfc": "BFC"}  # of XLA_PYTHON_CLIENT_ALLOCATOR

SIZES = ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes",
         "alias_size_in_bytes", "generated_code_size_in_bytes")

notes = Notes("JAX's ")


def pool_name():
    chosen = os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "").lower()
    return "JAX %s allocator" % NAMES.get(chosen, chosen)


def figures_of(stats):
    """As the table at the top says."""
    def of(name):
        value = stats.get(name)
        return value if value is not None and value >= 0 else UNKNOWN

    in_use, reserved = of("bytes_in_use"), of("pool_bytes")
    free = reserved - in_use if UNKNOWN not in (reserved, in_use) else UNKNOWN
    return {
        "num_allocs": of("num_allocs"),
        "bytes_in_use": in_use,
        "peak_bytes_in_use": of("peak_bytes_in_use"),
        "largest_alloc": of("largest_alloc_size"),
        "bytes_reserved": reserved,
        "peak_bytes_reserved": of("peak_pool_bytes"),
        "bytes_reservable_limit": of("bytes_reservable_limit"),
        "limit": of("bytes_limit"),
        "largest_free_block": (of("largest_free_block_bytes") or UNKNOWN) if free else 0,
        "cached": free,
        "free": free,
    }


def ordinal_of(device):
    """CUDA's number of it, -1: not told."""
    number = getattr(device, "local_hardware_id", None)
    return number if isinstance(number, int) else -1


class Reader:
    """Reads one jax for the sampler. Nothing of the program's is kept from one time to the next."""

    def __init__(self, bridge, sampler):
        self.bridge = bridge
        self.sampler = sampler
        self.notes = notes
        self.seldom = Seldom()
        self.told = {}  # executables by id: fingerprints; None: they cannot be asked
        self.name = pool_name()
        self.pid = None

    def start(self, backend):
        """When one is made; of GPUs, once in a process."""
        if backend.platform in GPUS and self.pid != os.getpid():
            self.pid = os.getpid()
            self.told = {}
            self.sampler.add(self)

    def read(self, sampler, now):
        clients = [client for client in list(vars(self.bridge).get("_backends", {}).values())
                   if client.platform in GPUS]
        for client in clients:
            for device in client.local_devices():
                self.read_device(sampler, device)
        try:
            if clients and self.told is not None and self.seldom.is_due(now):
                self.read_executables(sampler, clients)
        except Exception as error:
            self.told = None
            notes.failed("executables are no longer recorded", error)

    def end(self):
        pass

    def read_device(self, sampler, device):
        stats = device.memory_stats()
        if stats:
            pool = sampler.pool(self.name, JAX, ordinal_of(device))
            if pool:
                sampler.library.tell_stats(pool, figures_of(stats))

    def read_executables(self, sampler, clients):
        begin_s = time.monotonic()
        alive = {}
        for client in clients:
            for executable in client.live_executables():
                alive[id(executable)] = getattr(executable, "fingerprint", None)
                if self.told.get(id(executable), self) != alive[id(executable)]:
                    self.tell_executable(sampler, executable)
        self.told = alive
        self.seldom.took(time.monotonic() - begin_s)

    def tell_executable(self, sampler, executable):
        try:
            needs = executable.get_compiled_memory_stats()
            devices = executable.local_devices()
            device = ordinal_of(devices[0]) if len(devices) == 1 else -1
            sampler.library.tell_executable(executable.hlo_modules()[0].name, device,
                                            [getattr(needs, size, None) for size in SIZES])
        except Exception as error:
            notes.failed("executables", error)


def follow(bridge, reader):
    """Backends are made by one function, which is asked for by its name."""
    make = bridge._init_backend

    def _init_backend(*arguments, **keywords):
        backend = make(*arguments, **keywords)
        try:
            reader.start(backend)
        except Exception as error:
            notes.failed("memory", error)
        return backend

    bridge._init_backend = _init_backend
    for backend in list(vars(bridge).get("_backends", {}).values()):
        reader.start(backend)


def wait(sampler):
    def imported(jax):
        try:
            if not OLDEST <= version_of(jax) <= NEWEST:
                notes.add("JAX %s is not among the versions that --allocators was made for (%d.%d "
                          "to %d.%d): its figures may be missing or wrong"
                          % ((getattr(jax, "__version__", "of no version"),) + OLDEST + NEWEST))
            bridge = sys.modules[BRIDGE]
            follow(bridge, Reader(bridge, sampler))
            notes.add("JAX %s in Python %d.%d: its allocator is asked for its figures"
                      % ((jax.__version__,) + tuple(sys.version_info[:2])))
        except Exception as error:
            notes.failed("memory is missing", error)

    when_imported("jax", imported)
