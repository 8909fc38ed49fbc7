/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_LIBRARIES_RUNTIME_H
#define GT_TESTS_FAKES_LIBRARIES_RUNTIME_H

#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

/*
 * A small stand-in for libcudart, compiled into the test programs because the real one is
 * linked into programs statically as well. It makes the callbacks of the runtime API around
 * those of the driver API, as the real one does. The first argument of cudaLaunchKernel is
 * the kernel's name: there are no host stubs here. A symbol is the address of a fake_symbol,
 * which is copied from without the driver where it has no module.
 */

struct fake_symbol {
	CUmodule module;
	const char *name;
};

#endif
