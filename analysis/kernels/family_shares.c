/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernels/family_shares.h"

#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/naming/functions.h"
#include "model/trace.h"
#include "model/work/timed.h"

static const struct gt_heading headings[] = {
	{"calls", GT_UNIT_COUNT, "Executions that have a start and an end", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of end - start of these executions", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of the total_ns of all kernels", GT_WORTH_KEY},
	{"kernels", GT_UNIT_COUNT, "Different functions", GT_WORTH_LITTLE},
	{"family", GT_UNIT_TEXT, "Purpose of the kernels, as their names tell", GT_WORTH_NAME},
};

static uint32_t family_of(const struct gt_trace *trace, gt_id shape)
{
	const uint32_t family = shape < trace->launch_shapes.count
	                                ? trace->launch_shapes.rows[shape].family
	                                : (uint32_t)GT_FAMILY_other;

	return family < GT_FAMILY_COUNT ? family : (uint32_t)GT_FAMILY_other;
}

static int by_total(const void *a, const void *b)
{
	const struct gt_family_share *left = a;
	const struct gt_family_share *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->calls != right->calls)
		return left->calls < right->calls ? 1 : -1;
	return (left->family > right->family) - (left->family < right->family);
}

static uint64_t count(const struct gt_trace *trace, struct gt_family_share *shares)
{
	struct gt_functions functions;
	uint64_t total_ns = 0;
	char *seen;

	gt_functions_init(&functions, trace);
	seen = gt_allocate(functions.count);
	for (size_t i = 0; i < functions.count; i++)
		seen[i] = 0;
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const size_t function = gt_function_of(&functions, kernel->shape);
		struct gt_family_share *share = &shares[family_of(trace, kernel->shape)];

		if (!gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		share->calls++;
		share->total_ns += (uint64_t)(kernel->end_ns - kernel->start_ns);
		share->kernels += !seen[function];
		seen[function] = 1;
		total_ns += (uint64_t)(kernel->end_ns - kernel->start_ns);
	}
	free(seen);
	gt_functions_release(&functions);
	return total_ns;
}

size_t gt_family_shares(const struct gt_trace *trace,
                        struct gt_family_share shares[GT_FAMILY_COUNT])
{
	uint64_t total_ns;
	size_t ran = 0;

	for (uint32_t i = 0; i < GT_FAMILY_COUNT; i++)
		shares[i] = (struct gt_family_share){.family = i};
	total_ns = count(trace, shares);
	for (size_t i = 0; i < GT_FAMILY_COUNT; i++) {
		shares[i].percent = gt_percent((double)shares[i].total_ns, (double)total_ns);
		ran += shares[i].calls > 0;
	}
	qsort(shares, GT_FAMILY_COUNT, sizeof(*shares), by_total);
	return ran;
}

void gt_add_families(struct gt_result *result, const struct gt_trace *trace)
{
	struct gt_family_share shares[GT_FAMILY_COUNT];
	const size_t ran = gt_family_shares(trace, shares);

	gt_result_begin(result, "families", headings, GT_COUNT_OF(headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < ran; i++) {
		gt_result_add_count(result, (int64_t)shares[i].calls);
		gt_result_add_count(result, (int64_t)shares[i].total_ns);
		gt_result_add_real(result, shares[i].percent);
		gt_result_add_count(result, (int64_t)shares[i].kernels);
		gt_result_add_text(result, gt_family_name(shares[i].family));
	}
}
