/* SPDX-License-Identifier: Apache-2.0 */
/* gt_exporter_chrome; tests/golden/check_chrome.py has real JSON parsers read real recordings. */
#include "support/check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "exporters/chrome/chars.h"
#include "exporters/read.h"
#include "exporters/sample.h"

static struct gt_trace trace;
static char *json;
static struct gt_export_counts counts;

/* A process with a GPU, number 2 of the machine, a stream, a shape and a thread. */
static void make(void)
{
	gt_id process;

	gt_trace_init(&trace);
	process = sample_process(&trace, "app", 50);
	sample_thread(&trace, process, 51);
	sample_stream(&trace, sample_context(&trace, process, sample_device(&trace, 2, 0)), 7);
	sample_shape(&trace, "_Z4stepv", "step()", 66);
}

static void drop(void)
{
	free(json);
	json = NULL;
	gt_trace_release(&trace);
}

TestSuite(chrome, .init = make, .fini = drop);

static void write_as(const struct gt_view *view, const struct gt_export_options *options)
{
	const struct file file = export_as(view, "chrome", options);

	json = realloc(file.bytes, file.size + 1);
	json[file.size] = '\0';
	counts = file.counts;
}

static void write_all(void)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_DEFAULT};
	struct gt_view view;

	sample_finish(&trace, SAMPLE_START + 900000);
	view = gt_view_of(&trace);
	write_as(&view, &options);
}

static void expect_line(const char *line)
{
	cr_expect(strstr(json, line) != NULL, "no %s in\n%s", line, json);
}

static void expect_nothing_of(const char *text)
{
	cr_expect(strstr(json, text) == NULL, "%s in\n%s", text, json);
}

/* With a blank, which Holistic Trace Analysis looks for. */
Test(chrome, says_the_rank_of_its_processes)
{
	write_all();
	expect_nothing_of("distributedInfo");
	free(json);
	trace.processes.rows[0].environment = sample_text(&trace, "RANK=3\nWORLD_SIZE=8\n");
	write_all();
	expect_line("\"distributedInfo\":{\"rank\": 3,\"world_size\":8}");
}

Test(chrome, shows_a_launch_as_pytorch_does)
{
	const gt_id call = sample_call(&trace, 0, "cudaLaunchKernel", SAMPLE_START + 1000,
	                               SAMPLE_START + 3500);
	struct gt_kernel *kernel =
		sample_kernel(&trace, 0, 0, call, SAMPLE_START + 4000, SAMPLE_START + 5234);

	trace.api_calls.rows[call].correlation = kernel->correlation = 17;
	write_all();
	expect_line("{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\","
	            "\"pid\":50,\"tid\":51,\"ts\":1.000,\"dur\":2.500,"
	            "\"args\":{\"External id\":17,\"correlation\":17}}");
	/* 66 x 2 blocks of 128 threads on 132 processors: one each, of the 16 that fit. */
	expect_line("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"step()\",\"pid\":2,\"tid\":7,"
	            "\"ts\":4.000,\"dur\":1.234,\"args\":{\"External id\":17,\"device\":2,"
	            "\"context\":1,\"stream\":7,\"correlation\":17,\"registers per thread\":32,"
	            "\"shared memory\":1280,\"blocks per SM\":1,\"warps per SM\":4,"
	            "\"grid\":[66,2,1],\"block\":[128,1,1],\"est. achieved occupancy %\":6}}");
	expect_line("{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,\"pid\":50,"
	            "\"tid\":51,\"ts\":1.000}");
	expect_line("{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,\"pid\":2,"
	            "\"tid\":7,\"ts\":4.000,\"bp\":\"e\"}");
	cr_expect(counts.gpu_slices == 1 && counts.api_slices == 1 && counts.arrows == 1);
	cr_expect(counts.raw_bytes == strlen(json));
}

/* A kernel in the body of a conditional node has no number of its own; another call's is kept. */
Test(chrome, gives_a_kernel_without_a_number_that_of_its_launch)
{
	const gt_id call =
		sample_call(&trace, 0, "cudaGraphLaunch", SAMPLE_START + 1000, SAMPLE_START + 3500);

	trace.api_calls.rows[call].correlation = 31;
	sample_kernel(&trace, 0, 0, call, SAMPLE_START + 4000, SAMPLE_START + 5000)->correlation =
		0;
	sample_kernel(&trace, 0, 0, call, SAMPLE_START + 5000, SAMPLE_START + 6000)->correlation =
		32;
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 6000, SAMPLE_START + 7000)->correlation =
		0;
	write_all();
	expect_line("\"ts\":4.000,\"dur\":1.000,\"args\":{\"External id\":31,\"device\":2,"
	            "\"context\":1,\"stream\":7,\"correlation\":31,");
	expect_line("\"ts\":5.000,\"dur\":1.000,\"args\":{\"External id\":32,");
	expect_line("\"ts\":6.000,\"dur\":1.000,\"args\":{\"External id\":0,");
}

Test(chrome, says_which_launches_were_profiled)
{
	const gt_id call =
		sample_call(&trace, 0, "cuLaunchKernel", SAMPLE_START + 1000, SAMPLE_START + 9000);

	sample_last_call(&trace)->flags = GT_DRIVER_API | GT_PROFILED;
	sample_kernel(&trace, 0, 0, call, SAMPLE_START + 4000, SAMPLE_START + 5000)->flags =
		GT_PROFILED;
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 10000, SAMPLE_START + 11000);
	write_all();
	expect_line("\"args\":{\"External id\":1,\"correlation\":1,\"profiled\":1}}");
	expect_line("\"est. achieved occupancy %\":6,\"profiled\":1}}");
	expect_line("\"est. achieved occupancy %\":6}}");
}

Test(chrome, counts_blocks_on_the_multiprocessors_of_a_green_context)
{
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 4000, SAMPLE_START + 5234);
	trace.contexts.rows[trace.streams.rows[0].context].sm_count = 33;
	write_all();
	cr_expect(strstr(json, "\"blocks per SM\":4,\"warps per SM\":16,") != NULL, "%s", json);
}

/* One launch shape on all of a GPU, then in a green context of it. */
Test(chrome, counts_blocks_on_those_of_the_context_that_launched)
{
	sample_stream(&trace, sample_context(&trace, 0, 0), 8);
	trace.contexts.rows[trace.streams.rows[1].context].sm_count = 33;
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 4000, SAMPLE_START + 5000);
	sample_kernel(&trace, 1, 0, GT_NONE, SAMPLE_START + 6000, SAMPLE_START + 7000);
	write_all();
	expect_line("\"blocks per SM\":1,\"warps per SM\":4,");
	expect_line("\"blocks per SM\":4,\"warps per SM\":16,");
}

Test(chrome, names_copies_and_fills_by_their_memory)
{
	struct gt_copy *copy = sample_copy(&trace, 0, GT_COPY_HOST_TO_DEVICE, GT_NONE,
	                                   SAMPLE_START + 100, SAMPLE_START + 1124);

	copy->dst_kind = GT_MEMORY_DEVICE_STATIC;
	sample_fill(&trace, 0, GT_NONE, SAMPLE_START + 2000, SAMPLE_START + 4048);
	write_all();
	expect_line("\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> Device Static)\"");
	expect_line("\"bytes\":1048576,\"memory bandwidth (GB/s)\":1024}");
	expect_line("\"cat\":\"gpu_memset\",\"name\":\"Memset (Device)\"");
	expect_line("\"bytes\":4096,\"memory bandwidth (GB/s)\":2}");
	expect_nothing_of("ac2g");
}

Test(chrome, says_what_the_gpu_is_and_when_its_times_begin)
{
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);
	write_all();
	expect_line(
		"{\"schemaVersion\":1,\"deviceProperties\":[\n{\"id\":2,\"name\":\"NVIDIA H200\","
		"\"totalGlobalMem\":150754820096,\"computeMajor\":9,\"computeMinor\":0,");
	expect_line("\"numSms\":132,");
	expect_line("\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":1700000001000000000,");
	expect_line("\"name\":\"process_name\",\"ts\":0.000,\"pid\":50,\"tid\":0,"
	            "\"args\":{\"name\":\"app\"}}");
	expect_line("\"pid\":2,\"tid\":0,\"args\":{\"labels\":\"GPU 2\"}}");
	expect_line("\"name\":\"thread_name\",\"ts\":0.000,\"pid\":2,\"tid\":7,"
	            "\"args\":{\"name\":\"stream 7\"}}");
}

Test(chrome, escapes_what_cannot_stand_in_json)
{
	trace.launch_shapes.rows[0].demangled =
		sample_text(&trace, "a\"b\\c\n\x01 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80|\xff|"
	                            "\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82");
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);
	write_all();
	expect_line("\"name\":\"a\\\"b\\\\c\\u000a\\u0001 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80|"
	            "\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|"
	            "\\ufffd\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\"");
}

Test(chrome, gives_kernels_of_one_stream_that_overlap_threads_of_their_own)
{
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 300);
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 200, SAMPLE_START + 400);
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 300, SAMPLE_START + 500);
	write_all();
	expect_line("\"tid\":7,\"ts\":0.100,");
	expect_line("\"tid\":16777216,\"ts\":0.200,");
	expect_line("\"tid\":7,\"ts\":0.300,");
	expect_line("\"tid\":16777216,\"args\":{\"name\":\"stream 7\"}}");
}

/* Each has a call 5 and a stream 7 on the GPU, and one is process 2 of its container. */
Test(chrome, keeps_two_processes_on_one_gpu_apart)
{
	const gt_id other = sample_process(&trace, "rank", 2);

	sample_thread(&trace, other, 3);
	sample_stream(&trace, sample_context(&trace, other, 0), 7);
	for (gt_id i = 0; i < 2; i++) {
		const gt_id call = sample_call(&trace, i, "cudaLaunchKernel", SAMPLE_START + 100,
		                               SAMPLE_START + 200);

		sample_kernel(&trace, i, 0, call, SAMPLE_START + 300, SAMPLE_START + 400)
			->correlation = 5;
		trace.api_calls.rows[call].correlation = 5;
	}
	write_all();
	expect_line("\"pid\":50,\"tid\":51,\"ts\":0.100,\"dur\":0.100,"
	            "\"args\":{\"External id\":5,\"correlation\":5}}");
	expect_line("\"pid\":8388610,\"tid\":3,\"ts\":0.100,\"dur\":0.100,"
	            "\"args\":{\"External id\":4294967301,\"correlation\":4294967301}}");
	expect_line("\"pid\":2,\"tid\":7,\"ts\":0.300,\"dur\":0.100,\"args\":{\"External id\":5,");
	expect_line(
		"\"pid\":2,\"tid\":16777216,\"ts\":0.300,\"dur\":0.100,"
		"\"args\":{\"External id\":4294967301,\"device\":2,\"context\":1,\"stream\":7,");
	expect_line("\"args\":{\"name\":\"stream 7 (rank 2)\"}}");
}

/* Each GPU has a stream 7: only a second one of the same GPU gets another number. */
Test(chrome, gives_streams_of_several_gpus_their_own_numbers)
{
	sample_stream(&trace, sample_context(&trace, 0, sample_device(&trace, 5, 1)), 7);
	sample_stream(&trace, sample_context(&trace, 0, 1), 7);
	for (gt_id i = 0; i < 3; i++)
		sample_kernel(&trace, i, 0, GT_NONE, SAMPLE_START + 100 + 100 * i,
		              SAMPLE_START + 200 + 100 * i);
	write_all();
	expect_line("\"pid\":2,\"tid\":7,\"ts\":0.100,");
	expect_line("\"pid\":5,\"tid\":7,\"ts\":0.200,");
	expect_line("\"pid\":5,\"tid\":16777216,\"ts\":0.300,");
	expect_line("{\"ph\":\"M\",\"name\":\"thread_name\",\"ts\":0.000,\"pid\":5,\"tid\":7,"
	            "\"args\":{\"name\":\"stream 7\"}}");
}

Test(chrome, makes_calls_of_a_thread_lie_in_each_other_or_behind)
{
	sample_call(&trace, 0, "cudaMemcpy", SAMPLE_START + 100, SAMPLE_START + 500);
	sample_call(&trace, 0, "cuMemcpyHtoD", SAMPLE_START + 200, SAMPLE_START + 501);
	sample_last_call(&trace)->flags = GT_NESTED | GT_DRIVER_API;
	sample_call(&trace, 0, "cudaFree", SAMPLE_START + 499, SAMPLE_START + 700);
	sample_call(&trace, 0, "cudaDeviceSynchronize", SAMPLE_START + 800, 0);
	sample_last_call(&trace)->flags = GT_UNFINISHED;
	write_all();
	expect_line("\"cat\":\"cuda_driver\",\"name\":\"cuMemcpyHtoD\",\"pid\":50,\"tid\":51,"
	            "\"ts\":0.200,\"dur\":0.300,");
	expect_line("\"name\":\"cudaFree\",\"pid\":50,\"tid\":51,\"ts\":0.500,\"dur\":0.200,");
	expect_line("{\"ph\":\"B\",\"cat\":\"cuda_runtime\",\"name\":\"cudaDeviceSynchronize\","
	            "\"pid\":50,\"tid\":51,\"ts\":0.800,\"args\"");
}

Test(chrome, says_which_calls_failed)
{
	sample_call(&trace, 0, "cudaMalloc", SAMPLE_START + 100, SAMPLE_START + 500);
	sample_last_call(&trace)->result = 2;
	sample_call(&trace, 0, "cudaEventQuery", SAMPLE_START + 600, SAMPLE_START + 700);
	sample_last_call(&trace)->result = 600;
	write_all();
	expect_line("\"correlation\":1,\"code\":2,\"result\":\"cudaErrorMemoryAllocation\"}}");
	expect_nothing_of("cudaErrorNotReady");
}

Test(chrome, counts_what_has_no_place_in_time)
{
	sample_kernel(&trace, 0, 0, GT_NONE, 0, 0)->flags = GT_UNFINISHED;
	sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100, SAMPLE_START + 200);
	sample_call(&trace, 77, "cudaMalloc", SAMPLE_START + 100, SAMPLE_START + 500);
	write_all();
	cr_expect(counts.gpu_slices == 1 && counts.api_slices == 0 && counts.skipped == 2);
}

Test(chrome, can_leave_out_calls_and_says_what_it_was_restricted_to)
{
	const struct gt_export_options options = {.without_calls = true};
	struct gt_view view;

	sample_kernel(&trace, 0, 0,
	              sample_call(&trace, 0, "cudaLaunchKernel", SAMPLE_START + 10,
	                          SAMPLE_START + 20),
	              SAMPLE_START + 100, SAMPLE_START + 200);
	sample_finish(&trace, SAMPLE_START + 900);
	view = gt_view_of(&trace);
	view.restriction = "--stream \"7\"";
	write_as(&view, &options);
	cr_expect(counts.gpu_slices == 1 && counts.api_slices == 0 && counts.arrows == 0);
	expect_nothing_of("cudaLaunchKernel");
	expect_line("\"restricted_to\":\"--stream \\\"7\\\"\"");
}

Test(chrome, compresses_to_the_same_text)
{
	const struct gt_export_options plain = {.compression = GT_COMPRESSION_NONE};
	const struct gt_export_options gzip = {.compression = GT_COMPRESSION_GZIP};
	struct gt_view view;
	struct file text;
	struct file packed;
	z_stream zlib = {0};
	char *bytes;

	for (unsigned i = 0; i < 20000; i++)
		sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 100 + i * 10,
		              SAMPLE_START + 105 + i * 10);
	sample_finish(&trace, SAMPLE_START + 900000);
	view = gt_view_of(&trace);
	text = export_as(&view, "chrome", &plain);
	packed = export_as(&view, "chrome", &gzip);
	cr_assert(packed.size < text.size / 10 && packed.counts.raw_bytes == text.size);
	bytes = malloc(text.size);
	zlib.next_in = (unsigned char *)packed.bytes;
	zlib.avail_in = (unsigned)packed.size;
	zlib.next_out = (unsigned char *)bytes;
	zlib.avail_out = (unsigned)text.size;
	cr_assert(inflateInit2(&zlib, 15 + 16) == Z_OK);
	cr_expect(inflate(&zlib, Z_FINISH) == Z_STREAM_END && zlib.avail_in == 0);
	cr_expect(zlib.avail_out == 0 && memcmp(bytes, text.bytes, text.size) == 0);
	inflateEnd(&zlib);
	free(bytes);
	free(text.bytes);
	free(packed.bytes);
}

static int fail_to_write(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return -ENOSPC;
}

Test(chrome, says_so_when_the_disk_is_full)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_GZIP};
	const struct gt_target target = {.sink = {.write = fail_to_write}};
	struct gt_error err = {0};
	struct gt_view view;

	sample_finish(&trace, SAMPLE_START + 900);
	view = gt_view_of(&trace);
	cr_expect(gt_exporter_find("chrome")->write(&view, &options, &target, NULL, &err) ==
	          -ENOSPC);
	cr_expect(strstr(err.text, "cannot write the trace") != NULL);
}

/* Times and numbers of damaged recordings can be anything. */
Test(chrome, survives_rows_that_point_nowhere)
{
	const gt_id call = sample_call(&trace, 0, "cudaLaunchKernel", 5, INT64_MAX);

	sample_kernel(&trace, 0, 0, call, 1, INT64_MAX);
	sample_kernel(&trace, 0, 0, 999, INT64_MAX - 2, INT64_MAX);
	trace.kernels.rows[0].device = 999;
	trace.contexts.rows[0].device = 0;
	trace.devices.rows[0].sm_count = 0;
	trace.devices.rows[0].warp_size = 0;
	sample_call(&trace, 0, "cudaFree", 7, 9);
	for (unsigned i = 0; i < 200; i++)
		sample_kernel(&trace, 0, 0, GT_NONE, INT64_MAX - 2, INT64_MAX - 1);
	write_all();
	cr_expect(counts.gpu_slices == 202);
}

Test(chars, write_numbers_as_json_wants_them)
{
	struct gt_chars chars = {{0}};

	gt_chars_add_number(&chars, INT64_MIN);
	gt_chars_add(&chars, " ");
	gt_chars_add_us(&chars, -1);
	gt_chars_add(&chars, " ");
	gt_chars_add_us(&chars, INT64_MAX);
	gt_chars_add(&chars, " ");
	gt_chars_add_real(&chars, 1.0 / 3);
	gt_chars_add(&chars, " ");
	gt_chars_add_real(&chars, 0.0 / 0.0);
	gt_chars_add_bytes(&chars, "", 1);
	expect_text(chars.text.rows,
	            "-9223372036854775808 -0.001 9223372036854775.807 0.333333 null");
	gt_array_release(&chars.text);
}

Test(chrome, is_chosen_by_the_name_of_a_file)
{
	cr_expect(gt_exporter_for_file("a/x.json") == gt_exporter_find("chrome"));
	cr_expect(gt_exporter_for_file("a/x.json.gz") == gt_exporter_find("chrome"));
	cr_expect(gt_exporter_for_file("x.perfetto") == gt_exporter_find("perfetto"));
	cr_expect(gt_exporter_for_file("x.perfetto.gz") == NULL);
	cr_expect(gt_exporter_for_file("x.gz") == NULL);
	cr_expect(gt_exporter_for_file("json") == NULL);
}

/* A step with a launch in it, whose kernel runs later. */
static void make_step(void)
{
	const gt_id step =
		sample_range(&trace, 0, GT_NONE, "step", SAMPLE_START + 1000, SAMPLE_START + 5000);
	const gt_id call = sample_call(&trace, 0, "cudaLaunchKernel", SAMPLE_START + 2000,
	                               SAMPLE_START + 3500);

	trace.api_calls.rows[call].range = step;
	sample_kernel(&trace, 0, 0, call, SAMPLE_START + 6000, SAMPLE_START + 7500);
}

Test(chrome, shows_ranges_as_pytorch_does)
{
	make_step();
	write_all();
	expect_line("{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step\",\"pid\":50,"
	            "\"tid\":51,\"ts\":1.000,\"dur\":4.000,"
	            "\"args\":{\"kind\":\"nvtx\",\"path\":\"step\"}}");
	expect_line("{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"step\",\"pid\":2,"
	            "\"tid\":7,\"ts\":6.000,\"dur\":1.500,"
	            "\"args\":{\"kind\":\"nvtx\",\"path\":\"step\"}}");
	expect_line(",\"range\":\"step\"}}");
	cr_expect(eq(u64, counts.range_slices, 2));
}

static void call_range(const char *text)
{
	trace.ranges.rows[0].text = sample_text(&trace, text);
}

/* The numbers that emit_nvtx writes are no part of the name; on GPUs an operation has no slice. */
Test(chrome, shows_operations_of_pytorch_as_its_profiler_does)
{
	make_step();
	call_range("aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], [3, 2]]");
	write_all();
	expect_line("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":50,"
	            "\"tid\":51,\"ts\":1.000,\"dur\":4.000,"
	            "\"args\":{\"kind\":\"nvtx\",\"Sequence number\":12,\"path\":");
	cr_expect(eq(u64, counts.range_slices, 1));
}

/* PyTorch itself names the step of an optimizer as programs name what they do. */
Test(chrome, shows_steps_of_optimizers_as_ranges_of_the_program)
{
	make_step();
	call_range("Optimizer.step#AdamW.step, op_id = 7449");
	write_all();
	expect_line("{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
	            "\"Optimizer.step#AdamW.step\",\"pid\":50,");
	expect_line("{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":"
	            "\"Optimizer.step#AdamW.step\",\"pid\":2,");
	cr_expect(eq(u64, counts.range_slices, 2));
}

Test(chrome, shows_ranges_that_overlap_as_asynchronous_events)
{
	make_step();
	(void)sample_range(&trace, 0, 0, "async", SAMPLE_START + 4000, SAMPLE_START + 8000);
	trace.ranges.rows[1].kind = GT_RANGE_STARTED;
	write_all();
	expect_line(
		"{\"ph\":\"b\",\"cat\":\"user_annotation\",\"name\":\"async\",\"id2\":{\"local\":\"2\"},"
		"\"pid\":50,\"tid\":51,\"ts\":4.000,"
		"\"args\":{\"kind\":\"nvtx\",\"path\":\"step/async\"}}");
	expect_line(
		"{\"ph\":\"e\",\"cat\":\"user_annotation\",\"name\":\"async\",\"id2\":{\"local\":\"2\"},"
		"\"pid\":50,\"tid\":51,\"ts\":8.000}");
}

/* A kernel that a range of its own launched. */
static void add_step(const char *name, gt_id stream, gt_time call_ns, gt_time start_ns,
                     gt_time end_ns)
{
	const gt_id step = sample_range(&trace, 0, GT_NONE, name, SAMPLE_START + call_ns,
	                                SAMPLE_START + call_ns + 90);
	const gt_id call = sample_call(&trace, 0, "cudaLaunchKernel", SAMPLE_START + call_ns + 10,
	                               SAMPLE_START + call_ns + 20);

	trace.api_calls.rows[call].range = step;
	sample_kernel(&trace, stream, 0, call, SAMPLE_START + start_ns, SAMPLE_START + end_ns);
}

/* Ranges that overlap on one stream cannot be drawn as slices; those on two streams can. */
Test(chrome, shows_ranges_that_overlap_on_two_streams_as_slices)
{
	sample_stream(&trace, 0, 8);
	add_step("first", 0, 1000, 6000, 7500);
	add_step("second", 1, 1100, 6500, 8500);
	add_step("third", 1, 1200, 7000, 9000);
	write_all();
	expect_line("{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"first\",\"pid\":2,"
	            "\"tid\":7,\"ts\":6.000,\"dur\":1.500,");
	expect_line("{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"second\",\"pid\":2,"
	            "\"tid\":8,\"ts\":6.500,\"dur\":2.000,");
	expect_line("{\"ph\":\"b\",\"cat\":\"gpu_user_annotation\",\"name\":\"third\",");
}

Test(chrome, leaves_ranges_open_that_did_not_end)
{
	make_step();
	trace.ranges.rows[0].flags = GT_UNFINISHED;
	trace.ranges.rows[0].end_ns = 0;
	write_all();
	expect_line("{\"ph\":\"B\",\"cat\":\"user_annotation\",\"name\":\"step\",\"pid\":50,"
	            "\"tid\":51,\"ts\":1.000,\"args\"");
}

Test(chrome, says_what_came_with_ranges_and_marks)
{
	make_step();
	*gt_array_push(&trace.domains) =
		(struct gt_domain){.process = 0, .name = sample_text(&trace, "NCCL")};
	*gt_array_push(&trace.marks) = (struct gt_mark){
		.start_ns = SAMPLE_START + 2500,
		.end_ns = SAMPLE_START + 2500,
		.range = 0,
		.domain = 0,
		.text = sample_text(&trace, "loss"),
		.category = sample_text(&trace, "train"),
		.payload_type = 6,
		.payload = 0x3fc00000,
		.color = 0xff00ff00,
	};
	write_all();
	expect_line("{\"ph\":\"i\",\"cat\":\"user_annotation\",\"name\":\"loss\",\"pid\":50,"
	            "\"tid\":51,\"ts\":2.500,\"s\":\"t\",\"args\":{\"kind\":\"nvtx\","
	            "\"domain\":\"NCCL\",\"category\":\"train\",\"payload\":1.5,"
	            "\"color\":\"#00ff00\"}}");
}

/* They need not lie in the calls of their thread. */
Test(chrome, shows_code_that_was_loaded_and_compiled_as_asynchronous_events)
{
	const gt_id call = sample_call(&trace, 0, "cuModuleLoadData", SAMPLE_START + 1000,
	                               SAMPLE_START + 9500);

	*gt_array_push(&trace.modules) = (struct gt_module){
		.loaded_ns = SAMPLE_START + 9000,
		.load_ns = 7500,
		.jit_ns = 5000,
		.size_bytes = 4096,
		.hash = 0xabc,
		.process = 0,
		.thread = 0,
		.arch = 90,
		.function_count = 2,
		.traits = GT_MODULE_ONE_ARCH,
	};
	*gt_array_push(&trace.modules) = (struct gt_module){
		.loaded_ns = SAMPLE_START + 9300, .load_ns = NAN, .jit_ns = NAN, .thread = 0};
	*gt_array_push(&trace.modules) = (struct gt_module){
		.loaded_ns = SAMPLE_START + 9400, .load_ns = NAN, .jit_ns = NAN, .thread = GT_NONE};
	*gt_array_push(&trace.jits) = (struct gt_jit){.start_ns = SAMPLE_START + 2000,
	                                              .end_ns = SAMPLE_START + 7000,
	                                              .api_call = call,
	                                              .entry = 1,
	                                              .operation = 3};
	write_all();
	expect_line(
		"{\"ph\":\"b\",\"cat\":\"cuda_module\",\"name\":\"load module\",\"id2\":{\"local\":\"1\"},"
		"\"pid\":50,\"tid\":51,\"ts\":1.500,\"args\":{\"bytes\":4096,\"functions\":2,"
		"\"module\":\"0000000000000abc\",\"arch\":\"sm_90a\",\"jit_ns\":5000}}");
	expect_line(
		"{\"ph\":\"e\",\"cat\":\"cuda_module\",\"name\":\"load module\",\"id2\":{\"local\":\"1\"},"
		"\"pid\":50,\"tid\":51,\"ts\":9.000}");
	expect_line("{\"ph\":\"i\",\"cat\":\"cuda_module\",\"name\":\"load module\",\"pid\":50,"
	            "\"tid\":51,\"ts\":9.300,\"s\":\"t\",\"args\":{\"bytes\":0,\"functions\":0}}");
	expect_line(
		"\"cat\":\"cuda_compilation\",\"name\":\"compile\",\"id2\":{\"local\":\"1\"},\"pid\":50,"
		"\"tid\":51,\"ts\":2.000,\"args\":{\"what\":\"PTX to cubin\"}}");
	cr_expect(eq(u64, counts.skipped, 1));
}

Test(chrome, leaves_out_what_was_loaded_before_the_window)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_DEFAULT};
	struct gt_view view;

	*gt_array_push(&trace.modules) = (struct gt_module){
		.loaded_ns = SAMPLE_START + 100, .load_ns = 50, .jit_ns = NAN, .thread = 0};
	sample_finish(&trace, SAMPLE_START + 900000);
	view = gt_view_of(&trace);
	view.start_ns = SAMPLE_START + 101;
	write_as(&view, &options);
	expect_nothing_of("cuda_module");
	view.start_ns = SAMPLE_START;
	free(json);
	write_as(&view, &options);
	expect_line("cuda_module");
}
