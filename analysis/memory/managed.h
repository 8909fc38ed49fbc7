/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_MANAGED_H
#define GT_ANALYSIS_MEMORY_MANAGED_H

#include <stdint.h>

struct gt_ranges;
struct gt_result;
struct gt_trace;

/* The section "managed": what happened to managed memory, by kind, cause and where. */
void gt_add_managed(struct gt_result *result, const struct gt_trace *trace);

/* The section "moved": the same by the allocation that it happened to, what moved most first. */
void gt_add_moved(struct gt_result *result, const struct gt_ranges *ranges, uint64_t top);

/* The section "placed": calls that say where managed memory is to be, by what they say. */
void gt_add_placed(struct gt_result *result, const struct gt_trace *trace);

#endif
