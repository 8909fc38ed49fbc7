/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_REPLAYS_H
#define GT_INJECTION_SESSION_REPLAYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_session;

/*
 * Launches that CUPTI's range profiler replayed. CUPTI never finishes their activity records, so it
 * keeps the buffer of each one, and takes another for the next launch: after as many launches as
 * there are buffers it drops all records. A forced flush brings these buffers back. It also brings
 * back records of work that still runs, which then never get times: the flusher forces only while
 * no other record is open.
 */

#define GT_REPLAYS 1024 /* correlation ids that are remembered */

enum gt_replays_wanted {
	GT_REPLAYS_NOT_WANTED,
	GT_REPLAYS_IF_ALONE, /* force unless the record of other work is open */
	GT_REPLAYS_ANYWAY,
};

struct gt_replays {
	_Atomic bool under_way;  /* CUPTI replays a launch now: a flush waits for it */
	_Atomic uint32_t wanted; /* enum gt_replays_wanted, of the flusher */
	_Atomic uint32_t count;  /* since the last forced flush */
	_Atomic uint32_t correlations[GT_REPLAYS];
	bool noted; /* of whoever replays, one at a time */
};

/* Flusher, after each flush: whether to force one now. */
bool gt_replays_may_be_forced(struct gt_session *session);

/* Flusher, after the forced flush. */
void gt_replays_forget(struct gt_session *session);

#endif
