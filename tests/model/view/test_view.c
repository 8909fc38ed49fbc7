/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/view.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/strings.h"
#include "model/allocations.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/ranges/owners.h"
#include "model/view/filter.h"
#include "model/whole.h"
#include "support/check.h"
#include "support/trace.h"

/*
 * Two processes, each with a stream on a GPU of its own and one on GPU 0. On every stream a call
 * launches a kernel, a wait waits for it and an edge says so.
 */
struct scene {
	struct gt_trace trace;
	struct gt_filter filter;
	struct gt_view view;
	struct gt_error err;
	gt_id processes[2];
	gt_id threads[2];
	gt_id devices[2];
	gt_id streams[3]; /* 0: process 0 on GPU 0; 1: process 1 on GPU 0; 2: process 1 on GPU 1 */
};

static gt_id process_of(const struct scene *scene, size_t stream)
{
	return gt_trace_stream_process(&scene->trace, scene->streams[stream]);
}

/* A launch at a time, its kernel from 10 to 60 ns later, and the wait for it until 70. */
static void add_launch(struct scene *scene, size_t stream, gt_time at, const char *name)
{
	struct gt_trace *trace = &scene->trace;
	const gt_id process = process_of(scene, stream);
	const gt_id thread = scene->threads[process];
	const gt_id shape = trace_shape(trace, name, 1, 32);
	const gt_id launch = trace_call(trace, thread, "cudaLaunchKernel", at, at + 5);
	const gt_id wait = trace_call(trace, thread, "cudaStreamSynchronize", at + 20, at + 70);
	struct gt_kernel *kernel =
		trace_kernel(trace, scene->streams[stream], shape, at + 10, at + 60);

	kernel->api_call = launch;
	*gt_array_push(&trace->syncs) = (struct gt_sync){
		.start_ns = TRACE_START_NS + at + 20,
		.end_ns = TRACE_START_NS + at + 70,
		.thread = thread,
		.context = trace->streams.rows[scene->streams[stream]].context,
		.stream = scene->streams[stream],
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = wait,
	};
	*gt_array_push(&trace->edges) = (struct gt_edge){
		.from_table = GT_TABLE_kernels,
		.from_row = (gt_id)trace->kernels.count - 1,
		.to_table = GT_TABLE_syncs,
		.to_row = (gt_id)trace->syncs.count - 1,
		.sync = (gt_id)trace->syncs.count - 1,
	};
	*gt_array_push(&trace->overheads) = (struct gt_overhead){
		.start_ns = TRACE_START_NS + at,
		.end_ns = TRACE_START_NS + at + 1,
		.process = process,
		.correlation = trace->api_calls.rows[launch].correlation,
	};
}

static void scene_init(struct scene *scene)
{
	struct gt_trace *trace = &scene->trace;

	*scene = (struct scene){0};
	gt_filter_init(&scene->filter);
	trace_init(trace, 1000);
	for (gt_count i = 0; i < 2; i++) {
		scene->processes[i] = trace_process(trace, i ? "second" : "first", 100 + i);
		scene->threads[i] = trace_thread(trace, scene->processes[i], 100 + i);
		scene->devices[i] = trace_device(trace);
	}
	scene->streams[0] = trace_stream(trace, scene->processes[0], scene->devices[0]);
	scene->streams[1] = trace_stream(trace, scene->processes[1], scene->devices[0]);
	scene->streams[2] = trace_stream(trace, scene->processes[1], scene->devices[1]);
	for (gt_count i = 0; i < 3; i++)
		trace->streams.rows[scene->streams[i]].number = 7 + i;
	add_launch(scene, 0, 100, "alpha");
	add_launch(scene, 1, 300, "beta");
	add_launch(scene, 2, 500, "alpha");
	trace_ledger(trace, scene->processes[0], "launches", 2);
	trace_ledger(trace, scene->processes[0], "launches_timed", 1);
	*gt_array_push(&trace->notes) = (struct gt_note){.process = scene->processes[0]};
}

static void scene_release(struct scene *scene)
{
	gt_filter_release(&scene->filter);
	gt_trace_release(&scene->trace);
}

static void choose(struct scene *scene, enum gt_filter_part part, const char *value)
{
	cr_assert(eq(int, gt_filter_add(&scene->filter, part, value, &scene->err), 0), "%s",
	          scene->err.text);
}

static void cut(struct scene *scene)
{
	cr_assert(eq(int, gt_view_cut(&scene->view, &scene->trace, &scene->filter, &scene->err), 0),
	          "%s", scene->err.text);
}

/* The launch on this stream is left with all that belongs to it, named rightly. */
static void expect_launch(const struct scene *scene, gt_count stream)
{
	const struct gt_trace *trace = &scene->trace;
	const struct gt_kernel *kernel = trace->kernels.rows;
	const struct gt_sync *sync = trace->syncs.rows;
	const struct gt_edge *edge = trace->edges.rows;

	cr_assert(eq(sz, trace->kernels.count, 1));
	cr_assert(eq(sz, trace->api_calls.count, 2));
	cr_assert(eq(sz, trace->syncs.count, 1));
	cr_assert(eq(sz, trace->edges.count, 1));
	cr_assert(eq(sz, trace->overheads.count, 1));
	cr_assert(lt(sz, kernel->stream, trace->streams.count));
	cr_expect(eq(u32, trace->streams.rows[kernel->stream].number, stream));
	cr_assert(lt(sz, kernel->shape, trace->launch_shapes.count));
	cr_expect(eq(u32, kernel->api_call, 0));
	cr_expect(eq(u32, sync->api_call, 1));
	cr_expect(eq(u32, sync->stream, kernel->stream));
	cr_assert(lt(sz, trace->api_calls.rows[0].thread, trace->threads.count));
	cr_assert(eq(u32, trace->threads.rows[trace->api_calls.rows[0].thread].process,
	             gt_trace_stream_process(trace, kernel->stream)));
	cr_expect(eq(u32, edge->from_row, 0));
	cr_expect(eq(u32, edge->to_row, 0));
	cr_expect(eq(u32, edge->sync, 0));
	cr_expect(eq(u32, trace->overheads.rows[0].process,
	             gt_trace_stream_process(trace, kernel->stream)));
}

Test(view, is_all_of_the_trace_without_a_filter)
{
	struct scene scene;

	scene_init(&scene);
	scene.trace.kernels.rows[0].start_ns = scene.trace.kernels.rows[0].end_ns = 0;
	scene.trace.kernels.rows[0].flags = GT_UNFINISHED;
	cut(&scene);
	cr_expect(eq(sz, scene.trace.kernels.count, 3));
	cr_expect(eq(i64, scene.view.start_ns, scene.trace.start_ns));
	cr_expect(eq(i64, scene.view.end_ns, scene.trace.end_ns));
	cr_expect(scene.view.restriction == NULL);
	scene_release(&scene);
}

Test(view, keeps_a_launch_with_all_that_belongs_to_it)
{
	static const struct {
		enum gt_filter_part part;
		const char *value;
		gt_count stream;
	} cases[] = {
		{GT_FILTER_STREAM, "7", 7},    {GT_FILTER_STREAM, "8", 8},
		{GT_FILTER_STREAM, "9", 9},    {GT_FILTER_DEVICE, "1", 9},
		{GT_FILTER_KERNEL, "^b", 8},   {GT_FILTER_PROCESS, "first", 7},
		{GT_FILTER_PROCESS, "100", 7},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene;

		scene_init(&scene);
		choose(&scene, cases[i].part, cases[i].value);
		cut(&scene);
		expect_launch(&scene, cases[i].stream);
		scene_release(&scene);
	}
}

Test(view, keeps_what_all_parts_of_the_filter_choose)
{
	struct scene scene;

	scene_init(&scene);
	choose(&scene, GT_FILTER_KERNEL, "alpha");
	choose(&scene, GT_FILTER_PROCESS, "second");
	cut(&scene);
	expect_launch(&scene, 9);
	scene_release(&scene);
}

Test(view, keeps_what_starts_in_the_window_also_when_it_ends_later)
{
	struct scene scene;

	scene_init(&scene);
	choose(&scene, GT_FILTER_FROM, "300ns");
	choose(&scene, GT_FILTER_TO, "320ns");
	cut(&scene);
	cr_expect(eq(i64, scene.view.start_ns, TRACE_START_NS + 300));
	cr_expect(eq(i64, scene.view.end_ns, TRACE_START_NS + 320));
	cr_assert(eq(sz, scene.trace.kernels.count, 1));
	cr_expect(eq(i64, scene.trace.kernels.rows[0].end_ns, TRACE_START_NS + 360));
	cr_expect(eq(sz, scene.trace.api_calls.count, 1), "the one at 320 is outside");
	cr_expect(eq(sz, scene.trace.syncs.count, 0));
	cr_expect(eq(sz, scene.trace.edges.count, 0), "what it led to is gone");
	scene_release(&scene);
}

Test(view, forgets_calls_outside_of_the_window)
{
	struct scene scene;

	scene_init(&scene);
	choose(&scene, GT_FILTER_FROM, "-695ns");
	choose(&scene, GT_FILTER_TO, "-600ns");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.kernels.count, 1));
	cr_expect(eq(u32, scene.trace.kernels.rows[0].api_call, GT_NONE));
	cr_expect(eq(u32, scene.trace.syncs.rows[0].api_call, 0));
	scene_release(&scene);
}

Test(view, has_no_place_in_a_window_for_what_has_no_time)
{
	struct scene scene;

	scene_init(&scene);
	scene.trace.kernels.rows[0].start_ns = scene.trace.kernels.rows[0].end_ns = 0;
	scene.trace.kernels.rows[0].flags = GT_UNFINISHED;
	choose(&scene, GT_FILTER_TO, "1us");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.kernels.count, 2));
	scene_release(&scene);
}

Test(view, ends_with_the_recording)
{
	struct scene scene;

	scene_init(&scene);
	choose(&scene, GT_FILTER_FROM, "-10us");
	choose(&scene, GT_FILTER_TO, "10us");
	cut(&scene);
	cr_expect(eq(i64, scene.view.start_ns, scene.trace.start_ns));
	cr_expect(eq(i64, scene.view.end_ns, scene.trace.end_ns));
	cr_expect(eq(sz, scene.trace.kernels.count, 3));
	scene_release(&scene);
}

Test(view, keeps_the_ledger_and_the_notes_of_all_processes)
{
	struct scene scene;

	scene_init(&scene);
	choose(&scene, GT_FILTER_PROCESS, "second");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.processes.count, 1));
	cr_expect(eq(sz, scene.trace.ledgers.count, 2));
	cr_expect(eq(u32, scene.trace.ledgers.rows[0].process, GT_NONE));
	cr_expect(eq(sz, scene.trace.notes.count, 1));
	cr_expect(eq(u64, scene.view.recording.processes, 2));
	cr_expect(eq(u64, scene.view.recording.not_balanced, 1));
	scene_release(&scene);
}

Test(view, keeps_devices_that_a_process_used_or_copies_name)
{
	struct scene scene;
	struct gt_copy *copy;

	scene_init(&scene);
	copy = trace_copy(&scene.trace, scene.streams[0], GT_COPY_PEER_TO_PEER, 64, 600, 650);
	copy->src_device = 0;
	copy->dst_device = 1;
	choose(&scene, GT_FILTER_PROCESS, "first");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.devices.count, 2), "bytes went to the other one");
	cr_expect(eq(u32, scene.trace.copies.rows[0].dst_device, 1));
	cr_expect(gt_whole_has_rows(&scene.trace, 0));
	cr_expect(not(gt_whole_has_rows(&scene.trace, 1)), "for its name alone");
	cr_expect(eq(sz, gt_whole_devices(&scene.trace), 1));
	scene_release(&scene);

	scene_init(&scene);
	choose(&scene, GT_FILTER_PROCESS, "first");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.devices.count, 1));
	scene_release(&scene);
}

Test(view, of_a_window_has_memory_that_could_be_used_in_it)
{
	struct scene scene;

	scene_init(&scene);
	for (gt_time at = 600; at <= 700; at += 100) {
		const gt_id call =
			trace_call(&scene.trace, scene.threads[0], "cudaMalloc", at, at + 90);

		trace_allocation(&scene.trace, call, 0, GT_MEMORY_CALL_ALLOCATE, 64, 0);
	}
	choose(&scene, GT_FILTER_FROM, "650ns");
	choose(&scene, GT_FILTER_TO, "750ns");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.allocations.count, 1), "the other call had not returned");
	cr_expect(eq(i64, gt_memory_begin(&scene.trace, &scene.trace.allocations.rows[0]),
	             TRACE_START_NS + 690));
	scene_release(&scene);
}

/* A graph that was captured at 10, launched at 400 and at 600, each time with a kernel. */
static void scene_init_with_graph(struct scene *scene)
{
	struct gt_trace *trace = &scene->trace;
	gt_id stream;
	gt_id shape;
	gt_id capture;

	*scene = (struct scene){0};
	gt_filter_init(&scene->filter);
	trace_init(trace, 1000);
	scene->processes[0] = trace_process(trace, "first", 100);
	scene->threads[0] = trace_thread(trace, scene->processes[0], 100);
	stream = trace_stream(trace, scene->processes[0], trace_device(trace));
	shape = trace_shape(trace, "in_graph", 1, 32);
	capture = trace_call(trace, scene->threads[0], "cuLaunchKernel", 10, 20);
	*gt_array_push(&trace->graph_nodes) = (struct gt_graph_node){
		.process = scene->processes[0],
		.thread = scene->threads[0],
		.api_call = capture,
		.made_by = trace->api_calls.rows[capture].function,
		.shape = shape,
		.graph = GT_NONE,
		.exec = GT_NONE,
		.original = GT_NONE,
	};
	for (gt_time at = 400; at < 800; at += 200) {
		const gt_id call =
			trace_call(trace, scene->threads[0], "cuGraphLaunch", at, at + 5);
		struct gt_kernel *kernel = trace_kernel(trace, stream, shape, at + 10, at + 20);

		kernel->api_call = call;
		kernel->node = 0;
		*gt_array_push(&trace->graph_launches) = (struct gt_graph_launch){
			.start_ns = TRACE_START_NS + at,
			.thread = scene->threads[0],
			.context = GT_NONE,
			.stream = stream,
			.api_call = call,
			.exec = GT_NONE,
		};
	}
}

Test(view, keeps_graphs_that_were_made_before_the_window_with_who_made_them)
{
	struct scene scene;
	const struct gt_trace *trace = &scene.trace;

	scene_init_with_graph(&scene);
	choose(&scene, GT_FILTER_FROM, "500ns");
	cut(&scene);
	cr_assert(eq(sz, trace->graph_nodes.count, 1));
	cr_expect(eq(u32, trace->graph_nodes.rows[0].api_call, GT_NONE));
	expect_text(gt_trace_text(trace, trace->graph_nodes.rows[0].made_by), "cuLaunchKernel");
	cr_assert(eq(sz, trace->kernels.count, 1));
	cr_expect(eq(u32, trace->kernels.rows[0].node, 0));
	cr_assert(eq(sz, trace->graph_launches.count, 1));
	cr_expect(eq(i64, trace->graph_launches.rows[0].start_ns, TRACE_START_NS + 600));
	cr_expect(eq(u32, trace->graph_launches.rows[0].api_call, 0));
	scene_release(&scene);
}

Test(view, keeps_launches_of_graphs_whose_kernels_are_chosen)
{
	struct scene scene;
	const struct gt_trace *trace = &scene.trace;

	scene_init_with_graph(&scene);
	scene.trace.kernels.rows[1].shape = trace_shape(&scene.trace, "another", 1, 32);
	choose(&scene, GT_FILTER_KERNEL, "in_graph");
	cut(&scene);
	cr_assert(eq(sz, trace->kernels.count, 1));
	cr_assert(eq(sz, trace->graph_launches.count, 1));
	cr_expect(eq(i64, trace->graph_launches.rows[0].start_ns, TRACE_START_NS + 400));
	scene_release(&scene);
}

Test(view, takes_copies_and_fills_for_no_kernel)
{
	struct scene scene;

	scene_init(&scene);
	trace_copy(&scene.trace, scene.streams[1], GT_COPY_HOST_TO_DEVICE, 64, 600, 650);
	trace_fill(&scene.trace, scene.streams[1], 64, 600, 650);
	choose(&scene, GT_FILTER_KERNEL, "beta");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.copies.count, 0));
	cr_expect(eq(sz, scene.trace.fills.count, 0));
	cr_expect(eq(sz, scene.trace.kernels.count, 1));
	scene_release(&scene);
}

Test(view, lets_rows_go_with_what_they_name)
{
	struct scene scene;
	struct gt_trace *trace = &scene.trace;

	scene_init(&scene);
	trace->clocks.count = 0;
	for (gt_id i = 0; i < 2; i++) {
		*gt_array_push(&trace->events) = (struct gt_event){.process = scene.processes[i]};
		*gt_array_push(&trace->clocks) = (struct gt_clock){.process = scene.processes[i]};
	}
	*gt_array_push(&trace->clocks) = (struct gt_clock){.process = GT_NONE};
	choose(&scene, GT_FILTER_PROCESS, "second");
	choose(&scene, GT_FILTER_DEVICE, "1");
	cut(&scene);
	cr_expect(eq(sz, trace->threads.count, 1));
	cr_expect(eq(sz, trace->events.count, 1));
	cr_expect(eq(sz, trace->clocks.count, 2), "one names nothing");
	cr_expect(eq(sz, trace->contexts.count, 1), "the one of process and GPU");
	cr_assert(eq(sz, trace->streams.count, 1));
	cr_expect(eq(u32, trace->streams.rows[0].number, 9));
	scene_release(&scene);
}

/* Memory of stream's context, from a call at that moment; end_ns 0: it stays. */
static void add_memory(struct scene *scene, size_t stream, gt_time start_ns, gt_time end_ns)
{
	struct gt_trace *trace = &scene->trace;
	const gt_id context = trace->streams.rows[scene->streams[stream]].context;

	*gt_array_push(&trace->memory_calls) = (struct gt_memory_call){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + start_ns + 5,
		.thread = scene->threads[process_of(scene, stream)],
		.context = context,
		.stream = GT_NONE,
		.place = GT_NONE,
		.api_call = GT_NONE,
	};
	*gt_array_push(&trace->allocations) = (struct gt_allocation){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = end_ns ? TRACE_START_NS + end_ns : 0,
		.process = process_of(scene, stream),
		.device = trace->contexts.rows[context].device,
		.context = context,
		.stream = GT_NONE,
		.made_by = (gt_id)trace->memory_calls.count - 1,
		.ended_by = GT_NONE,
		.range = GT_NONE,
		.size_bytes = (gt_size)start_ns,
		.flags = end_ns ? 0 : GT_UNFINISHED,
	};
}

Test(view, keeps_memory_that_was_there_in_the_window)
{
	struct scene scene;
	const struct gt_trace *trace = &scene.trace;

	scene_init(&scene);
	add_memory(&scene, 0, 10, 150); /* freed before */
	add_memory(&scene, 0, 20, 250); /* freed in it */
	add_memory(&scene, 0, 30, 0);   /* never freed */
	add_memory(&scene, 0, 210, 900);
	add_memory(&scene, 0, 400, 900); /* allocated after */
	choose(&scene, GT_FILTER_FROM, "200ns");
	choose(&scene, GT_FILTER_TO, "300ns");
	cut(&scene);
	cr_assert(eq(sz, trace->allocations.count, 3));
	cr_expect(eq(u64, trace->allocations.rows[0].size_bytes, 20));
	cr_expect(eq(u64, trace->allocations.rows[1].size_bytes, 30));
	cr_expect(eq(u64, trace->allocations.rows[2].size_bytes, 210));
	cr_assert(eq(sz, trace->memory_calls.count, 1), "what was called in it");
	cr_expect(eq(u32, trace->allocations.rows[2].made_by, 0));
	cr_expect(eq(u32, trace->allocations.rows[0].made_by, GT_NONE));
	scene_release(&scene);
}

Test(view, keeps_memory_of_chosen_processes_and_devices)
{
	struct scene scene;

	scene_init(&scene);
	for (size_t i = 0; i < 3; i++)
		add_memory(&scene, i, 10 + (gt_time)i, 0);
	choose(&scene, GT_FILTER_PROCESS, "second");
	choose(&scene, GT_FILTER_DEVICE, "1");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.allocations.count, 1));
	cr_expect(eq(u64, scene.trace.allocations.rows[0].size_bytes, 12));
	cr_expect(eq(sz, scene.trace.memory_calls.count, 1));
	scene_release(&scene);
}

static void add_access(struct scene *scene, size_t stream, gt_time at_ns)
{
	struct gt_trace *trace = &scene->trace;

	*gt_array_push(&trace->accesses) = (struct gt_access){
		.start_ns = TRACE_START_NS + at_ns,
		.end_ns = TRACE_START_NS + at_ns,
		.address = (gt_wide)at_ns,
		.thread = scene->threads[process_of(scene, stream)],
		.context = trace->streams.rows[scene->streams[stream]].context,
		.stream = scene->streams[stream],
		.api_call = GT_NONE,
	};
}

Test(view, keeps_accesses_of_chosen_streams_and_of_the_window)
{
	struct scene scene;

	scene_init(&scene);
	for (gt_time at_ns = 100; at_ns < 400; at_ns += 100)
		for (size_t stream = 0; stream < 3; stream++)
			add_access(&scene, stream, at_ns + (gt_time)stream);
	choose(&scene, GT_FILTER_FROM, "200ns");
	choose(&scene, GT_FILTER_TO, "300ns");
	choose(&scene, GT_FILTER_PROCESS, "second");
	choose(&scene, GT_FILTER_DEVICE, "1");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.accesses.count, 1));
	cr_expect(eq(u64, scene.trace.accesses.rows[0].address, 202));
	scene_release(&scene);
}

/* A wait for all of a context is one for each of its streams. */
Test(view, keeps_waits_for_all_streams_of_a_context)
{
	struct scene scene;
	struct gt_sync *sync;

	scene_init(&scene);
	sync = &scene.trace.syncs.rows[1];
	sync->stream = GT_NONE;
	choose(&scene, GT_FILTER_STREAM, "8");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.syncs.count, 1));
	scene_release(&scene);
}

/* The launch is in the window, what it launched is not. */
Test(view, of_a_window_keeps_calls_for_chosen_work_that_is_after_it)
{
	struct scene scene;

	scene_init(&scene);
	choose(&scene, GT_FILTER_STREAM, "7");
	choose(&scene, GT_FILTER_TO, "105ns");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.kernels.count, 0));
	cr_assert(eq(sz, scene.trace.api_calls.count, 1));
	expect_text(gt_trace_text(&scene.trace, scene.trace.api_calls.rows[0].function),
	            "cudaLaunchKernel");
	scene_release(&scene);
}

/* It names no stream: its record does. */
Test(view, keeps_waits_for_events_of_chosen_streams)
{
	struct scene scene;
	struct gt_sync *sync;

	scene_init(&scene);
	scene.trace.streams.rows[1].context = scene.trace.streams.rows[2].context;
	for (gt_id row = 1; row < 3; row++) {
		sync = &scene.trace.syncs.rows[row];
		sync->stream = GT_NONE;
		sync->context = scene.trace.streams.rows[2].context;
		sync->record = (gt_id)scene.trace.syncs.count;
		*gt_array_push(&scene.trace.syncs) = (struct gt_sync){
			.start_ns = TRACE_START_NS + 800 + row,
			.end_ns = TRACE_START_NS + 801 + row,
			.thread = sync->thread,
			.context = sync->context,
			.stream = scene.streams[row],
			.event = GT_NONE,
			.record = GT_NONE,
			.api_call = GT_NONE,
		};
	}
	choose(&scene, GT_FILTER_STREAM, "8");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.syncs.count, 2));
	cr_expect(eq(i64, scene.trace.syncs.rows[0].start_ns, TRACE_START_NS + 320));
	cr_expect(eq(i64, scene.trace.syncs.rows[1].start_ns, TRACE_START_NS + 801));
	scene_release(&scene);
}

Test(view, keeps_queries_of_events_that_waits_are_about)
{
	struct scene scene;

	scene_init(&scene);
	for (gt_id i = 0; i < 2; i++) {
		*gt_array_push(&scene.trace.events) =
			(struct gt_event){.process = scene.processes[i], .number = 1};
		scene.trace.syncs.rows[i].event = i;
		*gt_array_push(&scene.trace.queries) = (struct gt_query){
			.start_ns = TRACE_START_NS + 700,
			.end_ns = TRACE_START_NS + 800,
			.count = 5 + i,
			.thread = scene.threads[i],
			.context = GT_NONE,
			.stream = GT_NONE,
			.event = i,
		};
	}
	choose(&scene, GT_FILTER_STREAM, "8");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.queries.count, 1));
	cr_expect(eq(u64, scene.trace.queries.rows[0].count, 6));
	scene_release(&scene);
}

/* A counter of GPU 0 and one of GPU 1, sampled every 100 ns. */
static void add_telemetry(struct gt_trace *trace)
{
	for (gt_id device = 0; device < 2; device++) {
		const size_t number = gt_trace_add_series(trace, 1);
		struct gt_series *series = &trace->series.rows[number];

		*gt_array_push(&trace->counters) = (struct gt_counter){
			.process = 0, .device = device, .series = (gt_count)number};
		gt_series_reserve(series, 10);
		for (size_t i = 0; i < 10; i++) {
			series->times_ns[i] = TRACE_START_NS + 100 * (gt_time)i;
			series->columns[0][i] = (double)i;
		}
		series->count = 10;
	}
}

Test(view, cuts_samples_to_the_window_and_keeps_those_of_chosen_devices)
{
	struct scene scene;

	scene_init(&scene);
	add_telemetry(&scene.trace);
	choose(&scene, GT_FILTER_FROM, "300ns");
	choose(&scene, GT_FILTER_TO, "700ns");
	choose(&scene, GT_FILTER_DEVICE, "1");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.counters.count, 1));
	cr_expect(eq(u32, scene.trace.counters.rows[0].device, 0));
	cr_expect(eq(u32, scene.trace.counters.rows[0].series, 1));
	cr_expect(eq(sz, scene.trace.series.rows[0].count, 0));
	cr_assert(eq(sz, scene.trace.series.rows[1].count, 4));
	cr_expect(eq(sz, gt_whole_of(&scene.trace)->series.rows[1].count, 10));
	cr_expect(eq(dbl, gt_whole_of(&scene.trace)->series.rows[1].columns[0][9], 9.0));
	cr_expect(eq(i64, scene.trace.series.rows[1].times_ns[0], TRACE_START_NS + 300));
	cr_expect(epsilon_eq(dbl, scene.trace.series.rows[1].columns[0][3], 6, 1e-9));
	scene_release(&scene);
}

static void expect_failure(const char *from, const char *to, const char *process, int code,
                           const char *expected)
{
	struct scene scene;

	scene_init(&scene);
	if (from)
		choose(&scene, GT_FILTER_FROM, from);
	if (to)
		choose(&scene, GT_FILTER_TO, to);
	if (process)
		choose(&scene, GT_FILTER_PROCESS, process);
	cr_expect(
		eq(int, gt_view_cut(&scene.view, &scene.trace, &scene.filter, &scene.err), -code));
	expect_text(scene.err.text, expected);
	cr_expect(eq(sz, scene.trace.kernels.count, 3), "a trace that cannot be cut is as before");
	scene_release(&scene);
}

Test(view, says_why_nothing_is_left)
{
	expect_failure("2s", "1s", NULL, EINVAL,
	               "the window ends before it begins: --from 2s --to 1s");
	expect_failure("-100ns", "100ns", NULL, EINVAL,
	               "the window ends before it begins: --from -100ns --to 100ns");
	expect_failure("2s", NULL, NULL, ENODATA,
	               "the window begins after the recording ends, which lasts 1e-06 s");
	expect_failure(NULL, "-2s", NULL, ENODATA,
	               "the window ends before the recording begins, which lasts 1e-06 s");
	expect_failure("900ns", NULL, NULL, ENODATA, "nothing of the recording is in --from 900ns");
	expect_failure(NULL, NULL, "third", ENODATA,
	               "no process third in the recording; there is first (100), second (101)");
}

/* Ids in a recording may be anything: what points nowhere must not be followed. */
Test(view, survives_rows_that_point_nowhere)
{
	struct scene scene;

	scene_init(&scene);
	scene.trace.kernels.rows[0].stream = scene.trace.kernels.rows[1].api_call = 999;
	scene.trace.kernels.rows[0].shape = 999;
	scene.trace.syncs.rows[1].context = scene.trace.syncs.rows[1].stream = 999;
	scene.trace.syncs.rows[2].thread = scene.trace.syncs.rows[2].api_call = 999;
	scene.trace.edges.rows[2].from_table = 999;
	scene.trace.edges.rows[1].to_row = 999;
	scene.trace.streams.rows[2].context = 999;
	scene.trace.contexts.rows[1].device = scene.trace.contexts.rows[1].process = 999;
	scene.trace.api_calls.rows[0].thread = 999;
	choose(&scene, GT_FILTER_PROCESS, "second");
	choose(&scene, GT_FILTER_KERNEL, ".");
	(void)gt_view_cut(&scene.view, &scene.trace, &scene.filter, &scene.err);
	scene_release(&scene);
}

/*
 * Ranges: train from 0 to 900 holds steps from 100, 300 and 500, of 100 ns each, the last with a
 * forward. In each a launch, whose kernel runs from 150 to 250 ns after the begin of the step, an
 * allocation, a wait and a mark; between them, in train alone, another launch and a wait.
 */
static void add_ranges(struct scene *scene)
{
	struct gt_trace *trace = &scene->trace;
	const gt_id thread = scene->threads[0];
	const gt_id shape = trace_shape(trace, "gemm", 1, 32);
	const gt_id train = trace_range(trace, thread, GT_NONE, "train", 0, 900);

	for (gt_time at = 100; at <= 500; at += 200) {
		const gt_id step = trace_range(trace, thread, train, "step", at, at + 100);
		const gt_id inner =
			at == 500 ? trace_range(trace, thread, step, "forward", at + 5, at + 50)
				  : step;
		const gt_id launch =
			trace_call_in(trace, inner, "cudaLaunchKernel", at + 10, at + 15);
		gt_id outside;

		trace_mark(trace, thread, step, "loss", at + 20);
		(void)trace_call_in(trace, step, "cudaMalloc", at + 55, at + 60);
		*gt_array_push(&trace->syncs) = (struct gt_sync){
			.start_ns = TRACE_START_NS + at + 70,
			.end_ns = TRACE_START_NS + at + 80,
			.thread = thread,
			.context = GT_NONE,
			.stream = scene->streams[0],
			.event = GT_NONE,
			.record = GT_NONE,
			.api_call = trace_call_in(trace, step, "cudaStreamSynchronize", at + 70,
		                                  at + 80),
		};
		trace_kernel(trace, scene->streams[0], shape, at + 150, at + 250)->api_call =
			launch;
		outside = trace_call_in(trace, train, "cudaLaunchKernel", at + 150, at + 155);
		trace_kernel(trace, scene->streams[0], shape, at + 260, at + 280)->api_call =
			outside;
		*gt_array_push(&trace->syncs) = (struct gt_sync){
			.start_ns = TRACE_START_NS + at + 160,
			.end_ns = TRACE_START_NS + at + 170,
			.thread = thread,
			.context = GT_NONE,
			.stream = scene->streams[0],
			.event = GT_NONE,
			.record = GT_NONE,
			.api_call = trace_call_in(trace, train, "cudaStreamSynchronize", at + 160,
		                                  at + 170),
		};
	}
}

static void range_scene(struct scene *scene)
{
	*scene = (struct scene){0};
	gt_filter_init(&scene->filter);
	trace_init(&scene->trace, 1000);
	scene->processes[0] = trace_process(&scene->trace, "app", 100);
	scene->threads[0] = trace_thread(&scene->trace, 0, 7);
	scene->devices[0] = trace_device(&scene->trace);
	scene->streams[0] = trace_stream(&scene->trace, 0, 0);
	add_ranges(scene);
}

Test(view, of_ranges_is_what_was_asked_for_inside_them)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "train/step");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.kernels.count, 3));
	cr_expect(eq(sz, scene.trace.api_calls.count, 9), "launches, allocations and waits");
	cr_expect(eq(sz, scene.trace.syncs.count, 3));
	cr_expect(eq(sz, scene.trace.marks.count, 3));
	cr_expect(eq(i64, scene.trace.kernels.rows[2].start_ns, TRACE_START_NS + 650));
	scene_release(&scene);
}

Test(view, of_ranges_keeps_what_is_around_them_for_its_name_alone)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.ranges.count, 5));
	cr_expect(ne(u32, scene.trace.ranges.rows[0].flags & GT_AROUND, 0));
	for (size_t i = 1; i < 5; i++)
		cr_expect(eq(u32, scene.trace.ranges.rows[i].flags & GT_AROUND, 0));
	cr_expect(eq(u32, scene.trace.ranges.rows[1].parent, 0));
	scene_release(&scene);
}

Test(view, of_ranges_lasts_as_long_as_they_and_their_work)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "train/step");
	cut(&scene);
	/* 100..200, 250..350 with 300..400, 450..550 with 500..600, 650..750. */
	cr_expect(eq(u64, gt_view_lasts_ns(&scene.view), 100 + 150 + 150 + 100));
	cr_expect(eq(i64, scene.view.start_ns, scene.trace.start_ns));
	scene_release(&scene);
}

/* On each GPU by itself: between what one did and what the other did none did anything for it. */
Test(view, of_ranges_lasts_as_long_as_their_work_on_each_gpu)
{
	struct scene scene;
	gt_id range;

	scene_init(&scene);
	range = trace_range(&scene.trace, scene.threads[1], GT_NONE, "step", 600, 650);
	for (size_t stream = 1; stream < 3; stream++)
		trace_kernel(&scene.trace, scene.streams[stream], 0, 600 + 100 * (gt_time)stream,
		             610 + 100 * (gt_time)stream)
			->api_call = trace_call_in(&scene.trace, range, "cudaLaunchKernel",
		                                   610 + (gt_time)stream, 611 + (gt_time)stream);
	choose(&scene, GT_FILTER_RANGE, "step");
	cut(&scene);
	cr_expect(eq(u64, gt_view_lasts_ns(&scene.view), 50 + 10 + 10));
	scene_release(&scene);
}

Test(view, of_ranges_that_never_ended_lasts_as_long_as_their_process)
{
	struct scene scene;
	gt_id range;

	range_scene(&scene);
	range = trace_range(&scene.trace, scene.threads[0], GT_NONE, "last", 910, 0);
	scene.trace.ranges.rows[range].end_ns = 0;
	scene.trace.ranges.rows[range].flags = GT_UNFINISHED;
	scene.trace.processes.rows[0].end_ns = TRACE_START_NS + 950;
	choose(&scene, GT_FILTER_RANGE, "last");
	cut(&scene);
	cr_expect(eq(u64, gt_view_lasts_ns(&scene.view), 40));
	scene_release(&scene);
}

Test(view, of_ranges_skips_the_first_of_each_path_and_thread)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step");
	choose(&scene, GT_FILTER_SKIP, "2");
	cut(&scene);
	expect_text(scene.view.restriction, "--range step --skip 2");
	cr_expect(eq(sz, scene.trace.kernels.count, 1));
	cr_assert(eq(sz, scene.trace.ranges.count, 3), "train, the last step and its forward");
	cr_expect(eq(i64, scene.trace.ranges.rows[1].start_ns, TRACE_START_NS + 500));
	scene_release(&scene);
}

Test(view, of_ranges_takes_as_many_as_are_wanted_behind_those_that_are_skipped)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step");
	choose(&scene, GT_FILTER_SKIP, "1");
	choose(&scene, GT_FILTER_TAKE, "1");
	cut(&scene);
	expect_text(scene.view.restriction, "--range step --skip 1 --take 1");
	cr_assert(eq(sz, scene.trace.ranges.count, 2), "train and the second step");
	cr_expect(eq(i64, scene.trace.ranges.rows[1].start_ns, TRACE_START_NS + 300));
	scene_release(&scene);
}

Test(view, of_ranges_takes_the_first_where_none_are_skipped)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step");
	choose(&scene, GT_FILTER_TAKE, "2");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.ranges.count, 3), "train and two steps");
	cr_expect(eq(i64, scene.trace.ranges.rows[2].start_ns, TRACE_START_NS + 300));
	scene_release(&scene);
}

Test(view, of_ranges_that_are_all_skipped_fails_and_says_how_many_there_are)
{
	struct gt_error err = {0};
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step");
	choose(&scene, GT_FILTER_INSTANCE, "4");
	cr_assert(eq(int, gt_view_cut(&scene.view, &scene.trace, &scene.filter, &err), -ENODATA));
	cr_expect(strstr(err.text, "no thread has more than 3 of these") != NULL, "%s", err.text);
	scene_release(&scene);
}

Test(view, of_ranges_has_the_one_of_a_number)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step");
	choose(&scene, GT_FILTER_INSTANCE, "3");
	cut(&scene);
	expect_text(scene.view.restriction, "--range step --instance 3");
	cr_assert(eq(sz, scene.trace.ranges.count, 3), "train, the last step and its forward");
	cr_expect(eq(i64, scene.trace.ranges.rows[1].start_ns, TRACE_START_NS + 500));
	scene_release(&scene);
}

/* Ranges of another thread meanwhile are counted for themselves. */
Test(view, of_ranges_skips_the_first_of_each_thread)
{
	struct scene scene;
	gt_id other;
	gt_id train;

	range_scene(&scene);
	other = trace_thread(&scene.trace, 0, 8);
	train = trace_range(&scene.trace, other, GT_NONE, "train", 690, 900);
	for (gt_time at = 700; at < 820; at += 40) {
		const gt_id step = trace_range(&scene.trace, other, train, "step", at, at + 20);
		const gt_id call =
			trace_call_in(&scene.trace, step, "cudaLaunchKernel", at + 1, at + 2);

		trace_kernel(&scene.trace, scene.streams[0], 0, at + 100, at + 110)->api_call =
			call;
	}
	choose(&scene, GT_FILTER_RANGE, "train/step");
	choose(&scene, GT_FILTER_SKIP, "2");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.kernels.count, 2), "the third step of either thread");
	cr_expect(eq(i64, scene.trace.kernels.rows[0].start_ns, TRACE_START_NS + 650));
	cr_expect(eq(i64, scene.trace.kernels.rows[1].start_ns, TRACE_START_NS + 880));
	scene_release(&scene);
}

Test(view, of_ranges_takes_paths_then_names_then_expressions)
{
	static const struct {
		const char *word;
		size_t kernels;
	} words[] = {
		{"train", 6},     {"train/step/forward", 1}, {"forward", 1},
		{"^train/st", 3}, {"for|loss", 1},           {"tr.*p$", 3},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct scene scene;

		range_scene(&scene);
		choose(&scene, GT_FILTER_RANGE, words[i].word);
		cut(&scene);
		cr_expect(eq(sz, scene.trace.kernels.count, words[i].kernels), "%s", words[i].word);
		scene_release(&scene);
	}
}

/* The program was held up before the window; the kernel ran in it. */
Test(view, keeps_what_was_counted_of_a_launch_with_its_work)
{
	struct scene scene;

	scene_init(&scene);
	*gt_array_push(&scene.trace.profiled_launches) =
		(struct gt_profiled_launch){.start_ns = TRACE_START_NS + 300,
	                                    .end_ns = TRACE_START_NS + 365,
	                                    .process = scene.processes[1],
	                                    .kernel = 1,
	                                    .graph_launch = GT_NONE,
	                                    .api_call = GT_NONE};
	*gt_array_push(&scene.trace.kernel_counters) = (struct gt_kernel_counter){.kernel = 1};
	choose(&scene, GT_FILTER_FROM, "305ns");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.profiled_launches.count, 1));
	cr_expect(eq(sz, scene.trace.kernel_counters.count, 1));
	scene_release(&scene);
}

Test(view, of_ranges_is_of_each_gpu_by_itself)
{
	struct scene scene;
	gt_id step;
	gt_id call;

	scene_init(&scene);
	step = trace_range(&scene.trace, scene.threads[1], GT_NONE, "step", 600, 620);
	call = trace_call_in(&scene.trace, step, "cudaLaunchKernel", 602, 603);
	trace_kernel(&scene.trace, scene.streams[1], 0, 650, 660)->api_call = call;
	trace_kernel(&scene.trace, scene.streams[2], 0, 800, 810)->api_call = call;
	choose(&scene, GT_FILTER_RANGE, "step");
	cut(&scene);
	cr_expect(eq(u64, gt_view_lasts_ns(&scene.view), 20 + 10 + 10));
	scene_release(&scene);
}

Test(view, of_ranges_goes_with_other_parts_of_the_filter)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step");
	choose(&scene, GT_FILTER_KERNEL, "gemm");
	choose(&scene, GT_FILTER_FROM, "300ns");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.kernels.count, 2));
	for (size_t i = 0; i < scene.trace.api_calls.count; i++)
		expect_text(gt_trace_text(&scene.trace, scene.trace.api_calls.rows[i].function),
		            i % 2 ? "cudaStreamSynchronize" : "cudaLaunchKernel");
	scene_release(&scene);
}

/* The second step launched at 310 what runs from 450 on. */
Test(view, of_a_window_knows_the_range_of_work_that_was_asked_for_before_it)
{
	struct scene scene;
	struct gt_owner owner;

	range_scene(&scene);
	choose(&scene, GT_FILTER_FROM, "450ns");
	choose(&scene, GT_FILTER_TO, "520ns");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.kernels.count, 1));
	cr_assert(eq(u32, scene.trace.kernels.rows[0].api_call, GT_NONE));
	owner = gt_owner_of(&scene.trace, GT_ACTIVITY_KERNEL, 0);
	cr_assert(lt(sz, owner.range, scene.trace.ranges.count));
	expect_text(gt_trace_text(&scene.trace, scene.trace.ranges.rows[owner.range].text), "step");
	cr_expect(ne(u32, scene.trace.ranges.rows[owner.range].flags & GT_AROUND, 0));
	cr_expect(eq(i64, owner.at_ns, TRACE_START_NS + 310));
	scene_release(&scene);
}

Test(view, of_ranges_and_streams_is_what_fits_both)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "forward");
	choose(&scene, GT_FILTER_STREAM, "7");
	scene.trace.streams.rows[0].number = 7;
	cut(&scene);
	cr_expect(eq(sz, scene.trace.kernels.count, 1));
	cr_expect(eq(sz, scene.trace.api_calls.count, 1), "and not its wait, which is in step");
	scene_release(&scene);
}

Test(view, of_a_window_keeps_what_is_around_the_ranges_in_it)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_FROM, "450ns");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.ranges.count, 4));
	cr_expect(ne(u32, scene.trace.ranges.rows[0].flags & GT_AROUND, 0), "train");
	cr_expect(ne(u32, scene.trace.ranges.rows[1].flags & GT_AROUND, 0), "work of it");
	cr_expect(eq(u32, scene.trace.ranges.rows[2].parent, 0));
	cr_expect(eq(u32, scene.trace.ranges.rows[2].flags & GT_AROUND, 0));
	scene_release(&scene);
}

Test(view, of_ranges_that_are_not_there_says_which_are)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "stp");
	cr_expect(eq(int, gt_view_cut(&scene.view, &scene.trace, &scene.filter, &scene.err),
	             -ENODATA));
	expect_text(scene.err.text, "no NVTX range stp in the recording; there is train, "
	                            "train/step, train/step/forward");
	scene_release(&scene);
}

/*
 * Two steps of one thread. In each another thread runs an operation of backward, which is for the
 * step, with a kernel, and then a kernel in no range of its own, for the step by time.
 */
static void backward_scene(struct scene *scene)
{
	struct gt_trace *trace = &scene->trace;
	gt_id shape;
	gt_id other;

	*scene = (struct scene){0};
	gt_filter_init(&scene->filter);
	trace_init(trace, 1000);
	scene->processes[0] = trace_process(trace, "app", 100);
	scene->threads[0] = trace_thread(trace, 0, 7);
	other = trace_thread(trace, 0, 8);
	scene->devices[0] = trace_device(trace);
	scene->streams[0] = trace_stream(trace, 0, 0);
	shape = trace_shape(trace, "gemm", 1, 32);
	for (gt_time at = 100; at <= 500; at += 400) {
		const gt_id step =
			trace_range(trace, scene->threads[0], GT_NONE, "step", at, at + 300);
		const gt_id engine =
			trace_range(trace, other, GT_NONE, "engine", at + 100, at + 150);
		const gt_id op = trace_range(trace, other, engine, "op", at + 110, at + 140);
		gt_id call = trace_call_in(trace, op, "cudaLaunchKernel", at + 120, at + 125);

		trace->ranges.rows[engine].for_range = step;
		trace->ranges.rows[op].for_range = step;
		trace_kernel(trace, scene->streams[0], shape, at + 200, at + 210)->api_call = call;
		call = trace_call(trace, other, "cudaLaunchKernel", at + 160, at + 165);
		trace->api_calls.rows[call].for_range = step;
		trace->api_calls.rows[call].flags = GT_BY_TIME;
		trace_kernel(trace, scene->streams[0], shape, at + 350, at + 360)->api_call = call;
	}
}

Test(view, of_ranges_has_what_other_threads_did_for_them)
{
	struct scene scene;

	backward_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step");
	choose(&scene, GT_FILTER_SKIP, "1");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.kernels.count, 2));
	cr_expect(eq(i64, scene.trace.kernels.rows[0].start_ns, TRACE_START_NS + 700));
	cr_assert(eq(sz, scene.trace.ranges.count, 3), "the step, engine and op");
	cr_expect(eq(u32, scene.trace.ranges.rows[1].for_range, 0), "its number is new");
	cr_expect(eq(u32, scene.trace.api_calls.rows[1].for_range, 0));
	/* The step from 500 to 800, and its work from 700 to 860. */
	cr_expect(eq(u64, gt_view_lasts_ns(&scene.view), 360));
	scene_release(&scene);
}

/* A range that is named on the other thread is a part of the one that is named around it. */
Test(view, of_ranges_that_are_for_each_other_counts_them_once)
{
	struct scene scene;

	backward_scene(&scene);
	choose(&scene, GT_FILTER_RANGE, "step|engine");
	choose(&scene, GT_FILTER_SKIP, "1");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.ranges.count, 3));
	cr_expect(eq(sz, scene.trace.kernels.count, 2));
	scene_release(&scene);
}

Test(view, of_ranges_has_what_their_own_threads_did_alone_where_that_is_asked_for)
{
	struct scene scene;

	backward_scene(&scene);
	trace_kernel(&scene.trace, scene.streams[0], 0, 870, 880)->api_call =
		trace_call_in(&scene.trace, 0, "cudaLaunchKernel", 790, 795);
	choose(&scene, GT_FILTER_RANGE, "step");
	gt_filter_own_threads(&scene.filter);
	cut(&scene);
	expect_text(scene.view.restriction, "--range step --set threads=own");
	cr_expect(eq(sz, scene.trace.kernels.count, 1));
	cr_expect(eq(sz, scene.trace.ranges.count, 2));
	scene_release(&scene);
}

/* No time is left, which is not all of it. */
Test(view, of_ranges_that_were_over_before_the_window_has_no_time)
{
	struct scene scene;

	backward_scene(&scene);
	*gt_array_push(&scene.trace.graph_calls) = (struct gt_graph_call){
		.start_ns = TRACE_START_NS + 910, /* is in the window */
		.end_ns = TRACE_START_NS + 920,
		.thread = scene.threads[0],
		.api_call = GT_NONE,
	};
	choose(&scene, GT_FILTER_RANGE, "step");
	choose(&scene, GT_FILTER_FROM, "900ns");
	cut(&scene);
	cr_expect(eq(u64, gt_view_lasts_ns(&scene.view), 0));
	scene_release(&scene);
}

Test(view, counts_memory_to_ranges_of_its_own_thread_where_that_is_asked_for)
{
	struct scene scene;
	struct gt_allocation *allocations;
	struct gt_pool_block *blocks;

	backward_scene(&scene);
	for (int of_other = 0; of_other < 2; of_other++) {
		const gt_id thread =
			scene.trace.ranges.rows[of_other].thread; /* of step, then of engine */

		add_memory(&scene, 0, 120, 0);
		scene.trace.memory_calls.rows[of_other].thread = thread;
		*gt_array_push(&scene.trace.pool_blocks) = (struct gt_pool_block){
			.thread = thread, .pool = GT_NONE, .stream = GT_NONE};
	}
	allocations = scene.trace.allocations.rows;
	blocks = scene.trace.pool_blocks.rows;
	allocations[0].range = allocations[1].range = blocks[0].range = blocks[1].range = 0;
	allocations[1].flags = blocks[1].flags = GT_BY_TIME;
	gt_filter_own_threads(&scene.filter);
	cut(&scene);
	cr_expect(eq(u32, allocations[0].range, 0));
	cr_expect(eq(u32, blocks[0].range, 0));
	cr_expect(eq(u32, allocations[1].range, GT_NONE));
	cr_expect(eq(u32, blocks[1].range, GT_NONE));
	cr_expect(eq(u32, allocations[1].flags & GT_BY_TIME, 0));
	cr_expect(eq(u32, blocks[1].flags & GT_BY_TIME, 0));
	scene_release(&scene);
}

/* The range that a call was made for began before the window, and still names it. */
Test(view, of_a_window_keeps_what_calls_in_it_were_made_for)
{
	struct scene scene;

	backward_scene(&scene);
	choose(&scene, GT_FILTER_FROM, "655ns");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.ranges.count, 3), "and those of a launch before it");
	cr_expect(ne(u32, scene.trace.ranges.rows[0].flags & GT_AROUND, 0));
	cr_expect(eq(u32, scene.trace.api_calls.rows[0].for_range, 0));
	scene_release(&scene);
}

Test(view, keeps_all_ranges_of_what_it_keeps)
{
	struct scene scene;

	range_scene(&scene);
	choose(&scene, GT_FILTER_PROCESS, "app");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.ranges.count, 5));
	cr_expect(eq(sz, scene.trace.marks.count, 3));
	for (size_t i = 0; i < 5; i++)
		cr_expect(eq(u32, scene.trace.ranges.rows[i].flags & GT_AROUND, 0));
	scene_release(&scene);
}

Test(view, of_ranges_keeps_what_was_captured_inside_wherever_it_was_launched)
{
	struct scene scene;
	gt_id launch;

	range_scene(&scene);
	launch = trace_call(&scene.trace, scene.threads[0], "cudaGraphLaunch", 800, 810);
	for (gt_time at = 900; at <= 920; at += 10) {
		struct gt_kernel *kernel =
			trace_kernel(&scene.trace, scene.streams[0], 0, at, at + 5);

		kernel->api_call = launch;
		/* Captured in the step's first call, and nowhere. */
		kernel->node = at == 910 ? GT_NONE : trace_node(&scene.trace, 0, 0);
	}
	choose(&scene, GT_FILTER_RANGE, "train/step");
	cut(&scene);
	cr_expect(eq(sz, scene.trace.kernels.count, 3 + 2));
	cr_expect(eq(i64, scene.trace.kernels.rows[4].start_ns, TRACE_START_NS + 920));
	cr_expect(eq(u64, gt_view_lasts_ns(&scene.view), 500 + 5 + 5));
	scene_release(&scene);
}

Test(view, of_a_window_still_knows_where_graphs_were_captured)
{
	struct scene scene;
	struct gt_kernel *kernel;

	range_scene(&scene);
	kernel = trace_kernel(&scene.trace, scene.streams[0], 0, 900, 905);
	kernel->node = trace_node(&scene.trace, 0, 0);
	choose(&scene, GT_FILTER_FROM, "890ns");
	cut(&scene);
	cr_assert(eq(sz, scene.trace.ranges.count, 2), "train and its first step");
	cr_expect(eq(u32, gt_owner_of(&scene.trace, GT_ACTIVITY_KERNEL, 0).range, 1));
	cr_expect(ne(u32, scene.trace.ranges.rows[1].flags & GT_AROUND, 0));
	scene_release(&scene);
}
