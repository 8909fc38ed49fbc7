/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/strings.h"
#include "collector/decode/rows.h"
#include "collector/stage.h"
#include "model/index.h"
#include "model/kinds/memory.h"

/*
 * CUDA's own pools as rows of pools: those that the program made or imported, and of each GPU the
 * default pool and the memory of graphs, where something was allocated from it or it was sampled.
 * Samples of a pool become its counters.
 */

/* Which pool of a GPU that nobody made. */
enum { DEFAULT = 0, MADE = 1, GRAPHS = 2 }; /* numbers of kinds in captures */

struct key {
	uint32_t process;
	uint32_t device;
	uint32_t kind;
};

/* A pool that the program made had a handle from some moment on. */
struct holder {
	uint64_t handle;
	gt_time start_ns;
	gt_id process;
	gt_id pool;
};

struct maker {
	struct gt_trace *trace;
	struct gt_index *keys;           /* of those of GPUs */
	gt_array(gt_id) rows;            /* of pools, by number of the key */
	gt_array(struct holder) holders; /* of handles, in the order of by_handle */
	gt_id *of_series;                /* pool that is sampled in it, GT_NONE: none */
	gt_count *last;                  /* number of the last pool, by process */
};

static const char *const names[] = {
	[DEFAULT] = "default pool",
	[MADE] = "",
	[GRAPHS] = "memory of graphs",
};

/* Numbers go on where other tellers' pools end. */
static void find_last(struct maker *maker)
{
	const struct gt_trace *trace = maker->trace;

	maker->last = gt_allocate((trace->processes.count + 1) * sizeof(*maker->last));
	for (size_t i = 0; i < trace->processes.count; i++)
		maker->last[i] = 0;
	gt_array_each(const struct gt_pool, pool, &trace->pools)
		if (pool->process < trace->processes.count &&
		    pool->number > maker->last[pool->process])
			maker->last[pool->process] = pool->number;
}

static gt_id add_pool(struct maker *maker, struct gt_pool pool)
{
	struct gt_trace *trace = maker->trace;

	pool.teller = GT_TELLER_CUDA;
	pool.number = pool.process < trace->processes.count ? ++maker->last[pool.process] : 0;
	*gt_array_push(&trace->pools) = pool;
	return (gt_id)(trace->pools.count - 1);
}

/* A pool of a GPU that is there by itself; its begin is the earliest that is known of it. */
static gt_id pool_of_device(struct maker *maker, struct key key, gt_time start_ns)
{
	const size_t number = gt_index_add(maker->keys, &key);
	struct gt_trace *trace = maker->trace;
	gt_id row;

	if (number < maker->rows.count) {
		row = maker->rows.rows[number];
		if (start_ns < trace->pools.rows[row].start_ns)
			trace->pools.rows[row].start_ns = start_ns;
		return row;
	}
	row = add_pool(maker, (struct gt_pool){
				      .start_ns = start_ns,
				      .process = key.process,
				      .device = key.device,
				      .name = gt_strings_add(trace->strings, names[key.kind]),
				      .place = GT_POOL_DEVICE,
			      });
	*gt_array_push(&maker->rows) = row;
	return row;
}

static void add_made(struct maker *maker, const struct gt_allocation *allocation)
{
	const gt_id pool =
		add_pool(maker, (struct gt_pool){
					.start_ns = allocation->start_ns,
					.end_ns = allocation->end_ns,
					.handle = allocation->handle,
					.process = allocation->process,
					.device = allocation->device,
					.name = gt_strings_add(maker->trace->strings, ""),
					.place = allocation->device == GT_NONE ? GT_POOL_HOST
	                                                                       : GT_POOL_DEVICE,
				});

	*gt_array_push(&maker->holders) = (struct holder){allocation->handle, allocation->start_ns,
	                                                  allocation->process, pool};
}

static int by_handle(const void *a, const void *b)
{
	const struct holder *left = a;
	const struct holder *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->handle != right->handle)
		return left->handle < right->handle ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* The pool that had a handle at a moment, GT_NONE: none that the program made. */
static gt_id holder_of(const struct maker *maker, const struct holder *wanted)
{
	const size_t count = gt_count_up_to(&maker->holders, wanted, by_handle);
	const struct holder *holder = count ? &maker->holders.rows[count - 1] : NULL;
	const struct gt_pool *pool = holder ? &maker->trace->pools.rows[holder->pool] : NULL;

	return holder && holder->process == wanted->process && holder->handle == wanted->handle &&
	                       (!pool->end_ns || wanted->start_ns <= pool->end_ns)
	               ? holder->pool
	               : GT_NONE;
}

/* Allocations from the default pool or of graphs show that these pools are there. */
static void add_found(struct maker *maker)
{
	const struct gt_trace *trace = maker->trace;

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		struct key key = {allocation->process, allocation->device, DEFAULT};

		if (allocation->device == GT_NONE)
			continue;
		if (allocation->kind == GT_MEMORY_CALL_ALLOCATE_NODE)
			key.kind = GRAPHS;
		else if (allocation->kind != GT_MEMORY_CALL_ALLOCATE_ORDERED || allocation->handle)
			continue;
		(void)pool_of_device(maker, key, allocation->start_ns);
	}
}

static void add_all_made(struct maker *maker)
{
	const size_t count = maker->trace->allocations.count;

	for (size_t i = 0; i < count; i++) {
		const struct gt_allocation *allocation = &maker->trace->allocations.rows[i];

		if (allocation->kind == GT_MEMORY_CALL_CREATE_POOL ||
		    allocation->kind == GT_MEMORY_CALL_IMPORT_POOL)
			add_made(maker, allocation);
	}
	if (maker->holders.count)
		qsort(maker->holders.rows, maker->holders.count, sizeof(*maker->holders.rows),
		      by_handle);
}

static gt_id pool_of_record(struct maker *maker, struct gt_capture *capture,
                            const struct gt_record_cuda_pool *raw)
{
	struct key key = {.process = capture->process, .kind = raw->kind};

	if (raw->kind == MADE)
		return holder_of(maker, &(struct holder){.handle = raw->handle,
		                                         .start_ns = (gt_time)raw->time_ns,
		                                         .process = capture->process});
	if (raw->kind > GRAPHS || !raw->device)
		return GT_NONE;
	key.device = gt_row_of_device(maker->trace, capture, raw->device - 1);
	return pool_of_device(maker, key, (gt_time)raw->time_ns);
}

static void read_records(struct maker *maker, struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_cuda_pool, raw, &capture->raw_cuda_pools) {
		const gt_id series = gt_known_find(&capture->series_numbers, raw->series);
		const gt_id pool = pool_of_record(maker, capture, raw);

		if (series == GT_NONE || pool == GT_NONE)
			continue;
		if (raw->kind != MADE)
			maker->trace->pools.rows[pool].handle = raw->handle;
		maker->of_series[capture->raw_series.rows[series].place] = pool;
	}
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct maker maker = {.trace = collection->trace};

	(void)err;
	maker.keys = gt_index_new(sizeof(struct key));
	maker.of_series = gt_allocate((maker.trace->series.count + 1) * sizeof(*maker.of_series));
	for (size_t i = 0; i < maker.trace->series.count; i++)
		maker.of_series[i] = GT_NONE;
	find_last(&maker);
	add_all_made(&maker);
	add_found(&maker);
	gt_array_each(struct gt_capture, capture, &collection->captures)
		read_records(&maker, capture);
	gt_array_each(struct gt_counter, counter, &maker.trace->counters)
		if (maker.of_series[counter->series] != GT_NONE)
			counter->pool = maker.of_series[counter->series];
	gt_array_free(maker.of_series);
	gt_array_free(maker.last);
	gt_array_release(&maker.holders);
	gt_array_release(&maker.rows);
	gt_index_free(maker.keys);
	return 0;
}

const struct gt_stage gt_stage_cuda_pools = {.name = "cuda_pools", .run = run};
