/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/managed.h"

#include <stdint.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/sums.h"
#include "model/index.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/work/timed.h"

static const struct gt_heading headings[] = {
	{"what", GT_UNIT_TEXT, "Action of the calls, or their advice", GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "How many", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BINARY_BYTES, "Sum of the sizes that they name", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of return - entry on the host"},
	{"to", GT_UNIT_TEXT, "Where the memory is to be; not known where the call names no place"},
	{"failed", GT_UNIT_COUNT, "Calls that failed", GT_WORTH_ORDINARY, true},
};

/* Key of a row of calls: without padding. */
struct key {
	gt_count kind;
	gt_count advice; /* 0: none */
	uint32_t location;
	gt_id device;
};

struct total {
	struct key key;
	uint64_t calls;
	uint64_t bytes;
	uint64_t total_ns;
	uint64_t failed;
};

struct totals {
	struct gt_index *index;
	gt_array(struct total) rows;
};

static bool places(gt_count kind)
{
	return kind == GT_MEMORY_CALL_ADVISE || kind == GT_MEMORY_CALL_PREFETCH ||
	       kind == GT_MEMORY_CALL_DISCARD || kind == GT_MEMORY_CALL_DISCARD_PREFETCH;
}

static struct total *total_of(struct totals *totals, const struct key *key)
{
	const size_t number = gt_index_add(totals->index, key);

	if (number < totals->rows.count)
		return &totals->rows.rows[number];

	struct total *fresh = gt_array_push(&totals->rows);

	*fresh = (struct total){.key = *key};
	return fresh;
}

static void see(struct totals *totals, const struct gt_memory_call *call)
{
	const struct key key = {
		.kind = call->kind,
		.advice = call->kind == GT_MEMORY_CALL_ADVISE ? call->options : 0,
		.location = (uint32_t)call->value,
		.device = call->place,
	};
	struct total *total = total_of(totals, &key);

	total->calls++;
	gt_sum_add(&total->bytes, call->size_bytes);
	total->failed += call->result != 0;
	if (gt_timed(GT_TIMES_ANY, call->flags, call->start_ns, call->end_ns))
		total->total_ns += (uint64_t)(call->end_ns - call->start_ns);
}

static int by_bytes(const void *a, const void *b)
{
	const struct total *left = a;
	const struct total *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	return (left->calls < right->calls) - (left->calls > right->calls);
}

static void add(struct gt_result *result, const struct gt_trace *trace, const struct total *total)
{
	if (total->key.advice)
		gt_result_add_format(result, "advise: %s",
		                     gt_memory_advice_name(total->key.advice));
	else
		gt_result_add_text(result, gt_memory_call_name(total->key.kind));
	gt_result_add_count(result, (int64_t)total->calls);
	gt_result_add_count(result, (int64_t)total->bytes);
	gt_result_add_count(result, (int64_t)total->total_ns);
	if (total->key.device < trace->devices.count)
		gt_add_device(result, trace, total->key.device);
	else if (total->key.location)
		gt_result_add_text(result, gt_memory_location_name(total->key.location));
	else
		gt_result_add_unknown(result);
	gt_result_add_count(result, (int64_t)total->failed);
}

void gt_add_placed(struct gt_result *result, const struct gt_trace *trace)
{
	struct totals totals = {.index = gt_index_new(sizeof(struct key))};

	gt_array_each(const struct gt_memory_call, call, &trace->memory_calls)
		if (places(call->kind))
			see(&totals, call);
	if (totals.rows.count > 1)
		qsort(totals.rows.rows, totals.rows.count, sizeof(*totals.rows.rows), by_bytes);
	gt_result_begin(result, "placed", headings, GT_COUNT_OF(headings));
	gt_result_order(result, "bytes");
	gt_array_each(const struct total, total, &totals.rows)
		add(result, trace, total);
	gt_array_release(&totals.rows);
	gt_index_free(totals.index);
}
