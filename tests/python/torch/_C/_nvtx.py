# SPDX-License-Identifier: Apache-2.0
"""Writes down what is called, and checks that what is popped was pushed on the same thread."""
import atexit
import json
import os
import threading

library = None
if os.environ.get("STUB_LIBRARY"):
    import ctypes
    library = ctypes.CDLL(os.environ["STUB_LIBRARY"])  # tests/fakes/libraries/nvtx_torch.c
    library.nvtx_torch_start.restype = ctypes.c_ulonglong
    library.nvtx_torch_end.argtypes = [ctypes.c_ulonglong]

events = []
started = {}
stacks = threading.local()


def log(what, text):
    # current_thread() would make up a thread for one that is only about to begin, or has ended.
    thread = threading._active.get(threading.get_ident())
    events.append([thread.name if thread else "at its edge", what, text])


def depth():
    if not hasattr(stacks, "open"):
        stacks.open = []
    return stacks.open


def rangePushA(text):
    if os.environ.get("STUB_FAIL") == "push":
        raise RuntimeError("no NVTX today")
    log("push", text)
    if library:
        library.nvtx_torch_push(text.encode())
    depth().append(text)
    return len(depth()) - 1


def rangePop():
    log("pop", depth().pop() if depth() else "NOTHING")
    if library:
        library.nvtx_torch_pop()
    return len(depth()) - 1


def rangeStartA(text):
    log("start", text)
    number = library.nvtx_torch_start(text.encode()) if library else len(started) + 1
    started[number] = text
    return number


def rangeEnd(number):
    log("end", started[number])
    if library:
        library.nvtx_torch_end(number)


def markA(text):
    log("mark", text)


def launch(name):
    """The kernel of an operation."""
    log("op", name)
    if library and library.nvtx_torch_launch(name.encode()) < 0:
        raise RuntimeError("the kernel of %s was not launched" % name)


def save():
    if os.environ.get("STUB_LOG"):
        with open(os.environ["STUB_LOG"], "w") as file:
            json.dump(events, file)


atexit.register(save)
