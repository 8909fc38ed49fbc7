/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_PATH_PATH_H
#define GT_MODEL_PATH_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "model/path/stream_order.h"
#include "model/trace.h"

/*
 * Dependencies from one end of a trace to the other: API calls in the order of their threads,
 * work on GPUs in the order of its streams and graphs, and what ties both together. Each call and
 * each piece of work is an item with two points, its begin and its end. A point comes after one or
 * several others, and the one that it really waited for is the one that was there last: going back
 * from the last point of all, from each to the one it waited for, gives the path that set the time.
 * Calls inside other calls are parts of these.
 *
 * 4 bytes for each call and piece of work, and 12 for each edge that is not program or stream
 * order; changes of it (model/path/changes.h) take 38 more.
 */

/* Why a point comes after another. */
enum gt_path_edge_kind {
	GT_PATH_PROGRAM, /* a thread entered a call after it had returned from the one before */
	GT_PATH_CALL,    /* a call returned after it was entered */
	GT_PATH_LAUNCH,  /* work began after the call that asked for it was entered */
	GT_PATH_STREAM,  /* work began after what was before it in its stream */
	GT_PATH_EVENT,   /* a stream waited for another one, through an event or a value */
	GT_PATH_SHARED,  /* the same of two processes, through an event that both have */
	GT_PATH_NODE,    /* a node of a graph ran after another one */
	GT_PATH_WORK,    /* work ended after it began */
	GT_PATH_WAIT,    /* a call returned after work that it waited for had ended */
	GT_PATH_THREAD,  /* a thread went on after another one had; always assumed */
	GT_PATH_ROOM,    /* work began when other work made room on the GPU; always assumed */
	GT_PATH_EDGE_KINDS,
};

/* Uses of the time between two points of the path. */
enum gt_path_kind {
	GT_PATH_OF_KERNEL, /* kernels */
	GT_PATH_OF_GRAPH,  /* graphs that were recorded as a whole */
	GT_PATH_OF_COPY,   /* copies and fills */
	GT_PATH_OF_LAUNCH, /* from the entry of a call to the start of what it asked for */
	GT_PATH_OF_ORDER,  /* from the end of work to the start of what waited for it on a GPU */
	GT_PATH_OF_CALL,   /* API calls */
	GT_PATH_OF_HOST,   /* the program's own time, between calls */
	GT_PATH_OF_RETURN, /* from the end of work to the return of the call that waited for it */
	GT_PATH_OF_WAIT,   /* calls that wait, where it is not known for what */
	GT_PATH_OF_DELAY,  /* work that could have begun as far as is known, and did not */
	GT_PATH_OF_HELD,   /* gputrace held the program up, or recording was paused: not measured */
	GT_PATH_KINDS,
};

/* For people: "kernels", "launch latency". */
const char *gt_path_kind_name(enum gt_path_kind kind);

/* Points: twice the number of an item, its end is one more. */
typedef uint32_t gt_point;

#define GT_POINT_NONE UINT32_MAX

/* An edge that is not told by the order of a thread, a call, a launch or a stream. */
struct gt_path_extra {
	gt_point to;
	gt_point from;
	uint16_t kind;    /* enum gt_path_edge_kind */
	uint16_t assumed; /* 1: nobody recorded it */
};

struct gt_path_edge {
	gt_point from;
	gt_time from_ns;
	enum gt_path_edge_kind kind;
	bool assumed;
};

enum { GT_PATH_TABLES = 5 }; /* whose rows are items */

struct gt_path {
	const struct gt_trace *trace;
	size_t first[GT_PATH_TABLES + 1];    /* item of the first row of each; the last: how many */
	const uint8_t *rows[GT_PATH_TABLES]; /* of each; they begin with start_ns and end_ns */
	size_t row_sizes[GT_PATH_TABLES];
	gt_id *earlier;        /* by item: the one before it on thread or stream */
	gt_id *outer;          /* by row of api_calls: it is inside of; NULL: none is */
	gt_id *last_of_launch; /* by row of api_calls: of a launch of a graph what ended last */
	gt_array(struct gt_path_extra) extras;  /* by to */
	uint64_t *has_extras;                   /* a bit for each point */
	gt_time typical_ns[GT_PATH_EDGE_KINDS]; /* of edges that nothing else hid */
	gt_time bound_ns;                       /* how far the clocks may be apart */
	uint64_t against_time; /* edges that the clocks contradict, which are left out */
	uint64_t shared;       /* edges between two processes */
	bool assumes;          /* edges that nobody recorded are in it */
};

/* The trace must outlive the path and not change. assume: see above. */
void gt_path_init(struct gt_path *path, const struct gt_trace *trace, bool assume);
void gt_path_release(struct gt_path *path);

/* How many points there are. */
size_t gt_path_points(const struct gt_path *path);

/* The item of a row of api_calls, kernels, copies, fills or graph_traces. */
gt_id gt_path_item(const struct gt_path *path, struct gt_step step);

/* And back. */
struct gt_step gt_path_step(const struct gt_path *path, gt_id item);

/* The call that asked for work, as its row says; of a call itself. GT_NONE: not known. */
gt_id gt_path_call_of(const struct gt_path *path, gt_id item);

/* When a point was; what a process did not finish it did to the end of the recording. */
static inline gt_time gt_path_time(const struct gt_path *path, gt_point point)
{
	const gt_id item = point / 2;
	size_t table = 0;
	gt_time times_ns[2];

	while (table + 1 < GT_PATH_TABLES && item >= path->first[table + 1])
		table++;
	memcpy(times_ns, path->rows[table] + (item - path->first[table]) * path->row_sizes[table],
	       sizeof(times_ns));
	if (point % 2 == 0 || times_ns[1] >= times_ns[0] || table > 0)
		return times_ns[point % 2];
	return path->trace->end_ns > times_ns[0] ? path->trace->end_ns : times_ns[0];
}

/* Whether an item has times, and is in no other one. */
bool gt_path_has(const struct gt_path *path, gt_id item);

/* The process of an item; GT_NONE: not known. */
gt_id gt_path_process(const struct gt_path *path, gt_id item);

/* Whether gputrace held it up, or ran it several times: its time says nothing of the program. */
bool gt_path_is_held_up(const struct gt_path *path, gt_id item);

/* One after the other, the edges to a point. */
struct gt_path_edges {
	const struct gt_path *path;
	gt_point to;
	gt_time to_ns;
	unsigned step;
	size_t extra;
};

struct gt_path_edges gt_path_edges_to(const struct gt_path *path, gt_point to);
bool gt_path_next_edge(struct gt_path_edges *edges, struct gt_path_edge *edge);

/* The edge that a point really waited for; false: it waited for nothing that is known. */
bool gt_path_held_by(const struct gt_path *path, gt_point point, struct gt_path_edge *edge);

/* A stretch of a path. */
struct gt_path_member {
	gt_time start_ns;
	gt_time end_ns;
	enum gt_path_kind kind;
	gt_id item; /* that it is a part of, or that waited; of HOST the call after it, or before */
	gt_id freed;   /* of RETURN, ORDER: the item whose end ended the wait; else GT_NONE */
	bool assumed;  /* no recorded edge leads to it from what was before */
	bool is_after; /* of HOST: the item is the call before it */
};

/*
 * Goes back from the end of a window to its begin, and tells each stretch, the last first. They
 * touch each other, but for the first that may begin later: nothing is known of what was before.
 * The way leads to a point, from which the program went on by itself to the end of the window;
 * assumed: that nobody recorded.
 */
typedef void gt_path_see(void *context, const struct gt_path_member *member);
void gt_path_walk(const struct gt_path *path, gt_point from, bool assumed,
                  struct gt_interval window, gt_path_see *see, void *context);

#endif
