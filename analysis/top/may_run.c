/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/top/may_run.h"

#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/pending/pending.h"
#include "base/array.h"
#include "model/naming/shape_names.h"

static bool may_run(const struct gt_pending *pending, const struct gt_pending_work *work)
{
	return pending->trace->processes.rows[work->process].ended == GT_END_RUNNING &&
	       (work->state == GT_PENDING_FIRST || work->state == GT_PENDING_UNTOLD ||
	        work->state == GT_PENDING_MAYBE);
}

static const char *name_of(const struct gt_trace *trace, struct gt_step step)
{
	switch (step.table) {
	case GT_TABLE_kernels:
		return gt_shape_name(trace, trace->kernels.rows[step.row].shape);
	case GT_TABLE_copies:
		return "copy";
	case GT_TABLE_fills:
		return "fill";
	default:
		return "graph";
	}
}

static void see(struct gt_may_run *devices, const struct gt_pending *pending,
                const struct gt_pending_work *work)
{
	const gt_id device = gt_stream_device(pending->trace, work->stream);
	gt_time since_ns = pending->streams[work->stream].last_end_ns;

	if (work->given_ns > since_ns)
		since_ns = work->given_ns;
	if (device < pending->trace->devices.count && since_ns < devices[device].since_ns)
		devices[device] = (struct gt_may_run){
			since_ns,
			name_of(pending->trace,
		                work->node.table == GT_TABLE_kernels ? work->node : work->step)};
}

gt_time gt_fetched_until(const struct gt_trace *trace, gt_time now_ns)
{
	const gt_time fresh_ns = gt_pending_fresh_ns(trace);

	return fresh_ns < now_ns ? now_ns - fresh_ns : 0;
}

struct gt_may_run *gt_may_run_of_devices(const struct gt_trace *trace, gt_time now_ns)
{
	const size_t count = trace->devices.count;
	struct gt_may_run *devices = gt_allocate((count + 1) * sizeof(*devices));
	struct gt_pending pending;

	for (size_t i = 0; i < count; i++)
		devices[i] = (struct gt_may_run){.since_ns = INT64_MAX};
	gt_pending_init(&pending, trace, now_ns);
	gt_array_each(const struct gt_pending_work, work, &pending.works)
		if (may_run(&pending, work))
			see(devices, &pending, work);
	gt_pending_release(&pending);
	return devices;
}
