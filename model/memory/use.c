/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/use.h"

#include <stdlib.h>
#include <string.h>

#include "model/allocations.h"
#include "model/index.h"
#include "model/view/view.h"

/* While rows are taken in. */
struct intake {
	struct gt_memory_use *use;
	const struct gt_view *view;
	struct gt_index *keys;
	struct gt_memory_holder last; /* rows of one holder come in bunches */
	uint32_t last_number;
};

/* Known times of one row, of either table. */
struct lifetime {
	gt_time begin_ns;
	gt_time end_ns;
	bool ended;
};

static uint32_t number_of(struct intake *intake, struct gt_memory_holder holder)
{
	size_t number;

	if (intake->use->holders.count > 0 && memcmp(&intake->last, &holder, sizeof(holder)) == 0)
		return intake->last_number;
	number = gt_index_add(intake->keys, &holder);
	if (number == intake->use->holders.count)
		*gt_array_push(&intake->use->holders) = holder;
	intake->last = holder;
	intake->last_number = (uint32_t)number;
	return intake->last_number;
}

static void take(struct intake *intake, gt_id row, bool is_block, struct lifetime life)
{
	struct gt_memory_use *use = intake->use;
	const struct gt_view *view = intake->view;
	struct gt_memory_moment moment = {.row = row, .is_block = is_block};

	if (life.begin_ns < view->start_ns)
		life.begin_ns = view->start_ns;
	if (life.end_ns < life.begin_ns)
		life.end_ns = life.begin_ns;
	if (life.begin_ns > view->end_ns)
		return;
	moment.time_ns = life.begin_ns;
	*gt_array_push(&use->begins) = moment;
	if (!life.ended || life.end_ns > view->end_ns)
		return;
	moment.time_ns = life.end_ns;
	moment.late = life.end_ns == life.begin_ns;
	*gt_array_push(&use->ends) = moment;
}

static void take_allocation(struct intake *intake, gt_id row)
{
	const struct gt_trace *trace = intake->view->trace;
	const struct gt_allocation *allocation = &trace->allocations.rows[row];
	const struct gt_memory_holder holder = {
		.process = allocation->process,
		.device = allocation->device,
		.pool = GT_NONE,
		.kind = allocation->kind,
	};

	intake->use->holder_of_allocation[row] = number_of(intake, holder);
	take(intake, row, false,
	     (struct lifetime){gt_memory_begin(trace, allocation), allocation->end_ns,
	                       !(allocation->flags & GT_UNFINISHED)});
}

static void take_block(struct intake *intake, gt_id row)
{
	const struct gt_trace *trace = intake->view->trace;
	const struct gt_pool_block *block = &trace->pool_blocks.rows[row];
	const struct gt_pool *pool =
		block->pool < trace->pools.count ? &trace->pools.rows[block->pool] : NULL;
	const struct gt_memory_holder holder = {
		.process = pool ? pool->process : GT_NONE,
		.device = pool ? pool->device : GT_NONE,
		.pool = block->pool,
	};

	if (!pool)
		return;
	intake->use->holder_of_block[row] = number_of(intake, holder);
	take(intake, row, true,
	     (struct lifetime){block->start_ns, block->end_ns, !(block->flags & GT_UNFINISHED)});
}

static int by_time(const void *a, const void *b)
{
	const struct gt_memory_moment *left = a;
	const struct gt_memory_moment *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->late != right->late)
		return left->late ? 1 : -1;
	if (left->is_block != right->is_block)
		return left->is_block ? 1 : -1;
	return (left->row > right->row) - (left->row < right->row);
}

/* Begins are in order already, but for those of several threads and of pools. */
static void sort(struct gt_memory_moment *moments, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (by_time(&moments[i - 1], &moments[i]) <= 0)
			continue;
		qsort(moments, count, sizeof(*moments), by_time);
		return;
	}
}

void gt_memory_use_init(struct gt_memory_use *use, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;
	struct intake intake = {.use = use, .view = view};

	*use = (struct gt_memory_use){.trace = trace};
	use->holder_of_allocation =
		gt_allocate((trace->allocations.count + 1) * sizeof(*use->holder_of_allocation));
	use->holder_of_block =
		gt_allocate((trace->pool_blocks.count + 1) * sizeof(*use->holder_of_block));
	intake.keys = gt_index_new(sizeof(struct gt_memory_holder));
	for (size_t i = 0; i < trace->allocations.count; i++)
		take_allocation(&intake, (gt_id)i);
	for (size_t i = 0; i < trace->pool_blocks.count; i++)
		take_block(&intake, (gt_id)i);
	gt_index_free(intake.keys);
	sort(use->begins.rows, use->begins.count);
	sort(use->ends.rows, use->ends.count);
	use->live = gt_allocate((use->holders.count + 1) * sizeof(*use->live));
	gt_memory_use_rewind(use);
}

void gt_memory_use_release(struct gt_memory_use *use)
{
	gt_array_release(&use->holders);
	gt_array_release(&use->begins);
	gt_array_release(&use->ends);
	gt_array_free(use->live);
	gt_array_free(use->holder_of_allocation);
	gt_array_free(use->holder_of_block);
	*use = (struct gt_memory_use){0};
}

void gt_memory_use_rewind(struct gt_memory_use *use)
{
	for (size_t i = 0; i < use->holders.count; i++)
		use->live[i] = (struct gt_memory_live){0};
	use->next_begin = 0;
	use->next_end = 0;
}

static bool ends_next(const struct gt_memory_use *use)
{
	const struct gt_memory_moment *end;
	const struct gt_memory_moment *begin;

	if (use->next_end == use->ends.count)
		return false;
	if (use->next_begin == use->begins.count)
		return true;
	end = &use->ends.rows[use->next_end];
	begin = &use->begins.rows[use->next_begin];
	return end->time_ns < begin->time_ns || (end->time_ns == begin->time_ns && !end->late);
}

int gt_memory_use_next(struct gt_memory_use *use, struct gt_memory_step *step)
{
	const struct gt_memory_moment *moment;
	struct gt_memory_live *live;

	if (use->next_begin == use->begins.count && use->next_end == use->ends.count)
		return 0;
	step->ends = ends_next(use);
	moment = step->ends ? &use->ends.rows[use->next_end++]
	                    : &use->begins.rows[use->next_begin++];
	step->time_ns = moment->time_ns;
	step->row = moment->row;
	step->holder = moment->is_block ? use->holder_of_block[moment->row]
	                                : use->holder_of_allocation[moment->row];
	step->size_bytes = moment->is_block ? use->trace->pool_blocks.rows[moment->row].size_bytes
	                                    : use->trace->allocations.rows[moment->row].size_bytes;
	live = &use->live[step->holder];
	live->bytes += step->ends ? 0 - step->size_bytes : step->size_bytes;
	live->count += step->ends ? UINT64_MAX : 1;
	step->live_bytes = live->bytes;
	step->live_count = live->count;
	return 1;
}
