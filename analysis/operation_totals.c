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

/* The same text, for as long as the totals live. */
static const char *word_of(const struct gt_operation_totals *totals, const char *text)
{
	return gt_strings_get(totals->words, gt_strings_add(totals->words, text));
}

/* The row of its kind, direction, around, name and kernel; made where there is none. */
static gt_id add_row(struct gt_operation_totals *totals, const struct gt_operation_total *of)
{
	char key[3 * sizeof(((struct gt_operation *)0)->name) + 8];
	const size_t before = gt_strings_count(totals->keys);
	uint32_t id;

	snprintf(key, sizeof(key), "%d%d%s\n%s\n%s", (int)of->kind, (int)of->direction, of->around,
	         of->name, of->kernel);
	id = gt_strings_add(totals->keys, key);
	if (gt_strings_count(totals->keys) > before) {
		struct gt_operation_total *row = gt_array_push(&totals->rows);

		*row = (struct gt_operation_total){.kind = of->kind, .direction = of->direction};
		row->name = word_of(totals, of->name);
		row->around = word_of(totals, of->around);
		row->kernel = word_of(totals, of->kernel);
	}
	return id - 1; /* no key is empty: their ids begin with 1 */
}

static gt_id add_plain(struct gt_operation_totals *totals, enum gt_operation_kind kind,
                       enum gt_direction direction, const char *around, const char *name)
{
	const struct gt_operation_total of = {
		.kind = kind,
		.direction = direction,
		.around = around,
		.name = name,
		.kernel = "",
	};

	return add_row(totals, &of);
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

static gt_id *new_ids(size_t count)
{
	gt_id *ids = gt_allocate((count + 1) * sizeof(*ids));

	memset(ids, 0xff, (count + 1) * sizeof(*ids));
	return ids;
}

static void group_hlo(struct gt_operation_totals *totals, gt_id i,
                      const struct gt_operation *operation)
{
	struct gt_operation_scope *scope = &totals->scopes[i];
	const char *text = gt_trace_text(totals->trace, totals->trace->ranges.rows[i].data);
	struct gt_operation_total *row;

	if (operation->kind == GT_OPERATION_HLO_MODULE) {
		scope->group = scope->module =
			add_plain(totals, operation->kind, GT_DIRECTION_NONE, "", operation->name);
		return;
	}
	scope->group = add_plain(totals, operation->kind, GT_DIRECTION_NONE,
	                         name_of(totals, scope->module), operation->name);
	row = &totals->rows.rows[scope->group];
	if (row->category == GT_HLO_other)
		row->category = gt_hlo_category_of(operation->name, text);
}

static void group_module(struct gt_operation_totals *totals, gt_id i,
                         const struct gt_operation *operation)
{
	struct gt_operation_scope *scope = &totals->scopes[i];

	scope->direction = operation->direction;
	scope->group =
		add_plain(totals, operation->kind, operation->direction, "", operation->name);
	if (operation->direction == GT_DIRECTION_FORWARD && scope->root == GT_NONE)
		scope->root = scope->group;
}

/*
 * What an operation of backward calls runs backward, whatever it is, and what an optimizer calls is
 * neither. The engine's range and the one of the same name inside it are one call.
 */
static void group_op(struct gt_operation_totals *totals, gt_id i,
                     const struct gt_operation *operation, gt_id tied)
{
	struct gt_operation_scope *scope = &totals->scopes[i];
	struct gt_operation forward = {0};

	if (tied != GT_NONE)
		scope->tied = tied;
	if (scope->engine != GT_NONE &&
	    strcmp(name_of(totals, scope->engine), operation->name) == 0) {
		scope->engine = GT_NONE;
		return;
	}
	if (operation->direction != GT_DIRECTION_FORWARD)
		scope->direction = operation->direction;
	if (scope->direction == GT_DIRECTION_BACKWARD && scope->tied != GT_NONE)
		forward = read_range(totals, scope->tied);
	scope->group =
		add_plain(totals, operation->kind, scope->direction, forward.name, operation->name);
	scope->engine = operation->engine ? scope->group : GT_NONE;
}

/* What a range has of those that were open when it began, which were grouped before it. */
static struct gt_operation_scope look_around(const struct gt_operation_totals *totals, gt_id i)
{
	const gt_time at_ns = totals->trace->ranges.rows[i].start_ns;
	struct gt_operation_scope scope = {
		.direction = GT_DIRECTION_FORWARD,
		.group = GT_NONE,
		.module = GT_NONE,
		.root = GT_NONE,
		.tied = GT_NONE,
		.engine = GT_NONE,
	};
	bool in_op = false;
	bool directed = false;

	for (gt_id at = gt_ranges_around(&totals->ranges, i, at_ns); at != GT_NONE;
	     at = gt_ranges_around(&totals->ranges, at, at_ns)) {
		const struct gt_operation_scope *outer = &totals->scopes[at];
		const bool is_op = outer->kind == GT_OPERATION_OP;

		if (!directed && (is_op || outer->kind == GT_OPERATION_MODULE)) {
			scope.direction = outer->direction;
			directed = true;
		}
		if (!in_op && is_op) {
			scope.tied = outer->tied;
			scope.engine = outer->engine;
			in_op = true;
		}
		if (scope.root == GT_NONE && outer->kind == GT_OPERATION_MODULE)
			scope.root = outer->root;
		if (scope.module == GT_NONE)
			scope.module = outer->module;
	}
	return scope;
}

static void group_range(struct gt_operation_totals *totals, gt_id i, gt_id tied)
{
	const struct gt_operation operation = read_range(totals, i);
	struct gt_operation_scope *scope = &totals->scopes[i];

	*scope = (struct gt_operation_scope){.group = GT_NONE, .module = GT_NONE};
	if (operation.kind != GT_OPERATION_NONE)
		*scope = look_around(totals, i);
	scope->kind = operation.kind;
	switch (operation.kind) {
	case GT_OPERATION_MODULE:
		group_module(totals, i, &operation);
		break;
	case GT_OPERATION_OP:
		group_op(totals, i, &operation, tied);
		break;
	case GT_OPERATION_HLO:
	case GT_OPERATION_HLO_MODULE:
		group_hlo(totals, i, &operation);
		break;
	case GT_OPERATION_NONE:
	case GT_OPERATION_KINDS:
		break;
	}
}

/* Row of processes, GT_NONE: not known. */
static gt_id process_of_range(const struct gt_trace *trace, gt_id range)
{
	const gt_id thread = trace->ranges.rows[range].thread;
	const gt_id process =
		thread < trace->threads.count ? trace->threads.rows[thread].process : GT_NONE;

	return process < trace->processes.count ? process : GT_NONE;
}

/*
 * The engine's range around an operation has no number: it is tied as the operation is. Ranges of
 * modules in backward may begin between the two.
 */
static void tie(const struct gt_operation_totals *totals, gt_id *tied, gt_id i, const char *name,
                gt_id forward)
{
	const gt_time at_ns = totals->trace->ranges.rows[i].start_ns;

	tied[i] = forward;
	for (gt_id at = gt_ranges_around(&totals->ranges, i, at_ns); at != GT_NONE;
	     at = gt_ranges_around(&totals->ranges, at, at_ns)) {
		const struct gt_operation outer = read_range(totals, at);

		if (outer.kind != GT_OPERATION_OP)
			continue;
		if (outer.engine && strcmp(outer.name, name) == 0)
			tied[at] = forward;
		return;
	}
}

/*
 * By row of ranges, of operations of backward: the forward one, as row of ranges, that has their
 * number. Ranges are in order of time: of several in a process the last before it, the innermost,
 * counts.
 */
static gt_id *tie_backward(const struct gt_operation_totals *totals)
{
	const struct gt_trace *trace = totals->trace;
	gt_id *tied = new_ids(trace->ranges.count);
	struct gt_known *forward = gt_allocate((trace->processes.count + 1) * sizeof(*forward));

	memset(forward, 0, (trace->processes.count + 1) * sizeof(*forward));
	for (gt_id i = 0; i < trace->ranges.count; i++) {
		const gt_id process = process_of_range(trace, i);
		const struct gt_operation operation = read_range(totals, i);
		gt_id known;

		if (operation.kind != GT_OPERATION_OP || !operation.numbered || process == GT_NONE)
			continue;
		known = gt_known_find(&forward[process], operation.sequence);
		if (operation.direction == GT_DIRECTION_BACKWARD)
			tie(totals, tied, i, operation.name, known);
		else if (known == GT_NONE)
			gt_known_add(&forward[process], operation.sequence, i);
		else
			gt_known_set(&forward[process], operation.sequence, i);
	}
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_known_release(&forward[i]);
	gt_array_free(forward);
	return tied;
}

static void group_ranges(struct gt_operation_totals *totals)
{
	const size_t count = totals->trace->ranges.count;
	gt_id *tied = tie_backward(totals);

	totals->scopes = gt_allocate((count + 1) * sizeof(*totals->scopes));
	for (size_t i = 0; i < count; i++)
		group_range(totals, totals->ranges.order[i], tied[totals->ranges.order[i]]);
	gt_array_free(tied);
}

/* ---- work ---- */

/* What one launch of a graph ran of what one range had captured. */
struct run {
	gt_id group;
	uint64_t duration_ns;
};

/* What a kernel took of an instruction of HLO. */
struct used_kernel {
	gt_id group;
	gt_id shape; /* one of those of that name */
	uint64_t duration_ns;
};

/* What is worked out from one piece of work after the other. */
struct work {
	struct gt_operation_totals *totals;
	uint64_t *of_range; /* GPU time by row of ranges */
	size_t *seen;       /* by row of totals: number of the work that was added last */
	size_t number;
	bool *runs_xla; /* by row of processes */
	gt_array(struct run) runs;
	struct gt_known run_rows; /* of runs, by row of ranges and the launch's of api_calls */
	gt_array(struct used_kernel) used;
	struct gt_known used_rows;        /* of used, by row of totals and name */
	struct gt_strings *as_kernels;    /* HLO: modules and instructions, as kernels are called */
	gt_array(gt_id) instruction_rows; /* their rows of totals, by that */
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

static void use_kernel(struct work *work, gt_id group, gt_id shape, uint64_t duration_ns)
{
	const struct gt_trace *trace = work->totals->trace;
	uint64_t key;
	gt_id at;

	if (shape >= trace->launch_shapes.count)
		return;
	key = (uint64_t)group << 32 |
	      gt_shape_string(trace, &trace->launch_shapes.rows[shape], trace->names);
	at = gt_known_find(&work->used_rows, key);
	if (at == GT_NONE) {
		at = (gt_id)work->used.count;
		gt_known_add(&work->used_rows, key, at);
		*gt_array_push(&work->used) = (struct used_kernel){.group = group, .shape = shape};
	}
	work->used.rows[at].duration_ns += duration_ns;
}

/* The row of the text in as_kernels, added if it is new. Dots cannot be in names of functions. */
static gt_id as_kernel(struct work *work, const char *module, const char *name)
{
	char text[2 * sizeof(((struct gt_operation *)0)->name) + 8];
	const int length = snprintf(text, sizeof(text), "%s\n", module);

	snprintf(text + length, sizeof(text) - (size_t)length, "%s", name);
	for (char *at = text + length; *at; at++)
		if (*at == '.' || *at == '-')
			*at = '_';
	return gt_strings_add(work->as_kernels, text) - 1;
}

/* Of several instructions that read the same the first holds. */
static void learn_instructions(struct work *work)
{
	const struct gt_operation_totals *totals = work->totals;

	for (gt_id i = 0; i < totals->rows.count; i++) {
		const struct gt_operation_total *row = &totals->rows.rows[i];

		if (row->kind == GT_OPERATION_HLO &&
		    as_kernel(work, row->around, row->name) == work->instruction_rows.count)
			*gt_array_push(&work->instruction_rows) = i;
	}
}

/* The instruction that a kernel of XLA's is called after: as the kernel, where none is known. */
static const char *instruction_of(struct work *work, const char *module, const char *kernel)
{
	const gt_id at = as_kernel(work, module, kernel);

	return at < work->instruction_rows.count
	               ? name_of(work->totals, work->instruction_rows.rows[at])
	               : kernel;
}

/*
 * No range tells: a kernel of XLA's is called as its instruction is, of what another library was
 * called for the kernel and the category are known at least. False if it is nothing of XLA's.
 */
static bool add_by_name(struct work *work, const struct gt_activity *activity, gt_id module)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_trace *trace = totals->trace;
	const gt_id shape = shape_of(trace, activity);
	const gt_id process = process_of(trace, activity);
	const uint64_t duration_ns = (uint64_t)(activity->end_ns - activity->start_ns);
	struct gt_operation_total of = {GT_OPERATION_HLO, .name = "", .kernel = ""};
	const struct gt_launch_shape *launch;
	struct gt_operation_total *row;
	gt_id group;

	if (shape >= trace->launch_shapes.count || process >= trace->processes.count ||
	    !work->runs_xla[process])
		return false;
	launch = &trace->launch_shapes.rows[shape];
	of.around = name_of(totals, module);
	if (launch->origin == GT_ORIGIN_xla)
		of.name = instruction_of(work, of.around,
		                         gt_shape_text(trace, launch, GT_NAMES_FULL));
	else
		of.kernel = gt_shape_name(trace, shape);
	group = add_row(totals, &of);
	use_kernel(work, group, shape, duration_ns);
	row = &totals->rows.rows[group];
	row->from_names = true;
	row->category = gt_hlo_category_of_kernel(launch->family, launch->origin);
	row->inclusive_ns += duration_ns;
	add_own(row, duration_ns);
	if (launch->origin == GT_ORIGIN_xla)
		totals->owned_ns[GT_OPERATION_HLO] += duration_ns;
	return true;
}

/*
 * hlo: row of ranges of the innermost instruction around it. What a command buffer runs, and no
 * node of its graph is known for, is told by names as far as they go.
 */
static void add_to_instruction(struct work *work, const struct gt_activity *activity, gt_id hlo)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_operation_scope *scope = &totals->scopes[hlo];
	const uint64_t duration_ns = (uint64_t)(activity->end_ns - activity->start_ns);
	const gt_id shape = shape_of(totals->trace, activity);

	if (totals->rows.rows[scope->group].category == GT_HLO_command_buffer) {
		if (shape < totals->trace->launch_shapes.count &&
		    totals->trace->launch_shapes.rows[shape].origin == GT_ORIGIN_xla &&
		    add_by_name(work, activity, scope->module))
			return;
		totals->buffers_ns += duration_ns;
	} else {
		totals->owned_ns[GT_OPERATION_HLO] += duration_ns;
	}
	add_own(&totals->rows.rows[scope->group], duration_ns);
	use_kernel(work, scope->group, shape, duration_ns);
}

/* Each launch of a graph is a call of what was captured. */
static void add_to_call(struct work *work, const struct gt_activity *activity, gt_id range,
                        bool captured)
{
	const uint64_t duration_ns = (uint64_t)(activity->end_ns - activity->start_ns);
	const uint64_t key = (uint64_t)range << 32 | activity->api_call;
	gt_id at;

	if (!captured) {
		work->of_range[range] += duration_ns;
		return;
	}
	at = gt_known_find(&work->run_rows, key);
	if (at == GT_NONE) {
		at = (gt_id)work->runs.count;
		gt_known_add(&work->run_rows, key, at);
		*gt_array_push(&work->runs) =
			(struct run){.group = work->totals->scopes[range].group};
	}
	work->runs.rows[at].duration_ns += duration_ns;
}

static void add_work(struct work *work, const struct gt_activity *activity)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_owners owners = gt_owners_of(totals->trace, activity->type, activity->row);
	const bool captured = owners.captured.range != GT_NONE;
	const struct gt_owner owner = captured ? owners.captured : owners.launched;
	const uint64_t duration_ns = (uint64_t)(activity->end_ns - activity->start_ns);
	gt_id innermost[GT_OPERATION_KINDS];

	memset(innermost, 0xff, sizeof(innermost));
	work->number++;
	totals->busy_ns += duration_ns;
	totals->kernels_ns += activity->type == GT_ACTIVITY_KERNEL ? duration_ns : 0;
	for (gt_id at = owner.range; at < totals->trace->ranges.count;
	     at = gt_ranges_around(&totals->ranges, at, owner.at_ns)) {
		const gt_id group = totals->scopes[at].group;
		enum gt_operation_kind kind;

		if (group == GT_NONE)
			continue;
		kind = totals->rows.rows[group].kind;
		add_to_call(work, activity, at, captured);
		if (is_new(work, group))
			totals->rows.rows[group].inclusive_ns += duration_ns;
		if (innermost[kind] != GT_NONE)
			continue;
		innermost[kind] = at;
		if (kind == GT_OPERATION_HLO)
			continue;
		add_own(&totals->rows.rows[group], duration_ns);
		totals->owned_ns[kind] += duration_ns;
	}
	if (innermost[GT_OPERATION_HLO] != GT_NONE)
		add_to_instruction(work, activity, innermost[GT_OPERATION_HLO]);
	else if (innermost[GT_OPERATION_HLO_MODULE] != GT_NONE)
		(void)add_by_name(work, activity,
		                  totals->scopes[innermost[GT_OPERATION_HLO_MODULE]].module);
	else
		(void)add_by_name(work, activity, GT_NONE);
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

/* The kernel that took most; where the name of an instruction does not tell what it calls, that
 * does. */
static void name_kernels(struct work *work)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_trace *trace = totals->trace;
	gt_id *most = new_ids(totals->rows.count); /* rows of used */

	for (gt_id i = 0; i < work->used.count; i++) {
		const struct used_kernel *used = &work->used.rows[i];
		gt_id *best = &most[used->group];

		if (*best == GT_NONE || used->duration_ns > work->used.rows[*best].duration_ns)
			*best = i;
	}
	gt_array_each(struct gt_operation_total, row, &totals->rows) {
		const gt_id best = most[row - totals->rows.rows];
		const struct gt_launch_shape *launch;

		if (best >= work->used.count)
			continue;
		launch = &trace->launch_shapes.rows[work->used.rows[best].shape];
		row->kernel = gt_shape_name(trace, work->used.rows[best].shape);
		if (row->category == GT_HLO_custom_call && launch->origin != GT_ORIGIN_xla)
			row->category = gt_hlo_category_of_kernel(launch->family, launch->origin);
	}
	gt_array_free(most);
}

static void *new_zeros(size_t size)
{
	void *zeros = gt_allocate(size + 1);

	memset(zeros, 0, size + 1);
	return zeros;
}

/*
 * A call is a range, or a launch of a graph that has nodes of it. Where there are such launches,
 * ranges in which nothing was asked for that ran by itself only made or changed their nodes.
 */
static bool is_call(const struct work *work, gt_id range)
{
	const gt_id group = work->totals->scopes[range].group;

	if (group == GT_NONE || work->totals->trace->ranges.rows[range].flags & GT_AROUND)
		return false;
	return !work->totals->rows.rows[group].in_graphs || work->of_range[range] > 0;
}

static void count_each(struct work *work)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_trace *trace = totals->trace;
	struct gt_groups each;

	gt_array_each(const struct run, run, &work->runs)
		totals->rows.rows[run->group].in_graphs = true;
	gt_groups_init(&each, totals->rows.count);
	for (gt_id i = 0; i < trace->ranges.count; i++)
		if (is_call(work, i))
			gt_groups_expect(&each, totals->scopes[i].group);
	gt_array_each(const struct run, run, &work->runs)
		gt_groups_expect(&each, run->group);
	gt_groups_begin(&each);
	for (gt_id i = 0; i < trace->ranges.count; i++)
		if (is_call(work, i))
			gt_groups_add(&each, totals->scopes[i].group, (int64_t)work->of_range[i]);
	gt_array_each(const struct run, run, &work->runs)
		gt_groups_add(&each, run->group, (int64_t)run->duration_ns);
	for (size_t i = 0; i < totals->rows.count; i++) {
		totals->rows.rows[i].each = gt_spread_of_group(&each, i);
		totals->rows.rows[i].calls = totals->rows.rows[i].each.count;
	}
	gt_groups_release(&each);
}

static void add_idle(struct gt_operation_totals *totals)
{
	struct gt_projection each;

	gt_projection_init(&each, &totals->ranges, GT_PROJECT_DEVICES, NULL, 0);
	gt_array_each(const struct gt_projected, part, &each.rows)
		if (totals->scopes[part->group].group != GT_NONE)
			totals->rows.rows[totals->scopes[part->group].group].idle_ns +=
				part->idle_ns;
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
		.as_kernels = gt_strings_new(),
	};
	struct gt_activity_walk walk;
	struct gt_activity activity;

	find_xla(&work);
	learn_instructions(&work);
	gt_activity_walk_init(&walk, trace);
	while (gt_activity_next(&walk, &activity))
		add_work(&work, &activity);
	count_each(&work);
	name_kernels(&work);
	gt_array_release(&work.runs);
	gt_known_release(&work.run_rows);
	gt_strings_free(work.as_kernels);
	gt_array_release(&work.instruction_rows);
	gt_array_release(&work.used);
	gt_known_release(&work.used_rows);
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
		if (totals->scopes[i].group != GT_NONE)
			roots[totals->scopes[i].group] = totals->scopes[i].root;
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
	const gt_id row = add_plain(totals, GT_OPERATION_MODULE, GT_DIRECTION_BACKWARD, "", path);

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
}

void gt_operation_totals_release(struct gt_operation_totals *totals)
{
	gt_ranges_release(&totals->ranges);
	gt_strings_free(totals->keys);
	gt_strings_free(totals->words);
	gt_array_release(&totals->rows);
	gt_array_free(totals->scopes);
}
