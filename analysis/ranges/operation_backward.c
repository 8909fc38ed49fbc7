/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/operation_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/known.h"
#include "model/work/timed.h"

/*
 * Autograd calls no module: of a module it runs parts, one behind the other on a thread, each with
 * a range, and what is inside of a module is told by paths. So a call of a module in backward is
 * what ran on a thread without a break of its own parts and of those of modules inside it.
 */

/* A module that was called forward. */
struct called {
	const char *name;
	gt_id root; /* row of the outermost module that it was called in */
};

/* When an outermost module was called forward: the backward pass before that has ended. */
struct forward {
	gt_id process;
	gt_time start_ns;
};

/* The calls that a part belongs to: of its own module and of each around it. */
struct part {
	gt_id range;
	size_t first; /* of memberships */
	size_t count;
};

struct backward {
	struct gt_operation_totals *totals;
	const struct gt_operation_work *work;
	struct gt_operation_calls *calls;
	struct called *called; /* by name */
	size_t called_count;
	gt_array(gt_id) around; /* rows of totals: a module of backward, and then those around it */
	struct gt_known first_around;      /* of around, by row of totals; it ends with GT_NONE */
	gt_array(struct forward) forwards; /* by process and time */
	gt_array(struct part) parts;       /* by thread and time */
	gt_array(gt_id) memberships;       /* rows of calls */
	gt_id *open;  /* by row of totals: its call that may go on, GT_NONE: none */
	size_t *seen; /* by row of totals: the part that was added to it last, counted from 1 */
};

/* ---- modules around ---- */

static int by_name(const void *a, const void *b)
{
	const struct called *left = a;
	const struct called *right = b;

	return strcmp(left->name, right->name);
}

static void list_called(struct backward *backward)
{
	const struct gt_operation_totals *totals = backward->totals;
	gt_id *roots = gt_operation_new_ids(totals->rows.count);

	backward->called = gt_allocate((totals->rows.count + 1) * sizeof(*backward->called));
	for (size_t i = 0; i < totals->trace->ranges.count; i++)
		if (totals->scopes[i].group != GT_NONE)
			roots[totals->scopes[i].group] = totals->scopes[i].root;
	for (size_t i = 0; i < totals->rows.count; i++) {
		const struct gt_operation_total *row = &totals->rows.rows[i];

		if (row->kind == GT_OPERATION_MODULE && row->direction == GT_DIRECTION_FORWARD)
			backward->called[backward->called_count++] =
				(struct called){row->name, roots[i]};
	}
	if (backward->called_count > 1)
		qsort(backward->called, backward->called_count, sizeof(*backward->called), by_name);
	gt_array_free(roots);
}

static const struct called *find_called(const struct backward *backward, const char *name)
{
	const struct called key = {.name = name};

	return bsearch(&key, backward->called, backward->called_count, sizeof(key), by_name);
}

static void add_around(struct backward *backward, const char *path)
{
	*gt_array_push(&backward->around) = gt_operation_plain_row(
		backward->totals, GT_OPERATION_MODULE, GT_DIRECTION_BACKWARD, "", path);
}

/* All modules around it, which were called forward: those in its path, and their model. */
static void find_around(struct backward *backward, gt_id group)
{
	char path[sizeof(((struct gt_operation *)0)->name)];
	const char *root = "";
	const struct called *found;
	bool has_root;
	char *dot;

	gt_known_add(&backward->first_around, group, (gt_id)backward->around.count);
	*gt_array_push(&backward->around) = group;
	snprintf(path, sizeof(path), "%s", gt_operation_name(backward->totals, group));
	found = find_called(backward, path);
	if (found && found->root != GT_NONE)
		root = gt_operation_name(backward->totals, found->root);
	has_root = !*root || strcmp(root, path) == 0;
	while ((dot = strrchr(path, '.')) != NULL) {
		*dot = '\0';
		has_root = has_root || strcmp(root, path) == 0;
		if (find_called(backward, path))
			add_around(backward, path);
	}
	if (!has_root)
		add_around(backward, root);
	*gt_array_push(&backward->around) = GT_NONE;
}

/* ---- passes ---- */

static int by_process_and_time(const void *a, const void *b)
{
	const struct forward *left = a;
	const struct forward *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static gt_id process_of(const struct gt_trace *trace, gt_id range)
{
	return gt_trace_thread_process(trace, trace->ranges.rows[range].thread);
}

static void list_forwards(struct backward *backward)
{
	const struct gt_operation_totals *totals = backward->totals;
	const struct gt_trace *trace = totals->trace;

	for (gt_id i = 0; i < trace->ranges.count; i++) {
		const struct gt_operation_scope *scope = &totals->scopes[i];

		if (scope->kind == GT_OPERATION_MODULE && scope->group != GT_NONE &&
		    scope->root == scope->group)
			*gt_array_push(&backward->forwards) = (struct forward){
				process_of(trace, i), trace->ranges.rows[i].start_ns};
	}
	if (backward->forwards.count > 1)
		qsort(backward->forwards.rows, backward->forwards.count, sizeof(struct forward),
		      by_process_and_time);
}

/*
 * Whether a model was called between two times. Calls inside of a part, as checkpoints make
 * them, are no new pass.
 */
static bool is_called_between(const struct backward *backward, gt_id process, gt_time from_ns,
                              gt_time to_ns)
{
	const struct forward from = {process, from_ns};
	size_t first = 0;
	size_t end = backward->forwards.count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (by_process_and_time(&backward->forwards.rows[middle], &from) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first < backward->forwards.count &&
	       backward->forwards.rows[first].process == process &&
	       backward->forwards.rows[first].start_ns <= to_ns;
}

/* ---- calls ---- */

static bool is_part(const struct gt_operation_scope *scope)
{
	return scope->kind == GT_OPERATION_MODULE && scope->group != GT_NONE &&
	       scope->direction == GT_DIRECTION_BACKWARD;
}

static int by_thread_and_time(const void *a, const void *b, void *context)
{
	const struct backward *backward = context;
	const struct gt_trace *trace = backward->totals->trace;
	const gt_id left = ((const struct part *)a)->range;
	const gt_id right = ((const struct part *)b)->range;
	const struct gt_range *left_row = &trace->ranges.rows[left];
	const struct gt_range *right_row = &trace->ranges.rows[right];

	if (left_row->thread != right_row->thread)
		return left_row->thread < right_row->thread ? -1 : 1;
	if (left_row->start_ns != right_row->start_ns)
		return left_row->start_ns < right_row->start_ns ? -1 : 1;
	return (left > right) - (left < right);
}

static void list_parts(struct backward *backward)
{
	const struct gt_operation_totals *totals = backward->totals;

	for (gt_id i = 0; i < totals->trace->ranges.count; i++) {
		const gt_id group = totals->scopes[i].group;

		if (!is_part(&totals->scopes[i]))
			continue;
		*gt_array_push(&backward->parts) = (struct part){.range = i};
		if (gt_known_find(&backward->first_around, group) == GT_NONE)
			find_around(backward, group);
	}
	if (backward->parts.count > 1)
		qsort_r(backward->parts.rows, backward->parts.count, sizeof(struct part),
		        by_thread_and_time, backward);
}

/* Whether a part follows the one before it in one backward pass. */
static bool goes_on(const struct backward *backward, size_t number)
{
	const struct gt_trace *trace = backward->totals->trace;
	const struct gt_range *before;
	const struct gt_range *row;
	gt_id range;

	if (number == 0)
		return false;
	range = backward->parts.rows[number].range;
	row = &trace->ranges.rows[range];
	before = &trace->ranges.rows[backward->parts.rows[number - 1].range];
	return before->thread == row->thread &&
	       !is_called_between(backward, process_of(trace, range), before->end_ns,
	                          row->start_ns);
}

/* Whether a module is, or is around, that of another part. */
static bool is_around(struct backward *backward, gt_id group, gt_id part)
{
	const gt_id own = backward->totals->scopes[part].group;

	for (size_t at = gt_known_find(&backward->first_around, own);
	     backward->around.rows[at] != GT_NONE; at++)
		if (backward->around.rows[at] == group)
			return true;
	return false;
}

/* A part in which backward runs anew, as checkpoints make it do, has that of others in it. */
static bool is_in_part_of(struct backward *backward, gt_id range, gt_id group)
{
	const struct gt_operation_totals *totals = backward->totals;
	const struct gt_range *rows = totals->trace->ranges.rows;
	const gt_time at_ns = rows[range].start_ns;

	for (gt_id at = gt_ranges_around_sure(&totals->ranges, range, at_ns);
	     at != GT_NONE && rows[at].thread == rows[range].thread;
	     at = gt_ranges_around_sure(&totals->ranges, at, at_ns))
		if (is_part(&totals->scopes[at]) && is_around(backward, group, at))
			return true;
	return false;
}

static uint64_t wall_of(const struct gt_range *range)
{
	return gt_timed(GT_TIMES_ANY, range->flags, range->start_ns, range->end_ns)
	               ? (uint64_t)(range->end_ns - range->start_ns)
	               : 0;
}

static void add_part(struct backward *backward, size_t number)
{
	struct part *part = &backward->parts.rows[number];
	const gt_id own = backward->totals->scopes[part->range].group;
	const bool same_pass = goes_on(backward, number);
	size_t at = gt_known_find(&backward->first_around, own);

	part->first = backward->memberships.count;
	for (gt_id group; (group = backward->around.rows[at]) != GT_NONE; at++) {
		struct gt_operation_call *call;

		if (!same_pass || backward->seen[group] != number || number == 0) {
			backward->open[group] = (gt_id)backward->calls->list.count;
			*gt_array_push(&backward->calls->list) =
				(struct gt_operation_call){.group = group};
		}
		backward->seen[group] = number + 1;
		call = &backward->calls->list.rows[backward->open[group]];
		if (!is_in_part_of(backward, part->range, group)) {
			call->duration_ns += backward->work->of_range[part->range];
			call->wall_ns +=
				wall_of(&backward->totals->trace->ranges.rows[part->range]);
		}
		*gt_array_push(&backward->memberships) = backward->open[group];
		backward->totals->rows.rows[group].has_inner |= group != own;
	}
	part->count = backward->memberships.count - part->first;
}

/* Work of a part in a launch of a graph is of one call for each call that it was captured in. */
static void add_runs(struct backward *backward)
{
	struct gt_known part_of = {0}; /* by range */
	struct gt_known call_of = {0}; /* of the launch, by the call that was captured */
	const struct gt_operation_work *work = backward->work;

	for (size_t i = 0; i < backward->parts.count; i++)
		gt_known_add(&part_of, backward->parts.rows[i].range, (gt_id)i);
	for (size_t i = 0; i < work->run_count; i++) {
		const struct gt_operation_run *run = &work->runs[i];
		const gt_id row = gt_known_find(&part_of, run->range);
		const struct part *part = row == GT_NONE ? NULL : &backward->parts.rows[row];

		for (size_t m = 0; part && m < part->count; m++) {
			const gt_id captured = backward->memberships.rows[part->first + m];
			const gt_id group = backward->calls->list.rows[captured].group;
			gt_id call;

			if (gt_known_is_new(&call_of, (uint64_t)captured << 32 | run->api_call,
			                    backward->calls->list.count, &call))
				*gt_array_push(&backward->calls->list) =
					(struct gt_operation_call){.group = group};
			backward->calls->list.rows[call].duration_ns += run->duration_ns;
			backward->totals->rows.rows[group].in_graphs = true;
		}
	}
	gt_known_release(&part_of);
	gt_known_release(&call_of);
}

/* With all that its calls took. Parts whose work was captured, and ran in graphs alone, are none. */
static void include(const struct backward *backward)
{
	struct gt_operation_totals *totals = backward->totals;
	size_t kept = 0;

	gt_array_each(struct gt_operation_total, row, &totals->rows)
		if (row->kind == GT_OPERATION_MODULE && row->direction == GT_DIRECTION_BACKWARD)
			row->inclusive_ns = 0;
	gt_array_each(struct gt_operation_call, call, &backward->calls->list) {
		struct gt_operation_total *row = &totals->rows.rows[call->group];

		row->inclusive_ns += call->duration_ns;
		row->wall_ns += call->wall_ns;
		if (!row->in_graphs || call->duration_ns > 0)
			backward->calls->list.rows[kept++] = *call;
	}
	backward->calls->list.count = kept;
}

bool gt_operation_is_part(const struct gt_operation_totals *totals, gt_id range)
{
	return is_part(&totals->scopes[range]);
}

void gt_operations_call_backward(struct gt_operation_totals *totals,
                                 const struct gt_operation_work *work,
                                 struct gt_operation_calls *calls)
{
	struct backward backward = {.totals = totals, .work = work, .calls = calls};

	list_called(&backward);
	list_forwards(&backward);
	list_parts(&backward);
	backward.open = gt_operation_new_ids(totals->rows.count);
	backward.seen = gt_allocate_zeroed(totals->rows.count + 1, sizeof(*backward.seen));
	for (size_t i = 0; i < backward.parts.count; i++)
		add_part(&backward, i);
	add_runs(&backward);
	include(&backward);
	gt_array_free(backward.called);
	gt_array_release(&backward.around);
	gt_known_release(&backward.first_around);
	gt_array_release(&backward.forwards);
	gt_array_release(&backward.parts);
	gt_array_release(&backward.memberships);
	gt_array_free(backward.open);
	gt_array_free(backward.seen);
}
