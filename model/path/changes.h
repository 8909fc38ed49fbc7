/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_PATH_CHANGES_H
#define GT_MODEL_PATH_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/path/path.h"
#include "model/path/spans.h"

/*
 * The same run with some things that take no time: each point of a path is as late as the points
 * that it waits for, and the edges from them, allow. An edge that held its point takes the time
 * that it took. Another one takes the usual time of such edges, but no more than it took: how much
 * less it could have taken is not known. So a run without a change changes nothing, and a change
 * makes nothing later.
 */
struct gt_path_change {
	const bool *shapes; /* by row of launch_shapes: these kernels take no time; NULL: none */
	bool launches;      /* calls that launch, and launches, take no time */
	bool copies;        /* copies and fills take no time */
	gt_string wait_in;  /* calls of this function do not wait for work; 0: none */
};

struct gt_path_changes {
	const struct gt_path *path;
	uint8_t *holds;    /* by point: which of its edges held it; see path_changes.c */
	gt_time *times_ns; /* by point: of the run at hand, or slack */
	/* The points that are run, each behind those that it waits for: */
	gt_point *order;
	size_t count;
	uint32_t *states; /* by point */
	uint32_t turn;    /* states of earlier orders are below it */
	gt_array(gt_point) open;
	gt_time begin_ns; /* the run begins here: what was before stays as it was recorded */
	bool circles;     /* points wait for each other by the clocks: some edges go nowhere */
};

/* The path must outlive it. */
void gt_path_changes_init(struct gt_path_changes *changes, const struct gt_path *path);
void gt_path_changes_release(struct gt_path_changes *changes);

/*
 * How long each span would last with each of the changes. A span is run by itself, from its begin
 * until it ends and its work is done: what happened up to its begin stays as it was recorded, and
 * what comes after it is not run. lasts_ns: by change, then by span.
 */
void gt_path_changes_last(struct gt_path_changes *changes, const struct gt_path_spans *spans,
                          const struct gt_path_change *list, size_t count, gt_time *lasts_ns);

/*
 * times_ns says then by point how much later it could be without making any span longer. INT64_MAX:
 * as late as one likes.
 */
void gt_path_changes_slack(struct gt_path_changes *changes, const struct gt_path_spans *spans);

#endif
