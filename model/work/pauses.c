/* SPDX-License-Identifier: Apache-2.0 */
#include "model/work/pauses.h"

#include "base/search.h"
#include "format/control/control.h"

bool gt_pause_is_dropped(const struct gt_pause *pause)
{
	return pause->paused_by == GT_CAUSE_KEPT;
}

size_t gt_pauses_before(const struct gt_trace *trace, gt_time moment_ns)
{
	return gt_count_before(&trace->pauses, &moment_ns, gt_by_i64);
}

const struct gt_pause *gt_pause_next(const struct gt_trace *trace, gt_id process, gt_time moment_ns)
{
	for (size_t i = gt_pauses_before(trace, moment_ns); i < trace->pauses.count; i++)
		if (trace->pauses.rows[i].process == process)
			return &trace->pauses.rows[i];
	return NULL;
}
