/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/memory/account.h"
#include "analysis/memory/failures.h"
#include "analysis/memory/growth.h"
#include "analysis/memory/managed.h"
#include "analysis/memory/origins.h"
#include "analysis/memory/pools.h"
#include "analysis/memory/totals.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/time/measured.h"
#include "base/array.h"
#include "base/sums.h"
#include "base/units.h"
#include "model/kinds/memory.h"
#include "model/memory/carriers.h"
#include "model/names.h"
#include "model/ranges/folds.h"
#include "model/ranges/owners.h"
#include "model/trace.h"
#include "model/view/view.h"

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

static const struct gt_heading account_headings[] = {
	{"moment", GT_UNIT_TEXT,
         "Most allocated by calls, most in use by NVML, both (peak), or the end of the recording",
         GT_WORTH_KEY},
	{"time_ns", GT_UNIT_TIME, "When it was so much, since the recording began", GT_WORTH_KEY},
	{"claim", GT_UNIT_TEXT, "Whose memory it is", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BINARY_BYTES, "How much", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT,
         "Share of the device total, or of all that is claimed where that is more or alone known",
         GT_WORTH_KEY},
	{"name", GT_UNIT_TEXT, "Name of the pool or the library", GT_WORTH_NAME},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE},
	{"source", GT_UNIT_TEXT, "Source of the figure", GT_WORTH_ORDINARY},
};

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

static const struct gt_heading failure_headings[] = {
	{"time_ns", GT_UNIT_TIME, "When the call was entered, since the recording began",
         GT_WORTH_KEY},
	{"size_bytes", GT_UNIT_BINARY_BYTES, "That it asked for", GT_WORTH_KEY},
	{"result", GT_UNIT_TEXT, "Its result", GT_WORTH_KEY},
	{"call", GT_UNIT_TEXT, "API call", GT_WORTH_ORDINARY},
	{"memory", GT_UNIT_TEXT, "Kind of memory", GT_WORTH_LITTLE},
	{"live_bytes", GT_UNIT_BINARY_BYTES, "Allocated on that GPU then, by CUDA's calls",
         GT_WORTH_KEY},
	{"used_bytes", GT_UNIT_BINARY_BYTES,
         "In use there by all processes, as the driver said when the call failed; else NVML before it"},
	{"left_bytes", GT_UNIT_BINARY_BYTES, "Memory of the GPU - used_bytes"},
	{"sampled_ns", GT_UNIT_NS,
         "How long before the call NVML said so; 0: the driver did, at the call", GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "Path of NVTX ranges it was made in", GT_WORTH_NAME},
	{"device", GT_UNIT_TEXT, "GPU it was to be on", GT_WORTH_LITTLE},
};

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

/* Everything that tables are made from. */
struct page {
	const struct gt_view *view;
	const struct gt_trace *trace;
	struct gt_result *result;
	enum gt_memory_by by;
	uint64_t top;
	struct gt_range_folds folds;
	struct gt_ranges ranges;
	struct gt_memory_totals totals;
	struct gt_memory_failures failures;
	gt_id *carriers;
};

static void add_bytes(struct gt_result *result, double bytes)
{
	gt_result_add_count_if(result, !isnan(bytes), isnan(bytes) ? 0 : llround(bytes));
}

/* A count per second of the window. */
static double rate(const struct page *page, double count)
{
	const double lasts_ns = (double)gt_view_lasts_ns(page->view);

	return lasts_ns > 0 ? count * 1e9 / lasts_ns : NAN;
}

static uint64_t failed_on(const struct page *page, gt_id device)
{
	uint64_t count = 0;

	gt_array_each(const struct gt_memory_failure, failure, &page->failures.rows)
		count += failure->device == device;
	return count;
}

static void add_device_row(const struct page *page, gt_id device)
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

/* GPUs on which memory was allocated, or was to be. */
static void add_devices(const struct page *page)
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

/* "device memory", or the name of a pool. */
static void add_memory(struct gt_result *result, const struct gt_trace *trace, gt_id pool,
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

static void add_kind_row(const struct page *page, size_t number)
{
	const struct gt_memory_holder *holder = &page->totals.use.holders.rows[number];
	const struct gt_memory_total *total = &page->totals.of_holder[number];
	struct gt_result *result = page->result;

	add_memory(result, page->trace, holder->pool, holder->kind);
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
	const struct page *page = context;
	const uint32_t left = *(const uint32_t *)a;
	const uint32_t right = *(const uint32_t *)b;
	const uint64_t left_peak = page->totals.of_holder[left].peak;
	const uint64_t right_peak = page->totals.of_holder[right].peak;

	if (left_peak != right_peak)
		return left_peak < right_peak ? 1 : -1;
	return (left > right) - (left < right);
}

static void add_kinds(struct page *page)
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

static const char *source_of(const struct gt_pool_figures *figures)
{
	if (figures->has_statistics)
		return figures->has_blocks ? "statistics, blocks" : "statistics";
	return figures->has_blocks ? "blocks" : "nothing but its name";
}

static void add_pool_row(const struct page *page, gt_id pool, const struct gt_pool_figures *figures)
{
	const struct gt_pool *row = &page->trace->pools.rows[pool];
	struct gt_result *result = page->result;

	if (row->name)
		gt_add_string(result, page->trace, row->name);
	else
		gt_result_add_format(result, "%u", row->number);
	gt_result_add_text(result, gt_pool_teller_name(row->teller));
	gt_add_device(result, page->trace, row->device);
	add_bytes(result, figures->in_use);
	add_bytes(result, figures->peak_in_use);
	add_bytes(result, figures->reserved);
	add_bytes(result, figures->peak_reserved);
	add_bytes(result, figures->cached);
	gt_result_add_real(result, figures->fragmentation_percent);
	add_bytes(result, figures->largest_free);
	gt_result_add_real(result, figures->worst_fragmentation_percent);
	gt_result_add_count_if(result, !isnan(figures->worst_fragmentation_percent),
	                       figures->worst_ns - page->trace->start_ns);
	add_bytes(result, figures->requested);
	gt_result_add_real(result,
	                   gt_percent(figures->in_use - figures->requested, figures->in_use));
	add_bytes(result, figures->allocs);
	add_bytes(result, figures->reserve_calls);
	gt_result_add_real(result,
	                   gt_percent(figures->allocs - figures->reserve_calls, figures->allocs));
	add_bytes(result, figures->splits);
	add_bytes(result, figures->trims);
	add_bytes(result, figures->failed);
	add_bytes(result, figures->segments);
	add_bytes(result, figures->limit);
	gt_result_add_text(result, source_of(figures));
}

static void add_pools(const struct page *page)
{
	struct gt_pool_figures *figures =
		gt_pool_figures(page->view, &page->totals, page->carriers);

	gt_result_begin(page->result, "pools", pool_headings, GT_COUNT_OF(pool_headings));
	gt_result_top(page->result, page->trace->pools.count, page->top);
	for (size_t i = 0; i < page->trace->pools.count && i < page->top; i++)
		add_pool_row(page, (gt_id)i, &figures[i]);
	gt_array_free(figures);
}

/* Why the total is not known, or what nobody claims. */
static void remark_account(const struct page *page, const char *moment, gt_id device,
                           const struct gt_account *account)
{
	const long long number = gt_device_number(&page->trace->devices.rows[device]);

	if (account->over_bytes > 0)
		gt_result_remark_on(
			page->result, "claim",
			"GPU %lld, %s: %s more are claimed than NVML says are in use; %s.", number,
			moment, gt_figure_binary((int64_t)account->over_bytes).text, account->why);
	if (account->sampled_ns == 0 && gt_account_last_ns(page->view, device))
		gt_result_remark_on(
			page->result, "claim",
			"GPU %lld, %s: NVML was not asked while so much was allocated, so that the total is not known (run --telemetry 10ms asks more often).",
			number, moment);
}

static void add_account_lines(const struct page *page, const char *moment, gt_id device,
                              gt_time at_ns)
{
	struct gt_account account;
	double total;

	gt_account_init(&account, page->view, page->carriers, device, at_ns);
	total = gt_account_sum(&account, GT_ACCOUNT_TOTAL);
	total = fmax(total,
	             gt_account_claimed(&account)); /* of two numbers the one that is known */
	gt_array_each(const struct gt_account_line, line, &account.lines) {
		gt_result_add_text(page->result, moment);
		gt_add_moment(page->result, page->trace, line->time_ns);
		gt_result_add_text(page->result, gt_account_item_name(line->item));
		add_bytes(page->result, line->bytes);
		gt_result_add_real(page->result, gt_percent(line->bytes, total));
		if (line->name)
			gt_result_add_text(page->result, line->name);
		else if (line->pool != GT_NONE)
			add_memory(page->result, page->trace, line->pool, 0);
		else
			gt_result_add_unknown(page->result);
		gt_add_device(page->result, page->trace, device);
		gt_result_add_text(page->result, line->source);
	}
	remark_account(page, moment, device, &account);
	gt_account_release(&account);
}

/*
 * When most was in use. NVML sees what no call tells, and misses what comes and goes between two
 * samples: its peak and that of the calls may be two moments.
 */
static void add_peak_accounts(const struct page *page, gt_id device)
{
	const gt_time sampled_ns = gt_account_peak_ns(page->view, device);
	const gt_time called_ns = page->totals.of_device[device].peak_ns;

	if (sampled_ns == 0) {
		add_account_lines(page, "peak by calls", device, called_ns);
	} else if (gt_account_is_same(page->view, device, sampled_ns, called_ns)) {
		add_account_lines(page, "peak", device, sampled_ns);
	} else {
		add_account_lines(page, "peak by calls", device, called_ns);
		add_account_lines(page, "peak by NVML", device, sampled_ns);
	}
}

static void add_account(const struct page *page)
{
	gt_result_begin(page->result, "account", account_headings, GT_COUNT_OF(account_headings));
	gt_result_whole(page->result);
	for (gt_id i = 0; i < page->totals.device_count; i++) {
		const gt_time last_ns = gt_account_last_ns(page->view, i);

		if (page->totals.of_device[i].peak == 0)
			continue;
		add_peak_accounts(page, i);
		add_account_lines(page, "end", i, last_ns ? last_ns : page->view->end_ns);
	}
}

static void add_range(const struct page *page, const struct gt_memory_origin *origin)
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
static void add_origin(const struct page *page, const struct gt_memory_sum *group)
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
		add_memory(page->result, page->trace, origin->pool, origin->kind);
	add_range(page, origin);
	gt_add_string(page->result, page->trace, origin->function);
	gt_add_string(page->result, page->trace, origin->library);
	gt_add_device(page->result, page->trace, origin->device);
}

static void add_there(const struct page *page, gt_id device, gt_time at_ns)
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

static void add_peaks(const struct page *page)
{
	gt_result_begin(page->result, "peak", peak_headings, GT_COUNT_OF(peak_headings));
	gt_result_whole(page->result);
	for (gt_id i = 0; i < page->totals.device_count; i++)
		if (page->totals.of_device[i].peak)
			add_there(page, i, page->totals.of_device[i].peak_ns);
}

/* All that the program never freed, whenever the window ends. */
static void add_leaks(const struct page *page)
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
			add_memory(page->result, page->trace, group->origin.carries, 0);
		else
			gt_result_add_unknown(page->result);
		gt_add_process(page->result, page->trace, group->origin.process);
	}
	gt_memory_origins_release(&origins);
}

/* used_bytes, left_bytes and sampled_ns: what was said at the call. */
static void add_said(const struct page *page, const struct gt_memory_failure *failure)
{
	const uint64_t left = page->trace->memory_calls.rows[failure->call].left_bytes;
	const uint64_t size = page->trace->devices.rows[failure->device].memory_bytes;

	add_bytes(page->result, size ? (double)size - (double)left : NAN);
	add_bytes(page->result, (double)left);
	gt_result_add_count(page->result, 0);
}

/* The same from the last sample before the call. */
static void add_nvml(const struct page *page, const struct gt_memory_failure *failure)
{
	const gt_time at_ns = page->trace->memory_calls.rows[failure->call].start_ns;
	const struct gt_counter *counter =
		failure->device < page->trace->devices.count
			? gt_counter_find(page->trace, failure->device, "memory_used_bytes")
			: NULL;
	struct gt_measured values = {0};
	size_t count = 0;

	if (counter)
		values = gt_measured_of(page->trace, counter);
	while (count < values.count && values.times_ns[count] <= at_ns)
		count++;
	if (count) {
		const uint64_t size = page->trace->devices.rows[failure->device].memory_bytes;
		const double used = values.values[count - 1];

		add_bytes(page->result, used);
		add_bytes(page->result, size ? (double)size - used : NAN);
		gt_result_add_count(page->result, at_ns - values.times_ns[count - 1]);
	} else {
		gt_result_add_unknowns(page->result, 3);
	}
	gt_measured_release(&values);
}

static void add_failure(const struct page *page, const struct gt_memory_failure *failure)
{
	const struct gt_memory_call *call = &page->trace->memory_calls.rows[failure->call];
	const struct gt_api_call *api_call = call->api_call < page->trace->api_calls.count
	                                             ? &page->trace->api_calls.rows[call->api_call]
	                                             : NULL;
	const bool on_device = failure->device < page->trace->devices.count;
	const char *result = gt_result_name(call->result, (call->flags & GT_DRIVER_API) != 0);

	gt_add_moment(page->result, page->trace, call->start_ns);
	gt_result_add_count_if(page->result, call->size_bytes > 0, (int64_t)call->size_bytes);
	if (result)
		gt_result_add_text(page->result, result);
	else
		gt_result_add_format(page->result, "error %d", call->result);
	gt_add_string(page->result, page->trace, api_call ? api_call->function : 0);
	gt_result_add_text(page->result, gt_memory_call_name(call->kind));
	gt_result_add_count_if(page->result, on_device, (int64_t)failure->live_bytes);
	if (on_device && call->left_bytes > 0)
		add_said(page, failure);
	else
		add_nvml(page, failure);
	gt_add_range(page->result, &page->ranges,
	             gt_owner_of_call(page->trace, call->api_call).range);
	gt_add_device(page->result, page->trace, failure->device);
}

static void add_failures(const struct page *page)
{
	const size_t count = page->failures.rows.count;

	gt_result_begin(page->result, "failures", failure_headings, GT_COUNT_OF(failure_headings));
	gt_result_top(page->result, count, page->top);
	for (size_t i = 0; i < count && i < page->top; i++)
		add_failure(page, &page->failures.rows.rows[i]);
}

/* Memory that was there when the first call on each device failed. */
static void add_at_failures(const struct page *page)
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

static void add_ranges(const struct page *page)
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
			add_memory(page->result, page->trace, growth->pool, 0);
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

static void add_executable(const struct page *page, const struct gt_executable *row)
{
	gt_add_string(page->result, page->trace, row->name);
	add_bytes(page->result, executable_total(row));
	add_size(page->result, row->argument_bytes);
	add_size(page->result, row->output_bytes);
	add_size(page->result, row->temporary_bytes);
	add_size(page->result, row->alias_bytes);
	add_size(page->result, row->code_bytes);
	gt_add_moment(page->result, page->trace, row->start_ns);
	gt_add_device(page->result, page->trace, row->device);
}

static void add_executables(const struct page *page)
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

static void remark_recorded(struct gt_result *result, const struct gt_trace *trace)
{
	if (trace->memory_calls.count == 0 && trace->allocations.count == 0)
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

static void add_remarks(const struct page *page)
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

static void page_init(struct page *page, const struct gt_view *view,
                      const struct gt_arguments *arguments, struct gt_result *result)
{
	*page = (struct page){
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

static void page_release(struct page *page)
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
	struct page page;

	(void)err;
	page_init(&page, view, arguments, result);
	add_devices(&page);
	add_kinds(&page);
	add_failures(&page);
	add_at_failures(&page);
	add_peaks(&page);
	add_leaks(&page);
	add_ranges(&page);
	add_pools(&page);
	gt_add_managed(result, view->trace);
	gt_add_moved(result, &page.ranges, page.top);
	gt_add_placed(result, view->trace);
	add_executables(&page);
	add_account(&page);
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
