/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/libraries/asker.h"

#include "fakes/libraries/runtime.h"

/* A library that gets memory for others: of the driver, and of the runtime that is a library too. */

CUresult asker_driver(size_t size)
{
	CUdeviceptr memory = 0;

	return cuMemAlloc(&memory, size);
}

CUresult asker_runtime(size_t size)
{
	void *memory = NULL;

	return (CUresult)cudaMalloc(&memory, size);
}
