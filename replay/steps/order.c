/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/steps/parts.h"

#include "base/error.h"
#include "model/bundle/bundle.h"

#define LEGACY_STREAM 7u /* CUPTI's number of the first context's default stream */

/* Whether it is the default stream that blocking streams wait for. */
static bool is_legacy(const struct gt_steps *steps, size_t stream)
{
	return steps->bundle->streams.rows[stream].number == LEGACY_STREAM &&
	       !steps->bundle->streams.rows[stream].nonblocking;
}

/* Whether anything is put into the stream: not where all that is in it is in graphs. */
static bool is_used(const struct gt_steps *steps, size_t stream)
{
	return !steps->inside || !steps->inside[stream];
}

/* Every stream goes on when the one has come so far; GT_BUNDLE_NONE: when all have. */
static int join(struct gt_steps *steps, uint32_t waited, struct gt_error *err)
{
	const size_t count = steps->bundle->streams.count;
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++)
		if (is_used(steps, i) && (i == waited || waited == GT_BUNDLE_NONE))
			result = gt_gpu_order(steps->gpu, steps->streams[i], steps->gpu->stream,
			                      err);
	for (size_t i = 0; result == 0 && i < count; i++)
		if (is_used(steps, i) && i != waited)
			result = gt_gpu_order(steps->gpu, steps->gpu->stream, steps->streams[i],
			                      err);
	return result;
}

/* Work of the default stream and of blocking streams waits for each other. */
static int order_legacy(struct gt_steps *steps, uint32_t stream, bool before, struct gt_error *err)
{
	const size_t count = steps->bundle->streams.count;
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++) {
		const bool bound = i != stream && is_used(steps, i) &&
		                   !steps->bundle->streams.rows[i].nonblocking &&
		                   (is_legacy(steps, stream) || is_legacy(steps, i));

		if (bound && before)
			result = gt_gpu_order(steps->gpu, steps->streams[i], steps->streams[stream],
			                      err);
		else if (bound && is_legacy(steps, stream))
			result = gt_gpu_order(steps->gpu, steps->streams[stream], steps->streams[i],
			                      err);
	}
	return result;
}

/* Whether calls come when the program made them, and the host waits where it did. */
static bool keeps_gaps(const struct gt_steps *steps)
{
	return steps->options->form == GT_SEQUENCE_recorded ||
	       steps->options->form == GT_SEQUENCE_priorities ||
	       steps->options->form == GT_SEQUENCE_nodes;
}

/* The host does. GT_BUNDLE_NONE: for all streams. */
static CUresult wait_for_streams(const struct gt_steps *steps, uint32_t stream)
{
	CUresult code = CUDA_SUCCESS;

	for (size_t i = 0; code == CUDA_SUCCESS && i < steps->bundle->streams.count; i++)
		if (is_used(steps, i) && (i == stream || stream == GT_BUNDLE_NONE))
			code = steps->gpu->cuda->stream_wait(steps->streams[i]);
	return code;
}

static CUresult let_streams_wait(const struct gt_steps *steps, uint32_t event)
{
	CUresult code = CUDA_SUCCESS;

	for (size_t i = 0; code == CUDA_SUCCESS && i < steps->bundle->streams.count; i++)
		if (is_used(steps, i))
			code = steps->gpu->cuda->stream_wait_event(steps->streams[i],
			                                           steps->events[event], 0);
	return code;
}

/* Waits as the program did, on the host or, where that is not to wait, by the streams. */
static int host_wait(struct gt_steps *steps, const struct gt_bundle_step *step,
                     struct gt_error *err)
{
	const struct gt_cuda *cuda = steps->gpu->cuda;
	const bool of_event = step->event != GT_BUNDLE_NONE;
	const bool waits = keeps_gaps(steps) && !steps->bounded;
	CUresult code;

	if (!waits && !of_event)
		return join(steps, step->stream, err);
	if (!waits)
		code = let_streams_wait(steps, step->event);
	else if (of_event)
		code = cuda->event_wait(steps->events[step->event]);
	else
		code = wait_for_streams(steps, step->stream);
	return gt_cuda_check(cuda, code, err, "the GPU's work failed");
}

int gt_steps_order(struct gt_steps *steps, const struct gt_bundle_step *step, struct gt_error *err)
{
	const struct gt_cuda *cuda = steps->gpu->cuda;

	if (step->kind == GT_BUNDLE_STEP_host_wait)
		return host_wait(steps, step, err);
	if (step->event == GT_BUNDLE_NONE)
		return 0;
	if (step->kind == GT_BUNDLE_STEP_record)
		return gt_cuda_check(cuda,
		                     cuda->event_record(steps->events[step->event],
		                                        steps->streams[step->stream]),
		                     err, "an event cannot be recorded");
	return gt_cuda_check(cuda,
	                     cuda->stream_wait_event(steps->streams[step->stream],
	                                             steps->events[step->event], 0),
	                     err, "a stream cannot wait for an event");
}

/* When the program made the first call of which that is known; negative: it is of none. */
static int64_t first_call(const struct gt_bundle *bundle)
{
	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		if (step->call_ns >= 0)
			return step->call_ns;
	return -1;
}

/* When the program made the call of a step; of a graph's that of the first one that is known. */
static int64_t call_of(const struct gt_bundle *bundle, size_t number)
{
	const struct gt_bundle_step *rows = bundle->steps.rows;
	size_t i = number;

	while (rows[number].graph != 0 && rows[i].call_ns < 0 && i + 1 < bundle->steps.count &&
	       gt_bundle_goes_on_with_graph(bundle, i + 1))
		i++;
	return rows[i].call_ns;
}

/* Until the program made that call, counted from its first: a graph's steps have one. */
static void wait_for_call(const struct gt_steps *steps, size_t number, int64_t begun_ns)
{
	const int64_t first_ns = first_call(steps->bundle);
	int64_t call_ns;

	if (!keeps_gaps(steps) || first_ns < 0 ||
	    gt_bundle_goes_on_with_graph(steps->bundle, number))
		return;
	call_ns = call_of(steps->bundle, number);
	while (call_ns >= 0 && gt_gpu_now_ns() - begun_ns < call_ns - first_ns)
		;
}

static int run_step(struct gt_steps *steps, size_t number, struct gt_error *err)
{
	const struct gt_bundle_step *step = &steps->bundle->steps.rows[number];
	int result;

	if (!gt_bundle_is_work(step))
		return steps->ready[number].unrecorded ? 0 : gt_steps_order(steps, step, err);
	result = order_legacy(steps, step->stream, true, err);
	if (result == 0)
		result = gt_steps_work(steps, number, steps->streams[step->stream], err);
	if (result == 0)
		result = order_legacy(steps, step->stream, false, err);
	return result;
}

/* In the stream of its first step. */
static int run_graph(struct gt_steps *steps, const struct gt_step_graph *graph,
                     struct gt_error *err)
{
	const uint32_t stream = steps->bundle->steps.rows[graph->first].stream;
	int result = order_legacy(steps, stream, true, err);

	if (result == 0)
		result = gt_commands_run(&graph->commands, steps->streams[stream], err);
	if (result == 0)
		result = order_legacy(steps, stream, false, err);
	return result;
}

/* All streams begin after the GPU's own, which goes on after all of them. */
int gt_steps_run_all(struct gt_steps *steps, struct gt_error *err)
{
	const int64_t begun_ns = gt_gpu_now_ns();
	size_t graphs = 0; /* that were launched */
	int result = 0;

	for (size_t i = 0; result == 0 && i < steps->bundle->streams.count; i++)
		if (is_used(steps, i))
			result = gt_gpu_order(steps->gpu, steps->gpu->stream, steps->streams[i],
			                      err);
	for (size_t i = 0; result == 0 && i < steps->bundle->steps.count; i++) {
		const struct gt_step_graph *graph =
			graphs < steps->graph_count ? &steps->graphs[graphs] : NULL;

		wait_for_call(steps, i, begun_ns);
		if (graph && graph->first == i) {
			result = run_graph(steps, graph, err);
			i = graph->end - 1;
			graphs++;
		} else {
			result = run_step(steps, i, err);
		}
	}
	for (size_t i = 0; result == 0 && i < steps->bundle->streams.count; i++)
		if (is_used(steps, i))
			result = gt_gpu_order(steps->gpu, steps->streams[i], steps->gpu->stream,
			                      err);
	return result;
}
