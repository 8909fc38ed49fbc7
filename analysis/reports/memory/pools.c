/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/memory/tables.h"

#include <math.h>
#include <stdbool.h>

#include "analysis/figures.h"
#include "analysis/memory/pools.h"
#include "base/array.h"
#include "model/kinds/memory.h"
#include "model/names.h"

static const struct gt_heading pool_headings[] = {
	{"pool", GT_UNIT_TEXT, "Name that its owner gave it", GT_WORTH_NAME},
	{"teller", GT_UNIT_TEXT, "Who told of it", GT_WORTH_LITTLE},
	{"device", GT_UNIT_TEXT, "GPU whose memory it hands out", GT_WORTH_LITTLE},
	{"in_use_bytes", GT_UNIT_BINARY_BYTES,
         "Handed out at the end of the recording, or of its window, as the pool rounds it",
         GT_WORTH_KEY},
	{"peak_in_use_bytes", GT_UNIT_BINARY_BYTES, "Most that was handed out at one time",
         GT_WORTH_KEY},
	{"reserved_bytes", GT_UNIT_BINARY_BYTES, "That it has from CUDA, at the end", GT_WORTH_KEY},
	{"peak_reserved_bytes", GT_UNIT_BINARY_BYTES, "Most that it had at one time"},
	{"cached_bytes", GT_UNIT_BINARY_BYTES, "Reserved and in use by nobody, at the end"},
	{"fragmentation_percent", GT_UNIT_PERCENT,
         "1 - largest free piece / all free pieces, when that was told last", GT_WORTH_KEY},
	{"largest_free_bytes", GT_UNIT_BINARY_BYTES, "Largest free piece, at the end",
         GT_WORTH_LITTLE},
	{"worst_percent", GT_UNIT_PERCENT, "Most fragmentation of all samples of its statistics"},
	{"worst_time_ns", GT_UNIT_TIME, "When that was, since the recording began", GT_WORTH_LEAST},
	{"requested_bytes", GT_UNIT_BINARY_BYTES, "Bytes in use, as they were requested",
         GT_WORTH_LITTLE},
	{"waste_percent", GT_UNIT_PERCENT, "Share of in_use_bytes that nobody requested: rounding"},
	{"allocations", GT_UNIT_COUNT, "Calls that handed out a block", GT_WORTH_LITTLE},
	{"reserve_calls", GT_UNIT_COUNT, "Times that it had to ask CUDA for more", GT_WORTH_LITTLE},
	{"hit_percent", GT_UNIT_PERCENT, "Share of allocations for which it did not have to"},
	{"splits", GT_UNIT_COUNT, "Pieces that it divided", GT_WORTH_LEAST},
	{"trims", GT_UNIT_COUNT, "Times that it gave memory back to CUDA", GT_WORTH_LEAST},
	{"failed", GT_UNIT_COUNT, "Calls that found no memory", GT_WORTH_LITTLE, true},
	{"segments", GT_UNIT_COUNT, "Pieces that it has from CUDA, at the end", GT_WORTH_LEAST},
	{"limit_bytes", GT_UNIT_BINARY_BYTES, "That it may have or hand out at most",
         GT_WORTH_LEAST},
	{"source", GT_UNIT_TEXT, "Source of the figures", GT_WORTH_LITTLE},
};

static const char *source_of(const struct gt_pool_figures *figures)
{
	if (figures->has_statistics)
		return figures->has_blocks ? "statistics, blocks" : "statistics";
	return figures->has_blocks ? "blocks" : "nothing but its name";
}

static void add_pool_row(const struct gt_memory_page *page, gt_id pool,
                         const struct gt_pool_figures *figures)
{
	const struct gt_pool *row = &page->trace->pools.rows[pool];
	struct gt_result *result = page->result;

	if (row->name)
		gt_add_string(result, page->trace, row->name);
	else
		gt_result_add_format(result, "%u", row->number);
	gt_result_add_text(result, gt_pool_teller_name(row->teller));
	gt_add_device(result, page->trace, row->device);
	gt_add_bytes(result, figures->in_use);
	gt_add_bytes(result, figures->peak_in_use);
	gt_add_bytes(result, figures->reserved);
	gt_add_bytes(result, figures->peak_reserved);
	gt_add_bytes(result, figures->cached);
	gt_result_add_real(result, figures->fragmentation_percent);
	gt_add_bytes(result, figures->largest_free);
	gt_result_add_real(result, figures->worst_fragmentation_percent);
	gt_result_add_count_if(result, !isnan(figures->worst_fragmentation_percent),
	                       figures->worst_ns - page->trace->start_ns);
	gt_add_bytes(result, figures->requested);
	gt_result_add_real(result,
	                   gt_percent(figures->in_use - figures->requested, figures->in_use));
	gt_add_bytes(result, figures->allocs);
	gt_add_bytes(result, figures->reserve_calls);
	gt_result_add_real(result,
	                   gt_percent(figures->allocs - figures->reserve_calls, figures->allocs));
	gt_add_bytes(result, figures->splits);
	gt_add_bytes(result, figures->trims);
	gt_add_bytes(result, figures->failed);
	gt_add_bytes(result, figures->segments);
	gt_add_bytes(result, figures->limit);
	gt_result_add_text(result, source_of(figures));
}

void gt_memory_add_pools(const struct gt_memory_page *page)
{
	struct gt_pool_figures *figures =
		gt_pool_figures(page->view, &page->totals, page->carriers);

	gt_result_begin(page->result, "pools", pool_headings, GT_COUNT_OF(pool_headings));
	gt_result_top(page->result, page->trace->pools.count, page->top);
	for (size_t i = 0; i < page->trace->pools.count && i < page->top; i++)
		add_pool_row(page, (gt_id)i, &figures[i]);
	gt_array_free(figures);
}
