/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WORK_TIME_BINS_H
#define GT_MODEL_WORK_TIME_BINS_H

#include <stddef.h>

/*
 * Time cut into bins of equal length, each of which gets its part of what lasts from one moment to
 * another. Moments are counted in bins: 2.5 is halfway through the third one.
 */

/* Adds weight, times the part of each bin that lies between the moments. from: not below 0. */
static inline void gt_time_bins_add(double *bins, size_t count, double from, double to,
                                    double weight)
{
	for (size_t i = from < (double)count ? (size_t)from : count; i < count && (double)i < to;
	     i++) {
		const double begin = from > (double)i ? from : (double)i;
		const double end = to < (double)(i + 1) ? to : (double)(i + 1);

		bins[i] += weight * (end - begin);
	}
}

#endif
