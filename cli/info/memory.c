/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/info/tables.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/strings.h"
#include "model/names.h"

static const struct gt_heading memory_headings[] = {
	{"kind", GT_UNIT_TEXT, "Memory, or what stands for some", GT_WORTH_KEY},
	{"made", GT_UNIT_COUNT, "How many"},
	{"bytes", GT_UNIT_BYTES, "All of them together"},
	{"kept", GT_UNIT_COUNT, "Those that were there at the end"},
	{"kept_bytes", GT_UNIT_BYTES, "All of those together"},
	{"failed", GT_UNIT_COUNT, "Calls that failed"},
};

static const struct gt_heading library_headings[] = {
	{"library", GT_UNIT_TEXT, "Shared object that asked for memory", GT_WORTH_KEY},
	{"made", GT_UNIT_COUNT, "How often"},
	{"bytes", GT_UNIT_BYTES, "All of it together"},
};

static const struct gt_heading unified_headings[] = {
	{"kind", GT_UNIT_TEXT, "Kind of event of managed memory", GT_WORTH_KEY},
	{"events", GT_UNIT_COUNT, "How often"},
	{"value", GT_UNIT_COUNT, "Bytes, of faults how many"},
};

/* Memory of one kind that programs made. */
struct sum_of_kind {
	int64_t made;
	int64_t bytes;
	int64_t kept;
	int64_t kept_bytes;
	int64_t failed;
};

enum { KINDS = 64 }; /* of memory; those above make nothing */

void gt_info_add_memory(struct gt_result *result, const struct gt_trace *trace)
{
	struct sum_of_kind sums[KINDS] = {{0}};

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		struct sum_of_kind *sum = &sums[allocation->kind % KINDS];
		const bool kept = allocation->flags & GT_UNFINISHED;

		sum->made++;
		sum->bytes += (int64_t)allocation->size_bytes;
		sum->kept += kept;
		sum->kept_bytes += kept ? (int64_t)allocation->size_bytes : 0;
	}
	gt_array_each(const struct gt_memory_call, call, &trace->memory_calls)
		if (call->kind < KINDS)
			sums[call->kind].failed += call->result != 0;
	gt_result_begin(result, "memory", memory_headings, GT_COUNT_OF(memory_headings));
	gt_result_detail(result);
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		if (!sums[kind].made && !sums[kind].failed)
			continue;
		gt_result_add_text(result, gt_memory_call_name(kind));
		gt_result_add_count(result, sums[kind].made);
		gt_result_add_count(result, sums[kind].bytes);
		gt_result_add_count(result, sums[kind].kept);
		gt_result_add_count(result, sums[kind].kept_bytes);
		gt_result_add_count(result, sums[kind].failed);
	}
}

void gt_info_add_libraries(struct gt_result *result, const struct gt_trace *trace)
{
	const size_t count = gt_strings_count(trace->strings);
	struct sum_of_kind *sums = gt_allocate_zeroed(count, sizeof(*sums));

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		if (allocation->library >= count)
			continue;
		sums[allocation->library].made++;
		sums[allocation->library].bytes += (int64_t)allocation->size_bytes;
	}
	gt_result_begin(result, "libraries", library_headings, GT_COUNT_OF(library_headings));
	gt_result_detail(result);
	for (size_t i = 1; i < count; i++) {
		if (!sums[i].made)
			continue;
		gt_result_add_text(result, gt_trace_text(trace, (gt_string)i));
		gt_result_add_count(result, sums[i].made);
		gt_result_add_count(result, sums[i].bytes);
	}
	free(sums);
}

enum { UNIFIED_KINDS = 16 };

void gt_info_add_unified(struct gt_result *result, const struct gt_trace *trace)
{
	int64_t events[UNIFIED_KINDS] = {0};
	int64_t values[UNIFIED_KINDS] = {0};

	gt_array_each(const struct gt_unified_event, event, &trace->unified_events) {
		events[event->kind % UNIFIED_KINDS]++;
		values[event->kind % UNIFIED_KINDS] += (int64_t)event->value;
	}
	gt_result_begin(result, "unified", unified_headings, GT_COUNT_OF(unified_headings));
	gt_result_detail(result);
	for (uint32_t kind = 0; kind < UNIFIED_KINDS; kind++) {
		if (!events[kind])
			continue;
		gt_result_add_text(result, gt_unified_kind_name(kind));
		gt_result_add_count(result, events[kind]);
		gt_result_add_count(result, values[kind]);
	}
}
