/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/occupancy_changes.h"

#include <math.h>

#include "support/check.h"
#include "support/trace.h"

static struct gt_trace trace;
static struct gt_launch_shape *shape;
static struct gt_occupancy_change changes[GT_OCCUPANCY_CHANGES];

static void make(void)
{
	trace_init(&trace, 1000);
	trace_device(&trace);
	trace_shape(&trace, "gemm", 1320, 256);
	shape = trace.launch_shapes.rows;
}

static void drop(void)
{
	gt_trace_release(&trace);
}

TestSuite(occupancy_changes, .init = make, .fini = drop);

static size_t find(void)
{
	return gt_occupancy_changes(&trace.devices.rows[0], shape, changes);
}

static struct gt_occupancy now(void)
{
	return gt_occupancy_of(&trace.devices.rows[0], shape);
}

/* The same shape with other registers. */
static unsigned blocks_with(gt_count registers, gt_size dynamic)
{
	struct gt_launch_shape changed = *shape;

	changed.registers = registers;
	changed.shared_static_bytes = 0;
	changed.shared_dynamic_bytes = dynamic;
	return gt_occupancy_of(&trace.devices.rows[0], &changed).blocks_per_sm;
}

Test(occupancy_changes, are_none_of_what_is_full)
{
	cr_assert(epsilon_eq(dbl, now().percent, 100, 1e-9));
	cr_expect(eq(sz, find(), 0));
}

Test(occupancy_changes, are_none_of_what_is_not_known)
{
	trace.devices.rows[0].cc_major = 0;
	shape->registers = 128;
	cr_expect(eq(sz, find(), 0));
}

/* 72 registers: three blocks of 256; 64 are the most for four, 32 for eight, which fill it. */
Test(occupancy_changes, name_the_registers_for_one_more_block_and_for_all)
{
	shape->registers = 72;
	cr_assert(eq(uint, now().blocks_per_sm, 3));
	cr_assert(ge(sz, find(), 2));
	cr_expect(eq(int, (int)changes[0].kind, GT_CHANGE_USE));
	cr_expect(eq(u32, changes[0].registers, 64));
	cr_expect(eq(u64, changes[0].shared_bytes, 0));
	cr_expect(eq(uint, changes[0].becomes.blocks_per_sm, 4));
	cr_expect(eq(u32, changes[1].registers, 32));
	cr_expect(eq(uint, changes[1].becomes.blocks_per_sm, 8));
	cr_expect(epsilon_eq(dbl, changes[1].becomes.percent, 100, 1e-9));
	cr_expect(eq(uint, blocks_with(64, 0), 4));
	cr_expect(eq(uint, blocks_with(65, 0), 3));
}

/* The step that is one byte too large is no step. */
Test(occupancy_changes, name_the_shared_memory_for_one_more_block)
{
	shape->shared_static_bytes = 10 << 10;
	shape->shared_dynamic_bytes = 80 << 10;
	cr_assert(eq(uint, now().blocks_per_sm, 2));
	cr_assert(ge(sz, find(), 1));
	cr_expect(eq(int, (int)changes[0].kind, GT_CHANGE_USE));
	cr_expect(eq(u32, changes[0].registers, 0));
	/* A third of 228 KiB in units of 128 bytes, without the 1 KiB that the system takes. */
	cr_expect(eq(u64, changes[0].shared_bytes, 228 * 1024 / 3 / 128 * 128 - 1024));
	cr_expect(eq(uint, changes[0].becomes.blocks_per_sm, 3));
	cr_expect(eq(uint, blocks_with(32, changes[0].shared_bytes), 3));
	cr_expect(eq(uint, blocks_with(32, changes[0].shared_bytes + 1), 2));
}

/* Neither alone lets another block in. */
Test(occupancy_changes, name_both_where_both_are_in_the_way)
{
	shape->registers = 128;
	shape->shared_dynamic_bytes = 100 << 10;
	cr_assert(eq(uint, now().blocks_per_sm, 2));
	cr_assert(ge(sz, find(), 1));
	cr_expect(eq(u32, changes[0].registers, 80));
	cr_expect(eq(u64, changes[0].shared_bytes, 228 * 1024 / 3 / 128 * 128 - 1024));
	cr_expect(eq(uint, changes[0].becomes.blocks_per_sm, 3));
	cr_expect(eq(uint, blocks_with(80, 100 << 10), 2));
	cr_expect(eq(uint, blocks_with(128, changes[0].shared_bytes), 2));
}

/* 15 KiB and 1 of the system's in 64 KiB: four blocks, and eight in 132 KiB and more. */
Test(occupancy_changes, begin_with_the_memory_that_the_cache_has)
{
	shape->shared_static_bytes = 15 << 10;
	shape->shared_executed_bytes = 64 << 10;
	cr_assert(eq(uint, now().blocks_per_sm, 4));
	cr_assert(ge(sz, find(), 1));
	cr_expect(eq(int, (int)changes[0].kind, GT_CHANGE_CONFIGURATION));
	cr_expect(eq(u64, changes[0].configured_bytes, 132 << 10));
	cr_expect(eq(uint, changes[0].becomes.blocks_per_sm, 8));
}

/* 768 threads: two blocks are 48 of 64 warps; 512 and 1024 fill it, and 1024 is nearer. */
Test(occupancy_changes, name_the_block_that_fills_the_multiprocessor)
{
	shape->block_x = 48;
	shape->block_y = 16;
	cr_assert(eq(uint, now().warps_per_sm, 48));
	cr_assert(eq(sz, find(), 1));
	cr_expect(eq(int, (int)changes[0].kind, GT_CHANGE_BLOCK));
	cr_expect(eq(u32, changes[0].threads, 1024));
	cr_expect(epsilon_eq(dbl, changes[0].becomes.percent, 100, 1e-9));
	/* 990 blocks of 1024 threads are as many threads as 1320 of 768. */
	cr_expect(epsilon_eq(dbl, changes[0].becomes.waves_per_sm, 990.0 / 264, 1e-9));
}

/* The same blocks and as many of them, whichever axes they lie along. */
Test(occupancy_changes, count_threads_and_blocks_of_all_axes)
{
	shape->block_x = 12;
	shape->block_y = 16;
	shape->block_z = 4;
	shape->grid_x = 11;
	shape->grid_y = 12;
	shape->grid_z = 10;
	cr_assert(eq(uint, now().warps_per_sm, 48));
	cr_assert(eq(sz, find(), 1));
	cr_expect(eq(int, (int)changes[0].kind, GT_CHANGE_BLOCK));
	cr_expect(eq(u32, changes[0].threads, 1024));
	cr_expect(epsilon_eq(dbl, changes[0].becomes.waves_per_sm, 990.0 / 264, 1e-9));
}

/* 16 barriers of 64: four blocks, however few registers they have. */
Test(occupancy_changes, are_other_blocks_where_barriers_are_the_limit)
{
	shape->barriers = 16;
	shape->registers = 48;
	cr_assert(eq(int, (int)now().limit, GT_LIMIT_BARRIERS));
	cr_assert(eq(sz, find(), 1));
	cr_expect(eq(int, (int)changes[0].kind, GT_CHANGE_BLOCK));
	cr_expect(eq(uint, changes[0].becomes.warps_per_sm, 40));
}

/* Blocks of a warp: a multiprocessor holds 32 of them, half of its warps. */
Test(occupancy_changes, name_larger_blocks_where_their_number_is_the_limit)
{
	shape->block_x = 32;
	shape->registers = 16;
	cr_assert(eq(int, (int)now().limit, GT_LIMIT_BLOCKS));
	cr_assert(eq(sz, find(), 1));
	cr_expect(eq(u32, changes[0].threads, 64));
	cr_expect(epsilon_eq(dbl, changes[0].becomes.percent, 100, 1e-9));
}

Test(occupancy_changes, survive_shapes_no_device_can_run)
{
	*shape = (struct gt_launch_shape){.grid_x = UINT32_MAX,
	                                  .grid_y = UINT32_MAX,
	                                  .grid_z = UINT32_MAX,
	                                  .block_x = 256,
	                                  .block_y = 1,
	                                  .block_z = 1,
	                                  .registers = UINT32_MAX,
	                                  .shared_static_bytes = UINT64_MAX,
	                                  .shared_dynamic_bytes = UINT64_MAX};
	cr_expect(le(sz, find(), GT_OCCUPANCY_CHANGES));
}
