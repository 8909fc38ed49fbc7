/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_PENDING_PENDING_H
#define GT_ANALYSIS_PENDING_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/path/stream_order.h"
#include "model/trace.h"

/*
 * Work that was given to streams and has not ended, at one moment of a recording (gt_collect_live),
 * and what holds it back. A launch of a CUDA graph is one piece of work. Work of a stream runs in
 * the order in which it was given. So what comes before work that ended, or before a wait of the
 * host that returned, has ended too, with or without a record that says so.
 *
 * CUPTI fills a buffer of records in order, and each thread has its own (CUPTI 13.0 on an H200,
 * 2026-11-29): of work that a thread gave behind work of its that has not ended, on whatever
 * stream, there is no record.
 */

enum gt_pending_state {
	GT_PENDING_UNTOLD,  /* it may have ended: nobody can have fetched its record yet */
	GT_PENDING_HIDDEN,  /* it may have ended: work that its thread gave before has not */
	GT_PENDING_FIRST,   /* nothing of its stream is before it: it runs, or is stuck */
	GT_PENDING_BEHIND,  /* behind other work of its stream */
	GT_PENDING_EVENT,   /* behind a wait of its stream for an event or a value */
	GT_PENDING_MAYBE,   /* likewise, and it is not known whether that wait is over */
	GT_PENDING_DEFAULT, /* behind a default stream, or on one behind the streams it waits for */
};

/* For people. Constant. */
const char *gt_pending_state_name(enum gt_pending_state state);

struct gt_pending_work {
	struct gt_step step; /* of a graph that is not recorded as a whole its launch */
	struct gt_step node; /* of a graph: the first node that has not ended, table 0: not known */
	gt_id stream;        /* that it was given to, GT_NONE: not known */
	gt_id process;
	gt_id api_call;
	gt_count correlation;
	gt_time given_ns; /* entry of its call; 0: not known */
	gt_count place;   /* in its stream, from 1 */
	enum gt_pending_state state;
	bool collective; /* a kernel of a collective, or a graph that has not ended such a node */
	uint64_t ended;  /* nodes of the launch of a graph, */
	uint64_t nodes;  /* of as many as a launch of it has had at most; 0: not known */
};

#define GT_PENDING_NONE SIZE_MAX

struct gt_pending_wait {
	gt_id sync;
	gt_id stream;   /* that waits */
	bool certain;   /* it is not over: what it waits for has not ended */
	size_t behind;  /* last piece of work before the record of the event that has not ended, */
	size_t held_by; /* and the first that holds that stream up; GT_PENDING_NONE: not known */
};

/* A thread inside a call that has not returned. */
struct gt_pending_thread {
	gt_id thread;
	gt_id api_call; /* GT_NONE: calls are not recorded */
	gt_id sync;     /* the wait that the call is; GT_NONE: it is none, or not known */
	gt_time since_ns;
};

struct gt_pending_stream {
	gt_count pending;
	struct gt_step last; /* work that ended last; table GT_TABLE_NONE: none did */
	gt_time last_end_ns;
};

struct gt_pending {
	const struct gt_trace *trace;
	gt_time now_ns;
	gt_time fresh_ns;                       /* younger work may have ended without a record */
	gt_array(struct gt_pending_work) works; /* in the order in which they were given */
	gt_array(struct gt_pending_wait) waits; /* likewise */
	gt_array(struct gt_pending_thread) threads;
	struct gt_pending_stream *streams; /* by row of streams */
};

/* The record of work that is younger than this may not have been fetched. */
gt_time gt_pending_fresh_ns(const struct gt_trace *trace);

/* now_ns: of the boot-time clock, before the recording was read. The trace must outlive it. */
void gt_pending_init(struct gt_pending *pending, const struct gt_trace *trace, gt_time now_ns);
void gt_pending_release(struct gt_pending *pending);

/*
 * Until when ages of a process count: now, while it writes. Else the last that is known of it: it
 * has ended, or it was stopped, or it runs on another machine, whose clock is another one.
 */
gt_time gt_pending_until(const struct gt_pending *pending, gt_id process);

/* Whether that is now. */
bool gt_pending_is_heard(const struct gt_pending *pending, gt_id process);

#endif
