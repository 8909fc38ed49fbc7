/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/steps/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/bundle/bundle.h"

/* Whether a launch of a graph is one again: not where all steps are put in order otherwise. */
static bool launches_graphs(const struct gt_steps *steps)
{
	return steps->options->form == GT_SEQUENCE_recorded ||
	       steps->options->form == GT_SEQUENCE_priorities ||
	       steps->options->form == GT_SEQUENCE_back_to_back;
}

/*
 * Whether nothing in the graph waits for an event from outside of it, nor the reverse. Captured
 * work cannot: such steps, of nodes that record and wait for the program's events, are run one
 * by one.
 */
static bool *find_closed(const struct gt_steps *steps, uint32_t graph_count)
{
	uint32_t *recorded = gt_allocate_zeroed(steps->event_count, sizeof(*recorded));
	bool *closed = gt_allocate_zeroed(graph_count + 1, sizeof(*closed));

	memset(closed, true, graph_count + 1);
	for (size_t i = 0; i < steps->bundle->steps.count; i++) {
		const struct gt_bundle_step *step = &steps->bundle->steps.rows[i];

		if (step->event == GT_BUNDLE_NONE)
			continue;
		if (step->kind == GT_BUNDLE_STEP_record) {
			recorded[step->event] = step->graph;
		} else if (!steps->ready[i].unrecorded && recorded[step->event] != step->graph) {
			closed[step->graph] = false;
			closed[recorded[step->event]] = false;
		}
	}
	free(recorded);
	return closed;
}

/* Numbers of graphs are counted from 1, and their steps follow each other. */
static void list_graphs(struct gt_steps *steps)
{
	const struct gt_bundle *bundle = steps->bundle;
	uint32_t count = 0;
	bool *closed;

	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		count = step->graph > count ? step->graph : count;
	closed = find_closed(steps, count);
	steps->graphs = gt_allocate_zeroed(count, sizeof(*steps->graphs));
	for (size_t i = 0; i < bundle->steps.count; i++) {
		const uint32_t graph = bundle->steps.rows[i].graph;

		if (graph == 0 || !closed[graph])
			continue;
		if (!gt_bundle_goes_on_with_graph(bundle, i))
			steps->graphs[steps->graph_count++].first = i;
		steps->graphs[steps->graph_count - 1].end = i + 1;
	}
	free(closed);
}

/* Streams in which nothing is but what is inside of graphs, behind their first steps. */
static void find_inside(struct gt_steps *steps)
{
	const struct gt_bundle *bundle = steps->bundle;

	steps->inside = gt_allocate_zeroed(bundle->streams.count, sizeof(*steps->inside));
	for (size_t i = 0; i < steps->graph_count; i++)
		for (size_t j = steps->graphs[i].first + 1; j < steps->graphs[i].end; j++)
			steps->inside[bundle->steps.rows[j].stream] = true;
	for (size_t i = 0, graphs = 0; i < bundle->steps.count; i++) {
		const uint32_t stream = bundle->steps.rows[i].stream;

		if (stream != GT_BUNDLE_NONE)
			steps->inside[stream] = false;
		if (graphs < steps->graph_count && steps->graphs[graphs].first == i)
			i = steps->graphs[graphs++].end - 1;
	}
}

/* The streams of a graph begin when it is launched, and it ends when all of them have. */
static int order_inside(struct gt_steps *steps, const struct gt_step_graph *graph, bool begin,
                        struct gt_error *err)
{
	const struct gt_bundle_step *rows = steps->bundle->steps.rows;
	const uint32_t own = rows[graph->first].stream;
	bool *ordered = gt_allocate_zeroed(steps->bundle->streams.count, sizeof(*ordered));
	int result = 0;

	ordered[own] = true;
	for (size_t i = graph->first; result == 0 && i < graph->end; i++) {
		const uint32_t other = rows[i].stream;

		if (!ordered[other])
			result = gt_gpu_order(steps->gpu, steps->streams[begin ? own : other],
			                      steps->streams[begin ? other : own], err);
		ordered[other] = true;
	}
	free(ordered);
	return result;
}

/* The order with the default stream is kept outside of the graph. */
static int put_inside(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];

	if (gt_bundle_is_work(step))
		return gt_steps_work(steps, number, steps->streams[step->stream], err);
	return steps->ready[number].unrecorded ? 0 : gt_steps_order(steps, step, err);
}

static int capture_graph(struct gt_steps *steps, struct gt_step_graph *graph, struct gt_error *err)
{
	const uint32_t own = steps->bundle->steps.rows[graph->first].stream;
	int result = gt_commands_begin(&graph->commands, steps->gpu, steps->streams[own], err);
	int ended;

	if (result < 0)
		return result;
	result = order_inside(steps, graph, true, err);
	for (size_t i = graph->first; result == 0 && i < graph->end; i++)
		result = put_inside(steps, i, err);
	if (result == 0)
		result = order_inside(steps, graph, false, err);
	ended = gt_commands_end(&graph->commands, result < 0, err);
	return result < 0 ? result : ended;
}

int gt_steps_make_graphs(struct gt_steps *steps, struct gt_error *err)
{
	int result = 0;

	if (!launches_graphs(steps))
		return 0;
	list_graphs(steps);
	find_inside(steps);
	for (size_t i = 0; result == 0 && i < steps->graph_count; i++)
		result = capture_graph(steps, &steps->graphs[i], err);
	return result;
}

int gt_steps_make_graph(struct gt_steps *steps, struct gt_error *err)
{
	int result = gt_commands_begin(&steps->graph, steps->gpu, steps->gpu->stream, err);
	int ended;

	if (result < 0)
		return result;
	result = gt_steps_run_all(steps, err);
	ended = gt_commands_end(&steps->graph, result < 0, err);
	return result < 0 ? result : ended;
}
