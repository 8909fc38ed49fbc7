/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_NSYS_ROWS_H
#define GT_IMPORT_NSYS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct gt_builder;
struct gt_nsys;

/* Rows of an nsys database as records of the capture at hand. */
struct gt_nsys_reading {
	struct gt_nsys *nsys;
	struct gt_builder *builder;
	int64_t process; /* the one at hand: upper bits of its globalPid */
	uint64_t payloads_left_out;
};

/* Calls and what GPUs did; GPUs, contexts, streams; NVTX and names of threads. */
void gt_nsys_read_work(struct gt_nsys_reading *reading);
void gt_nsys_read_places(struct gt_nsys_reading *reading);
void gt_nsys_read_ranges(struct gt_nsys_reading *reading);

/* Process id in an upper half. */
static inline uint32_t gt_nsys_pid(int64_t process)
{
	return (uint32_t)(process & 0xffffff);
}

#endif
