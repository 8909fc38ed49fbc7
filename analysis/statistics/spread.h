/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_STATISTICS_SPREAD_H
#define GT_ANALYSIS_STATISTICS_SPREAD_H

#include <stddef.h>
#include <stdint.h>

struct gt_groups;

/* How a set of values is distributed. */
struct gt_spread {
	size_t count;
	int64_t total;
	int64_t min; /* 0 when there are no values, like max and median */
	int64_t max;
	int64_t median;   /* of an even number: halfway between the middle two, rounded down */
	double mean;      /* NAN when there are no values */
	double deviation; /* standard deviation of a sample (n - 1); NAN for less than two values */
};

/* Reorders the values. */
struct gt_spread gt_spread_of(int64_t *values, size_t count);

/* Spread of one of the groups, whose values are reordered. */
struct gt_spread gt_spread_of_group(const struct gt_groups *groups, size_t group);

/*
 * The smallest value that at least so many percent of all values do not exceed (nearest rank).
 * Reorders the values; count > 0, 0 < percent <= 100.
 */
int64_t gt_percentile(int64_t *values, size_t count, double percent);

/* The same of numbers, none of them NAN, that gt_sort_reals has sorted. */
void gt_sort_reals(double *values, size_t count);
double gt_rank_of(const double *sorted, size_t count, double percent);

#endif
