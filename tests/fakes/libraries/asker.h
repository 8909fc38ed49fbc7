/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_LIBRARIES_ASKER_H
#define GT_TESTS_FAKES_LIBRARIES_ASKER_H

#include <cuda.h>

typedef CUresult asker(size_t size);

/* asker.so: cuMemAlloc, and cudaMalloc of libcudart.so.13. */
CUresult asker_driver(size_t size);
CUresult asker_runtime(size_t size);

/* asker_outer.so: has another one do it. */
CUresult asker_outer(asker *inner, size_t size);

#endif
