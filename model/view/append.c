/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/append.h"

#include <assert.h>
#include <string.h>

#include "base/strings.h"

struct append {
	struct gt_trace *to;
	const struct gt_trace *from;
	gt_time later_ns;
	gt_string *strings;           /* by string of from: that of to */
	size_t first[GT_TABLE_COUNT]; /* the first row of each table that comes from from */
};

static void map_strings(struct append *append)
{
	const size_t count = gt_strings_count(append->from->strings);

	append->strings = gt_allocate((count + 1) * sizeof(*append->strings));
	for (size_t i = 0; i < count; i++)
		append->strings[i] = gt_strings_add(
			append->to->strings, gt_strings_get(append->from->strings, (uint32_t)i));
}

/* ---- columns of new rows ---- */

/* A time of 0 is not known. */
static void move_time(const struct append *append, uint8_t *at)
{
	gt_time time_ns;

	memcpy(&time_ns, at, sizeof(time_ns));
	if (time_ns == 0)
		return;
	time_ns += append->later_ns;
	memcpy(at, &time_ns, sizeof(time_ns));
}

static void map_string(const struct append *append, uint8_t *at)
{
	gt_string text;

	memcpy(&text, at, sizeof(text));
	memcpy(at, &append->strings[text], sizeof(text));
}

/* The column before one that names a row of any table says which. */
static void move_id(const struct append *append, uint8_t *at, int target)
{
	gt_count table = (gt_count)target;
	gt_id id;

	memcpy(&id, at, sizeof(id));
	if (target == GT_TABLE_ANY)
		memcpy(&table, at - sizeof(table), sizeof(table));
	if (id == GT_NONE || table >= GT_TABLE_COUNT)
		return;
	id += (gt_id)append->first[table];
	memcpy(at, &id, sizeof(id));
}

static void move_cell(const struct append *append, const struct gt_column *column, uint8_t *at)
{
	if (column->type == GT_COLUMN_time)
		move_time(append, at);
	else if (column->type == GT_COLUMN_string)
		map_string(append, at);
	else if (column->type == GT_COLUMN_id)
		move_id(append, at, column->target);
}

static void append_rows(const struct append *append, size_t index)
{
	const struct gt_table table = gt_trace_table(append->from, index);
	uint8_t *rows;

	if (table.row_count == 0)
		return;
	rows = gt_trace_extend(append->to, index, table.row_count);
	memcpy(rows, table.rows, table.row_count * table.row_size);
	for (size_t i = 0; i < table.row_count; i++)
		for (size_t c = 0; c < table.column_count; c++)
			move_cell(append, &table.columns[c],
			          rows + i * table.row_size + table.columns[c].offset);
}

/* ---- order ---- */

/* Merges both parts of a table, each of which is in order. */
static void order_rows(const struct append *append, size_t index)
{
	const struct gt_rows rows = gt_trace_rows(append->to, index);
	const size_t first = append->first[index];
	const size_t count = *rows.count;
	uint8_t *merged;
	gt_id *renamed;
	size_t left = 0;
	size_t right = first;

	if (first == 0 || first == count)
		return;
	merged = gt_allocate(count * rows.row_size);
	renamed = gt_allocate(count * sizeof(*renamed));
	for (gt_id i = 0; i < count; i++) {
		const bool take =
			left == first ||
			(right < count && gt_row_is_before(rows.rows + right * rows.row_size,
		                                           rows.rows + left * rows.row_size));
		const size_t row = take ? right++ : left++;

		renamed[row] = i;
		memcpy(merged + i * rows.row_size, rows.rows + row * rows.row_size, rows.row_size);
	}
	memcpy(rows.rows, merged, count * rows.row_size);
	gt_trace_rename(append->to, (int)index, &(struct gt_renamed){renamed, count});
	gt_array_free(renamed);
	gt_array_free(merged);
}

/* ---- series ---- */

static void append_series(const struct append *append)
{
	const size_t first = append->to->series.count;

	gt_array_each(const struct gt_series, from, &append->from->series) {
		const size_t number = gt_trace_add_series(append->to, from->column_count);
		struct gt_series *to = &append->to->series.rows[number];

		gt_series_reserve(to, from->count);
		for (size_t i = 0; i < from->count; i++)
			to->times_ns[i] = from->times_ns[i] + append->later_ns;
		for (size_t c = 0; from->count > 0 && c < from->column_count; c++)
			memcpy(to->columns[c], from->columns[c], from->count * sizeof(double));
		to->count = from->count;
	}
	for (size_t i = append->first[GT_TABLE_counters]; i < append->to->counters.count; i++)
		append->to->counters.rows[i].series += (gt_count)first;
}

void gt_trace_append(struct gt_trace *to, const struct gt_trace *from, gt_time later_ns)
{
	struct append append = {.to = to, .from = from, .later_ns = later_ns};

	assert(!to->whole && !from->whole && to->parts.count == 0 && from->parts.count == 0);
	map_strings(&append);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		append.first[i] = gt_trace_table(to, i).row_count;
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		append_rows(&append, i);
	append_series(&append);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		if (gt_trace_table(to, i).order == GT_ORDER_by_time)
			order_rows(&append, i);
	if (from->end_ns > from->start_ns) {
		const bool empty = to->end_ns <= to->start_ns;

		if (empty || from->start_ns + later_ns < to->start_ns)
			to->start_ns = from->start_ns + later_ns;
		if (empty || from->end_ns + later_ns > to->end_ns)
			to->end_ns = from->end_ns + later_ns;
	}
	gt_array_free(append.strings);
}
