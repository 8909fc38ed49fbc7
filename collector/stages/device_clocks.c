/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "collector/device_events/written.h"
#include "collector/stage.h"
#include "model/gpu/device_clocks.h"

/*
 * Where %globaltimer, which kernels read, is on the common timeline. A kernel of gputrace's own
 * reads it early and late: what is added to both readings, the offset, must put them inside of that
 * kernel's start and end, which gives an interval for it. Intervals of one process and GPU that
 * follow each other are a window as long as one straight line goes through all of them (the clocks
 * differ in rate, but evenly) and the window is not too long for that. The lines that go through
 * all intervals are a polygon in the plane of offset and slope; at any moment the highest and the
 * lowest of them are as far as the offset can be off.
 *
 * A window that is complete hands on what it knows of its end: the next one begins there, with that
 * interval and those slopes. So a kernel that ran beside others, and took long for it, leaves
 * nothing uncertain that those before and after it know. Where a kernel contradicts what is known,
 * as after a step, a window begins with that kernel alone: between the two the offset goes evenly
 * from the end of one to the begin of the next, and may be off by as much more as they contradict
 * each other.
 */

/*
 * Nanoseconds a second. Clocks of two crystals differ by less than 100 parts in a million; the
 * host's is slewed by 500 at most (adjtimex(2)).
 */
#define MOST_SLOPE 6e5

/*
 * How far a straight line may leave the truth, as a share of the time to where it is held: by a
 * tenth part in a million crystals change their rate within seconds.
 */
#define WANDER 1e-7

/* A window is complete when it is so long and has so many kernels; the second length ends it. */
#define ENOUGH_NS      1000000000
#define ENOUGH_KERNELS 8
#define MOST_NS        ((gt_time)10 * 1000000000)

/* Nothing certain lies beyond this: 100 days. */
#define MOST_BOUND_NS 8.64e15

enum { MOST_CORNERS = 64 };

/* One kernel's bounds of the offset. */
struct point {
	gt_id device;
	gt_time time_ns;
	int64_t low_ns;
	int64_t high_ns;
	uint32_t step_ns; /* 0: not seen */
};

/* A line: offset at the window's start, from its base, and nanoseconds that it grows a second. */
struct corner {
	double offset_ns;
	double slope;
};

struct window {
	gt_time start_ns;
	gt_time end_ns;
	int64_t base_ns;
	gt_count step_ns;
	gt_count kernels;
	uint32_t corner_count;
	struct corner corners[MOST_CORNERS];
};

struct range {
	double low_ns; /* both from the base of the window */
	double high_ns;
};

struct builder {
	struct gt_trace *trace;
	struct gt_capture *capture;
	gt_array(struct point) points;   /* of the capture */
	gt_id device;                    /* that is at hand */
	gt_array(struct window) windows; /* of it */
	size_t impossible;
};

static int by_device_and_time(const void *a, const void *b)
{
	const struct point *left = a;
	const struct point *right = b;

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
	struct point point = {.device = device, .step_ns = time->step_ns};

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
		qsort(builder->points.rows, builder->points.count, sizeof(struct point),
		      by_device_and_time);
}

/* ---- windows ---- */

static double seconds(gt_time from_ns, gt_time to_ns)
{
	return (double)(to_ns - from_ns) / 1e9;
}

static double offset_at(const struct corner *corner, double time_s)
{
	return corner->offset_ns + corner->slope * time_s;
}

/* The range of a window's lines at a moment. */
static struct range range_at(const struct window *window, gt_time time_ns)
{
	const double time_s = seconds(window->start_ns, time_ns);
	struct range range = {INFINITY, -INFINITY};

	for (uint32_t i = 0; i < window->corner_count; i++) {
		const double offset_ns = offset_at(&window->corners[i], time_s);

		range.low_ns = fmin(range.low_ns, offset_ns);
		range.high_ns = fmax(range.high_ns, offset_ns);
	}
	return range;
}

static double middle_of(struct range range)
{
	return (range.low_ns + range.high_ns) / 2;
}

static double half_of(struct range range)
{
	return (range.high_ns - range.low_ns) / 2;
}

/* How far a line is on the right side of a limit at a time: sign 1 above it, -1 below it. */
static double clearance(const struct corner *corner, double time_s, double limit_ns, double sign)
{
	return sign * (offset_at(corner, time_s) - limit_ns);
}

/*
 * The part of a polygon on the right side of a limit, by Sutherland's and Hodgman's algorithm. Each
 * limit adds a corner at most: where there is no room for that the polygon stays as it is, which
 * makes the window less certain than it could be.
 */
static void clip(struct window *window, double time_s, double limit_ns, double sign)
{
	struct corner left[MOST_CORNERS];
	uint32_t count = 0;

	if (window->corner_count >= MOST_CORNERS - 1)
		return;
	for (uint32_t i = 0; i < window->corner_count; i++) {
		const struct corner *corner = &window->corners[i];
		const struct corner *next = &window->corners[(i + 1) % window->corner_count];
		const double here = clearance(corner, time_s, limit_ns, sign);
		const double there = clearance(next, time_s, limit_ns, sign);

		if (here >= 0 && count < MOST_CORNERS)
			left[count++] = *corner;
		if ((here >= 0) != (there >= 0) && count < MOST_CORNERS) {
			const double share = here / (here - there);

			left[count++] = (struct corner){
				corner->offset_ns + share * (next->offset_ns - corner->offset_ns),
				corner->slope + share * (next->slope - corner->slope)};
		}
	}
	for (uint32_t i = 0; i < count; i++)
		window->corners[i] = left[i];
	window->corner_count = count;
}

/* Whether a window has enough without that point, or is too far away from it. */
static bool is_complete(const struct window *window, const struct point *point)
{
	const gt_time length_ns = point->time_ns - window->start_ns;

	return length_ns > MOST_NS || (length_ns > ENOUGH_NS && window->kernels >= ENOUGH_KERNELS);
}

static struct window begin_window(const struct point *point)
{
	const double width_ns = (double)(point->high_ns - point->low_ns);

	return (struct window){
		.start_ns = point->time_ns,
		.end_ns = point->time_ns,
		.base_ns = point->low_ns,
		.step_ns = point->step_ns,
		.kernels = 1,
		.corner_count = 4,
		.corners = {{0, -MOST_SLOPE},
	                    {width_ns, -MOST_SLOPE},
	                    {width_ns, MOST_SLOPE},
	                    {0, MOST_SLOPE}},
	};
}

/* Whether the window goes on with that point: a line goes through all. */
static bool extend(struct window *window, const struct point *point)
{
	const double time_s = seconds(window->start_ns, point->time_ns);
	struct window with = *window;

	clip(&with, time_s, (double)(point->low_ns - window->base_ns), 1);
	clip(&with, time_s, (double)(point->high_ns - window->base_ns), -1);
	if (with.corner_count == 0)
		return false;
	with.end_ns = point->time_ns;
	with.kernels++;
	if (point->step_ns > with.step_ns)
		with.step_ns = point->step_ns;
	*window = with;
	return true;
}

/* How far the truth may have left the lines of something so long by its end. */
static double wander_of(gt_time length_ns)
{
	return WANDER * (double)length_ns / 2;
}

/* A window without a kernel yet: what another one knows of its end, and of how fast it goes on. */
static struct window hand_on(const struct window *before)
{
	const struct range range = range_at(before, before->end_ns);
	const double wander_ns = wander_of(before->end_ns - before->start_ns);
	const double width_ns = range.high_ns - range.low_ns + 2 * wander_ns;
	double least = INFINITY;
	double most = -INFINITY;

	for (uint32_t i = 0; i < before->corner_count; i++) {
		least = fmin(least, before->corners[i].slope - WANDER * 1e9);
		most = fmax(most, before->corners[i].slope + WANDER * 1e9);
	}
	return (struct window){
		.start_ns = before->end_ns,
		.end_ns = before->end_ns,
		.base_ns = before->base_ns + (int64_t)floor(range.low_ns - wander_ns),
		.step_ns = before->step_ns,
		.corner_count = 4,
		.corners = {{0, least}, {width_ns + 1, least}, {width_ns + 1, most}, {0, most}},
	};
}

static void add_to_windows(struct builder *builder, const struct point *point)
{
	const size_t count = builder->windows.count;
	struct window *last = count ? &builder->windows.rows[count - 1] : NULL;
	struct window next;

	if (last && !is_complete(last, point)) {
		if (extend(last, point))
			return;
		last = NULL;
	}
	if (last)
		next = hand_on(last);
	if (!last || is_complete(&next, point) || !extend(&next, point))
		next = begin_window(point);
	*gt_array_push(&builder->windows) = next;
}

/* ---- rows ---- */

static double step_of(const struct window *window)
{
	return window->step_ns ? window->step_ns : GT_COARSEST_STEP_NS;
}

/* The middle of what it can be, and half a step for what a reading leaves out. */
static int64_t offset_of(const struct window *window, gt_time time_ns)
{
	return window->base_ns +
	       llround(middle_of(range_at(window, time_ns)) + step_of(window) / 2);
}

static void add_row(const struct builder *builder, const struct window *window, gt_time start_ns,
                    gt_time end_ns, double half_ns)
{
	const double bound_ns = half_ns + step_of(window) / 2 + wander_of(end_ns - start_ns);

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
static double contradiction(const struct window *window, const struct window *other,
                            gt_time time_ns)
{
	const struct range range = range_at(window, time_ns);
	const double told_ns =
		middle_of(range_at(other, time_ns)) + (double)(other->base_ns - window->base_ns);

	return fmax(0, fmax(range.low_ns - told_ns, told_ns - range.high_ns));
}

static void add_gap(const struct builder *builder, const struct window *left,
                    const struct window *right)
{
	const double half_ns = fmax(half_of(range_at(left, left->end_ns)),
	                            half_of(range_at(right, right->start_ns)));
	const double doubt_ns = fmax(contradiction(left, right, right->start_ns),
	                             contradiction(right, left, left->end_ns));

	if (right->start_ns > left->end_ns)
		add_row(builder, left, left->end_ns, right->start_ns, half_ns + doubt_ns);
}

/* One moment for the last row: what comes before it goes evenly to there. */
static void add_last(const struct builder *builder, const struct window *window, gt_time until_ns)
{
	if (until_ns > window->end_ns)
		add_row(builder, window, window->end_ns, until_ns,
		        half_of(range_at(window, until_ns)));
	add_row(builder, window, until_ns, until_ns, half_of(range_at(window, until_ns)));
}

/* From the first moment that is asked for to the last one; both may be inside of the windows. */
static void add_rows(const struct builder *builder, struct gt_interval asked)
{
	const struct window *windows = builder->windows.rows;
	const size_t count = builder->windows.count;
	const struct window *last = &windows[count - 1];

	if (asked.start_ns < windows[0].start_ns)
		add_row(builder, &windows[0], asked.start_ns, windows[0].start_ns,
		        half_of(range_at(&windows[0], asked.start_ns)));
	for (size_t i = 0; i < count; i++) {
		const struct window *window = &windows[i];

		if (window->end_ns > window->start_ns)
			add_row(builder, window, window->start_ns, window->end_ns,
			        fmax(half_of(range_at(window, window->start_ns)),
			             half_of(range_at(window, window->end_ns))));
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
static gt_time time_of(const struct window *window, gt_time end_ns, uint64_t globaltimer)
{
	const int64_t offset_ns = offset_of(window, end_ns);
	const double away_ns =
		(double)((int64_t)globaltimer - (end_ns - offset_ns)); /* both within 2^62 */

	return fabs(away_ns) > MOST_BOUND_NS || end_ns + (int64_t)away_ns <= 0
	               ? end_ns
	               : end_ns + (int64_t)away_ns;
}

static void add_device(struct builder *builder, const struct point *points, size_t count,
                       const struct extent *extent)
{
	struct gt_interval asked;
	struct window *windows;

	builder->device = points[0].device;
	builder->windows.count = 0;
	for (size_t i = 0; i < count; i++)
		add_to_windows(builder, &points[i]);
	windows = builder->windows.rows;
	asked = (struct gt_interval){windows[0].start_ns,
	                             windows[builder->windows.count - 1].end_ns};
	if (extent->last) {
		const struct window *last = &windows[builder->windows.count - 1];

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
	gt_array_release(&builder.windows);
	return 0;
}

const struct gt_stage gt_stage_device_clocks = {.name = "device_clocks", .run = run};
