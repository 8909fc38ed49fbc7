#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A CuPy RawKernel, compiled by NVRTC, that writes device events: through the module's own variable, and to a ring that
it gets as an argument. Prints how many there must be. 77: there is no CuPy.

    device_rawkernel.py [LAUNCHES]
"""
import pathlib
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[4] / "include"
sys.path.insert(0, str(INCLUDE / "gputrace"))
import gputrace_device as events  # noqa: E402

try:
    import cupy
except ImportError:
    print("there is no cupy")
    sys.exit(77)

SOURCE = """
#include <gputrace/device.cuh>

GPUTRACE_DEVICE_NAME(scale_name, "scale");

extern "C" __global__ void scale(float *numbers, int count)
{
    gputrace::writer events(gputrace::leader::block);
    gputrace::range range(events, scale_name);
    const int at = blockIdx.x * blockDim.x + threadIdx.x;

    if (at < count)
        numbers[at] *= 2;
}

extern "C" __global__ void add(float *numbers, int count, const void *ring, unsigned name)
{
    gputrace::writer events(ring, gputrace::leader::warp);
    const int at = blockIdx.x * blockDim.x + threadIdx.x;

    events.begin(name);
    if (at < count)
        numbers[at] += 1;
    events.end(name);
    events.value(name, at);
}
"""


def main():
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    threads, blocks = 128, 64
    count = threads * blocks
    module = cupy.RawModule(code=SOURCE, options=(f"-I{INCLUDE}", "--std=c++17"))
    scale, add = module.get_function("scale"), module.get_function("add")
    events.name("scale")  # in code for NVRTC the text is told of by the host
    add_name = events.name("add")
    numbers = cupy.zeros(count, dtype=cupy.float32)
    expected = 0.0
    for _ in range(launches):
        scale((blocks,), (threads,), (numbers, cupy.int32(count)))
        add((blocks,), (threads,), (numbers, cupy.int32(count), cupy.uint64(events.ring()), cupy.uint32(add_name)))
        expected = 2 * expected + 1
    cupy.cuda.Device().synchronize()
    warps = count // 32
    print(f"launches={launches}\nscale={launches * blocks}\nadd={launches * warps}\nvalues={launches * warps}\n"
          f"rows={launches * (blocks + 2 * warps)}\nring={int(events.ring() != 0)}\n"
          f"wrong={int(not bool((numbers == expected).all()))}")


main()
