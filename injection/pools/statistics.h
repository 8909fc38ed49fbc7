/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_POOLS_STATISTICS_H
#define GT_INJECTION_POOLS_STATISTICS_H

#include <stdint.h>

#include "injection/pools/kept.h"

/*
 * Statistics of pools: those that the program tells, and those for which a function of the program
 * is called at intervals, a pull.
 */

/* Functions of gputrace.h. */
void gt_pool_stats(uint64_t pool, const struct gputrace_pool_stats *stats);
void gt_pool_pull(uint64_t pool, gputrace_pull *pull, void *user, uint64_t interval_ns);

/* With the lock, which is given up meanwhile: until no pull of the pool runs. */
void gt_pool_wait_for_pull(uint32_t number);

/* On gputrace's own thread: asks the pools that are due; returns how long none is, nanoseconds. */
uint64_t gt_pools_pull(struct gt_session *session);

#endif
