/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pending/operation.h"

#include <stdio.h>
#include <string.h>

#include "model/names.h"
#include "model/naming/labels.h"
#include "model/naming/shape_names.h"

/* A kernel whose name the process has not told yet has one that is not known. */
static const char *kernel_name(const struct gt_trace *trace, gt_id kernel)
{
	const char *name = gt_shape_name(trace, trace->kernels.rows[kernel].shape);

	return *name ? name : "kernel of unknown name";
}

const char *gt_pending_step_name(const struct gt_trace *trace, struct gt_step step,
                                 char room[GT_PENDING_NAME_BYTES])
{
	switch (step.table) {
	case GT_TABLE_kernels:
		return kernel_name(trace, step.row);
	case GT_TABLE_copies:
		snprintf(room, GT_PENDING_NAME_BYTES, "copy %s",
		         gt_copy_kind_name(trace->copies.rows[step.row].kind));
		return room;
	case GT_TABLE_fills:
		return "fill";
	case GT_TABLE_graph_traces:
		return "graph";
	default:
		return "";
	}
}

const char *gt_pending_work_name(const struct gt_trace *trace, const struct gt_pending_work *work,
                                 char room[GT_PENDING_NAME_BYTES])
{
	char node[GT_PENDING_NAME_BYTES];
	const char *name;
	size_t used;

	if (work->step.table != GT_TABLE_graph_launches)
		return gt_pending_step_name(trace, work->step, room);
	gt_graph_exec_label(trace, trace->graph_launches.rows[work->step.row].exec, room,
	                    GT_LABEL_BYTES);
	used = strlen(room);
	if (work->nodes > 0)
		used += (size_t)snprintf(room + used, GT_PENDING_NAME_BYTES - used,
		                         ", %llu of %llu nodes ended",
		                         (unsigned long long)work->ended,
		                         (unsigned long long)work->nodes);
	name = gt_pending_step_name(trace, work->node, node);
	if (*name)
		snprintf(room + used, GT_PENDING_NAME_BYTES - used, ": %s", name);
	return room;
}
