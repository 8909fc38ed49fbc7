/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/bundle/bundle.h"
#include "replay/memory/restored.h"
#include "replay/steps/parts.h"

int gt_steps_load(struct gt_steps *steps, const struct gt_bundle *bundle, struct gt_gpu *gpu,
                  const struct gt_replay_options *options, struct gt_error *err)
{
	int result;

	*steps = (struct gt_steps){
		.bundle = bundle,
		.gpu = gpu,
		.options = options,
		.modules = gt_allocate_zeroed(bundle->modules.count, sizeof(*steps->modules)),
		.functions = gt_allocate_zeroed(bundle->functions.count, sizeof(*steps->functions)),
		.streams = gt_allocate_zeroed(bundle->streams.count, sizeof(*steps->streams)),
		.ready = gt_allocate_zeroed(bundle->steps.count, sizeof(*steps->ready)),
	};
	result = gt_steps_find_functions(steps, err);
	if (result < 0)
		gt_steps_close(steps);
	return result;
}

/* ---- what each step needs ---- */

static int priority_of(const struct gt_steps *steps, size_t stream)
{
	const struct gt_bundle_stream *row = &steps->bundle->streams.rows[stream];
	const struct gt_replay_options *options = steps->options;

	for (size_t i = 0; options->form == GT_SEQUENCE_priorities && i < options->priority_count;
	     i++)
		if (options->priorities[i].stream == row->number)
			return options->priorities[i].priority;
	return row->priority;
}

static int make_streams(struct gt_steps *steps, struct gt_error *err)
{
	const bool one = steps->options->form == GT_SEQUENCE_one_stream;
	int result = 0;

	for (size_t i = 0; result == 0 && i < steps->bundle->streams.count; i++) {
		if (one || steps->bundle->streams.count == 1)
			steps->streams[i] = steps->gpu->stream;
		else
			result = gt_gpu_add_stream(steps->gpu, priority_of(steps, i),
			                           &steps->streams[i], err);
	}
	return result;
}

static int make_events(struct gt_steps *steps, struct gt_error *err)
{
	int result = 0;

	gt_array_each(const struct gt_bundle_step, step, &steps->bundle->steps)
		if (step->event != GT_BUNDLE_NONE && step->event >= steps->event_count)
			steps->event_count = (size_t)step->event + 1;
	steps->events = gt_allocate_zeroed(steps->event_count, sizeof(*steps->events));
	for (size_t i = 0; result == 0 && i < steps->event_count; i++)
		result = gt_gpu_take_event(steps->gpu, &steps->events[i], err);
	return result;
}

/*
 * The host's bytes, in pinned memory where the program had them there: copies take another way from
 * and to other memory, and several times as long.
 */
static int make_bytes(struct gt_steps *steps, const struct gt_bundle_step *step, size_t size,
                      uint8_t **bytes, struct gt_error *err)
{
	void *pinned = NULL;
	int result;

	if (!step->pinned) {
		*bytes = gt_allocate_zeroed(size, 1);
		return 0;
	}
	result = gt_gpu_alloc_pinned(steps->gpu, size, &pinned, err);
	*bytes = pinned;
	if (result == 0)
		memset(pinned, 0, size);
	return result;
}

static int make_ready(struct gt_steps *steps, const struct gt_restored *restored, size_t number,
                      struct gt_error *err)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];
	struct gt_step_ready *ready = &steps->ready[number];
	int result = 0;

	steps->work += gt_bundle_is_work(step);
	ready->to = gt_layout_translate(&restored->layout, steps->bundle, step->to);
	ready->from = gt_layout_translate(&restored->layout, steps->bundle, step->from);
	if (step->kind == GT_BUNDLE_STEP_copy && step->to == 0)
		result = make_bytes(steps, step, step->slices * step->rows * step->bytes,
		                    &ready->bytes, err);
	else if (step->parameters.hash[0])
		result = make_bytes(steps, step, step->parameters.size, &ready->bytes, err);
	if (result < 0 || !step->parameters.hash[0])
		return result;
	return gt_restored_parameters(restored, (uint32_t)number, ready->bytes, err);
}

static void find_unrecorded(struct gt_steps *steps)
{
	bool *recorded = gt_allocate_zeroed(steps->event_count, sizeof(*recorded));

	for (size_t i = 0; i < steps->bundle->steps.count; i++) {
		const struct gt_bundle_step *step = &steps->bundle->steps.rows[i];

		if (step->event == GT_BUNDLE_NONE)
			continue;
		if (step->kind == GT_BUNDLE_STEP_record)
			recorded[step->event] = true;
		else
			steps->ready[i].unrecorded = !recorded[step->event];
	}
	free(recorded);
}

int gt_steps_prepare(struct gt_steps *steps, const struct gt_restored *restored,
                     struct gt_error *err)
{
	int result = make_streams(steps, err);

	if (result == 0)
		result = make_events(steps, err);
	for (size_t i = 0; result == 0 && i < steps->bundle->steps.count; i++)
		result = make_ready(steps, restored, i, err);
	find_unrecorded(steps);
	if (result == 0)
		result = gt_steps_make_graphs(steps, err);
	if (result == 0 && steps->options->form == GT_SEQUENCE_graph)
		result = gt_steps_make_graph(steps, err);
	return result;
}

/*
 * A GPU that was given up may get on later, and read and write what copies were asked for: it stays
 * as long as the process does.
 */
static void leave_bytes(struct gt_steps *steps)
{
	static gt_array(struct gt_step_ready *) left;

	*gt_array_push(&left) = steps->ready;
	steps->ready = NULL;
}

void gt_steps_close(struct gt_steps *steps)
{
	if (steps->ready && !steps->gpu->context)
		leave_bytes(steps);
	gt_commands_close(&steps->graph);
	for (size_t i = 0; i < steps->graph_count; i++)
		gt_commands_close(&steps->graphs[i].commands);
	free(steps->graphs);
	free(steps->inside);
	for (size_t i = 0; steps->ready && i < steps->bundle->steps.count; i++)
		if (!steps->bundle->steps.rows[i].pinned) /* the GPU's, until it is closed */
			free(steps->ready[i].bytes);
	for (size_t i = 0; steps->events && i < steps->event_count; i++)
		gt_gpu_give_event(steps->gpu, steps->events[i]);
	free(steps->modules);
	free(steps->functions);
	free(steps->streams);
	free(steps->events);
	free(steps->ready);
	*steps = (struct gt_steps){0};
}

int gt_steps_run(struct gt_steps *steps, struct gt_error *err)
{
	return steps->graph.exec ? gt_commands_run(&steps->graph, steps->gpu->stream, err)
	                         : gt_steps_run_all(steps, err);
}

int gt_steps_run_one(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	return gt_steps_work(steps, number, steps->gpu->stream, err);
}
