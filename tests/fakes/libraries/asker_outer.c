/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/libraries/asker.h"

CUresult asker_outer(asker *inner, size_t size)
{
	const CUresult result = inner(size);

	return result == CUDA_SUCCESS ? asker_driver(size + 1) : result;
}

CUresult asker_driver(size_t size)
{
	CUdeviceptr memory = 0;

	return cuMemAlloc(&memory, size);
}
