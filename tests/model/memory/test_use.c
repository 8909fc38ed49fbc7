/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/use.h"

#include "model/kinds/memory.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/scene.h"

static struct gt_view view;
static struct gt_memory_use use;

static struct gt_allocation *allocate(gt_count kind, gt_size bytes, gt_time start_ns,
                                      gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaMalloc", start_ns, start_ns + 5);

	return trace_allocation(&trace, call, device, kind, bytes, end_ns);
}

static void begin(void)
{
	view = gt_view_of(&trace);
	gt_memory_use_init(&use, &view);
}

static void end(void)
{
	gt_memory_use_release(&use);
	gt_trace_release(&trace);
}

static void expect_step(gt_time time_ns, gt_size live_bytes, uint64_t live_count)
{
	struct gt_memory_step step;

	cr_assert(gt_memory_use_next(&use, &step) == 1);
	cr_expect(eq(i64, step.time_ns - TRACE_START_NS, time_ns));
	cr_expect(eq(u64, step.live_bytes, live_bytes));
	cr_expect(eq(u64, step.live_count, live_count));
}

static void expect_end(void)
{
	struct gt_memory_step step;

	cr_expect(eq(int, gt_memory_use_next(&use, &step), 0));
}

Test(memory_use, steps_when_calls_return_and_when_memory_is_freed)
{
	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, 100, 10, 50);
	allocate(GT_MEMORY_CALL_ALLOCATE, 30, 20, 0);
	begin();
	expect_step(15, 100, 1);
	expect_step(25, 130, 2);
	expect_step(50, 30, 1);
	expect_end();
	gt_memory_use_rewind(&use);
	expect_step(15, 100, 1);
	end();
}

Test(memory_use, counts_kinds_apart_and_blocks_by_pool)
{
	struct gt_memory_step step;
	gt_id pool;

	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, 100, 10, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE_MANAGED, 7, 20, 0);
	pool = trace_pool(&trace, process, device, "cache");
	trace_block(&trace, pool, 64, 30, 40);
	begin();
	cr_assert(eq(sz, use.holders.count, 3));
	expect_step(15, 100, 1);
	expect_step(25, 7, 1);
	cr_assert(gt_memory_use_next(&use, &step) == 1);
	cr_expect(eq(u32, use.holders.rows[step.holder].pool, pool));
	cr_expect(eq(u32, use.holders.rows[step.holder].device, device));
	cr_expect(eq(u64, step.live_bytes, 64));
	expect_step(40, 0, 0);
	expect_end();
	end();
}

Test(memory_use, ends_what_ends_before_it_begins_others_at_the_same_time)
{
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "cache");
	trace_block(&trace, pool, 64, 30, 40);
	trace_block(&trace, pool, 64, 40, 40);
	trace_block(&trace, pool, 64, 40, 60);
	begin();
	expect_step(30, 64, 1);
	expect_step(40, 0, 0);
	expect_step(40, 64, 1);
	expect_step(40, 128, 2);
	expect_step(40, 64, 1);
	expect_step(60, 0, 0);
	expect_end();
	end();
}

Test(memory_use, of_a_window_is_what_was_there_in_it)
{
	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, 100, 10, 300);
	allocate(GT_MEMORY_CALL_ALLOCATE, 10, 20, 900);
	allocate(GT_MEMORY_CALL_ALLOCATE, 1, 250, 0);
	view = gt_view_of(&trace);
	view.start_ns = TRACE_START_NS + 200;
	view.end_ns = TRACE_START_NS + 800;
	gt_memory_use_init(&use, &view);
	expect_step(200, 100, 1);
	expect_step(200, 110, 2);
	expect_step(255, 111, 3);
	expect_step(300, 11, 2);
	expect_end();
	end();
}

Test(memory_use, keeps_the_sum_of_a_million_rows)
{
	enum { ROWS = 1000000 };
	struct gt_memory_step step;
	gt_id pool;
	uint64_t steps = 0;

	scene_begin(20 * (gt_time)ROWS);
	pool = trace_pool(&trace, process, device, "cache");
	for (gt_time i = 0; i < ROWS; i++)
		trace_block(&trace, pool, 512, 10 * i + 1, 10 * i + 1 + 7919 * (i % 97 + 1));
	begin();
	while (gt_memory_use_next(&use, &step) == 1)
		steps++;
	cr_expect(eq(u64, steps, 2 * ROWS));
	cr_expect(eq(u64, step.live_bytes, 0));
	end();
}
