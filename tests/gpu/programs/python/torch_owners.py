# SPDX-License-Identifier: Apache-2.0
"""Whose kernels, copies and fills are, by operation and by module, from the trace of PyTorch's own profiler.

It knows of modules as calls in Python (with_stack), named after their class and the order in which they were
first called. It knows backward as operations, with the sequence number of the forward operation that each
belongs to: the module is the one that this was called in.
"""
import collections

ENGINE = "autograd::engine::evaluate_function: "
OPTIMIZER = "Optimizer.step#"
WORK = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
SHOWN = ("cpu_op", "user_annotation")


def chains_of(shown, calls):
    """Pairs of each call of one thread and the events around it, the innermost last."""
    shown.sort(key=lambda event: (event["ts"], -event["dur"]))
    open_ones, at = [], 0
    for call in sorted(calls, key=lambda event: event["ts"]):
        while at < len(shown) and shown[at]["ts"] <= call["ts"]:
            open_ones.append(shown[at])
            at += 1
        open_ones = [event for event in open_ones if event["ts"] + event["dur"] >= call["ts"]]
        yield call, open_ones


def sequence_of(event):
    """Its sequence number if that says something, and whether it is one of backward."""
    arguments = event.get("args", {})
    number = arguments.get("Sequence number", -1)
    return number if number >= 0 else None, bool(arguments.get("Fwd thread id"))


def innermost(chain, fits):
    return next((event for event in reversed(chain) if fits(event)), None)


def module_in(chain, names):
    found = innermost(chain, lambda event: event["name"] in names)
    return names[found["name"]] if found else ""


class Owners:
    """Whose work is, from the events of a trace and the modules' names."""

    def __init__(self, events, names):
        self.names = names
        self.threads = collections.defaultdict(lambda: ([], []))
        for event in events:
            if event.get("ph") != "X":
                continue
            if event.get("cat") in SHOWN or event["name"] in names:
                self.threads[event["tid"]][0].append(event)
            elif event.get("cat") in CALLS:
                self.threads[event["tid"]][1].append(event)
        self.modules = {}  # by sequence number: that of the last forward operation that began with it
        self.numbers = {}  # by id of an event of backward
        for shown, _ in self.threads.values():
            self.number(shown)

    def number(self, shown):
        """The engine's event around an operation of backward has no number of its own."""
        operations = [event for event in shown if event["cat"] == "cpu_op"]
        for operation, chain in chains_of(list(shown), operations):
            number, backward = sequence_of(operation)
            if number is not None and not backward:
                self.modules[number] = module_in(chain, self.names)
            elif number is not None:
                engine = innermost(chain, lambda event, name=operation["name"]: event["name"] == ENGINE + name)
                self.numbers[id(operation)] = number
                if engine:
                    self.numbers[id(engine)] = number

    def owner_of(self, chain):
        """(operation, direction, module or optimizer)"""
        operation = innermost(chain, lambda event: event["cat"] == "cpu_op")
        name = operation["name"] if operation else ""
        step = innermost(chain, lambda event: event["name"].startswith(OPTIMIZER))
        if step:
            return name, "", step["name"][len(OPTIMIZER):]
        node = innermost(chain, lambda event: id(event) in self.numbers)
        if node:
            return name, "backward", self.modules.get(self.numbers[id(node)], "")
        module = module_in(chain, self.names)
        return name, "forward" if module else "", module

    def by_call(self):
        return {call["args"].get("correlation"): self.owner_of(chain)
                for shown, calls in self.threads.values() for call, chain in chains_of(shown, calls)}


def sums_of(events, names):
    """How many pieces of work, and microseconds: by operation, and by direction and module."""
    owners = Owners(events, names).by_call()
    sums = {"ops": {}, "owners": {}}
    for event in events:
        if event.get("ph") != "X" or event.get("cat") not in WORK:
            continue
        operation, direction, module = owners.get(event["args"].get("correlation"), ("", "", ""))
        for table, key in (("ops", operation), ("owners", f"{direction} {module}".strip())):
            row = sums[table].setdefault(key, [0, 0.0])
            row[0] += 1
            row[1] += event["dur"]
    return sums
