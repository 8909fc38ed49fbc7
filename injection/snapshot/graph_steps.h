/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_GRAPH_STEPS_H
#define GT_INJECTION_SNAPSHOT_GRAPH_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "injection/snapshot/graphs/nodes.h"
#include "injection/snapshot/graphs/order.h"
#include "injection/snapshot/launch/lists.h"

struct gt_capture_thread;
struct gt_error;
struct gt_kept_graph;
struct gt_session;

/*
 * Launches of CUDA graphs as steps of what is captured: a step for each node, on the stream of the
 * launch and on streams that are made up for its branches, with events that are made up to order
 * them. Memory of fixed size; with the turn of the capture.
 */

/* One that is no stream of the program's, for branches of graphs that this one of it launches. */
struct gt_graph_stream {
	uint32_t owner;
	uint32_t number; /* in the capture's list */
};

struct gt_host_range {
	uint64_t begin;
	uint64_t end;
};

struct gt_graph_steps {
	uint64_t sequence; /* that is being captured, from 1 */
	uint32_t launches; /* of graphs in it */
	uint32_t stream_count;
	struct gt_graph_stream streams[GT_GRAPH_STREAMS - 1];
	uint32_t event_count;
	uint32_t free_count; /* events that nothing waits for any more: */
	uint32_t free_events[GT_CAPTURE_EVENTS];
	/* Handles of nobody's: their addresses. */
	char stream_handles[GT_GRAPH_STREAMS - 1];
	char event_handles[GT_CAPTURE_EVENTS];
	/* For the launch: */
	bool are_shared; /* two of its streams are the same one */
	uint32_t numbers[GT_GRAPH_STREAMS];
	uint32_t begin_event;
	uint32_t events[GT_GRAPH_NODES];
	uint32_t waiters[GT_GRAPH_NODES]; /* that have yet to come */
	uint32_t host_count;              /* memory of the host that its copies write: */
	struct gt_host_range host[GT_GRAPH_NODES];
	struct gt_graph_order order;
};

/* In a source's start: memory of our own; NULL: there is none. */
struct gt_graph_steps *gt_graph_steps_new(void);

/* Captures from here on are something new. */
void gt_graph_steps_begin(struct gt_graph_steps *steps);

struct gt_graph_launch {
	CUstream stream; /* NULL: the default stream of the context */
	uint32_t correlation;
	uint32_t focus; /* the node that it is captured for; GT_CAPTURE_NONE: all of them */
};

/*
 * Adds them to the thread's capture, with the memory that they reach, before the launch. Fails with
 * a sentence. The graph is taken (gt_kept_graphs_take).
 */
int gt_graph_steps_add(struct gt_session *session, struct gt_capture_thread *thread,
                       struct gt_graph_steps *steps, const struct gt_graph_launch *launch,
                       struct gt_kept_graph *graph, struct gt_error *err);

#endif
