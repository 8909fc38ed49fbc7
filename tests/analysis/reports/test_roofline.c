/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/chart.h"
#include "analysis/check_report.h"
#include "analysis/traffic_scene.h"

static struct gt_result result;

/* Memory 4 TB/s, FP32 60 TFLOP/s: they meet at 15 FLOP/byte. */
static void make(void)
{
	scene_begin(2000 * US);
	scene_ceiling(GT_CEILING_dram_copy, 4e12, GT_CEILING_HERE);
	scene_ceiling(GT_CEILING_dram_copy, 5e12, GT_CEILING_DATA_SHEET);
	scene_ceiling(GT_CEILING_fp32, 60e12, GT_CEILING_DATA_SHEET);
	gt_result_init(&result);
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(roofline, .init = make, .fini = drop);

static void report(void)
{
	gt_result_release(&result);
	run_report(&result, "roofline", &trace);
}

/* A profiled launch of 1 ms. */
static void profile(double bytes, double fused)
{
	launch(GT_NONE, 10, 100, 900 * US);
	scene_count("duration_ns", 1e6);
	scene_count("dram_read_bytes", bytes / 2);
	scene_count("dram_write_bytes", bytes / 2);
	scene_count("fp32_fma", fused);
	scene_count("tensor_active_percent", 0);
}

Test(roofline, finds_memory_where_that_is_nearer)
{
	profile(2e9, 1e9);
	report();
	cr_assert(eq(sz, row_count(&result, "kernels"), 1));
	expect_words(&result, "kernels", 0, "kernel", "gemm");
	expect_real(&result, "kernels", 0, "flops", 2e9);
	expect_count(&result, "kernels", 0, "bytes", 2000000000);
	expect_real(&result, "kernels", 0, "intensity", 1.0);
	expect_real(&result, "kernels", 0, "achieved_flop_per_second", 2e12);
	expect_real(&result, "kernels", 0, "achieved_bytes_per_second", 2e12);
	expect_words(&result, "kernels", 0, "roof", "dram_copy");
	expect_real(&result, "kernels", 0, "roof_percent", 50.0);
	expect_count(&result, "kernels", 0, "at_roof_ns", 500 * US);
	expect_words(&result, "kernels", 0, "roof_source", "dram_copy, measured here");
	expect_words(&result, "kernels", 0, "source", "kernel counters");
}

Test(roofline, finds_arithmetic_where_that_is_nearer)
{
	profile(2e8, 2.25e10);
	report();
	expect_real(&result, "kernels", 0, "intensity", 225.0);
	expect_words(&result, "kernels", 0, "roof", "fp32");
	expect_real(&result, "kernels", 0, "roof_percent", 75.0);
	expect_words(&result, "kernels", 0, "roof_source",
	             "fp32, data sheet; gputrace calibrate measures it");
}

Test(roofline, lists_the_roofs_and_where_they_meet)
{
	profile(2e9, 1e9);
	report();
	cr_assert(eq(sz, row_count(&result, "roofs"), 2));
	expect_words(&result, "roofs", 0, "ceiling", "dram_copy");
	expect_real(&result, "roofs", 0, "measured_bytes_per_second", 4e12);
	expect_real(&result, "roofs", 0, "theoretical_bytes_per_second", 5e12);
	expect_unknown(&result, "roofs", 0, "ridge");
	expect_words(&result, "roofs", 1, "ceiling", "fp32");
	expect_real(&result, "roofs", 1, "theoretical_flop_per_second", 60e12);
	expect_unknown(&result, "roofs", 1, "measured_flop_per_second");
	expect_real(&result, "roofs", 1, "ridge", 15.0);
}

Test(roofline, says_what_was_not_measured)
{
	launch(GT_NONE, 10, 100, 200);
	report();
	expect_unknown(&result, "kernels", 0, "intensity");
	expect_unknown(&result, "kernels", 0, "roof");
	expect_words(&result, "kernels", 0, "source",
	             "operations were not measured: run "
	             "--kernel-counters=memory,flops,tensor_active_percent");
}

Test(roofline, names_a_ceiling_that_is_missing)
{
	profile(2e9, 1e9);
	scene_count("fp64_add", 1e9);
	report();
	expect_real(&result, "kernels", 0, "flops", 3e9);
	expect_unknown(&result, "kernels", 0, "roof");
	expect_words(&result, "kernels", 0, "source",
	             "no ceiling of fp64: gputrace calibrate measures it");
}

Test(roofline, knows_no_operations_where_tensor_cores_may_have_worked)
{
	profile(2e9, 1e9);
	trace.kernel_counters.rows[trace.kernel_counters.count - 1].value = 40;
	report();
	expect_unknown(&result, "kernels", 0, "flops");
	expect_unknown(&result, "kernels", 0, "roof");
	cr_expect(strstr(cell(&result, "kernels", 0, "source")->text,
	                 "those of tensor cores, which worked, were not counted") != NULL);
	trace.kernel_counters.count--;
	report();
	expect_unknown(&result, "kernels", 0, "flops");
	cr_expect(strstr(cell(&result, "kernels", 0, "source")->text,
	                 "its launches were profiled without") != NULL);
}

/* Counters of tensor cores, of a launch in which they worked. */
static void profile_tensor_cores(void)
{
	profile(2e9, 1e6);
	trace.kernel_counters.rows[trace.kernel_counters.count - 1].value = 40;
	scene_count("tensor_fp64_fma", 0);
	scene_count("tensor_tf32_fma", 0);
	scene_count("tensor_fp16_fma", 0);
	scene_count("tensor_bf16_fma", 4e9);
}

Test(roofline, takes_operations_of_tensor_cores_where_all_were_counted)
{
	profile_tensor_cores();
	scene_count("tensor_fp8_fma", 0);
	scene_count("tensor_int8_fma", 7e9);
	report();
	expect_real(&result, "kernels", 0, "flops", 4e9 + 2e6);
	expect_unknown(&result, "kernels", 0, "roof");
	expect_words(&result, "kernels", 0, "source",
	             "no ceiling of tensor_bf16: gputrace calibrate measures it");
}

Test(roofline, knows_no_operations_where_one_of_tensor_cores_was_not_counted)
{
	profile_tensor_cores();
	report();
	expect_unknown(&result, "kernels", 0, "flops");
}

Test(roofline, wants_the_precision_of_declared_operations)
{
	const gt_id plain =
		scene_declare(GT_NONE, "plain",
	                      "[{\"gputrace.read_bytes\":1000000,\"gputrace.write_bytes\":1000000,"
	                      "\"gputrace.flops\":2000000}]",
	                      0, 20);

	launch(plain, 10, 100 * US, 101 * US);
	report();
	expect_real(&result, "kernels", 0, "intensity", 1.0);
	expect_unknown(&result, "kernels", 0, "roof");
	cr_expect(strstr(cell(&result, "kernels", 0, "source")->text, "gputrace.flops.NAME") !=
	          NULL);
}

Test(roofline, takes_declared_operations)
{
	const gt_id range =
		scene_declare(GT_NONE, "saxpy",
	                      "[{\"gputrace.read_bytes\":1000000,\"gputrace.write_bytes\":1000000,"
	                      "\"gputrace.flops.fp32\":2000000}]",
	                      0, 20);

	launch(range, 10, 100 * US, 101 * US);
	report();
	expect_words(&result, "kernels", 0, "roof", "dram_copy");
	expect_real(&result, "kernels", 0, "roof_percent", 50.0);
	expect_words(&result, "kernels", 0, "source", "declared");
}

Test(roofline, draws_kernels_below_their_roofs)
{
	profile(2e9, 1e9);
	report();
	cr_assert(eq(sz, result.charts.count, 1));

	const struct gt_chart *chart = &result.charts.rows[0];

	cr_assert(eq(sz, chart->points.count, 1));
	expect_text(chart->points.rows[0].label, "gemm");
	cr_expect(epsilon_eq(dbl, chart->points.rows[0].x, 1.0, 1e-9));
	cr_expect(epsilon_eq(dbl, chart->points.rows[0].y, 2e12, 1.0));
	/* memory twice, fp32 of the data sheet */
	cr_assert(eq(sz, chart->lines.count, 3));
	expect_text(chart->lines.rows[0].label, "device memory, measured, 4,000 GB/s");
	cr_expect(not(chart->lines.rows[0].dashed));
	cr_expect(epsilon_eq(dbl, chart->lines.rows[0].to_x, 15.0, 1e-9));
	expect_text(chart->lines.rows[2].label, "fp32, data sheet, 60.0 TFLOP/s");
	cr_expect(epsilon_eq(dbl, chart->lines.rows[2].from_x, 15.0, 1e-9));
	gt_array_each(const struct gt_chart_line, line, &chart->lines) {
		cr_expect(ge(dbl, line->from_x, chart->from_x));
		cr_expect(le(dbl, line->to_x, chart->to_x));
		cr_expect(ge(dbl, line->from_y, chart->from_y));
		cr_expect(le(dbl, line->to_y, chart->to_y));
	}
}
