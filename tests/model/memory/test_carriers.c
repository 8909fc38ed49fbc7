/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/carriers.h"

#include "model/kinds/memory.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/scene.h"

/* Row of allocations. */
static gt_id allocate(gt_count kind, uint64_t address, gt_size bytes, gt_time start_ns,
                      gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaMalloc", start_ns, start_ns + 1);
	struct gt_allocation *row = trace_allocation(&trace, call, device, kind, bytes, end_ns);

	row->address = address;
	return (gt_id)(trace.allocations.count - 1);
}

static void hand_out(gt_id pool, uint64_t address, gt_time start_ns, gt_time end_ns)
{
	trace_block(&trace, pool, 512, start_ns, end_ns)->address = address;
}

static void map(uint64_t address, gt_time start_ns, uint64_t handle)
{
	const gt_id row = allocate(GT_MEMORY_CALL_MAP, address, 0x8000, start_ns, 0);

	trace.allocations.rows[row].handle = handle;
}

static void allocate_one(gt_time number, gt_id owner)
{
	const gt_id row = allocate(GT_MEMORY_CALL_ALLOCATE, 0x1000000 + 0x1000 * (uint64_t)number,
	                           0x800, number + 1, number % 3 ? 500000 : 0);

	trace.allocations.rows[row].process = owner;
}

static gt_id *find(void)
{
	const struct gt_view view = gt_view_of(&trace);

	return gt_memory_carriers(&view);
}

Test(memory_carriers, are_what_blocks_lie_in_when_they_are_handed_out)
{
	gt_id *pools;
	gt_id early;
	gt_id beside;
	gt_id late;
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "cache");
	early = allocate(GT_MEMORY_CALL_ALLOCATE, 0x10000, 0x10000, 10, 100);
	beside = allocate(GT_MEMORY_CALL_ALLOCATE, 0x40000, 0x1000, 20, 0);
	late = allocate(GT_MEMORY_CALL_ALLOCATE, 0x18000, 0x8000, 200, 0);
	hand_out(pool, 0x30000, 30, 40);
	hand_out(pool, 0x19000, 50, 60);
	hand_out(pool, 0x41000, 300, 0);
	pools = find();
	cr_expect(eq(u32, pools[early], pool));
	cr_expect(eq(u32, pools[beside], GT_NONE));
	cr_expect(eq(u32, pools[late], GT_NONE), "the block was given back before");
	gt_array_free(pools);
	gt_trace_release(&trace);
}

Test(memory_carriers, are_the_physical_memory_behind_a_mapping)
{
	gt_id *pools;
	gt_id reserved;
	gt_id first;
	gt_id second;
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "cache");
	reserved = allocate(GT_MEMORY_CALL_RESERVE, 0x100000, 0x100000, 10, 0);
	first = allocate(GT_MEMORY_CALL_CREATE, 0, 0x8000, 20, 0);
	trace.allocations.rows[first].handle = 7;
	second = allocate(GT_MEMORY_CALL_CREATE, 0, 0x8000, 30, 0);
	trace.allocations.rows[second].handle = 8;
	map(0x100000, 40, 7);
	map(0x108000, 50, 8);
	hand_out(pool, 0x108200, 60, 0);
	pools = find();
	cr_expect(eq(u32, pools[reserved], GT_NONE));
	cr_expect(eq(u32, pools[first], GT_NONE));
	cr_expect(eq(u32, pools[second], pool));
	gt_array_free(pools);
	gt_trace_release(&trace);
}

Test(memory_carriers, are_found_among_many_and_in_their_own_process)
{
	enum { MANY = 10000 };
	gt_id *pools;
	gt_id other;
	gt_id pool;

	scene_begin(1000000);
	other = trace_process(&trace, "other", 101);
	pool = trace_pool(&trace, other, device, "cache");
	for (gt_time i = 0; i < MANY; i++)
		allocate_one(i, i % 2 ? other : process);
	for (gt_time i = 0; i < MANY; i += 97)
		hand_out(pool, 0x1000000 + 0x1000 * (uint64_t)i + 0x7ff, 600000 + i, 0);
	pools = find();
	for (gt_id i = 0; i < MANY; i++)
		cr_expect(eq(u32, pools[i], i % 97 == 0 && i % 2 && i % 3 == 0 ? pool : GT_NONE));
	gt_array_free(pools);
	gt_trace_release(&trace);
}

/* Two processes may have memory at one address: each block lies in what its own has there. */
Test(memory_carriers, are_of_no_other_process)
{
	gt_id *pools;
	gt_id theirs;
	gt_id first;
	gt_id other;
	gt_id above;
	gt_id pool;

	scene_begin(1000);
	other = trace_process(&trace, "other", 101);
	pool = trace_pool(&trace, other, device, "cache");
	first = allocate(GT_MEMORY_CALL_ALLOCATE, 0x10000, 0x10000, 10, 0);
	above = allocate(GT_MEMORY_CALL_ALLOCATE, 0x90000, 0x1000, 20, 0);
	trace.allocations.rows[above].process = other;
	hand_out(pool, 0x10200, 30, 40);
	pools = find();
	cr_expect(eq(u32, pools[first], GT_NONE), "it is the other process's block");
	cr_expect(eq(u32, pools[above], GT_NONE));
	gt_array_free(pools);

	theirs = allocate(GT_MEMORY_CALL_ALLOCATE, 0x10000, 0x10000, 50, 0);
	trace.allocations.rows[theirs].process = other;
	hand_out(pool, 0x10200, 60, 0);
	pools = find();
	cr_expect(eq(u32, pools[first], GT_NONE));
	cr_expect(eq(u32, pools[theirs], pool));
	gt_array_free(pools);
	gt_trace_release(&trace);
}
