# SPDX-License-Identifier: Apache-2.0
"""Starts programs of this folder from a Python that has imported PyTorch already.

    serve.py MODULE...      imports the modules, then reads requests from stdin, one JSON a line

Importing PyTorch takes longer than a measurement. Each request is run in a process of its own, a fork
of this one, which has not touched CUDA: the driver is loaded, and reads the environment, in the child.
Request: {"program": NAME, "arguments": [...], "environment": {...}, "stdout": FILE, "stderr": FILE}
Answers, one line each: {"pid": N} when it has begun, {"status": N} when it has ended (-N: signal N).
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


def main(modules):
    for name in modules:
        importlib.import_module(name)
    answer(ready=True)
    # Not "for line in sys.stdin": the child must not inherit requests that were read ahead.
    while line := sys.stdin.readline():
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            become(request)
            import measure

            # The process then ends as a Python program does: through exit(), where tools say goodbye.
            return measure.main(importlib.import_module(request["program"]).build, request["arguments"])
        answer(pid=child)
        answer(status=os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
