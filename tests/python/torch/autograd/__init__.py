# SPDX-License-Identifier: Apache-2.0
import threading

from .. import _C

LARGEST = 2 ** 64 - 1
numbers = threading.local()
tasks = iter(range(1, 1 << 30))


def _get_sequence_nr():
    return getattr(numbers, "next", 0)


class Node:
    def __init__(self, name, inputs):
        self.name = name
        self.number = _get_sequence_nr()
        numbers.next = self.number + 1
        self.metadata = {}
        self.next_functions = tuple((node, 0) for node in inputs)
        self.prehooks = []

    def _sequence_nr(self):
        return self.number

    def register_prehook(self, hook):
        self.prehooks.append(hook)

    def run(self):
        gradients = (object(),)
        for hook in self.prehooks:
            result = hook(gradients)
            if result is not None:
                raise TypeError("backward pre hook returned something")
        _C._nvtx.launch(self.name + "Backward")


class AccumulateGrad(Node):
    """Node of a parameter: it runs as soon as it can, and stays while the parameter does."""

    def __init__(self, name):
        self.name = name
        self.number = LARGEST
        self.metadata = {}
        self.next_functions = ()
        self.prehooks = []


class Engine:
    def queue_callback(self, callback):
        if _C._current_graph_task_id() < 0:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        _C.graph_task.callbacks.append(callback)


class Variable:
    _execution_engine = Engine()


def count_uses(root):
    uses, pending, seen = {}, [root], {root}
    while pending:
        for node, _ in pending.pop().next_functions:
            if node is None:
                continue
            uses[node] = uses.get(node, 0) + 1
            if node not in seen:
                seen.add(node)
                pending.append(node)
    return uses


def run_nodes(root):
    uses, ready = count_uses(root), [root]
    while ready:
        node = max(ready, key=Node._sequence_nr)
        ready.remove(node)
        node.run()
        for after, _ in node.next_functions:
            if after is not None:
                uses[after] -= 1
                if uses[after] == 0:
                    ready.append(after)


def run_backward(root):
    failed = []

    def device_thread():
        _C.graph_task.number = next(tasks)
        _C.graph_task.callbacks = []
        try:
            run_nodes(root)
            for callback in _C.graph_task.callbacks:
                callback()
        except Exception as error:
            failed.append(error)
        _C.graph_task.number = -1

    thread = threading.Thread(target=device_thread, name="device")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


from . import profiler  # noqa: E402,F401


def _enable_profiler(config, activities):
    return profiler._enable_profiler(config, activities)
