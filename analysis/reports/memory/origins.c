/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/memory/tables.h"

#include "analysis/figures.h"
#include "base/array.h"

/* Memory by where it comes from. */
#define ORIGIN                                                                                     \
	{"bytes", GT_UNIT_BINARY_BYTES, "Sum of their sizes", GT_WORTH_KEY},                       \
		{"count", GT_UNIT_COUNT, "Allocations, or blocks of a pool", GT_WORTH_KEY},        \
		{"largest_bytes", GT_UNIT_BINARY_BYTES, "Largest of them", GT_WORTH_LITTLE},       \
		{"memory", GT_UNIT_TEXT, "Kind of allocation, or pool", GT_WORTH_KEY},             \
		{"range", GT_UNIT_TEXT, "Path, or name, of the NVTX range they were asked for in", \
	         GT_WORTH_NAME},                                                                   \
		{"call", GT_UNIT_TEXT, "API call that made them"},                                 \
		{"library", GT_UNIT_TEXT, "Shared object that asked for them",                     \
	         GT_WORTH_LESSER_NAME},                                                            \
	{                                                                                          \
		"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE                                     \
	}

static const struct gt_heading peak_headings[] = {
	{"share_percent", GT_UNIT_PERCENT, "bytes of all that was allocated on the GPU",
         GT_WORTH_KEY},
	ORIGIN,
	{"process", GT_UNIT_TEXT, "Whose they are", GT_WORTH_LESSER_NAME},
};

static const struct gt_heading leak_headings[] = {
	ORIGIN,
	{"first_time_ns", GT_UNIT_TIME, "When the first was made, since the recording began",
         GT_WORTH_LITTLE},
	{"last_time_ns", GT_UNIT_TIME, "When the last was made", GT_WORTH_LITTLE},
	{"holds", GT_UNIT_TEXT, "Pool that hands it out in pieces", GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Whose they are", GT_WORTH_LESSER_NAME},
};

static void add_range(const struct gt_memory_page *page, const struct gt_memory_origin *origin)
{
	if (origin->path != GT_NONE) {
		char path[GT_RANGE_PATH_BYTES];

		gt_range_path_text(&page->ranges, origin->path, path);
		gt_result_add_format(page->result, "%s", path);
	} else if (origin->name != GT_NONE) {
		char name[GT_RANGE_NAME_BYTES];

		gt_range_name_text(page->trace, page->ranges.names.rows[origin->name], name);
		gt_result_add_format(page->result, "%s", name);
	} else {
		gt_result_add_unknown(page->result);
	}
}

/* The cells of ORIGIN. */
static void add_origin(const struct gt_memory_page *page, const struct gt_memory_sum *group)
{
	const struct gt_memory_origin *origin = &group->origin;
	const gt_string name = origin->pool < page->trace->pools.count
	                               ? page->trace->pools.rows[origin->pool].name
	                               : 0;

	gt_result_add_count(page->result, (int64_t)group->bytes);
	gt_result_add_count_if(page->result, !origin->cached, (int64_t)group->count);
	gt_result_add_count_if(page->result, !origin->cached, (int64_t)group->largest);
	if (origin->cached)
		gt_result_add_format(page->result, "cached by pool %s",
		                     gt_trace_text(page->trace, name));
	else
		gt_memory_add_name(page->result, page->trace, origin->pool, origin->kind);
	add_range(page, origin);
	gt_add_string(page->result, page->trace, origin->function);
	gt_add_string(page->result, page->trace, origin->library);
	gt_add_device(page->result, page->trace, origin->device);
}

static void add_there(const struct gt_memory_page *page, gt_id device, gt_time at_ns)
{
	struct gt_memory_origins origins;
	uint64_t all = 0;

	gt_memory_origins_init(&origins, &page->ranges, page->carriers, page->by);
	gt_memory_origins_add_there(&origins, device, at_ns);
	gt_memory_origins_sort(&origins);
	gt_array_each(const struct gt_memory_sum, group, &origins.groups)
		all += group->bytes;
	for (size_t i = 0; i < origins.groups.count && i < page->top; i++) {
		gt_result_add_real(page->result,
		                   gt_percent((double)origins.groups.rows[i].bytes, (double)all));
		add_origin(page, &origins.groups.rows[i]);
		gt_add_process(page->result, page->trace, origins.groups.rows[i].origin.process);
	}
	gt_memory_origins_release(&origins);
}

void gt_memory_add_peaks(const struct gt_memory_page *page)
{
	gt_result_begin(page->result, "peak", peak_headings, GT_COUNT_OF(peak_headings));
	gt_result_whole(page->result);
	for (gt_id i = 0; i < page->totals.device_count; i++)
		if (page->totals.of_device[i].peak)
			add_there(page, i, page->totals.of_device[i].peak_ns);
}

void gt_memory_add_leaks(const struct gt_memory_page *page)
{
	struct gt_memory_origins origins;

	gt_memory_origins_init(&origins, &page->ranges, page->carriers, page->by);
	for (size_t i = 0; i < page->trace->allocations.count; i++)
		if (page->trace->allocations.rows[i].flags & GT_UNFINISHED)
			gt_memory_origins_add(&origins, (gt_id)i);
	for (size_t i = 0; i < page->trace->pool_blocks.count; i++)
		if (page->trace->pool_blocks.rows[i].flags & GT_UNFINISHED)
			gt_memory_origins_add_block(&origins, (gt_id)i);
	gt_memory_origins_sort(&origins);
	gt_result_begin(page->result, "leaks", leak_headings, GT_COUNT_OF(leak_headings));
	gt_result_order(page->result, "bytes");
	gt_result_top(page->result, origins.groups.count, page->top);
	for (size_t i = 0; i < origins.groups.count && i < page->top; i++) {
		const struct gt_memory_sum *group = &origins.groups.rows[i];

		add_origin(page, group);
		gt_add_moment(page->result, page->trace, group->first_ns);
		gt_add_moment(page->result, page->trace, group->last_ns);
		if (group->origin.carries != GT_NONE)
			gt_memory_add_name(page->result, page->trace, group->origin.carries, 0);
		else
			gt_result_add_unknown(page->result);
		gt_add_process(page->result, page->trace, group->origin.process);
	}
	gt_memory_origins_release(&origins);
}

void gt_memory_add_at_failures(const struct gt_memory_page *page)
{
	gt_result_begin(page->result, "at_failure", peak_headings, GT_COUNT_OF(peak_headings));
	gt_result_whole(page->result);
	for (gt_id device = 0; device < page->totals.device_count; device++)
		gt_array_each(const struct gt_memory_failure, failure, &page->failures.rows) {
			if (failure->device != device)
				continue;
			add_there(page, device,
			          page->trace->memory_calls.rows[failure->call].start_ns);
			break;
		}
}
