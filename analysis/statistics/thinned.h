/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_STATISTICS_THINNED_H
#define GT_ANALYSIS_STATISTICS_THINNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * A value over time, for a line of a timeline, which holds from each of its changes to the next.
 * Where it changes too often, its time is cut into stretches of equal length, and of the changes of
 * each the lowest, the highest and the last one stay, at their own times: the peak is never lost,
 * and neither is what the value was at the bounds of a stretch.
 */
enum { GT_THINNED_OF_STRETCH = 3 };

struct gt_point {
	gt_time time_ns;
	double value;
};

/* The lowest, the highest and the last point of a stretch. */
struct gt_thinned_stretch {
	struct gt_point lowest;
	struct gt_point highest;
	struct gt_point last;
	uint64_t lowest_at; /* which point of all it was */
	uint64_t highest_at;
};

struct gt_thinned {
	gt_array(struct gt_point) points; /* in order of time */
	gt_time start_ns;
	gt_time width_ns; /* of a stretch; 0: all points stay */
	gt_time until_ns; /* where the stretch that is open ends */
	struct gt_thinned_stretch open;
	gt_time last_ns; /* of the point that was added last */
	uint64_t added;
	uint64_t open_count; /* points of the open stretch */
};

/*
 * For a value that changes at most so many times between these moments: all changes stay where they
 * are no more than GT_THINNED_OF_STRETCH for each of so many stretches.
 */
void gt_thinned_init(struct gt_thinned *thinned, struct gt_interval time, uint64_t changes,
                     uint64_t stretches);

/*
 * Points come in order of time; one that changes nothing is left out. The last of several at one
 * time stays, and one before it that is higher.
 */
void gt_thinned_add(struct gt_thinned *thinned, gt_time time_ns, double value);

/* After the last point. */
void gt_thinned_finish(struct gt_thinned *thinned);

void gt_thinned_release(struct gt_thinned *thinned);

#endif
