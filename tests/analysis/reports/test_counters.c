/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/check_report.h"
#include "base/strings.h"

#define US INT64_C(1000)

static struct gt_trace trace;
static struct gt_result result;
static gt_id stream;

/* A recording of 1 ms of one GPU. */
static void make(void)
{
	trace_init(&trace, 1000 * US);
	stream = trace_stream(&trace, trace_process(&trace, "app", 100), trace_device(&trace));
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(counters, .init = make, .fini = drop);

/* Ten samples of 100 us: a kernel in six of them alone, one of them lost. */
static void sample(void)
{
	static const double bytes[] = {0, 1e6, 1e6, 1e6, 3e6, NAN, 3e6, 3e6, 1e6, 0};
	static const double shares[] = {0, 20, 20, 20, 60, NAN, 60, 60, 85, 0};
	const struct trace_column columns[] = {
		{"dram_read_bytes", "bytes", GT_COUNTER_SUM, bytes},
		{"dram_throughput_percent", "%", GT_COUNTER_MEAN, shares},
	};

	trace_kernel(&trace, stream, trace_shape(&trace, "slow", 132, 256), 100 * US, 400 * US);
	trace_kernel(&trace, stream, trace_shape(&trace, "fast", 132, 256), 400 * US, 850 * US);
	trace_sampled(&trace, 0, 0, 100 * US, columns, 2, 10);
}

Test(counters, says_how_rates_and_shares_are_distributed)
{
	sample();
	run_report(&result, "counters", &trace);
	cr_assert(eq(sz, row_count(&result, "counters"), 2));
	expect_words(&result, "counters", 0, "device", "0: NVIDIA H200");
	expect_words(&result, "counters", 0, "counter", "dram_read_bytes");
	expect_words(&result, "counters", 0, "unit", "bytes/s");
	expect_count(&result, "counters", 0, "samples", 9);
	expect_real(&result, "counters", 0, "mean", 13e6 / 900e-6);
	expect_real(&result, "counters", 0, "median", 1e10);
	expect_real(&result, "counters", 0, "max", 3e10);
	expect_real(&result, "counters", 0, "total", 13e6);
	/* of 80 percent of 3e10 */
	expect_count(&result, "counters", 0, "above_ns", 300 * US);
	expect_words(&result, "counters", 1, "unit", "%");
	expect_real(&result, "counters", 1, "mean", 325.0 / 9);
	expect_real(&result, "counters", 1, "max", 85.0);
	/* 80 percent */
	expect_count(&result, "counters", 1, "above_ns", 100 * US);
	expect_real(&result, "counters", 1, "above_percent", 100.0 / 9);
	expect_unknown(&result, "counters", 1, "total");
}

Test(counters, gives_kernels_what_was_sampled_in_them_alone)
{
	sample();
	run_report(&result, "counters", &trace);
	cr_assert(eq(sz, row_count(&result, "kernels"), 2));
	expect_words(&result, "kernels", 0, "kernel", "slow");
	expect_count(&result, "kernels", 0, "samples", 3);
	expect_count(&result, "kernels", 0, "sampled_ns", 300 * US);
	expect_real(&result, "kernels", 0, "busy_share_percent", 100.0);
	expect_real(&result, "kernels", 0, "dram_read_bytes_per_second", 1e10);
	expect_real(&result, "kernels", 0, "dram_throughput_percent", 20.0);
	expect_unknown(&result, "kernels", 0, "dram_write_bytes_per_second");
	expect_unknown(&result, "kernels", 0, "tensor_active_percent");
	expect_words(&result, "kernels", 1, "kernel", "fast");
	expect_count(&result, "kernels", 1, "samples", 3);
	expect_real(&result, "kernels", 1, "dram_read_bytes_per_second", 3e10);
	cr_expect(has_remark(&result, "were not measured"));
}

Test(counters, says_whose_the_time_is)
{
	sample();
	run_report(&result, "counters", &trace);
	cr_assert(eq(sz, row_count(&result, "coverage"), 1));
	expect_count(&result, "coverage", 0, "samples", 9);
	expect_count(&result, "coverage", 0, "interval_ns", 100 * US);
	expect_count(&result, "coverage", 0, "sampled_ns", 900 * US);
	expect_count(&result, "coverage", 0, "kernel_ns", 600 * US);
	expect_count(&result, "coverage", 0, "shared_ns", 100 * US);
	expect_count(&result, "coverage", 0, "idle_ns", 200 * US);
	expect_count(&result, "coverage", 0, "gaps", 1);
	expect_count(&result, "coverage", 0, "gap_ns", 100 * US);
}

Test(counters, says_why_there_are_none)
{
	run_report(&result, "counters", &trace);
	cr_expect(
		has_remark(&result, "No hardware counters were recorded: gputrace run --counters"));
	cr_expect(gt_result_says_why_empty(&result));
}

Test(counters, says_what_stood_in_their_way)
{
	*gt_array_push(&trace.notes) = (struct gt_note){
		.process = 0,
		.topic = gt_strings_add(trace.strings, "counters"),
		.text = gt_strings_add(trace.strings, "no counters of GPU 0: nobody may"),
	};
	run_report(&result, "counters", &trace);
	cr_expect(has_remark(&result, "Not measured: no counters of GPU 0: nobody may."));
}

Test(counters, leaves_telemetry_to_its_report)
{
	static const double watts[] = {1, 2};

	sample();
	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, 100, watts, 2);
	run_report(&result, "counters", &trace);
	cr_expect(eq(sz, row_count(&result, "counters"), 2));
	gt_result_release(&result);
	run_report(&result, "telemetry", &trace);
	cr_assert(eq(sz, row_count(&result, "counters"), 1));
	expect_words(&result, "counters", 0, "counter", "power_mw");
}
