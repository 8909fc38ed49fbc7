/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_PATH_SPANS_H
#define GT_MODEL_PATH_SPANS_H

#include "model/path.h"

/*
 * What a path is asked for: the whole time of each process, or of each chosen NVTX range the time
 * from its begin until it had ended and all that was asked for inside it was done. Ranges are those
 * that are GT_CHOSEN.
 */
struct gt_path_span {
	struct gt_interval window;
	gt_point end;    /* that the path is walked back from */
	gt_point before; /* last of the thread before the window; GT_POINT_NONE: none */
	gt_point host;   /* of a range: return of the last call in it on its thread */
	gt_id process;
	gt_id range; /* GT_NONE: it is the whole of a process */
};

struct gt_path_spans {
	gt_array(struct gt_path_span) list;
	gt_id *of_range; /* by row of ranges: number of the span that it is in; NULL: by process */
	gt_id *of_process; /* by row of processes, likewise */
	uint64_t empty;    /* chosen ranges in which nothing was called */
};

void gt_path_spans_init(struct gt_path_spans *spans, const struct gt_path *path);
void gt_path_spans_release(struct gt_path_spans *spans);

/* The number of the span that an item was asked for in; GT_NONE: none. */
gt_id gt_path_span_of(const struct gt_path_spans *spans, const struct gt_path *path, gt_id item);

/* How long each would last with other times of the points; by number of the span. */
void gt_path_spans_last(const struct gt_path_spans *spans, const struct gt_path *path,
                        const gt_time *times_ns, gt_time *lasts_ns);

#endif
