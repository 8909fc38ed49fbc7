/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_GAPS_HOST_WAITS_H
#define GT_ANALYSIS_GAPS_HOST_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/ranges/owners.h"
#include "model/view/view.h"

/*
 * Every call in which the host may wait, that has times: what it waited for, what the GPU did
 * meanwhile, what the wait cost, and whether the program could have done without. Made from the
 * table syncs and the edges that lead to it, of all that happened; a filter chooses the waits that
 * are listed.
 */

/* How a wait came to its end. */
enum gt_wait_outcome {
	GT_WAIT_UNKNOWN, /* what it waited for is not recorded */
	GT_WAIT_BLOCKED, /* work ended while the host waited for it */
	GT_WAIT_DONE,    /* the work had been done before, and the call returned at once */
	GT_WAIT_NOTHING, /* nothing had ever been asked for */
};

/* Why the program could do without a wait, as far as what is recorded tells. */
enum gt_wait_reason {
	GT_WAIT_NEEDED,     /* nothing says so */
	GT_WAIT_SMALL_READ, /* the host stopped to read a few bytes */
	GT_WAIT_PAGEABLE, /* for a copy from memory that is not pinned, which it asked for itself */
	GT_WAIT_IDLE,     /* nothing had been asked for since an earlier wait */
	GT_WAIT_SAME_STREAM,  /* more work for the same stream followed, which waits by itself */
	GT_WAIT_OTHER_STREAM, /* work for another stream followed, which could wait for an event */
	GT_WAIT_REASONS,
};

struct gt_host_wait {
	gt_id sync;
	gt_id device;       /* whose work it is about; GT_NONE: not known */
	gt_string function; /* 0: its API call is not recorded */
	struct gt_owner owner;
	int64_t blocked_ns;
	int64_t busy_ns;    /* of that: the GPU ran kernels; with a device alone, as these two: */
	int64_t copying_ns; /* it ran copies or fills, and no kernel */
	int64_t idle_ns;    /* it ran nothing; the rest is not measured */
	int64_t gap_ns;     /* with emptied: from when the GPU ran dry to the next work's begin */
	int64_t bytes;      /* of SMALL_READ and PAGEABLE */
	int64_t host_ns; /* of SAME_STREAM and OTHER_STREAM: from its return to the call next_call */
	gt_id next_call; /* GT_NONE: none */
	enum gt_wait_outcome outcome;
	enum gt_wait_reason reason;
	bool emptied; /* the GPU ran dry in it, and what ran next was asked for after it returned */
};

struct gt_host_waits {
	gt_array(struct gt_host_wait) list; /* in the order in which they began */
	const struct gt_trace *trace;       /* whose rows the members name: all that happened */
	bool has_calls; /* API calls are there: else nobody knows what came next, or emptied a GPU */
	bool has_managed; /* managed memory is there: which waits could go is not said */
};

enum { GT_SMALL_READ_BYTES = 4096 };

/* small_bytes: a copy to the host of no more is a small read. */
void gt_host_waits_init(struct gt_host_waits *waits, const struct gt_view *view,
                        uint64_t small_bytes);
void gt_host_waits_release(struct gt_host_waits *waits);

#endif
