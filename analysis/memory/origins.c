/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/origins.h"

#include <stdlib.h>
#include <string.h>

#include "model/allocations.h"
#include "model/index.h"
#include "model/memory/owned.h"

const char *const gt_memory_by_words[] = {
	[GT_MEMORY_BY_ORIGIN] = "origin", [GT_MEMORY_BY_RANGE] = "range",
	[GT_MEMORY_BY_NAME] = "name",     [GT_MEMORY_BY_LIBRARY] = "library",
	[GT_MEMORY_BY_CALL] = "call",     NULL,
};

enum gt_memory_by gt_memory_by(const char *word)
{
	for (size_t i = 0; gt_memory_by_words[i]; i++)
		if (strcmp(gt_memory_by_words[i], word) == 0)
			return (enum gt_memory_by)i;
	return GT_MEMORY_BY_ORIGIN;
}

void gt_memory_origins_init(struct gt_memory_origins *origins, const struct gt_ranges *ranges,
                            const gt_id *carriers, enum gt_memory_by by)
{
	*origins = (struct gt_memory_origins){
		.trace = ranges->trace,
		.ranges = ranges,
		.carriers = carriers,
		.by = by,
		.index = gt_index_new(sizeof(struct gt_memory_origin)),
	};
}

void gt_memory_origins_release(struct gt_memory_origins *origins)
{
	gt_index_free(origins->index);
	gt_array_release(&origins->groups);
	origins->index = NULL;
}

static struct gt_memory_sum *group_of(struct gt_memory_origins *origins,
                                      const struct gt_memory_origin *origin)
{
	const size_t number = gt_index_add(origins->index, origin);

	if (number == origins->groups.count)
		*gt_array_push(&origins->groups) = (struct gt_memory_sum){
			.origin = *origin, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
	return &origins->groups.rows[number];
}

static void count(struct gt_memory_sum *group, uint64_t bytes, gt_time begin_ns)
{
	group->bytes += bytes;
	group->count++;
	if (bytes > group->largest)
		group->largest = bytes;
	if (begin_ns < group->first_ns)
		group->first_ns = begin_ns;
	if (begin_ns > group->last_ns)
		group->last_ns = begin_ns;
}

/* Fills in the range, as far as it tells groups apart. */
static void set_range(const struct gt_memory_origins *origins, struct gt_memory_origin *origin,
                      gt_id range)
{
	const gt_id path = gt_ranges_path(origins->ranges, range);

	origin->path = origin->name = GT_NONE;
	if (origins->by == GT_MEMORY_BY_ORIGIN || origins->by == GT_MEMORY_BY_RANGE)
		origin->path = path;
	else if (origins->by == GT_MEMORY_BY_NAME && path != GT_NONE)
		origin->name = origins->ranges->paths.rows[path].name;
}

static gt_string function_of(const struct gt_trace *trace, gt_id made_by)
{
	const gt_id call = made_by < trace->memory_calls.count
	                           ? trace->memory_calls.rows[made_by].api_call
	                           : GT_NONE;

	return call < trace->api_calls.count ? trace->api_calls.rows[call].function : 0;
}

void gt_memory_origins_add(struct gt_memory_origins *origins, gt_id row)
{
	const struct gt_trace *trace = origins->trace;
	const struct gt_allocation *allocation = &trace->allocations.rows[row];
	struct gt_memory_origin origin = {
		.device = allocation->device,
		.process = allocation->process,
		.pool = GT_NONE,
		.kind = allocation->kind,
		.carries = origins->carriers[row],
	};

	set_range(origins, &origin, allocation->range);
	if (origins->by == GT_MEMORY_BY_ORIGIN || origins->by == GT_MEMORY_BY_LIBRARY)
		origin.library = allocation->library;
	if (origins->by == GT_MEMORY_BY_ORIGIN || origins->by == GT_MEMORY_BY_CALL)
		origin.function = function_of(trace, allocation->made_by);
	count(group_of(origins, &origin), allocation->size_bytes,
	      gt_memory_begin(trace, allocation));
}

void gt_memory_origins_add_block(struct gt_memory_origins *origins, gt_id row)
{
	const struct gt_trace *trace = origins->trace;
	const struct gt_pool_block *block = &trace->pool_blocks.rows[row];
	struct gt_memory_origin origin = {
		.device = GT_NONE, .process = GT_NONE, .pool = block->pool, .carries = GT_NONE};

	if (block->pool < trace->pools.count) {
		origin.device = trace->pools.rows[block->pool].device;
		origin.process = trace->pools.rows[block->pool].process;
	}
	set_range(origins, &origin, block->range);
	count(group_of(origins, &origin), block->size_bytes, block->start_ns);
}

/* Memory of the carriers of each pool at the moment; later, the part that no block uses. */
static uint64_t *add_allocations(struct gt_memory_origins *origins, gt_id device, gt_time at_ns)
{
	const struct gt_trace *trace = origins->trace;
	uint64_t *carried = gt_allocate_zeroed(trace->pools.count + 1, sizeof(*carried));

	for (size_t i = 0; i < trace->allocations.count; i++) {
		const struct gt_allocation *allocation = &trace->allocations.rows[i];
		const uint64_t bytes = gt_memory_bytes_on(allocation, device);

		if (bytes == 0 || !gt_memory_is_there(trace, allocation, at_ns))
			continue;
		if (origins->carriers[i] == GT_NONE)
			gt_memory_origins_add(origins, (gt_id)i);
		else
			carried[origins->carriers[i]] += bytes;
	}
	return carried;
}

static void add_cached(struct gt_memory_origins *origins, gt_id pool, gt_id device, uint64_t bytes)
{
	const struct gt_memory_origin origin = {
		.device = device,
		.process = origins->trace->pools.rows[pool].process,
		.pool = pool,
		.carries = GT_NONE,
		.path = GT_NONE,
		.name = GT_NONE,
		.cached = 1,
	};

	if (bytes)
		group_of(origins, &origin)->bytes = bytes;
}

void gt_memory_origins_add_there(struct gt_memory_origins *origins, gt_id device, gt_time at_ns)
{
	const struct gt_trace *trace = origins->trace;
	uint64_t *carried = add_allocations(origins, device, at_ns);

	for (size_t i = 0; i < trace->pool_blocks.count; i++) {
		const struct gt_pool_block *block = &trace->pool_blocks.rows[i];

		if (block->pool >= trace->pools.count || carried[block->pool] < block->size_bytes ||
		    !gt_memory_block_is_out(block, at_ns))
			continue;
		carried[block->pool] -= block->size_bytes;
		gt_memory_origins_add_block(origins, (gt_id)i);
	}
	for (size_t pool = 0; pool < trace->pools.count; pool++)
		add_cached(origins, (gt_id)pool, device, carried[pool]);
	gt_array_free(carried);
}

static int by_bytes(const void *a, const void *b)
{
	const struct gt_memory_sum *left = a;
	const struct gt_memory_sum *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return memcmp(&left->origin, &right->origin, sizeof(left->origin));
}

void gt_memory_origins_sort(struct gt_memory_origins *origins)
{
	if (origins->groups.count > 1)
		qsort(origins->groups.rows, origins->groups.count, sizeof(*origins->groups.rows),
		      by_bytes);
}
