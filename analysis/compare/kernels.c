/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/compare/profile.h"
#include "analysis/compare/program_path.h"
#include "analysis/compare/steady.h"
#include "analysis/figures.h"
#include "analysis/ranges/steps/steps.h"
#include "base/strings.h"
#include "model/index.h"
#include "model/naming/shape_names.h"
#include "model/ranges/owners.h"
#include "model/view/view.h"
#include "model/work/timed.h"

enum { LAUNCHES_WITH_WARM_UP = 3 };

struct key {
	gt_id shape;
	gt_id path;
	uint32_t in_graph;
};

/* Launches in order; the first one is kept apart. */
struct launches {
	uint64_t count;
	double total_ns;
	double logs;      /* of all but the first, */
	double first_log; /* and of that */
	double places;
};

struct group {
	struct launches all;
	struct launches steady;
};

struct work {
	const struct gt_trace *trace;
	const struct gt_steps *steps;
	const struct gt_view *view;
	struct gt_steady steady;
	struct gt_index *keys;
	gt_array(struct group) groups;
};

/* When a kernel was launched, as far as that is known, or ran. */
static gt_time launched_ns(const struct gt_trace *trace, const struct gt_kernel *kernel)
{
	return kernel->api_call < trace->api_calls.count
	               ? trace->api_calls.rows[kernel->api_call].start_ns
	               : kernel->start_ns;
}

/* Where in the window a moment lies. */
static double place_in_window(const struct gt_view *view, gt_time at_ns)
{
	const gt_time length_ns = view->end_ns - view->start_ns;

	return length_ns > 0 ? (double)(at_ns - view->start_ns) / (double)length_ns : 0;
}

static void add_launch(struct launches *launches, double ns, double place)
{
	const double log_ns = log(fmax(ns, 1));

	if (launches->count++ == 0)
		launches->first_log = log_ns;
	else
		launches->logs += log_ns;
	launches->total_ns += ns;
	launches->places += place;
}

static struct group *group_of(struct work *work, gt_id row)
{
	const struct gt_kernel *kernel = &work->trace->kernels.rows[row];
	const struct gt_owner owner = gt_owner_of(work->trace, GT_ACTIVITY_KERNEL, row);
	const struct key key = {kernel->shape, gt_ranges_path(&work->steps->ranges, owner.range),
	                        kernel->graph != 0};
	const size_t number = gt_index_add(work->keys, &key);

	if (number == work->groups.count)
		*gt_array_push(&work->groups) = (struct group){0};
	return &work->groups.rows[number];
}

static void add_kernel(struct work *work, gt_id row)
{
	const struct gt_kernel *kernel = &work->trace->kernels.rows[row];
	const gt_time at_ns = launched_ns(work->trace, kernel);
	struct group *group;
	double place;

	if (!gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
		return;
	group = group_of(work, row);
	add_launch(&group->all, (double)(kernel->end_ns - kernel->start_ns),
	           place_in_window(work->view, at_ns));
	if (gt_steady_at(&work->steady, gt_trace_stream_process(work->trace, kernel->stream), at_ns,
	                 &place))
		add_launch(&group->steady, (double)(kernel->end_ns - kernel->start_ns), place);
}

static struct gt_profile_sum sum_of(const struct launches *launches)
{
	struct gt_profile_sum sum = {(double)launches->count, launches->total_ns, NAN};

	if (launches->count >= LAUNCHES_WITH_WARM_UP)
		sum.log_each = launches->logs / (double)(launches->count - 1);
	else if (launches->count > 0)
		sum.log_each = (launches->logs + launches->first_log) / (double)launches->count;
	return sum;
}

static uint32_t shape_text(struct gt_strings *strings, const struct gt_launch_shape *shape)
{
	char text[128];

	snprintf(text, sizeof(text), "%ux%ux%u %ux%ux%u", shape->grid_x, shape->grid_y,
	         shape->grid_z, shape->block_x, shape->block_y, shape->block_z);
	return gt_strings_add(strings, text);
}

/* Shapes that read alike are added up by whoever unites rows with the same keys. */
static void add_row(struct gt_profile *profile, const struct work *work, const struct key *key,
                    const struct group *group)
{
	const struct launches *placed = group->steady.count > 0 ? &group->steady : &group->all;
	struct gt_profile_row row = {
		.table = GT_COMPARED_kernels,
		.place = placed->places / (double)placed->count,
		.all = sum_of(&group->all),
		.steady = sum_of(&group->steady),
	};
	char path[GT_RANGE_PATH_BYTES];

	row.keys[GT_KERNEL_KEY_NAME] =
		gt_strings_add(profile->strings, gt_shape_name(work->trace, key->shape));
	if (key->shape < work->trace->launch_shapes.count) {
		const struct gt_launch_shape *shape = &work->trace->launch_shapes.rows[key->shape];

		row.keys[GT_KERNEL_KEY_SHAPE] = shape_text(profile->strings, shape);
		row.family = shape->family;
	}
	gt_program_path_text(&work->steps->ranges, key->path, path);
	row.keys[GT_KERNEL_KEY_RANGE] = gt_strings_add(profile->strings, path);
	row.keys[GT_KERNEL_KEY_GRAPH] =
		gt_strings_add(profile->strings, key->in_graph ? "in a graph" : "");
	*gt_array_push(&profile->rows) = row;
}

void gt_profile_add_kernels(struct gt_profile *profile, const struct gt_view *view,
                            const struct gt_steps *steps)
{
	struct work work = {.trace = view->trace, .steps = steps, .view = view};

	gt_steady_init(&work.steady, steps);
	work.keys = gt_index_new(sizeof(struct key));
	for (gt_id i = 0; i < view->trace->kernels.count; i++)
		add_kernel(&work, i);
	for (size_t i = 0; i < work.groups.count; i++)
		add_row(profile, &work, gt_index_key(work.keys, i), &work.groups.rows[i]);
	profile->steps = (double)work.steady.count;
	gt_array_release(&work.groups);
	gt_index_free(work.keys);
	gt_steady_release(&work.steady);
}
