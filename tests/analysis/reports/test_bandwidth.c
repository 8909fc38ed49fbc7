/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_report.h"
#include "analysis/traffic/declared_traffic.h"
#include "analysis/traffic_scene.h"
#include "model/names.h"

#define NONE GT_NONE

static struct gt_result result;

static void make(void)
{
	scene_begin(2000 * US);
	gt_result_init(&result);
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(bandwidth, .init = make, .fini = drop);

static void report(void)
{
	gt_result_release(&result);
	run_report(&result, "bandwidth", &trace);
}

Test(bandwidth, says_what_would_measure_it_where_nothing_did)
{
	launch(NONE, 10, 100, 200);
	report();
	cr_assert(eq(sz, row_count(&result, "kernels"), 1));
	expect_words(&result, "kernels", 0, "kernel", "gemm");
	expect_count(&result, "kernels", 0, "calls", 1);
	expect_count(&result, "kernels", 0, "total_ns", 100);
	expect_unknown(&result, "kernels", 0, "read_bytes");
	expect_unknown(&result, "kernels", 0, "achieved_bytes_per_second");
	expect_unknown(&result, "kernels", 0, "measured_percent");
	expect_words(&result, "kernels", 0, "source",
	             "not measured: run --counters or --kernel-counters measures it");
	expect_words(&result, "kernels", 0, "peak", "not measured: gputrace calibrate measures it");
	cr_expect(has_remark(&result, "gputrace calibrate"));
	cr_expect(has_remark(&result, "in the report copies"));
}

Test(bandwidth, names_what_stood_in_the_way)
{
	launch(NONE, 10, 100, 200);
	*gt_array_push(&trace.notes) = (struct gt_note){
		.process = process,
		.topic = scene_text("counters"),
		.text = scene_text("no counters of GPU 0: nobody may"),
	};
	report();
	expect_words(&result, "kernels", 0, "source",
	             "not measured: no counters of GPU 0: nobody may");
}

/* A profiled launch that read 3 GB and wrote 1 GB in 1 ms, whatever its replay took. */
static void profile(void)
{
	launch(NONE, 10, 100, 900 * US);
	scene_count("duration_ns", 1e6);
	scene_count("dram_read_bytes", 3e9);
	scene_count("dram_write_bytes", 1e9);
}

Test(bandwidth, takes_the_time_of_a_profiled_launch_from_its_counters)
{
	scene_ceiling(GT_CEILING_dram_copy, 5e12, GT_CEILING_HERE);
	scene_ceiling(GT_CEILING_dram_copy, 8e12, GT_CEILING_DATA_SHEET);
	profile();
	report();
	expect_count(&result, "kernels", 0, "total_ns", 1000 * US);
	expect_count(&result, "kernels", 0, "read_bytes", INT64_C(3000000000));
	expect_count(&result, "kernels", 0, "write_bytes", 1000000000);
	expect_real(&result, "kernels", 0, "achieved_bytes_per_second", 4e12);
	expect_real(&result, "kernels", 0, "theoretical_percent", 50.0);
	expect_real(&result, "kernels", 0, "measured_percent", 80.0);
	expect_real(&result, "kernels", 0, "covered_percent", 100.0);
	expect_words(&result, "kernels", 0, "peak", "dram_copy, measured here");
	expect_words(&result, "kernels", 0, "source", "kernel counters");
}

Test(bandwidth, has_no_time_of_a_profiled_launch_without_that_counter)
{
	launch(NONE, 10, 100, 900 * US);
	scene_count("dram_read_bytes", 3e9);
	report();
	expect_count(&result, "kernels", 0, "calls", 1);
	expect_unknown(&result, "kernels", 0, "total_ns");
	expect_unknown(&result, "kernels", 0, "achieved_bytes_per_second");
	expect_words(&result, "kernels", 0, "source",
	             "not measured: bytes were not among the counters of its launches: run "
	             "--kernel-counters=memory has them");
}

Test(bandwidth, counts_no_launch_that_never_ended)
{
	trace_unfinished_kernel(&trace, stream, shape);
	report();
	cr_expect(eq(sz, row_count(&result, "kernels"), 0));
	launch(NONE, 10, 100, 200);
	report();
	expect_count(&result, "kernels", 0, "calls", 1);
}

Test(bandwidth, says_of_how_many_launches_the_bytes_are)
{
	profile();
	for (int i = 0; i < 3; i++)
		launch(NONE, 1000 * US + i * 100, 1100 * US + i * 100, 1100 * US + i * 100 + 50);
	report();
	expect_count(&result, "kernels", 0, "calls", 4);
	expect_count(&result, "kernels", 0, "total_ns", 1000 * US + 150);
	expect_real(&result, "kernels", 0, "covered_percent", 25.0);
	expect_real(&result, "kernels", 0, "achieved_bytes_per_second", 4e12);
}

/* 3 of 4 ms are of a kernel that nobody measured. */
Test(bandwidth, says_of_how_much_of_its_time_a_gpu_s_bytes_are)
{
	profile();
	shape = trace_shape(&trace, "other", 1, 32);
	launch(NONE, 1000 * US, 1100 * US, 4100 * US);
	report();
	cr_assert(eq(sz, row_count(&result, "kernels"), 2));
	cr_assert(eq(sz, row_count(&result, "devices"), 1));
	expect_real(&result, "devices", 0, "known_percent", 25.0);
}

Test(bandwidth, compares_with_the_ceiling_of_what_a_kernel_does_most)
{
	scene_ceiling(GT_CEILING_dram_copy, 4e12, GT_CEILING_SAME_MODEL);
	scene_ceiling(GT_CEILING_dram_read, 5e12, GT_CEILING_SAME_MODEL);
	launch(NONE, 10, 100, 900 * US);
	scene_count("duration_ns", 1e6);
	scene_count("dram_read_bytes", 4e9);
	scene_count("dram_write_bytes", 0);
	report();
	expect_words(&result, "kernels", 0, "peak", "dram_read, measured on the same model");
	expect_real(&result, "kernels", 0, "measured_percent", 80.0);
	expect_unknown(&result, "kernels", 0, "theoretical_percent");
}

/*
 * 20 samples of 100 us: two executions of gemm, 250 us each with a break inside one sample, then
 * one of another kernel, with a copy beside its end.
 */
static void sample(void)
{
	static const double read_bytes[] = {0, 4e6, 4e6, 4e6, 4e6, 4e6, 0, 9e6, 9e6, 9e6, 1e9, 0};
	static const double write_bytes[] = {0, 1e6, 1e6, 1e6, 1e6, 1e6, 0, 0, 0, 0, 1e9, 0};
	const gt_id other = trace_shape(&trace, "sum", 132, 256);

	launch(NONE, 10, 100 * US, 345 * US);
	launch(NONE, 20, 355 * US, 600 * US);
	trace_kernel(&trace, stream, other, 700 * US, 1100 * US);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 1000, 1050 * US, 1090 * US);
	scene_sample(read_bytes, write_bytes, 12);
}

Test(bandwidth, gives_kernels_the_samples_in_which_nothing_else_ran)
{
	sample();
	report();
	cr_assert(eq(sz, row_count(&result, "kernels"), 2));
	/* by time: gemm ran 490 us, sum 400 us */
	expect_words(&result, "kernels", 0, "kernel", "gemm");
	expect_real(&result, "kernels", 0, "achieved_bytes_per_second", 25e6 / 490e-6);
	expect_count(&result, "kernels", 0, "read_bytes", 10000000);
	expect_count(&result, "kernels", 0, "write_bytes", 2500000);
	expect_real(&result, "kernels", 0, "covered_percent", 100.0);
	expect_words(&result, "kernels", 0, "source", "PM samples");
	expect_words(&result, "kernels", 1, "kernel", "sum");
	expect_real(&result, "kernels", 1, "achieved_bytes_per_second", 27e6 / 300e-6);
	expect_count(&result, "kernels", 1, "read_bytes", 36000000);
	expect_real(&result, "kernels", 1, "covered_percent", 75.0);
}

Test(bandwidth, adds_up_all_samples_of_a_gpu)
{
	sample();
	report();
	cr_assert(eq(sz, row_count(&result, "devices"), 1));
	expect_count(&result, "devices", 0, "total_ns", 890 * US);
	expect_real(&result, "devices", 0, "known_percent", 100.0);
	expect_count(&result, "devices", 0, "kernel_bytes", 25000000 + 36000000);
	expect_count(&result, "devices", 0, "sampled_bytes", 2000000000 + 52000000);
	expect_count(&result, "devices", 0, "sampled_ns", 1200 * US);
}

Test(bandwidth, has_no_time_of_samples_that_were_lost)
{
	static const double bytes[] = {1e6, NAN, 2e6};

	launch(NONE, 10, 0, 300 * US);
	scene_sample(bytes, bytes, 3);
	report();
	expect_count(&result, "devices", 0, "sampled_bytes", 6000000);
	expect_count(&result, "devices", 0, "sampled_ns", 200 * US);
}

Test(bandwidth, says_that_kernels_were_never_alone)
{
	static const double bytes[] = {0, 1e6, 1e6, 0};

	launch(NONE, 10, 100 * US, 300 * US);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 1000, 110 * US, 290 * US);
	scene_sample(bytes, bytes, 4);
	report();
	expect_unknown(&result, "kernels", 0, "achieved_bytes_per_second");
	cr_expect(strstr(cell(&result, "kernels", 0, "source")->text,
	                 "not measured: something else ran in each of its samples") != NULL);
}

Test(bandwidth, gives_no_samples_to_anybody_where_a_filter_took_something_out)
{
	struct gt_view view;

	sample();
	view = gt_view_of(&trace);
	view.by_work = true;
	run_report_on(&result, "bandwidth", &view);
	expect_unknown(&result, "kernels", 0, "achieved_bytes_per_second");
	cr_expect(strstr(cell(&result, "kernels", 0, "source")->text,
	                 "the options leave out what else ran") != NULL);
}

Test(bandwidth, gives_ranges_samples_of_several_kernels_that_lie_in_them)
{
	static const double bytes[] = {0, 1e6, 1e6, 1e6, 0};
	const gt_id step = trace_range(&trace, thread, NONE, "step", 0, 50);
	const gt_id first = trace_range(&trace, thread, step, "first", 5, 20);
	const gt_id second = trace_range(&trace, thread, step, "second", 25, 45);

	launch(first, 10, 100 * US, 250 * US);
	launch(second, 30, 250 * US, 400 * US);
	scene_sample(bytes, bytes, 5);
	report();
	cr_assert(eq(sz, row_count(&result, "ranges"), 3));
	expect_words(&result, "ranges", 0, "range", "step");
	expect_count(&result, "ranges", 0, "calls", 2);
	expect_count(&result, "ranges", 0, "total_ns", 300 * US);
	expect_count(&result, "ranges", 0, "read_bytes", 3000000);
	expect_real(&result, "ranges", 0, "achieved_bytes_per_second", 6e6 / 300e-6);
	expect_real(&result, "ranges", 0, "covered_percent", 100.0);
	expect_words(&result, "ranges", 1, "range", "step/first");
	expect_count(&result, "ranges", 1, "read_bytes", 1000000);
	expect_real(&result, "ranges", 1, "covered_percent", 100.0 * 100 / 150);
}

Test(bandwidth, has_operations_of_frameworks)
{
	const gt_id op = trace_range(&trace, thread, NONE, "aten::mm, op_id = 1", 0, 50);

	launch(op, 10, 100 * US, 250 * US);
	scene_count("duration_ns", 1e5);
	scene_count("dram_read_bytes", 1e8);
	scene_count("dram_write_bytes", 1e8);
	report();
	cr_assert(eq(sz, row_count(&result, "ops"), 1));
	expect_words(&result, "ops", 0, "op", "aten::mm");
	expect_real(&result, "ops", 0, "achieved_bytes_per_second", 2e12);
	expect_words(&result, "ops", 0, "source", "kernel counters");
}

#define PAYLOAD(read, write)                                                                       \
	"[{\"gputrace.read_bytes\":" #read ",\"gputrace.write_bytes\":" #write "}]"

Test(bandwidth, takes_what_a_program_declares_where_nothing_was_measured)
{
	const gt_id range = scene_declare(NONE, "copy", PAYLOAD(2000000, 1000000), 0, 50);

	launch(range, 10, 100 * US, 110 * US);
	report();
	expect_count(&result, "kernels", 0, "read_bytes", 2000000);
	expect_count(&result, "kernels", 0, "write_bytes", 1000000);
	expect_real(&result, "kernels", 0, "achieved_bytes_per_second", 3e6 / 10e-6);
	expect_words(&result, "kernels", 0, "source", "declared");
	expect_unknown(&result, "kernels", 0, "over_declared");
	expect_count(&result, "ranges", 0, "read_bytes", 2000000);
}

Test(bandwidth, compares_what_was_measured_with_what_is_declared)
{
	const gt_id range = scene_declare(NONE, "copy", PAYLOAD(2000000, 1000000), 0, 50);

	launch(range, 10, 100 * US, 110 * US);
	scene_count("duration_ns", 1e4);
	scene_count("dram_read_bytes", 4e6);
	scene_count("dram_write_bytes", 2e6);
	report();
	expect_real(&result, "kernels", 0, "over_declared", 2.0);
	expect_words(&result, "kernels", 0, "source", "kernel counters");
	expect_real(&result, "ranges", 0, "over_declared", 2.0);
}

Test(bandwidth, shares_what_a_range_declares_with_no_single_kernel_of_several)
{
	const gt_id range = scene_declare(NONE, "op", PAYLOAD(2000000, 1000000), 0, 50);

	launch(range, 10, 100 * US, 110 * US);
	trace_kernel(&trace, stream, trace_shape(&trace, "tail", 1, 32), 110 * US, 120 * US)
		->api_call = trace.kernels.rows[0].api_call;
	report();
	cr_assert(eq(sz, row_count(&result, "kernels"), 2));
	expect_unknown(&result, "kernels", 0, "read_bytes");
	expect_unknown(&result, "kernels", 1, "read_bytes");
	cr_assert(eq(sz, row_count(&result, "ranges"), 1));
	expect_count(&result, "ranges", 0, "read_bytes", 2000000);
	expect_real(&result, "ranges", 0, "achieved_bytes_per_second", 3e6 / 20e-6);
}

Test(bandwidth, tells_sizes_of_a_kernel_apart)
{
	const gt_id small = scene_declare(NONE, "copy", PAYLOAD(1000, 1000), 0, 20);
	const gt_id large = scene_declare(NONE, "copy", PAYLOAD(1000000, 1000000), 30, 50);

	launch(small, 10, 100 * US, 101 * US);
	launch(large, 40, 110 * US, 120 * US);
	report();
	cr_assert(eq(sz, row_count(&result, "sizes"), 2));
	expect_words(&result, "sizes", 0, "kernel", "gemm <<<1x1x1, 32x1x1>>>");
	expect_count(&result, "sizes", 0, "declared_bytes", 2000000);
	expect_real(&result, "sizes", 0, "achieved_bytes_per_second", 2e6 / 10e-6);
	expect_count(&result, "sizes", 1, "declared_bytes", 2000);
	expect_real(&result, "sizes", 1, "achieved_bytes_per_second", 2e3 / 1e-6);
	cr_expect(eq(sz, row_count(&result, "kernels"), 1));
}

Test(bandwidth, has_no_sizes_of_a_kernel_that_has_one)
{
	launch(NONE, 10, 100, 200);
	launch(NONE, 20, 300, 400);
	report();
	cr_expect(eq(sz, row_count(&result, "sizes"), 0));
}

Test(bandwidth, counts_what_was_captured_with_each_launch_of_its_graph)
{
	const gt_id range = scene_declare(NONE, "captured", PAYLOAD(1000, 0), 0, 20);
	const gt_id capture = trace_call_in(&trace, range, "cudaLaunchKernel", 5, 6);
	const gt_id node = trace_node(&trace, process, capture);

	for (int i = 0; i < 3; i++) {
		struct gt_kernel *kernel =
			launch(NONE, 100 + i * 10, (100 + i) * US, (101 + i) * US);

		kernel->node = node;
	}
	report();
	expect_count(&result, "kernels", 0, "read_bytes", 1000);
	expect_count(&result, "kernels", 0, "calls", 3);
	expect_real(&result, "kernels", 0, "covered_percent", 100.0);
	expect_real(&result, "kernels", 0, "achieved_bytes_per_second", 1e9);
}

Test(bandwidth, reads_declarations_as_they_are_written)
{
	struct gt_declaration said;

	cr_assert(gt_declaration_read(
		"[{\"gputrace.flops.tensor_bf16\":1e12,\"gputrace.flops\":5}]", &said));
	cr_expect(isnan(said.read_bytes));
	cr_expect(eq(dbl, said.flops.counts[GT_FLOPS_tensor_bf16], 1e12));
	cr_expect(eq(dbl, said.flops.counts[GT_FLOPS_UNSAID], 5.0));
	cr_expect(eq(u32, said.flops.known, 1U << GT_FLOPS_tensor_bf16 | 1U << GT_FLOPS_UNSAID));
	cr_assert(gt_declaration_read("[{\"gputrace.read_bytes\":5},{\"gputrace.read_bytes\":6}]",
	                              &said));
	cr_expect(eq(dbl, said.read_bytes, 11.0));
	cr_expect(not(gt_declaration_read("[{\"gputrace.read_bytes\":\"many\"}]", &said)));
	cr_expect(not(gt_declaration_read("[{\"rows\":5}]", &said)));
	/* cut off */
	cr_expect(not(gt_declaration_read("[{\"gputrace.read_bytes\":12", &said)));
}
