/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_CUDA_ARRAYS_H
#define GT_TESTS_FAKES_CUDA_ARRAYS_H

#include "fakes/cuda/state.h"

/* Arrays, textures and surfaces of the fake libcuda, for what copies and for its kernels. */

/* A copy of which a side is an array, made at once. */
CUresult fake_copy_arrays(const CUDA_MEMCPY3D *box);

/* The element that a handle leads to, in the first level; NULL: none, and a kernel faults. */
const void *fake_texel(unsigned long long texture, size_t x, size_t y);
void *fake_surface_element(unsigned long long surface, size_t x, size_t y);

#endif
