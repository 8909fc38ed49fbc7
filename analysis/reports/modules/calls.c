/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/modules/tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/index.h"

static const struct gt_heading call_headings[] = {
	{"call", GT_UNIT_TEXT,
         "API call that took code in, or during which modules or functions were loaded",
         GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "How many did", GT_WORTH_KEY},
	{"modules", GT_UNIT_COUNT, "Loadings of modules in them", GT_WORTH_KEY},
	{"load_ns", GT_UNIT_NS, "Sum of the times that these took, at most", GT_WORTH_KEY},
	{"not_measured", GT_UNIT_COUNT, "Loadings whose time is not known, and in no sum",
         GT_WORTH_LITTLE},
	{"functions_ns", GT_UNIT_NS, "Loading functions in them, as the driver says",
         GT_WORTH_ORDINARY},
	{"gputrace_ns", GT_UNIT_NS, "Time that gputrace itself took in them, hashing and keeping",
         GT_WORTH_LITTLE},
	{"call_ns", GT_UNIT_NS, "Sum of the calls' own times", GT_WORTH_ORDINARY},
	{"most_ns", GT_UNIT_NS, "The longest of these calls", GT_WORTH_ORDINARY},
};

/* Sums of all calls of one function. */
struct call_sum {
	uint64_t calls;
	uint64_t modules;
	uint64_t not_measured;
	double load_ns;
	gt_time functions_ns;
	gt_time own_ns;
	gt_time call_ns;
	gt_time most_ns;
};

struct call_sums {
	struct gt_index *functions; /* by the strings of their names */
	gt_array(struct call_sum) list;
};

static struct call_sum *sum_of_call(struct call_sums *sums, const struct gt_api_call *call)
{
	const size_t number = gt_index_add(sums->functions, &call->function);
	struct call_sum *fresh;

	if (number < sums->list.count)
		return &sums->list.rows[number];
	fresh = gt_array_push(&sums->list);
	*fresh = (struct call_sum){0};
	return fresh;
}

static void count_call(struct call_sums *sums, const struct gt_trace *trace,
                       const struct gt_module_call *call)
{
	struct call_sum *sum = sum_of_call(sums, &trace->api_calls.rows[call->call]);
	const gt_time call_ns = gt_module_call_ns(trace, call->call);

	sum->calls++;
	sum->modules += call->modules;
	sum->not_measured += call->not_measured;
	sum->load_ns += call->load_ns;
	sum->functions_ns += call->functions_ns;
	sum->own_ns += call->own_ns;
	sum->call_ns += call_ns;
	if (call_ns > sum->most_ns)
		sum->most_ns = call_ns;
}

static void add_call_rows(const struct call_sums *sums, const struct gt_trace *trace,
                          struct gt_result *result)
{
	struct gt_module_place *places = gt_allocate((sums->list.count + 1) * sizeof(*places));

	for (size_t i = 0; i < sums->list.count; i++)
		places[i] = (struct gt_module_place){(gt_id)i, (double)sums->list.rows[i].call_ns,
		                                     sums->list.rows[i].load_ns};
	qsort(places, sums->list.count, sizeof(*places), gt_module_by_amounts);
	for (size_t i = 0; i < sums->list.count; i++) {
		const struct call_sum *sum = &sums->list.rows[places[i].id];
		const bool unknown = sum->modules > 0 && sum->not_measured == sum->modules;

		gt_add_string(result, trace,
		              *(const gt_string *)gt_index_key(sums->functions, places[i].id));
		gt_result_add_count(result, (int64_t)sum->calls);
		gt_result_add_count(result, (int64_t)sum->modules);
		gt_add_rounded(result, unknown ? (double)NAN : sum->load_ns);
		gt_result_add_count(result, (int64_t)sum->not_measured);
		gt_result_add_count(result, sum->functions_ns);
		gt_result_add_count(result, sum->own_ns);
		gt_result_add_count(result, sum->call_ns);
		gt_result_add_count(result, sum->most_ns);
	}
	gt_array_free(places);
}

/* Modules loaded in calls that are not recorded stand last, so that nothing is missing. */
static void add_unrecorded(const struct gt_module_tally *tally, struct gt_result *result)
{
	struct gt_module_sum sum = {.jit_ns = (double)NAN};

	for (size_t i = 0; i < tally->trace->modules.count; i++)
		if (gt_module_is_unrecorded(&tally->uses, i))
			gt_module_add_to_sum(&sum, tally, i);
	if (sum.modules == 0)
		return;
	gt_result_add_unknown(result);
	gt_result_add_unknown(result);
	gt_result_add_count(result, (int64_t)sum.modules);
	gt_add_rounded(result, sum.not_measured < sum.modules ? sum.load_ns : (double)NAN);
	gt_result_add_count(result, (int64_t)sum.not_measured);
	gt_result_add_unknown(result);
	gt_result_add_count(result, sum.own_ns);
	gt_result_add_unknown(result);
	gt_result_add_unknown(result);
}

void gt_module_add_calls(const struct gt_module_tally *tally, struct gt_result *result)
{
	struct call_sums sums = {.functions = gt_index_new(sizeof(gt_string))};

	gt_array_each(const struct gt_module_call, call, &tally->calls.list)
		count_call(&sums, tally->trace, call);
	gt_result_begin(result, "calls", call_headings, GT_COUNT_OF(call_headings));
	add_call_rows(&sums, tally->trace, result);
	add_unrecorded(tally, result);
	gt_index_free(sums.functions);
	gt_array_release(&sums.list);
}
