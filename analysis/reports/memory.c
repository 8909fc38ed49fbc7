/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/memory/failures.h"
#include "analysis/memory/growth.h"
#include "analysis/memory/managed.h"
#include "analysis/memory/origins.h"
#include "analysis/memory/totals.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/memory/tables.h"
#include "analysis/result.h"
#include "analysis/time/measured.h"
#include "base/array.h"
#include "base/sums.h"
#include "base/units.h"
#include "model/kinds/memory.h"
#include "model/memory/carriers.h"
#include "model/ranges/folds.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading range_headings[] = {
	{"range", GT_UNIT_TEXT, "Path of NVTX ranges", GT_WORTH_NAME},
	{"memory", GT_UNIT_TEXT,
         "all that the process has on the GPU, by CUDA's calls, or the blocks of a pool",
         GT_WORTH_ORDINARY},
	{"ranges", GT_UNIT_COUNT, "How many of this path there were", GT_WORTH_ORDINARY},
	{"kept_bytes", GT_UNIT_BINARY_BYTES,
         "Asked for inside, and still there at the end of the range, of those that ended",
         GT_WORTH_KEY},
	{"kept", GT_UNIT_COUNT, "In so many", GT_WORTH_LITTLE},
	{"peak_bytes", GT_UNIT_BINARY_BYTES, "Most that was in use while one was open",
         GT_WORTH_KEY},
	{"rise_bytes", GT_UNIT_BINARY_BYTES,
         "Most that this was above what was in use when it began", GT_WORTH_KEY},
	{"asked", GT_UNIT_COUNT, "Allocations, or blocks, that were asked for inside",
         GT_WORTH_LITTLE},
	{"asked_bytes", GT_UNIT_BINARY_BYTES, "Sum of their sizes", GT_WORTH_ORDINARY},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Whose ranges and memory they are", GT_WORTH_LESSER_NAME},
};

static const struct gt_parameter parameters[] = {
	{"by", GT_PARAMETER_CHOICE, "origin",
         "Property by which memory is counted together in peak, leaks and at_failure: origin, which is the "
         "range, the library and the call, or one of these; name: that of the innermost range",
         gt_memory_by_words},
	{"top", GT_PARAMETER_ROWS, "10", "Rows of every table but devices, memory and account"},
	{"fold", GT_PARAMETER_CHOICE, "auto",
         "Whether names of ranges that differ in numbers alone are one, with # for the numbers",
         gt_fold_words},
	{0},
};

enum { BY, TOP, FOLD }; /* arguments, as above */

static void add_ranges(const struct gt_memory_page *page)
{
	struct gt_memory_growths growths;

	gt_memory_growths_init(&growths, page->view, &page->ranges);
	gt_result_begin(page->result, "ranges", range_headings, GT_COUNT_OF(range_headings));
	gt_result_order(page->result, "kept_bytes");
	gt_result_top(page->result, growths.rows.count, page->top);
	for (size_t i = 0; i < growths.rows.count && i < page->top; i++) {
		const struct gt_memory_growth *growth = &growths.rows.rows[i];
		char text[GT_RANGE_PATH_BYTES];

		gt_range_path_text(&page->ranges, growth->path, text);
		gt_result_add_format(page->result, "%s", text);
		if (growth->pool == GT_NONE)
			gt_result_add_text(page->result, "all on the GPU");
		else
			gt_memory_add_name(page->result, page->trace, growth->pool, 0);
		gt_result_add_count(page->result, (int64_t)growth->ranges);
		gt_result_add_count(page->result, (int64_t)growth->kept_bytes);
		gt_result_add_count(page->result, (int64_t)growth->kept);
		gt_result_add_count(page->result, (int64_t)growth->peak_bytes);
		gt_result_add_count(page->result, (int64_t)growth->rise_bytes);
		gt_result_add_count(page->result, (int64_t)growth->asked);
		gt_result_add_count(page->result, (int64_t)growth->asked_bytes);
		gt_add_device(page->result, page->trace, growth->device);
		gt_add_process(page->result, page->trace, growth->process);
	}
	gt_memory_growths_release(&growths);
}

static bool has_sampled(const struct gt_trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->devices.count; i++)
		if (gt_counter_find(trace, (gt_id)i, name))
			return true;
	return false;
}

static bool has_kept(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_allocation, allocation, &trace->allocations)
		if (allocation->flags & GT_UNFINISHED)
			return true;
	return false;
}

static bool has_ended(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_process, process, &trace->processes)
		if (process->ended != GT_END_CLEAN)
			return false;
	return true;
}

static bool is_imported(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_process, process, &trace->processes)
		if (process->ended == GT_END_IMPORTED)
			return true;
	return false;
}

static void remark_recorded(struct gt_result *result, const struct gt_trace *trace)
{
	if (trace->memory_calls.count == 0 && trace->allocations.count == 0 && is_imported(trace))
		gt_result_remark_empty(result, "The file that was imported does not say which "
		                               "memory was allocated or freed.");
	else if (trace->memory_calls.count == 0 && trace->allocations.count == 0)
		gt_result_remark_empty(
			result,
			"No calls that allocate or free memory were recorded: the program made none, "
			"recording them was off (GPUTRACE_MEMORY=0), or an older gputrace recorded.");
	if (trace->pools.count == 0)
		gt_result_remark(
			result,
			"No allocator told of its pools: memory that a framework caches is its allocations here (run --allocators, or include/gputrace/gputrace.h, tells more).");
	if (!has_sampled(trace, "memory_used_bytes"))
		gt_result_remark_on(result, "claim used_bytes",
		                    "The device total was not measured: no telemetry was "
		                    "recorded (run --telemetry), so nothing says what is "
		                    "unclaimed.");
}

static void remark_managed(struct gt_result *result, const struct gt_trace *trace)
{
	bool has_managed = false;

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations)
		has_managed |= allocation->kind == GT_MEMORY_CALL_ALLOCATE_MANAGED;
	if (has_managed && trace->unified_events.count == 0)
		gt_result_remark(result, "Where managed memory was, and when it moved, was not "
		                         "recorded (run --unified-memory does).");
}

/* How much memory is in a range by a guess. */
static void remark_by_time(struct gt_result *result, const struct gt_trace *trace)
{
	uint64_t bytes = 0;
	uint64_t count = 0;

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		if (allocation->flags & GT_BY_TIME) {
			gt_sum_add(&bytes, allocation->size_bytes);
			count++;
		}
	}
	gt_array_each(const struct gt_pool_block, block, &trace->pool_blocks) {
		if (block->flags & GT_BY_TIME) {
			gt_sum_add(&bytes, block->size_bytes);
			count++;
		}
	}
	if (count > 0)
		gt_result_remark(
			result,
			"%s of %s allocations and blocks belong to a range by time alone: "
			"another thread asked for them; --set threads=own leaves them out.",
			gt_figure_bytes((int64_t)bytes).text, gt_grouped(count).text);
}

static void add_remarks(const struct gt_memory_page *page)
{
	remark_recorded(page->result, page->trace);
	remark_managed(page->result, page->trace);
	remark_by_time(page->result, page->trace);
	if (has_kept(page->trace))
		gt_result_remark(
			page->result,
			"Leaks are what the program never freed%s. A process that exits gives all "
			"of it back, so that this is what would be missing had it gone on.",
			has_ended(page->trace) ? ""
					       : "; not all processes had ended cleanly, and may "
						 "have been about to");
}

static void page_init(struct gt_memory_page *page, const struct gt_view *view,
                      const struct gt_arguments *arguments, struct gt_result *result)
{
	*page = (struct gt_memory_page){
		.view = view,
		.trace = view->trace,
		.result = result,
		.by = gt_memory_by(arguments->values[BY].text),
		.top = arguments->values[TOP].number,
	};
	gt_range_folds_init(&page->folds, view->trace, gt_fold_of(arguments->values[FOLD].text));
	gt_ranges_init_folded(&page->ranges, view->trace, &page->folds);
	gt_memory_totals_init(&page->totals, view);
	gt_memory_failures_init(&page->failures, view);
	page->carriers = gt_memory_carriers(view);
}

static void page_release(struct gt_memory_page *page)
{
	gt_array_free(page->carriers);
	gt_memory_failures_release(&page->failures);
	gt_memory_totals_release(&page->totals);
	gt_ranges_release(&page->ranges);
	gt_range_folds_release(&page->folds);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_memory_page page;

	(void)err;
	page_init(&page, view, arguments, result);
	gt_memory_add_devices(&page);
	gt_memory_add_failures(&page);
	gt_memory_add_at_failures(&page);
	gt_memory_add_peaks(&page);
	gt_memory_add_account(&page);
	gt_memory_add_leaks(&page);
	gt_memory_add_kinds(&page);
	add_ranges(&page);
	gt_memory_add_pools(&page);
	gt_add_managed(result, view->trace);
	gt_add_moved(result, &page.ranges, page.top);
	gt_add_placed(result, view->trace);
	gt_memory_add_executables(&page);
	add_remarks(&page);
	page_release(&page);
	return 0;
}

const struct gt_report gt_report_memory = {
	.name = "memory",
	.summary =
		"Memory in use: its peak and who holds it, leaks, failed calls, pools, whose all is",
	.parameters = parameters,
	.run = run,
};
