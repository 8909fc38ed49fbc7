/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_RANGES_OWNERS_H
#define GT_MODEL_RANGES_OWNERS_H

#include <stdbool.h>

#include "model/trace.h"
#include "model/work/activity.h"

/*
 * Which ranges of NVTX a piece of work on a GPU belongs to: the innermost one that was open on the
 * thread that asked for it, when it did, with all around it. Where that thread had none, it is the
 * range of another thread that the work was made for (docs/terms.md). Work of a graph was asked for
 * twice, when the graph was captured and when it was launched.
 */
struct gt_owner {
	gt_id range;   /* the innermost; GT_NONE: none was open, or it is not known who asked */
	gt_time at_ns; /* when the call was entered: what gt_ranges_around is asked about */
	bool by_time;  /* that it is this range is told by time alone */
};

struct gt_owners {
	struct gt_owner launched;
	struct gt_owner captured; /* when the node of its graph was made, by whatever thread */
};

struct gt_owners gt_owners_of(const struct gt_trace *trace, enum gt_activity_type type, gt_id row);

/* The one that people mean: where its node was made, else where it was launched. */
struct gt_owner gt_owner_of(const struct gt_trace *trace, enum gt_activity_type type, gt_id row);

/* Without a range where that is told by time alone. */
struct gt_owner gt_owner_sure(struct gt_owner owner);

/* Owner of an API call. */
struct gt_owner gt_owner_of_call(const struct gt_trace *trace, gt_id api_call);

#endif
