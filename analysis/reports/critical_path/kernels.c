/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/critical_path/tables.h"

#include <stdlib.h>

#include "base/array.h"

static const struct gt_heading kernel_headings[] = {
	{"calls", GT_UNIT_COUNT, "Executions; of ranges those that were launched in them",
         GT_WORTH_ORDINARY},
	{"total_ns", GT_UNIT_NS, "Their time"},
	{"on_path", GT_UNIT_COUNT, "Executions on the path, wherever they were launched",
         GT_WORTH_KEY},
	{"on_path_ns", GT_UNIT_NS, "Their stretches of the path", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "on_path_ns of length_ns", GT_WORTH_KEY},
	{"slack_ns", GT_UNIT_NS,
         "Least of those off the path: so much later they could end, and nothing change",
         GT_WORTH_KEY},
	{"kernel", GT_UNIT_TEXT, "Name of the kernel", GT_WORTH_NAME},
};

static int by_time_on_path(const void *a, const void *b)
{
	const struct gt_critical_kernel *left = a;
	const struct gt_critical_kernel *right = b;

	if (left->on_path_ns != right->on_path_ns)
		return left->on_path_ns < right->on_path_ns ? 1 : -1;
	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->group > right->group) - (left->group < right->group);
}

/* Executions that were asked for in the spans, and how late those off the path could be. */
static void see_kernel(const struct gt_critical_figures *figures,
                       struct gt_critical_kernel *kernels, gt_id row)
{
	const struct gt_kernel *kernel = &figures->trace->kernels.rows[row];
	const gt_id item =
		gt_path_item(&figures->account.path, (struct gt_step){GT_TABLE_kernels, row});
	const gt_time slack_ns = figures->changes.times_ns[2 * item + 1];
	struct gt_critical_kernel *found;

	if (!gt_path_has(&figures->account.path, item) ||
	    gt_path_is_held_up(&figures->account.path, item) ||
	    gt_path_span_of(&figures->account.spans, &figures->account.path, item) == GT_NONE)
		return;
	found = &kernels[gt_path_account_shows(&figures->account, item)
	                         ? gt_kernel_group_of(&figures->account.kernels, kernel)
	                         : figures->account.kernels.count];
	found->calls++;
	found->total_ns += kernel->end_ns - kernel->start_ns;
	if (!gt_path_account_has(&figures->account, item) && slack_ns < found->slack_ns)
		found->slack_ns = slack_ns;
}

struct gt_critical_kernel *gt_critical_kernels(struct gt_critical_figures *figures)
{
	const size_t count = figures->account.kernels.count;
	struct gt_critical_kernel *kernels = gt_allocate((count + 1) * sizeof(*kernels));

	for (size_t i = 0; i <= count; i++)
		kernels[i] = (struct gt_critical_kernel){.group = i, .slack_ns = INT64_MAX};
	gt_array_each(const struct gt_path_total, total, &figures->account.by_name) {
		const size_t group =
			total->key.what == GT_PATH_WHAT_OTHER ? count : total->key.name;

		if (total->key.kind != GT_PATH_OF_KERNEL)
			continue;
		kernels[group].on_path = total->stretches;
		kernels[group].on_path_ns = total->total_ns;
	}
	gt_path_changes_slack(&figures->changes, &figures->account.spans);
	for (gt_id i = 0; i < figures->trace->kernels.count; i++)
		see_kernel(figures, kernels, i);
	if (count > 1)
		qsort(kernels, count, sizeof(*kernels), by_time_on_path);
	return kernels;
}

static void add_kernel(const struct gt_critical_figures *figures,
                       const struct gt_critical_kernel *kernel, struct gt_result *result)
{
	const struct gt_kernel_groups *groups = &figures->account.kernels;

	gt_result_add_count(result, (int64_t)kernel->calls);
	gt_result_add_count(result, kernel->total_ns);
	gt_result_add_count(result, (int64_t)kernel->on_path);
	gt_result_add_count(result, kernel->on_path_ns);
	gt_critical_add_share(figures, result, kernel->on_path_ns);
	gt_result_add_count_if(result, kernel->slack_ns != INT64_MAX, kernel->slack_ns);
	gt_result_add_format(result, "%s",
	                     kernel->group < groups->count ? groups->labels[kernel->group]
	                                                   : gt_critical_other_work);
}

void gt_critical_add_kernels(const struct gt_critical_figures *figures,
                             const struct gt_critical_kernel *kernels, struct gt_result *result)
{
	const size_t count = figures->account.kernels.count;
	uint64_t all = 0;

	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	gt_result_order(result, "on_path_ns");
	for (size_t i = 0; i < count; i++)
		if (kernels[i].calls + kernels[i].on_path > 0 && all++ < figures->top)
			add_kernel(figures, &kernels[i], result);
	if (kernels[count].calls + kernels[count].on_path > 0 && all++ < figures->top)
		add_kernel(figures, &kernels[count], result);
	gt_result_top(result, all, figures->top);
}
