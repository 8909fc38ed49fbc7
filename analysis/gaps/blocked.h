/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_GAPS_BLOCKED_H
#define GT_ANALYSIS_GAPS_BLOCKED_H

#include <stdint.h>

struct gt_host_waits;
struct gt_result;

/*
 * Adds the tables of what waits of the host cost: blocked, by function; blocked_ranges and
 * blocked_ops, by where in the program; meanwhile, by GPU; avoidable, of those that the program
 * could do without, with what says so; each but meanwhile of top rows.
 */
void gt_add_blocked(struct gt_result *result, const struct gt_host_waits *waits, uint64_t top);

#endif
