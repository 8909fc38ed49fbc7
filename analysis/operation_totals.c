/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/operation_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/groups.h"
#include "base/strings.h"
#include "model/activity.h"
#include "model/kernel_names.h"
#include "model/owners.h"
#include "model/projection.h"
#include "model/short_name.h"
#include "model/timed.h"

/* ---- groups ---- */

/* The row for these; made where there is none. */
static gt_id add_row(struct gt_operation_totals *totals, enum gt_operation_kind kind,
                     enum gt_direction direction, const char *around, const char *name)
{
	char key[2 * sizeof(((struct gt_operation *)0)->name) + 8];
	const size_t before = gt_strings_count(totals->keys);
	uint32_t id;

	snprintf(key, sizeof(key), "%d%d%s\n%s", (int)kind, (int)direction, around, name);
	id = gt_strings_add(totals->keys, key);
	if (gt_strings_count(totals->keys) > before)
		*gt_array_push(&totals->rows) = (struct gt_operation_total){
			.kind = kind,
			.direction = direction,
			.name = gt_strings_get(totals->words, gt_strings_add(totals->words, name)),
			.around = gt_strings_get(totals->words,
		                                 gt_strings_add(totals->words, around)),
		};
	return id - 1; /* no key is empty: their ids begin with 1 */
}

static struct gt_operation read_range(const struct gt_operation_totals *totals, gt_id range)
{
	const struct gt_ranges *ranges = &totals->ranges;
	const struct gt_trace *trace = totals->trace;
	const gt_id path = ranges->path_of[range];
	const struct gt_range_name *name = &ranges->names.rows[ranges->paths.rows[path].name];

	return gt_operation_of(gt_trace_text(trace, name->domain),
	                       gt_trace_text(trace, name->text));
}

static const char *name_of(const struct gt_operation_totals *totals, gt_id row)
{
	return row == GT_NONE ? "" : totals->rows.rows[row].name;
}

/* What is around a range was grouped before it. */
static void group_range(struct gt_operation_totals *totals, gt_id i)
{
	const struct gt_range *range = &totals->trace->ranges.rows[i];
	const gt_id around = totals->ranges.around[i];
	const struct gt_operation operation = read_range(totals, i);
	const bool hlo = operation.kind == GT_OPERATION_HLO;
	struct gt_operation_total *row;
	gt_id group;

	totals->group_of[i] = GT_NONE;
	totals->module_of[i] = around == GT_NONE ? GT_NONE : totals->module_of[around];
	totals->root_of[i] = around == GT_NONE ? GT_NONE : totals->root_of[around];
	if (operation.kind == GT_OPERATION_NONE)
		return;
	group = add_row(totals, operation.kind, operation.direction,
	                hlo ? name_of(totals, totals->module_of[i]) : "", operation.name);
	totals->group_of[i] = group;
	if (operation.kind == GT_OPERATION_HLO_MODULE)
		totals->module_of[i] = group;
	if (operation.direction == GT_DIRECTION_FORWARD && operation.kind == GT_OPERATION_MODULE &&
	    totals->root_of[i] == GT_NONE)
		totals->root_of[i] = group;
	row = &totals->rows.rows[group];
	row->calls += !(range->flags & GT_AROUND);
	if (hlo && row->category == GT_HLO_other)
		row->category = gt_hlo_category_of(operation.name,
		                                   gt_trace_text(totals->trace, range->data));
}

static gt_id *new_ids(size_t count)
{
	gt_id *ids = gt_allocate((count + 1) * sizeof(*ids));

	memset(ids, 0xff, (count + 1) * sizeof(*ids));
	return ids;
}

static void group_ranges(struct gt_operation_totals *totals)
{
	const size_t count = totals->trace->ranges.count;

	totals->group_of = new_ids(count);
	totals->module_of = new_ids(count);
	totals->root_of = new_ids(count);
	for (size_t i = 0; i < count; i++)
		group_range(totals, totals->ranges.order[i]);
}

/* ---- work ---- */

/* What is worked out from one piece of work after the other. */
struct work {
	struct gt_operation_totals *totals;
	uint64_t *of_range; /* GPU time by row of ranges */
	size_t *seen;       /* by row of totals: number of the work that was added last */
	size_t number;
	bool *runs_xla; /* by row of processes */
};

/* Whether this work was not yet added to a group. */
static bool is_new(struct work *work, gt_id group)
{
	const bool new = work->seen[group] != work->number;

	work->seen[group] = work->number;
	return new;
}

static void add_own(struct gt_operation_total *row, uint64_t duration_ns)
{
	row->own_ns += duration_ns;
	row->launches++;
}

static gt_id shape_of(const struct gt_trace *trace, const struct gt_activity *activity)
{
	return activity->type == GT_ACTIVITY_KERNEL ? trace->kernels.rows[activity->row].shape
	                                            : GT_NONE;
}

static gt_id process_of(const struct gt_trace *trace, const struct gt_activity *activity)
{
	return gt_trace_stream_process(trace, gt_activity_stream(trace, activity));
}

/*
 * No range tells: a kernel of XLA's is called as its instruction is, of what another library was
 * called for the category is known at least.
 */
static void add_by_name(struct work *work, const struct gt_activity *activity, gt_id range,
                        uint64_t duration_ns)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_trace *trace = totals->trace;
	const gt_id shape = shape_of(trace, activity);
	const gt_id process = process_of(trace, activity);
	const gt_id module = range == GT_NONE ? GT_NONE : totals->module_of[range];
	const struct gt_launch_shape *launch;
	enum gt_hlo_category category;
	char instead[64];
	gt_id group;

	if (shape >= trace->launch_shapes.count || process >= trace->processes.count ||
	    !work->runs_xla[process])
		return;
	launch = &trace->launch_shapes.rows[shape];
	category = gt_hlo_category_of_kernel(launch->family, launch->origin);
	snprintf(instead, sizeof(instead), "(%s)", gt_hlo_category_name(category));
	group = add_row(totals, GT_OPERATION_HLO, GT_DIRECTION_NONE, name_of(totals, module),
	                launch->origin == GT_ORIGIN_xla
	                        ? gt_shape_text(trace, launch, GT_NAMES_FULL)
	                        : instead);
	totals->rows.rows[group].from_names = true;
	totals->rows.rows[group].category = category;
	totals->rows.rows[group].inclusive_ns += duration_ns;
	add_own(&totals->rows.rows[group], duration_ns);
	if (launch->origin == GT_ORIGIN_xla)
		totals->owned_ns[GT_OPERATION_HLO] += duration_ns;
}

static void add_work(struct work *work, const struct gt_activity *activity)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_owner owner = gt_owner_of(totals->trace, activity->type, activity->row);
	const uint64_t duration_ns = (uint64_t)(activity->end_ns - activity->start_ns);
	gt_id innermost[GT_OPERATION_KINDS];

	memset(innermost, 0xff, sizeof(innermost));
	work->number++;
	totals->busy_ns += duration_ns;
	for (gt_id at = owner.range; at < totals->trace->ranges.count;
	     at = gt_ranges_around(&totals->ranges, at, owner.at_ns)) {
		const gt_id group = totals->group_of[at];
		struct gt_operation_total *row;

		if (group == GT_NONE)
			continue;
		row = &totals->rows.rows[group];
		work->of_range[at] += duration_ns;
		if (is_new(work, group))
			row->inclusive_ns += duration_ns;
		if (innermost[row->kind] == GT_NONE) {
			innermost[row->kind] = at;
			add_own(row, duration_ns);
			totals->owned_ns[row->kind] += duration_ns;
		}
	}
	if (innermost[GT_OPERATION_HLO] == GT_NONE)
		add_by_name(work, activity, innermost[GT_OPERATION_HLO_MODULE], duration_ns);
}

/* A process runs XLA when some kernel of it is XLA's. */
static void find_xla(struct work *work)
{
	const struct gt_trace *trace = work->totals->trace;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const gt_id process = gt_trace_stream_process(trace, kernel->stream);

		if (process < trace->processes.count &&
		    kernel->shape < trace->launch_shapes.count &&
		    trace->launch_shapes.rows[kernel->shape].origin == GT_ORIGIN_xla)
			work->runs_xla[process] = true;
	}
}

static void *new_zeros(size_t size)
{
	void *zeros = gt_allocate(size + 1);

	memset(zeros, 0, size + 1);
	return zeros;
}

static void count_each(struct gt_operation_totals *totals, const uint64_t *of_range)
{
	const struct gt_trace *trace = totals->trace;
	struct gt_groups each;

	gt_groups_init(&each, totals->rows.count);
	for (size_t i = 0; i < trace->ranges.count; i++)
		if (totals->group_of[i] != GT_NONE && !(trace->ranges.rows[i].flags & GT_AROUND))
			gt_groups_expect(&each, totals->group_of[i]);
	gt_groups_begin(&each);
	for (size_t i = 0; i < trace->ranges.count; i++)
		if (totals->group_of[i] != GT_NONE && !(trace->ranges.rows[i].flags & GT_AROUND))
			gt_groups_add(&each, totals->group_of[i], (int64_t)of_range[i]);
	for (size_t i = 0; i < totals->rows.count; i++)
		totals->rows.rows[i].each = gt_spread_of_group(&each, i);
	gt_groups_release(&each);
}

static void add_idle(struct gt_operation_totals *totals)
{
	struct gt_projection each;

	gt_projection_init(&each, &totals->ranges, GT_PROJECT_DEVICES, NULL, 0);
	gt_array_each(const struct gt_projected, part, &each.rows)
		if (totals->group_of[part->group] != GT_NONE)
			totals->rows.rows[totals->group_of[part->group]].idle_ns += part->idle_ns;
	gt_projection_release(&each);
}

static void add_all_work(struct gt_operation_totals *totals)
{
	const struct gt_trace *trace = totals->trace;
	struct work work = {
		.totals = totals,
		.of_range = new_zeros(trace->ranges.count * sizeof(*work.of_range)),
		.seen = new_zeros(totals->rows.count * sizeof(*work.seen)),
		.runs_xla = new_zeros(trace->processes.count * sizeof(*work.runs_xla)),
	};
	struct gt_activity_walk walk;
	struct gt_activity activity;

	find_xla(&work);
	gt_activity_walk_init(&walk, trace);
	while (gt_activity_next(&walk, &activity))
		add_work(&work, &activity);
	count_each(totals, work.of_range);
	gt_array_free(work.of_range);
	gt_array_free(work.seen);
	gt_array_free(work.runs_xla);
}

/* ---- backward ---- */

/* A module that was called forward. */
struct called {
	const char *name;
	gt_id root; /* row of the outermost module that it was called in */
};

static int by_name(const void *a, const void *b)
{
	const struct called *left = a;
	const struct called *right = b;

	return strcmp(left->name, right->name);
}

/* In order of their paths. */
static struct called *list_called(const struct gt_operation_totals *totals, size_t *count)
{
	struct called *called = gt_allocate((totals->rows.count + 1) * sizeof(*called));
	gt_id *roots = new_ids(totals->rows.count);

	for (size_t i = 0; i < totals->trace->ranges.count; i++)
		if (totals->group_of[i] != GT_NONE)
			roots[totals->group_of[i]] = totals->root_of[i];
	*count = 0;
	for (size_t i = 0; i < totals->rows.count; i++) {
		const struct gt_operation_total *row = &totals->rows.rows[i];

		if (row->kind == GT_OPERATION_MODULE && row->direction == GT_DIRECTION_FORWARD)
			called[(*count)++] = (struct called){row->name, roots[i]};
	}
	if (*count > 1)
		qsort(called, *count, sizeof(*called), by_name);
	gt_array_free(roots);
	return called;
}

static void include(struct gt_operation_totals *totals, const char *path, uint64_t own_ns)
{
	const gt_id row = add_row(totals, GT_OPERATION_MODULE, GT_DIRECTION_BACKWARD, "", path);

	totals->rows.rows[row].inclusive_ns += own_ns;
}

/* Into all modules around it, which were called forward: those in its path, and their model. */
static void include_around(struct gt_operation_totals *totals, const struct called *called,
                           size_t count, const struct gt_operation_total *row)
{
	char path[sizeof(((struct gt_operation *)0)->name)];
	struct called key = {.name = path};
	const struct called *found;
	const char *root = "";
	bool has_root = false;
	char *dot;

	snprintf(path, sizeof(path), "%s", row->name);
	found = bsearch(&key, called, count, sizeof(*called), by_name);
	if (found && found->root != GT_NONE)
		root = totals->rows.rows[found->root].name;
	has_root = !*root || strcmp(root, path) == 0;
	while ((dot = strrchr(path, '.')) != NULL) {
		*dot = '\0';
		has_root = has_root || strcmp(root, path) == 0;
		if (bsearch(&key, called, count, sizeof(*called), by_name))
			include(totals, path, row->own_ns);
	}
	if (!has_root)
		include(totals, root, row->own_ns);
}

/* Parts of backward lie one behind the other, not in one another: what is inside is told by paths. */
static void include_backward(struct gt_operation_totals *totals)
{
	const size_t rows = totals->rows.count;
	size_t count;
	struct called *called = list_called(totals, &count);

	for (size_t i = 0; i < rows; i++) {
		const struct gt_operation_total row = totals->rows.rows[i];

		if (row.kind == GT_OPERATION_MODULE && row.direction == GT_DIRECTION_BACKWARD)
			include_around(totals, called, count, &row);
	}
	gt_array_free(called);
}

/* Ranges are in order of time: of several of one number the last before it, the innermost, counts. */
static void tie_backward(struct gt_operation_totals *totals)
{
	const struct gt_trace *trace = totals->trace;
	struct gt_known forward = {0};

	for (gt_id i = 0; i < trace->ranges.count; i++) {
		struct gt_operation_total *row;
		struct gt_operation operation;
		gt_id tied;

		if (totals->group_of[i] == GT_NONE)
			continue;
		row = &totals->rows.rows[totals->group_of[i]];
		operation = read_range(totals, i);
		if (row->kind != GT_OPERATION_OP || !operation.numbered)
			continue;
		tied = gt_known_find(&forward, operation.sequence);
		if (row->direction == GT_DIRECTION_BACKWARD) {
			if (!*row->around && tied != GT_NONE)
				row->around = totals->rows.rows[tied].name;
		} else if (tied == GT_NONE) {
			gt_known_add(&forward, operation.sequence, totals->group_of[i]);
		} else {
			gt_known_set(&forward, operation.sequence, totals->group_of[i]);
		}
	}
	gt_known_release(&forward);
}

void gt_operation_totals_init(struct gt_operation_totals *totals, const struct gt_trace *trace)
{
	*totals = (struct gt_operation_totals){
		.trace = trace,
		.keys = gt_strings_new(),
		.words = gt_strings_new(),
	};
	gt_ranges_init(&totals->ranges, trace);
	group_ranges(totals);
	add_all_work(totals);
	add_idle(totals);
	include_backward(totals);
	tie_backward(totals);
}

void gt_operation_totals_release(struct gt_operation_totals *totals)
{
	gt_ranges_release(&totals->ranges);
	gt_strings_free(totals->keys);
	gt_strings_free(totals->words);
	gt_array_release(&totals->rows);
	gt_array_free(totals->group_of);
	gt_array_free(totals->module_of);
	gt_array_free(totals->root_of);
}
