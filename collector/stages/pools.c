/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>

#include "collector/decode/rows.h"
#include "collector/stage.h"
#include "model/index.h"

/*
 * Blocks that pools handed out, from when the program had one to when it gave it back. An address
 * comes again as soon as it is free: what happens to a process is walked in the order of time, and
 * by the program's own order an address is given back before anybody gets it again.
 */

/* Key of a block: its address in one pool. */
struct key {
	uint64_t address;
	uint64_t pool; /* its number */
};

/* A block on its way to its row. */
struct life {
	gt_time start_ns;
	gt_time end_ns; /* 0: it was out at the end */
	uint32_t capture;
	uint32_t begin; /* in the capture's raw_block_begins */
	bool ended;
	bool salvaged; /* its end was */
};

struct moment {
	gt_time time_ns;
	uint32_t place; /* in the capture's raw_block_begins, or raw_block_ends */
	bool ends;
};

struct walk {
	struct gt_collection *collection;
	struct gt_trace *trace;
	gt_array(struct life) lives; /* of all captures */
	uint64_t work_left_ns;       /* of GT_MOST_WORK_NS */
	/* State of the capture at hand. */
	struct gt_capture *capture;
	size_t first; /* of its lives, which are in the order of its raw_block_begins */
	struct gt_index *keys;
	gt_array(size_t) open; /* by number of the key: the life and one; 0: none */
	/* Ends of one time that found nothing: what they end may have begun at that same time. */
	gt_array(struct moment) left;
	uint64_t unopened;
	uint64_t unended;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *left = a;
	const struct moment *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->ends != right->ends)
		return left->ends ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

static int by_start(const void *a, const void *b)
{
	const struct life *left = a;
	const struct life *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	if (left->capture != right->capture)
		return left->capture < right->capture ? -1 : 1;
	return (left->begin > right->begin) - (left->begin < right->begin);
}

static void end(struct walk *walk, struct life *life, gt_time end_ns)
{
	/* Damage alone makes them longer than all that can be added up. */
	if (end_ns < life->start_ns || (uint64_t)(end_ns - life->start_ns) > walk->work_left_ns)
		end_ns = life->start_ns;
	walk->work_left_ns -= (uint64_t)(end_ns - life->start_ns);
	life->end_ns = end_ns;
	life->ended = true;
}

static size_t *open_at(struct walk *walk, uint32_t pool, uint64_t address)
{
	const struct key key = {.address = address, .pool = pool};
	const size_t place = gt_index_add(walk->keys, &key);

	if (place == walk->open.count)
		*gt_array_push(&walk->open) = 0;
	return &walk->open.rows[place];
}

static void begin_block(struct walk *walk, const struct moment *moment)
{
	const struct gt_record_block_begin *begin =
		&walk->capture->raw_block_begins.rows[moment->place];
	size_t *open = open_at(walk, begin->pool, begin->address);

	if (*open) { /* nobody told of its end, which was before this */
		walk->unended++;
		end(walk, &walk->lives.rows[*open - 1], moment->time_ns);
	}
	*open = walk->first + moment->place + 1;
}

/* False: no such block is out. */
static bool end_block(struct walk *walk, const struct moment *moment)
{
	const struct gt_record_block_end *record =
		&walk->capture->raw_block_ends.rows[moment->place];
	size_t *open = open_at(walk, record->pool, record->address);

	if (!*open)
		return false;
	end(walk, &walk->lives.rows[*open - 1], moment->time_ns);
	walk->lives.rows[*open - 1].salvaged = record->flags & GT_SALVAGED;
	*open = 0;
	return true;
}

static void end_left(struct walk *walk)
{
	gt_array_each(const struct moment, moment, &walk->left)
		walk->unopened += !end_block(walk, moment);
	walk->left.count = 0;
}

static void follow(struct walk *walk, const struct moment *moment)
{
	if (walk->left.count && walk->left.rows[0].time_ns != moment->time_ns)
		end_left(walk);
	if (!moment->ends)
		begin_block(walk, moment);
	else if (!end_block(walk, moment))
		*gt_array_push(&walk->left) = *moment;
}

static struct moment *make_moments(const struct gt_capture *capture, size_t *count)
{
	const size_t begins = capture->raw_block_begins.count;
	const size_t ends = capture->raw_block_ends.count;
	struct moment *moments = gt_allocate((begins + ends + 1) * sizeof(*moments));

	for (size_t i = 0; i < begins; i++)
		moments[i] = (struct moment){
			.time_ns = (gt_time)capture->raw_block_begins.rows[i].time_ns,
			.place = (uint32_t)i,
		};
	for (size_t i = 0; i < ends; i++)
		moments[begins + i] = (struct moment){
			.time_ns = (gt_time)capture->raw_block_ends.rows[i].time_ns,
			.place = (uint32_t)i,
			.ends = true,
		};
	*count = begins + ends;
	if (*count > 1)
		qsort(moments, *count, sizeof(*moments), by_time);
	return moments;
}

/* Pools whose record is lost are there from their first block on. */
static void see_pool(struct walk *walk, uint32_t number, gt_time time_ns)
{
	const gt_id row = gt_row_of_pool(walk->trace, walk->capture, number);
	struct gt_pool *pool = &walk->trace->pools.rows[row];

	if (pool->start_ns == 0 || (pool->place == UINT32_MAX && time_ns < pool->start_ns))
		pool->start_ns = time_ns;
}

static void add_lives(struct walk *walk, uint32_t number)
{
	walk->first = walk->lives.count;
	for (size_t i = 0; i < walk->capture->raw_block_begins.count; i++) {
		const struct gt_record_block_begin *begin =
			&walk->capture->raw_block_begins.rows[i];

		see_pool(walk, begin->pool, (gt_time)begin->time_ns);
		*gt_array_push(&walk->lives) = (struct life){
			.start_ns = (gt_time)begin->time_ns,
			.capture = number,
			.begin = (uint32_t)i,
		};
	}
}

/* Pools that are destroyed take what they have out with them. */
static void end_pools(struct walk *walk)
{
	gt_array_each(const struct gt_record_pool_end, raw, &walk->capture->raw_pool_ends) {
		const gt_id row = gt_row_of_pool(walk->trace, walk->capture, raw->number);
		struct gt_pool *pool = &walk->trace->pools.rows[row];

		if (pool->end_ns == 0)
			pool->end_ns = (gt_time)raw->time_ns;
	}
	for (size_t i = walk->first; i < walk->lives.count; i++) {
		struct life *life = &walk->lives.rows[i];
		const uint32_t number = walk->capture->raw_block_begins.rows[life->begin].pool;
		const gt_id row = gt_row_of_pool(walk->trace, walk->capture, number);
		const gt_time end_ns = walk->trace->pools.rows[row].end_ns;

		if (!life->ended && end_ns && end_ns >= life->start_ns)
			end(walk, life, end_ns);
	}
}

static void tell(struct walk *walk)
{
	const struct gt_capture *capture = walk->capture;

	if (capture->raw_block_begins.count + capture->raw_block_ends.count == 0)
		return;
	gt_trace_add_ledger(walk->trace, capture->process, "blocks_unopened", walk->unopened);
	gt_trace_add_ledger(walk->trace, capture->process, "blocks_unended", walk->unended);
	if (walk->unopened)
		gt_collection_note(walk->collection, capture->process, "pools",
		                   "blocks that were given back to pools which had not handed them "
		                   "out while that was recorded: %llu",
		                   (unsigned long long)walk->unopened);
	if (walk->unended)
		gt_collection_note(
			walk->collection, capture->process, "pools",
			"blocks that pools handed out while they were still out, so that "
			"the first of the two ends there: %llu",
			(unsigned long long)walk->unended);
}

static void walk_capture(struct walk *walk, uint32_t number)
{
	size_t count;
	struct moment *moments = make_moments(walk->capture, &count);

	walk->unopened = walk->unended = 0;
	walk->keys = gt_index_new(sizeof(struct key));
	add_lives(walk, number);
	for (size_t i = 0; i < count; i++)
		follow(walk, &moments[i]);
	end_left(walk);
	end_pools(walk);
	tell(walk);
	gt_array_release(&walk->open);
	gt_array_release(&walk->left);
	gt_index_free(walk->keys);
	gt_array_free(moments);
}

/* ---- rows ---- */

/* Whose default stream it is: of the first context on the pool's GPU, as programs have one. */
static gt_id context_of(const struct gt_trace *trace, const struct gt_pool *pool)
{
	for (size_t i = 0; pool->device != GT_NONE && i < trace->contexts.count; i++)
		if (trace->contexts.rows[i].process == pool->process &&
		    trace->contexts.rows[i].device == pool->device)
			return (gt_id)i;
	return GT_NONE;
}

static gt_id stream_of(struct gt_trace *trace, struct gt_capture *capture,
                       const struct gt_record_block_begin *begin, gt_id pool)
{
	struct gt_handle_call call = {
		.handle = begin->stream,
		.time_ns = (gt_time)begin->time_ns,
		.context = GT_NONE,
	};

	if (begin->stream == UINT64_MAX)
		return GT_NONE;
	call.context = context_of(trace, &trace->pools.rows[pool]);
	return gt_row_of_stream_handle(trace, capture, &call);
}

static void add_row(struct walk *walk, const struct life *life)
{
	struct gt_capture *capture = &walk->collection->captures.rows[life->capture];
	const struct gt_record_block_begin *begin = &capture->raw_block_begins.rows[life->begin];
	const gt_id pool = gt_row_of_pool(walk->trace, capture, begin->pool);
	const bool known = begin->thread && begin->thread != GT_RECORD_NO_THREAD;
	const gt_id thread =
		known ? gt_row_of_thread(walk->trace, capture, begin->thread) : GT_NONE;
	const gt_id stream = stream_of(walk->trace, capture, begin, pool);

	*gt_array_push(&walk->trace->pool_blocks) = (struct gt_pool_block){
		.start_ns = life->start_ns,
		.end_ns = life->end_ns,
		.address = begin->address,
		.size_bytes = begin->size_bytes,
		.requested_bytes = begin->requested_bytes,
		.pool = pool,
		.thread = thread,
		.stream = stream,
		.range = GT_NONE, /* stage ranges */
		.flags = (begin->flags & GT_SALVAGED) | (life->salvaged ? GT_SALVAGED : 0) |
	                 (life->ended ? 0 : GT_UNFINISHED),
	};
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct walk walk = {
		.collection = collection,
		.trace = collection->trace,
		.work_left_ns = GT_MOST_WORK_NS,
	};

	(void)err;
	for (size_t i = 0; i < collection->captures.count; i++) {
		walk.capture = &collection->captures.rows[i];
		walk_capture(&walk, (uint32_t)i);
	}
	if (walk.lives.count > 1)
		qsort(walk.lives.rows, walk.lives.count, sizeof(*walk.lives.rows), by_start);
	gt_array_each(const struct life, life, &walk.lives)
		add_row(&walk, life);
	gt_array_release(&walk.lives);
	return 0;
}

const struct gt_stage gt_stage_pools = {.name = "pools", .run = run};
