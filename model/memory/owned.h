/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_MEMORY_OWNED_H
#define GT_MODEL_MEMORY_OWNED_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Whose the bytes of an allocation are, so that no sum has them twice. Several rows of allocations
 * can be about the same memory: physical memory, each mapping of it and the addresses reserved for
 * these; a pool and what it hands out; memory here and its import in another process.
 */
enum gt_memory_owner {
	/*
	 * Nothing of the process's own: a mapping, reserved or registered addresses, a pool, a
	 * multicast object, and what is imported or retained. Its memory is counted where it was
	 * made: in another row, in another process, or by who allocated it without CUDA.
	 */
	GT_MEMORY_OF_NOBODY,
	GT_MEMORY_OF_DEVICE,  /* on its device by itself */
	GT_MEMORY_OF_POOL,    /* in what one of CUDA's pools has reserved on its device */
	GT_MEMORY_OF_GRAPH,   /* in what CUDA has reserved for nodes of graphs on its device */
	GT_MEMORY_OF_HOST,    /* the host's, which CUDA has taken and pinned */
	GT_MEMORY_OF_MANAGER, /* managed: on the host or on any device, page by page */
};

enum gt_memory_owner gt_memory_owner(const struct gt_allocation *allocation);

/*
 * Whether its bytes are in use on its device: OF_DEVICE, OF_POOL and OF_GRAPH. Where what pools or
 * graphs have reserved is added up as well, OF_POOL or OF_GRAPH are in that already.
 */
bool gt_memory_is_on_device(const struct gt_allocation *allocation);

/* Its bytes in use on that row of devices, 0: none. */
uint64_t gt_memory_bytes_on(const struct gt_allocation *allocation, gt_id device);

#endif
