/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kinds/memory.h"
#include "model/memory/owned.h"
#include "support/check.h"

enum { DEVICE = 1, POOL = 0x9000 };

#define OWNER(what, ...)                                                                           \
	gt_memory_owner(&(struct gt_allocation){.kind = GT_MEMORY_CALL_##what, __VA_ARGS__})

Test(memory_owned, memory_counts_where_it_was_made)
{
	cr_expect(eq(int, OWNER(ALLOCATE, .device = DEVICE), GT_MEMORY_OF_DEVICE));
	cr_expect(eq(int, OWNER(CREATE_ARRAY, .device = DEVICE), GT_MEMORY_OF_DEVICE));
	cr_expect(eq(int, OWNER(CREATE, .device = DEVICE), GT_MEMORY_OF_DEVICE));
	cr_expect(eq(int, OWNER(CREATE, .device = GT_NONE), GT_MEMORY_OF_HOST));
	cr_expect(eq(int, OWNER(ALLOCATE_HOST, .device = GT_NONE), GT_MEMORY_OF_HOST));
	cr_expect(eq(int, OWNER(ALLOCATE_MANAGED, .device = DEVICE), GT_MEMORY_OF_MANAGER));
	cr_expect(eq(int, OWNER(ALLOCATE_NODE, .device = DEVICE), GT_MEMORY_OF_GRAPH));
}

Test(memory_owned, memory_of_a_pool_is_where_the_pool_is)
{
	cr_expect(eq(int, OWNER(ALLOCATE_ORDERED, .device = DEVICE), GT_MEMORY_OF_POOL));
	cr_expect(eq(int, OWNER(ALLOCATE_ORDERED, .device = DEVICE, .handle = POOL),
	             GT_MEMORY_OF_POOL));
	cr_expect(eq(int, OWNER(ALLOCATE_ORDERED, .device = GT_NONE, .handle = POOL),
	             GT_MEMORY_OF_HOST));
	cr_expect(eq(int, OWNER(ALLOCATE_ORDERED, .device = GT_NONE), GT_MEMORY_OF_POOL));
}

Test(memory_owned, what_stands_for_memory_is_none)
{
	static const unsigned kinds[] = {
		GT_MEMORY_CALL_MAP,
		GT_MEMORY_CALL_RESERVE,
		GT_MEMORY_CALL_REGISTER,
		GT_MEMORY_CALL_OPEN_IPC,
		GT_MEMORY_CALL_IMPORT,
		GT_MEMORY_CALL_RETAIN,
		GT_MEMORY_CALL_IMPORT_POINTER,
		GT_MEMORY_CALL_IMPORT_POOL,
		GT_MEMORY_CALL_IMPORT_EXTERNAL,
		GT_MEMORY_CALL_MAP_EXTERNAL,
		GT_MEMORY_CALL_CREATE_POOL,
		GT_MEMORY_CALL_CREATE_MULTICAST,
		4711,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		cr_expect(eq(int,
		             gt_memory_owner(
				     &(struct gt_allocation){.kind = kinds[i], .device = DEVICE}),
		             GT_MEMORY_OF_NOBODY),
		          "kind %u", kinds[i]);
}

Test(memory_owned, bytes_are_on_one_device)
{
	struct gt_allocation allocation = {
		.kind = GT_MEMORY_CALL_ALLOCATE_ORDERED, .device = DEVICE, .size_bytes = 4096};

	cr_expect(eq(u64, gt_memory_bytes_on(&allocation, DEVICE), 4096));
	cr_expect(eq(u64, gt_memory_bytes_on(&allocation, 0), 0));
	allocation.kind = GT_MEMORY_CALL_MAP;
	cr_expect(eq(u64, gt_memory_bytes_on(&allocation, DEVICE), 0));
	allocation.kind = GT_MEMORY_CALL_ALLOCATE_MANAGED;
	cr_expect(eq(u64, gt_memory_bytes_on(&allocation, DEVICE), 0));
}
