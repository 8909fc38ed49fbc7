/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/file/meta.h"
#include "format/file/series.h"
#include "format/ranges.h"
#include "model/kinds/graph.h"
#include "support/recording.h"

/* Writes a world as a traced process would have: a capture for each, on the clocks that it had. */

enum {
	MOST_STRINGS = 1024,
	FIRST_GRAPH = 5, /* CUPTI's numbers of graphs, executable ones, nodes and handles */
	FIRST_EXEC = 105,
	FIRST_NODE = 0x5000,
	FIRST_EXEC_NODE = 0x9000,
	EXEC_HANDLE = 0xec00,
	STREAM_HANDLE = 0x7000,
	EVENT_HANDLE = 0x90000,
};

struct writer {
	const struct world *world;
	int number; /* of the process */
	const struct process *process;
	struct recording recording;
	const char *strings[MOST_STRINGS];
	uint32_t string_count;
};

static uint32_t string(struct writer *writer, const char *words)
{
	for (uint32_t i = 0; i < writer->string_count; i++)
		if (strcmp(writer->strings[i], words) == 0)
			return i + 1;
	if (writer->string_count == MOST_STRINGS)
		abort();
	writer->strings[writer->string_count++] = words;
	recording_add_string(&writer->recording, writer->string_count, words);
	return writer->string_count;
}

static uint64_t host(const struct writer *writer, uint64_t time)
{
	return time ? time + (uint64_t)writer->process->host_offset : 0;
}

static uint64_t gpu(const struct writer *writer, uint64_t time)
{
	return time ? time + (uint64_t)writer->process->gpu_offset : 0;
}

static bool is_ours(const struct writer *writer, int thread)
{
	return writer->world->threads[thread].process == writer->number;
}

/* CUPTI's number of the context that a process has on a GPU. */
static uint32_t context(int device)
{
	return 1 + (uint32_t)device;
}

/*
 * How many rows before one are of its process, by which handles are as in programs that do the
 * same: equal in all processes. process: of the first row.
 */
static uint64_t own_row(const int *process, size_t row_bytes, int row)
{
	const char *rows = (const char *)process;
	const int own = *(const int *)(rows + (size_t)row * row_bytes);
	uint64_t before = 0;

	for (int i = 0; i < row; i++)
		before += *(const int *)(rows + (size_t)i * row_bytes) == own;
	return before;
}

#define OWN_ROW(rows, row) own_row(&(rows)[0].process, sizeof((rows)[0]), row)

static uint64_t handle(const struct world *world, int stream)
{
	if (stream == NONE)
		return UINT64_MAX;
	return world->streams[stream].is_default ? 0
	                                         : STREAM_HANDLE + OWN_ROW(world->streams, stream);
}

static uint64_t event_handle(const struct world *world, int event)
{
	return event == NONE ? 0 : EVENT_HANDLE + OWN_ROW(world->events, event);
}

static uint64_t exec_handle(const struct world *world, int exec)
{
	return EXEC_HANDLE + OWN_ROW(world->execs, exec);
}

static void add_clock(struct writer *writer, uint64_t time)
{
	recording_add(&writer->recording, clock, .host_ns = host(writer, time), .boottime_ns = time,
	              .realtime_ns = time + 1000000000000000000, .cupti_ns = gpu(writer, time),
	              .bound_ns = 50);
}

static void add_meta(struct writer *writer)
{
	struct recording *recording = &writer->recording;
	char digits[16];
	char path[64];

	snprintf(digits, sizeof(digits), "%u", writer->process->pid);
	snprintf(path, sizeof(path), "/opt/%s", writer->process->program);
	recording_add_meta(recording, GT_META_PID, digits);
	recording_add_meta(recording, GT_META_HOST, "node");
	recording_add_meta(recording, GT_META_BOOT_ID, "boot");
	recording_add_meta(recording, GT_META_API, "outer");
	recording_add_meta(recording, GT_META_PROGRAM, path);
	add_clock(writer, writer->process->begin);
}

static void add_devices(struct writer *writer)
{
	static const char *const uuids[] = {"GPU-0a", "GPU-1b", "GPU-2c", "GPU-3d"};
	const struct world *world = writer->world;

	for (int i = 0; i < world->gpu_count; i++)
		recording_add(&writer->recording, device, .ordinal = (uint32_t)i,
		              .name = string(writer, "NVIDIA H200"),
		              .uuid = string(writer, uuids[i]), .index_plus_one = (uint32_t)i + 1,
		              .cc_major = 9, .sm_count = 132, .sm_clock_khz = 1980000,
		              .memory_clock_khz = 3201000, .memory_bus_bits = 6144,
		              .memory_bytes = 150000000000, .l2_bytes = 62914560, .warp_size = 32,
		              .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,
		              .registers_per_sm = 65536, .registers_per_block = 65536,
		              .shared_per_sm_bytes = 233472, .shared_per_block_bytes = 232448,
		              .shared_reserved_bytes = 1024, .pcie_generation = 5, .pcie_width = 16,
		              .copy_engines = 3);
	for (int i = 0; i < world->stream_count; i++) {
		const struct stream *stream = &world->streams[i];

		if (stream->process != writer->number)
			continue;
		if (stream->is_default)
			recording_add(&writer->recording, context, .id = context(stream->gpu),
			              .device = (uint32_t)stream->gpu,
			              .null_stream = stream->number);
		else
			recording_add(&writer->recording, handle,
			              .time_ns = host(writer, writer->process->begin),
			              .handle = handle(world, i), .context = context(stream->gpu),
			              .stream = stream->number);
		recording_add(&writer->recording, stream, .id = stream->number,
		              .context = context(stream->gpu), .priority = stream->priority,
		              .flags = stream->is_default ? 3 : 2);
	}
}

static void add_names(struct writer *writer)
{
	for (uint32_t i = 0; i < KERNELS; i++)
		recording_add(&writer->recording, shape, .id = i + 1,
		              .name = string(writer, kernels[i].mangled), .grid_x = kernels[i].grid,
		              .grid_y = 1, .grid_z = 1, .block_x = kernels[i].threads, .block_y = 1,
		              .block_z = 1, .registers = 32);
	for (int i = 0; i < writer->world->thread_count; i++)
		if (is_ours(writer, i))
			recording_add(&writer->recording, thread,
			              .tid = writer->world->threads[i].tid,
			              .name = string(writer, writer->world->threads[i].name));
	recording_add(&writer->recording, profiled_metric, .number = 1,
	              .name = string(writer, "duration_ns"),
	              .metric = string(writer, "gpu__time_duration.sum"),
	              .unit = string(writer, "ns"));
}

static void add_wait(struct writer *writer, const struct call *call)
{
	static const uint32_t kinds[] = {0, 3, 4, 1, 2, 16, 23, 25};
	const struct world *world = writer->world;
	const int device = call->stream != NONE  ? world->streams[call->stream].gpu
	                   : call->block != NONE ? world->blocks[call->block].gpu
	                   : call->event != NONE ? world->events[call->event].gpu
	                                         : 0;
	const bool names_stream = call->wait != CONTEXT_SYNCHRONIZE && call->wait != BLOCKING_FREE;

	recording_add(&writer->recording, sync_call, .start_ns = host(writer, call->begin),
	              .end_ns = host(writer, call->end),
	              .stream = names_stream ? handle(world, call->stream) : UINT64_MAX,
	              .event = event_handle(world, call->event), .correlation = call->correlation,
	              .context = context(device), .thread = world->threads[call->thread].tid,
	              .kind = kinds[call->wait], .result = (uint32_t)call->result,
	              .flags = call->end ? 0 : GT_RECORD_UNFINISHED);
}

static void add_memory_call(struct writer *writer, const struct call *call)
{
	const struct world *world = writer->world;
	const struct block *block = &world->blocks[call->block];
	const bool makes = &world->calls[block->made_by] == call;
	const uint32_t kinds[2][2] = {{34, 32}, {6, 1}};

	recording_add(&writer->recording, memory_call, .start_ns = host(writer, call->begin),
	              .end_ns = host(writer, call->end), .address = block->address,
	              .size_bytes = makes ? block->bytes : 0, .stream = UINT64_MAX,
	              .correlation = call->correlation,
	              .context = context(block->gpu == NONE ? 0 : block->gpu),
	              .thread = world->threads[call->thread].tid,
	              .kind = kinds[makes][block->gpu != NONE], .result = call->result,
	              .flags = call->end ? 0 : GT_RECORD_UNFINISHED);
}

static void add_calls(struct writer *writer)
{
	const struct world *world = writer->world;

	for (int i = 0; i < world->call_count; i++) {
		const struct call *call = &world->calls[i];

		if (call->gone || !is_ours(writer, call->thread))
			continue;
		recording_add(&writer->recording, api_call, .start_ns = host(writer, call->begin),
		              .end_ns = host(writer, call->end), .correlation = call->correlation,
		              .function = string(writer, call->function), .result = call->result,
		              .thread = world->threads[call->thread].tid,
		              .flags = (call->end ? 0u : GT_RECORD_UNFINISHED) |
		                       (call->captured ? GT_RECORD_GRAPH_NODE : 0u) |
		                       (call->function[2] != 'd' ? GT_RECORD_DRIVER_API : 0u));
		if (call->wait != NO_WAIT)
			add_wait(writer, call);
		if (call->block != NONE)
			add_memory_call(writer, call);
	}
}

#define PLACE                                                                                      \
	.correlation = call->correlation, .context = context(stream->gpu),                         \
	.stream = stream->number, .flags = unfinished ? GT_RECORD_UNFINISHED : 0

static void add_copy_or_fill(struct writer *writer, const struct work *work, bool unfinished)
{
	static const uint32_t kinds[] = {1, 2, 8, 10};
	const struct call *call = &writer->world->calls[work->call];
	const struct stream *stream = &writer->world->streams[work->stream];
	const uint32_t memory = work->pageable ? 1 : 2;

	if (work->kind == FILL)
		recording_add(&writer->recording, fill, .start_ns = gpu(writer, work->begin),
		              .end_ns = gpu(writer, work->end), .size_bytes = work->bytes,
		              .device = (uint32_t)stream->gpu, .memory_kind = 3, PLACE);
	else
		recording_add(&writer->recording, copy, .start_ns = gpu(writer, work->begin),
		              .end_ns = gpu(writer, work->end), .size_bytes = work->bytes,
		              .device = (uint32_t)stream->gpu, .kind = kinds[work->copy],
		              .src_kind = work->copy == 0 ? memory : 3,
		              .dst_kind = work->copy == 1 ? memory : 3,
		              .src_device = work->peer == NONE ? 0 : (uint32_t)stream->gpu + 1,
		              .dst_device = work->peer == NONE ? 0 : (uint32_t)work->peer + 1,
		              PLACE);
}

/* CUPTI says nothing of the times of a kernel that it ran several times. */
static void add_kernel(struct writer *writer, const struct work *work, bool unfinished)
{
	const struct call *call = &writer->world->calls[work->call];
	const struct stream *stream = &writer->world->streams[work->stream];

	recording_add(&writer->recording, kernel,
	              .start_ns = unfinished ? 0 : gpu(writer, work->begin),
	              .end_ns = unfinished ? 0 : gpu(writer, work->end),
	              .graph_node = work->node == NONE
	                                    ? 0
	                                    : FIRST_EXEC_NODE + (uint64_t)(MOST_NODES * work->exec +
	                                                                   work->node),
	              .graph = work->node == NONE ? 0 : FIRST_EXEC + (uint32_t)work->exec,
	              .device = (uint32_t)stream->gpu, .shape = (uint32_t)work->kernel + 1, PLACE);
	if (!work->profiled)
		return;
	recording_add(&writer->recording, profiled_launch,
	              .start_ns = host(writer, work->held_from),
	              .end_ns = host(writer, work->held_to), .correlation = call->correlation,
	              .passes = 5);
	recording_add(&writer->recording, profiled_value, .correlation = call->correlation,
	              .metric = 1, .value = (double)(work->end - work->begin));
}

static void add_graph_trace(struct writer *writer, const struct work *work, bool unfinished)
{
	const struct call *call = &writer->world->calls[work->call];
	const struct stream *stream = &writer->world->streams[work->stream];

	recording_add(&writer->recording, graph_trace, .start_ns = gpu(writer, work->begin),
	              .end_ns = gpu(writer, work->end), .work_ns = work->activities_ns,
	              .activities = work->activities, .device = (uint32_t)stream->gpu + 1,
	              .graph = FIRST_EXEC + (uint32_t)work->exec, PLACE);
}

static void add_all_work(struct writer *writer)
{
	const struct world *world = writer->world;

	for (int i = 0; i < world->work_count; i++) {
		const struct work *work = &world->work[i];
		const bool unfinished = work->end == 0 || work->profiled;

		if (work->gone || world->streams[work->stream].process != writer->number)
			continue;
		if (work->kind == KERNEL)
			add_kernel(writer, work, unfinished);
		else if (work->kind == WHOLE_GRAPH)
			add_graph_trace(writer, work, unfinished);
		else
			add_copy_or_fill(writer, work, unfinished);
	}
}

static void add_clone(struct writer *writer, const struct exec *exec, int number, int node,
                      uint64_t made)
{
	const struct call *call = &writer->world->calls[exec->instantiate_call];
	const uint32_t tid = writer->world->threads[call->thread].tid;
	const uint64_t id = (uint64_t)(MOST_NODES * number + node);

	for (int twice = 0; twice < 2; twice++)
		recording_add(&writer->recording, graph_node,
		              .made_ns = host(writer, made + (uint64_t)twice),
		              .number = FIRST_EXEC_NODE + id,
		              .original_number = twice ? FIRST_NODE + id : 0,
		              .graph_number = FIRST_EXEC + (uint32_t)number,
		              .correlation = call->correlation, .thread = tid);
}

static void add_captured_nodes(struct writer *writer, const struct exec *exec, int number)
{
	const struct world *world = writer->world;

	for (int i = 0; i < exec->node_count; i++) {
		const struct call *made = &world->calls[exec->nodes[i].capture_call];
		const uint64_t id = FIRST_NODE + (uint64_t)(MOST_NODES * number + i);

		recording_add(&writer->recording, graph_node,
		              .made_ns = host(writer, made->begin + 50), .number = id,
		              .graph_number = FIRST_GRAPH + (uint32_t)number,
		              .correlation = made->correlation,
		              .thread = world->threads[made->thread].tid);
		if (i > 0)
			recording_add(&writer->recording, graph_dependency, .from_number = id - 1,
			              .to_number = id, .correlation = made->correlation);
	}
}

static void add_graph(struct writer *writer, const struct exec *exec, int number)
{
	const struct world *world = writer->world;
	const struct call *begin = &world->calls[exec->begin_call];
	const struct call *call = &world->calls[exec->instantiate_call];
	const uint32_t tid = world->threads[begin->thread].tid;

	recording_add(&writer->recording, graph, .made_ns = host(writer, begin->begin + 50),
	              .number = FIRST_GRAPH + (uint32_t)number, .correlation = begin->correlation,
	              .thread = tid);
	add_captured_nodes(writer, exec, number);
	recording_add(&writer->recording, graph_call, .start_ns = host(writer, call->begin),
	              .end_ns = host(writer, call->end), .handle = exec_handle(world, number),
	              .graph_number = FIRST_GRAPH + (uint32_t)number,
	              .kind = GT_GRAPH_CALL_INSTANTIATE, .outcome = -1,
	              .correlation = call->correlation, .thread = tid);
	for (int i = 0; i < exec->node_count; i++)
		add_clone(writer, exec, number, i, call->begin + 60);
	recording_add(&writer->recording, graph_exec, .made_ns = host(writer, call->begin + 100),
	              .handle = exec_handle(world, number), .number = FIRST_EXEC + (uint32_t)number,
	              .graph_number = FIRST_GRAPH + (uint32_t)number,
	              .correlation = call->correlation, .thread = tid);
}

static void add_graphs(struct writer *writer)
{
	const struct world *world = writer->world;

	for (int i = 0; i < world->exec_count; i++) {
		const struct exec *exec = &world->execs[i];
		const struct call *made = &world->calls[exec->instantiate_call];

		if (exec->process == writer->number && !made->gone && made->end)
			add_graph(writer, exec, i);
	}
	for (int i = 0; i < world->call_count; i++) {
		const struct call *call = &world->calls[i];

		if (call->gone || !is_ours(writer, call->thread) ||
		    strcmp(call->function, "cuGraphLaunch") != 0)
			continue;
		recording_add(&writer->recording, graph_launch,
		              .start_ns = host(writer, call->begin),
		              .handle = exec_handle(world, call->exec),
		              .stream = handle(world, call->stream),
		              .context = context(world->streams[call->stream].gpu),
		              .correlation = call->correlation,
		              .thread = world->threads[call->thread].tid);
	}
}

static void add_ranges(struct writer *writer)
{
	const struct world *world = writer->world;

	for (int i = 0; i < world->range_count; i++) {
		const struct range *range = &world->ranges[i];
		const uint32_t tid = world->threads[range->thread].tid;

		if (range->gone || !is_ours(writer, range->thread))
			continue;
		recording_add(&writer->recording, range_begin,
		              .time_ns = host(writer, range->begin), .order = range->begin_order,
		              .level = (uint32_t)range->depth, .text = string(writer, range->name),
		              .thread = tid);
		if (range->end)
			recording_add(&writer->recording, range_end,
			              .time_ns = host(writer, range->end),
			              .order = range->end_order, .level = (uint32_t)range->depth,
			              .thread = tid);
	}
	for (int i = 0; i < world->mark_count; i++) {
		const struct mark *mark = &world->marks[i];

		if (!mark->gone && is_ours(writer, mark->thread))
			recording_add(&writer->recording, range_begin,
			              .time_ns = host(writer, mark->at), .order = mark->order,
			              .kind = GT_RANGE_STEP_MARK,
			              .text = string(writer, mark->name), .level = GT_LEVEL_UNKNOWN,
			              .thread = world->threads[mark->thread].tid);
	}
}

/* Its energy counter is read as often, and does not go on in so short a time. */
static void add_readings(struct writer *writer, int device)
{
	static const char *const names[] = {"power_mw", "energy_mj"};

	for (uint32_t place = 0; place < 2; place++)
		recording_add(&writer->recording, counter, .series = (uint32_t)device,
		              .place = place, .name = string(writer, names[place]), .kind = place,
		              .device = (uint32_t)device + 1);
	for (int i = 0; i < writer->world->reading_count; i++) {
		const struct reading *reading = &writer->world->readings[i];
		uint64_t time_ns = host(writer, reading->at);
		double values[] = {reading->power_mw ? (double)reading->power_mw : NAN, 7e6};
		const struct gt_samples samples = {.series = (uint16_t)device,
		                                   .clock = GT_SERIES_HOST,
		                                   .columns = 2,
		                                   .count = 1,
		                                   .times_ns = &time_ns,
		                                   .values = values};

		if (reading->process == writer->number && reading->gpu == device &&
		    gt_writer_samples(&writer->recording.capture.writer, &samples,
		                      (struct gt_origin){0}) != 0)
			abort();
	}
}

static void record_process(const struct world *world, int number)
{
	struct writer writer = {
		.world = world, .number = number, .process = &world->processes[number]};
	char name[64];

	snprintf(writer.recording.path, sizeof(writer.recording.path), ".");
	snprintf(name, sizeof(name), "node-%u-%d", writer.process->pid, number);
	recording_begin(&writer.recording, name);
	add_meta(&writer);
	add_devices(&writer);
	add_names(&writer);
	add_calls(&writer);
	add_graphs(&writer);
	add_ranges(&writer);
	add_all_work(&writer);
	for (int i = 0; i < world->gpu_count && world->reading_count; i++)
		add_readings(&writer, i);
	if (writer.process->dropped)
		recording_add(&writer.recording, ledger, .value = writer.process->dropped,
		              .name = string(&writer, "dropped_by_cupti"));
	if (!writer.process->death)
		add_clock(&writer, writer.process->end);
	else
		recording_add_meta(&writer.recording, GT_META_END, GT_META_END_DIED);
	recording_end(&writer.recording, !writer.process->death);
	capture_release(&writer.recording.capture);
}

void record_world(const struct world *world)
{
	for (int i = 0; i < world->process_count; i++)
		record_process(world, i);
}
