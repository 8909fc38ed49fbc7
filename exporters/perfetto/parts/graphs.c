/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/graphs/runs.h"
#include "model/naming/labels.h"

/*
 * Launches of CUDA graphs as they ran on the GPU, below their process: from the start of the first
 * kernel, copy or fill to the end of the last. Their API calls and what ran are elsewhere.
 */

enum { NAME_SIZE = 96, ANNOTATIONS = 4 };

struct launch {
	gt_time start_ns;
	gt_id row; /* of graph_launches */
};

struct graphs {
	struct gt_perfetto *perfetto;
	struct gt_graph_runs runs;
	uint64_t *nodes;        /* by row of graph_execs */
	struct gt_lanes *lanes; /* by row of processes */
	uint32_t names[ANNOTATIONS];
};

static int by_start(const void *a, const void *b)
{
	const struct launch *left = a;
	const struct launch *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

/* "graph 3 (1000 nodes)", or what is known of it. */
static uint32_t name_of(const struct graphs *graphs, const struct gt_graph_launch *launch)
{
	const struct gt_trace *trace = graphs->perfetto->trace;
	const uint64_t nodes =
		launch->exec < trace->graph_execs.count ? graphs->nodes[launch->exec] : 0;
	char name[NAME_SIZE];
	size_t used;

	gt_graph_exec_label(trace, launch->exec, name, sizeof(name));
	used = strlen(name);
	if (nodes)
		snprintf(name + used, sizeof(name) - used, " (%llu node%s)",
		         (unsigned long long)nodes, nodes == 1 ? "" : "s");
	return gt_names_add(&graphs->perfetto->names, name);
}

static size_t annotate(const struct graphs *graphs, gt_id row, struct gt_annotation *annotations)
{
	const struct gt_trace *trace = graphs->perfetto->trace;
	const struct gt_graph_launch *launch = &trace->graph_launches.rows[row];
	const bool known = launch->exec < trace->graph_execs.count;
	const int64_t values[ANNOTATIONS] = {
		known ? trace->graph_execs.rows[launch->exec].number : 0,
		known ? (int64_t)graphs->nodes[launch->exec] : 0,
		graphs->runs.of_launch[row].kernels,
		graphs->runs.of_launch[row].activities,
	};
	size_t count = 0;

	for (size_t i = 0; i < ANNOTATIONS; i++)
		if (values[i])
			annotations[count++] = (struct gt_annotation){GT_VALUE_NUMBER,
			                                              graphs->names[i], values[i]};
	return count;
}

static void put_launch(struct graphs *graphs, gt_id row)
{
	const struct gt_trace *trace = graphs->perfetto->trace;
	const struct gt_graph_launch *launch = &trace->graph_launches.rows[row];
	const struct gt_cover *cover = &graphs->runs.of_launch[row].cover;
	struct gt_annotation annotations[ANNOTATIONS];
	const struct gt_slice slice = {
		.start_ns = cover->start_ns,
		.end_ns = cover->end_ns,
		.name = name_of(graphs, launch),
		.annotations = annotations,
		.annotation_count = annotate(graphs, row, annotations),
	};

	gt_lanes_put(&graphs->lanes[trace->threads.rows[launch->thread].process], &slice);
}

static void put_launches(struct graphs *graphs)
{
	const struct gt_trace *trace = graphs->perfetto->trace;
	struct launch *launches = gt_allocate(trace->graph_launches.count * sizeof(*launches));
	size_t count = 0;

	for (gt_id i = 0; i < trace->graph_launches.count; i++) {
		const struct gt_graph_run *run = &graphs->runs.of_launch[i];

		if (run->cover.begun &&
		    trace->graph_launches.rows[i].thread < trace->threads.count &&
		    gt_ids_time_is_sound(run->cover.start_ns) &&
		    gt_ids_time_is_sound(run->cover.end_ns))
			launches[count++] = (struct launch){run->cover.start_ns, i};
	}
	if (count > 1)
		qsort(launches, count, sizeof(*launches), by_start);
	for (size_t i = 0; i < count; i++)
		put_launch(graphs, launches[i].row);
	gt_array_free(launches);
}

static void count_nodes(struct graphs *graphs)
{
	const struct gt_trace *trace = graphs->perfetto->trace;

	graphs->nodes = gt_allocate(trace->graph_execs.count * sizeof(*graphs->nodes));
	for (size_t i = 0; i < trace->graph_execs.count; i++)
		graphs->nodes[i] = 0;
	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->exec < trace->graph_execs.count)
			graphs->nodes[node->exec]++;
}

void gt_perfetto_write_graphs(struct gt_perfetto *perfetto)
{
	static const char *const names[ANNOTATIONS] = {"graph_exec", "nodes", "kernels",
	                                               "kernels_copies_fills"};
	const struct gt_trace *trace = perfetto->trace;
	struct graphs graphs = {.perfetto = perfetto};

	if (trace->graph_launches.count == 0)
		return;
	gt_graph_runs_init(&graphs.runs, trace);
	count_nodes(&graphs);
	graphs.lanes = gt_allocate(trace->processes.count * sizeof(*graphs.lanes));
	for (size_t i = 0; i < ANNOTATIONS; i++)
		graphs.names[i] = gt_names_add(&perfetto->names, names[i]);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_init(&graphs.lanes[i], perfetto, perfetto->ids.process_uuids[i], "graph",
		              "CUDA graphs on the GPU");
	put_launches(&graphs);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_finish(&graphs.lanes[i]);
	gt_graph_runs_release(&graphs.runs);
	gt_array_free(graphs.nodes);
	gt_array_free(graphs.lanes);
}
