# SPDX-License-Identifier: Apache-2.0
"""Starts programs of this folder from a Python that has imported PyTorch already.

    serve.py MODULE...      imports the modules, then reads requests from stdin, one JSON a line

Importing PyTorch takes longer than a measurement. Each request is run in a process of its own, a fork
of this one, which has not touched CUDA: the driver is loaded, and reads the environment, in the child.
Requests, each answered by one line:
  {"program": NAME, "arguments": [...], "environment": {...}, "stdout": FILE, "stderr": FILE}
      starts one: {"pid": N}
  {"wait": N, "block": true or false}
      its end: {"status": N} (-N: signal N), {"status": null} while it runs and block is false
"""
import importlib
import json
import os
import sys


def become(request):
    """In the child: the environment and the files of the request."""
    os.environ.clear()
    os.environ.update(request["environment"])
    for descriptor, name, flags in ((0, os.devnull, os.O_RDONLY),
                                    (1, request["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
                                    (2, request["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
        opened = os.open(name, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)


def answer(**what):
    print(json.dumps(what), flush=True)


def wait_for(request):
    """The exit status of a child, or None while it runs and nobody is to wait for it."""
    child, status = os.waitpid(request["wait"], 0 if request["block"] else os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if child else None


def main(modules):
    for name in modules:
        importlib.import_module(name)
    answer(ready=True)
    # Not "for line in sys.stdin": the child must not inherit requests that were read ahead.
    while line := sys.stdin.readline():
        request = json.loads(line)
        if "wait" in request:
            answer(status=wait_for(request))
            continue
        child = os.fork()
        if child == 0:
            become(request)
            import measure

            # The process then ends as a Python program does: through exit(), where tools say goodbye.
            return measure.main(importlib.import_module(request["program"]).build, request["arguments"])
        answer(pid=child)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
