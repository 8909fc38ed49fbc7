/* SPDX-License-Identifier: Apache-2.0 */
#include "model/trace.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/strings.h"
#include "base/sums.h"
#include "model/whole.h"

_Static_assert(sizeof(struct gt_kernel) <= 64, "ten million kernels must fit in memory");

/* clang-format off */
#define TABLE(name, plural, order, kept, help) static const struct gt_column name##_columns[] = {
#define COLUMN(table, type, name, help) \
	{#name, help, GT_COLUMN_##type, offsetof(struct gt_##table, name), GT_TABLE_NONE},
#define REF(table, target, name, help) \
	{#name, help, GT_COLUMN_id, offsetof(struct gt_##table, name), GT_TABLE_##target},
#define ANY(table, name, help) \
	{#name "_table", help ": its table, GT_TABLE_...", GT_COLUMN_count, \
	 offsetof(struct gt_##table, name##_table), GT_TABLE_NONE}, \
	{#name "_row", help ": its row", GT_COLUMN_id, \
	 offsetof(struct gt_##table, name##_row), GT_TABLE_ANY},
#define END(name) };
#include "model/tables.def"
/* clang-format on */

/* Rows sorted by time begin with their times. */
#define GT_STARTS_as_added(name) 1
#define GT_STARTS_by_time(name)                                                                    \
	(offsetof(struct gt_##name, start_ns) == 0 &&                                              \
	 offsetof(struct gt_##name, end_ns) == sizeof(gt_time))
#define TABLE(name, plural, order, kept, help)                                                     \
	_Static_assert(GT_STARTS_##order(name), #plural " begin with start_ns and end_ns");        \
	_Static_assert(sizeof(struct gt_##name) <= GT_ROW_MAX, #plural " fit aside");
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"

void gt_trace_init(struct gt_trace *trace)
{
	*trace = (struct gt_trace){.strings = gt_strings_new()};
}

size_t gt_trace_add_series(struct gt_trace *trace, size_t column_count)
{
	const size_t size = column_count * sizeof(double *);
	struct gt_series *series = gt_array_push(&trace->series);

	*series = (struct gt_series){.columns = gt_allocate(size), .column_count = column_count};
	memset(series->columns, 0, size);
	return trace->series.count - 1;
}

void gt_series_reserve(struct gt_series *series, size_t count)
{
	while (series->capacity < series->count + count) {
		const size_t grown = series->capacity ? 2 * series->capacity : 64;

		series->times_ns = gt_array_resize(series->times_ns, grown, sizeof(gt_time));
		for (size_t i = 0; i < series->column_count; i++)
			series->columns[i] =
				gt_array_resize(series->columns[i], grown, sizeof(double));
		series->capacity = grown;
	}
}

void gt_series_release(struct gt_series *series)
{
	for (size_t i = 0; i < series->column_count; i++)
		gt_array_free(series->columns[i]);
	gt_array_free(series->columns);
	gt_array_free(series->times_ns);
	*series = (struct gt_series){0};
}

void gt_trace_release(struct gt_trace *trace)
{
#define TABLE(name, plural, order, kept, help) gt_array_release(&trace->plural);
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	gt_array_each(struct gt_series, series, &trace->series)
		if (trace->whole)
			gt_array_free(series->columns);
		else
			gt_series_release(series);
	gt_array_release(&trace->series);
	gt_array_release(&trace->parts);
	gt_whole_free(trace->whole);
	trace->whole = NULL;
	gt_strings_free(trace->strings);
	trace->strings = NULL;
}

const char *gt_trace_text(const struct gt_trace *trace, gt_string text)
{
	return gt_strings_get(trace->strings, text);
}

int gt_trace_ledger(const struct gt_trace *trace, const char *name, uint64_t *value)
{
	uint64_t sum = 0;
	bool found = false;

	gt_array_each(const struct gt_ledger, row, &trace->ledgers) {
		if (strcmp(gt_trace_text(trace, row->name), name) == 0) {
			gt_count_add(&sum, row->value);
			found = true;
		}
	}
	if (!found)
		return -ENODATA;
	*value = sum;
	return 0;
}

void gt_trace_add_ledger(struct gt_trace *trace, gt_id process, const char *name, uint64_t value)
{
	*gt_array_push(&trace->ledgers) = (struct gt_ledger){
		.process = process, .name = gt_strings_add(trace->strings, name), .value = value};
}

bool gt_trace_has_calls(const struct gt_trace *trace)
{
	return gt_whole_of(trace)->api_calls.count > 0;
}

bool gt_trace_has_work(const struct gt_trace *trace)
{
	const struct gt_trace *whole = gt_whole_of(trace);

	return whole->kernels.count + whole->copies.count + whole->fills.count +
	               whole->graph_traces.count >
	       0;
}

uint64_t gt_trace_clock_bound(const struct gt_trace *trace)
{
	uint64_t bound_ns = 0;

	gt_array_each(const struct gt_clock, clock, &trace->clocks)
		if (clock->bound_ns > bound_ns)
			bound_ns = clock->bound_ns;
	return bound_ns;
}

int64_t gt_device_number(const struct gt_device *device)
{
	return device->index >= 0 ? (int64_t)device->index : (int64_t)device->ordinal;
}

gt_id gt_trace_thread_process(const struct gt_trace *trace, gt_id thread)
{
	return thread < trace->threads.count ? trace->threads.rows[thread].process : GT_NONE;
}

gt_id gt_trace_stream_process(const struct gt_trace *trace, gt_id stream)
{
	if (stream >= trace->streams.count)
		return GT_NONE;

	const gt_id context = trace->streams.rows[stream].context;

	return context < trace->contexts.count ? trace->contexts.rows[context].process : GT_NONE;
}

/* The process that a row of one of the tables that belong to a process names; or GT_NONE. */
static gt_id process_by(const struct gt_trace *trace, int target, gt_id id)
{
	switch (target) {
	case GT_TABLE_processes:
		return id < trace->processes.count ? id : GT_NONE;
	case GT_TABLE_threads:
		return id < trace->threads.count ? trace->threads.rows[id].process : GT_NONE;
	case GT_TABLE_contexts:
		return id < trace->contexts.count ? trace->contexts.rows[id].process : GT_NONE;
	case GT_TABLE_streams:
		return gt_trace_stream_process(trace, id);
	default:
		return GT_NONE;
	}
}

/* A column that names rows of another table. */
struct reference {
	size_t offset;
	int target; /* GT_TABLE_NONE: the end of the list */
};

/* clang-format off */
#define TABLE(name, plural, order, kept, help) static const struct reference name##_references[] = {
#define COLUMN(table, type, name, help)
#define REF(table, target, name, help) {offsetof(struct gt_##table, name), GT_TABLE_##target},
#define END(name) {0, GT_TABLE_NONE}};
#include "model/tables.def"
/* clang-format on */

gt_id gt_trace_process_of(const struct gt_trace *trace, size_t table, const void *row)
{
	static const struct reference *const references[] = {
#define TABLE(name, plural, order, kept, help) name##_references,
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	};
	gt_id process = GT_NONE;

	assert(table < GT_TABLE_COUNT);
	for (const struct reference *reference = references[table];
	     process == GT_NONE && reference->target != GT_TABLE_NONE; reference++) {
		gt_id id;

		memcpy(&id, (const uint8_t *)row + reference->offset, sizeof(id));
		process = process_by(trace, reference->target, id);
	}
	return process;
}

struct gt_table gt_trace_table(const struct gt_trace *trace, size_t index)
{
	const struct gt_table tables[] = {
#define TABLE(name, plural, order, kept, help)                                                     \
	{#plural,                                                                                  \
	 help,                                                                                     \
	 GT_ORDER_##order,                                                                         \
	 GT_KEPT_##kept,                                                                           \
	 name##_columns,                                                                           \
	 sizeof(name##_columns) / sizeof(name##_columns[0]),                                       \
	 sizeof(struct gt_##name),                                                                 \
	 trace->plural.rows,                                                                       \
	 trace->plural.count},
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	};

	assert(index < GT_TABLE_COUNT);
	return tables[index];
}

struct gt_rows gt_trace_rows(struct gt_trace *trace, size_t index)
{
	const struct gt_rows tables[] = {
#define TABLE(name, plural, order, kept, help)                                                     \
	{(uint8_t *)trace->plural.rows, &trace->plural.count, sizeof(struct gt_##name)},
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	};

	assert(index < GT_TABLE_COUNT);
	return tables[index];
}

uint8_t *gt_trace_extend(struct gt_trace *trace, size_t index, size_t count)
{
	struct {
		void *pointer; /* to the pointer to the rows */
		size_t *count;
		size_t *capacity;
		size_t row_size;
	} const tables[] = {
#define TABLE(name, plural, order, kept, help)                                                     \
	{&trace->plural.rows, &trace->plural.count, &trace->plural.capacity,                       \
	 sizeof(struct gt_##name)},
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	};

	assert(index < GT_TABLE_COUNT);

	const size_t first = *tables[index].count;
	const size_t size = tables[index].row_size;
	uint8_t *rows;

	memcpy(&rows, tables[index].pointer, sizeof(rows));
	if (first + count > *tables[index].capacity) {
		const size_t doubled = 2 * *tables[index].capacity;

		*tables[index].capacity = doubled > first + count ? doubled : first + count;
		rows = gt_array_resize(rows, *tables[index].capacity, size);
		memcpy(tables[index].pointer, &rows, sizeof(rows));
	}
	*tables[index].count += count;
	return rows + first * size;
}

/* The column before one that names a row of any table says which. */
static bool names_table(const uint8_t *id, const struct gt_column *column, int target)
{
	gt_count table;

	if (column->target != GT_TABLE_ANY)
		return true;
	memcpy(&table, id - sizeof(table), sizeof(table));
	return table == (gt_count)target;
}

static void rename_column(const struct gt_rows *rows, const struct gt_column *column, int target,
                          const struct gt_renamed *renamed)
{
	uint8_t *at = rows->rows + column->offset;

	for (size_t i = 0; i < *rows->count; i++, at += rows->row_size) {
		gt_id id;

		memcpy(&id, at, sizeof(id));
		if (id < renamed->count && names_table(at, column, target))
			memcpy(at, &renamed->rows[id], sizeof(id));
	}
}

void gt_trace_rename(struct gt_trace *trace, int target, const struct gt_renamed *renamed)
{
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table table = gt_trace_table(trace, i);
		const struct gt_rows rows = gt_trace_rows(trace, i);

		for (size_t c = 0; *rows.count && c < table.column_count; c++)
			if (table.columns[c].target == target ||
			    table.columns[c].target == GT_TABLE_ANY)
				rename_column(&rows, &table.columns[c], target, renamed);
	}
}
