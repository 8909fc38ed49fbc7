# SPDX-License-Identifier: Apache-2.0
import os
import threading

from .. import _src  # noqa: F401

_backends = {}
_backend_lock = threading.Lock()
OLD = os.environ.get("STUB_VERSION", "").startswith("0.4")


class MemoryStats:
    argument_size_in_bytes = 4096
    output_size_in_bytes = 1024
    temp_size_in_bytes = 65536
    alias_size_in_bytes = 512
    generated_code_size_in_bytes = 9000


class Module:
    def __init__(self, name):
        self.name = name


class Executable:
    def __init__(self, name, devices):
        self.name, self.devices = name, devices
        self.fingerprint = name.encode()

    def hlo_modules(self):
        return [Module(self.name)]

    def local_devices(self):
        return self.devices

    def get_compiled_memory_stats(self):
        if os.environ.get("STUB_FAIL") == "needs":
            raise RuntimeError("UNIMPLEMENTED")
        return MemoryStats()


class Device:
    """An allocator of blocks of 256 bytes that begins with a region of all it may have."""

    LIMIT = 1 << 20

    def __init__(self, number):
        self.local_hardware_id = number
        self.sizes = []
        self.num_allocs = self.peak = self.largest = 0

    def alloc(self, wanted):
        size = -(-wanted // 256) * 256
        self.sizes.append(size)
        self.num_allocs += 1
        self.largest = max(self.largest, size)
        self.peak = max(self.peak, sum(self.sizes))

    def free(self):
        self.sizes.pop()

    def memory_stats(self):
        if os.environ.get("STUB_FAIL") == "stats":
            raise RuntimeError("no figures today")
        stats = {"num_allocs": self.num_allocs, "bytes_in_use": sum(self.sizes), "peak_bytes_in_use": self.peak,
                 "largest_alloc_size": self.largest, "bytes_limit": self.LIMIT, "bytes_reserved": 0,
                 "peak_bytes_reserved": 0, "largest_free_block_bytes": 0 if OLD else self.LIMIT - sum(self.sizes)}
        if not OLD:
            stats.update(pool_bytes=self.LIMIT, peak_pool_bytes=self.LIMIT, bytes_reservable_limit=self.LIMIT)
        return stats


class Client:
    def __init__(self, platform, devices):
        self.platform, self.devices = platform, devices
        self.executables = []

    def local_devices(self):
        return list(self.devices)

    def live_executables(self):
        if os.environ.get("STUB_FAIL") == "executables":
            raise RuntimeError("no executables today")
        return list(self.executables)

    def compile(self, name, devices):
        executable = Executable(name, devices)
        self.executables.append(executable)
        return executable


def _init_backend(platform):
    if platform == "cpu":
        return Client("cpu", [])
    import ctypes
    if os.environ.get("STUB_LIBRARY"):
        ctypes.CDLL(os.environ["STUB_LIBRARY"]).nvtx_torch_launch(b"first")
    elif os.environ.get("STUB_INJECTS"):
        ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    return Client("gpu", [Device(0), Device(1)])


def backends():
    with _backend_lock:
        if not _backends:
            for platform in os.environ.get("JAX_PLATFORMS", "cpu,cuda").split(","):
                _backends[platform] = _init_backend(platform)
    return _backends
