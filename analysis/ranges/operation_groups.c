/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/operation_parts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "model/known.h"

/* The same text, for as long as the totals live. */
static const char *word_of(const struct gt_operation_totals *totals, const char *text)
{
	return gt_strings_get(totals->words, gt_strings_add(totals->words, text));
}

gt_id gt_operation_row(struct gt_operation_totals *totals, const struct gt_operation_total *of)
{
	char key[3 * sizeof(((struct gt_operation *)0)->name) + 24];
	const size_t before = gt_strings_count(totals->keys);
	uint32_t id;

	snprintf(key, sizeof(key), "%d%d%u %s\n%s\n%s", (int)of->kind, (int)of->direction,
	         gt_strings_add(totals->words, of->sizes), of->around, of->name, of->kernel);
	id = gt_strings_add(totals->keys, key);
	if (gt_strings_count(totals->keys) > before) {
		struct gt_operation_total *row = gt_array_push(&totals->rows);

		*row = (struct gt_operation_total){.kind = of->kind, .direction = of->direction};
		row->name = word_of(totals, of->name);
		row->around = word_of(totals, of->around);
		row->kernel = word_of(totals, of->kernel);
		row->sizes = word_of(totals, of->sizes);
	}
	return id - 1; /* no key is empty: their ids begin with 1 */
}

gt_id gt_operation_plain_row(struct gt_operation_totals *totals, enum gt_operation_kind kind,
                             enum gt_direction direction, const char *around, const char *name)
{
	const struct gt_operation_total of = {
		.kind = kind,
		.direction = direction,
		.around = around,
		.name = name,
		.kernel = "",
		.sizes = "",
	};

	return gt_operation_row(totals, &of);
}

/* The row of an operation of PyTorch. */
static gt_id row_of_op(struct gt_operation_totals *totals, const struct gt_operation_scope *scope,
                       const struct gt_operation *operation, const char *around)
{
	const bool sized = totals->by_sizes && operation->sizes;
	const struct gt_operation_total of = {
		.kind = operation->kind,
		.direction = scope->direction,
		.around = around,
		.name = operation->name,
		.kernel = "",
		.sizes =
			sized ? gt_strings_get(totals->words,
	                                       gt_strings_add_bytes(totals->words, operation->sizes,
	                                                            operation->sizes_length))
			      : "",
	};

	return gt_operation_row(totals, &of);
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

gt_id *gt_operation_new_ids(size_t count)
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
		scope->group = scope->module = gt_operation_plain_row(
			totals, operation->kind, GT_DIRECTION_NONE, "", operation->name);
		return;
	}
	scope->group =
		gt_operation_plain_row(totals, operation->kind, GT_DIRECTION_NONE,
	                               gt_operation_name(totals, scope->module), operation->name);
	row = &totals->rows.rows[scope->group];
	if (row->category == GT_HLO_other)
		row->category = gt_hlo_category_of(operation->name, text);
}

static void group_module(struct gt_operation_totals *totals, gt_id i,
                         const struct gt_operation *operation)
{
	struct gt_operation_scope *scope = &totals->scopes[i];

	scope->direction = operation->direction;
	scope->group = gt_operation_plain_row(totals, operation->kind, operation->direction, "",
	                                      operation->name);
	if (operation->direction == GT_DIRECTION_FORWARD && scope->root == GT_NONE)
		scope->root = scope->group;
}

/*
 * All that an operation of backward calls runs backward, and all that an optimizer calls is
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
	    strcmp(gt_operation_name(totals, scope->engine), operation->name) == 0) {
		scope->engine = GT_NONE;
		return;
	}
	if (operation->direction != GT_DIRECTION_FORWARD)
		scope->direction = operation->direction;
	if (scope->direction == GT_DIRECTION_BACKWARD && scope->tied != GT_NONE)
		forward = read_range(totals, scope->tied);
	scope->group = row_of_op(totals, scope, operation, forward.name);
	scope->engine = operation->engine ? scope->group : GT_NONE;
}

/* Scope of a range by those that were open when it began, which were grouped before it. */
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

	for (gt_id at = gt_ranges_around_sure(&totals->ranges, i, at_ns); at != GT_NONE;
	     at = gt_ranges_around_sure(&totals->ranges, at, at_ns)) {
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
	const gt_id process = gt_trace_thread_process(trace, thread);

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
	for (gt_id at = gt_ranges_around_sure(&totals->ranges, i, at_ns); at != GT_NONE;
	     at = gt_ranges_around_sure(&totals->ranges, at, at_ns)) {
		const struct gt_operation outer = read_range(totals, at);

		if (outer.kind != GT_OPERATION_OP)
			continue;
		if (outer.engine && strcmp(outer.name, name) == 0)
			tied[at] = forward;
		return;
	}
}

/* Operations with one number in a process: the latest, and the latest on another thread than it. */
struct forward {
	gt_id latest;
	gt_id other;
};

/* Numbers by which backward operations are tied. */
struct numbers {
	struct gt_known *places; /* by process: rows of forwards by number */
	gt_array(struct forward) forwards;
	bool *in_backward; /* by row of ranges: it is an operation of backward, or in one */
};

static void find_backward(struct numbers *numbers, const struct gt_operation_totals *totals)
{
	const struct gt_ranges *ranges = &totals->ranges;
	const size_t count = totals->trace->ranges.count;

	numbers->in_backward = gt_allocate((count + 1) * sizeof(*numbers->in_backward));
	for (size_t i = 0; i < count; i++) {
		const gt_id row = ranges->order[i];
		const struct gt_operation operation = read_range(totals, row);

		numbers->in_backward[row] = (operation.kind == GT_OPERATION_OP &&
		                             operation.direction == GT_DIRECTION_BACKWARD) ||
		                            (ranges->around[row] != GT_NONE &&
		                             numbers->in_backward[ranges->around[row]]);
	}
}

static void see_forward(struct numbers *numbers, const struct gt_trace *trace, gt_id process,
                        uint64_t sequence, gt_id row)
{
	const struct gt_range *rows = trace->ranges.rows;
	struct forward *forward;
	gt_id place;

	if (gt_known_is_new(&numbers->places[process], sequence, numbers->forwards.count, &place))
		*gt_array_push(&numbers->forwards) = (struct forward){GT_NONE, GT_NONE};
	forward = &numbers->forwards.rows[place];
	if (forward->latest != GT_NONE && rows[forward->latest].thread != rows[row].thread)
		forward->other = forward->latest;
	forward->latest = row;
}

static gt_id outermost(const struct gt_ranges *ranges, gt_id row)
{
	while (ranges->around[row] != GT_NONE)
		row = ranges->around[row];
	return row;
}

/*
 * The forward operation of one of backward. Numbers are each thread's own. An operation that
 * a thread calls forward while it runs backward, as checkpoints do, is that of operations of
 * backward inside the same one; others are of another thread's that has the number too
 * (collector/stages/for_ranges.c).
 */
static gt_id forward_of(const struct numbers *numbers, const struct gt_ranges *ranges,
                        gt_id process, uint64_t sequence, gt_id row)
{
	const struct gt_range *rows = ranges->trace->ranges.rows;
	const gt_id place = gt_known_find(&numbers->places[process], sequence);
	const struct forward *forward;

	if (place == GT_NONE)
		return GT_NONE;
	forward = &numbers->forwards.rows[place];
	return numbers->in_backward[forward->latest] && forward->other != GT_NONE &&
	                       rows[forward->latest].thread == rows[row].thread &&
	                       outermost(ranges, forward->latest) != outermost(ranges, row)
	               ? forward->other
	               : forward->latest;
}

/*
 * By row of ranges, of operations of backward: the forward one, as row of ranges, that has their
 * number. Ranges are in order of time: of several in a process the last before it, the innermost,
 * counts.
 */
static gt_id *tie_backward(const struct gt_operation_totals *totals)
{
	const struct gt_trace *trace = totals->trace;
	const size_t processes = trace->processes.count;
	gt_id *tied = gt_operation_new_ids(trace->ranges.count);
	struct numbers numbers = {
		.places = gt_allocate((processes + 1) * sizeof(*numbers.places)),
	};

	memset(numbers.places, 0, (processes + 1) * sizeof(*numbers.places));
	find_backward(&numbers, totals);
	for (gt_id i = 0; i < trace->ranges.count; i++) {
		const gt_id process = process_of_range(trace, i);
		const struct gt_operation operation = read_range(totals, i);

		if (operation.kind != GT_OPERATION_OP || !operation.numbered || process == GT_NONE)
			continue;
		if (operation.direction == GT_DIRECTION_BACKWARD)
			tie(totals, tied, i, operation.name,
			    forward_of(&numbers, &totals->ranges, process, operation.sequence, i));
		else
			see_forward(&numbers, trace, process, operation.sequence, i);
	}
	for (size_t i = 0; i < processes; i++)
		gt_known_release(&numbers.places[i]);
	gt_array_free(numbers.places);
	gt_array_free(numbers.in_backward);
	gt_array_release(&numbers.forwards);
	return tied;
}

void gt_operations_group_ranges(struct gt_operation_totals *totals)
{
	const size_t count = totals->trace->ranges.count;
	gt_id *tied = tie_backward(totals);

	totals->scopes = gt_allocate((count + 1) * sizeof(*totals->scopes));
	for (size_t i = 0; i < count; i++)
		group_range(totals, totals->ranges.order[i], tied[totals->ranges.order[i]]);
	gt_array_free(tied);
}
