/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_EXPORTERS_SAMPLE_H
#define GT_TESTS_EXPORTERS_SAMPLE_H

#include <stdint.h>

#include "base/strings.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/trace.h"

/*
 * Traces made by hand. Each function appends one row and returns its number; rows of a table must
 * be added in order of time. Times are nanoseconds, real ones are some days after the boot.
 */
enum { SAMPLE_START = 1000000000 };

static inline gt_string sample_text(struct gt_trace *trace, const char *text)
{
	return gt_strings_add(trace->strings, text);
}

static inline gt_id sample_process(struct gt_trace *trace, const char *name, uint32_t pid)
{
	struct gt_process *row = gt_array_push(&trace->processes);

	*row = (struct gt_process){.pid = pid, .started_ticks = 100 + pid};
	row->name = sample_text(trace, name);
	row->command = sample_text(trace, "./program --steps 3");
	row->host = sample_text(trace, "node1");
	row->kernel_release = sample_text(trace, "6.1.0-18-amd64");
	row->architecture = sample_text(trace, "x86_64");
	row->cpus = 96;
	return (gt_id)trace->processes.count - 1;
}

static inline gt_id sample_thread(struct gt_trace *trace, gt_id process, uint32_t tid)
{
	*gt_array_push(&trace->threads) = (struct gt_thread){
		.process = process, .tid = tid, .name = sample_text(trace, "worker")};
	return (gt_id)trace->threads.count - 1;
}

/* index: of the GPU in its machine, -1 for not known. */
static inline gt_id sample_device(struct gt_trace *trace, int32_t index, uint32_t ordinal)
{
	*gt_array_push(&trace->devices) = (struct gt_device){
		.name = sample_text(trace, "NVIDIA H200"),
		.uuid = sample_text(trace, "GPU-00112233-4455-6677-8899-aabbccddeeff"),
		.pci = sample_text(trace, "0000:19:00.0"),
		.host = sample_text(trace, "node1"),
		.index = index,
		.ordinal = ordinal,
		.cc_major = 9,
		.sm_count = 132,
		.memory_bytes = 150754820096,
		.warp_size = 32,
		.max_threads_per_sm = 2048,
		.max_blocks_per_sm = 32,
		.registers_per_sm = 65536,
		.registers_per_block = 65536,
		.shared_per_sm_bytes = 233472,
		.shared_per_block_bytes = 232448,
		.shared_reserved_bytes = 1024,
	};
	return (gt_id)trace->devices.count - 1;
}

static inline gt_id sample_context(struct gt_trace *trace, gt_id process, gt_id device)
{
	*gt_array_push(&trace->contexts) = (struct gt_context){
		.process = process, .device = device, .number = 1, .null_stream = 7};
	return (gt_id)trace->contexts.count - 1;
}

static inline gt_id sample_stream(struct gt_trace *trace, gt_id context, uint32_t number)
{
	*gt_array_push(&trace->streams) = (struct gt_stream){.context = context, .number = number};
	return (gt_id)trace->streams.count - 1;
}

static inline gt_id sample_shape(struct gt_trace *trace, const char *mangled, const char *demangled,
                                 uint32_t grid)
{
	*gt_array_push(&trace->launch_shapes) = (struct gt_launch_shape){
		.name = sample_text(trace, mangled),
		.demangled = sample_text(trace, demangled),
		.grid_x = grid,
		.grid_y = 2,
		.grid_z = 1,
		.block_x = 128,
		.block_y = 1,
		.block_z = 1,
		.registers = 32,
		.shared_static_bytes = 256,
		.shared_dynamic_bytes = 1024,
		.shared_executed_bytes = 102400,
	};
	return (gt_id)trace->launch_shapes.count - 1;
}

static inline gt_id sample_call(struct gt_trace *trace, gt_id thread, const char *function,
                                gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace->api_calls) = (struct gt_api_call){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.thread = thread,
		.range = GT_NONE,
		.for_range = GT_NONE,
		.function = sample_text(trace, function),
		.correlation = (uint32_t)trace->api_calls.count,
	};
	return (gt_id)trace->api_calls.count - 1;
}

/* A range of NVTX that was pushed inside another one; GT_NONE: in none. */
static inline gt_id sample_range(struct gt_trace *trace, gt_id thread, gt_id parent,
                                 const char *text, gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace->ranges) = (struct gt_range){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.thread = thread,
		.end_thread = thread,
		.domain = GT_NONE,
		.parent = parent,
		.for_range = GT_NONE,
		.text = sample_text(trace, text),
	};
	return (gt_id)trace->ranges.count - 1;
}

static inline struct gt_api_call *sample_last_call(struct gt_trace *trace)
{
	return &trace->api_calls.rows[trace->api_calls.count - 1];
}

static inline gt_id sample_stream_device(const struct gt_trace *trace, gt_id stream)
{
	return trace->contexts.rows[trace->streams.rows[stream].context].device;
}

static inline struct gt_kernel *sample_kernel(struct gt_trace *trace, gt_id stream, gt_id shape,
                                              gt_id call, gt_time start_ns, gt_time end_ns)
{
	struct gt_kernel *row = gt_array_push(&trace->kernels);

	*row = (struct gt_kernel){
		.node = GT_NONE,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.shape = shape,
		.stream = stream,
		.device = sample_stream_device(trace, stream),
		.api_call = call,
	};
	return row;
}

static inline struct gt_copy *sample_copy(struct gt_trace *trace, gt_id stream, uint32_t kind,
                                          gt_id call, gt_time start_ns, gt_time end_ns)
{
	struct gt_copy *row = gt_array_push(&trace->copies);

	*row = (struct gt_copy){
		.node = GT_NONE,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.size_bytes = 1 << 20,
		.stream = stream,
		.device = sample_stream_device(trace, stream),
		.src_device = GT_NONE,
		.dst_device = GT_NONE,
		.api_call = call,
		.kind = kind,
		.src_kind = GT_MEMORY_PINNED,
		.dst_kind = GT_MEMORY_DEVICE,
	};
	return row;
}

static inline struct gt_fill *sample_fill(struct gt_trace *trace, gt_id stream, gt_id call,
                                          gt_time start_ns, gt_time end_ns)
{
	struct gt_fill *row = gt_array_push(&trace->fills);

	*row = (struct gt_fill){
		.node = GT_NONE,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.size_bytes = 4096,
		.stream = stream,
		.device = sample_stream_device(trace, stream),
		.api_call = call,
		.memory_kind = GT_MEMORY_DEVICE,
	};
	return row;
}

static inline void sample_sync(struct gt_trace *trace, gt_id stream, gt_id call, gt_time start_ns,
                               gt_time end_ns)
{
	*gt_array_push(&trace->syncs) = (struct gt_sync){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.context = trace->streams.rows[stream].context,
		.stream = stream,
		.api_call = call,
		.kind = 3,
		.thread = GT_NONE,
		.event = GT_NONE,
		.record = GT_NONE,
	};
}

static inline void sample_overhead(struct gt_trace *trace, gt_id process, uint32_t kind,
                                   gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace->overheads) = (struct gt_overhead){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.process = process,
		.api_call = GT_NONE,
		.kind = kind,
	};
}

/* Loaded by process and thread 0 into context 0. NAN: its load time is not known. */
static inline struct gt_module *sample_module(struct gt_trace *trace, gt_wide hash,
                                              gt_time loaded_ns, double load_ns)
{
	struct gt_module *module = gt_array_push(&trace->modules);

	*module = (struct gt_module){
		.loaded_ns = loaded_ns,
		.noted_ns = loaded_ns,
		.load_ns = load_ns,
		.jit_ns = 0,
		.hash = hash,
		.size_bytes = 27000,
		.arch = 90,
		.function_count = 4,
		.api_call = GT_NONE,
	};
	return module;
}

/* A call about memory by thread 0 in context 0, with its API call: it lasts 100 ns. */
static inline struct gt_memory_call *sample_memory_call(struct gt_trace *trace,
                                                        const char *function, gt_count kind,
                                                        gt_size bytes, gt_time start_ns)
{
	struct gt_memory_call *row = gt_array_push(&trace->memory_calls);

	*row = (struct gt_memory_call){
		.start_ns = start_ns,
		.end_ns = start_ns + 100,
		.address = 0x7f0000000000 + trace->memory_calls.count * 0x1000,
		.size_bytes = bytes,
		.stream = GT_NONE,
		.place = GT_NONE,
		.api_call = sample_call(trace, 0, function, start_ns, start_ns + 100),
		.kind = kind,
	};
	return row;
}

/* Memory of that call, on device 0; it is there until a call at end_ns, 0: to the end. */
static inline struct gt_allocation *sample_allocation(struct gt_trace *trace, gt_count kind,
                                                      gt_size bytes, gt_time start_ns,
                                                      gt_time end_ns)
{
	const struct gt_memory_call *call =
		sample_memory_call(trace, "cudaMalloc", kind, bytes, start_ns);
	struct gt_allocation *row = gt_array_push(&trace->allocations);

	*row = (struct gt_allocation){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.address = call->address,
		.size_bytes = bytes,
		.stream = GT_NONE,
		.made_by = (gt_id)trace->memory_calls.count - 1,
		.ended_by = GT_NONE,
		.range = GT_NONE,
		.kind = kind,
		.flags = end_ns ? 0 : GT_UNFINISHED,
	};
	return row;
}

static inline gt_id sample_pool(struct gt_trace *trace, gt_id device, const char *name)
{
	*gt_array_push(&trace->pools) =
		(struct gt_pool){.device = device, .name = sample_text(trace, name), .number = 1};
	return (gt_id)trace->pools.count - 1;
}

/* end_ns 0: it was out at the end. */
static inline struct gt_pool_block *sample_block(struct gt_trace *trace, gt_id pool, gt_size bytes,
                                                 gt_time start_ns, gt_time end_ns)
{
	struct gt_pool_block *row = gt_array_push(&trace->pool_blocks);

	*row = (struct gt_pool_block){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.address = 0x7f1000000000 + trace->pool_blocks.count * 0x1000,
		.size_bytes = bytes,
		.pool = pool,
		.stream = GT_NONE,
		.range = GT_NONE,
		.flags = end_ns ? 0 : GT_UNFINISHED,
	};
	return row;
}

/* Event of the first thread of a block of kernel 0, of process 0 on device 0. */
static inline struct gt_device_event *sample_device_event(struct gt_trace *trace, gt_count kind,
                                                          const char *name, gt_count sm,
                                                          gt_count block, gt_time start_ns,
                                                          gt_time end_ns)
{
	struct gt_device_event *row = gt_array_push(&trace->device_events);

	*row = (struct gt_device_event){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.parent = GT_NONE,
		.name = sample_text(trace, name),
		.kind = kind,
		.sm = sm,
		.block = block,
		.sequence = (gt_count)trace->device_events.count - 1,
	};
	return row;
}

/* A series with so many samples, one each period from period_ns on. */
static inline struct gt_series *sample_series(struct gt_trace *trace, size_t columns,
                                              size_t samples, gt_time period_ns)
{
	const size_t number = gt_trace_add_series(trace, columns);
	struct gt_series *series = &trace->series.rows[number];

	gt_series_reserve(series, samples);
	for (size_t i = 0; i < samples; i++)
		series->times_ns[i] = SAMPLE_START + period_ns * (gt_time)(i + 1);
	series->count = samples;
	return series;
}

/* A column of the last series. */
static inline void sample_counter(struct gt_trace *trace, const char *name,
                                  enum gt_counter_kind kind, gt_id device, uint32_t place)
{
	*gt_array_push(&trace->counters) = (struct gt_counter){
		.name = sample_text(trace, name),
		.help = sample_text(trace, "What it is"),
		.device = device,
		.pool = GT_NONE,
		.kind = kind,
		.series = (uint32_t)trace->series.count - 1,
		.place = place,
	};
}

/* Start, end, clocks, ledger and a note, so that everything a file can say is said. */
static inline void sample_finish(struct gt_trace *trace, gt_time end_ns)
{
	trace->start_ns = SAMPLE_START;
	trace->end_ns = end_ns;
	trace->tool_version = sample_text(trace, "0.1.0");
	trace->cupti = sample_text(trace, "libcupti.so.13 130001");
	trace->driver = sample_text(trace, "13.0");
	for (gt_id i = 0; i < trace->processes.count; i++) {
		const gt_time times[] = {SAMPLE_START + 10 + i, end_ns - 5};

		for (int j = 0; j < 2; j++)
			*gt_array_push(&trace->clocks) = (struct gt_clock){
				.boottime_ns = times[j],
				.monotonic_ns = (uint64_t)times[j] - 500000000,
				.realtime_ns = (uint64_t)times[j] + 1700000000000000000,
				.bound_ns = 120,
				.process = i,
			};
		*gt_array_push(&trace->ledgers) = (struct gt_ledger){
			.process = i, .name = sample_text(trace, "kernels"), .value = 21};
	}
	*gt_array_push(&trace->notes) =
		(struct gt_note){.process = GT_NONE,
	                         .topic = sample_text(trace, "nvml"),
	                         .text = sample_text(trace, "NVML was not there.")};
}

#endif
