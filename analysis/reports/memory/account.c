/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/memory/tables.h"

#include <math.h>

#include "analysis/figures.h"
#include "analysis/memory/account.h"
#include "base/array.h"
#include "base/units.h"
#include "model/kinds/memory.h"

static const struct gt_heading account_headings[] = {
	{"moment", GT_UNIT_TEXT,
         "Most allocated by calls, most in use by NVML, both (peak), or the end of the recording",
         GT_WORTH_KEY},
	{"time_ns", GT_UNIT_TIME, "When it was so much, since the recording began", GT_WORTH_KEY},
	{"claim", GT_UNIT_TEXT, "Whose memory it is", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BINARY_BYTES, "How much", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT,
         "Share of the device total, or of all that is claimed where that is more or alone known",
         GT_WORTH_KEY},
	{"name", GT_UNIT_TEXT, "Name of the pool or the library", GT_WORTH_NAME},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE},
	{"source", GT_UNIT_TEXT, "Source of the figure", GT_WORTH_ORDINARY},
};

/* Why the total is not known, or what nobody claims. */
static void remark_account(const struct gt_memory_page *page, const char *moment, gt_id device,
                           const struct gt_account *account)
{
	const long long number = gt_device_number(&page->trace->devices.rows[device]);

	if (account->over_bytes > 0)
		gt_result_remark_on(
			page->result, "claim",
			"GPU %lld, %s: %s more are claimed than NVML says are in use; %s.", number,
			moment, gt_figure_binary((int64_t)account->over_bytes).text, account->why);
	if (account->sampled_ns == 0 && gt_account_last_ns(page->view, device))
		gt_result_remark_on(
			page->result, "claim",
			"GPU %lld, %s: NVML was not asked while so much was allocated, so that the total is not known (run --telemetry 10ms asks more often).",
			number, moment);
}

static void add_account_lines(const struct gt_memory_page *page, const char *moment, gt_id device,
                              gt_time at_ns)
{
	struct gt_account account;
	double total;

	gt_account_init(&account, page->view, page->carriers, device, at_ns);
	total = gt_account_sum(&account, GT_ACCOUNT_TOTAL);
	total = fmax(total,
	             gt_account_claimed(&account)); /* of two numbers the one that is known */
	gt_array_each(const struct gt_account_line, line, &account.lines) {
		gt_result_add_text(page->result, moment);
		gt_add_moment(page->result, page->trace, line->time_ns);
		gt_result_add_text(page->result, gt_account_item_name(line->item));
		gt_add_bytes(page->result, line->bytes);
		gt_result_add_real(page->result, gt_percent(line->bytes, total));
		if (line->name)
			gt_result_add_text(page->result, line->name);
		else if (line->pool != GT_NONE)
			gt_memory_add_name(page->result, page->trace, line->pool, 0);
		else
			gt_result_add_unknown(page->result);
		gt_add_device(page->result, page->trace, device);
		gt_result_add_text(page->result, line->source);
	}
	remark_account(page, moment, device, &account);
	gt_account_release(&account);
}

/*
 * When most was in use. NVML sees what no call tells, and misses what comes and goes between two
 * samples: its peak and that of the calls may be two moments.
 */
static void add_peak_accounts(const struct gt_memory_page *page, gt_id device)
{
	const gt_time sampled_ns = gt_account_peak_ns(page->view, device);
	const gt_time called_ns = page->totals.of_device[device].peak_ns;

	if (sampled_ns == 0) {
		add_account_lines(page, "peak by calls", device, called_ns);
	} else if (gt_account_is_same(page->view, device, sampled_ns, called_ns)) {
		add_account_lines(page, "peak", device, sampled_ns);
	} else {
		add_account_lines(page, "peak by calls", device, called_ns);
		add_account_lines(page, "peak by NVML", device, sampled_ns);
	}
}

void gt_memory_add_account(const struct gt_memory_page *page)
{
	gt_result_begin(page->result, "account", account_headings, GT_COUNT_OF(account_headings));
	gt_result_whole(page->result);
	for (gt_id i = 0; i < page->totals.device_count; i++) {
		const gt_time last_ns = gt_account_last_ns(page->view, i);

		if (page->totals.of_device[i].peak == 0)
			continue;
		add_peak_accounts(page, i);
		add_account_lines(page, "end", i, last_ns ? last_ns : page->view->end_ns);
	}
}
