/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/job_times.h"

#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "analysis/statistics/spread.h"
#include "cli/run/bundle_edit.h"
#include "model/trace.h"
#include "model/work/timed.h"

/* Values that are put into a bundle. */
struct job_time {
	int64_t own_ns; /* negative: not known */
	int64_t median_ns;
	size_t launches; /* whose median it is */
};

/* Launches in one shape. */
struct shape_times {
	bool wanted; /* one of it was captured */
	gt_array(int64_t) ns;
};

struct times {
	struct shape_times *shapes; /* by row of launch_shapes */
	size_t shape_count;
	bool *captured; /* by kernel */
};

static struct shape_times *find(const struct times *times, gt_id shape)
{
	return shape < times->shape_count && times->shapes[shape].wanted ? &times->shapes[shape]
	                                                                 : NULL;
}

static const struct gt_kernel *kernel_of(const struct gt_trace *trace,
                                         const struct gt_captured_launch *launch)
{
	return launch->kernel < trace->kernels.count ? &trace->kernels.rows[launch->kernel] : NULL;
}

/* Which kernels were captured, and in which shapes. */
static void list_shapes(struct times *times, const struct gt_trace *trace)
{
	times->captured = gt_allocate_zeroed(trace->kernels.count, sizeof(*times->captured));
	times->shape_count = trace->launch_shapes.count;
	times->shapes = gt_allocate_zeroed(times->shape_count, sizeof(*times->shapes));
	gt_array_each(const struct gt_captured_launch, launch, &trace->captured_launches) {
		const struct gt_kernel *kernel = kernel_of(trace, launch);

		if (!kernel)
			continue;
		times->captured[launch->kernel] = true;
		if (kernel->shape < times->shape_count)
			times->shapes[kernel->shape].wanted = true;
	}
}

static void add_times(struct times *times, const struct gt_trace *trace)
{
	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		struct shape_times *shape;

		if (times->captured[i] ||
		    !gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		shape = find(times, kernel->shape);
		if (shape)
			*gt_array_push(&shape->ns) = kernel->end_ns - kernel->start_ns;
	}
}

static void release(struct times *times)
{
	for (size_t i = 0; i < times->shape_count; i++)
		gt_array_release(&times->shapes[i].ns);
	gt_array_free(times->shapes);
	gt_array_free(times->captured);
}

static struct job_time time_of(const struct times *times, const struct gt_kernel *kernel)
{
	struct shape_times *shape = find(times, kernel->shape);
	struct job_time time = {.own_ns = -1};

	if (gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns))
		time.own_ns = kernel->end_ns - kernel->start_ns;
	if (!shape || shape->ns.count == 0)
		return time;
	time.launches = shape->ns.count;
	time.median_ns = gt_spread_of(shape->ns.rows, shape->ns.count).median;
	return time;
}

/* Into the description of one launch. False: it is not one. */
static bool put(json_t *root, void *context)
{
	const struct job_time *time = context;
	json_t *steps = json_object_get(root, "steps");
	json_t *origin = json_object_get(root, "origin");
	json_t *step = json_array_get(steps, 0);

	if (json_array_size(steps) != 1 || !json_is_object(step) || !json_is_object(origin) ||
	    json_object_get(step, "end_ns"))
		return false;
	if (time->own_ns >= 0) {
		(void)json_object_set_new(step, "start_ns", json_integer(0));
		(void)json_object_set_new(step, "end_ns", json_integer(time->own_ns));
	}
	if (time->launches > 0) {
		const size_t count = time->launches < UINT32_MAX ? time->launches : UINT32_MAX;

		(void)json_object_set_new(origin, "job_ns", json_integer(time->median_ns));
		(void)json_object_set_new(origin, "job_launches", json_integer((json_int_t)count));
	}
	return true;
}

static int keep(const struct gt_trace *trace, const struct times *times, const char *recording,
                const struct gt_captured_launch *launch, struct gt_error *err)
{
	const struct gt_kernel *kernel = kernel_of(trace, launch);
	struct job_time time;

	if (!kernel)
		return 0;
	time = time_of(times, kernel);
	if (time.own_ns < 0 && time.launches == 0)
		return 0;
	return gt_bundle_edit(recording, gt_trace_text(trace, launch->bundle), put, &time, err);
}

int gt_job_times_write(const char *recording, const struct gt_trace *trace, struct gt_error *err)
{
	struct times times = {0};
	int result = 0;

	if (trace->captured_launches.count == 0)
		return 0;
	list_shapes(&times, trace);
	add_times(&times, trace);
	gt_array_each(const struct gt_captured_launch, launch, &trace->captured_launches)
		if (result == 0)
			result = keep(trace, &times, recording, launch, err);
	release(&times);
	return result;
}
