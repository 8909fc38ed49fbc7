/* SPDX-License-Identifier: Apache-2.0 */
#include "model/graphs/runs.h"

#include <string.h>

#include "base/array.h"
#include "model/work/activity.h"

static gt_id node_of(const struct gt_trace *trace, const struct gt_activity *activity)
{
	switch (activity->type) {
	case GT_ACTIVITY_KERNEL:
		return trace->kernels.rows[activity->row].node;
	case GT_ACTIVITY_COPY:
		return trace->copies.rows[activity->row].node;
	case GT_ACTIVITY_FILL:
		return trace->fills.rows[activity->row].node;
	case GT_ACTIVITY_GRAPH:
		break;
	}
	return GT_NONE;
}

static void see(struct gt_graph_runs *runs, const struct gt_trace *trace,
                const struct gt_activity *activity)
{
	const gt_id launch = gt_graph_launch_of(runs, trace, activity->api_call);
	const gt_id node = node_of(trace, activity);
	const uint64_t lasts_ns = activity->end_ns > activity->start_ns
	                                  ? (uint64_t)(activity->end_ns - activity->start_ns)
	                                  : 0;

	if (node < trace->graph_nodes.count) {
		runs->of_node[node].runs++;
		runs->of_node[node].total_ns += lasts_ns;
	}
	if (launch == GT_NONE)
		return;
	if (node < trace->graph_nodes.count)
		runs->of_node[node].launched_ns += lasts_ns;
	(void)gt_cover_add(&runs->of_launch[launch].cover,
	                   (struct gt_interval){activity->start_ns, activity->end_ns});
	runs->of_launch[launch].work_ns += lasts_ns;
	runs->of_launch[launch].kernels += activity->type == GT_ACTIVITY_KERNEL;
	runs->of_launch[launch].activities++;
}

static void see_whole(struct gt_graph_runs *runs, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_graph_trace, whole, &trace->graph_traces) {
		const gt_id launch = gt_graph_launch_of(runs, trace, whole->api_call);

		if (launch != GT_NONE && whole->start_ns > 0 && whole->end_ns >= whole->start_ns &&
		    runs->of_launch[launch].activities == 0)
			(void)gt_cover_add(&runs->of_launch[launch].cover,
			                   (struct gt_interval){whole->start_ns, whole->end_ns});
	}
}

void gt_graph_runs_init(struct gt_graph_runs *runs, const struct gt_trace *trace)
{
	struct gt_activity_walk walk;
	struct gt_activity activity;

	*runs = (struct gt_graph_runs){
		.of_launch =
			gt_allocate_zeroed(trace->graph_launches.count, sizeof(*runs->of_launch)),
		.of_node = gt_allocate_zeroed(trace->graph_nodes.count, sizeof(*runs->of_node)),
		.launch_of_call =
			gt_allocate(trace->api_calls.count * sizeof(*runs->launch_of_call)),
	};
	for (size_t i = 0; i < trace->api_calls.count; i++)
		runs->launch_of_call[i] = GT_NONE;
	for (gt_id i = 0; i < trace->graph_launches.count; i++)
		if (trace->graph_launches.rows[i].api_call < trace->api_calls.count)
			runs->launch_of_call[trace->graph_launches.rows[i].api_call] = i;
	gt_activity_walk_init(&walk, trace, GT_WORK_FIGURES);
	while (gt_activity_next(&walk, &activity))
		see(runs, trace, &activity);
	see_whole(runs, trace);
}

void gt_graph_runs_release(struct gt_graph_runs *runs)
{
	gt_array_free(runs->of_launch);
	gt_array_free(runs->of_node);
	gt_array_free(runs->launch_of_call);
	*runs = (struct gt_graph_runs){0};
}

gt_id gt_graph_launch_of(const struct gt_graph_runs *runs, const struct gt_trace *trace,
                         gt_id api_call)
{
	return api_call < trace->api_calls.count ? runs->launch_of_call[api_call] : GT_NONE;
}

static void add_launch(struct gt_exec_runs *of_exec, const struct gt_graph_launch *launch,
                       const struct gt_graph_run *run)
{
	if (launch->result != 0)
		return;
	of_exec->launches++;
	if (launch->end_ns > launch->start_ns) {
		of_exec->called++;
		of_exec->call_ns += (uint64_t)(launch->end_ns - launch->start_ns);
	}
	if (!run->cover.begun)
		return;
	of_exec->spanned++;
	of_exec->span_ns += gt_cover_span(&run->cover);
	if (run->activities == 0)
		return;
	of_exec->ran++;
	of_exec->activities += run->activities;
	of_exec->gap_ns += gt_cover_span(&run->cover) - run->cover.covered_ns;
	of_exec->busy_ns += run->cover.covered_ns;
	of_exec->work_ns += run->work_ns;
}

struct gt_exec_runs *gt_exec_runs_of(const struct gt_graph_runs *runs, const struct gt_trace *trace)
{
	struct gt_exec_runs *of_execs =
		gt_allocate_zeroed(trace->graph_execs.count, sizeof(*of_execs));

	for (size_t i = 0; i < trace->graph_launches.count; i++) {
		const struct gt_graph_launch *launch = &trace->graph_launches.rows[i];

		if (launch->exec < trace->graph_execs.count)
			add_launch(&of_execs[launch->exec], launch, &runs->of_launch[i]);
	}
	return of_execs;
}
