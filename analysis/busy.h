/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_BUSY_H
#define GT_ANALYSIS_BUSY_H

#include <stdint.h>

#include "model/activity.h"
#include "model/intervals.h"
#include "model/view.h"

/*
 * How busy GPUs were, in one sense wherever it is said: a GPU is busy while at least one kernel
 * runs on it, or a graph of which only the whole was recorded, and idle else; the shares are those
 * of the view's window and add up to all of it. What reaches out of the window counts as far as it
 * is inside.
 */
struct gt_result;

struct gt_busy {
	struct gt_cover kernels; /* covered_ns is the busy time */
	struct gt_cover copies;
	struct gt_cover kernels_or_copies;
	struct gt_cover all;   /* fills too */
	uint64_t kernel_count; /* with times */
};

/* One for each device of the trace. The caller frees it with gt_array_free. */
struct gt_busy *gt_busy_of_devices(const struct gt_view *view);

/* From its first start to its latest end, but for time that is not of the view. */
uint64_t gt_busy_span_ns(const struct gt_view *view, const struct gt_busy *busy);

/* Time in which a kernel and a copy ran at once. */
uint64_t gt_busy_overlap(const struct gt_busy *busy);

/*
 * Adds one activity of a device to its busy time alone, for reports that walk all activity, in
 * order of their start, for more than this.
 */
void gt_busy_see(struct gt_cover *kernels, const struct gt_view *view,
                 const struct gt_activity *activity);

/*
 * Says so under a report that speaks of it, where it shows one of the columns, which are as
 * gt_result_remark_on has them; NULL: in any case.
 */
void gt_remark_busy(struct gt_result *result, const struct gt_trace *trace, const char *columns);

/* What of it is about graphs, where any were recorded as a whole. */
void gt_remark_whole_graphs(struct gt_result *result, const struct gt_trace *trace,
                            const char *columns);

/* Busy time, the cover of kernels, in percent of the window; NAN when that is empty. */
double gt_busy_percent(const struct gt_view *view, const struct gt_cover *kernels);

#endif
