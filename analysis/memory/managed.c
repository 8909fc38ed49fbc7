/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/managed.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/search.h"
#include "model/allocations.h"
#include "model/index.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"

static const struct gt_heading kind_headings[] = {
	{"what", GT_UNIT_TEXT, "The kind of event", GT_WORTH_KEY},
	{"cause", GT_UNIT_TEXT, "Why; of faults the access", GT_WORTH_KEY},
	{"from", GT_UNIT_TEXT, "GPU that it came from, that faulted or was throttled; host",
         GT_WORTH_ORDINARY},
	{"to", GT_UNIT_TEXT, "GPU that it went to; host", GT_WORTH_ORDINARY},
	{"events", GT_UNIT_COUNT, "How often that was told", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BINARY_BYTES, "That moved, or were mapped or thrashed", GT_WORTH_KEY},
	{"faults", GT_UNIT_COUNT, "How many there were", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of end - start", GT_WORTH_ORDINARY},
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "bytes / total_ns",
         GT_WORTH_LITTLE},
};

static const struct gt_heading moved_headings[] = {
	{"size_bytes", GT_UNIT_BINARY_BYTES, "Size of the allocation", GT_WORTH_KEY},
	{"to_gpu_bytes", GT_UNIT_BINARY_BYTES, "Bytes of it that moved to a GPU", GT_WORTH_KEY},
	{"to_host_bytes", GT_UNIT_BINARY_BYTES, "Bytes of it that moved to the host", GT_WORTH_KEY},
	{"times", GT_UNIT_REAL, "Bytes that moved / size_bytes: how often all of it did",
         GT_WORTH_KEY},
	{"gpu_faults", GT_UNIT_COUNT, "Faults of GPUs in it", GT_WORTH_ORDINARY},
	{"host_faults", GT_UNIT_COUNT, "Faults of the host in it", GT_WORTH_ORDINARY},
	{"thrashing", GT_UNIT_COUNT, "How often pages of it were found to go back and forth",
         GT_WORTH_LITTLE, true},
	{"time_ns", GT_UNIT_TIME, "When it was made, since the recording began", GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "Path of NVTX ranges it was made in", GT_WORTH_NAME},
};

/* Key of a row of events: without padding. */
struct key {
	gt_count kind;
	gt_count detail;
	gt_id source;
	gt_id target;
};

struct total {
	struct key key;
	uint64_t events;
	uint64_t value; /* bytes, of faults how many */
	uint64_t total_ns;
};

struct totals {
	struct gt_index *index;
	gt_array(struct total) rows;
};

static bool is_fault(gt_count kind)
{
	return kind == GT_UNIFIED_HOST_FAULT || kind == GT_UNIFIED_GPU_FAULT;
}

static bool is_move(gt_count kind)
{
	return kind == GT_UNIFIED_TO_GPU || kind == GT_UNIFIED_TO_HOST ||
	       kind == GT_UNIFIED_BETWEEN_GPUS;
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

static void see(struct totals *totals, const struct gt_unified_event *event)
{
	const struct key key = {event->kind, event->detail, event->source, event->target};
	struct total *total = total_of(totals, &key);

	total->events++;
	total->value += event->value;
	if (event->end_ns > event->start_ns)
		total->total_ns += (uint64_t)(event->end_ns - event->start_ns);
}

static int by_value(const void *a, const void *b)
{
	const struct total *left = a;
	const struct total *right = b;

	if (is_fault(left->key.kind) != is_fault(right->key.kind))
		return is_fault(left->key.kind) ? 1 : -1;
	if (left->value != right->value)
		return left->value < right->value ? 1 : -1;
	return (left->events < right->events) - (left->events > right->events);
}

static void add_cause(struct gt_result *result, const struct key *key)
{
	if (is_fault(key->kind) && key->detail)
		gt_result_add_text(result, gt_unified_access_name(key->detail));
	else if (is_move(key->kind) && key->detail)
		gt_result_add_text(result, gt_migration_cause_name(key->detail));
	else if (key->kind == GT_UNIFIED_REMOTE_MAPPING && key->detail)
		gt_result_add_text(result, gt_remote_cause_name(key->detail));
	else
		gt_result_add_unknown(result);
}

/* Migrations name a GPU or mean the host; of other events no GPU means that none is told. */
static void add_end(struct gt_result *result, const struct gt_trace *trace, gt_count kind,
                    gt_id device)
{
	if (device < trace->devices.count)
		gt_add_device_number(result, trace, device);
	else if (is_move(kind))
		gt_result_add_text(result, "host");
	else
		gt_result_add_unknown(result);
}

static void add_total(struct gt_result *result, const struct gt_trace *trace,
                      const struct total *total)
{
	const bool counts = is_fault(total->key.kind);

	gt_result_add_text(result, gt_unified_kind_name(total->key.kind));
	add_cause(result, &total->key);
	add_end(result, trace, total->key.kind, total->key.source);
	add_end(result, trace, total->key.kind, total->key.target);
	gt_result_add_count(result, (int64_t)total->events);
	gt_result_add_count_if(result, !counts, (int64_t)total->value);
	gt_result_add_count_if(result, counts, (int64_t)total->value);
	gt_result_add_count(result, (int64_t)total->total_ns);
	if (is_move(total->key.kind))
		gt_result_add_real(result, gt_bytes_per_second((double)total->value,
		                                               (double)total->total_ns));
	else
		gt_result_add_unknown(result);
}

void gt_add_managed(struct gt_result *result, const struct gt_trace *trace)
{
	struct totals totals = {.index = gt_index_new(sizeof(struct key))};

	gt_array_each(const struct gt_unified_event, event, &trace->unified_events)
		see(&totals, event);
	if (totals.rows.count > 1)
		qsort(totals.rows.rows, totals.rows.count, sizeof(*totals.rows.rows), by_value);
	gt_result_begin(result, "managed", kind_headings, GT_COUNT_OF(kind_headings));
	gt_array_each(const struct total, total, &totals.rows)
		add_total(result, trace, total);
	gt_array_release(&totals.rows);
	gt_index_free(totals.index);
}

/* A managed allocation, and what happened to it. */
struct moved {
	gt_id process;
	gt_id row; /* of allocations */
	uint64_t address;
	gt_time start_ns;
	uint64_t to_gpu;
	uint64_t to_host;
	uint64_t gpu_faults;
	uint64_t host_faults;
	uint64_t thrashing;
};

struct moves {
	gt_array(struct moved) rows; /* by process, address and time */
};

static int by_place(const void *a, const void *b)
{
	const struct moved *left = a;
	const struct moved *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static int by_moved(const void *a, const void *b)
{
	const struct moved *left = a;
	const struct moved *right = b;
	const uint64_t left_bytes = left->to_gpu + left->to_host;
	const uint64_t right_bytes = right->to_gpu + right->to_host;

	if (left_bytes != right_bytes)
		return left_bytes < right_bytes ? 1 : -1;
	return by_place(a, b);
}

static void find_allocations(struct moves *moves, const struct gt_trace *trace)
{
	for (size_t i = 0; i < trace->allocations.count; i++) {
		const struct gt_allocation *row = &trace->allocations.rows[i];

		if (row->kind == GT_MEMORY_CALL_ALLOCATE_MANAGED)
			*gt_array_push(&moves->rows) = (struct moved){
				.process = row->process,
				.row = (gt_id)i,
				.address = row->address,
				.start_ns = row->start_ns,
			};
	}
	if (moves->rows.count > 1)
		qsort(moves->rows.rows, moves->rows.count, sizeof(*moves->rows.rows), by_place);
}

/*
 * The allocation that an event is in: the one that begins last before its address, and of those
 * that had the same address one after the other the one of its time.
 */
static struct moved *find(const struct moves *moves, const struct gt_trace *trace,
                          const struct gt_unified_event *event)
{
	struct moved wanted = {
		.process = event->process, .address = event->address, .start_ns = INT64_MAX};
	const struct moved *rows = moves->rows.rows;
	size_t before = rows ? gt_count_up_to(&moves->rows, &wanted, by_place) : 0;
	const struct moved *moved;

	if (before == 0)
		return NULL;
	wanted.address = rows[before - 1].address;
	wanted.start_ns = event->start_ns;
	before = gt_count_up_to(&moves->rows, &wanted, by_place);
	if (before == 0)
		return NULL;
	moved = &rows[before - 1];
	return moved->process == event->process && moved->address == wanted.address &&
	                       event->address - moved->address <
	                               trace->allocations.rows[moved->row].size_bytes
	               ? &moves->rows.rows[before - 1]
	               : NULL;
}

static void count(struct moved *moved, const struct gt_unified_event *event)
{
	switch (event->kind) {
	case GT_UNIFIED_TO_GPU:
	case GT_UNIFIED_BETWEEN_GPUS:
		moved->to_gpu += event->value;
		break;
	case GT_UNIFIED_TO_HOST:
		moved->to_host += event->value;
		break;
	case GT_UNIFIED_GPU_FAULT:
		moved->gpu_faults += event->value;
		break;
	case GT_UNIFIED_HOST_FAULT:
		moved->host_faults += event->value;
		break;
	case GT_UNIFIED_THRASHING:
		moved->thrashing++;
		break;
	default:
		break;
	}
}

static bool is_touched(const struct moved *moved)
{
	return moved->to_gpu || moved->to_host || moved->gpu_faults || moved->host_faults ||
	       moved->thrashing;
}

static void add_moved(struct gt_result *result, const struct gt_ranges *ranges,
                      const struct moved *moved)
{
	const struct gt_trace *trace = ranges->trace;
	const struct gt_allocation *row = &trace->allocations.rows[moved->row];

	gt_result_add_count(result, (int64_t)row->size_bytes);
	gt_result_add_count(result, (int64_t)moved->to_gpu);
	gt_result_add_count(result, (int64_t)moved->to_host);
	gt_result_add_real(result, gt_percent((double)(moved->to_gpu + moved->to_host),
	                                      (double)row->size_bytes) /
	                                   100);
	gt_result_add_count(result, (int64_t)moved->gpu_faults);
	gt_result_add_count(result, (int64_t)moved->host_faults);
	gt_result_add_count(result, (int64_t)moved->thrashing);
	gt_add_moment(result, trace, gt_memory_begin(trace, row));
	gt_add_range(result, ranges, row->range);
}

void gt_add_moved(struct gt_result *result, const struct gt_ranges *ranges, uint64_t top)
{
	const struct gt_trace *trace = ranges->trace;
	struct moves moves = {0};
	size_t touched = 0;

	find_allocations(&moves, trace);
	gt_array_each(const struct gt_unified_event, event, &trace->unified_events) {
		struct moved *moved = find(&moves, trace, event);

		if (moved)
			count(moved, event);
	}
	if (moves.rows.count > 1)
		qsort(moves.rows.rows, moves.rows.count, sizeof(*moves.rows.rows), by_moved);
	for (size_t i = 0; i < moves.rows.count; i++)
		if (is_touched(&moves.rows.rows[i]))
			moves.rows.rows[touched++] = moves.rows.rows[i];
	gt_result_begin(result, "moved", moved_headings, GT_COUNT_OF(moved_headings));
	gt_result_top(result, touched, top);
	for (size_t i = 0; i < touched && i < top; i++)
		add_moved(result, ranges, &moves.rows.rows[i]);
	gt_array_release(&moves.rows);
}
