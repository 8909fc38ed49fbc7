/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_HAZARDS_STREAM_CLOCKS_H
#define GT_ANALYSIS_REPORTS_HAZARDS_STREAM_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/known.h"
#include "model/trace.h"

/*
 * Order that holds whatever the GPU is busy with: the order inside streams, events, waits of the
 * host, the default stream. Each stream has a vector clock: of every stream, how much of what it
 * was given is done before what it is given next. Steps are told in the order in which the host
 * made them.
 *
 * Unknown order counts as order, so that nothing is called unordered that may not be: what one
 * thread waited for is known to all threads of its process at once, a wait whose record was not seen
 * is one for all that was given before, and so are functions of the host and answers to queries.
 */
enum { GT_CLOCKS_MOST = 512 }; /* streams that have a clock; others count as unknown ones */

/* A point in a stream; place 0 is before all. */
struct gt_clock_point {
	uint32_t slot; /* of the stream */
	uint32_t place;
};

struct gt_clock_stream {
	gt_id stream;
	gt_id process;
	gt_id context;
	uint64_t host_seen;   /* version of its process's knowledge that it has */
	uint64_t legacy_seen; /* version of its context's default stream that it has */
	uint32_t asked;       /* queries under way that are told that it is ready */
	bool is_legacy; /* the default stream, which all blocking ones wait for and which waits for
	                   them */
	bool is_blocking;
	bool is_changed; /* since the default stream last waited for it */
};

struct gt_clocks {
	const struct gt_trace *trace;
	size_t count;      /* streams that have a clock */
	uint32_t *slot_of; /* by row of streams; UINT32_MAX: none */
	struct gt_clock_stream *streams;
	uint32_t *clocks;      /* by slot: count places */
	uint32_t *hosts;       /* by process: count places */
	uint64_t *versions;    /* by process */
	uint64_t *legacy;      /* by context: version of its default stream */
	size_t *changed;       /* by context: blocking streams with is_changed */
	uint32_t **recorded;   /* by row of events: the clock at its last record; NULL: not seen */
	uint32_t *asked_event; /* by row of events: queries under way that are told that it has come
	                        */
	struct gt_known cells; /* by address: row of values */
	gt_array(uint32_t *) values; /* the clock at the last write of a value in memory */
	bool *lost; /* by process: it waits for what is not recorded, so nothing can be said */
	bool has_unclocked; /* there were more streams than clocks */
};

/* wanted: by row of streams. The trace must outlive the clocks. */
void gt_clocks_init(struct gt_clocks *clocks, const struct gt_trace *trace, const bool *wanted);
void gt_clocks_release(struct gt_clocks *clocks);

/* Something is given to a stream; its slot is UINT32_MAX where that has no clock. */
struct gt_clock_point gt_clocks_give(struct gt_clocks *clocks, gt_id stream);

/* Whether what a stream was just given, or is given next, runs after that point. */
bool gt_clocks_is_after(const struct gt_clocks *clocks, uint32_t slot, struct gt_clock_point point);

/* Work that the stream is given next runs after all that the other one was given so far. */
void gt_clocks_order(struct gt_clocks *clocks, uint32_t slot, uint32_t after_slot);

/* A call that waits or orders work: of a wait of the host when it returns, else when it is entered.
 */
void gt_clocks_sync(struct gt_clocks *clocks, gt_id row);

/* The event is destroyed: whoever waits for it has done so. */
void gt_clocks_forget(struct gt_clocks *clocks, gt_id event);

/* The first and the last of some queries that were told that it is done. */
void gt_clocks_ask(struct gt_clocks *clocks, const struct gt_query *query, bool begins);

/* Whether nothing can be said of a process any more. */
bool gt_clocks_lost(const struct gt_clocks *clocks, gt_id process);

#endif
