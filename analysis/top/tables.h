/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TOP_TABLES_H
#define GT_ANALYSIS_TOP_TABLES_H

#include <stddef.h>

struct gt_result;
struct gt_top;

/*
 * The tables of gputrace top, and what is to be said of them: the window, GPUs, the kernels of each
 * that took most, at most rows of each GPU, and processes. top NULL: without rows. It must outlive
 * the result.
 */
void gt_top_add_tables(struct gt_result *result, const struct gt_top *top, size_t rows);

#endif
