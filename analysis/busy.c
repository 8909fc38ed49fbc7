/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/busy.h"

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"

static struct gt_interval inside(const struct gt_view *view, const struct gt_activity *activity)
{
	struct gt_interval interval = {activity->start_ns, activity->end_ns};

	if (interval.start_ns < view->start_ns)
		interval.start_ns = view->start_ns;
	if (interval.end_ns > view->end_ns)
		interval.end_ns = view->end_ns;
	return interval;
}

static void see(struct gt_busy *busy, enum gt_activity_type type, struct gt_interval interval)
{
	gt_cover_add(&busy->all, interval);
	if (type == GT_ACTIVITY_FILL)
		return;
	gt_cover_add(&busy->kernels_or_copies, interval);
	if (type == GT_ACTIVITY_COPY) {
		gt_cover_add(&busy->copies, interval);
	} else {
		gt_cover_add(&busy->kernels, interval);
		busy->kernel_count += type == GT_ACTIVITY_KERNEL;
	}
}

struct gt_busy *gt_busy_of_devices(const struct gt_view *view)
{
	const size_t count = view->trace->devices.count;
	struct gt_busy *devices = gt_allocate(count * sizeof(*devices));
	struct gt_activity_walk walk;
	struct gt_activity activity;

	for (size_t i = 0; i < count; i++)
		devices[i] = (struct gt_busy){0};
	gt_activity_walk_init_whole(&walk, view->trace);
	while (gt_activity_next(&walk, &activity))
		if (activity.device < count)
			see(&devices[activity.device], activity.type, inside(view, &activity));
	return devices;
}

uint64_t gt_busy_span_ns(const struct gt_view *view, const struct gt_busy *busy)
{
	const struct gt_cover *all = &busy->all;
	uint64_t span_ns = 0;

	if (view->trace->parts.count == 0)
		return gt_cover_span(all);
	gt_array_each(const struct gt_interval, part, &view->trace->parts) {
		const gt_time start_ns =
			part->start_ns > all->start_ns ? part->start_ns : all->start_ns;
		const gt_time end_ns = part->end_ns < all->end_ns ? part->end_ns : all->end_ns;

		if (end_ns > start_ns)
			span_ns += (uint64_t)(end_ns - start_ns);
	}
	return span_ns;
}

/* What both cover is in the sum of the two twice, in their union once. */
uint64_t gt_busy_overlap(const struct gt_busy *busy)
{
	return busy->kernels.covered_ns + busy->copies.covered_ns -
	       busy->kernels_or_copies.covered_ns;
}

void gt_busy_see(struct gt_cover *kernels, const struct gt_view *view,
                 const struct gt_activity *activity)
{
	if (gt_activity_is_work(activity->type))
		gt_cover_add(kernels, inside(view, activity));
}

void gt_remark_whole_graphs(struct gt_result *result, const struct gt_trace *trace,
                            const char *columns)
{
	if (trace->graph_traces.count > 0)
		gt_result_remark_on(
			result, columns,
			"Launches of graphs that were recorded as a whole count as busy "
			"from their first node to their last.");
}

void gt_remark_busy(struct gt_result *result, const struct gt_trace *trace, const char *columns)
{
	gt_result_remark_on(result, columns,
	                    "A GPU is busy while a kernel runs; shares are of the recording or its "
	                    "window.");
	gt_remark_whole_graphs(result, trace, columns);
}

double gt_busy_percent(const struct gt_view *view, const struct gt_cover *kernels)
{
	return gt_percent((double)kernels->covered_ns, (double)gt_view_lasts_ns(view));
}
