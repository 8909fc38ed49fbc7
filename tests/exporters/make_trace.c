/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_trace CASE FILE: writes a trace made by hand as FILE, once compressed and once plain
 * (FILE.plain), what an importer must find in it as FILE.json, and the same trace in the other
 * format as FILE.chrome.json. Without a case: lists them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sink/file.h"
#include "exporters/exporter.h"
#include "exporters/sample.h"
#include "model/view/view.h"

/* Facts that the exporter does not count itself. */
struct facts {
	unsigned contexts; /* with something on them */
	unsigned processes;
	unsigned threads;
	unsigned kernels; /* placed ones */
	unsigned gpus;    /* rows, holes included */
	unsigned open_slices;
	unsigned waits;       /* syncs that no call shows, and overheads */
	unsigned samples;     /* values of counters but those of the load */
	const char *answers;  /* what queries answer, as JSON: {"SQL": value} */
	unsigned error_calls; /* API calls that say what went wrong */
	gt_time first_ns;     /* begin of the first slice and end of the last */
	gt_time last_ns;
};

static void make_empty(struct gt_trace *trace, struct facts *facts)
{
	(void)facts;
	sample_finish(trace, SAMPLE_START);
}

/* One process, GPU and stream; launches follow each other. */
static void make_launches(struct gt_trace *trace, struct facts *facts, unsigned count)
{
	const gt_id process = sample_process(trace, "app", 4242);
	const gt_id thread = sample_thread(trace, process, 4242);
	const gt_id context = sample_context(trace, process, sample_device(trace, 0, 0));
	const gt_id stream = sample_stream(trace, context, 7);
	const gt_id shape =
		sample_shape(trace, "_Z5saxpyifPfS_", "saxpy(int, float, float*, float*)", 264);
	gt_time now_ns = SAMPLE_START + 1000;

	*facts = (struct facts){.contexts = 1,
	                        .processes = 1,
	                        .threads = 1,
	                        .kernels = count,
	                        .gpus = 1,
	                        .first_ns = now_ns};
	for (unsigned i = 0; i < count; i++) {
		const gt_id call = sample_call(trace, thread, "cudaLaunchKernel", now_ns,
		                               now_ns + 2000 + i * 37 % 400);

		sample_kernel(trace, stream, shape, call, now_ns + 2500,
		              now_ns + 4500 + i * 53 % 90);
		facts->last_ns = now_ns + 4500 + i * 53 % 90;
		now_ns += 5000 + i * 71 % 600;
	}
	sample_finish(trace, now_ns);
}

static void make_plain(struct gt_trace *trace, struct facts *facts)
{
	make_launches(trace, facts, 20);
	facts->answers =
		"{\"select name from process where pid = 4242\": \"app\",\n"
		"  \"select cmdline from process where pid = 4242\": \"app --steps 3\",\n"
		"  \"select start_ts from process where pid = 4242\": 43420000000,\n"
		"  \"select str_value from metadata where name = 'system_name'\": \"Linux\",\n"
		"  \"select str_value from metadata where name = 'system_release'\":"
		" \"6.1.0-18-amd64\",\n"
		"  \"select str_value from metadata where name = 'system_machine'\": \"x86_64\",\n"
		"  \"select extract_arg(arg_set_id, 'occupancy_limited_by') from gpu_slice\":"
		" \"warps\",\n"
		"  \"select extract_arg(arg_set_id, 'waves_per_multiprocessor') from gpu_slice\":"
		" 0.25}";
}

/* Seven blocks of what is compressed at once: more than there are threads for. */
static void make_loop(struct gt_trace *trace, struct facts *facts)
{
	make_launches(trace, facts, 40000);
}

/* Two processes on two of four GPUs, several streams, every kind of copy, everything overlapping. */
static void make_crowd(struct gt_trace *trace, struct facts *facts)
{
	gt_id threads[2];
	gt_id streams[2][3];
	gt_time now_ns = SAMPLE_START + 5000;

	*facts = (struct facts){
		.contexts = 3, .processes = 2, .threads = 2, .gpus = 4, .first_ns = now_ns};
	for (unsigned i = 0; i < 2; i++) {
		const gt_id process = sample_process(trace, i ? "trainer" : "server", 100 + i);
		const gt_id device = sample_device(trace, i ? 3 : 1, 0);
		gt_id context = sample_context(trace, process, device);

		threads[i] = sample_thread(trace, process, 100 + i);
		streams[i][0] = sample_stream(trace, context, 7);
		streams[i][1] = sample_stream(trace, context, 13);
		if (i == 0) {
			context = sample_context(trace, process, device);
			trace->contexts.rows[context].number = 2;
		}
		streams[i][2] = sample_stream(trace, context, 14);
	}
	for (unsigned i = 0; i < 3; i++)
		sample_shape(trace, "_Z4gemmv", i ? "gemm<float>()" : "gemm<half>()", 10 + i);

	for (unsigned step = 0; step < 60; step++) {
		const unsigned who = step % 2;
		const gt_id stream = streams[who][step / 2 % 3];
		const gt_id call = sample_call(trace, threads[who],
		                               step % 5 ? "cudaLaunchKernel" : "cudaMemcpyAsync",
		                               now_ns, now_ns + 1500);

		if (step % 5) {
			sample_kernel(trace, stream, step % 3, call, now_ns + 1700, now_ns + 9000);
			facts->kernels++;
		} else {
			struct gt_copy *copy = sample_copy(trace, stream, step / 5, call,
			                                   now_ns + 1700, now_ns + 7000);

			copy->src_device = copy->kind == GT_COPY_PEER_TO_PEER ? 0 : GT_NONE;
			copy->dst_device = copy->kind == GT_COPY_PEER_TO_PEER ? 1 : GT_NONE;
			/* Its begin, its end, and for older readers just before that. */
			facts->samples += 3;
			sample_fill(trace, stream, call, now_ns + 1800, now_ns + 1800);
		}
		/* Longer than the step: the waits of the two processes, and of one, overlap. */
		sample_sync(trace, stream, call, now_ns + 100, now_ns + 5100);
		sample_overhead(trace, who, (step % 3 + 1) << 16, now_ns + 50, now_ns + 2500);
		facts->waits++; /* the overhead: the call shows the wait */
		facts->last_ns = now_ns + 9000;
		now_ns += 1100;
	}
	sample_finish(trace, now_ns + 20000);
}

/* A process that died: a call that never returned, kernels that never ended. */
static void make_unfinished(struct gt_trace *trace, struct facts *facts)
{
	struct gt_kernel *kernel;
	struct gt_trace rest = {0};

	make_launches(trace, facts, 10);
	/* Rows without a time come first, so the kernels are moved behind two of them. */
	for (unsigned i = 0; i < 10; i++)
		*gt_array_push(&rest.kernels) = trace->kernels.rows[i];
	trace->kernels.count = 0;
	for (unsigned i = 0; i < 2; i++) {
		kernel = sample_kernel(trace, 0, 0, 9, 0, 0);
		kernel->flags = GT_UNFINISHED;
	}
	for (unsigned i = 0; i < 10; i++)
		*gt_array_push(&trace->kernels) = rest.kernels.rows[i];
	gt_array_release(&rest.kernels);

	sample_call(trace, 0, "cudaDeviceSynchronize", trace->end_ns, 0);
	sample_last_call(trace)->flags = GT_UNFINISHED;
	facts->open_slices = 1;
	facts->last_ns = trace->end_ns;
}

static void make_errors(struct gt_trace *trace, struct facts *facts)
{
	static const struct {
		const char *function;
		int32_t result;
		uint32_t flags;
	} failures[] = {
		{"cudaMalloc", 2, 0},
		{"cudaEventQuery", 600, 0},
		{"cudaEventQuery", 600, 0},
		{"cuLaunchKernel", 719, GT_DRIVER_API},
		{"cuMemAlloc", 123456, GT_DRIVER_API}, /* a code that has no name */
	};

	make_launches(trace, facts, 5);
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		sample_call(trace, 0, failures[i].function, trace->end_ns, trace->end_ns + 700);
		sample_last_call(trace)->result = failures[i].result;
		sample_last_call(trace)->flags = failures[i].flags;
		facts->last_ns = trace->end_ns + 700;
		trace->end_ns += 1000;
		facts->error_calls++;
	}
	facts->answers = "{\"select count(*) from slice s join process_track t on t.id = s.track_id"
			 " where t.name = 'CUDA errors' and s.dur = 0\": 3,\n"
			 "  \"select group_concat(name, ', ') from (select name from slice"
			 " where category = 'error' order by ts)\":"
			 " \"cudaErrorMemoryAllocation in cudaMalloc,"
			 " CUDA_ERROR_LAUNCH_FAILED in cuLaunchKernel,"
			 " error 123456 in cuMemAlloc\",\n"
			 "  \"select extract_arg(arg_set_id, 'debug.code') from slice"
			 " where name = 'cudaErrorMemoryAllocation in cudaMalloc'\": 2}";
}

/* Two loadings, one of a length that is not known, a compilation, and where the kernel was written.
 */
static void make_modules(struct gt_trace *trace, struct facts *facts)
{
	make_launches(trace, facts, 3);
	trace->threads.rows[0].process = 0;
	sample_module(trace, 0xabc, SAMPLE_START + 900, 400)->jit_ns = 300;
	sample_module(trace, 0xabd, SAMPLE_START + 950, (double)NAN);
	*gt_array_push(&trace->functions) = (struct gt_function){
		.name = trace->launch_shapes.rows[0].name,
		.source_file = sample_text(trace, "/src/saxpy.py"),
		.source_line = 42,
	};
	*gt_array_push(&trace->jits) = (struct gt_jit){.start_ns = SAMPLE_START + 550,
	                                               .end_ns = SAMPLE_START + 850,
	                                               .operation = 3,
	                                               .entry = 1,
	                                               .api_call = GT_NONE};
	facts->first_ns = SAMPLE_START + 500;
	facts->answers =
		"{\"select group_concat(dur, ' ') from (select dur from slice where category = 'module'"
		" order by ts)\": \"400 0\",\n"
		"  \"select extract_arg(arg_set_id, 'debug.module') from slice"
		" where category = 'module' and dur = 400\": \"0000000000000abc\",\n"
		"  \"select extract_arg(arg_set_id, 'debug.jit_ns') from slice"
		" where category = 'module' and dur = 400\": 300,\n"
		"  \"select name from slice where category = 'compilation'\": \"compile\",\n"
		"  \"select distinct extract_arg(arg_set_id, 'source') from gpu_slice\":"
		" \"/src/saxpy.py:42\"}";
}

/* Value that a line shows at a time after the start of the sample. */
struct value_fact {
	const char *line;
	unsigned time_ns;
	const char *value;
};

/* more: further answers, NULL for none. The text lives until the next call. */
static const char *answers_of(const struct value_fact *values, size_t count, const char *more)
{
	static char text[8192];
	size_t length = (size_t)snprintf(text, sizeof(text), "{%s", more ? more : "");

	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(
			text + length, sizeof(text) - length,
			"%s  \"select value from counter c join gpu_counter_track t"
			" on t.id = c.track_id where t.name = '%s' and c.ts <= %u"
			" order by c.ts desc limit 1\": %s",
			i || more ? ",\n" : "", values[i].line, SAMPLE_START + values[i].time_ns,
			values[i].value);
	snprintf(text + length, sizeof(text) - length, "}");
	return text;
}

/* Copies and a fill, whose titles say where to, from what memory and how much. */
static void make_copies(struct gt_trace *trace, struct facts *facts)
{
	static const struct {
		uint32_t kind;
		uint32_t memory;
		uint64_t bytes;
	} copies[] = {
		{GT_COPY_HOST_TO_DEVICE, GT_MEMORY_PINNED, 4 << 20},
		{GT_COPY_DEVICE_TO_HOST, GT_MEMORY_PAGEABLE, 512},
		{GT_COPY_DEVICE_TO_DEVICE, GT_MEMORY_DEVICE, 3ull << 29},
		{GT_COPY_HOST_TO_DEVICE, GT_MEMORY_PINNED, 100000},
	};

	static const struct value_fact rates[] = {
		{"HtoD copies", 20000, "419"}, {"HtoD copies", 29998, "419"},
		{"HtoD copies", 30000, "0"},   {"HtoD copies", 79998, "0"},
		{"HtoD copies", 80000, "10"},  {"DtoH copies", 40000, "51.2"},
	};

	make_launches(trace, facts, 1);
	for (unsigned i = 0; i < 4; i++) {
		struct gt_copy *copy =
			sample_copy(trace, 0, copies[i].kind, 0, SAMPLE_START + 20000 * (i + 1),
		                    SAMPLE_START + 20000 * (i + 1) + 10000);

		copy->size_bytes = copies[i].bytes;
		copy->src_kind = copy->dst_kind = copies[i].memory;
	}
	sample_fill(trace, 0, 0, SAMPLE_START + 95000, SAMPLE_START + 96000);
	trace->end_ns = SAMPLE_START + 100000;
	facts->last_ns = SAMPLE_START + 96000;
	/* Each begin, each end and just before that; and before the second begin of one kind. */
	facts->samples = 4 * 3 + 1;
	facts->answers = answers_of(
		rates, sizeof(rates) / sizeof(rates[0]),
		"  \"select group_concat(name, ', ') from (select name from gpu_slice"
		" where name not glob 'saxpy*' order by ts)\": \"HtoD pinned 4.0 MiB,"
		" DtoH pageable 512 B, DtoD 1.5 GiB, HtoD pinned 97.7 KiB, Memset 4.0 KiB\",\n"
		"  \"select group_concat(name || ' ' || unit, ', ') from (select name, unit from gpu_counter_track"
		" where name glob '*copies' order by name)\":"
		" \"DtoD copies GB/s, DtoH copies MB/s, HtoD copies GB/s\"");
}

/* A kernel of 40 us that runs alone, asked for 20 us before, and one beside it on a stream. */
static void make_load(struct gt_trace *trace, struct facts *facts)
{
	static const struct value_fact values[] = {
		{"GPU busy", 29000, "0"},           {"GPU busy", 30400, "100"},
		{"GPU busy", 69000, "100"},         {"GPU busy", 70000, "0"},
		{"launches in flight", 11000, "1"}, {"launches in flight", 12400, "1.8"},
		{"launches in flight", 29000, "2"}, {"launches in flight", 31000, "1"},
		{"launches in flight", 41000, "0"},
	};
	gt_id stream;

	make_launches(trace, facts, 0);
	stream = sample_stream(trace, 0, 8);
	sample_call(trace, 0, "cudaLaunchKernel", SAMPLE_START + 10000, SAMPLE_START + 12000);
	sample_call(trace, 0, "cudaLaunchKernel", SAMPLE_START + 12500, SAMPLE_START + 13000);
	sample_kernel(trace, 0, 0, 0, SAMPLE_START + 30000, SAMPLE_START + 70000);
	sample_kernel(trace, stream, 0, 1, SAMPLE_START + 40000, SAMPLE_START + 50000);
	trace->end_ns = SAMPLE_START + 100000 - 1; /* a hundred stretches of 600 ns of work */
	facts->kernels = 2;
	facts->first_ns = SAMPLE_START + 10000;
	facts->last_ns = SAMPLE_START + 70000;
	facts->answers = answers_of(values, sizeof(values) / sizeof(values[0]), NULL);
}

/* Launches of graphs: thousands of kernels for one call. */
static void make_graph(struct gt_trace *trace, struct facts *facts)
{
	gt_time now_ns;

	make_launches(trace, facts, 3);
	now_ns = trace->end_ns + 1000;
	*gt_array_push(&trace->graph_execs) = (struct gt_graph_exec){.graph = GT_NONE, .number = 5};
	for (unsigned node = 0; node < 3000; node++)
		*gt_array_push(&trace->graph_nodes) =
			(struct gt_graph_node){.origin = node,
		                               .made_by = trace->api_calls.rows[0].function,
		                               .exec = 0,
		                               .graph = GT_NONE};
	for (unsigned launch = 0; launch < 3; launch++) {
		const gt_id call = sample_call(trace, 0, "cudaGraphLaunch", now_ns, now_ns + 9000);

		*gt_array_push(&trace->graph_launches) = (struct gt_graph_launch){
			.start_ns = now_ns, .thread = 0, .api_call = call, .exec = 0};

		for (unsigned i = 0; i < 3000; i++) {
			struct gt_kernel *kernel = sample_kernel(trace, 0, 0, call, now_ns + 9500,
			                                         now_ns + 9500 + 400);

			kernel->graph = 5;
			kernel->graph_node = 1000 + i;
			kernel->node = i;
			now_ns += 450;
		}
		facts->last_ns = now_ns - 450 + 9900;
		now_ns += 20000;
	}
	facts->kernels += 9000;
	facts->answers = "{\"select count(*) as n from slice where category = 'graph' and name = "
			 "'graph exec 5 (3000 nodes)'\": 3, "
			 "\"select count(*) as n from gpu_slice where "
			 "extract_arg(arg_set_id, 'made_by') = 'cudaLaunchKernel'\": 9000}";
	trace->end_ns = now_ns;
}

/* One launch of a graph so large that its packet fits into no block. */
static void make_giant(struct gt_trace *trace, struct facts *facts)
{
	gt_time now_ns;
	gt_id call;

	make_launches(trace, facts, 3);
	now_ns = trace->end_ns;
	call = sample_call(trace, 0, "cudaGraphLaunch", now_ns, now_ns + 9000);
	for (unsigned i = 0; i < 70000; i++)
		sample_kernel(trace, 0, 0, call, now_ns + 10000 + 500 * i,
		              now_ns + 10400 + 500 * i);
	facts->last_ns = now_ns + 10400 + 500 * 69999;
	facts->kernels += 70000;
	trace->end_ns = facts->last_ns + 10;
}

static void make_nested(struct gt_trace *trace, struct facts *facts)
{
	gt_time now_ns;

	make_launches(trace, facts, 1);
	now_ns = trace->end_ns;
	for (unsigned i = 0; i < 50; i++) {
		sample_call(trace, 0, "cudaMemcpy", now_ns, now_ns + 5000);
		sample_call(trace, 0, "cuMemcpyHtoD", now_ns + 300, now_ns + 2000);
		sample_last_call(trace)->flags = GT_NESTED | GT_DRIVER_API;
		/* Ends with the outer one, or after it by a clock's whim. */
		sample_call(trace, 0, "cuStreamSynchronize", now_ns + 2000, now_ns + 5000 + i % 2);
		sample_last_call(trace)->flags = GT_NESTED | GT_DRIVER_API;
		now_ns += 5000;
	}
	/* No time between calls, and a call without any. */
	sample_call(trace, 0, "cudaGetLastError", now_ns, now_ns);
	sample_call(trace, 0, "cudaGetLastError", now_ns, now_ns + 10);
	facts->last_ns = now_ns + 10;
	trace->end_ns = now_ns + 100;
}

/* Three processes with one pid: in two containers, and on another machine with a GPU 0 too. */
static void make_twins(struct gt_trace *trace, struct facts *facts)
{
	*facts = (struct facts){.contexts = 3,
	                        .processes = 3,
	                        .threads = 3,
	                        .gpus = 3,
	                        .kernels = 3,
	                        .first_ns = SAMPLE_START + 100,
	                        .last_ns = SAMPLE_START + 100 + 2000 + 900};
	sample_shape(trace, "_Z1kv", "k()", 1);
	for (unsigned i = 0; i < 3; i++) {
		const gt_id process = sample_process(trace, "rank", 1);
		const gt_id thread = sample_thread(trace, process, 1);
		const gt_id device = sample_device(trace, i == 1 ? -1 : 0, 0);
		const gt_id stream =
			sample_stream(trace, sample_context(trace, process, device), 7);
		const gt_time start_ns = SAMPLE_START + 100 + i * 1000;

		if (i == 2)
			trace->processes.rows[process].host = trace->devices.rows[device].host =
				sample_text(trace, "node2");
		sample_kernel(trace, stream, 0,
		              sample_call(trace, thread, "cudaLaunchKernel", start_ns,
		                          start_ns + 500),
		              start_ns + 600, start_ns + 900);
	}
	sample_finish(trace, SAMPLE_START + 9000);
	trace->clocks.count = 0; /* nothing is known of how their clocks relate */
}

/* A wait across streams and one of the host, both with their arrows. */
static void make_waits(struct gt_trace *trace, struct facts *facts)
{
	static const char *const functions[] = {"cudaEventRecord", "cudaStreamWaitEvent",
	                                        "cudaStreamSynchronize"};
	static const uint32_t kinds[] = {16, 2, 3};
	const gt_time start_ns = SAMPLE_START + 20 * 6000;
	gt_id stream;

	make_launches(trace, facts, 2);
	stream = sample_stream(trace, 0, 8);
	trace->kernels.rows[1].stream = stream;
	*gt_array_push(&trace->events) = (struct gt_event){.number = 4, .records = 2};
	for (unsigned i = 0; i < 3; i++) {
		const gt_time now_ns = start_ns + i * 1000;
		const gt_id call = sample_call(trace, 0, functions[i], now_ns, now_ns + 500);

		sample_sync(trace, i ? stream : 0, call, now_ns, now_ns + 500);
		trace->syncs.rows[i].thread = 0;
		trace->syncs.rows[i].kind = kinds[i];
		trace->syncs.rows[i].event = i < 2 ? 0 : GT_NONE;
		trace->syncs.rows[i].generation = i < 2 ? 2 : 0;
	}
	trace->syncs.rows[1].record = 0;
	*gt_array_push(&trace->edges) = (struct gt_edge){.from_table = GT_TABLE_kernels,
	                                                 .to_table = GT_TABLE_kernels,
	                                                 .to_row = 1,
	                                                 .sync = 1};
	*gt_array_push(&trace->edges) = (struct gt_edge){.from_table = GT_TABLE_kernels,
	                                                 .from_row = 1,
	                                                 .to_table = GT_TABLE_syncs,
	                                                 .to_row = 2,
	                                                 .sync = 2,
	                                                 .kind = GT_EDGE_HOST};
	trace->end_ns = start_ns + 9000;
	facts->last_ns = start_ns + 2500;
	facts->answers = "{\"select count(*) from flow f join gpu_slice a on a.id = f.slice_out"
			 " join gpu_slice b on b.id = f.slice_in where b.ts > a.ts + a.dur\": 1,\n"
			 "  \"select b.name from flow f join gpu_slice a on a.id = f.slice_out"
			 " join slice b on b.id = f.slice_in where b.category = 'api'\":"
			 " \"cudaStreamSynchronize\",\n"
			 "  \"select extract_arg(arg_set_id, 'debug.record_stream') from slice"
			 " where name = 'cudaStreamWaitEvent'\": 7,\n"
			 "  \"select extract_arg(arg_set_id, 'debug.record') from slice"
			 " where name = 'cudaStreamWaitEvent'\": 2,\n"
			 "  \"select extract_arg(arg_set_id, 'debug.sync') from slice"
			 " where name = 'cudaStreamSynchronize'\": \"stream synchronize\"}";
}

/* Waits of a recording without API calls: below the thread. */
static void make_quiet(struct gt_trace *trace, struct facts *facts)
{
	make_waits(trace, facts);
	trace->api_calls.count = 0;
	facts->waits = 3;
	facts->first_ns = trace->kernels.rows[0].start_ns;
	facts->answers = "{\"select count(*) from slice s join track t on t.id = s.track_id"
			 " where t.name = 'CUDA waits'\": 3,\n"
			 "  \"select b.name from flow f join gpu_slice a on a.id = f.slice_out"
			 " join slice b on b.id = f.slice_in where b.category = 'sync'\":"
			 " \"stream synchronize\"}";
}

/* Lines that step, two GPUs, and why the clocks of one were low. */
static void make_telemetry(struct gt_trace *trace, struct facts *facts)
{
	static const char *const others[] = {"energy_mj", "temperature_c",
	                                     "gpu_utilization_percent", "memory_used_bytes",
	                                     "pcie_tx_bytes_per_second"};
	static const struct value_fact power[] = {
		{"power", 11000, "100"}, {"power", 39000, "100"}, {"power", 40000, "150"},
		{"power", 69000, "150"}, {"power", 70000, "200"}, {"power", 99000, "200"},
	};
	struct gt_series *series;

	make_launches(trace, facts, 1);
	sample_device(trace, 2, 1);
	facts->gpus = 3;
	trace->end_ns = SAMPLE_START + 100000;
	series = sample_series(trace, 8, 10, 10000);
	series->count = 9;
	for (unsigned i = 0; i < 9; i++) {
		series->columns[0][i] = 100000 + 50000 * (i / 3); /* at 10, 40 and 70 us */
		series->columns[1][i] = 1980;
		series->columns[2][i] = i >= 3 && i < 6 ? 0x44 : 0;
		for (unsigned j = 0; j < 5; j++)
			series->columns[3 + j][i] = 5e9;
	}
	for (unsigned j = 0; j < 5; j++)
		sample_counter(trace, others[j], GT_COUNTER_GAUGE, 1, 3 + j);
	sample_counter(trace, "power_mw", GT_COUNTER_GAUGE, 0, 0);
	sample_counter(trace, "sm_clock_mhz", GT_COUNTER_GAUGE, 1, 1);
	sample_counter(trace, "throttle_reasons", GT_COUNTER_MASK, 1, 2);
	facts->samples = 6 + 6 * 2;
	facts->last_ns = SAMPLE_START + 70000;
	facts->answers = answers_of(
		power, sizeof(power) / sizeof(power[0]),
		"  \"select count(*) from slice s join track t on t.id = s.track_id where"
		" s.category = 'throttle' and t.name = 'Throttle reasons, GPU #2' and"
		" s.ts = 1000040000 and s.dur = 30000\": 2,\n"
		"  \"select count(distinct group_id) from gpu_counter_group"
		" where name = 'Telemetry'\": 1,\n"
		"  \"select unit from gpu_counter_track where name = 'power'\": \"W\"");
}

/* Hardware counters of two GPUs; of one the samples of some time were lost. */
static void make_counters(struct gt_trace *trace, struct facts *facts)
{
	static const struct value_fact reads[] = {
		{"dram read", 10000, "100"}, {"dram read", 29000, "100"},
		{"dram read", 30000, "300"}, {"dram read", 59000, "300"},
		{"dram read", 60000, "200"}, {"dram read", 99000, "200"},
	};
	static const double rates[] = {100, 100, 300, 300, NAN, 200, 200, 200};

	make_launches(trace, facts, 1);
	sample_device(trace, 2, 1);
	facts->gpus = 3;
	trace->end_ns = SAMPLE_START + 100000;
	for (gt_id device = 0; device < 2; device++) {
		struct gt_series *series = sample_series(trace, 3, 8, 10000);

		for (unsigned i = 0; i < 8; i++) {
			series->columns[0][i] = 10000;
			series->columns[1][i] = device ? rates[i] * 10000 : 5e4;
			series->columns[2][i] = device ? rates[i] / 4 : 7;
		}
		sample_counter(trace, "sample_ns", GT_COUNTER_SPAN, device, 0);
		sample_counter(trace, device ? "dram_read_bytes" : "pcie_read_bytes",
		               GT_COUNTER_SUM, device, 1);
		sample_counter(trace, device ? "dram_throughput_percent" : "sm_active_percent",
		               GT_COUNTER_MEAN, device, 2);
	}
	facts->samples = 2 * 6 + 2 * 2;
	facts->last_ns = SAMPLE_START + 60000;
	facts->answers = answers_of(
		reads, sizeof(reads) / sizeof(reads[0]),
		"  \"select count(*) from slice s join track t on t.id = s.track_id where"
		" s.category = 'gap' and t.name = 'Counters not sampled, GPU #2' and"
		" s.ts = 1000050000 and s.dur = 10000\": 1,\n"
		"  \"select count(distinct group_id) from gpu_counter_group"
		" where name in ('DRAM', 'SM', 'PCIe')\": 3,\n"
		"  \"select unit from gpu_counter_track where name = 'dram throughput'\": \"%\"");
}

/* A step with a launch inside forward, and a copy in the step itself. */
static void make_step(struct gt_trace *trace, gt_id train, gt_time at_ns)
{
	const gt_id step = sample_range(trace, 0, train, "step", at_ns, at_ns + 20000);
	const gt_id forward = sample_range(trace, 0, step, "forward/1", at_ns + 1000, at_ns + 9000);
	gt_id call = sample_call(trace, 0, "cudaLaunchKernel", at_ns + 2000, at_ns + 4000);

	trace->api_calls.rows[call].range = forward;
	sample_kernel(trace, 0, 0, call, at_ns + 30000, at_ns + 36000);
	call = sample_call(trace, 0, "cudaMemcpyAsync", at_ns + 12000, at_ns + 14000);
	trace->api_calls.rows[call].range = step;
	sample_copy(trace, 0, GT_COPY_HOST_TO_DEVICE, call, at_ns + 37000, at_ns + 40000);
}

/* A counter of the program: 1, 2, not known, 4. */
static void add_counter(struct gt_trace *trace)
{
	static const double values[] = {1, 2, NAN, 4};
	struct gt_series *series = sample_series(trace, 1, 4, 20000);

	memcpy(series->columns[0], values, sizeof(values));
	sample_counter(trace, "queue length", GT_COUNTER_GAUGE, GT_NONE, 0);
	trace->counters.rows[trace->counters.count - 1].unit = sample_text(trace, "items");
}

static const char ranges_answers[] =
	"  \"select count(*) from slice where category = 'nvtx' and name = 'step'\": 2,\n"
	"  \"select count(*) from slice s join slice p on p.id = s.parent_id where"
	" s.category = 'nvtx' and s.name = 'forward/1' and p.name = 'step'\": 2,\n"
	"  \"select count(*) from slice s join slice p on p.id = s.parent_id where"
	" s.category = 'api' and p.category = 'nvtx'\": 6,\n"
	"  \"select dur from slice where category = 'nvtx' and name = 'train'\": -1,\n"
	"  \"select count(distinct track_id) from slice where name glob 'async*'\": 2,\n"
	"  \"select extract_arg(arg_set_id, 'debug.payload') from slice"
	" where name = 'async 1'\": 2.5,\n"
	"  \"select extract_arg(arg_set_id, 'debug.domain') from slice"
	" where name = 'async 1'\": \"NCCL\",\n"
	"  \"select extract_arg(arg_set_id, 'debug.color') from slice"
	" where name = 'async 1'\": \"#76b900\",\n"
	"  \"select group_concat(extract_arg(arg_set_id, 'debug.text'), ' ') from slice"
	" where name = 'aten::mm'\": \"aten::mm, op_id = 4 aten::mm, seq = 2, op_id = 9\",\n"
	"  \"select dur from slice where name = 'loss'\": 0,\n"
	"  \"select count(*) from gpu_slice s join track t on t.id = s.track_id where"
	" t.name = 'Stream 7: copies ranges'\": 6,\n"
	"  \"select dur from gpu_slice where extract_arg(arg_set_id, 'path') = 'train/step'"
	" order by ts\": 10000,\n"
	/* viewers show the inner one below the outer one: its lane is a later one */
	"  \"select count(*) from gpu_slice s join gpu_slice p on s.ts >= p.ts and"
	" s.ts + s.dur <= p.ts + p.dur and s.track_id > p.track_id where"
	" extract_arg(s.arg_set_id, 'path') = 'train/step/forward\\\\/1' and"
	" extract_arg(p.arg_set_id, 'path') = 'train/step'\": 2,\n"
	"  \"select distinct extract_arg(arg_set_id, 'kernels') || ' ' ||"
	" extract_arg(arg_set_id, 'copies') || ' ' || extract_arg(arg_set_id, 'busy_ns') || ' ' ||"
	" extract_arg(arg_set_id, 'idle_ns') from gpu_slice where"
	" extract_arg(arg_set_id, 'path') = 'train/step'\": \"1 1 9000 1000\",\n"
	"  \"select count(*) from gpu_slice where extract_arg(arg_set_id, 'range') ="
	" 'train/step/forward\\\\/1'\": 2,\n"
	"  \"select count(*) from gpu_slice where extract_arg(arg_set_id, 'range') ="
	" 'train/replay' and extract_arg(arg_set_id, 'captured_in') = 'train/step'\": 3,\n"
	"  \"select group_concat(c.value, ' ') from counter c join counter_track t"
	" on t.id = c.track_id where t.name = 'queue length'\": \"1.0 2.0 4.0\",\n"
	"  \"select unit from counter_track where name = 'queue length'\": \"items\",\n"
	"  \"select group_concat(name, ', ') from (select distinct name from gpu_track"
	" where name glob 'Stream*' order by name)\":"
	" \"Stream 7: copies, Stream 7: copies ranges\",\n"
	"  \"select name from gpu\": \"NVIDIA H200 #0: trainer\"";

/* Two ranges that overlap on a thread, with a domain, a colour and a payload. */
static void add_started_ranges(struct gt_trace *trace, gt_id thread)
{
	*gt_array_push(&trace->domains) =
		(struct gt_domain){.process = 0, .name = sample_text(trace, "NCCL")};
	for (gt_time i = 0; i < 2; i++) {
		const gt_id range =
			sample_range(trace, thread, i ? trace->ranges.count - 1 : GT_NONE,
		                     i ? "async 2" : "async 1", SAMPLE_START + 120000 + 1000 * i,
		                     SAMPLE_START + 125000 + 1000 * i);

		trace->ranges.rows[range].kind = GT_RANGE_STARTED;
		trace->ranges.rows[range].domain = 0;
		trace->ranges.rows[range].payload_type = 3;
		trace->ranges.rows[range].payload = 0x4004000000000000;
		trace->ranges.rows[range].color = 0xff76b900;
	}
}

/* A graph whose node was captured in range 1, launched in another one: three kernels. */
static void add_replay(struct gt_trace *trace, gt_id train)
{
	gt_id call;

	(void)sample_range(trace, 0, train, "replay", SAMPLE_START + 130000, SAMPLE_START + 140000);
	*gt_array_push(&trace->graph_nodes) = (struct gt_graph_node){
		.made_ns = SAMPLE_START + 29000, .range = 1, .shape = GT_NONE};
	call = sample_call(trace, 0, "cudaGraphLaunch", SAMPLE_START + 131000,
	                   SAMPLE_START + 132000);
	trace->api_calls.rows[call].range = (gt_id)trace->ranges.count - 1;
	for (gt_time i = 0; i < 3; i++) {
		struct gt_kernel *kernel =
			sample_kernel(trace, 0, 0, call, SAMPLE_START + 150000 + 1000 * i,
		                      SAMPLE_START + 150900 + 1000 * i);

		kernel->graph = 5;
		kernel->node = 0;
	}
	(void)sample_call(trace, 0, "cudaDeviceSynchronize", SAMPLE_START + 141000,
	                  SAMPLE_START + 160000);
}

/*
 * NVTX: a range that is open at the end, steps in it whose work runs later, two ranges that overlap
 * and one around them on another thread, a mark, names given to a stream and a GPU, and a graph
 * that was captured in one range and launched in another one.
 */
static void make_ranges(struct gt_trace *trace, struct facts *facts)
{
	gt_id other;
	gt_id train;

	make_launches(trace, facts, 0);
	trace->streams.rows[0].name = sample_text(trace, "copies");
	trace->devices.rows[0].label = sample_text(trace, "trainer");
	other = sample_thread(trace, 0, 4243);
	train = sample_range(trace, 0, GT_NONE, "train", SAMPLE_START + 1000, 0);
	trace->ranges.rows[train].flags = GT_UNFINISHED;
	make_step(trace, train, SAMPLE_START + 10000);
	make_step(trace, train, SAMPLE_START + 60000);
	add_started_ranges(trace, other);
	*gt_array_push(&trace->marks) = (struct gt_mark){
		.start_ns = SAMPLE_START + 15000,
		.end_ns = SAMPLE_START + 15000,
		.range = 1,
		.domain = GT_NONE,
		.text = sample_text(trace, "loss"),
	};
	for (gt_time i = 0; i < 2; i++)
		(void)sample_range(trace, other, GT_NONE,
		                   i ? "aten::mm, seq = 2, op_id = 9" : "aten::mm, op_id = 4",
		                   SAMPLE_START + 127000 + 1000 * i,
		                   SAMPLE_START + 127500 + 1000 * i);
	add_replay(trace, train);
	add_counter(trace);
	facts->kernels = 5;
	facts->threads = 2;
	facts->open_slices = 1;
	facts->samples = 2 * 3 + 1; /* as for copies */
	facts->first_ns = SAMPLE_START + 1000;
	facts->last_ns = SAMPLE_START + 160000;
	facts->answers = answers_of(NULL, 0, ranges_answers);
	trace->end_ns = SAMPLE_START + 170000;
}

/* Statistics of a pool, at 20, 40, 60 and 80 us. */
static void add_pool(struct gt_trace *trace)
{
	static const char *const names[] = {"bytes_in_use", "bytes_reserved", "num_allocs",
	                                    "num_failed"};
	static const double values[][4] = {
		{300, 700, 700, 100}, {1000, 1000, NAN, 2000}, {1, 2, 2, 3}, {0, 0, 0, 0}};
	const gt_id pool = sample_pool(trace, 0, "caching allocator");
	struct gt_series *series = sample_series(trace, 4, 4, 20000);

	for (unsigned i = 0; i < 4; i++) {
		memcpy(series->columns[i], values[i], sizeof(values[i]));
		sample_counter(trace, names[i], GT_COUNTER_GAUGE, 0, i);
		trace->counters.rows[trace->counters.count - 1].pool = pool;
		if (i < 2)
			trace->counters.rows[trace->counters.count - 1].unit =
				sample_text(trace, "bytes");
	}
	sample_block(trace, pool, 300, SAMPLE_START + 15000, SAMPLE_START + 70000);
	sample_block(trace, pool, 400, SAMPLE_START + 30000, SAMPLE_START + 65000);
	sample_block(trace, pool, 100, SAMPLE_START + 62000, 0)->requested_bytes = 90;
}

#define MEMORY_LINE(name)                                                                          \
	"select group_concat(cast(c.value as int), ' ') from (select c.value from"                 \
	" counter c join counter_track t on t.id = c.track_id where t.name = '" name "'"           \
	" order by c.ts, c.id) c"
#define MEMORY_MARK(arg, name)                                                                     \
	"select extract_arg(arg_set_id, 'debug." arg "') from slice"                               \
	" where category = 'memory' and name = '" name "'"

/* clang-format off */
static const char memory_answers[] =
	"  \"" MEMORY_LINE("GPU 0 in use") "\": \"0 1000 1512 512 0\",\n"
	"  \"" MEMORY_LINE("GPU 0 in use: device memory") "\": \"0 1000 0\",\n"
	"  \"" MEMORY_LINE("GPU 0 in use: memory of a pool") "\": \"0 512 0\",\n"
	"  \"" MEMORY_LINE("GPU 0 managed memory") "\": \"0 4096\",\n"
	"  \"" MEMORY_LINE("GPU 0 another process''s memory") "\": \"0 64\",\n"
	"  \"" MEMORY_LINE("Host in use") "\": \"0 2048\",\n"
	"  \"" MEMORY_LINE("GPU 0 caching allocator: in blocks") "\": \"0 300 700 800 400 100\",\n"
	"  \"" MEMORY_LINE("GPU 0 caching allocator: in use") "\": \"300 700 100\",\n"
	"  \"" MEMORY_LINE("GPU 0 caching allocator: reserved") "\": \"1000 2000\",\n"
	"  \"" MEMORY_LINE("GPU 0 caching allocator: allocations") "\": \"1 2 3\",\n"
	"  \"select count(*) from counter_track where name glob '*failed allocations'\": 0,\n"
	"  \"select unit from counter_track where name = 'GPU 0 in use'\": \"bytes\",\n"
	"  \"include perfetto module viz.summary.track_event; select group_concat(name, ', ') from"
	" (select name from _track_event_tracks_ordered_groups where y_axis_share_key = 'memory 0'"
	" order by order_id)\": \"GPU 0 in use, GPU 0 in use: device memory,"
	" GPU 0 in use: memory of a pool, GPU 0 managed memory, GPU 0 another process's memory\",\n"
	"  \"select p.name from track t join track p on p.id = t.parent_id"
	" where t.name = 'Host in use'\": \"Host memory\",\n"
	"  \"select ts from slice where name = 'peak: 1.48 KiB'\": 1000030100,\n"
	"  \"" MEMORY_MARK("allocations", "peak: 1.48 KiB") "\": 2,\n"
	"  \"" MEMORY_MARK("bytes", "peak: 800 B") "\": 800,\n"
	"  \"" MEMORY_MARK("never_freed", "pinned memory 2 KiB") "\": 1,\n"
	"  \"" MEMORY_MARK("at_peak", "device memory 1,000 B") "\": 1,\n"
	"  \"" MEMORY_MARK("library", "device memory 1,000 B") "\": \"libnccl.so.2\",\n"
	"  \"" MEMORY_MARK("range", "device memory 1,000 B") "\": \"load/weights\",\n"
	"  \"" MEMORY_MARK("result", "failed: device memory 12 GiB") "\":"
	" \"cudaErrorMemoryAllocation\",\n"
	"  \"" MEMORY_MARK("in_use_bytes", "failed: device memory 12 GiB") "\": 1512,\n"
	"  \"" MEMORY_MARK("requested_bytes", "allocate 100 B") "\": 90,\n"
	"  \"select b.name from flow f join slice a on a.id = f.slice_out join slice b on"
	" b.id = f.slice_in where a.name = 'device memory 1,000 B'\": \"free 1,000 B\",\n"
	"  \"select extract_arg(arg_set_id, 'debug.memory') || ' ' ||"
	" extract_arg(arg_set_id, 'debug.bytes') from slice where category = 'api' and"
	" name = 'failed: cudaMalloc'\": \"device memory 12884901888\"";
/* clang-format on */

/* Every kind of line, memory that is freed and some that is not, one that failed, and a pool. */
static void make_memory(struct gt_trace *trace, struct facts *facts)
{
	struct gt_allocation *row;
	gt_id load;

	make_launches(trace, facts, 0);
	load = sample_range(trace, 0, GT_NONE, "load", SAMPLE_START + 1000, SAMPLE_START + 90000);
	load = sample_range(trace, 0, load, "weights", SAMPLE_START + 2000, SAMPLE_START + 80000);
	row = sample_allocation(trace, GT_MEMORY_CALL_ALLOCATE, 1000, SAMPLE_START + 10000,
	                        SAMPLE_START + 50000);
	row->library = sample_text(trace, "libnccl.so.2");
	row->range = load;
	row = sample_allocation(trace, GT_MEMORY_CALL_ALLOCATE_MANAGED, 4096, SAMPLE_START + 11000,
	                        0);
	row = sample_allocation(trace, GT_MEMORY_CALL_ALLOCATE_HOST, 2048, SAMPLE_START + 12000, 0);
	row->device = GT_NONE;
	row = sample_allocation(trace, GT_MEMORY_CALL_OPEN_IPC, 64, SAMPLE_START + 13000, 0);
	row = sample_allocation(trace, GT_MEMORY_CALL_ALLOCATE_ORDERED, 512, SAMPLE_START + 30000,
	                        SAMPLE_START + 60000);
	sample_memory_call(trace, "cudaMalloc", GT_MEMORY_CALL_ALLOCATE, 12ull << 30,
	                   SAMPLE_START + 40000)
		->result = 2;
	sample_last_call(trace)->result = 2;
	sample_memory_call(trace, "cudaFree", GT_MEMORY_CALL_FREE, 0, SAMPLE_START + 50000);
	trace->allocations.rows[0].ended_by = (gt_id)trace->memory_calls.count - 1;
	sample_memory_call(trace, "cudaFreeAsync", GT_MEMORY_CALL_FREE_ORDERED, 0,
	                   SAMPLE_START + 60000);
	trace->allocations.rows[4].ended_by = (gt_id)trace->memory_calls.count - 1;
	add_pool(trace);
	trace->end_ns = SAMPLE_START + 100000;
	facts->contexts = 0;
	facts->error_calls = 1;
	facts->first_ns = SAMPLE_START + 1000;
	facts->last_ns = SAMPLE_START + 90000;
	facts->answers = answers_of(NULL, 0, memory_answers);
}

/*
 * Rows that a damaged recording can hold: none may be refused by the importer, or hang the
 * exporter.
 */
static void make_memory_damaged(struct gt_trace *trace, struct facts *facts)
{
	static const gt_time times[] = {INT64_MIN,       -5,       0, SAMPLE_START + 5000,
	                                INT64_MAX - 200, INT64_MAX};
	struct gt_allocation *row;

	make_launches(trace, facts, 3);
	for (unsigned i = 0; i < 36; i++) {
		row = gt_array_push(&trace->allocations);
		*row = (struct gt_allocation){
			.start_ns = times[i / 6],
			.end_ns = times[i % 6],
			.size_bytes = UINT64_MAX - i,
			.process = i % 5 ? 0 : GT_NONE,
			.device = i % 3 ? 0 : 77,
			.made_by = i,
			.ended_by = 1000 + i,
			.range = 99,
			.kind = i,
			.flags = i % 7 ? 0 : GT_UNFINISHED,
		};
		sample_block(trace, i % 4, i ? UINT64_MAX : 0, times[i % 6], times[i / 6]);
		*gt_array_push(&trace->memory_calls) =
			(struct gt_memory_call){.start_ns = times[i / 6],
		                                .end_ns = times[i % 6],
		                                .size_bytes = UINT64_MAX,
		                                .thread = i % 2 ? 0 : 55,
		                                .api_call = i,
		                                .kind = i,
		                                .result = (int32_t)i % 3};
	}
	sample_pool(trace, GT_NONE, "");
	sample_pool(trace, 88, "of no GPU");
	facts->first_ns =
		SAMPLE_START; /* what seems to have been there before is there from the start */
}

enum { MANY = 1000000 };

/* A million allocations of 64 KiB and one of 1 GiB, which is the peak with those around it. */
static void make_memory_many(struct gt_trace *trace, struct facts *facts)
{
	make_launches(trace, facts, 1);
	for (unsigned i = 0; i < MANY; i++) {
		struct gt_allocation *row = gt_array_push(&trace->allocations);
		const gt_time start_ns = SAMPLE_START + 10000 + (gt_time)i * 1000;

		*row = (struct gt_allocation){
			.start_ns = start_ns,
			.end_ns = start_ns + 9500,
			.address = 0x7f0000000000 + ((uint64_t)i << 16),
			.size_bytes = i == 654321 ? 1 << 30 : 1 << 16,
			.made_by = GT_NONE,
			.ended_by = GT_NONE,
			.range = GT_NONE,
			.kind = GT_MEMORY_CALL_ALLOCATE,
			.flags = i % 100000 == 7 ? GT_UNFINISHED : 0,
		};
	}
	trace->end_ns = SAMPLE_START + 10000 + (gt_time)MANY * 1000 + 20000;
	/* The last mark is of the last one that was never freed. */
	facts->last_ns = SAMPLE_START + 10000 + (gt_time)900007 * 1000;
	facts->answers =
		"{\"select cast(max(c.value) as int) from counter c join counter_track t on t.id = c.track_id"
		" where t.name = 'GPU 0 in use'\": 1074790400,\n"
		"  \"select cast(c.value as int) from counter c join counter_track t on t.id = c.track_id"
		" where t.name = 'GPU 0 in use' order by c.ts desc limit 1\": 655360,\n"
		"  \"select count(*) between 20000 and 30002 from counter c join counter_track t"
		" on t.id = c.track_id where t.name = 'GPU 0 in use'\": 1,\n"
		"  \"select ts from slice where name = 'peak: 1.00 GiB'\": 1654331000,\n"
		"  \"select count(*) from slice where category = 'memory' and"
		" extract_arg(arg_set_id, 'debug.never_freed') = 1\": 10,\n"
		"  \"select count(*) from slice where category = 'memory' and"
		" extract_arg(arg_set_id, 'debug.at_peak') = 1 and name glob 'device*'\": 17,\n"
		"  \"select count(*) < 12000 from slice where category = 'memory'\": 1}";
}

/* A mark, values, one of them told by two blocks, and a range without an end. */
static void add_told(struct gt_trace *trace)
{
	struct gt_device_event *row;
	const double real = 0.5;

	sample_device_event(trace, GT_DEVICE_MARK, "ready", 5, 2, SAMPLE_START + 4900,
	                    SAMPLE_START + 4900);
	row = sample_device_event(trace, GT_DEVICE_INT, "depth", 5, 2, SAMPLE_START + 4950,
	                          SAMPLE_START + 4950);
	row->value = (uint64_t)-3;
	row = sample_device_event(trace, GT_DEVICE_REAL, "loss", 5, 2, SAMPLE_START + 4960,
	                          SAMPLE_START + 4960);
	memcpy(&row->value, &real, sizeof(real));
	row = sample_device_event(trace, GT_DEVICE_RANGE, "wait", 5, 2, SAMPLE_START + 4970,
	                          SAMPLE_START + 4970);
	row->flags = GT_DEVICE_NO_END | GT_DEVICE_BY_TIME;
	sample_device_event(trace, GT_DEVICE_INT, "tiles done", 5, 2, SAMPLE_START + 4980,
	                    SAMPLE_START + 4980);
	sample_device_event(trace, GT_DEVICE_INT, "tiles done", 0, 3, SAMPLE_START + 4990,
	                    SAMPLE_START + 4990);
}

static const char device_answers[] =
	"{\"select count(*) from slice where category = 'device_event' and dur > 0\": 8,\n"
	"  \"select count(*) from slice s join slice p on p.id = s.parent_id where"
	" s.name = 'load' and p.name = 'tile' and s.dur = 600 and p.dur = 600\": 4,\n"
	"  \"select group_concat(name, ', ') from (select distinct t.name from slice s"
	" join track t on t.id = s.track_id where s.category = 'device_event'"
	" order by t.name)\": \"SM 0, SM 5\",\n"
	"  \"select count(distinct s.track_id) from slice s"
	" where s.category = 'device_event'\": 3,\n"
	"  \"select count(distinct s.track_id) from slice s where s.name = 'tile' and"
	" extract_arg(s.arg_set_id, 'debug.block') in (0, 3)\": 1,\n"
	"  \"select distinct p.name from slice s join track t on t.id = s.track_id"
	" join track p on p.id = t.parent_id where s.category = 'device_event'\":"
	" \"SMs of NVIDIA H200 #0 (device events)\",\n"
	"  \"select distinct extract_arg(arg_set_id, 'debug.kernel') from slice"
	" where name = 'tile'\": \"saxpy(int, float, float*, float*)\",\n"
	"  \"select extract_arg(arg_set_id, 'debug.value') from slice"
	" where name = 'depth'\": -3,\n"
	"  \"select extract_arg(arg_set_id, 'debug.value') * 10 from slice"
	" where name = 'loss'\": 5,\n"
	"  \"select cast(c.value as int) from counter c join track t on t.id = c.track_id"
	" join track p on p.id = t.parent_id where t.name = 'depth' and"
	" p.name glob 'SMs of *'\": -3,\n"
	"  \"select count(*) from track where name = 'tiles done'\": 0,\n"
	"  \"select extract_arg(arg_set_id, 'debug.missing') from slice"
	" where name = 'wait'\": \"its end\"}";

/*
 * Blocks 0 and 1 on SM 0 at the same time, block 2 on SM 5, block 3 on SM 0 behind block 0: each
 * loads inside of a tile that ends when the load does.
 */
static void make_device_events(struct gt_trace *trace, struct facts *facts)
{
	static const struct {
		gt_count sm;
		gt_time start_ns;
	} blocks[] = {{0, 3600}, {0, 3700}, {5, 3800}, {0, 4200}};

	make_launches(trace, facts, 1);
	for (gt_count i = 0; i < 4; i++) {
		const gt_time start_ns = SAMPLE_START + blocks[i].start_ns;
		const gt_id tile = (gt_id)trace->device_events.count;

		sample_device_event(trace, GT_DEVICE_RANGE, "tile", blocks[i].sm, i, start_ns,
		                    start_ns + 600);
		sample_device_event(trace, GT_DEVICE_RANGE, "load", blocks[i].sm, i, start_ns,
		                    start_ns + 600)
			->parent = tile;
	}
	add_told(trace);
	facts->answers = device_answers;
}

enum { MANY_EVENTS = 250000, EVENT_NS = 1000 };

/* Two blocks load for the first half of a long launch and compute for the other, in small pieces. */
static void make_device_events_many(struct gt_trace *trace, struct facts *facts)
{
	gt_time now_ns = SAMPLE_START + 3500;

	make_launches(trace, facts, 1);
	for (unsigned i = 0; i < MANY_EVENTS; i += 2) {
		for (gt_count block = 0; block < 2; block++)
			sample_device_event(trace, GT_DEVICE_RANGE,
			                    i < MANY_EVENTS / 2 ? "load" : "compute", block, block,
			                    now_ns, now_ns + EVENT_NS);
		now_ns += EVENT_NS;
	}
	trace->kernels.rows[0].end_ns = now_ns;
	trace->end_ns = now_ns;
	facts->last_ns = now_ns;
	facts->answers =
		"{\"select count(*) from slice where category = 'device_event'\": 0,\n"
		"  \"select name from track where name glob 'SMs of *'\":"
		" \"SMs of NVIDIA H200 #0 (250000 device events, too many for slices)\",\n"
		"  \"select cast(max(c.value) as int) from counter c join track t"
		" on t.id = c.track_id where t.name = 'writers in load'\": 2,\n"
		"  \"select count(*) < 10 from counter c join track t on t.id = c.track_id"
		" where t.name = 'writers in load'\": 1,\n"
		"  \"select cast(c.value as int) from counter c join track t on t.id = c.track_id"
		" where t.name = 'writers in compute' order by c.ts desc limit 1\": 0,\n"
		"  \"select cast(c.value as int) from counter c join track t on t.id = c.track_id"
		" where t.name = 'writers in compute' and c.ts < 1100000000"
		" order by c.ts desc limit 1\": 2}";
}

/* Events that a damaged recording can hold. */
static void make_device_events_damaged(struct gt_trace *trace, struct facts *facts)
{
	static const gt_time times[] = {INT64_MIN,           -5,       0, SAMPLE_START + 4000,
	                                SAMPLE_START + 5000, INT64_MAX};

	make_launches(trace, facts, 1);
	for (unsigned i = 0; i < 72; i++)
		*gt_array_push(&trace->device_events) = (struct gt_device_event){
			.start_ns = times[i / 12],
			.end_ns = times[i % 5],
			.value = UINT64_MAX - i,
			.process = i % 5 ? 0 : GT_NONE,
			.device = i % 7 ? 0 : 88,
			.kernel = i % 3 ? 0 : 1000 + i,
			.parent = i % 4 ? GT_NONE : i / 2,
			.name = i % 6 ? 0 : 1000000,
			.kind = i % 6,
			.sm = i * 0x3000001,
			.block = i % 9,
			.flags = i % 8,
		};
}

static const struct {
	const char *name;
	void (*make)(struct gt_trace *trace, struct facts *facts);
} cases[] = {
	{"empty", make_empty},
	{"plain", make_plain},
	{"loop", make_loop},
	{"crowd", make_crowd},
	{"unfinished", make_unfinished},
	{"errors", make_errors},
	{"graph", make_graph},
	{"giant", make_giant},
	{"nested", make_nested},
	{"twins", make_twins},
	{"waits", make_waits},
	{"quiet", make_quiet},
	{"telemetry", make_telemetry},
	{"counters", make_counters},
	{"copies", make_copies},
	{"load", make_load},
	{"ranges", make_ranges},
	{"modules", make_modules},
	{"memory", make_memory},
	{"memory-damaged", make_memory_damaged},
	{"memory-many", make_memory_many},
	{"device-events", make_device_events},
	{"device-events-many", make_device_events_many},
	{"device-events-damaged", make_device_events_damaged},
};

/* Compressed as the format does it by itself, or not at all. */
static int export_as(const struct gt_trace *trace, const char *format, const char *path,
                     bool uncompressed, struct gt_export_counts *counts)
{
	const struct gt_export_options options = {
		.compression = uncompressed ? GT_COMPRESSION_NONE : GT_COMPRESSION_DEFAULT};
	const struct gt_view view = gt_view_of(trace);
	struct gt_target target = {.path = path};
	struct gt_error err = {0};
	FILE *out = fopen(path, "wb");
	int result;

	if (!out) {
		perror(path);
		return -1;
	}
	target.sink = gt_file_sink(out);
	result = gt_exporter_find(format)->write(&view, &options, &target, counts, &err);
	if (result < 0)
		fprintf(stderr, "%s: %s\n", path, err.text);
	if (fclose(out) != 0 && result == 0) {
		perror(path);
		result = -1;
	}
	return result;
}

static int write_facts(const char *path, const struct facts *facts,
                       const struct gt_export_counts *counts)
{
	FILE *out = fopen(path, "w");

	if (!out) {
		perror(path);
		return -1;
	}
	fprintf(out,
	        "{\"gpu_slices\": %llu, \"api_slices\": %llu, \"arrows\": %llu, \"skipped\": %llu,\n"
	        " \"range_slices\": %llu, \"memory_marks\": %llu, \"memory_values\": %llu,\n"
	        " \"host_arrows\": %llu, \"device_slices\": %llu,\n"
	        " \"contexts\": %u, \"processes\": %u, \"threads\": %u, \"kernels\": %u, \"gpus\": %u,\n"
	        " \"open_slices\": %u, \"waits\": %u, \"samples\": %u, \"error_calls\": %u,\n"
	        " \"first_ns\": %lld, \"last_ns\": %lld,\n \"answers\": %s}\n",
	        (unsigned long long)counts->gpu_slices, (unsigned long long)counts->api_slices,
	        (unsigned long long)counts->arrows, (unsigned long long)counts->skipped,
	        (unsigned long long)counts->range_slices, (unsigned long long)counts->memory_marks,
	        (unsigned long long)counts->memory_values, (unsigned long long)counts->host_arrows,
	        (unsigned long long)counts->device_slices, facts->contexts, facts->processes,
	        facts->threads, facts->kernels, facts->gpus, facts->open_slices, facts->waits,
	        facts->samples, facts->error_calls, (long long)facts->first_ns,
	        (long long)facts->last_ns, facts->answers ? facts->answers : "{}");
	return fclose(out);
}

static int make(size_t which, const char *path)
{
	struct gt_trace trace;
	struct facts facts = {0};
	struct gt_export_counts counts;
	char other[4096];
	int result;

	gt_trace_init(&trace);
	cases[which].make(&trace, &facts);
	snprintf(other, sizeof(other), "%s.chrome.json", path);
	result = export_as(&trace, "chrome", other, false, &counts);
	snprintf(other, sizeof(other), "%s.plain", path);
	if (result == 0)
		result = export_as(&trace, "perfetto", other, true, &counts);
	if (result == 0)
		result = export_as(&trace, "perfetto", path, false, &counts);
	snprintf(other, sizeof(other), "%s.json", path);
	if (result == 0)
		result = write_facts(other, &facts, &counts);
	gt_trace_release(&trace);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc == 1)
			puts(cases[i].name);
		else if (argc == 3 && strcmp(argv[1], cases[i].name) == 0)
			return make(i, argv[2]);
	}
	if (argc == 1)
		return EXIT_SUCCESS;
	fprintf(stderr, "usage: make_trace CASE FILE\n");
	return 2;
}
