/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_SHORT_NAME_H
#define GT_MODEL_NAMING_SHORT_NAME_H

#include <stddef.h>

/*
 * Name of a kernel where people read it. The collector makes the short names once for a trace
 * (column short_name of launch_shapes), and model/naming/shape_names.h gives them.
 */

/* Columns that a short name takes at most where that can be helped. */
enum { GT_SHORT_NAME_WIDTH = 60 };

/* Room for a short name and its terminator. */
enum { GT_SHORT_NAME_MOST = 256 };

/*
 * Writes the short name that belongs to a full (demangled) one into text, cut off where size ends.
 * Returns its length. Return type, parameters, namespaces and what is the same for all kernels of a
 * sort are left out, by the rules of short_names.def; a lambda is called as the function that holds
 * it. Takes time in proportion to the name, whatever it is. Two kernels may get one name:
 * model/naming/distinct_names.h tells them apart.
 */
size_t gt_short_name(const char *full, char *text, size_t size);

/*
 * Name of a kernel without its template arguments, its tile and its number: reduce_kernel of
 * "reduce_kernel<sum, float>", gemm of "gemm 128x64x32 tn bf16", triton_red_fused_add of
 * "triton_red_fused_add_0". Cut off where size ends.
 */
void gt_short_base(const char *short_name, char *text, size_t size);

#endif
