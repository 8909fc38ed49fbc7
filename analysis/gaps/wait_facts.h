/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_GAPS_WAIT_FACTS_H
#define GT_ANALYSIS_GAPS_WAIT_FACTS_H

#include <stdbool.h>

#include "analysis/time/host_calls.h"
#include "model/path/stream_order.h"

/*
 * Facts that are looked up for each wait of the host: the edge that leads to it, the stream of what
 * a call asked for, copies that the host may have something to do with. Of all that happened.
 */

/* A copy that the host may have something to do with, and no call waited for by itself. */
struct gt_host_copy {
	gt_id context;
	gt_time given_ns;
};

struct gt_wait_facts {
	const struct gt_trace *trace; /* all that happened */
	struct gt_thread_calls calls;
	struct gt_stream_order order;
	gt_id *edge_of_sync; /* the edge to it from what ended last; GT_NONE: none */
	gt_array(struct gt_edge) from_graphs; /* numbered behind those of the trace */
	gt_array(gt_id) graph_streams;        /* whole graphs were launched into them */
	gt_id *stream_of_call; /* of the work that a call asked for; GT_NONE: it asked for none */
	gt_time *given_ns; /* by context: when a stream of it was first given something; INT64_MAX */
	gt_array(struct gt_host_copy) host_copies; /* by context and time */
	gt_time bound_ns;                          /* error of the clocks */
	bool has_managed;                          /* managed memory is there */
};

/* The trace must outlive it: all that happened. */
void gt_wait_facts_init(struct gt_wait_facts *facts, const struct gt_trace *trace);
void gt_wait_facts_release(struct gt_wait_facts *facts);

/* When work ended: a row of a table of work. */
gt_time gt_wait_step_end(const struct gt_trace *trace, gt_count table, gt_id row);

/* The edge to a wait from what ended last; NULL: none is known. */
const struct gt_edge *gt_wait_edge(const struct gt_wait_facts *facts, gt_id sync);

/* Whether memory of that kind is on a GPU. */
bool gt_wait_is_of_devices(gt_count kind);

/*
 * Whether a copy between host and device was asked for in a context from one moment to another.
 */
bool gt_wait_copied_between(const struct gt_wait_facts *facts, gt_id context, gt_time from_ns,
                            gt_time to_ns);

#endif
