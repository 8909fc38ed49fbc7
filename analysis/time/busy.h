/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_BUSY_H
#define GT_ANALYSIS_TIME_BUSY_H

#include <stdint.h>

#include "model/view/view.h"
#include "model/work/activity.h"
#include "model/work/intervals.h"

/*
 * How busy GPUs were, in one sense wherever it is said (docs/terms.md): a GPU is busy while at
 * least one kernel or whole graph runs on it, and idle else; the shares are those of the view's
 * window and add up to all of it. All that happened counts, whatever a filter left to be shown;
 * work that reaches out of the window counts as far as it is inside.
 */
struct gt_result;

struct gt_busy {
	struct gt_cover kernels; /* covered_ns is the busy time */
	struct gt_cover copies;
	struct gt_cover kernels_or_copies;
	struct gt_cover all;       /* fills too */
	struct gt_cover shown;     /* as kernels, of those that are shown */
	struct gt_interval in_use; /* first start, last end of all work; start > end: it has none */
	uint64_t kernel_count;     /* shown, whose times are figures */
};

/* One for each device of the view's trace. The caller frees it with gt_array_free. */
struct gt_busy *gt_busy_of_devices(const struct gt_view *view);

/* The same without anything seen, for reports that walk over all that happened for more than this. */
struct gt_busy *gt_busy_new(const struct gt_view *view);

/* Sees activities (GT_WORK_BUSY of gt_whole_of), in the order of their start. */
void gt_busy_see(struct gt_busy *devices, const struct gt_view *view,
                 const struct gt_activity *activity);

/* In use: from the first start to the last end of its work, inside the window. */
uint64_t gt_busy_span_ns(const struct gt_view *view, const struct gt_busy *busy);

/* Time in which a kernel and a copy ran at once. */
uint64_t gt_busy_overlap(const struct gt_busy *busy);

/* The window of a view, to cut work at its edges. It borrows from the view's trace. */
struct gt_inside gt_window_of(const struct gt_view *view);

/* Under a report of busy time: how much of it was work that the filter left out, where there is
 * any. */
void gt_remark_other_work(struct gt_result *result, const struct gt_trace *trace,
                          const struct gt_busy *devices);

/*
 * Says so under a report that speaks of it, where it shows one of the columns, which are as
 * gt_result_remark_on has them; NULL: in any case.
 */
void gt_remark_busy(struct gt_result *result, const struct gt_trace *trace, const char *columns);

/* The part of it about graphs, where any were recorded as a whole. */
void gt_remark_whole_graphs(struct gt_result *result, const struct gt_trace *trace,
                            const char *columns);

/* Busy time, the cover of kernels, in percent of the window; NAN when that is empty. */
double gt_busy_percent(const struct gt_view *view, const struct gt_cover *kernels);

#endif
