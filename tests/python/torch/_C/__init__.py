# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import threading

from . import _nvtx, _profiler  # noqa: F401

graph_task = threading.local()
started = None  # the process that has begun with CUDA


def _current_graph_task_id():
    return getattr(graph_task, "number", -1)


def _cuda_isInBadFork():
    return started not in (None, os.getpid())


def _cuda_init():
    """The driver loads what CUDA_INJECTION64_PATH names: here by itself, in the fakes by cuInit."""
    global started
    if _nvtx.library:
        _nvtx.launch("first")
    elif os.environ.get("STUB_INJECTS"):
        ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    started = os.getpid()


def _cuda_getDeviceCount():
    return len(allocator().devices)


def allocator():
    from ..cuda import memory
    return memory


def _cuda_memoryStats(device):
    if not started:
        raise RuntimeError("Allocator not initialized for device %d" % device)
    if os.environ.get("STUB_FAIL") == "stats":
        raise RuntimeError("no figures today")
    return allocator().devices[device].told()


def _cuda_memorySnapshot(mempool_id):
    memory = allocator()
    memory.snapshots += 1
    return {"segments": [segment for device in memory.devices for segment in device.shown()],
            "device_traces": [list(device.events) for device in memory.devices]}


def _cuda_attach_out_of_memory_observer(observer):
    allocator().observers.append(observer)


def _cuda_isHistoryEnabled():
    return allocator().history > 0
