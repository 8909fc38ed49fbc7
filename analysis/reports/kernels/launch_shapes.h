/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_KERNELS_LAUNCH_SHAPES_H
#define GT_ANALYSIS_REPORTS_KERNELS_LAUNCH_SHAPES_H

#include "analysis/kernels/launch_uses.h"
#include "analysis/result.h"
#include "model/trace.h"

/*
 * The table launch_shapes of the report kernels: what each launch shape took and leaves unused.
 */

/* A shape whose launches were all run several times for their counters has a row without times:
 * reports and advice on what was counted speak of its registers and its occupancy. */
void gt_add_launch_shapes(struct gt_result *result, const struct gt_trace *trace,
                          const struct gt_launch_uses *uses);

/* Says of how many of its rows the local memory is not known. */
void gt_remark_local_memory(struct gt_result *result, const struct gt_trace *trace,
                            const struct gt_launch_uses *uses);

#endif
