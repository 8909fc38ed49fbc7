/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/estimate.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/spread.h"
#include "base/array.h"

enum { LEAST_COUNT = 3 }; /* values that an error is estimated from */

static double middle_of(const double *sorted, size_t count)
{
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double error_of(const double *sorted, size_t count)
{
	const double middle = ((double)count - 1) / 2;
	const double away = sqrt((double)count) / 2;
	const size_t low = (size_t)floor(fmax(middle - away, 0));
	const size_t high = (size_t)ceil(fmin(middle + away, (double)count - 1));

	if (count < LEAST_COUNT)
		return NAN;
	return (sorted[high] - sorted[low]) / 2 / middle_of(sorted, count);
}

struct gt_estimate gt_estimate_of(const double *values, size_t count)
{
	struct gt_estimate estimate = {NAN, NAN, NAN, NAN, NAN, NAN};
	double *sorted;

	if (count == 0)
		return estimate;
	sorted = gt_array_resize(NULL, count, sizeof(*sorted));
	memcpy(sorted, values, count * sizeof(*sorted));
	gt_sort_reals(sorted, count);
	estimate = (struct gt_estimate){
		.median = middle_of(sorted, count),
		.least = sorted[0],
		.most = sorted[count - 1],
		.p05 = gt_rank_of(sorted, count, 5),
		.p95 = gt_rank_of(sorted, count, 95),
		.error = error_of(sorted, count),
	};
	gt_array_free(sorted);
	return estimate;
}
