/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_LIBRARIES_LIBRARY_MEMORY_H
#define GT_TESTS_FAKES_LIBRARIES_LIBRARY_MEMORY_H

#include <cuda.h>

/* cuMemAlloc, which a library calls. */
CUresult library_memory(CUdeviceptr *address, size_t size);

#endif
