/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEASURE_STEADY_H
#define GT_REPLAY_MEASURE_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_error;

/*
 * Measuring until it is stable: again and again, until the last GT_STEADY_LAST values differ by no
 * more than is wanted, or it took long enough. Earlier values (clocks that rise, caches that
 * fill) are forgotten.
 */
enum { GT_STEADY_LAST = 7 };

struct gt_steady_plan {
	double within;   /* of the largest: the smallest may be less by this share */
	int64_t most_ns; /* begins no further measurement after so long, but makes GT_STEADY_LAST */
	/* One value, above 0, or negative with err set, which ends it. */
	int (*measure)(void *context, double *value, struct gt_error *err);
	int64_t (*now_ns)(void *context);
	void *context;
};

/* From the last GT_STEADY_LAST values. */
struct gt_steady {
	double least;
	double most;
	size_t count; /* of all that were measured */
	bool stable;
};

int gt_steady_measure(const struct gt_steady_plan *plan, struct gt_steady *steady,
                      struct gt_error *err);

#endif
