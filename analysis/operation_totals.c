/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/operation_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/operation_parts.h"
#include "base/strings.h"
#include "model/projection.h"

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
	gt_id *roots = gt_operation_new_ids(totals->rows.count);

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
	const gt_id row = gt_operation_plain_row(totals, GT_OPERATION_MODULE, GT_DIRECTION_BACKWARD,
	                                         "", path);

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

/* ---- all of it ---- */

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

void gt_operation_totals_init(struct gt_operation_totals *totals, const struct gt_trace *trace)
{
	*totals = (struct gt_operation_totals){
		.trace = trace,
		.keys = gt_strings_new(),
		.words = gt_strings_new(),
	};
	gt_ranges_init(&totals->ranges, trace);
	gt_operations_group_ranges(totals);
	gt_operations_add_work(totals);
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
