/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_HAZARDS_DECLARED_ACCESSES_H
#define GT_ANALYSIS_REPORTS_HAZARDS_DECLARED_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * A program's account of the memory that its kernels use, by extended payloads of NVTX on a range
 * around the launch: a struct whose entries are called gputrace.address, gputrace.bytes and
 * gputrace.mode, any number of them in a payload or array. It holds for every kernel that is
 * launched in the range, and in no range inside it that says something itself.
 */
enum gt_declared_mode { GT_DECLARED_READS = 1, GT_DECLARED_WRITES = 2, GT_DECLARED_BOTH = 3 };

struct gt_declared {
	uint64_t address;
	uint64_t size_bytes;
	uint32_t mode; /* bits of enum gt_declared_mode */
};

struct gt_declared_accesses {
	gt_array(struct gt_declared) list;
	size_t *first; /* by row of ranges, and one more: its own in list */
	bool any;
};

void gt_declared_accesses_init(struct gt_declared_accesses *declared, const struct gt_trace *trace);
void gt_declared_accesses_release(struct gt_declared_accesses *declared);

/* Reads a text, JSON as collector/nvtx/payloads.h makes it. Returns how many, at most so many. */
size_t gt_declared_read(const char *text, struct gt_declared *list, size_t most);

#endif
