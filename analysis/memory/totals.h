/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_TOTALS_H
#define GT_ANALYSIS_MEMORY_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/memory/owned.h"
#include "model/memory/use.h"

struct gt_view;

/* How much memory there was of one sort, in a view's window. Bytes where nothing is said. */
struct gt_memory_total {
	uint64_t begun; /* allocations, or blocks, that began in the window */
	uint64_t begun_bytes;
	uint64_t ended;   /* that ended in it */
	uint64_t largest; /* of one of all that were there */
	uint64_t peak;
	gt_time peak_ns; /* when that was first reached */
	uint64_t now;    /* at the end of the window */
	uint64_t now_count;
	uint64_t kept; /* never ended, in the whole recording */
	uint64_t kept_count;
};

struct gt_memory_totals {
	struct gt_memory_use use;
	struct gt_memory_total *of_holder; /* by row of use.holders */
	struct gt_memory_total *of_device; /* by row of devices: all allocations that are on it */
	size_t device_count;
};

/* The view and its trace must outlive it. */
void gt_memory_totals_init(struct gt_memory_totals *totals, const struct gt_view *view);
void gt_memory_totals_release(struct gt_memory_totals *totals);

/* Whose the bytes of its allocations are; of blocks OF_NOBODY, since they lie in allocations. */
enum gt_memory_owner gt_memory_holder_owner(const struct gt_memory_holder *holder);

/* Whether its allocations are memory in use on its device. */
bool gt_memory_holder_is_on_device(const struct gt_memory_holder *holder);

#endif
