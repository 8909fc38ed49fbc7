/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/kernels/tally.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/gpu/throttle.h"
#include "model/naming/functions.h"
#include "model/work/timed.h"

static uint64_t *new_counts(size_t count)
{
	uint64_t *counts = gt_allocate_zeroed(count, sizeof(*counts));

	return counts;
}

static void find_first(struct gt_kernel_tally *tally)
{
	struct gt_functions functions;

	gt_functions_init(&functions, tally->trace);
	gt_first_launches_init(&tally->first, tally->trace, &functions);
	gt_functions_release(&functions);
}

static void count_slowed(struct gt_kernel_tally *tally, const struct gt_kernel *kernel)
{
	struct gt_slowed_calls *slowed =
		&tally->slowed_of[gt_kernel_group_of(&tally->groups, kernel)];
	uint64_t reasons;

	if (!gt_throttles_measured(&tally->throttles, kernel->device))
		return;
	reasons = gt_throttle_slowing(
		gt_throttles_at(&tally->throttles, kernel->device, kernel->start_ns));
	slowed->known = true;
	slowed->calls += reasons != 0;
	tally->slowing |= reasons;
}

static bool is_first(const struct gt_kernel_tally *tally, const struct gt_kernel *kernel)
{
	return tally->first.is_first[kernel - tally->trace->kernels.rows];
}

static void count_kernel(struct gt_kernel_tally *tally, const struct gt_kernel *kernel)
{
	const size_t group = gt_kernel_group_of(&tally->groups, kernel);

	tally->total_ns += (uint64_t)(kernel->end_ns - kernel->start_ns);
	count_slowed(tally, kernel);
	gt_groups_expect(&tally->durations, group);
	if (is_first(tally, kernel))
		tally->first_of[group]++;
	else
		gt_groups_expect(&tally->later, group);
}

static void count_kernels(struct gt_kernel_tally *tally)
{
	gt_array_each(const struct gt_kernel, kernel, &tally->trace->kernels) {
		if (gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns)) {
			count_kernel(tally, kernel);
		} else if (kernel->flags & GT_PROFILED) {
			tally->profiled++;
			tally->profiled_of[gt_kernel_group_of(&tally->groups, kernel)]++;
		} else {
			tally->unfinished++;
			tally->unfinished_of[gt_kernel_group_of(&tally->groups, kernel)]++;
		}
	}
	gt_groups_begin(&tally->durations);
	gt_groups_begin(&tally->later);
	gt_array_each(const struct gt_kernel, kernel, &tally->trace->kernels) {
		const size_t group = gt_kernel_group_of(&tally->groups, kernel);
		const int64_t duration_ns = kernel->end_ns - kernel->start_ns;

		if (!gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		gt_groups_add(&tally->durations, group, duration_ns);
		if (!is_first(tally, kernel))
			gt_groups_add(&tally->later, group, duration_ns);
	}
}

void gt_kernel_tally_init(struct gt_kernel_tally *tally, const struct gt_trace *trace,
                          enum gt_group_by by)
{
	*tally = (struct gt_kernel_tally){.trace = trace};
	gt_kernel_groups_init(&tally->groups, trace, by);
	find_first(tally);
	gt_groups_init(&tally->durations, tally->groups.count);
	gt_groups_init(&tally->later, tally->groups.count);
	tally->unfinished_of = new_counts(tally->groups.count);
	tally->profiled_of = new_counts(tally->groups.count);
	tally->first_of = new_counts(tally->groups.count);
	tally->slowed_of = gt_allocate_zeroed(tally->groups.count, sizeof(*tally->slowed_of));
	gt_throttles_init(&tally->throttles, trace);
	gt_launch_uses_init(&tally->uses, trace);
	count_kernels(tally);
}

void gt_kernel_tally_release(struct gt_kernel_tally *tally)
{
	gt_kernel_groups_release(&tally->groups);
	gt_first_launches_release(&tally->first);
	gt_groups_release(&tally->durations);
	gt_groups_release(&tally->later);
	gt_throttles_release(&tally->throttles);
	free(tally->unfinished_of);
	free(tally->profiled_of);
	free(tally->slowed_of);
	free(tally->first_of);
	gt_launch_uses_release(&tally->uses);
}
