/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/carriers.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/search.h"
#include "model/index.h"
#include "model/kinds/memory.h"
#include "model/memory/use.h"
#include "model/view/view.h"

enum { LEVELS = 6, FAN = 64 }; /* FAN to the power of LEVELS is more than there are rows */

/* A set of small numbers that says which of them stands next before another one. */
struct number_set {
	uint64_t *levels[LEVELS]; /* a bit of a level: a word of the one below is not 0 */
};

/* An allocation by its address. */
struct place {
	uint64_t address;
	gt_id process;
	gt_id row;
};

/* Physical memory by its handle. */
struct handle {
	uint64_t handle;
	uint32_t process;
	uint32_t padding;
};

struct finder {
	const struct gt_trace *trace;
	gt_id *pools; /* the answer */
	gt_id *rank;  /* by row of allocations: row of places; GT_NONE: without an address */
	struct number_set live; /* rows of places */
	gt_array(struct place) places;
	struct gt_index *handles;
	gt_array(gt_id) physical; /* by number of the handle: row of allocations */
};

static void set_init(struct number_set *set, size_t count)
{
	for (size_t level = 0; level < LEVELS; level++) {
		count = count / FAN + 1;
		set->levels[level] = gt_allocate_zeroed(count, sizeof(uint64_t));
	}
}

static void set_release(struct number_set *set)
{
	for (size_t level = 0; level < LEVELS; level++)
		gt_array_free(set->levels[level]);
}

static void set_add(struct number_set *set, size_t number)
{
	for (size_t level = 0; level < LEVELS; level++, number /= FAN)
		set->levels[level][number / FAN] |= (uint64_t)1 << number % FAN;
}

static void set_remove(struct number_set *set, size_t number)
{
	for (size_t level = 0; level < LEVELS; level++, number /= FAN) {
		set->levels[level][number / FAN] &= ~((uint64_t)1 << number % FAN);
		if (set->levels[level][number / FAN])
			return;
	}
}

static size_t highest_bit(uint64_t word)
{
	return (size_t)(63 - __builtin_clzll(word));
}

/* The largest number below the limit; the limit where there is none. */
static size_t set_before(const struct number_set *set, size_t limit)
{
	size_t number = limit;

	for (size_t level = 0; level < LEVELS; level++, number /= FAN) {
		const uint64_t below = ((uint64_t)1 << number % FAN) - 1;
		const uint64_t word = set->levels[level][number / FAN] & below;

		if (!word)
			continue;
		number = number / FAN * FAN + highest_bit(word);
		while (level-- > 0)
			number = number * FAN + highest_bit(set->levels[level][number]);
		return number;
	}
	return limit;
}

static int by_address(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

/* Reserved addresses are not memory, and all mappings in them would hide behind them. */
static bool has_place(const struct gt_allocation *allocation)
{
	return allocation->address && allocation->kind != GT_MEMORY_CALL_RESERVE;
}

static void sort_places(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;

	for (size_t i = 0; i < trace->allocations.count; i++) {
		const struct gt_allocation *allocation = &trace->allocations.rows[i];

		finder->rank[i] = GT_NONE;
		if (has_place(allocation))
			*gt_array_push(&finder->places) =
				(struct place){allocation->address, allocation->process, (gt_id)i};
	}
	if (finder->places.count > 1)
		qsort(finder->places.rows, finder->places.count, sizeof(*finder->places.rows),
		      by_address);
	for (size_t i = 0; i < finder->places.count; i++)
		finder->rank[finder->places.rows[i].row] = (gt_id)i;
	set_init(&finder->live, finder->places.count);
}

static gt_id *physical_of(struct finder *finder, const struct gt_allocation *allocation)
{
	const struct handle key = {allocation->handle, allocation->process, 0};
	const size_t number = gt_index_add(finder->handles, &key);

	if (number == finder->physical.count)
		*gt_array_push(&finder->physical) = GT_NONE;
	return &finder->physical.rows[number];
}

static void see_allocation(struct finder *finder, const struct gt_memory_step *step)
{
	const gt_id rank = finder->rank[step->row];
	const struct gt_allocation *allocation = &finder->trace->allocations.rows[step->row];

	if (allocation->kind == GT_MEMORY_CALL_CREATE && !step->ends)
		*physical_of(finder, allocation) = step->row;
	if (rank == GT_NONE)
		return;
	if (step->ends)
		set_remove(&finder->live, rank);
	else
		set_add(&finder->live, rank);
}

/* The allocation that an address lies in now; GT_NONE: in none. */
static gt_id allocation_at(const struct finder *finder, gt_id process, uint64_t address)
{
	const struct place wanted = {address, process, GT_NONE};
	const size_t limit = gt_count_up_to(&finder->places, &wanted, by_address);
	const size_t found = set_before(&finder->live, limit);
	const struct gt_allocation *allocation;
	gt_id row;

	if (found == limit)
		return GT_NONE;
	row = finder->places.rows[found].row;
	allocation = &finder->trace->allocations.rows[row];
	return allocation->process == process &&
	                       address - allocation->address < allocation->size_bytes
	               ? row
	               : GT_NONE;
}

static void see_block(struct finder *finder, const struct gt_memory_step *step)
{
	const struct gt_pool_block *block = &finder->trace->pool_blocks.rows[step->row];
	gt_id row;

	if (step->ends)
		return;
	row = allocation_at(finder, finder->trace->pools.rows[block->pool].process, block->address);
	if (row != GT_NONE && finder->trace->allocations.rows[row].kind == GT_MEMORY_CALL_MAP)
		row = *physical_of(finder, &finder->trace->allocations.rows[row]);
	if (row != GT_NONE && finder->pools[row] == GT_NONE)
		finder->pools[row] = block->pool;
}

static void walk(struct finder *finder, const struct gt_view *view)
{
	struct gt_memory_use use;
	struct gt_memory_step step;

	gt_memory_use_init(&use, view);
	while (gt_memory_use_next(&use, &step) == 1)
		if (use.holders.rows[step.holder].pool == GT_NONE)
			see_allocation(finder, &step);
		else
			see_block(finder, &step);
	gt_memory_use_release(&use);
}

gt_id *gt_memory_carriers(const struct gt_view *view)
{
	const size_t count = view->trace->allocations.count;
	struct finder finder = {.trace = view->trace};

	finder.pools = gt_allocate((count + 1) * sizeof(*finder.pools));
	for (size_t i = 0; i < count; i++)
		finder.pools[i] = GT_NONE;
	if (view->trace->pool_blocks.count == 0)
		return finder.pools;
	finder.rank = gt_allocate((count + 1) * sizeof(*finder.rank));
	finder.handles = gt_index_new(sizeof(struct handle));
	sort_places(&finder);
	walk(&finder, view);
	set_release(&finder.live);
	gt_array_release(&finder.places);
	gt_array_release(&finder.physical);
	gt_array_free(finder.rank);
	gt_index_free(finder.handles);
	return finder.pools;
}
