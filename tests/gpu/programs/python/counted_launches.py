#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches an empty kernel until it is killed, counting in a file that outlives it.

    counted_launches.py FILE [LAUNCHES]

FILE holds two 64-bit numbers, the process id and how many launches have returned, written through
shared memory: they are right up to the instant of a SIGKILL, which nothing the process prints is.
Only the driver API, by ctypes: no compiler and no package is needed where this runs.
"""
import ctypes
import mmap
import os
import struct
import sys

PTX = b""".version 7.0
.target sm_75
.address_size 64
.visible .entry counted() { ret; }
\0"""


def check(status, what):
    if status:
        sys.exit(f"counted_launches: {what} gave {status}")


def main():
    path = sys.argv[1]
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 10**9
    with open(path, "wb") as file:
        file.truncate(16)
    with open(path, "r+b") as file:
        counts = mmap.mmap(file.fileno(), 16)

    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuInit(0), "cuInit")
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX), "cuModuleLoadData")
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"counted"), "cuModuleGetFunction")

    launch = cuda.cuLaunchKernel
    launch.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
    struct.pack_into("<Q", counts, 0, os.getpid())
    for count in range(1, launches + 1):
        check(launch(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None), "cuLaunchKernel")
        struct.pack_into("<Q", counts, 8, count)
    check(cuda.cuCtxSynchronize(), "cuCtxSynchronize")


main()
