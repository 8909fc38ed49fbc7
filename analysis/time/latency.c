/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/latency.h"

#include "analysis/figures.h"
#include "model/whole.h"

void gt_latency_init(struct gt_latency *latency, const struct gt_trace *shown)
{
	const struct gt_trace *trace = gt_whole_of(shown);

	*latency = (struct gt_latency){
		.shown = shown,
		.trace = trace,
		.processes = gt_allocate(shown->processes.count * sizeof(*latency->processes)),
		.busy_until = gt_allocate(trace->devices.count * sizeof(*latency->busy_until)),
	};
	for (size_t i = 0; i < shown->processes.count; i++)
		latency->processes[i] = (struct gt_latencies){0};
	for (size_t i = 0; i < trace->devices.count; i++)
		latency->busy_until[i] = -1;
}

void gt_latency_release(struct gt_latency *latency)
{
	for (size_t i = 0; i < latency->shown->processes.count; i++) {
		gt_array_release(&latency->processes[i].idle);
		gt_array_release(&latency->processes[i].queued);
	}
	gt_array_free(latency->processes);
	gt_array_free(latency->busy_until);
	latency->processes = NULL;
	latency->busy_until = NULL;
}

/*
 * All that started before the kernel has been seen by now, so if all of that had ended when the
 * call was entered, the device had nothing to do at that moment.
 */
static void see_launch(struct gt_latency *latency, gt_time busy_until,
                       const struct gt_activity *activity)
{
	const struct gt_trace *trace = latency->trace;
	const struct gt_kernel *kernel = &trace->kernels.rows[activity->row];
	const gt_id process = gt_whole_shown(latency->shown, GT_TABLE_processes,
	                                     gt_api_process(trace, activity->api_call));
	const struct gt_api_call *call;
	struct gt_latencies *latencies;

	if (process >= latency->shown->processes.count) {
		latency->without_call++;
		return;
	}
	call = &trace->api_calls.rows[activity->api_call];
	if (kernel->graph || call->kind == GT_API_GRAPH_LAUNCH ||
	    kernel->flags & GT_DEVICE_LAUNCHED) {
		latency->from_graphs++;
		return;
	}
	latencies = &latency->processes[process];
	latency->early += call->start_ns > kernel->start_ns;
	if (busy_until <= call->start_ns)
		*gt_array_push(&latencies->idle) = kernel->start_ns - call->start_ns;
	else
		*gt_array_push(&latencies->queued) = kernel->start_ns - call->start_ns;
}

void gt_latency_see(struct gt_latency *latency, const struct gt_activity *activity)
{
	gt_time *busy_until;

	if (activity->device >= latency->trace->devices.count)
		return;
	busy_until = &latency->busy_until[activity->device];
	if (activity->type == GT_ACTIVITY_KERNEL &&
	    gt_whole_shown(latency->shown, GT_TABLE_kernels, activity->row) != GT_NONE)
		see_launch(latency, *busy_until, activity);
	if (activity->end_ns > *busy_until)
		*busy_until = activity->end_ns;
}
