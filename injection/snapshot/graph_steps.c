/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graph_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "injection/snapshot/bundle/host_steps.h"
#include "injection/snapshot/graphs/kept.h"
#include "injection/snapshot/launch/step_calls.h"
#include "injection/snapshot/thread.h"

/* Shared by the functions here. */
struct adding {
	struct gt_session *session;
	struct gt_capture_thread *thread;
	struct gt_graph_steps *steps;
	const struct gt_graph_launch *launch;
	struct gt_kept_graph *graph;
	uint32_t number; /* of the launch, in its steps; 0: a step is before it */
};

static struct gt_capture_lists *lists_of(const struct adding *adding)
{
	return &adding->thread->capture->lists;
}

/* ---- streams ---- */

static int add_stream(const struct adding *adding, uint32_t owner, struct gt_error *err)
{
	struct gt_graph_steps *steps = adding->steps;
	struct gt_capture_lists *lists = lists_of(adding);
	const struct gt_capture_stream stream = {
		.handle = (CUstream)(void *)&steps->stream_handles[steps->stream_count],
		.priority = lists->streams[owner].priority,
		.flags = CU_STREAM_NON_BLOCKING,
	};
	const int number = gt_capture_number_stream(lists, &stream, err);

	if (number >= 0)
		steps->streams[steps->stream_count++] =
			(struct gt_graph_stream){.owner = owner, .number = (uint32_t)number};
	return number;
}

/* Those of the same owner are in order with each other anyhow: by the stream of the launches. */
static int find_stream(const struct adding *adding, uint32_t owner, uint32_t wanted,
                       struct gt_error *err)
{
	struct gt_graph_steps *steps = adding->steps;
	uint32_t seen = 0;

	for (uint32_t i = 0; i < steps->stream_count; i++)
		if (steps->streams[i].owner == owner && ++seen == wanted)
			return (int)steps->streams[i].number;
	if (steps->stream_count < GT_GRAPH_STREAMS - 1)
		return add_stream(adding, owner, err);
	steps->are_shared = true;
	return (int)steps->streams[(wanted - 1) % steps->stream_count].number;
}

static int number_streams(const struct adding *adding, struct gt_error *err)
{
	struct gt_graph_steps *steps = adding->steps;
	const struct gt_capture_stream own =
		gt_capture_read_stream(adding->session, adding->thread, adding->launch->stream);
	int number = gt_capture_number_stream(lists_of(adding), &own, err);

	steps->are_shared = false;
	steps->numbers[0] = (uint32_t)number;
	for (uint32_t i = 1; i < steps->order.stream_count && number >= 0; i++) {
		number = find_stream(adding, steps->numbers[0], i, err);
		steps->numbers[i] = (uint32_t)number;
	}
	return number < 0 ? number : 0;
}

/* ---- events ---- */

static int take_event(struct gt_graph_steps *steps, uint32_t *event, struct gt_error *err)
{
	*event = 0;
	if (steps->free_count == 0 && steps->event_count == GT_CAPTURE_EVENTS)
		return gt_fail(err, E2BIG, "branches of a CUDA graph need more than %d events",
		               GT_CAPTURE_EVENTS);
	*event = steps->free_count ? steps->free_events[--steps->free_count] : steps->event_count++;
	return 0;
}

static void give_event(struct gt_graph_steps *steps, uint32_t event)
{
	steps->free_events[steps->free_count++] = event;
}

/* A record of it or a wait for it. */
static int add_order(const struct adding *adding, enum gt_bundle_step_kind kind, uint32_t stream,
                     uint32_t event, struct gt_error *err)
{
	struct gt_capture_lists *lists = lists_of(adding);
	const int number = gt_capture_number_event(
		lists, (CUevent)(void *)&adding->steps->event_handles[event], err);
	const struct gt_capture_step step = {
		.kind = kind,
		.correlation = adding->launch->correlation,
		.graph = adding->number,
		.stream = stream,
		.event = (uint32_t)number,
	};
	int result = number;

	if (number >= 0)
		result = gt_capture_add_step(lists, &step, err);
	return result < 0 ? result : 0;
}

static int add_record(const struct adding *adding, uint32_t stream, uint32_t *event,
                      struct gt_error *err)
{
	const int result = take_event(adding->steps, event, err);

	return result < 0 ? result : add_order(adding, GT_BUNDLE_STEP_record, stream, *event, err);
}

static int add_wait(const struct adding *adding, uint32_t stream, uint32_t node,
                    struct gt_error *err)
{
	struct gt_graph_steps *steps = adding->steps;
	const int result = add_order(adding, GT_BUNDLE_STEP_wait, stream, steps->events[node], err);

	if (--steps->waiters[node] == 0)
		give_event(steps, steps->events[node]);
	return result;
}

/* ---- nodes ---- */

static int add_kernel(const struct adding *adding, uint32_t number, struct gt_error *err)
{
	const struct gt_kept_graph *graph = adding->graph;
	const struct gt_graph_node *node = &graph->nodes.nodes[number];
	struct gt_launch_capture *capture = adding->thread->capture;
	struct gt_launch_shape *launch = &capture->step.launch;
	uint8_t *block = graph->nodes.bytes + node->block;
	size_t block_bytes = node->block_bytes;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block, CU_LAUNCH_PARAM_BUFFER_SIZE,
	                 &block_bytes, CU_LAUNCH_PARAM_END};
	int result;

	if (node->context && node->context != capture->context)
		return gt_fail(err, ENOTSUP, "it works in more than one context");
	*launch = node->launch;
	launch->extra = extra;
	launch->has_priority = graph->priorities;
	launch->programmatic =
		adding->steps->order.programmatic[number] && !adding->steps->are_shared;
	capture->name = (const char *)graph->nodes.bytes + node->name;
	result = gt_capture_read_launch(adding->session, adding->thread, err);
	launch->extra = NULL;
	return result;
}

/* From the first byte of a copy's side to behind the last. */
static struct gt_host_range range_of(const struct gt_capture_step *step, uint64_t address,
                                     uint64_t pitch, uint64_t slice_pitch)
{
	const uint64_t rows = step->rows > 1 ? (step->rows - 1) * pitch : 0;
	const uint64_t slices = step->slices > 1 ? (step->slices - 1) * slice_pitch : 0;

	return (struct gt_host_range){address, address + slices + rows + step->bytes};
}

/* The whole graph is captured before any of it runs. */
static int check_host(const struct gt_graph_steps *steps, const struct gt_capture_step *copy,
                      struct gt_error *err)
{
	const struct gt_host_range from =
		range_of(copy, copy->from, copy->from_pitch, copy->from_slice_pitch);

	for (uint32_t i = 0; i < steps->host_count; i++)
		if (from.begin < steps->host[i].end && steps->host[i].begin < from.end)
			return gt_fail(err, ENOTSUP,
			               "a copy in a CUDA graph brings from the host what another "
			               "one of it has taken there, at 0x%" PRIx64,
			               copy->from);
	return 0;
}

/* Checks memory found since: before the graph it lacks the data that an earlier copy writes. */
static int check_found(const struct adding *adding, uint32_t first, struct gt_error *err)
{
	const struct gt_reach *reach = &adding->thread->capture->reach;

	for (uint32_t i = first; i < reach->count; i++) {
		const struct gt_reached *memory = &reach->memory[i];
		const uint64_t begin = memory->host ? memory->host : memory->address;

		for (uint32_t j = 0; j < adding->steps->host_count; j++)
			if (memory->kind == GT_BUNDLE_MEMORY_host &&
			    begin < adding->steps->host[j].end &&
			    adding->steps->host[j].begin < begin + memory->size)
				return gt_fail(err, ENOTSUP,
				               "a kernel in a CUDA graph reaches pinned memory "
				               "that a copy of it before wrote, at 0x%" PRIx64,
				               memory->address);
	}
	return 0;
}

static int add_moved(const struct adding *adding, const struct gt_graph_node *node,
                     struct gt_error *err)
{
	struct gt_capture_step *step = &adding->thread->capture->step;
	const struct gt_capture_step node_step = *step;
	struct gt_step_call call;

	if (node->kind == GT_GRAPH_NODE_COPY)
		gt_step_call_read_copy(&node->copy, &call);
	else
		gt_step_call_read_fill(&node->fill, &call);
	if (call.kind == GT_STEP_CALL_REFUSED)
		return gt_fail(err, ENOTSUP, "%s", call.reason);
	*step = gt_step_of_call(&call);
	step->correlation = node_step.correlation;
	step->graph = node_step.graph;
	step->stream = node_step.stream;
	return call.step == GT_BUNDLE_STEP_copy ? check_host(adding->steps, step, err) : 0;
}

/* Where it turned out that it goes to the host. */
static void note_host(struct gt_graph_steps *steps, const struct gt_capture_lists *lists,
                      struct gt_host_range to)
{
	const struct gt_capture_step *added = &lists->steps[lists->step_count - 1];

	if (added->kind == GT_BUNDLE_STEP_copy && !added->to)
		steps->host[steps->host_count++] = to;
}

static int add_work(const struct adding *adding, uint32_t number, struct gt_error *err)
{
	const struct gt_graph_node *node = &adding->graph->nodes.nodes[number];
	struct gt_launch_capture *capture = adding->thread->capture;
	const uint32_t before = capture->lists.step_count;
	const uint32_t found = capture->writer.folder >= 0 ? capture->reach.count : 0;
	struct gt_host_range to;
	int result;

	capture->step = (struct gt_capture_step){
		.kind = GT_BUNDLE_STEP_launch,
		.correlation = adding->launch->correlation,
		.graph = adding->number,
		.stream = adding->steps->numbers[adding->steps->order.stream[number]],
		.event = GT_CAPTURE_NONE,
	};
	result = node->kind == GT_GRAPH_NODE_KERNEL ? add_kernel(adding, number, err)
	                                            : add_moved(adding, node, err);
	to = range_of(&capture->step, capture->step.to, capture->step.to_pitch,
	              capture->step.to_slice_pitch);
	if (result == 0)
		result = gt_capture_thread_do(adding->session, adding->thread, GT_CAPTURE_BEFORE,
		                              err);
	if (result == 0)
		result = check_found(adding, found, err);
	if (result < 0 || capture->lists.step_count == before)
		return result;
	note_host(adding->steps, &capture->lists, to);
	if (number == adding->launch->focus) {
		capture->has_focus = true;
		capture->focus = before;
	}
	return 0;
}

static int add_waits(const struct adding *adding, uint32_t number, uint32_t stream,
                     struct gt_error *err)
{
	const struct gt_graph_nodes *nodes = &adding->graph->nodes;
	const struct gt_graph_node *node = &nodes->nodes[number];
	const struct gt_graph_order *order = &adding->steps->order;
	int result = 0;

	if (order->waits_begin[number])
		result = add_order(adding, GT_BUNDLE_STEP_wait, stream, adding->steps->begin_event,
		                   err);
	for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count && result == 0;
	     i++)
		if (order->waits[i])
			result = add_wait(adding, stream, nodes->edges[i].from, err);
	return result;
}

static int add_node(const struct adding *adding, uint32_t number, struct gt_error *err)
{
	const struct gt_graph_node *node = &adding->graph->nodes.nodes[number];
	struct gt_graph_steps *steps = adding->steps;
	const uint32_t stream = steps->numbers[steps->order.stream[number]];
	int result = add_waits(adding, number, stream, err);

	if (result == 0 && node->kind != GT_GRAPH_NODE_NOTHING && !node->disabled)
		result = add_work(adding, number, err);
	steps->waiters[number] = steps->order.waiters[number];
	if (result == 0 && steps->waiters[number])
		result = add_record(adding, stream, &steps->events[number], err);
	return result;
}

/* ---- one launch ---- */

/*
 * Launches of one executable graph come one after the other, on whichever streams: the stream of
 * this one waits for that of the last one.
 */
static int add_last(const struct adding *adding, struct gt_error *err)
{
	const struct gt_kept_graph *graph = adding->graph;
	struct gt_graph_steps *steps = adding->steps;
	uint32_t event;
	int result;

	if (graph->sequence != steps->sequence || graph->stream == steps->numbers[0])
		return 0;
	result = add_record(adding, graph->stream, &event, err);
	if (result < 0)
		return result;
	result = add_order(adding, GT_BUNDLE_STEP_wait, steps->numbers[0], event, err);
	give_event(steps, event);
	return result;
}

static int add_begin(const struct adding *adding, struct gt_error *err)
{
	struct gt_graph_steps *steps = adding->steps;

	if (!steps->order.records_begin)
		return 0;
	return add_record(adding, steps->numbers[0], &steps->begin_event, err);
}

static int add_end(const struct adding *adding, struct gt_error *err)
{
	struct gt_graph_steps *steps = adding->steps;
	int result = 0;

	for (uint32_t i = 0; i < steps->order.end_count && result == 0; i++)
		result = add_wait(adding, steps->numbers[0], steps->order.ends[i], err);
	if (steps->order.records_begin)
		give_event(steps, steps->begin_event);
	adding->graph->sequence = steps->sequence;
	adding->graph->stream = steps->numbers[0];
	return result;
}

/* The host's writes are copied before all of it, as nothing comes between its nodes. */
static int add_written(const struct adding *adding, struct gt_error *err)
{
	struct gt_launch_capture *capture = adding->thread->capture;

	if (capture->writer.folder < 0 || !gt_capture_has_host_memory(capture))
		return 0;
	capture->step = (struct gt_capture_step){.stream = adding->steps->numbers[0]};
	return gt_capture_thread_do(adding->session, adding->thread, GT_CAPTURE_WRITTEN, err);
}

/* Only launches that work count as such: what else there is of others orders nothing. */
static void count_launch(const struct adding *adding, uint32_t first)
{
	struct gt_launch_capture *capture = adding->thread->capture;
	struct gt_capture_lists *lists = &capture->lists;

	for (uint32_t i = first; i < lists->step_count; i++)
		if (gt_capture_is_work(lists->steps[i].kind))
			return;
	adding->steps->launches--;
	capture->step.graph = 0;
	lists->step_count = first;
	for (uint32_t i = 0; capture->writer.folder >= 0 && i < capture->reach.count; i++)
		if (capture->reach.memory[i].graph == adding->number)
			capture->reach.memory[i].graph = 0;
}

static int add_nodes(const struct adding *adding, struct gt_error *err)
{
	struct gt_graph_steps *steps = adding->steps;
	const uint32_t first = lists_of(adding)->step_count;
	int result = add_begin(adding, err);

	steps->host_count = 0;
	for (uint32_t i = 0; i < steps->order.count && result == 0; i++)
		result = add_node(adding, steps->order.order[i], err);
	if (result == 0)
		result = add_end(adding, err);
	if (result == 0)
		count_launch(adding, first);
	return result;
}

static bool has_work(const struct gt_graph_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->node_count; i++)
		if (nodes->nodes[i].kind != GT_GRAPH_NODE_NOTHING && !nodes->nodes[i].disabled)
			return true;
	return false;
}

int gt_graph_steps_add(struct gt_session *session, struct gt_capture_thread *thread,
                       struct gt_graph_steps *steps, const struct gt_graph_launch *launch,
                       struct gt_kept_graph *graph, struct gt_error *err)
{
	static const struct gt_graph_nodes nothing = {.node_count = 0};
	struct adding adding = {session, thread, steps, launch, graph, 0};
	/* Branches that do nothing need no streams. */
	const struct gt_graph_nodes *nodes = has_work(&graph->nodes) ? &graph->nodes : &nothing;
	int result = gt_graph_order(&steps->order, nodes, err);

	if (result == 0)
		result = number_streams(&adding, err);
	if (result == 0)
		result = add_last(&adding, err);
	if (result == 0)
		result = add_written(&adding, err);
	if (result < 0)
		return result;
	adding.number = ++steps->launches;
	return add_nodes(&adding, err);
}

/* ---- its life ---- */

struct gt_graph_steps *gt_graph_steps_new(void)
{
	void *memory = mmap(NULL, sizeof(struct gt_graph_steps), PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void gt_graph_steps_begin(struct gt_graph_steps *steps)
{
	steps->sequence++;
	steps->launches = 0;
	steps->stream_count = 0;
	steps->event_count = 0;
	steps->free_count = 0;
}
