/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/recorded.h"
#include "model/kinds/memory.h"
#include "support/check.h"
#include "support/recording.h"

/* Covers STAGE(allocations): which call ended what another one made. */

enum { THREAD = 100, OTHER_THREAD = 101, ADDRESS = 0x7000, HANDLE = 0x9000 };

TestSuite(allocations, .init = make, .fini = drop);

#define ADD(what, start, end, ...)                                                                 \
	recording_add(&recording, memory_call, .kind = GT_MEMORY_CALL_##what, .start_ns = (start), \
	              .end_ns = (end), .thread = THREAD, .context = UINT32_MAX,                    \
	              .stream = UINT64_MAX, __VA_ARGS__)

/* The rows, of which there are so many. */
static const struct gt_allocation *collect_rows(size_t count)
{
	finish();
	cr_assert(eq(sz, trace.allocations.count, count));
	return trace.allocations.rows;
}

Test(allocations, last_from_the_call_that_makes_them_to_the_one_that_ends_them)
{
	const struct gt_allocation *rows;

	ADD(ALLOCATE, 2000, 2100, .address = ADDRESS, .size_bytes = 4096);
	ADD(FREE, 3000, 3100, .address = ADDRESS);
	rows = collect_rows(1);
	cr_expect(eq(i64, rows[0].end_ns - rows[0].start_ns, 1000));
	cr_expect(eq(u64, rows[0].address, ADDRESS));
	cr_expect(eq(u64, rows[0].size_bytes, 4096));
	cr_expect(eq(u32, rows[0].kind, GT_MEMORY_CALL_ALLOCATE));
	cr_expect(eq(u32, rows[0].made_by, 0));
	cr_expect(eq(u32, rows[0].ended_by, 1));
	cr_expect(eq(u32, rows[0].process, 0));
	cr_expect(eq(u32, rows[0].flags, 0));
}

Test(allocations, that_nobody_ended_were_there_at_the_end)
{
	const struct gt_allocation *rows;

	ADD(ALLOCATE_HOST, 2000, 2100, .address = ADDRESS, .size_bytes = 64);
	ADD(FREE, 3000, 3100, .address = ADDRESS); /* device memory, not the host's */
	ADD(FREE_HOST, 3200, 3300, .address = ADDRESS + 1);
	ADD(FREE_HOST, 3400, 3500, .address = ADDRESS, .result = 1); /* it failed */
	rows = collect_rows(1);
	cr_expect(eq(i64, rows[0].end_ns, 0));
	cr_expect(eq(u32, rows[0].ended_by, GT_NONE));
	cr_expect(eq(u32, rows[0].flags, GT_UNFINISHED));
	cr_expect(eq(u32, rows[0].device, GT_NONE), "it is the host's");
}

Test(allocations, are_those_of_calls_that_made_something)
{
	ADD(ALLOCATE, 2000, 2100, .size_bytes = 1 << 30, .result = 2);
	ADD(ALLOCATE, 2200, 0, .size_bytes = 64, .flags = GT_RECORD_UNFINISHED);
	ADD(ALLOCATE_ORDERED, 2400, 2500, .address = ADDRESS, .flags = GT_RECORD_GRAPH_NODE);
	ADD(SET_POOL, 2600, 2700, .handle = HANDLE);
	recording_add(&recording, memory_call, .kind = 4711, .start_ns = 2800, .end_ns = 2900,
	              .thread = THREAD, .address = ADDRESS);
	(void)collect_rows(0);
	cr_expect(eq(sz, trace.memory_calls.count, 5));
}

/* Another thread gets the address while the first one is still in its call. */
Test(allocations, get_an_address_again_when_the_call_to_free_it_has_begun)
{
	const struct gt_allocation *rows;

	ADD(ALLOCATE, 2000, 2100, .address = ADDRESS, .size_bytes = 1);
	recording_add(&recording, memory_call, .kind = GT_MEMORY_CALL_ALLOCATE, .start_ns = 2900,
	              .end_ns = 3200, .thread = OTHER_THREAD, .context = UINT32_MAX,
	              .stream = UINT64_MAX, .address = ADDRESS, .size_bytes = 2);
	ADD(FREE, 3000, 3300, .address = ADDRESS);
	rows = collect_rows(2);
	cr_expect(eq(u64, rows[0].size_bytes, 1));
	cr_expect(eq(u32, rows[0].ended_by, 2));
	cr_expect(eq(u64, rows[1].size_bytes, 2));
	cr_expect(eq(u32, rows[1].ended_by, GT_NONE));
}

Test(allocations, whose_end_nobody_saw_end_when_the_address_comes_again)
{
	const struct gt_allocation *rows;

	ADD(ALLOCATE, 2000, 2100, .address = ADDRESS);
	ADD(ALLOCATE, 3000, 3100, .address = ADDRESS);
	rows = collect_rows(2);
	cr_expect(eq(i64, rows[0].end_ns, rows[1].start_ns));
	cr_expect(eq(u32, rows[0].ended_by, GT_NONE));
	cr_expect(eq(u32, rows[0].flags, 0));
	cr_expect(eq(u32, rows[1].flags, GT_UNFINISHED));
}

Test(allocations, of_handles_end_with_the_last_of_them)
{
	const struct gt_allocation *rows;

	ADD(CREATE, 2000, 2100, .handle = HANDLE, .size_bytes = 2 << 20);
	ADD(RETAIN, 2200, 2300, .handle = HANDLE, .address = ADDRESS);
	ADD(RELEASE, 2400, 2500, .handle = HANDLE);
	ADD(RELEASE, 2600, 2700, .handle = HANDLE);
	ADD(RELEASE, 2800, 2900, .handle = HANDLE); /* of nothing */
	rows = collect_rows(1);
	cr_expect(eq(u32, rows[0].ended_by, 3));
}

Test(allocations, of_physical_memory_end_with_the_last_mapping)
{
	const struct gt_allocation *rows;

	ADD(CREATE, 2000, 2010, .handle = HANDLE, .size_bytes = 0x2000, .place = 1);
	ADD(MAP, 2100, 2110, .address = 0x10000, .size_bytes = 0x1000, .handle = HANDLE);
	ADD(MAP, 2200, 2210, .address = 0x20000, .size_bytes = 0x1000, .handle = HANDLE);
	ADD(RELEASE, 2300, 2310, .handle = HANDLE);
	ADD(CREATE, 2400, 2410, .handle = HANDLE, .size_bytes = 0x3000); /* the number again */
	ADD(UNMAP, 2500, 2510, .address = 0x10000, .size_bytes = 0x1000);
	ADD(UNMAP, 2600, 2610, .address = 0x20000, .size_bytes = 0x1000);
	rows = collect_rows(4);
	cr_expect(eq(u64, rows[0].size_bytes, 0x2000));
	cr_expect(eq(u32, rows[0].ended_by, 6));
	cr_expect(eq(u32, rows[1].backed_by, 0));
	cr_expect(eq(u32, rows[2].backed_by, 0));
	cr_expect(eq(u32, rows[0].backed_by, GT_NONE));
	cr_expect(eq(u32, rows[3].flags, GT_UNFINISHED));
}

Test(allocations, that_are_retained_by_address_stay_the_same_memory)
{
	const struct gt_allocation *rows;

	ADD(CREATE, 2000, 2010, .handle = HANDLE, .size_bytes = 0x1000);
	ADD(MAP, 2100, 2110, .address = 0x10000, .size_bytes = 0x1000, .handle = HANDLE);
	ADD(RELEASE, 2200, 2210, .handle = HANDLE);
	ADD(RETAIN, 2300, 2310, .handle = HANDLE + 1, .address = 0x10000);
	ADD(UNMAP, 2400, 2410, .address = 0x10000, .size_bytes = 0x1000);
	ADD(RELEASE, 2500, 2510, .handle = HANDLE + 1);
	rows = collect_rows(2);
	cr_expect(eq(u32, rows[0].ended_by, 5));
	cr_expect(eq(u32, rows[1].ended_by, 4));
}

/* Another handle of it is still there: it was not given back with the last mapping. */
Test(allocations, that_are_retained_outlive_their_mappings)
{
	const struct gt_allocation *rows;

	ADD(CREATE, 2000, 2010, .handle = HANDLE, .size_bytes = 0x1000);
	ADD(MAP, 2100, 2110, .address = 0x10000, .size_bytes = 0x1000, .handle = HANDLE);
	ADD(RELEASE, 2200, 2210, .handle = HANDLE);
	ADD(RETAIN, 2300, 2310, .handle = HANDLE + 1, .address = 0x10000);
	ADD(UNMAP, 2400, 2410, .address = 0x10000, .size_bytes = 0x1000);
	rows = collect_rows(2);
	cr_expect(eq(u32, rows[0].ended_by, GT_NONE));
	cr_expect(eq(u32, rows[0].flags, GT_UNFINISHED));
	cr_expect(eq(u32, rows[1].ended_by, 4));
}

Test(allocations, that_name_no_pool_come_from_the_one_that_the_device_was_given)
{
	const struct gt_allocation *rows;

#define ORDERED(at, where)                                                                         \
	recording_add(&recording, memory_call, .kind = GT_MEMORY_CALL_ALLOCATE_ORDERED,            \
	              .start_ns = (at), .end_ns = (at) + 10, .thread = THREAD, .context = CONTEXT, \
	              .stream = UINT64_MAX, .address = (where), .size_bytes = 64)
	ADD(CREATE_POOL, 2000, 2010, .handle = HANDLE, .place = 1);
	ORDERED(2100, ADDRESS);
	ADD(USE_POOL, 2200, 2210, .handle = HANDLE, .place = 1);
	ORDERED(2300, ADDRESS + 64);
	ADD(USE_POOL, 2400, 2410, .handle = HANDLE + 1, .place = 1); /* that nobody made: its own */
	ORDERED(2500, ADDRESS + 128);
	rows = collect_rows(4);
	cr_expect(eq(u64, rows[1].handle, 0));
	cr_expect(eq(u64, rows[2].handle, HANDLE));
	cr_expect(eq(u64, rows[3].handle, 0));
}

Test(allocations, of_a_pool_of_the_host_are_on_no_device)
{
	const struct gt_allocation *rows;

	ADD(CREATE_POOL, 2000, 2010, .handle = HANDLE);
	recording_add(&recording, memory_call, .kind = GT_MEMORY_CALL_ALLOCATE_ORDERED,
	              .start_ns = 2100, .end_ns = 2110, .thread = THREAD, .context = CONTEXT,
	              .stream = UINT64_MAX, .address = ADDRESS, .handle = HANDLE, .size_bytes = 64);
	rows = collect_rows(2);
	cr_expect(eq(u32, rows[1].device, GT_NONE));
}

Test(allocations, that_lie_side_by_side_are_unmapped_together)
{
	const struct gt_allocation *rows;

	ADD(RESERVE, 2000, 2050, .address = 0x10000, .size_bytes = 0x4000);
	ADD(MAP, 2100, 2150, .address = 0x10000, .size_bytes = 0x1000, .handle = HANDLE);
	ADD(MAP, 2200, 2250, .address = 0x11000, .size_bytes = 0x1000, .handle = HANDLE);
	ADD(MAP, 2300, 2350, .address = 0x12000, .size_bytes = 0x1000, .handle = HANDLE);
	ADD(UNMAP, 2400, 2450, .address = 0x10000, .size_bytes = 0x2000);
	ADD(FREE_ADDRESSES, 2500, 2550, .address = 0x10000, .size_bytes = 0x4000);
	rows = collect_rows(4);
	cr_expect(eq(u32, rows[0].ended_by, 5));
	cr_expect(eq(u32, rows[1].ended_by, 4));
	cr_expect(eq(u32, rows[2].ended_by, 4));
	cr_expect(eq(u32, rows[3].ended_by, GT_NONE));
}

Test(allocations, are_where_their_pool_their_handle_or_their_context_is)
{
	const struct gt_allocation *rows;

	recording_add(&recording, device, .ordinal = 2);
	recording_add(&recording, context, .id = 9, .device = 2);
	ADD(CREATE, 2000, 2010, .handle = HANDLE, .place = 3);
	ADD(MAP, 2020, 2030, .address = 0x10000, .size_bytes = 1, .handle = HANDLE);
	ADD(CREATE_POOL, 2040, 2050, .handle = HANDLE, .place = 3);
	ADD(ALLOCATE_ORDERED, 2060, 2070, .address = ADDRESS, .handle = HANDLE);
	recording_add(&recording, memory_call, .kind = GT_MEMORY_CALL_ALLOCATE, .start_ns = 2080,
	              .end_ns = 2090, .thread = THREAD, .context = 9, .stream = UINT64_MAX,
	              .address = ADDRESS + 64);
	ADD(REGISTER, 3000, 3010, .address = 0x100);
	rows = collect_rows(6);
	for (int i = 0; i < 5; i++)
		cr_expect(eq(u32, rows[i].device, rows[0].device), "row %d", i);
	cr_expect(eq(u32, trace.devices.rows[rows[0].device].ordinal, 2));
	cr_expect(eq(u32, rows[5].device, GT_NONE));
}

Test(allocations, have_the_range_that_was_open_when_they_were_made)
{
	const struct gt_allocation *rows;

	recording_add_string(&recording, STRING_NEXT, "cudaMalloc");
	recording_add_string(&recording, STRING_NEXT + 1, "load");
	recording_add(&recording, range_begin, .time_ns = 1900, .thread = THREAD, .order = 1,
	              .level = 1, .text = STRING_NEXT + 1);
	recording_add(&recording, api_call, .start_ns = 1990, .end_ns = 2110, .correlation = 5,
	              .function = STRING_NEXT, .thread = THREAD);
	ADD(ALLOCATE, 2000, 2100, .address = ADDRESS, .correlation = 5);
	rows = collect_rows(1);
	cr_assert(ne(u32, rows[0].range, GT_NONE));
	expect_text(gt_trace_text(&trace, trace.ranges.rows[rows[0].range].text), "load");
}

Test(allocations, have_the_range_of_another_thread_that_they_were_made_for)
{
	const struct gt_allocation *rows;

	recording_add_string(&recording, STRING_NEXT, "cudaMalloc");
	recording_add_string(&recording, STRING_NEXT + 1, "step");
	recording_add(&recording, range_begin, .time_ns = 1900, .thread = THREAD, .order = 1,
	              .level = 1, .text = STRING_NEXT + 1);
	recording_add(&recording, api_call, .start_ns = 1990, .end_ns = 2110, .correlation = 5,
	              .function = STRING_NEXT, .thread = OTHER_THREAD);
	recording_add(&recording, memory_call, .kind = GT_MEMORY_CALL_ALLOCATE, .start_ns = 2000,
	              .end_ns = 2100, .thread = OTHER_THREAD, .context = UINT32_MAX,
	              .stream = UINT64_MAX, .address = ADDRESS, .correlation = 5);
	rows = collect_rows(1);
	cr_assert(ne(u32, rows[0].range, GT_NONE));
	expect_text(gt_trace_text(&trace, trace.ranges.rows[rows[0].range].text), "step");
	cr_expect(ne(u32, rows[0].flags & GT_BY_TIME, 0));
}
