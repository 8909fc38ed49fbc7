/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/owned.h"

#include "model/kinds/memory.h"

/*
 * The default pool of a device has no handle that a call names. Memory of a pool with a
 * handle and no device is the host's.
 */
static enum gt_memory_owner owner_of_ordered(const struct gt_allocation *allocation)
{
	return allocation->device == GT_NONE && allocation->handle ? GT_MEMORY_OF_HOST
	                                                           : GT_MEMORY_OF_POOL;
}

enum gt_memory_owner gt_memory_owner(const struct gt_allocation *allocation)
{
	switch (allocation->kind) {
	case GT_MEMORY_CALL_ALLOCATE:
	case GT_MEMORY_CALL_CREATE_ARRAY:
		return GT_MEMORY_OF_DEVICE;
	case GT_MEMORY_CALL_CREATE: /* where it is to be is always said */
		return allocation->device == GT_NONE ? GT_MEMORY_OF_HOST : GT_MEMORY_OF_DEVICE;
	case GT_MEMORY_CALL_ALLOCATE_ORDERED:
		return owner_of_ordered(allocation);
	case GT_MEMORY_CALL_ALLOCATE_NODE:
		return GT_MEMORY_OF_GRAPH;
	case GT_MEMORY_CALL_ALLOCATE_HOST:
		return GT_MEMORY_OF_HOST;
	case GT_MEMORY_CALL_ALLOCATE_MANAGED:
		return GT_MEMORY_OF_MANAGER;
	default:
		return GT_MEMORY_OF_NOBODY;
	}
}

bool gt_memory_is_on_device(const struct gt_allocation *allocation)
{
	const enum gt_memory_owner owner = gt_memory_owner(allocation);

	return owner == GT_MEMORY_OF_DEVICE || owner == GT_MEMORY_OF_POOL ||
	       owner == GT_MEMORY_OF_GRAPH;
}

uint64_t gt_memory_bytes_on(const struct gt_allocation *allocation, gt_id device)
{
	return allocation->device == device && gt_memory_is_on_device(allocation)
	               ? (uint64_t)allocation->size_bytes
	               : 0;
}
