/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/memory/tables.h"

#include <stdlib.h>

#include "analysis/figures.h"
#include "base/array.h"

static const struct gt_heading executable_headings[] = {
	{"executable", GT_UNIT_TEXT, "Module of HLO", GT_WORTH_NAME},
	{"total_bytes", GT_UNIT_BINARY_BYTES,
         "Arguments, results, temporary memory and code, without results that lie in arguments",
         GT_WORTH_KEY},
	{"argument_bytes", GT_UNIT_BINARY_BYTES, "Bytes of its arguments", GT_WORTH_KEY},
	{"output_bytes", GT_UNIT_BINARY_BYTES, "Bytes of its results", GT_WORTH_KEY},
	{"temporary_bytes", GT_UNIT_BINARY_BYTES, "That it needs while it runs", GT_WORTH_KEY},
	{"alias_bytes", GT_UNIT_BINARY_BYTES, "Bytes of results that lie in arguments",
         GT_WORTH_LITTLE},
	{"code_bytes", GT_UNIT_BINARY_BYTES, "Bytes of its code", GT_WORTH_LITTLE},
	{"time_ns", GT_UNIT_TIME, "When it was told of, since the recording began",
         GT_WORTH_LITTLE},
	{"device", GT_UNIT_TEXT, "GPU it runs on; not known: any", GT_WORTH_LITTLE},
};

/* All bits set: its compiler does not say. */
static void add_size(struct gt_result *result, gt_size bytes)
{
	gt_result_add_count_if(result, bytes != UINT64_MAX, (int64_t)bytes);
}

static double executable_total(const struct gt_executable *row)
{
	const gt_size sizes[] = {row->argument_bytes, row->output_bytes, row->temporary_bytes,
	                         row->code_bytes};
	double total = row->alias_bytes == UINT64_MAX ? 0 : -(double)row->alias_bytes;

	for (size_t i = 0; i < GT_COUNT_OF(sizes); i++)
		if (sizes[i] != UINT64_MAX)
			total += (double)sizes[i];
	return total;
}

static int by_total(const void *a, const void *b)
{
	const struct gt_executable *const *left = a;
	const struct gt_executable *const *right = b;
	const double left_total = executable_total(*left);
	const double right_total = executable_total(*right);

	if (left_total != right_total)
		return left_total < right_total ? 1 : -1;
	return (*left > *right) - (*left < *right);
}

static void add_executable(const struct gt_memory_page *page, const struct gt_executable *row)
{
	gt_add_string(page->result, page->trace, row->name);
	gt_add_bytes(page->result, executable_total(row));
	add_size(page->result, row->argument_bytes);
	add_size(page->result, row->output_bytes);
	add_size(page->result, row->temporary_bytes);
	add_size(page->result, row->alias_bytes);
	add_size(page->result, row->code_bytes);
	gt_add_moment(page->result, page->trace, row->start_ns);
	gt_add_device(page->result, page->trace, row->device);
}

void gt_memory_add_executables(const struct gt_memory_page *page)
{
	const size_t count = page->trace->executables.count;
	const struct gt_executable **order =
		gt_allocate((count + 1) * sizeof(struct gt_executable *));

	for (size_t i = 0; i < count; i++)
		order[i] = &page->trace->executables.rows[i];
	if (count > 1)
		qsort(order, count, sizeof(struct gt_executable *), by_total);
	gt_result_begin(page->result, "executables", executable_headings,
	                GT_COUNT_OF(executable_headings));
	gt_result_order(page->result, "total_bytes");
	gt_result_top(page->result, count, page->top);
	for (size_t i = 0; i < count && i < page->top; i++)
		add_executable(page, order[i]);
	gt_array_free(order);
}
