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

uint64_t gt_ledger_lost(const struct gt_trace *trace)
{
	uint64_t lost = 0;

	gt_array_each(const struct gt_ledger, row, &trace->ledgers)
		if (gt_ledger_is_loss(gt_trace_text(trace, row->name)))
			lost += row->value;
	return lost;
}

uint64_t gt_ledger_broken(const struct gt_trace *trace)
{
	uint64_t broken = 0;

	gt_array_each(const struct gt_process, process, &trace->processes)
		broken += process->ended != GT_END_CLEAN;
	return broken;
}
