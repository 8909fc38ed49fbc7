/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_RANGES_PROJECTION_H
#define GT_MODEL_RANGES_PROJECTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/known.h"
#include "model/ranges/ranges.h"
#include "model/work/intervals.h"

/*
 * Ranges of NVTX projected onto GPUs: what was asked for inside each, on each stream or on each
 * GPU. Takes one step for each kernel, copy and fill and each range that it was asked for inside.
 * Ranges that are there for the paths of others alone (GT_AROUND) get nothing.
 */

/* Where projected work is told apart by. */
enum gt_projection_by { GT_PROJECT_STREAMS, GT_PROJECT_DEVICES };

/* Work that one group of ranges asked for in one place. Work that has no times is in none. */
struct gt_projected {
	gt_id group;
	gt_id place;           /* row of streams or of devices */
	gt_id next;            /* row of the same group; GT_NONE: it is the last */
	struct gt_cover cover; /* of all its work: covered_ns counts what overlaps once */
	struct gt_cover span;  /* of what was launched inside alone, from first start to last end */
	struct gt_cover sure;  /* of cover, what does not belong to it by time alone */
	uint64_t idle_ns;      /* of the span: nothing at all ran on the GPU */
	uint64_t kernels;
	uint64_t captured; /* of these: captured inside, but launched elsewhere, with their graph */
	uint64_t copies;
	uint64_t copied_bytes;
	uint64_t fills;
	uint64_t filled_bytes;
	uint64_t idle_before_ns; /* of the GPU before the span */
};

struct gt_projection {
	gt_array(struct gt_projected) rows; /* in the order of their first work */
	gt_id *first;                       /* by group: row, GT_NONE: nothing was asked for */
	gt_id *latest;                      /* by group: row that was seen last */
	/*
	 * By row of ranges, of each for itself: in which any of its work ran on any GPU while the
	 * range was open, up to the end of the window. NULL: they are in groups.
	 */
	struct gt_cover *within;
	size_t group_count;
	struct gt_known by_place;
};

/*
 * groups: by row of ranges, less than group_count each; NULL: each range for itself. Work that was
 * asked for inside several ranges of a group counts once.
 */
void gt_projection_init(struct gt_projection *projection, const struct gt_ranges *ranges,
                        enum gt_projection_by by, const gt_id *groups, size_t group_count);
void gt_projection_release(struct gt_projection *projection);

/*
 * Rows that have a span, of each range for itself: place after place, in each in order of their
 * start, outer ones before inner ones. The caller frees it with gt_array_free.
 */
gt_id *gt_projection_order(const struct gt_projection *projection, const struct gt_ranges *ranges,
                           size_t *count);

#endif
