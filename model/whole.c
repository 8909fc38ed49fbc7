/* SPDX-License-Identifier: Apache-2.0 */
#include "model/whole.h"

#include "base/array.h"

const struct gt_trace *gt_whole_of(const struct gt_trace *trace)
{
	return trace->whole ? &trace->whole->trace : trace;
}

gt_id gt_whole_shown(const struct gt_trace *trace, int table, gt_id row)
{
	const struct gt_whole *whole = trace->whole;

	if (!whole)
		return row;
	return row < gt_trace_table(&whole->trace, (size_t)table).row_count
	               ? whole->shown[table][row]
	               : GT_NONE;
}

gt_id gt_whole_origin(const struct gt_trace *trace, int table, gt_id row)
{
	const struct gt_whole *whole = trace->whole;

	if (!whole)
		return row;
	return row < gt_trace_table(trace, (size_t)table).row_count ? whole->origins[table][row]
	                                                            : GT_NONE;
}

void gt_whole_free(struct gt_whole *whole)
{
	if (!whole)
		return;
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		gt_array_free(whole->shown[i]);
		gt_array_free(whole->origins[i]);
	}
	whole->trace.strings = NULL;
	gt_trace_release(&whole->trace);
	gt_array_free(whole);
}
