/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/memory/tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/kinds/memory.h"
#include "model/names.h"

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"peak_bytes", GT_UNIT_BINARY_BYTES,
         "Most that was allocated on it at one time, by CUDA's calls", GT_WORTH_KEY},
	{"peak_time_ns", GT_UNIT_TIME, "When that was first reached, since the recording began",
         GT_WORTH_KEY},
	{"peak_percent", GT_UNIT_PERCENT, "peak_bytes of the memory that the GPU has"},
	{"now_bytes", GT_UNIT_BINARY_BYTES,
         "Allocated at the end of the recording, or of its window", GT_WORTH_KEY},
	{"allocations", GT_UNIT_COUNT, "Made in that time", GT_WORTH_KEY},
	{"allocated_bytes", GT_UNIT_BINARY_BYTES, "Sum of their sizes"},
	{"largest_bytes", GT_UNIT_BINARY_BYTES, "Largest of all that were there", GT_WORTH_LITTLE},
	{"frees", GT_UNIT_COUNT, "Allocations that ended in that time", GT_WORTH_LITTLE},
	{"calls_per_second", GT_UNIT_REAL, "allocations and frees / time", GT_WORTH_LITTLE},
	{"allocated_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "allocated_bytes / time",
         GT_WORTH_LITTLE},
	{"failed", GT_UNIT_COUNT, "Calls that were to allocate on it and failed", GT_WORTH_ORDINARY,
         true},
	{"kept", GT_UNIT_COUNT, "Allocations that the program never freed"},
	{"kept_bytes", GT_UNIT_BINARY_BYTES, "Sum of their sizes"},
};

static const struct gt_heading kind_headings[] = {
	{"memory", GT_UNIT_TEXT, "Kind of allocation, or name of a pool whose blocks they are",
         GT_WORTH_NAME},
	{"device", GT_UNIT_TEXT, "GPU; not known for memory of the host", GT_WORTH_LITTLE},
	{"counts", GT_UNIT_TEXT,
         "Where its bytes count: on the GPU, on the host, on either, or in other rows",
         GT_WORTH_ORDINARY},
	{"peak_bytes", GT_UNIT_BINARY_BYTES, "Most that was there at one time", GT_WORTH_KEY},
	{"peak_time_ns", GT_UNIT_TIME, "When that was first reached, since the recording began"},
	{"now_bytes", GT_UNIT_BINARY_BYTES, "There at the end of the recording, or of its window",
         GT_WORTH_KEY},
	{"now", GT_UNIT_COUNT, "In so many", GT_WORTH_LITTLE},
	{"allocations", GT_UNIT_COUNT, "Made in that time", GT_WORTH_KEY},
	{"allocated_bytes", GT_UNIT_BINARY_BYTES, "Sum of their sizes"},
	{"largest_bytes", GT_UNIT_BINARY_BYTES, "Largest of all that were there"},
	{"frees", GT_UNIT_COUNT, "That ended in that time", GT_WORTH_LITTLE},
	{"calls_per_second", GT_UNIT_REAL, "allocations and frees / time", GT_WORTH_LITTLE},
	{"allocated_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "allocated_bytes / time",
         GT_WORTH_LITTLE},
	{"kept", GT_UNIT_COUNT, "That the program never freed", GT_WORTH_LITTLE},
	{"kept_bytes", GT_UNIT_BINARY_BYTES, "Sum of their sizes", GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Whose they are", GT_WORTH_LESSER_NAME},
};

/* A count per second of the window. */
static double rate(const struct gt_memory_page *page, double count)
{
	const double lasts_ns = (double)gt_view_lasts_ns(page->view);

	return lasts_ns > 0 ? count * 1e9 / lasts_ns : NAN;
}

static uint64_t failed_on(const struct gt_memory_page *page, gt_id device)
{
	uint64_t count = 0;

	gt_array_each(const struct gt_memory_failure, failure, &page->failures.rows)
		count += failure->device == device;
	return count;
}

static void add_device_row(const struct gt_memory_page *page, gt_id device)
{
	const struct gt_memory_total *total = &page->totals.of_device[device];
	const uint64_t size_bytes = page->trace->devices.rows[device].memory_bytes;
	struct gt_result *result = page->result;

	gt_add_device(result, page->trace, device);
	gt_result_add_count(result, (int64_t)total->peak);
	if (total->peak)
		gt_add_moment(result, page->trace, total->peak_ns);
	else
		gt_result_add_unknown(result);
	gt_result_add_real(result, gt_percent((double)total->peak, (double)size_bytes));
	gt_result_add_count(result, (int64_t)total->now);
	gt_result_add_count(result, (int64_t)total->begun);
	gt_result_add_count(result, (int64_t)total->begun_bytes);
	gt_result_add_count(result, (int64_t)total->largest);
	gt_result_add_count(result, (int64_t)total->ended);
	gt_result_add_real(result, rate(page, (double)(total->begun + total->ended)));
	gt_result_add_real(result, rate(page, (double)total->begun_bytes));
	gt_result_add_count(result, (int64_t)failed_on(page, device));
	gt_result_add_count(result, (int64_t)total->kept_count);
	gt_result_add_count(result, (int64_t)total->kept);
}

void gt_memory_add_devices(const struct gt_memory_page *page)
{
	gt_result_begin(page->result, "devices", device_headings, GT_COUNT_OF(device_headings));
	gt_result_whole(page->result);
	for (size_t i = 0; i < page->totals.device_count; i++)
		if (page->totals.of_device[i].peak || failed_on(page, (gt_id)i))
			add_device_row(page, (gt_id)i);
}

static const char *where_text(const struct gt_memory_holder *holder)
{
	switch (gt_memory_holder_owner(holder)) {
	case GT_MEMORY_OF_DEVICE:
	case GT_MEMORY_OF_POOL:
	case GT_MEMORY_OF_GRAPH:
		return "GPU";
	case GT_MEMORY_OF_HOST:
		return "host";
	case GT_MEMORY_OF_MANAGER:
		return "either";
	case GT_MEMORY_OF_NOBODY:
		break;
	}
	return "other rows";
}

void gt_memory_add_name(struct gt_result *result, const struct gt_trace *trace, gt_id pool,
                        gt_count kind)
{
	if (pool >= trace->pools.count)
		gt_result_add_text(result, gt_memory_call_name(kind));
	else if (trace->pools.rows[pool].name)
		gt_result_add_format(result, "pool %s",
		                     gt_trace_text(trace, trace->pools.rows[pool].name));
	else
		gt_result_add_format(result, "pool %u", trace->pools.rows[pool].number);
}

static void add_kind_row(const struct gt_memory_page *page, size_t number)
{
	const struct gt_memory_holder *holder = &page->totals.use.holders.rows[number];
	const struct gt_memory_total *total = &page->totals.of_holder[number];
	struct gt_result *result = page->result;

	gt_memory_add_name(result, page->trace, holder->pool, holder->kind);
	gt_add_device(result, page->trace, holder->device);
	gt_result_add_text(result, where_text(holder));
	gt_result_add_count(result, (int64_t)total->peak);
	if (total->peak)
		gt_add_moment(result, page->trace, total->peak_ns);
	else
		gt_result_add_unknown(result);
	gt_result_add_count(result, (int64_t)total->now);
	gt_result_add_count(result, (int64_t)total->now_count);
	gt_result_add_count(result, (int64_t)total->begun);
	gt_result_add_count(result, (int64_t)total->begun_bytes);
	gt_result_add_count(result, (int64_t)total->largest);
	gt_result_add_count(result, (int64_t)total->ended);
	gt_result_add_real(result, rate(page, (double)(total->begun + total->ended)));
	gt_result_add_real(result, rate(page, (double)total->begun_bytes));
	gt_result_add_count(result, (int64_t)total->kept_count);
	gt_result_add_count(result, (int64_t)total->kept);
	gt_add_process(result, page->trace, holder->process);
}

static int by_peak(const void *a, const void *b, void *context)
{
	const struct gt_memory_page *page = context;
	const uint32_t left = *(const uint32_t *)a;
	const uint32_t right = *(const uint32_t *)b;
	const uint64_t left_peak = page->totals.of_holder[left].peak;
	const uint64_t right_peak = page->totals.of_holder[right].peak;

	if (left_peak != right_peak)
		return left_peak < right_peak ? 1 : -1;
	return (left > right) - (left < right);
}

void gt_memory_add_kinds(struct gt_memory_page *page)
{
	const size_t count = page->totals.use.holders.count;
	uint32_t *order = gt_allocate((count + 1) * sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), by_peak, page);
	gt_result_begin(page->result, "memory", kind_headings, GT_COUNT_OF(kind_headings));
	gt_result_order(page->result, "peak_bytes");
	for (size_t i = 0; i < count; i++)
		add_kind_row(page, order[i]);
	gt_array_free(order);
}
