/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/clocks/windows.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

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

static double seconds(gt_time from_ns, gt_time to_ns)
{
	return (double)(to_ns - from_ns) / 1e9;
}

static double offset_at(const struct gt_offset_line *corner, double time_s)
{
	return corner->offset_ns + corner->slope * time_s;
}

struct gt_offset_range gt_offset_range_at(const struct gt_offset_window *window, gt_time time_ns)
{
	const double time_s = seconds(window->start_ns, time_ns);
	struct gt_offset_range range = {INFINITY, -INFINITY};

	for (uint32_t i = 0; i < window->corner_count; i++) {
		const double offset_ns = offset_at(&window->corners[i], time_s);

		range.low_ns = fmin(range.low_ns, offset_ns);
		range.high_ns = fmax(range.high_ns, offset_ns);
	}
	return range;
}

double gt_offset_middle(struct gt_offset_range range)
{
	return (range.low_ns + range.high_ns) / 2;
}

double gt_offset_half(struct gt_offset_range range)
{
	return (range.high_ns - range.low_ns) / 2;
}

/* How far a line is on the right side of a limit at a time: sign 1 above it, -1 below it. */
static double clearance(const struct gt_offset_line *corner, double time_s, double limit_ns,
                        double sign)
{
	return sign * (offset_at(corner, time_s) - limit_ns);
}

/*
 * The part of a polygon on the right side of a limit, by Sutherland's and Hodgman's algorithm. Each
 * limit adds a corner at most: where there is no room for that the polygon stays as it is, which
 * makes the window less certain than it could be.
 */
static void clip(struct gt_offset_window *window, double time_s, double limit_ns, double sign)
{
	struct gt_offset_line left[GT_OFFSET_CORNERS];
	uint32_t count = 0;

	if (window->corner_count >= GT_OFFSET_CORNERS - 1)
		return;
	for (uint32_t i = 0; i < window->corner_count; i++) {
		const struct gt_offset_line *corner = &window->corners[i];
		const struct gt_offset_line *next =
			&window->corners[(i + 1) % window->corner_count];
		const double here = clearance(corner, time_s, limit_ns, sign);
		const double there = clearance(next, time_s, limit_ns, sign);

		if (here >= 0 && count < GT_OFFSET_CORNERS)
			left[count++] = *corner;
		if ((here >= 0) != (there >= 0) && count < GT_OFFSET_CORNERS) {
			const double share = here / (here - there);

			left[count++] = (struct gt_offset_line){
				corner->offset_ns + share * (next->offset_ns - corner->offset_ns),
				corner->slope + share * (next->slope - corner->slope)};
		}
	}
	for (uint32_t i = 0; i < count; i++)
		window->corners[i] = left[i];
	window->corner_count = count;
}

/* Whether a window has enough without that point, or is too far away from it. */
static bool is_complete(const struct gt_offset_window *window, const struct gt_offset_point *point)
{
	const gt_time length_ns = point->time_ns - window->start_ns;

	return length_ns > MOST_NS || (length_ns > ENOUGH_NS && window->kernels >= ENOUGH_KERNELS);
}

static struct gt_offset_window begin_window(const struct gt_offset_point *point)
{
	const double width_ns = (double)(point->high_ns - point->low_ns);

	return (struct gt_offset_window){
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
static bool extend(struct gt_offset_window *window, const struct gt_offset_point *point)
{
	const double time_s = seconds(window->start_ns, point->time_ns);
	struct gt_offset_window with = *window;

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

double gt_offset_wander(gt_time length_ns)
{
	return WANDER * (double)length_ns / 2;
}

/* A window without a kernel yet: what another one knows of its end, and of how fast it goes on. */
static struct gt_offset_window hand_on(const struct gt_offset_window *before)
{
	const struct gt_offset_range range = gt_offset_range_at(before, before->end_ns);
	const double wander_ns = gt_offset_wander(before->end_ns - before->start_ns);
	const double width_ns = range.high_ns - range.low_ns + 2 * wander_ns;
	double least = INFINITY;
	double most = -INFINITY;

	for (uint32_t i = 0; i < before->corner_count; i++) {
		least = fmin(least, before->corners[i].slope - WANDER * 1e9);
		most = fmax(most, before->corners[i].slope + WANDER * 1e9);
	}
	return (struct gt_offset_window){
		.start_ns = before->end_ns,
		.end_ns = before->end_ns,
		.base_ns = before->base_ns + (int64_t)floor(range.low_ns - wander_ns),
		.step_ns = before->step_ns,
		.corner_count = 4,
		.corners = {{0, least}, {width_ns + 1, least}, {width_ns + 1, most}, {0, most}},
	};
}

void gt_offset_windows_add(struct gt_offset_windows *windows, const struct gt_offset_point *point)
{
	const size_t count = windows->list.count;
	struct gt_offset_window *last = count ? &windows->list.rows[count - 1] : NULL;
	struct gt_offset_window next;

	if (last && !is_complete(last, point)) {
		if (extend(last, point))
			return;
		last = NULL;
	}
	if (last)
		next = hand_on(last);
	if (!last || is_complete(&next, point) || !extend(&next, point))
		next = begin_window(point);
	*gt_array_push(&windows->list) = next;
}
