/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_POOLS_POOLS_H
#define GT_INJECTION_POOLS_POOLS_H

struct gt_session;

/*
 * The program's own pools of memory, as it tells of them: the functions of
 * include/gputrace/gputrace.h, on threads of the program. Blocks become records as they come, and
 * nothing is kept of them (blocks.h). For pools all is kept (kept.h) that statistics, pulls, and
 * the session of a fork's child need.
 */

#define GT_POOLS_KEPT 1024 /* pools that are there at one time */

/* When a session starts: memory, or in the child of a fork the pools that its parent had. */
void gt_pools_start(struct gt_session *session);

/* In the child of a fork: threads that were at it are not here. */
void gt_pools_forget(void);

#endif
