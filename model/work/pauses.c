/* SPDX-License-Identifier: Apache-2.0 */
#include "model/work/pauses.h"

size_t gt_pauses_before(const struct gt_trace *trace, gt_time moment_ns)
{
	size_t first = 0;
	size_t end = trace->pauses.count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (trace->pauses.rows[middle].start_ns < moment_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

const struct gt_pause *gt_pause_next(const struct gt_trace *trace, gt_id process, gt_time moment_ns)
{
	for (size_t i = gt_pauses_before(trace, moment_ns); i < trace->pauses.count; i++)
		if (trace->pauses.rows[i].process == process)
			return &trace->pauses.rows[i];
	return NULL;
}
