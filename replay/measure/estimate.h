/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEASURE_ESTIMATE_H
#define GT_REPLAY_MEASURE_ESTIMATE_H

#include <stddef.h>

/* Figures from measurements of one thing. All are NAN where there are none. */
struct gt_estimate {
	double median;
	double least;
	double most;
	double p05; /* nearest rank */
	double p95;
	/*
	 * Standard error of the median, as a share of it: half the distance between the values
	 * that stand half a square root of the count before and behind the middle, which holds for
	 * any distribution (the rank of the median has a binomial one). NAN for less than 3 values.
	 */
	double error;
};

struct gt_estimate gt_estimate_of(const double *values, size_t count);

#endif
