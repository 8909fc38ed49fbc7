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

gt_id gt_whole_device(const struct gt_trace *trace, gt_id device)
{
	const gt_id row = gt_whole_shown(trace, GT_TABLE_devices, device);

	return gt_whole_has_rows(trace, row) ? row : GT_NONE;
}

bool gt_whole_has_rows(const struct gt_trace *trace, gt_id device)
{
	return device < trace->devices.count && !(trace->whole && trace->whole->named[device]);
}

size_t gt_whole_devices(const struct gt_trace *trace)
{
	size_t count = 0;

	for (gt_id i = 0; i < trace->devices.count; i++)
		count += gt_whole_has_rows(trace, i);
	return count;
}

bool gt_whole_asks_about(const struct gt_trace *trace, gt_id device)
{
	return !trace->whole || device >= trace->whole->trace.devices.count ||
	       trace->whole->asked_about[device];
}

gt_time gt_whole_until(const struct gt_trace *trace)
{
	return trace->whole ? trace->whole->until_ns : INT64_MAX;
}

void gt_whole_free(struct gt_whole *whole)
{
	if (!whole)
		return;
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		gt_array_free(whole->shown[i]);
		gt_array_free(whole->origins[i]);
	}
	gt_array_free(whole->asked_about);
	gt_array_free(whole->named);
	whole->trace.strings = NULL;
	gt_trace_release(&whole->trace);
	gt_array_free(whole);
}
