# SPDX-License-Identifier: Apache-2.0
"""CUDA's start as in torch 2.11: what waits for it is called by _lazy_init, on the thread that begins."""
import threading

from .. import _C
from . import memory
from .memory import memory_snapshot, memory_stats  # noqa: F401

_initialized = False
_tls = threading.local()
_initialization_lock = threading.Lock()
_queued_calls = []


def is_initialized():
    return _initialized and not _C._cuda_isInBadFork()


def _lazy_call(callable, **keywords):
    with _initialization_lock:
        if is_initialized():
            callable()
        else:
            _queued_calls.append((callable, []))


def init():
    _lazy_init()


def _lazy_init():
    global _initialized
    if is_initialized() or hasattr(_tls, "is_initializing"):
        return
    with _initialization_lock:
        if is_initialized():
            return
        if _C._cuda_isInBadFork():
            raise RuntimeError("Cannot re-initialize CUDA in forked subprocess.")
        _C._cuda_init()
        _tls.is_initializing = True
        try:
            for queued_call, _ in _queued_calls:
                queued_call()
        finally:
            delattr(_tls, "is_initializing")
        _initialized = True


def get_allocator_backend():
    return memory.BACKEND
