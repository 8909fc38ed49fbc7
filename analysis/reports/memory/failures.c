/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/memory/tables.h"

#include <math.h>
#include <stdbool.h>

#include "analysis/figures.h"
#include "analysis/time/measured.h"
#include "base/array.h"
#include "model/names.h"
#include "model/ranges/owners.h"

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

/* used_bytes, left_bytes and sampled_ns: what was said at the call. */
static void add_said(const struct gt_memory_page *page, const struct gt_memory_failure *failure)
{
	const uint64_t left = page->trace->memory_calls.rows[failure->call].left_bytes;
	const uint64_t size = page->trace->devices.rows[failure->device].memory_bytes;

	gt_add_bytes(page->result, size ? (double)size - (double)left : NAN);
	gt_add_bytes(page->result, (double)left);
	gt_result_add_count(page->result, 0);
}

/* The same from the last sample before the call. */
static void add_nvml(const struct gt_memory_page *page, const struct gt_memory_failure *failure)
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

		gt_add_bytes(page->result, used);
		gt_add_bytes(page->result, size ? (double)size - used : NAN);
		gt_result_add_count(page->result, at_ns - values.times_ns[count - 1]);
	} else {
		gt_result_add_unknowns(page->result, 3);
	}
	gt_measured_release(&values);
}

static void add_failure(const struct gt_memory_page *page, const struct gt_memory_failure *failure)
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

void gt_memory_add_failures(const struct gt_memory_page *page)
{
	const size_t count = page->failures.rows.count;

	gt_result_begin(page->result, "failures", failure_headings, GT_COUNT_OF(failure_headings));
	gt_result_top(page->result, count, page->top);
	for (size_t i = 0; i < count && i < page->top; i++)
		add_failure(page, &page->failures.rows.rows[i]);
}
