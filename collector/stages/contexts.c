/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "collector/stage.h"
#include "model/allocations.h"
#include "model/index.h"
#include "model/memory/owned.h"

/*
 * Memory that a context takes of its GPU: the memory that the process had there when that was first
 * read, without what it had allocated then. Contexts are made before anything is read, so that
 * there is no difference of two readings to take. Not measured where NVML does not list the
 * process, as in most containers, where a process has several contexts on the GPU, and where a pool
 * had been used: what that had reserved is not known.
 */

/* Facts about a process on a GPU. */
struct share {
	gt_id context;    /* that it made there last */
	size_t contexts;  /* how many */
	gt_time time_ns;  /* of the first reading of what it had */
	double bytes;     /* what it had then, NAN: there is no reading */
	double allocated; /* of that, what it had allocated; NAN: not known */
};

struct key {
	uint32_t process;
	uint32_t device;
};

struct shares {
	struct gt_index *keys;
	gt_array(struct share) list; /* by number of the key */
};

static struct share *share_of(struct shares *shares, gt_id process, gt_id device)
{
	const struct key key = {process, device};
	const size_t number = gt_index_add(shares->keys, &key);

	if (number == shares->list.count)
		*gt_array_push(&shares->list) = (struct share){.context = GT_NONE, .bytes = NAN};
	return &shares->list.rows[number];
}

static void count_contexts(struct gt_trace *trace, struct shares *shares)
{
	for (size_t i = 0; i < trace->contexts.count; i++) {
		struct gt_context *context = &trace->contexts.rows[i];
		struct share *share;

		context->memory_bytes = NAN;
		if (context->device == GT_NONE)
			continue;
		share = share_of(shares, context->process, context->device);
		share->context = (gt_id)i;
		share->contexts++;
	}
}

static void find_first(const struct gt_series *series, size_t place, struct share *share)
{
	for (size_t i = 0; i < series->count && isnan(share->bytes); i++) {
		share->time_ns = series->times_ns[i];
		share->bytes = series->columns[place][i];
	}
}

static void find_readings(const struct gt_trace *trace, struct shares *shares)
{
	gt_array_each(const struct gt_counter, counter, &trace->counters)
		if (counter->device != GT_NONE &&
		    strcmp(gt_trace_text(trace, counter->name), "process_memory_bytes") == 0)
			find_first(&trace->series.rows[counter->series], counter->place,
			           share_of(shares, counter->process, counter->device));
}

/* Whether an allocation that began before a moment says nothing of the memory reserved then. */
static bool hides_memory(const struct gt_allocation *allocation)
{
	const enum gt_memory_owner owner = gt_memory_owner(allocation);

	return owner == GT_MEMORY_OF_POOL || owner == GT_MEMORY_OF_GRAPH ||
	       owner == GT_MEMORY_OF_MANAGER;
}

static void add_allocated(const struct gt_trace *trace, struct shares *shares)
{
	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		struct share *share;

		if (allocation->device == GT_NONE)
			continue;
		share = share_of(shares, allocation->process, allocation->device);
		if (isnan(share->bytes) || allocation->start_ns > share->time_ns)
			continue;
		if (hides_memory(allocation))
			share->allocated = NAN;
		else if (!allocation->end_ns || allocation->end_ns > share->time_ns)
			share->allocated +=
				(double)gt_memory_bytes_on(allocation, allocation->device);
	}
}

/* gputrace's own rings may have been there, too. */
static void add_rings(const struct gt_trace *trace, struct shares *shares)
{
	for (gt_id i = 0; i < trace->contexts.count; i++) {
		const struct gt_context *context = &trace->contexts.rows[i];
		struct share *share;

		if (context->device == GT_NONE)
			continue;
		share = share_of(shares, context->process, context->device);
		if (share->context == i)
			share->allocated += (double)gt_memory_of_rings(
				trace, context->process, context->device, share->time_ns);
	}
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct shares shares = {.keys = gt_index_new(sizeof(struct key))};

	(void)err;
	count_contexts(trace, &shares);
	find_readings(trace, &shares);
	add_allocated(trace, &shares);
	add_rings(trace, &shares);
	gt_array_each(const struct share, share, &shares.list) {
		const double bytes = share->bytes - share->allocated;

		if (share->contexts == 1 && bytes >= 0)
			trace->contexts.rows[share->context].memory_bytes = bytes;
	}
	gt_array_release(&shares.list);
	gt_index_free(shares.keys);
	return 0;
}

const struct gt_stage gt_stage_contexts = {.name = "contexts", .run = run};
