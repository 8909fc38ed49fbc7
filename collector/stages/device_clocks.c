/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "collector/clocks/windows.h"
#include "collector/device_events/written.h"
#include "collector/stage.h"
#include "model/gpu/device_clocks.h"

/*
 * Where %globaltimer, which kernels read, is on the common timeline. A kernel of gputrace's own
 * reads it early and late: what is added to both readings, the offset, must put them inside of that
 * kernel's start and end, which gives an interval for it. Intervals of one process and GPU are held
 * in windows. Between two windows that contradict each other the offset goes evenly from the end of
 * one to the begin of the next, and may be off by as much more as they contradict each other.
 */

/* Nothing certain lies beyond this: 100 days. */
#define MOST_BOUND_NS 8.64e15

struct builder {
	struct gt_trace *trace;
	struct gt_capture *capture;
	gt_array(struct gt_offset_point) points; /* of the capture */
	gt_id device;                            /* that is at hand */
	struct gt_offset_windows windows;        /* of it */
	size_t impossible;
};

static int by_device_and_time(const void *a, const void *b)
{
	const struct gt_offset_point *left = a;
	const struct gt_offset_point *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static gt_id device_of(const struct builder *builder, uint32_t context)
{
	const gt_id row = gt_known_find(&builder->capture->contexts, context);

	return row == GT_NONE ? GT_NONE : builder->trace->contexts.rows[row].device;
}

/*
 * A reading r stands for any time from r to r + step: of the offset that the true time has, the
 * lower end is a step further down than the readings say.
 */
static void add_point(struct builder *builder, const struct gt_record_device_time *time,
                      const struct gt_own_kernel *kernel)
{
	const gt_id device = device_of(builder, time->context);
	const uint32_t step_ns = time->step_ns ? time->step_ns : GT_COARSEST_STEP_NS;
	struct gt_offset_point point = {.device = device, .step_ns = time->step_ns};

	if (device == GT_NONE || kernel->start_ns <= 0 || kernel->end_ns < kernel->start_ns)
		return; /* it did not finish, or what it ran on is not known */
	if (time->first_ns == 0 || time->first_ns > time->last_ns ||
	    time->last_ns > GT_MOST_TIMER) {
		builder->impossible++;
		return;
	}
	point.time_ns = kernel->start_ns + (kernel->end_ns - kernel->start_ns) / 2;
	point.low_ns = kernel->start_ns - (int64_t)time->first_ns - (int64_t)step_ns;
	point.high_ns = kernel->end_ns - (int64_t)time->last_ns;
	if (point.low_ns > point.high_ns)
		builder->impossible++;
	else
		*gt_array_push(&builder->points) = point;
}

static void add_points(struct builder *builder)
{
	struct gt_capture *capture = builder->capture;
	struct gt_known kernels = {0};

	builder->points.count = 0;
	for (size_t i = 0; i < capture->own_kernels.count; i++)
		if (gt_known_find(&kernels, capture->own_kernels.rows[i].correlation) == GT_NONE)
			gt_known_add(&kernels, capture->own_kernels.rows[i].correlation, (gt_id)i);
	gt_array_each(const struct gt_record_device_time, time, &capture->raw_device_times) {
		const gt_id row = gt_known_find(&kernels, time->correlation);

		if (row != GT_NONE)
			add_point(builder, time, &capture->own_kernels.rows[row]);
	}
	gt_known_release(&kernels);
	if (builder->points.count > 1)
		qsort(builder->points.rows, builder->points.count, sizeof(struct gt_offset_point),
		      by_device_and_time);
}

static double step_of(const struct gt_offset_window *window)
{
	return window->step_ns ? window->step_ns : GT_COARSEST_STEP_NS;
}

/* The middle of what it can be, and half a step for what a reading leaves out. */
static int64_t offset_of(const struct gt_offset_window *window, gt_time time_ns)
{
	return window->base_ns +
	       llround(gt_offset_middle(gt_offset_range_at(window, time_ns)) + step_of(window) / 2);
}

static void add_row(const struct builder *builder, const struct gt_offset_window *window,
                    gt_time start_ns, gt_time end_ns, double half_ns)
{
	const double bound_ns = half_ns + step_of(window) / 2 + gt_offset_wander(end_ns - start_ns);

	*gt_array_push(&builder->trace->device_clocks) = (struct gt_device_clock){
		.process = builder->capture->process,
		.device = builder->device,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.offset_ns = (gt_wide)offset_of(window, start_ns),
		.bound_ns = (gt_wide)ceil(fmin(bound_ns, MOST_BOUND_NS)),
		.step_ns = window->step_ns,
		.kernels = window->kernels,
	};
}

/* How far a moment of one window is outside of what another one says of it. */
static double contradiction(const struct gt_offset_window *window,
                            const struct gt_offset_window *other, gt_time time_ns)
{
	const struct gt_offset_range range = gt_offset_range_at(window, time_ns);
	const double told_ns = gt_offset_middle(gt_offset_range_at(other, time_ns)) +
	                       (double)(other->base_ns - window->base_ns);

	return fmax(0, fmax(range.low_ns - told_ns, told_ns - range.high_ns));
}

static void add_gap(const struct builder *builder, const struct gt_offset_window *left,
                    const struct gt_offset_window *right)
{
	const double half_ns = fmax(gt_offset_half(gt_offset_range_at(left, left->end_ns)),
	                            gt_offset_half(gt_offset_range_at(right, right->start_ns)));
	const double doubt_ns = fmax(contradiction(left, right, right->start_ns),
	                             contradiction(right, left, left->end_ns));

	if (right->start_ns > left->end_ns)
		add_row(builder, left, left->end_ns, right->start_ns, half_ns + doubt_ns);
}

/* One moment for the last row: what comes before it goes evenly to there. */
static void add_last(const struct builder *builder, const struct gt_offset_window *window,
                     gt_time until_ns)
{
	if (until_ns > window->end_ns)
		add_row(builder, window, window->end_ns, until_ns,
		        gt_offset_half(gt_offset_range_at(window, until_ns)));
	add_row(builder, window, until_ns, until_ns,
	        gt_offset_half(gt_offset_range_at(window, until_ns)));
}

/* From the first moment that is asked for to the last one; both may be inside of the windows. */
static void add_rows(const struct builder *builder, struct gt_interval asked)
{
	const struct gt_offset_window *windows = builder->windows.list.rows;
	const size_t count = builder->windows.list.count;
	const struct gt_offset_window *last = &windows[count - 1];

	if (asked.start_ns < windows[0].start_ns)
		add_row(builder, &windows[0], asked.start_ns, windows[0].start_ns,
		        gt_offset_half(gt_offset_range_at(&windows[0], asked.start_ns)));
	for (size_t i = 0; i < count; i++) {
		const struct gt_offset_window *window = &windows[i];

		if (window->end_ns > window->start_ns)
			add_row(builder, window, window->start_ns, window->end_ns,
			        fmax(gt_offset_half(gt_offset_range_at(window, window->start_ns)),
			             gt_offset_half(gt_offset_range_at(window, window->end_ns))));
		if (i + 1 < count)
			add_gap(builder, window, window + 1);
	}
	add_last(builder, last, asked.end_ns > last->end_ns ? asked.end_ns : last->end_ns);
}

/* Extent of the readings of a GPU's clock by the kernels of a process. */
struct extent {
	uint64_t first;
	uint64_t last; /* 0: nothing */
};

static void see(struct extent *extent, uint64_t globaltimer)
{
	if (globaltimer == 0 || globaltimer > GT_MOST_TIMER)
		return;
	if (extent->last == 0 || globaltimer < extent->first)
		extent->first = globaltimer;
	if (globaltimer > extent->last)
		extent->last = globaltimer;
}

static bool has_timer(const struct gt_record_device_event *event)
{
	const uint32_t kind = GPUTRACE_DEVICE_TAG_KIND(event->tag);

	return kind == GPUTRACE_DEVICE_TIME || kind & GPUTRACE_DEVICE_TIMED;
}

static struct extent *find_extents(const struct builder *builder)
{
	const size_t count = builder->trace->devices.count;
	struct extent *extents = gt_allocate((count + 1) * sizeof(*extents));

	for (size_t i = 0; i <= count; i++)
		extents[i] = (struct extent){0, 0};
	gt_array_each(const struct gt_record_device_chunk, chunk,
	              &builder->capture->raw_device_chunks) {
		const gt_id device = device_of(builder, chunk->context);

		see(&extents[device == GT_NONE ? count : device], chunk->globaltimer);
	}
	gt_array_each(const struct gt_record_device_event, event,
	              &builder->capture->raw_device_events) {
		const gt_id device =
			has_timer(event) ? device_of(builder, event->context) : GT_NONE;

		see(&extents[device == GT_NONE ? count : device],
		    device == GT_NONE ? 0 : event->value);
	}
	return extents;
}

/* Where a reading is, as the nearer end of the windows has it; that end where it is too far away. */
static gt_time time_of(const struct gt_offset_window *window, gt_time end_ns, uint64_t globaltimer)
{
	const int64_t offset_ns = offset_of(window, end_ns);
	const double away_ns =
		(double)((int64_t)globaltimer - (end_ns - offset_ns)); /* both within 2^62 */

	return fabs(away_ns) > MOST_BOUND_NS || end_ns + (int64_t)away_ns <= 0
	               ? end_ns
	               : end_ns + (int64_t)away_ns;
}

static void add_device(struct builder *builder, const struct gt_offset_point *points, size_t count,
                       const struct extent *extent)
{
	struct gt_interval asked;
	struct gt_offset_window *windows;

	builder->device = points[0].device;
	builder->windows.list.count = 0;
	for (size_t i = 0; i < count; i++)
		gt_offset_windows_add(&builder->windows, &points[i]);
	windows = builder->windows.list.rows;
	asked = (struct gt_interval){windows[0].start_ns,
	                             windows[builder->windows.list.count - 1].end_ns};
	if (extent->last) {
		const struct gt_offset_window *last = &windows[builder->windows.list.count - 1];

		asked.start_ns = time_of(&windows[0], asked.start_ns, extent->first);
		asked.end_ns = time_of(last, asked.end_ns, extent->last);
	}
	add_rows(builder, asked);
}

static void add_capture(struct builder *builder)
{
	struct extent *extents;

	if (builder->capture->raw_device_times.count == 0)
		return;
	builder->impossible = 0;
	add_points(builder);
	extents = find_extents(builder);
	for (size_t first = 0, end; first < builder->points.count; first = end) {
		const gt_id device = builder->points.rows[first].device;

		for (end = first; end < builder->points.count; end++)
			if (builder->points.rows[end].device != device)
				break;
		add_device(builder, &builder->points.rows[first], end - first, &extents[device]);
	}
	gt_array_free(extents);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct builder builder = {.trace = collection->trace};

	(void)err;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		builder.capture = capture;
		add_capture(&builder);
		if (builder.impossible)
			gt_collection_note(collection, capture->process, "device_events",
			                   "kernels that read the GPU's clock, and whose times "
			                   "cannot be right: %zu; they were left out",
			                   builder.impossible);
		builder.impossible = 0;
	}
	gt_array_release(&builder.points);
	gt_array_release(&builder.windows.list);
	return 0;
}

const struct gt_stage gt_stage_device_clocks = {.name = "device_clocks", .run = run};
