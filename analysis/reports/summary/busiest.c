/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/summary/busiest.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/names.h"
#include "model/naming/functions.h"
#include "model/work/timed.h"

static const struct gt_heading top_kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name; instances that read alike are counted together",
         GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Executions that have a start and an end", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of end - start of its executions on the GPU", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of the total_ns of all kernels", GT_WORTH_KEY},
};

static const struct gt_heading top_api_headings[] = {
	{"function", GT_UNIT_TEXT, "Function of the CUDA runtime (cuda...) or driver (cu...) API",
         GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Calls that returned", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of return - entry on the host", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of the total_ns of all calls", GT_WORTH_KEY},
};

static const struct gt_heading copy_headings[] = {
	{"kind", GT_UNIT_TEXT, "Direction: H host, D device, A array, P another GPU", GT_WORTH_KEY},
	{"host_memory", GT_UNIT_TEXT,
         "Kind of the memory of the host that was read or written; not known where there is none",
         GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "Copies that have a start and an end", GT_WORTH_LITTLE},
	{"bytes", GT_UNIT_BYTES, "Sum of their sizes"},
	{"total_ns", GT_UNIT_NS, "Sum of end - start on the GPU"},
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "bytes / total_ns", GT_WORTH_KEY},
};

static const struct gt_heading top_range_headings[] = {
	{"ranges", GT_UNIT_COUNT, "How many of this path began", GT_WORTH_KEY},
	{"wall_ns", GT_UNIT_NS, "Sum of end - begin of those that ended", GT_WORTH_KEY},
	{"gpu_ns", GT_UNIT_NS, "Time in which something ran that was asked for inside",
         GT_WORTH_KEY},
	{"busy_percent", GT_UNIT_PERCENT,
         "Part of the wall time inside the window in which work of the range ran on any GPU"},
	{"range", GT_UNIT_TEXT, "Path of NVTX ranges", GT_WORTH_NAME},
};

enum {
	COPY_KIND_COUNT = GT_COPY_PEER_TO_PEER + 1,  /* 0: all kinds that are not known */
	MEMORY_COUNT = GT_MEMORY_MANAGED_STATIC + 1, /* 0: none, and those */
};

/* Amounts of one function, kind or class. */
struct total {
	const char *name;
	uint32_t host_memory; /* of copies */
	uint64_t calls;
	uint64_t bytes;
	uint64_t total_ns;
};

static int by_total(const void *a, const void *b)
{
	const struct total *left = a;
	const struct total *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->host_memory != right->host_memory)
		return left->host_memory > right->host_memory ? 1 : -1;
	return strcmp(left->name, right->name);
}

static struct total *new_totals(size_t count)
{
	struct total *totals = gt_allocate(count * sizeof(*totals));

	for (size_t i = 0; i < count; i++)
		totals[i] = (struct total){.name = ""};
	return totals;
}

static void count(struct total *total, gt_time start_ns, gt_time end_ns, gt_size bytes)
{
	total->calls++;
	total->total_ns += (uint64_t)(end_ns - start_ns);
	total->bytes += bytes;
}

/* The busiest rows of a list whose headings are name, calls, total_ns, share_percent. */
static void add_busiest(struct gt_result *result, struct total *totals, size_t size, uint64_t top)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < size; i++)
		sum_ns += totals[i].total_ns;
	qsort(totals, size, sizeof(*totals), by_total);
	for (size_t i = 0, rows = 0; i < size && rows < top; i++) {
		if (totals[i].calls == 0)
			continue;
		rows++;
		gt_result_add_text(result, totals[i].name);
		gt_result_add_count(result, (int64_t)totals[i].calls);
		gt_result_add_count(result, (int64_t)totals[i].total_ns);
		gt_result_add_real(result, gt_percent((double)totals[i].total_ns, (double)sum_ns));
	}
}

void gt_summary_add_top_kernels(const struct gt_trace *trace, struct gt_result *result,
                                uint64_t top)
{
	struct gt_functions functions;

	gt_functions_init(&functions, trace);

	struct total *totals = new_totals(functions.count);

	for (size_t i = 0; i < functions.count; i++)
		totals[i].name = functions.names[i];
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		if (gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			count(&totals[gt_function_of(&functions, kernel->shape)], kernel->start_ns,
			      kernel->end_ns, 0);
	gt_result_begin(result, "top_kernels", top_kernel_headings,
	                GT_COUNT_OF(top_kernel_headings));
	gt_result_order(result, "total_ns");
	add_busiest(result, totals, functions.count, top);
	free(totals);
	gt_functions_release(&functions);
}

void gt_summary_add_top_api_calls(const struct gt_trace *trace, struct gt_result *result,
                                  uint64_t top)
{
	const size_t size = gt_strings_count(trace->strings);
	struct total *totals = new_totals(size);

	totals[0].name = "unknown function";
	for (size_t i = 1; i < size; i++)
		totals[i].name = gt_trace_text(trace, (gt_string)i);
	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		if (gt_timed(GT_TIMES_FIGURES, call->flags, call->start_ns, call->end_ns))
			count(&totals[call->function < size ? call->function : 0], call->start_ns,
			      call->end_ns, 0);
	gt_result_begin(result, "top_api_calls", top_api_headings, GT_COUNT_OF(top_api_headings));
	gt_result_order(result, "total_ns");
	add_busiest(result, totals, size, top);
	free(totals);
}

static struct total *total_of_copy(struct total totals[COPY_KIND_COUNT][MEMORY_COUNT],
                                   const struct gt_copy *copy)
{
	const uint32_t memory = gt_copy_host_memory(copy);

	return &totals[copy->kind < COPY_KIND_COUNT ? copy->kind : 0]
	              [memory < MEMORY_COUNT ? memory : 0];
}

void gt_summary_add_copies(const struct gt_trace *trace, struct gt_result *result)
{
	struct total totals[COPY_KIND_COUNT][MEMORY_COUNT] = {0};

	for (uint32_t kind = 0; kind < COPY_KIND_COUNT; kind++)
		for (uint32_t memory = 0; memory < MEMORY_COUNT; memory++)
			totals[kind][memory] = (struct total){.name = gt_copy_kind_name(kind),
			                                      .host_memory = memory};
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		if (gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
			count(total_of_copy(totals, copy), copy->start_ns, copy->end_ns,
			      copy->size_bytes);
	qsort(totals, (size_t)COPY_KIND_COUNT * MEMORY_COUNT, sizeof(totals[0][0]), by_total);
	gt_result_begin(result, "copies", copy_headings, GT_COUNT_OF(copy_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < (size_t)COPY_KIND_COUNT * MEMORY_COUNT; i++) {
		const struct total *total = &totals[0][0] + i;

		if (total->calls == 0)
			continue;
		gt_result_add_text(result, total->name);
		gt_add_host_memory(result, total->host_memory);
		gt_result_add_count(result, (int64_t)total->calls);
		gt_result_add_count(result, (int64_t)total->bytes);
		gt_result_add_count(result, (int64_t)total->total_ns);
		gt_result_add_real(result, gt_bytes_per_second((double)total->bytes,
		                                               (double)total->total_ns));
	}
}

/* A path and what it is put in order by. */
struct range_place {
	gt_id path;
	uint64_t gpu_ns;
	int64_t wall_ns;
};

static int by_gpu_time(const void *a, const void *b)
{
	const struct range_place *left = a;
	const struct range_place *right = b;

	if (left->gpu_ns != right->gpu_ns)
		return left->gpu_ns < right->gpu_ns ? 1 : -1;
	if (left->wall_ns != right->wall_ns)
		return left->wall_ns < right->wall_ns ? 1 : -1;
	return (left->path > right->path) - (left->path < right->path);
}

static void add_top_range(const struct gt_range_totals *totals, struct gt_result *result,
                          gt_id path)
{
	const struct gt_range_figures *row = &totals->rows[path];
	char text[GT_RANGE_PATH_BYTES];

	gt_range_brief_text(&totals->ranges, path, text);
	gt_result_add_count(result, (int64_t)row->ranges);
	if (row->wall.spread.count > 0)
		gt_result_add_count(result, row->wall.spread.total);
	else
		gt_result_add_unknown(result);
	if (gt_trace_has_calls(totals->ranges.trace))
		gt_result_add_count(result, (int64_t)row->gpu_ns);
	else
		gt_result_add_unknown(result);
	gt_result_add_real(result, gt_percent((double)row->busy_ns, (double)row->shown_ns));
	gt_result_add_format(result, "%s", text);
}

void gt_summary_add_top_ranges(const struct gt_range_totals *totals, struct gt_result *result,
                               uint64_t top)
{
	struct range_place *places = gt_allocate(totals->count * sizeof(*places));
	size_t used = 0;

	for (gt_id i = 0; i < totals->count; i++)
		if (totals->rows[i].ranges > 0)
			places[used++] = (struct range_place){i, totals->rows[i].gpu_ns,
			                                      totals->rows[i].wall.spread.total};
	if (used > 1)
		qsort(places, used, sizeof(*places), by_gpu_time);
	gt_result_begin(result, "top_ranges", top_range_headings, GT_COUNT_OF(top_range_headings));
	for (size_t i = 0; i < used && i < top; i++)
		add_top_range(totals, result, places[i].path);
	if (used == 0)
		gt_result_detail(result);
	gt_array_free(places);
}
