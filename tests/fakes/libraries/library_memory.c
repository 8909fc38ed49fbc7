/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/libraries/library_memory.h"

/* A library that gets memory by itself; it is built under names of real ones. */
CUresult library_memory(CUdeviceptr *address, size_t size)
{
	const CUresult result = cuMemAlloc(address, size);

	return *address ? result : CUDA_ERROR_UNKNOWN; /* not the last thing that is called */
}
