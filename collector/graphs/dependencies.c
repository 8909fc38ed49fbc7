/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>

#include "collector/graphs/linker.h"

/*
 * CUPTI's header does not say which of both nodes waits for the other. A node that is made with
 * its dependencies is the one that waits: what most of them say holds for all.
 */
static bool is_backward(const struct gt_trace *trace)
{
	size_t forward = 0;
	size_t backward = 0;

	gt_array_each(const struct gt_graph_dependency, dependency, &trace->graph_dependencies) {
		if (dependency->before == GT_NONE || dependency->after == GT_NONE ||
		    dependency->correlation == 0)
			continue;

		const bool from_made = trace->graph_nodes.rows[dependency->before].correlation ==
		                       dependency->correlation;
		const bool to_made = trace->graph_nodes.rows[dependency->after].correlation ==
		                     dependency->correlation;

		forward += to_made && !from_made;
		backward += from_made && !to_made;
	}
	return backward > forward;
}

static int by_nodes(const void *a, const void *b)
{
	const struct gt_graph_dependency *left = a;
	const struct gt_graph_dependency *right = b;

	if (left->before != right->before)
		return left->before < right->before ? -1 : 1;
	return (left->after > right->after) - (left->after < right->after);
}

/* One row for each dependency that was not taken away again, between nodes that are known. */
static void sift_dependencies(struct gt_trace *trace)
{
	struct gt_graph_dependency *rows = trace->graph_dependencies.rows;
	const size_t count = trace->graph_dependencies.count;
	size_t kept = 0;
	size_t next;

	if (count > 1)
		qsort(rows, count, sizeof(*rows), by_nodes);
	for (size_t i = 0; i < count; i = next) {
		size_t removed = 0;

		for (next = i; next < count && by_nodes(&rows[next], &rows[i]) == 0; next++)
			removed += rows[next].removed != 0;
		if (rows[i].before == GT_NONE || rows[i].after == GT_NONE ||
		    next - i <= 2 * removed)
			continue;
		rows[kept] = rows[i];
		rows[kept++].removed = 0;
	}
	trace->graph_dependencies.count = kept;
}

void gt_graph_dependencies_link(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_dependency, dependency, &trace->graph_dependencies) {
		struct gt_graph_ids *ids = gt_graph_ids_of(linker, dependency->process);

		dependency->before =
			ids ? gt_graph_find(&ids->nodes, dependency->from_number) : GT_NONE;
		dependency->after =
			ids ? gt_graph_find(&ids->nodes, dependency->to_number) : GT_NONE;
	}
	if (is_backward(trace)) {
		gt_array_each(struct gt_graph_dependency, dependency, &trace->graph_dependencies) {
			const struct gt_graph_dependency was = *dependency;

			dependency->from_number = was.to_number;
			dependency->to_number = was.from_number;
			dependency->before = was.after;
			dependency->after = was.before;
		}
	}
	sift_dependencies(trace);
}
