/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_SHORT_GEMM_H
#define GT_MODEL_NAMING_SHORT_GEMM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The short name of a matrix multiplication or convolution of cuBLAS, cuDNN or CUTLASS, which tells
 * in its name how it was built: "gemm 128x256x64 tn bf16 (cutlass sm90)". Writes it into text and
 * returns its length; 0 for any other kernel.
 */
size_t gt_short_gemm(const char *full, char *text, size_t size);

/* The tile of such a kernel, "128x256x64" or "128x64", as far as size goes; false for any other. */
bool gt_gemm_tile(const char *full, char *text, size_t size);

#endif
