/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/timeline/parts.h"
#include "base/strings.h"
#include "base/sums.h"
#include "model/view/view.h"
#include "model/work/timed.h"

/* The ranges of the threads that have most of them, as long as they last. */

/* Ranges that are there for the paths of others alone are not of the view. */
static bool is_drawn(const struct gt_trace *trace, const struct gt_range *range)
{
	return range->thread < trace->threads.count && !(range->flags & GT_AROUND) &&
	       gt_timed(GT_TIMES_ANY, range->flags, range->start_ns, range->end_ns);
}

/* By thread: the time of its outermost ranges. The caller frees it. */
static uint64_t *weigh(const struct gt_trace *trace)
{
	uint64_t *weights = gt_allocate_zeroed(trace->threads.count + 1, sizeof(*weights));

	gt_array_each(const struct gt_range, range, &trace->ranges)
		if (is_drawn(trace, range))
			gt_sum_add(&weights[range->thread],
			           range->depth == 0
			                   ? (uint64_t)(range->end_ns - range->start_ns) + 1
			                   : 1);
	return weights;
}

static void label_thread(struct gt_timeline *timeline, struct gt_timeline_track *row)
{
	const struct gt_trace *trace = timeline->view->trace;
	const struct gt_thread *thread = &trace->threads.rows[row->row];

	snprintf(row->label, sizeof(row->label), "ranges of %.64s %u",
	         thread->name ? gt_trace_text(trace, thread->name) : "thread", thread->tid);
	gt_timeline_label_process(timeline, thread->process, row->label);
}

void gt_timeline_add_ranges(struct gt_timeline *timeline)
{
	const struct gt_trace *trace = timeline->view->trace;
	uint64_t *weights = weigh(trace);
	const struct gt_timeline_rows rows = {
		.kind = GT_TIMELINE_RANGES,
		.weights = weights,
		.count = trace->threads.count,
		.most = GT_TIMELINE_THREADS,
		.label = label_thread,
	};
	size_t *tracks = gt_timeline_add_heaviest(timeline, &rows, &timeline->threads_left_out);

	gt_array_each(const struct gt_range, range, &trace->ranges)
		if (is_drawn(trace, range) && tracks[range->thread] != SIZE_MAX)
			gt_timeline_put_one(timeline, tracks[range->thread],
			                    (struct gt_interval){range->start_ns, range->end_ns},
			                    gt_strings_add(timeline->names,
			                                   gt_trace_text(trace, range->text)));
	gt_array_free(tracks);
	gt_array_free(weights);
}
