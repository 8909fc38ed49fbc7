/* SPDX-License-Identifier: Apache-2.0 */
#include "model/trace.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/strings.h"

_Static_assert(sizeof(struct gt_kernel) <= 64, "ten million kernels must fit in memory");

/* clang-format off */
#define TABLE(name, plural, help) static const struct gt_column name##_columns[] = {
#define COLUMN(table, type, name, help) \
	{#name, help, GT_COLUMN_##type, offsetof(struct gt_##table, name)},
#define END(name) };
#include "model/tables.def"
/* clang-format on */

void gt_trace_init(struct gt_trace *trace)
{
	*trace = (struct gt_trace){.strings = gt_strings_new()};
}

void gt_trace_release(struct gt_trace *trace)
{
#define TABLE(name, plural, help) gt_array_release(&trace->plural);
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
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
			sum += row->value;
			found = true;
		}
	}
	if (!found)
		return -ENODATA;
	*value = sum;
	return 0;
}

gt_id gt_trace_stream_process(const struct gt_trace *trace, gt_id stream)
{
	if (stream >= trace->streams.count)
		return GT_NONE;

	const gt_id context = trace->streams.rows[stream].context;

	return context < trace->contexts.count ? trace->contexts.rows[context].process : GT_NONE;
}

struct gt_table gt_trace_table(const struct gt_trace *trace, size_t index)
{
	const struct gt_table tables[] = {
#define TABLE(name, plural, help)                                                                  \
	{#plural,                                                                                  \
	 help,                                                                                     \
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
