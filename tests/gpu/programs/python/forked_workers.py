#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers that Python's multiprocessing forks: each launches empty kernels, waits for them and ends.

    forked_workers.py [--workers N] [--launches N] [--rounds N] [--end now|return] [--torch] [--no-wait]

Each worker launches and waits, ROUNDS times. Then it calls os._exit at once (now), or it returns and
multiprocessing calls os._exit. With --no-wait no call waits for the kernels: the worker sleeps until they must have
finished. The parent never uses CUDA. It prints the launches that were made, and
how long a round took in the median worker. Without --torch only the driver API is used, by ctypes: no
compiler and no package is needed where this runs.
"""
import argparse
import ctypes
import multiprocessing
import os
import statistics
import sys
import time

NO_WAIT_S = 0.02  # for some thousand kernels that do nothing

PTX = b""".version 7.0
.target sm_75
.address_size 64
.visible .entry counted() { ret; }
\0"""


def check(status, what):
    if status:
        sys.exit(f"forked_workers: {what} gave {status}")


def start_driver():
    """Two functions: one launches, one waits."""
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
    return (lambda: check(launch(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None), "cuLaunchKernel"),
            lambda: check(cuda.cuCtxSynchronize(), "cuCtxSynchronize"))


def start_torch():
    import torch

    numbers = torch.zeros(1024, device="cuda")
    torch.cuda.synchronize()
    return lambda: numbers.add_(1), torch.cuda.synchronize


def work(args, times):
    launch, wait = start_torch() if args.torch else start_driver()
    if args.no_wait:
        wait = lambda: time.sleep(NO_WAIT_S)
    begin = time.perf_counter()
    for _ in range(args.rounds):
        for _ in range(args.launches):
            launch()
        wait()
    os.write(times, b"%.9f\n" % ((time.perf_counter() - begin) / args.rounds))
    if args.end == "now":
        os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--launches", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--end", choices=("now", "return"), default="now")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--no-wait", action="store_true")
    args = parser.parse_args()
    fork = multiprocessing.get_context("fork")
    read, write = os.pipe()
    workers = [fork.Process(target=work, args=(args, write)) for _ in range(args.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    os.close(write)
    with os.fdopen(read) as file:
        seconds = [float(line) for line in file]
    if len(seconds) != args.workers or any(worker.exitcode for worker in workers):
        sys.exit(f"forked_workers: exit codes {[worker.exitcode for worker in workers]}")
    print(f"launches={args.workers * args.rounds * args.launches}")
    print(f"round_us={statistics.median(seconds) * 1e6:.1f}")


main()
