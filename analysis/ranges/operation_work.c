/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/operation_parts.h"

#include <stdio.h>
#include <string.h>

#include "analysis/statistics/groups.h"
#include "base/strings.h"
#include "model/naming/kernel_names.h"
#include "model/naming/shape_names.h"
#include "model/ranges/owners.h"
#include "model/work/activity.h"
#include "model/work/timed.h"

/* Time of a kernel in an instruction of HLO. */
struct used_kernel {
	gt_id group;
	gt_id shape; /* one of those of that name */
	uint64_t duration_ns;
};

/* Results worked out from one piece of work after the other. */
struct work {
	struct gt_operation_totals *totals;
	uint64_t *of_range; /* GPU time by row of ranges */
	size_t *seen;       /* by row of totals: number of the work that was added last */
	size_t number;
	bool *runs_xla; /* by row of processes */
	gt_array(struct gt_operation_run) runs;
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
	if (gt_known_is_new(&work->used_rows, key, work->used.count, &at))
		*gt_array_push(&work->used) = (struct used_kernel){.group = group, .shape = shape};
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

/* The first of several instructions that read the same holds. */
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
	               ? gt_operation_name(work->totals, work->instruction_rows.rows[at])
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
	struct gt_operation_total of = {GT_OPERATION_HLO, .name = "", .kernel = "", .sizes = ""};
	const struct gt_launch_shape *launch;
	struct gt_operation_total *row;
	gt_id group;

	if (shape >= trace->launch_shapes.count || process >= trace->processes.count ||
	    !work->runs_xla[process])
		return false;
	launch = &trace->launch_shapes.rows[shape];
	of.around = gt_operation_name(totals, module);
	if (launch->origin == GT_ORIGIN_xla)
		of.name = instruction_of(work, of.around,
		                         gt_shape_text(trace, launch, GT_NAMES_FULL));
	else
		of.kernel = gt_shape_name(trace, shape);
	group = gt_operation_row(totals, &of);
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
 * hlo: row of ranges of the innermost instruction around it. Work of a command buffer without a
 * known node of its graph is told by names as far as they go.
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
	if (gt_known_is_new(&work->run_rows, key, work->runs.count, &at))
		*gt_array_push(&work->runs) =
			(struct gt_operation_run){.range = range, .api_call = activity->api_call};
	work->runs.rows[at].duration_ns += duration_ns;
}

static void add_work(struct work *work, const struct gt_activity *activity)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_owners owners = gt_owners_of(totals->trace, activity->type, activity->row);
	const bool captured = owners.captured.range != GT_NONE;
	const struct gt_owner owner = gt_owner_sure(captured ? owners.captured : owners.launched);
	const uint64_t duration_ns = (uint64_t)(activity->end_ns - activity->start_ns);
	gt_id innermost[GT_OPERATION_KINDS];

	memset(innermost, 0xff, sizeof(innermost));
	work->number++;
	totals->busy_ns += duration_ns;
	totals->kernels_ns += activity->type == GT_ACTIVITY_KERNEL ? duration_ns : 0;
	for (gt_id at = owner.range; at < totals->trace->ranges.count;
	     at = gt_ranges_around_sure(&totals->ranges, at, owner.at_ns)) {
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
	gt_id *most = gt_operation_new_ids(totals->rows.count); /* rows of used */

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
	void *zeros = gt_allocate_zeroed(size + 1, 1);

	return zeros;
}

/*
 * A call is a range, or a launch of a graph that has nodes of it. Where there are such launches,
 * ranges in which nothing was asked for that ran by itself only made or changed their nodes.
 */
static bool is_call(const struct work *work, gt_id range)
{
	const gt_id group = work->totals->scopes[range].group;

	if (group == GT_NONE || work->totals->trace->ranges.rows[range].flags & GT_AROUND ||
	    gt_operation_is_part(work->totals, range))
		return false;
	return !work->totals->rows.rows[group].in_graphs || work->of_range[range] > 0;
}

static void list_calls(struct work *work, struct gt_operation_calls *calls)
{
	struct gt_operation_totals *totals = work->totals;
	const struct gt_operation_work done = {work->of_range, work->runs.rows, work->runs.count};

	gt_operations_call_backward(totals, &done, calls);
	gt_array_each(const struct gt_operation_run, run, &work->runs) {
		const gt_id group = totals->scopes[run->range].group;

		if (gt_operation_is_part(totals, run->range))
			continue;
		totals->rows.rows[group].in_graphs = true;
		*gt_array_push(&calls->list) = (struct gt_operation_call){group, run->duration_ns};
	}
	for (gt_id i = 0; i < totals->trace->ranges.count; i++)
		if (is_call(work, i))
			*gt_array_push(&calls->list) = (struct gt_operation_call){
				totals->scopes[i].group, work->of_range[i]};
}

static void count_each(struct work *work)
{
	struct gt_operation_totals *totals = work->totals;
	struct gt_operation_calls calls = {0};
	struct gt_groups each;

	list_calls(work, &calls);
	gt_groups_init(&each, totals->rows.count);
	gt_array_each(const struct gt_operation_call, call, &calls.list)
		gt_groups_expect(&each, call->group);
	gt_groups_begin(&each);
	gt_array_each(const struct gt_operation_call, call, &calls.list)
		gt_groups_add(&each, call->group, (int64_t)call->duration_ns);
	for (size_t i = 0; i < totals->rows.count; i++) {
		totals->rows.rows[i].each = gt_spread_of_group(&each, i);
		totals->rows.rows[i].calls = totals->rows.rows[i].each.count;
	}
	gt_groups_release(&each);
	gt_array_release(&calls.list);
}

void gt_operations_add_work(struct gt_operation_totals *totals)
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
	gt_activity_walk_init(&walk, trace, GT_WORK_FIGURES);
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
