# SPDX-License-Identifier: Apache-2.0
"""Writes down what is called, and checks that what is popped was pushed on the same thread."""
import atexit
import json
import os
import threading

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
    depth().append(text)
    return len(depth()) - 1


def rangePop():
    log("pop", depth().pop() if depth() else "NOTHING")
    return len(depth()) - 1


def rangeStartA(text):
    log("start", text)
    started[len(started) + 1] = text
    return len(started)


def rangeEnd(number):
    log("end", started[number])


def save():
    if os.environ.get("STUB_LOG"):
        with open(os.environ["STUB_LOG"], "w") as file:
            json.dump(events, file)


atexit.register(save)
