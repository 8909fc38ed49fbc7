# SPDX-License-Identifier: Apache-2.0
"""A made-up training job, and the figures that any importer of it must arrive at.

Nothing here knows a format. Times are whole nanoseconds; `step` makes all of them multiples of so many, as files with whole
microseconds have.
"""
import collections
import random

Kernel = collections.namedtuple("Kernel", "process device context stream start end correlation name grid block registers shared graph_node")
Copy = collections.namedtuple("Copy", "process device context stream start end correlation kind bytes")
Fill = collections.namedtuple("Fill", "process device context stream start end correlation bytes")
Call = collections.namedtuple("Call", "process tid start end correlation name result")
Range = collections.namedtuple("Range", "process tid start end name op sequence sizes")
Graph = collections.namedtuple("Graph", "process device context stream start end correlation graph")
Wait = collections.namedtuple("Wait", "process context stream start end correlation kind")

KERNELS = [("void scale<float>(float*, float, int)", (64, 1, 1), (256, 1, 1), 24, 1024),
           ("void add<float>(float*, float const*, int)", (128, 2, 1), (128, 1, 1), 40, 0),
           ("gemm_kernel", (8, 4, 2), (32, 4, 1), 96, 16384)]
OPS = ["aten::mm", "aten::add", "aten::mul"]


class World:
    def __init__(self, seed, processes=1, steps=4, step=1):
        self.random = random.Random(seed)
        self.step = step
        self.kernels, self.copies, self.fills, self.calls = [], [], [], []
        self.ranges, self.graphs, self.waits = [], [], []
        self.processes = [1000 + 10 * number for number in range(processes)]
        self.correlation = 0
        for number, pid in enumerate(self.processes):
            self.now = 5_000_000 * step // step + 777 * step
            self.gpu_free = {}
            for _ in range(steps):
                self.make_step(pid, number)

    def some(self, low, high):
        return self.random.randrange(low // self.step + 1, high // self.step + 2) * self.step

    def pass_time(self, low=1000, high=9000):
        self.now += self.some(low, high)
        return self.now

    def place(self, number, stream, low, high):
        """Start and end on a stream, which does one thing after the other."""
        start = max(self.now + self.some(1000, 20000), self.gpu_free.get(stream, 0))
        end = start + self.some(low, high)
        self.gpu_free[stream] = end
        return dict(device=number % 2, context=1 + number % 2, stream=stream, start=start, end=end)

    def call(self, pid, name, tid=None, result=0):
        self.correlation += 1
        start = self.pass_time()
        self.calls.append(Call(pid, tid or pid, start, self.pass_time(), self.correlation, name, result))
        return self.correlation

    def launch(self, pid, number):
        name, grid, block, registers, shared = self.random.choice(KERNELS)
        correlation = self.call(pid, "cudaLaunchKernel")
        node = self.random.choice([0, 0, 0, 1 << 33 | 5])
        self.kernels.append(Kernel(pid, correlation=correlation, name=name, grid=grid, block=block, registers=registers, shared=shared,
                                   graph_node=node, **self.place(number, self.random.choice([7, 13]), 2000, 90000)))

    def make_op(self, pid, number):
        start = self.pass_time()
        inner = self.pass_time()
        for _ in range(self.random.randrange(3)):
            self.launch(pid, number)
        name, sequence = self.random.choice(OPS), self.random.randrange(100)
        self.ranges.append(Range(pid, pid, inner, self.pass_time(), name, True, sequence, "[[2, 3], []]"))
        self.ranges.append(Range(pid, pid, start, self.pass_time(), "aten::linear", True, -1, ""))

    def make_step(self, pid, number):
        start = self.pass_time()
        correlation = self.call(pid, "cudaMemcpyAsync")
        kind = self.random.choice(["HtoD", "DtoH", "DtoD"])
        self.copies.append(Copy(pid, correlation=correlation, kind=kind, bytes=self.random.randrange(1, 1 << 20),
                                **self.place(number, 7, 1000, 30000)))
        correlation = self.call(pid, "cudaMemsetAsync")
        self.fills.append(Fill(pid, correlation=correlation, bytes=self.random.randrange(1, 1 << 16), **self.place(number, 7, 1000, 9000)))
        for _ in range(5):
            self.make_op(pid, number)
        correlation = self.call(pid, "cudaStreamSynchronize")
        last = self.calls[-1]
        self.waits.append(Wait(pid, 1 + number % 2, 7, last.start, last.end, correlation, 3))
        self.ranges.append(Range(pid, pid, start, self.pass_time(), "measured", False, -1, ""))

    def add_graph(self):
        pid = self.processes[0]
        correlation = self.call(pid, "cudaGraphLaunch")
        self.graphs.append(Graph(pid, correlation=correlation, graph=3, **self.place(0, 7, 50000, 60000)))


def united(spans):
    total, end = 0, None
    for start, stop in sorted(spans):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


def figures(world):
    """All of it by sums over rows, in the terms of docs/terms.md."""
    work = world.kernels + world.copies + world.fills + world.graphs
    by_correlation = {(row.process, row.correlation): row for row in world.kernels}
    own = collections.Counter()
    for call in world.calls:
        kernel = by_correlation.get((call.process, call.correlation))
        inside = [entry for entry in world.ranges if entry.op and entry.process == call.process and entry.start <= call.start and
                  call.end <= entry.end]
        if kernel and inside:
            own[min(inside, key=lambda entry: entry.end - entry.start).name] += kernel.end - kernel.start
    devices = sorted({row.device for row in work})
    return {
        "rows": {"kernels": len(world.kernels), "copies": len(world.copies), "fills": len(world.fills), "api_calls": len(world.calls),
                 "ranges": len(world.ranges), "graph_traces": len(world.graphs), "processes": len(world.processes)},
        "kernel_ns": sum(row.end - row.start for row in world.kernels),
        "kernel_calls": sorted(collections.Counter(row.name for row in world.kernels).values()),
        "shapes": sorted(collections.Counter((row.device, row.grid, row.block, row.registers, row.shared) for row in world.kernels).values()),
        "copied": sorted((kind, sum(row.bytes for row in world.copies if row.kind == kind)) for kind in {row.kind for row in world.copies}),
        "filled": sum(row.bytes for row in world.fills),
        "busy_ns": [united((row.start, row.end) for row in world.kernels + world.graphs if row.device == device) for device in devices],
        "gap_ns": [max(row.end for row in on) - min(row.start for row in on) - united((row.start, row.end) for row in on)
                   for on in ([row for row in work if row.device == device] for device in devices)],
        "calls": sorted((name, sum(row.name == name for row in world.calls),
                         sum(row.end - row.start for row in world.calls if row.name == name)) for name in {row.name for row in world.calls}),
        "measured": (sum(row.name == "measured" for row in world.ranges),
                     sum(row.end - row.start for row in world.ranges if row.name == "measured")),
        "op_calls": sorted(collections.Counter(row.name for row in world.ranges if row.op).items()),
        "op_own_ns": sorted(own.items()),
        "waited_ns": sum(row.end - row.start for row in world.waits),
    }
