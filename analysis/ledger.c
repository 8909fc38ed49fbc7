/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ledger.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

bool gt_ledger_is_loss(const char *name)
{
	static const char *const words[] = {
		"discarded", "dropped",     "failed",     "lost",
		"missing",   "not_written", "unfinished", "unknown",
	};
	const size_t length = strlen(name);

	if (length > 3 && strcmp(name + length - 3, "_ns") == 0)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t lost_in(const struct gt_trace *trace, gt_id process)
{
	uint64_t launches_unfinished = 0;
	uint64_t kernels_unfinished = 0;
	uint64_t launches_missing = 0;
	uint64_t not_fetched = 0;
	uint64_t rest = 0;

	gt_array_each(const struct gt_ledger, row, &trace->ledgers) {
		const char *name = gt_trace_text(trace, row->name);

		if (row->process != process || !gt_ledger_is_loss(name) ||
		    strcmp(name, "sources_failed") == 0)
			continue;
		if (strcmp(name, "launches_unfinished") == 0)
			launches_unfinished += row->value;
		else if (strcmp(name, "kernels_unfinished") == 0)
			kernels_unfinished += row->value;
		else if (strcmp(name, "launches_missing") == 0)
			launches_missing += row->value;
		else if (strcmp(name, "dropped_by_cupti") == 0 ||
		         strcmp(name, "discarded_no_buffer") == 0)
			not_fetched += row->value;
		else
			rest += row->value;
	}
	return larger(launches_unfinished, kernels_unfinished) +
	       larger(launches_missing, not_fetched) + rest;
}

uint64_t gt_ledger_lost(const struct gt_trace *trace)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < trace->processes.count; i++)
		lost += lost_in(trace, (gt_id)i);
	return lost;
}

uint64_t gt_ledger_sources_failed(const struct gt_trace *trace)
{
	uint64_t failed = 0;

	(void)gt_trace_ledger(trace, "sources_failed", &failed);
	return failed;
}

uint64_t gt_ledger_broken(const struct gt_trace *trace)
{
	uint64_t broken = 0;

	gt_array_each(const struct gt_process, process, &trace->processes)
		broken += process->ended != GT_END_CLEAN;
	return broken;
}
