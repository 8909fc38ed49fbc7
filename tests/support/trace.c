/* SPDX-License-Identifier: Apache-2.0 */
#include "support/trace.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/strings.h"
#include "model/names.h"
#include "support/check.h"

static gt_string text(struct gt_trace *trace, const char *bytes)
{
	return gt_strings_add(trace->strings, bytes);
}

/* The number of the row that was added last. */
#define LATEST(table) ((gt_id)((table)->count - 1))

/* Whether the row that was added last starts no earlier than the one before it. */
#define IN_ORDER(table)                                                                            \
	((table)->count < 2 ||                                                                     \
	 (table)->rows[(table)->count - 2].start_ns <= (table)->rows[(table)->count - 1].start_ns)

static void expect_order(bool in_order)
{
	cr_assert(in_order, "rows of a trace must be added in order of their start");
}

void trace_init(struct gt_trace *trace, gt_time duration_ns)
{
	gt_trace_init(trace);
	trace->start_ns = TRACE_START_NS;
	trace->end_ns = TRACE_START_NS + duration_ns;
}

gt_id trace_process(struct gt_trace *trace, const char *name, gt_count pid)
{
	*gt_array_push(&trace->processes) = (struct gt_process){
		.start_ns = trace->start_ns,
		.end_ns = trace->end_ns,
		.pid = pid,
		.name = text(trace, name),
		.command = text(trace, name),
		.host = text(trace, "host"),
		.ended = GT_END_CLEAN,
	};
	return LATEST(&trace->processes);
}

gt_id trace_thread(struct gt_trace *trace, gt_id process, gt_count tid)
{
	*gt_array_push(&trace->threads) = (struct gt_thread){.process = process, .tid = tid};
	return LATEST(&trace->threads);
}

gt_id trace_device(struct gt_trace *trace)
{
	const gt_id number = (gt_id)trace->devices.count;

	*gt_array_push(&trace->devices) = (struct gt_device){
		.name = text(trace, "NVIDIA H200"),
		.host = text(trace, "host"),
		.index = (gt_code)number,
		.ordinal = number,
		.cc_major = 9,
		.sm_count = 132,
		.sm_clock_khz = 1980000,
		.memory_clock_khz = 3201000,
		.memory_bus_bits = 6144,
		.memory_bytes = 150754820096,
		.l2_bytes = 62914560,
		.warp_size = 32,
		.max_threads_per_sm = 2048,
		.max_blocks_per_sm = 32,
		.registers_per_sm = 65536,
		.registers_per_block = 65536,
		.shared_per_sm_bytes = 233472,
		.shared_per_block_bytes = 232448,
		.shared_reserved_bytes = 1024,
		.pcie_generation = 5,
		.pcie_width = 16,
		.copy_engines = 3,
	};
	return number;
}

gt_id trace_stream(struct gt_trace *trace, gt_id process, gt_id device)
{
	*gt_array_push(&trace->contexts) = (struct gt_context){.process = process,
	                                                       .device = device,
	                                                       .number = 1,
	                                                       .null_stream = 7,
	                                                       .memory_bytes = NAN};
	*gt_array_push(&trace->streams) = (struct gt_stream){
		.context = LATEST(&trace->contexts), .number = (gt_count)trace->streams.count + 6};
	return LATEST(&trace->streams);
}

gt_id trace_shape(struct gt_trace *trace, const char *name, gt_count blocks, gt_count threads)
{
	*gt_array_push(&trace->launch_shapes) = (struct gt_launch_shape){
		.name = text(trace, name),
		.demangled = text(trace, name),
		.grid_x = blocks,
		.grid_y = 1,
		.grid_z = 1,
		.block_x = threads,
		.block_y = 1,
		.block_z = 1,
		.registers = 32,
	};
	return LATEST(&trace->launch_shapes);
}

static gt_id device_of(const struct gt_trace *trace, gt_id stream)
{
	return trace->contexts.rows[trace->streams.rows[stream].context].device;
}

struct gt_kernel *trace_kernel(struct gt_trace *trace, gt_id stream, gt_id shape, gt_time start_ns,
                               gt_time end_ns)
{
	struct gt_kernel *kernel = gt_array_push(&trace->kernels);

	*kernel = (struct gt_kernel){
		.node = GT_NONE,
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.shape = shape,
		.stream = stream,
		.device = device_of(trace, stream),
		.api_call = GT_NONE,
	};
	expect_order(IN_ORDER(&trace->kernels));
	return kernel;
}

struct gt_kernel *trace_unfinished_kernel(struct gt_trace *trace, gt_id stream, gt_id shape)
{
	struct gt_kernel *kernel = trace_kernel(trace, stream, shape, 0, 0);

	kernel->start_ns = kernel->end_ns = 0;
	kernel->flags = GT_UNFINISHED;
	return kernel;
}

struct gt_copy *trace_copy(struct gt_trace *trace, gt_id stream, gt_count kind, gt_size bytes,
                           gt_time start_ns, gt_time end_ns)
{
	const int from_host = kind == GT_COPY_HOST_TO_DEVICE || kind == GT_COPY_HOST_TO_ARRAY;
	const int to_host = kind == GT_COPY_DEVICE_TO_HOST || kind == GT_COPY_ARRAY_TO_HOST;
	struct gt_copy *copy = gt_array_push(&trace->copies);

	*copy = (struct gt_copy){
		.node = GT_NONE,
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.size_bytes = bytes,
		.stream = stream,
		.device = device_of(trace, stream),
		.src_device = GT_NONE,
		.dst_device = GT_NONE,
		.api_call = GT_NONE,
		.kind = kind,
		.src_kind = from_host ? GT_MEMORY_PINNED : GT_MEMORY_DEVICE,
		.dst_kind = to_host ? GT_MEMORY_PINNED : GT_MEMORY_DEVICE,
	};
	expect_order(IN_ORDER(&trace->copies));
	return copy;
}

struct gt_fill *trace_fill(struct gt_trace *trace, gt_id stream, gt_size bytes, gt_time start_ns,
                           gt_time end_ns)
{
	struct gt_fill *fill = gt_array_push(&trace->fills);

	*fill = (struct gt_fill){
		.node = GT_NONE,
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.size_bytes = bytes,
		.stream = stream,
		.device = device_of(trace, stream),
		.api_call = GT_NONE,
		.memory_kind = GT_MEMORY_DEVICE,
	};
	expect_order(IN_ORDER(&trace->fills));
	return fill;
}

static gt_count kind_of(const char *function)
{
	static const struct {
		const char *word;
		enum gt_api_kind kind;
	} words[] = {
		{"GraphLaunch", GT_API_GRAPH_LAUNCH},
		{"Launch", GT_API_LAUNCH},
		{"Memcpy", GT_API_COPY},
		{"Memset", GT_API_FILL},
		{"Malloc", GT_API_ALLOCATE},
		{"Free", GT_API_FREE},
		{"Synchronize", GT_API_SYNCHRONIZE},
		{"Event", GT_API_EVENT},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(function, words[i].word))
			return words[i].kind;
	return GT_API_OTHER;
}

gt_id trace_call(struct gt_trace *trace, gt_id thread, const char *function, gt_time start_ns,
                 gt_time end_ns)
{
	*gt_array_push(&trace->api_calls) = (struct gt_api_call){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.thread = thread,
		.range = GT_NONE,
		.for_range = GT_NONE,
		.function = text(trace, function),
		.correlation = (gt_count)trace->api_calls.count,
		.kind = kind_of(function),
	};
	expect_order(IN_ORDER(&trace->api_calls));
	return LATEST(&trace->api_calls);
}

gt_id trace_call_in(struct gt_trace *trace, gt_id range, const char *function, gt_time start_ns,
                    gt_time end_ns)
{
	const gt_id call =
		trace_call(trace, trace->ranges.rows[range].thread, function, start_ns, end_ns);

	trace->api_calls.rows[call].range = range;
	return call;
}

gt_id trace_node(struct gt_trace *trace, gt_id process, gt_id api_call)
{
	const struct gt_api_call *call = &trace->api_calls.rows[api_call];
	const gt_id row = (gt_id)trace->graph_nodes.count;

	*gt_array_push(&trace->graph_nodes) = (struct gt_graph_node){
		.made_ns = call->start_ns + 1,
		.number = row + 1,
		.process = process,
		.thread = call->thread,
		.api_call = api_call,
		.graph = GT_NONE,
		.exec = GT_NONE,
		.original = GT_NONE,
		.origin = row,
		.range = call->range,
		.for_range = GT_NONE,
		.shape = GT_NONE,
	};
	return row;
}

gt_id trace_domain(struct gt_trace *trace, gt_id process, const char *name)
{
	*gt_array_push(&trace->domains) =
		(struct gt_domain){.process = process, .name = text(trace, name)};
	return LATEST(&trace->domains);
}

gt_id trace_range(struct gt_trace *trace, gt_id thread, gt_id parent, const char *name,
                  gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace->ranges) = (struct gt_range){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.thread = thread,
		.end_thread = thread,
		.domain = GT_NONE,
		.parent = parent,
		.for_range = GT_NONE,
		.text = text(trace, name),
	};
	expect_order(IN_ORDER(&trace->ranges));
	return LATEST(&trace->ranges);
}

struct gt_mark *trace_mark(struct gt_trace *trace, gt_id thread, gt_id range, const char *name,
                           gt_time start_ns)
{
	struct gt_mark *mark = gt_array_push(&trace->marks);

	*mark = (struct gt_mark){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + start_ns,
		.thread = thread,
		.domain = GT_NONE,
		.range = range,
		.text = text(trace, name),
	};
	expect_order(IN_ORDER(&trace->marks));
	return mark;
}

struct gt_device_event *trace_device_event(struct gt_trace *trace, gt_id kernel, gt_count kind,
                                           const char *name, gt_count block, gt_time start_ns,
                                           gt_time end_ns)
{
	struct gt_device_event *event = gt_array_push(&trace->device_events);

	*event = (struct gt_device_event){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.process = gt_trace_stream_process(trace, trace->kernels.rows[kernel].stream),
		.device = trace->kernels.rows[kernel].device,
		.kernel = kernel,
		.parent = GT_NONE,
		.name = text(trace, name),
		.kind = kind,
		.sm = block % 4,
		.block = block,
		.sequence = (gt_count)trace->device_events.count - 1,
	};
	expect_order(IN_ORDER(&trace->device_events));
	return event;
}

void trace_device_clock(struct gt_trace *trace, gt_id device, gt_wide bound_ns, gt_count step_ns)
{
	*gt_array_push(&trace->device_clocks) =
		(struct gt_device_clock){.start_ns = trace->start_ns,
	                                 .end_ns = trace->end_ns,
	                                 .device = device,
	                                 .bound_ns = bound_ns,
	                                 .step_ns = step_ns,
	                                 .kernels = 3};
}

void trace_counter(struct gt_trace *trace, gt_id device, const char *name, gt_count kind,
                   gt_time start_ns, gt_time step_ns, const double *values, size_t count)
{
	const size_t place = gt_trace_add_series(trace, 1);
	struct gt_series *series = &trace->series.rows[place];

	gt_series_reserve(series, count);
	for (size_t i = 0; i < count; i++) {
		series->times_ns[i] = TRACE_START_NS + start_ns + (gt_time)i * step_ns;
		series->columns[0][i] = values[i];
	}
	series->count = count;
	*gt_array_push(&trace->counters) = (struct gt_counter){
		.name = gt_strings_add(trace->strings, name),
		.unit = gt_strings_add(trace->strings, "u"),
		.device = device,
		.pool = GT_NONE,
		.kind = kind,
		.series = (gt_count)place,
	};
}

static void add_column(struct gt_trace *trace, gt_id device, size_t series, size_t place,
                       const struct trace_column *column)
{
	*gt_array_push(&trace->counters) = (struct gt_counter){
		.name = gt_strings_add(trace->strings, column->name),
		.unit = gt_strings_add(trace->strings, column->unit),
		.device = device,
		.kind = column->kind,
		.series = (gt_count)series,
		.place = (gt_count)place,
	};
}

gt_id trace_sampled(struct gt_trace *trace, gt_id device, gt_time start_ns, gt_time step_ns,
                    const struct trace_column *columns, size_t column_count, size_t count)
{
	const struct trace_column length = {"sample_ns", "ns", GT_COUNTER_SPAN, NULL};
	const size_t place = gt_trace_add_series(trace, column_count + 1);
	const gt_id first = (gt_id)trace->counters.count;
	struct gt_series *series = &trace->series.rows[place];

	gt_series_reserve(series, count);
	series->count = count;
	for (size_t i = 0; i < count; i++) {
		series->times_ns[i] = TRACE_START_NS + start_ns + (gt_time)i * step_ns;
		series->columns[0][i] = (double)step_ns;
		for (size_t j = 0; j < column_count; j++)
			series->columns[j + 1][i] = columns[j].values[i];
	}
	add_column(trace, device, place, 0, &length);
	for (size_t j = 0; j < column_count; j++)
		add_column(trace, device, place, j + 1, &columns[j]);
	return first;
}

struct gt_memory_call *trace_memory_call(struct gt_trace *trace, gt_id api_call, gt_count kind,
                                         gt_size bytes, gt_code result)
{
	const struct gt_api_call *call = &trace->api_calls.rows[api_call];
	struct gt_memory_call *row = gt_array_push(&trace->memory_calls);

	*row = (struct gt_memory_call){
		.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.size_bytes = bytes,
		.thread = call->thread,
		.context = GT_NONE,
		.stream = GT_NONE,
		.place = GT_NONE,
		.api_call = api_call,
		.kind = kind,
		.result = result,
	};
	expect_order(IN_ORDER(&trace->memory_calls));
	return row;
}

struct gt_allocation *trace_allocation(struct gt_trace *trace, gt_id api_call, gt_id device,
                                       gt_count kind, gt_size bytes, gt_time end_ns)
{
	const struct gt_memory_call *call = trace_memory_call(trace, api_call, kind, bytes, 0);
	struct gt_allocation *allocation = gt_array_push(&trace->allocations);

	*allocation = (struct gt_allocation){
		.start_ns = call->start_ns,
		.end_ns = end_ns ? TRACE_START_NS + end_ns : 0,
		.size_bytes = bytes,
		.process = trace->threads.rows[call->thread].process,
		.device = device,
		.context = GT_NONE,
		.stream = GT_NONE,
		.made_by = LATEST(&trace->memory_calls),
		.ended_by = GT_NONE,
		.range = trace->api_calls.rows[api_call].range,
		.kind = kind,
		.flags = end_ns ? 0 : GT_UNFINISHED,
	};
	expect_order(IN_ORDER(&trace->allocations));
	return allocation;
}

gt_id trace_pool(struct gt_trace *trace, gt_id process, gt_id device, const char *name)
{
	*gt_array_push(&trace->pools) = (struct gt_pool){
		.start_ns = trace->start_ns,
		.process = process,
		.device = device,
		.name = text(trace, name),
		.number = (gt_count)trace->pools.count,
	};
	return LATEST(&trace->pools);
}

struct gt_pool_block *trace_block(struct gt_trace *trace, gt_id pool, gt_size bytes,
                                  gt_time start_ns, gt_time end_ns)
{
	struct gt_pool_block *block = gt_array_push(&trace->pool_blocks);

	*block = (struct gt_pool_block){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = end_ns ? TRACE_START_NS + end_ns : 0,
		.size_bytes = bytes,
		.pool = pool,
		.thread = GT_NONE,
		.stream = GT_NONE,
		.range = GT_NONE,
		.flags = end_ns ? 0 : GT_UNFINISHED,
	};
	expect_order(IN_ORDER(&trace->pool_blocks));
	return block;
}

gt_id trace_numa_node(struct gt_trace *trace, gt_count number)
{
	char cpus[32];

	snprintf(cpus, sizeof(cpus), "%u-%u", 16 * number, 16 * number + 15);
	*gt_array_push(&trace->numa_nodes) = (struct gt_numa_node){
		.host = text(trace, "host"),
		.number = number,
		.cpus = text(trace, cpus),
		.memory_bytes = UINT64_C(1) << 39,
	};
	return LATEST(&trace->numa_nodes);
}

gt_id trace_pci_gpu(struct gt_trace *trace, gt_id device, gt_id numa_node, const char *path)
{
	const gt_id number = (gt_id)trace->pci_devices.count;
	char address[32];

	snprintf(address, sizeof(address), "0000:%02x:00.0", 0x19 + number);
	*gt_array_push(&trace->pci_devices) = (struct gt_pci_device){
		.device = device,
		.numa_node = numa_node,
		.host = text(trace, "host"),
		.address = text(trace, address),
		.path = text(trace, path),
		.name = text(trace, "NVIDIA H200"),
		.index = (gt_code)number,
		.pcie_generation = 5,
		.pcie_width = 16,
		.most_pcie_generation = 5,
		.most_pcie_width = 16,
	};
	return number;
}

struct gt_gpu_pair *trace_gpu_pair(struct gt_trace *trace, gt_id from, gt_id to, gt_code nvlinks)
{
	struct gt_gpu_pair *pair = gt_array_push(&trace->gpu_pairs);

	*pair = (struct gt_gpu_pair){
		.from = from,
		.to = to,
		.level = 50,
		.nvlinks = nvlinks,
		.nvlink_bytes_per_second = 25000000000,
	};
	return pair;
}

void trace_ledger(struct gt_trace *trace, gt_id process, const char *name, gt_wide value)
{
	*gt_array_push(&trace->ledgers) =
		(struct gt_ledger){.process = process, .name = text(trace, name), .value = value};
}
