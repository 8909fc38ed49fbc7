/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analysis/energy/shares.h"
#include "analysis/figures.h"
#include "analysis/kernels/groups.h"
#include "analysis/reports/energy/tables.h"
#include "analysis/result.h"
#include "base/array.h"

static const struct gt_heading headings[] = {
	{"work", GT_UNIT_TEXT,
         "Kernels as --by groups them; copies, fills and whole graphs have a row each",
         GT_WORTH_NAME},
	GT_ENERGY_FIGURES,
};

/* Groups of other work than kernels stand behind those of kernels, in the order of its types. */
static const char *const others[] = {
	[GT_ACTIVITY_COPY] = "(copies)",
	[GT_ACTIVITY_FILL] = "(fills)",
	[GT_ACTIVITY_GRAPH] = "(whole graphs)",
};

struct work {
	const struct gt_trace *trace;
	struct gt_kernel_groups kernels;
	gt_id group;
};

static size_t group_of(void *context, const struct gt_activity *activity, const gt_id **groups)
{
	struct work *work = context;

	*groups = &work->group;
	if (activity->type == GT_ACTIVITY_KERNEL)
		work->group = (gt_id)gt_kernel_group_of(&work->kernels,
		                                        &work->trace->kernels.rows[activity->row]);
	else
		work->group = (gt_id)work->kernels.count + activity->type;
	return 1;
}

struct row {
	const char *label;
	size_t group;
	struct gt_energy_share share;
};

static int by_joules(const void *a, const void *b)
{
	const struct row *left = a;
	const struct row *right = b;
	const int order = gt_energy_compare(&left->share, &right->share);

	if (order != 0)
		return order;
	if (left->share.ran_ns != right->share.ran_ns)
		return left->share.ran_ns < right->share.ran_ns ? 1 : -1;
	return (left->group > right->group) - (left->group < right->group);
}

void gt_add_energy_share(struct gt_result *result, const struct gt_energy_share *share)
{
	const bool told = share->told_ns > 0;

	gt_result_add_real(result, told ? share->joules : NAN);
	gt_result_add_real(result, told ? share->shared_joules : NAN);
	gt_result_add_real(result, told ? share->most_joules : NAN);
	gt_result_add_real(result,
	                   share->alone_ns ? share->joules * 1e9 / (double)share->alone_ns : NAN);
	gt_result_add_count(result, (int64_t)share->ran_ns);
	gt_result_add_real(result, gt_percent((double)share->told_ns, (double)share->ran_ns));
}

void gt_add_energy_work(struct gt_result *result, const struct gt_boards *boards, const char *by)
{
	struct work work = {.trace = boards->trace};
	struct gt_energy_groups groups = {.context = &work, .of = group_of};
	struct gt_energy_share *shares;
	struct row *rows;

	gt_kernel_groups_init(&work.kernels, boards->trace, gt_group_by(by));
	groups.count = work.kernels.count + GT_ACTIVITY_TYPES;
	shares = gt_energy_shares(boards, &groups);
	rows = gt_allocate(groups.count * sizeof(*rows));
	for (size_t i = 0; i < groups.count; i++)
		rows[i] = (struct row){i < work.kernels.count ? work.kernels.labels[i]
		                                              : others[i - work.kernels.count],
		                       i, shares[i]};
	qsort(rows, groups.count, sizeof(*rows), by_joules);
	gt_result_begin(result, "work", headings, GT_COUNT_OF(headings));
	gt_result_order(result, "joules");
	for (size_t i = 0; i < groups.count; i++) {
		if (rows[i].share.ran_ns == 0)
			continue;
		gt_result_add_format(result, "%s", rows[i].label);
		gt_add_energy_share(result, &rows[i].share);
	}
	gt_array_free(rows);
	gt_array_free(shares);
	gt_kernel_groups_release(&work.kernels);
}
