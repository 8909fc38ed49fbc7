/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_PATH_SPANS_H
#define GT_MODEL_PATH_SPANS_H

#include "model/path/path.h"

/*
 * Rows that a filter left. The path goes through all that happened; its time is that of the
 * processes that are shown, and of what begins in the window.
 */
struct gt_path_shown {
	bool (*is)(const void *context, struct gt_step step); /* a row of the path's trace */
	const void *context;
	struct gt_interval window;
};

/*
 * Time that a path is asked for: all of each process, or of each chosen NVTX range the time from
 * its begin until it had ended and all that was asked for inside it was done. Ranges are those that
 * are GT_CHOSEN.
 */
struct gt_path_span {
	struct gt_interval window;
	gt_point end;   /* that the path is walked back from */
	gt_point host;  /* of a range: return of the last call in it on its thread */
	gt_point other; /* of a range: the return that came last of those on other threads */
	bool handed;    /* host is on another thread, which the range's own is taken to wait for */
	gt_time ended_ns; /* of a range: when it ended on its thread; its work may end later */
	gt_id process;
	gt_id range; /* GT_NONE: it is the whole of a process */
};

struct gt_path_spans {
	gt_array(struct gt_path_span) list;
	gt_id *of_range; /* by row of ranges: number of the span that it is in; NULL: by process */
	gt_id *of_process;         /* by row of processes, likewise */
	struct gt_interval window; /* of processes: an item that does not begin in it is in none */
	uint64_t empty;            /* chosen ranges in which nothing was called */
};

/* shown: NULL: all is. */
void gt_path_spans_init(struct gt_path_spans *spans, const struct gt_path *path,
                        const struct gt_path_shown *shown);
void gt_path_spans_release(struct gt_path_spans *spans);

/* Whether it ends with what its thread waited for on another one, which nobody recorded. */
static inline bool gt_path_span_is_handed(const struct gt_path_span *span)
{
	return span->handed && span->end == span->host;
}

/* The number of the span that an item was asked for in; GT_NONE: none. */
gt_id gt_path_span_of(const struct gt_path_spans *spans, const struct gt_path *path, gt_id item);

#endif
