/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_PATH_CHANGES_H
#define GT_MODEL_PATH_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/path.h"

/*
 * What would have been: the points of a path again, each as late as what it waits for and what the
 * edge takes, where some things take no time. An edge that held its point takes what it took. One
 * that did not takes what such edges usually take, but no more than it did: how much less it could
 * have taken is not known. So nothing is changed by running it without a change.
 */
struct gt_path_change {
	const bool *shapes; /* by row of launch_shapes: these kernels take no time; NULL: none */
	bool launches;      /* calls that launch, and launches, take no time */
	bool copies;        /* copies and fills take no time */
	gt_string wait_in;  /* calls of this function do not wait for work; 0: none */
};

struct gt_path_changes {
	const struct gt_path *path;
	gt_point *order;   /* every point behind those it waits for */
	size_t count;      /* of them */
	uint8_t *holds;    /* by point: which of its edges held it; see path_changes.c */
	bool circles;      /* edges that go nowhere, as points wait for each other by the clocks */
	gt_time *times_ns; /* by point: of the change that was run last */
};

/* The path must outlive it. */
void gt_path_changes_init(struct gt_path_changes *changes, const struct gt_path *path);
void gt_path_changes_release(struct gt_path_changes *changes);

/* NULL: no change. */
void gt_path_changes_run(struct gt_path_changes *changes, const struct gt_path_change *change);

/*
 * times_ns says by point how late it may be at the latest, INT64_MAX: as late as one likes.
 * Afterwards it says how much later the point could be without making any other later than that may
 * be.
 */
void gt_path_changes_slack(struct gt_path_changes *changes);

#endif
