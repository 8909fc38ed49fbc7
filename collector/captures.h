/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_CAPTURES_H
#define GT_COLLECTOR_CAPTURES_H

#include <stdbool.h>

struct gt_trace;

/*
 * Finds the syncs that did nothing when they were called: those asked of a stream that was being
 * captured, which are part of a graph since, and those that begin and end captures. Syncs are in
 * order of time, and their events the rows that the handles got first. captured: one for each
 * row of syncs.
 */
void gt_captures_find(const struct gt_trace *trace, bool *captured);

#endif
