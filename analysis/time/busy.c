/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/busy.h"

#include "analysis/figures.h"
#include "analysis/result.h"
#include "analysis/time/profiled.h"
#include "base/array.h"
#include "model/whole.h"

struct gt_inside gt_window_of(const struct gt_view *view)
{
	return (struct gt_inside){view->trace->parts.rows, view->trace->parts.count};
}

static void see(struct gt_busy *busy, enum gt_activity_type type, struct gt_interval piece)
{
	gt_cover_add(&busy->all, piece);
	if (type == GT_ACTIVITY_FILL)
		return;
	gt_cover_add(&busy->kernels_or_copies, piece);
	gt_cover_add(type == GT_ACTIVITY_COPY ? &busy->copies : &busy->kernels, piece);
}

static bool is_shown(const struct gt_view *view, const struct gt_activity *activity)
{
	return gt_activity_is_work(activity->type) &&
	       gt_whole_shown(view->trace, gt_activity_tables[activity->type], activity->row) !=
	               GT_NONE;
}

void gt_busy_see(struct gt_busy *devices, const struct gt_view *view,
                 const struct gt_activity *activity)
{
	const struct gt_interval interval = {activity->start_ns, activity->end_ns};
	const struct gt_inside window = gt_window_of(view);
	const gt_id device = gt_whole_device(view->trace, activity->device);
	struct gt_pieces pieces = gt_pieces_of(&window, interval);
	struct gt_interval piece;
	struct gt_busy *busy;

	if (device >= view->trace->devices.count)
		return;
	busy = &devices[device];
	if (activity->start_ns < busy->in_use.start_ns)
		busy->in_use.start_ns = activity->start_ns;
	if (activity->end_ns > busy->in_use.end_ns)
		busy->in_use.end_ns = activity->end_ns;
	while (gt_pieces_next(&pieces, &piece))
		see(busy, activity->type, piece);
	if (is_shown(view, activity)) {
		busy->kernel_count += activity->type == GT_ACTIVITY_KERNEL;
		gt_cover_add_inside(&busy->shown, &window, interval);
	}
}

struct gt_busy *gt_busy_new(const struct gt_view *view)
{
	const size_t count = view->trace->devices.count;
	struct gt_busy *devices = gt_allocate(count * sizeof(*devices));

	for (size_t i = 0; i < count; i++)
		devices[i] = (struct gt_busy){.in_use = {INT64_MAX, INT64_MIN}};
	return devices;
}

struct gt_busy *gt_busy_of_devices(const struct gt_view *view)
{
	struct gt_busy *devices = gt_busy_new(view);
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, gt_whole_of(view->trace), GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity))
		gt_busy_see(devices, view, &activity);
	return devices;
}

uint64_t gt_busy_span_ns(const struct gt_view *view, const struct gt_busy *busy)
{
	const struct gt_inside window = gt_window_of(view);
	struct gt_cover span = {0};

	if (busy->in_use.start_ns <= busy->in_use.end_ns)
		gt_cover_add_inside(&span, &window, busy->in_use);
	return span.covered_ns;
}

/* Time that both cover is in the sum of the two twice, in their union once. */
uint64_t gt_busy_overlap(const struct gt_busy *busy)
{
	return busy->kernels.covered_ns + busy->copies.covered_ns -
	       busy->kernels_or_copies.covered_ns;
}

void gt_remark_other_work(struct gt_result *result, const struct gt_trace *trace,
                          const struct gt_busy *devices)
{
	for (size_t i = 0; i < trace->devices.count; i++) {
		const uint64_t other_ns =
			devices[i].kernels.covered_ns - devices[i].shown.covered_ns;

		if (other_ns > 0)
			gt_result_remark(result,
			                 "Other work: GPU %lld was busy for %s with kernels that "
			                 "the filter leaves out.",
			                 (long long)gt_device_number(&trace->devices.rows[i]),
			                 gt_figure_ns((int64_t)other_ns).text);
	}
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
	gt_remark_not_measured(result, trace, columns);
}

double gt_busy_percent(const struct gt_view *view, const struct gt_cover *kernels)
{
	return gt_percent((double)kernels->covered_ns, (double)gt_view_lasts_ns(view));
}
