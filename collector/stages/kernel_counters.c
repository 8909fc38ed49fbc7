/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "collector/stage.h"
#include "model/known.h"

/*
 * Which kernels were run several times for their counters and which graph launches were counted,
 * by process and CUPTI's correlation id, and what the counters said of each. The time of such a
 * kernel, and of the API calls of both, is no figure: the call lasts as long as all the runs.
 */

struct place {
	uint32_t process;
	uint32_t correlation;
	gt_id row; /* of profiled_launches */
};

struct finder {
	struct gt_trace *trace;
	gt_array(struct place) places; /* in the order of by_id */
	gt_id *shapes;                 /* by launch shape: shape_like of it; GT_NONE: not asked */
};

static int by_id(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->correlation > right->correlation) - (left->correlation < right->correlation);
}

static void find_places(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;

	for (size_t i = 0; i < trace->profiled_launches.count; i++)
		*gt_array_push(&finder->places) =
			(struct place){trace->profiled_launches.rows[i].process,
		                       trace->profiled_launches.rows[i].correlation, (gt_id)i};
	qsort(finder->places.rows, finder->places.count, sizeof(*finder->places.rows), by_id);
}

/* The launch that has the id; NULL: none that was profiled. */
static struct gt_profiled_launch *launch_of(const struct finder *finder, gt_id process,
                                            uint32_t correlation)
{
	const struct place wanted = {process, correlation, GT_NONE};
	const struct place *place = correlation
	                                    ? bsearch(&wanted, finder->places.rows,
	                                              finder->places.count, sizeof(wanted), by_id)
	                                    : NULL;

	return place ? &finder->trace->profiled_launches.rows[place->row] : NULL;
}

/* Launched the same way; and how much shared memory was configured is known. */
static bool is_like(const struct gt_launch_shape *row, const struct gt_launch_shape *wanted)
{
	return row->shared_executed_bytes != 0 && row->name == wanted->name &&
	       row->grid_x == wanted->grid_x && row->grid_y == wanted->grid_y &&
	       row->grid_z == wanted->grid_z && row->block_x == wanted->block_x &&
	       row->block_y == wanted->block_y && row->block_z == wanted->block_z &&
	       row->cluster_x == wanted->cluster_x && row->cluster_y == wanted->cluster_y &&
	       row->cluster_z == wanted->cluster_z && row->registers == wanted->registers &&
	       row->shared_static_bytes == wanted->shared_static_bytes &&
	       row->shared_dynamic_bytes == wanted->shared_dynamic_bytes &&
	       row->local_per_thread_bytes == wanted->local_per_thread_bytes;
}

/*
 * CUPTI's record of such a launch, where the function was not launched before, does not say how
 * much shared memory was configured, nor which configuration of the caches was in force (seen with
 * CUPTI 13.0 on an H200). Values of others that were launched the same way stand for these: else
 * they would not be counted together.
 */
static gt_id shape_like(const struct gt_trace *trace, gt_id row)
{
	const struct gt_launch_shape *wanted = &trace->launch_shapes.rows[row];

	for (size_t i = 0; i < trace->launch_shapes.count && !wanted->shared_executed_bytes; i++)
		if (is_like(&trace->launch_shapes.rows[i], wanted))
			return (gt_id)i;
	return row;
}

static void complete_shape(const struct finder *finder, struct gt_kernel *kernel)
{
	gt_id *like;

	if (kernel->shape >= finder->trace->launch_shapes.count)
		return;
	like = &finder->shapes[kernel->shape];
	if (*like == GT_NONE)
		*like = shape_like(finder->trace, kernel->shape);
	kernel->shape = *like;
}

/* Those of a graph ran once, and took the time that they take. */
static void mark_kernels(const struct finder *finder)
{
	struct gt_trace *trace = finder->trace;

	for (size_t i = 0; i < trace->kernels.count; i++) {
		struct gt_kernel *kernel = &trace->kernels.rows[i];
		struct gt_profiled_launch *launch =
			launch_of(finder, gt_trace_process_of(trace, GT_TABLE_kernels, kernel),
		                  kernel->correlation);

		if (!launch || launch->kind != 0)
			continue;
		kernel->flags |= GT_PROFILED;
		complete_shape(finder, kernel);
		launch->kernel = (gt_id)i;
	}
}

static void mark_calls(const struct finder *finder)
{
	struct gt_trace *trace = finder->trace;

	gt_array_each(struct gt_profiled_launch, launch, &trace->profiled_launches)
		if (launch->api_call < trace->api_calls.count)
			trace->api_calls.rows[launch->api_call].flags |= GT_PROFILED;
	for (size_t i = 0; i < trace->graph_launches.count; i++) {
		struct gt_graph_launch *row = &trace->graph_launches.rows[i];
		struct gt_profiled_launch *launch =
			launch_of(finder, gt_trace_process_of(trace, GT_TABLE_graph_launches, row),
		                  row->correlation);

		if (!launch || launch->kind == 0)
			continue;
		row->flags |= GT_PROFILED;
		launch->graph_launch = (gt_id)i;
	}
}

static void add_value(const struct finder *finder, const struct gt_capture *capture,
                      const struct gt_record_profiled_metric *metric,
                      const struct gt_record_profiled_value *value)
{
	const struct gt_profiled_launch *launch =
		launch_of(finder, capture->process, value->correlation);

	if (!launch)
		return;
	*gt_array_push(&finder->trace->kernel_counters) = (struct gt_kernel_counter){
		.kernel = launch->kernel,
		.launch = (gt_id)(launch - finder->trace->profiled_launches.rows),
		.name = gt_capture_string(capture, metric->name),
		.metric = gt_capture_string(capture, metric->metric),
		.unit = gt_capture_string(capture, metric->unit),
		.value = value->value,
	};
}

static void add_values(const struct finder *finder, const struct gt_capture *capture)
{
	struct gt_known metrics = {0};

	for (size_t i = 0; i < capture->raw_profiled_metrics.count; i++)
		gt_known_add(&metrics, capture->raw_profiled_metrics.rows[i].number, (gt_id)i);
	gt_array_each(const struct gt_record_profiled_value, value, &capture->raw_profiled_values) {
		const gt_id row = gt_known_find(&metrics, value->metric);

		if (row != GT_NONE)
			add_value(finder, capture, &capture->raw_profiled_metrics.rows[row], value);
	}
	gt_known_release(&metrics);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct finder finder = {.trace = trace};

	(void)err;
	if (trace->profiled_launches.count == 0)
		return 0;
	gt_array_each(struct gt_profiled_launch, launch, &trace->profiled_launches)
		launch->kernel = launch->graph_launch = GT_NONE;
	finder.shapes = gt_allocate(trace->launch_shapes.count * sizeof(*finder.shapes));
	for (size_t i = 0; i < trace->launch_shapes.count; i++)
		finder.shapes[i] = GT_NONE;
	find_places(&finder);
	mark_kernels(&finder);
	mark_calls(&finder);
	gt_array_each(const struct gt_capture, capture, &collection->captures)
		add_values(&finder, capture);
	gt_array_release(&finder.places);
	gt_array_free(finder.shapes);
	return 0;
}

const struct gt_stage gt_stage_kernel_counters = {.name = "kernel_counters", .run = run};
