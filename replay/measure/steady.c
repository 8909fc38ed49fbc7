/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/steady.h"

static void judge(const double *last, double within, struct gt_steady *steady)
{
	steady->least = steady->most = last[0];
	for (size_t i = 1; i < GT_STEADY_LAST; i++) {
		steady->least = last[i] < steady->least ? last[i] : steady->least;
		steady->most = last[i] > steady->most ? last[i] : steady->most;
	}
	steady->stable = steady->most - steady->least <= within * steady->most;
}

int gt_steady_measure(const struct gt_steady_plan *plan, struct gt_steady *steady,
                      struct gt_error *err)
{
	const int64_t begun_ns = plan->now_ns(plan->context);
	struct gt_steady found = {0};
	double last[GT_STEADY_LAST] = {0};

	do {
		const int result =
			plan->measure(plan->context, &last[found.count % GT_STEADY_LAST], err);

		if (result < 0)
			return result;
		found.count++;
		if (found.count >= GT_STEADY_LAST)
			judge(last, plan->within, &found);
	} while (found.count < GT_STEADY_LAST ||
	         (!found.stable && plan->now_ns(plan->context) - begun_ns < plan->most_ns));
	*steady = found;
	return 0;
}
