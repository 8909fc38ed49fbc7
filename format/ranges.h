/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_RANGES_H
#define GT_FORMAT_RANGES_H

#include <stdint.h>

/* Numbers in the records of NVTX's ranges and names. In files: never change or reuse one. */

/* Field kind of range_begin and range_end records. */
enum gt_range_step {
	GT_RANGE_STEP_STACK = 0, /* pushed, popped */
	GT_RANGE_STEP_ID = 1,    /* started, ended */
	GT_RANGE_STEP_MARK = 2,
	GT_RANGE_STEP_EMPTY = 3, /* popped where none had been pushed */
	GT_RANGE_STEP_LATER = 4, /* told of when it was over, with times of its own; has an id */
	GT_RANGE_STEP_LATER_MARK = 5,
};

/* Field kind of told_memory records. */
enum gt_told_memory {
	GT_TOLD_HEAP = 0,
	GT_TOLD_HEAP_END = 1,
	GT_TOLD_HEAP_RESET = 2,
	GT_TOLD_REGION = 3,
	GT_TOLD_REGION_SIZE = 4,
	GT_TOLD_REGION_END = 5,
	GT_TOLD_REGION_NAME = 6,
};

/* Field level, where nobody counts. */
#define GT_LEVEL_UNKNOWN UINT32_MAX

/* Field domain: of a handle that no domain has. */
#define GT_DOMAIN_UNKNOWN UINT32_MAX

/* Field place of range_data records: the payload itself. */
#define GT_PLACE_PAYLOAD UINT32_MAX

/* Field type of payload_schema records besides NVTX's. */
#define GT_SCHEMA_ENUM 100

/* Field offset of payload_entry records. */
#define GT_OFFSET_UNKNOWN UINT64_MAX

/* Field kind of given_name records. */
enum gt_named {
#define NAMED(name, number, help) GT_NAMED_##name = number,
#include "format/kinds/named.def"
};

#endif
