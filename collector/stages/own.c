/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "collector/kinds.h"
#include "collector/stage.h"

/*
 * What gputrace itself did in a program, on threads of its own, is in no figure of the program:
 * rows with a correlation id of one of its calls are taken out. Nothing names such rows yet.
 */

static int by_correlation(const void *a, const void *b)
{
	const struct gt_record_own_call *left = a;
	const struct gt_record_own_call *right = b;

	return (left->correlation > right->correlation) - (left->correlation < right->correlation);
}

static bool is_own(const struct gt_capture *capture, uint32_t correlation)
{
	const struct gt_record_own_call asked = {.correlation = correlation};

	return correlation != 0 && capture->raw_own_calls.count > 0 &&
	       bsearch(&asked, capture->raw_own_calls.rows, capture->raw_own_calls.count,
	               sizeof(asked), by_correlation) != NULL;
}

/* The column that a row is joined to its call by; NULL: the kind has none. */
static const struct gt_column *correlation_column(const struct gt_kind *kind)
{
	for (size_t i = 0; i < kind->binding_count; i++)
		if (kind->bindings[i].field->role == GT_ROLE_correlation)
			return kind->bindings[i].column;
	return NULL;
}

struct cut {
	uint8_t *rows;
	size_t row_size;
	size_t left; /* rows that stay, of those looked at so far */
};

/* Moves the rows of a segment that stay behind those before it. */
static void cut_segment(struct cut *cut, const struct gt_capture *capture,
                        struct gt_segment *segment, const struct gt_column *column)
{
	const size_t first = cut->left;

	for (size_t i = 0; i < segment->count; i++) {
		const uint8_t *row = cut->rows + (segment->first + i) * cut->row_size;
		uint32_t correlation = 0;

		if (column)
			memcpy(&correlation, row + column->offset, sizeof(correlation));
		if (!is_own(capture, correlation))
			memmove(cut->rows + cut->left++ * cut->row_size, row, cut->row_size);
	}
	segment->first = first;
	segment->count = cut->left - first;
}

/*
 * Captures were decoded one after the other: the segments of a table, of whatever kind, stand in
 * the order of its rows.
 */
static void cut_table(struct gt_collection *collection, size_t table)
{
	const struct gt_rows rows = gt_trace_rows(collection->trace, table);
	struct cut cut = {.rows = rows.rows, .row_size = rows.row_size};
	bool has_segments = false;

	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		gt_array_each(struct gt_segment, segment, &capture->segments) {
			const struct gt_kind *kind = gt_kind_find(collection->kinds, segment->kind);

			if (!kind || kind->table != table)
				continue;
			cut_segment(&cut, capture, segment, correlation_column(kind));
			has_segments = true;
		}
	}
	if (has_segments)
		*rows.count = cut.left;
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	size_t calls = 0;

	(void)err;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		const size_t count = capture->raw_own_calls.count;

		if (count > 0)
			qsort(capture->raw_own_calls.rows, count, sizeof(struct gt_record_own_call),
			      by_correlation);
		calls += count;
	}
	for (size_t table = 0; calls > 0 && table < GT_TABLE_COUNT; table++)
		cut_table(collection, table);
	return 0;
}

const struct gt_stage gt_stage_own = {.name = "own", .run = run};
