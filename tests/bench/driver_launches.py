# SPDX-License-Identifier: Apache-2.0
"""A program for bench/toggle over the fakes: an iteration is ten launches by the driver's API."""
import ctypes

import measure

LAUNCHES = 10


def build():
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    for status in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0),
                   cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), cuda.cuCtxSetCurrent(context),
                   cuda.cuModuleLoadData(ctypes.byref(module), b"text"),
                   cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"counted")):
        assert status == 0
    launch = cuda.cuLaunchKernel
    launch.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3

    def step():
        for _ in range(LAUNCHES):
            assert launch(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None) == 0

    return measure.Program(step, cuda.cuCtxSynchronize, LAUNCHES, {})
