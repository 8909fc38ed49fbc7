/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/check_report.h"
#include "model/view/filter.h"

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)

static struct gt_trace trace;
static struct gt_result result;
static gt_id process;
static gt_id stream;

/* A recording of 10 s of one process on one GPU. */
static void make(void)
{
	trace_init(&trace, 10 * SECOND);
	process = trace_process(&trace, "app", 100);
	trace_device(&trace);
	stream = trace_stream(&trace, process, 0);
	trace_shape(&trace, "gemm", 1, 32);
	trace_shape(&trace, "axpy", 1, 32);
	gt_result_init(&result);
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(energy, .init = make, .fini = drop);

#define VALUES(...)                                                                                \
	(const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

/* The counter of a GPU each second, from joules of the seconds. */
static void count_energy(gt_id device, gt_time start_ns, const double *joules, size_t seconds)
{
	double values[20] = {5000000}; /* it counts since the driver was loaded */

	for (size_t i = 0; i < seconds; i++)
		values[i + 1] = values[i] + joules[i] * 1e3;
	trace_counter(&trace, device, "energy_mj", GT_COUNTER_TOTAL, start_ns, SECOND, values,
	              seconds + 1);
}

static void report(void)
{
	gt_result_release(&result);
	run_report(&result, "energy", &trace);
}

static size_t row_of(const char *title, const char *heading, const char *words)
{
	for (size_t i = 0; i < row_count(&result, title); i++)
		if (strcmp(cell(&result, title, i, heading)->text, words) == 0)
			return i;
	cr_fatal("no row %s in %s", words, title);
	return 0;
}

Test(energy, says_how_to_get_samples_when_there_are_none)
{
	report();
	expect_unknown(&result, "devices", 0, "joules");
	expect_unknown(&result, "devices", 0, "covered_percent");
	expect_unknown(&result, "devices", 0, "source");
	cr_expect(has_remark(&result, "--telemetry 100ms"));
	cr_expect(gt_result_says_why_empty(&result));
}

Test(energy, tells_active_from_quiet_by_the_power_of_idle_intervals)
{
	/* 100 W idle; in the fifth second a kernel runs for half of it at 500 W. */
	trace_kernel(&trace, stream, 0, 4 * SECOND, 4 * SECOND + 500 * MS);
	count_energy(0, 0, VALUES(100, 100, 100, 100, 300, 100, 100, 100, 100, 100));
	report();
	expect_real(&result, "devices", 0, "joules", 1200.0);
	expect_real(&result, "devices", 0, "mean_watts", 120.0);
	expect_unknown(&result, "devices", 0, "peak_watts");
	expect_real(&result, "devices", 0, "active_joules", 250.0);
	expect_real(&result, "devices", 0, "quiet_joules", 950.0);
	expect_real(&result, "devices", 0, "shared_joules", 0.0);
	expect_real(&result, "devices", 0, "untold_joules", 0.0);
	expect_real(&result, "devices", 0, "quiet_watts", 100.0);
	expect_real(&result, "devices", 0, "covered_percent", 100.0);
	expect_words(&result, "devices", 0, "source", "energy counter");
	expect_words(&result, "work", 0, "work", "gemm");
	expect_real(&result, "work", 0, "joules", 250.0);
	expect_real(&result, "work", 0, "alone_watts", 500.0);
	expect_real(&result, "work", 0, "at_most_joules", 250.0);
	expect_real(&result, "work", 0, "told_percent", 100.0);
}

Test(energy, spreads_by_time_alone_where_the_gpu_was_never_idle)
{
	for (int i = 0; i < 10; i++)
		trace_kernel(&trace, stream, i % 2, i * SECOND + 250 * MS, i * SECOND + 750 * MS);
	count_energy(0, 0, VALUES(400, 400, 400, 400, 400, 400, 400, 400, 400, 400));
	report();
	expect_unknown(&result, "devices", 0, "quiet_watts");
	expect_real(&result, "devices", 0, "active_joules", 2000.0);
	expect_real(&result, "devices", 0, "quiet_joules", 2000.0);
	expect_real(&result, "work", 0, "joules", 1000.0);
	expect_real(&result, "work", 0, "at_most_joules", 2000.0); /* all of its five seconds */
}

Test(energy, of_an_idle_board_is_taken_where_a_burst_is_over)
{
	trace_kernel(&trace, stream, 0, 2 * SECOND, 3 * SECOND);
	trace_kernel(&trace, stream, 0, 7 * SECOND, 7 * SECOND + 500 * MS);
	count_energy(0, 0, VALUES(100, 100, 500, 200, 100, 100, 100, 300, 100, 100));
	report();
	expect_real(&result, "devices", 0, "quiet_watts", 100.0);
	expect_real(&result, "work", 0, "joules", 500.0 + 250.0);
}

Test(energy, of_a_short_kernel_is_not_the_noise_of_an_idle_board)
{
	trace_kernel(&trace, stream, 0, 4 * SECOND, 4 * SECOND + MS);
	count_energy(0, 0, VALUES(100, 100, 100, 100, 110, 100, 100, 100, 100, 100));
	report();
	expect_real(&result, "work", 0, "joules", 0.110);
	expect_real(&result, "work", 0, "at_most_joules", 110.0 - 99.9);
}

Test(energy, of_a_short_kernel_is_no_more_than_at_the_power_of_long_ones)
{
	trace_kernel(&trace, stream, 0, 2 * SECOND, 3 * SECOND);
	trace_kernel(&trace, stream, 1, 4 * SECOND, 4 * SECOND + 100 * MS);
	count_energy(0, 0, VALUES(100, 100, 500, 100, 400, 100, 100, 100, 100, 100));
	report();
	expect_real(&result, "work", row_of("work", "work", "axpy"), "joules", 50.0);
	expect_real(&result, "work", row_of("work", "work", "axpy"), "at_most_joules", 310.0);
	expect_real(&result, "devices", 0, "quiet_joules", 700.0 + 450.0);
}

Test(energy, does_not_say_whose_joules_are_when_kernels_run_side_by_side)
{
	const gt_id other = trace_stream(&trace, process, 0);

	trace_kernel(&trace, stream, 0, 2 * SECOND, 4 * SECOND);
	trace_kernel(&trace, other, 1, 3 * SECOND, 5 * SECOND);
	count_energy(0, 0, VALUES(100, 100, 300, 600, 400, 100, 100, 100, 100, 100));
	report();
	expect_real(&result, "devices", 0, "active_joules", 1300.0);
	expect_real(&result, "devices", 0, "shared_joules", 600.0);
	expect_real(&result, "work", row_of("work", "work", "gemm"), "joules", 300.0);
	expect_real(&result, "work", row_of("work", "work", "gemm"), "shared_joules", 600.0);
	expect_real(&result, "work", row_of("work", "work", "gemm"), "at_most_joules", 900.0);
	expect_real(&result, "work", row_of("work", "work", "axpy"), "joules", 400.0);
	expect_real(&result, "work", row_of("work", "work", "axpy"), "shared_joules", 600.0);
}

Test(energy, of_a_family_is_its_own_when_two_of_its_kernels_run_side_by_side)
{
	const gt_id other = trace_stream(&trace, process, 0);

	trace_kernel(&trace, stream, 0, 2 * SECOND, 4 * SECOND);
	trace_kernel(&trace, other, 0, 3 * SECOND, 5 * SECOND);
	count_energy(0, 0, VALUES(100, 100, 300, 600, 400, 100, 100, 100, 100, 100));
	gt_result_release(&result);
	run_report_with(&result, "energy", &trace, "by=family");
	cr_assert(eq(sz, row_count(&result, "work"), 1));
	expect_real(&result, "work", 0, "joules", 1300.0);
	expect_real(&result, "work", 0, "shared_joules", 0.0);
	expect_real(&result, "devices", 0, "shared_joules", 600.0);
}

Test(energy, of_two_gpus_is_told_apart)
{
	gt_id second;

	trace_device(&trace);
	second = trace_stream(&trace, process, 1);
	trace_kernel(&trace, stream, 0, 2 * SECOND, 4 * SECOND);
	trace_kernel(&trace, second, 0, 3 * SECOND, 5 * SECOND);
	count_energy(0, 0, VALUES(100, 100, 300, 300, 100, 100, 100, 100, 100, 100));
	count_energy(1, 0, VALUES(50, 50, 50, 700, 700, 50, 50, 50, 50, 50));
	report();
	expect_real(&result, "devices", 0, "active_joules", 600.0);
	expect_real(&result, "devices", 1, "active_joules", 1400.0);
	expect_real(&result, "devices", 1, "quiet_watts", 50.0);
	expect_real(&result, "work", 0, "joules", 2000.0);
	expect_real(&result, "work", 0, "shared_joules", 0.0);
	expect_count(&result, "work", 0, "gpu_ns", 4 * SECOND);
}

Test(energy, of_a_gpu_that_two_processes_read_counts_once)
{
	const gt_id other = trace_process(&trace, "other", 101);
	const gt_id second = trace_stream(&trace, other, 0);

	trace_kernel(&trace, stream, 0, 2 * SECOND, 4 * SECOND);
	trace_kernel(&trace, second, 1, 3 * SECOND, 5 * SECOND);
	count_energy(0, 0, VALUES(100, 100, 300, 600, 400, 100, 100, 100, 100, 100));
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, SECOND / 2, SECOND,
	              VALUES(5050000, 5150000, 5350000, 5800000, 6300000, 6550000));
	report();
	expect_real(&result, "devices", 0, "joules", 2000.0);
	expect_real(&result, "devices", 0, "shared_joules", 600.0);
	expect_real(&result, "work", row_of("work", "work", "gemm"), "joules", 300.0);
}

Test(energy, of_a_counter_that_began_anew_is_not_known_meanwhile)
{
	trace_kernel(&trace, stream, 0, SECOND, 2 * SECOND);
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND,
	              VALUES(900000, 1000000, 1500000, 0, 100000, 200000));
	report();
	expect_real(&result, "devices", 0, "joules", 800.0);
	expect_real(&result, "devices", 0, "active_joules", 500.0);
	expect_real(&result, "devices", 0, "covered_percent", 40.0);
	cr_expect(has_remark(&result, "began anew (1)"));
}

Test(energy, is_where_the_samples_of_power_say)
{
	/* The area is 100 + 40 + 240 J, of which the counter says that they are 630. */
	double power[11];

	for (int i = 0; i < 11; i++)
		power[i] = i <= 5 ? 200000 : 600000;
	trace_kernel(&trace, stream, 0, 600 * MS, 1000 * MS);
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND, VALUES(0, 630000));
	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, 100 * MS, power, 11);
	report();
	expect_real(&result, "devices", 0, "joules", 630.0);
	expect_real(&result, "devices", 0, "peak_watts", 600.0);
	expect_real(&result, "work", 0, "joules", 630.0 * 240 / 380);
}

Test(energy, of_an_interval_is_in_a_bound_once)
{
	/* Twice in the third second, once across its end; then one into the time of a reset. */
	trace_kernel(&trace, stream, 0, 2 * SECOND + 100 * MS, 2 * SECOND + 200 * MS);
	trace_kernel(&trace, stream, 0, 2 * SECOND + 300 * MS, 2 * SECOND + 500 * MS);
	trace_kernel(&trace, stream, 0, 2 * SECOND + 900 * MS, 3 * SECOND + 100 * MS);
	trace_kernel(&trace, stream, 0, 3 * SECOND + 900 * MS, 4 * SECOND + 500 * MS);
	trace_kernel(&trace, stream, 0, 5 * SECOND + 100 * MS, 5 * SECOND + 200 * MS);
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND,
	              VALUES(0, 100000, 200000, 600000, 900000, 0, 250000, 350000, 450000));
	report();
	expect_real(&result, "devices", 0, "quiet_watts", 100.0);
	/* 400, 300 and 250 J, but for 100 W in the 600, 800 and 900 ms in which it did not run. */
	expect_real(&result, "work", 0, "at_most_joules", 400.0 + 300 + 250 - 60 - 80 - 90);
}

Test(energy, without_a_counter_is_the_area_under_the_samples_of_power)
{
	trace_kernel(&trace, stream, 0, 2 * SECOND, 3 * SECOND);
	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, SECOND,
	              VALUES(100000, 100000, 300000, 300000, 100000));
	report();
	expect_words(&result, "devices", 0, "source", "power");
	expect_real(&result, "devices", 0, "joules", 100.0 + 200.0 + 300.0 + 200.0);
	expect_real(&result, "work", 0, "joules", 300.0);
}

Test(energy, does_not_trust_two_readings_of_the_counter_within_a_second)
{
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, 12 * MS, VALUES(0, 13207));
	report();
	expect_unknown(&result, "devices", 0, "joules");
}

Test(energy, of_half_of_the_time_is_of_no_more)
{
	/* Samples of the first half; the kernel runs on. */
	trace_kernel(&trace, stream, 0, 3 * SECOND, 9 * SECOND);
	count_energy(0, 0, VALUES(100, 100, 100, 400, 400));
	report();
	expect_real(&result, "devices", 0, "joules", 1100.0);
	expect_real(&result, "devices", 0, "covered_percent", 50.0);
	expect_real(&result, "work", 0, "joules", 800.0);
	cr_expect(epsilon_eq(dbl, cell(&result, "work", 0, "told_percent")->real, 100.0 / 3, 1e-6));
	expect_real(&result, "work", 0, "alone_watts", 400.0);
}

Test(energy, of_every_other_sample_is_the_same)
{
	trace_kernel(&trace, stream, 0, 2 * SECOND, 4 * SECOND);
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND,
	              VALUES(0, NAN, 200000, NAN, 1000000, NAN, 1200000, NAN, 1400000, NAN,
	                     1600000));
	report();
	expect_real(&result, "devices", 0, "joules", 1600.0);
	expect_real(&result, "work", 0, "joules", 800.0);
}

Test(energy, between_samples_far_apart_is_known_but_not_whose_it_is)
{
	trace_kernel(&trace, stream, 0, 2 * SECOND, 3 * SECOND);
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, 50 * MS,
	              VALUES(0, 5000, 10000, 15000, 20000, 25000));
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 8 * SECOND, 50 * MS,
	              VALUES(1000000, 1005000, 1010000));
	report();
	expect_real(&result, "devices", 0, "untold_joules", 1000.0);
	expect_unknown(&result, "devices", 0, "active_joules");
	expect_unknown(&result, "work", 0, "joules");
	expect_real(&result, "work", 0, "told_percent", 0.0);
}

/* ---- ranges and steps ---- */

/* A kernel that a range launched. */
static void launch(gt_id range, gt_id on, gt_time start_ns, gt_time end_ns)
{
	const gt_id call =
		trace_call_in(&trace, range, "cudaLaunchKernel", start_ns - 10, start_ns);

	trace_kernel(&trace, on, 0, start_ns, end_ns)->api_call = call;
}

static gt_id range_with(gt_id thread, const char *name, int64_t payload, gt_time start_ns,
                        gt_time end_ns)
{
	const gt_id row = trace_range(&trace, thread, GT_NONE, name, start_ns, end_ns);

	trace.ranges.rows[row].payload = (gt_wide)payload;
	trace.ranges.rows[row].payload_type = 2; /* NVTX_PAYLOAD_TYPE_INT64 */
	return row;
}

/* Five steps of a second, with kernels of 500 ms at 500 W; 100 W idle. */
static void make_steps(void)
{
	const gt_id thread = trace_thread(&trace, process, 7);

	for (int i = 0; i < 5; i++) {
		const gt_time at = (2 + i) * SECOND;
		const gt_id step = range_with(thread, "step", 10 * (i + 1), at, at + SECOND);

		launch(step, stream, at + 250 * MS, at + 750 * MS);
	}
	count_energy(0, 0, VALUES(100, 100, 300, 300, 300, 300, 350, 100, 100, 100));
}

Test(energy, of_steps_is_all_that_the_board_drew)
{
	make_steps();
	report();
	cr_assert(eq(sz, row_count(&result, "steps"), 1));
	expect_count(&result, "steps", 0, "steps", 5);
	expect_count(&result, "steps", 0, "told", 5);
	expect_real(&result, "steps", 0, "mean_joules", 310.0);
	expect_real(&result, "steps", 0, "min_joules", 300.0);
	expect_real(&result, "steps", 0, "max_joules", 350.0);
	expect_real(&result, "steps", 0, "mean_watts", 310.0);
	expect_real(&result, "steps", 0, "units", 150.0);
	expect_real(&result, "steps", 0, "per_unit_joules", 1550.0 / 150);
	expect_real(&result, "ranges", 0, "joules", 1300.0);
	expect_real(&result, "ranges", 0, "each_joules", 260.0);
	expect_real(&result, "ranges", 0, "per_unit_joules", 1300.0 / 150);
}

Test(energy, of_steps_is_not_known_where_another_process_used_the_gpu)
{
	const gt_id other = trace_process(&trace, "other", 101);
	const gt_id second = trace_stream(&trace, other, 0);

	make_steps();
	trace_kernel(&trace, second, 1, 6 * SECOND + 800 * MS, 6 * SECOND + 900 * MS);
	report();
	expect_count(&result, "steps", 0, "told", 4);
	expect_real(&result, "steps", 0, "mean_joules", 300.0);
	expect_real(&result, "steps", 0, "units", 100.0);
}

Test(energy, of_steps_has_no_extremes_where_they_are_shorter_than_intervals)
{
	const gt_id thread = trace_thread(&trace, process, 7);

	for (int i = 0; i < 6; i++)
		launch(range_with(thread, "step", 1, (2000 + 100 * i) * MS, (2100 + 100 * i) * MS),
		       stream, (2000 + 100 * i) * MS + 20, (2050 + 100 * i) * MS);
	count_energy(0, 0, VALUES(100, 100, 220, 100));
	report();
	expect_count(&result, "steps", 0, "told", 6);
	expect_unknown(&result, "steps", 0, "min_joules");
	expect_unknown(&result, "steps", 0, "max_joules");
}

Test(energy, of_a_range_has_no_share_each_where_other_work_ran_beside_it)
{
	const gt_id thread = trace_thread(&trace, process, 7);
	const gt_id other = trace_stream(&trace, process, 0);
	const gt_id outer = range_with(thread, "train", 1, SECOND, 6 * SECOND);
	const gt_id inner = trace_range(&trace, thread, outer, "forward", 2 * SECOND, 3 * SECOND);

	launch(inner, stream, 2 * SECOND + 10, 4 * SECOND);
	launch(outer, other, 3 * SECOND + 10, 5 * SECOND);
	count_energy(0, 0, VALUES(100, 100, 300, 600, 400, 100, 100, 100, 100, 100));
	report();

	const size_t all = row_of("ranges", "range", "train");
	const size_t part = row_of("ranges", "range", "train/forward");

	cr_expect(epsilon_eq(dbl, cell(&result, "ranges", all, "joules")->real, 1300.0, 1e-3));
	expect_real(&result, "ranges", all, "shared_joules", 0.0);
	cr_expect(epsilon_eq(dbl, cell(&result, "ranges", all, "each_joules")->real, 1300.0, 1e-3));
	cr_expect(
		epsilon_eq(dbl, cell(&result, "ranges", part, "shared_joules")->real, 600.0, 1e-3));
	expect_unknown(&result, "ranges", part, "each_joules");
	expect_unknown(&result, "ranges", part, "per_unit_joules");
}

/* ---- filters ---- */

/* The report of what such a filter leaves; the trace is made anew by the caller for each. */
static void report_with(enum gt_filter_part part, const char *value)
{
	struct gt_filter filter;
	struct gt_view view;

	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, part, value, NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	gt_result_release(&result);
	run_report_on(&result, "energy", &view);
	gt_filter_release(&filter);
}

static void make_overlap(void)
{
	const gt_id other = trace_stream(&trace, process, 0);

	trace_kernel(&trace, stream, 0, 2 * SECOND, 4 * SECOND);
	trace_kernel(&trace, other, 1, 3 * SECOND, 5 * SECOND);
	count_energy(0, 0, VALUES(100, 100, 300, 600, 400, 100, 100, 100, 100, 100));
}

Test(energy, of_a_chosen_kernel_does_not_depend_on_the_choice)
{
	make_overlap();
	report_with(GT_FILTER_KERNEL, "gemm");
	expect_real(&result, "devices", 0, "joules", 2000.0);
	expect_real(&result, "devices", 0, "shared_joules", 600.0);
	cr_assert(eq(sz, row_count(&result, "work"), 1));
	expect_real(&result, "work", 0, "joules", 300.0);
	expect_real(&result, "work", 0, "shared_joules", 600.0);
}

static const char *const amounts[] = {"joules", "active_joules", "shared_joules", "quiet_joules"};

enum { AMOUNTS = sizeof(amounts) / sizeof(amounts[0]) };

static void add_amounts(double sums[AMOUNTS])
{
	for (size_t i = 0; i < AMOUNTS; i++)
		sums[i] += cell(&result, "devices", 0, amounts[i])->real;
}

/* The cut lies in the middle of an interval of samples, and of both kernels. */
Test(energy, of_two_pieces_adds_up_to_the_whole)
{
	double sums[AMOUNTS] = {0};
	double work = 0;

	make_overlap();
	report_with(GT_FILTER_TO, "3.4s");
	add_amounts(sums);
	work += cell(&result, "work", row_of("work", "work", "gemm"), "joules")->real;
	cr_expect(eq(sz, row_count(&result, "work"), 2)); /* both begin before the cut */
	drop();
	make();
	make_overlap();
	report_with(GT_FILTER_FROM, "3.4s");
	add_amounts(sums);
	cr_expect(eq(sz, row_count(&result, "work"), 0));
	cr_expect(epsilon_eq(dbl, sums[0], 2000.0, 1e-6));
	cr_expect(epsilon_eq(dbl, sums[1], 1300.0, 1e-6));
	cr_expect(epsilon_eq(dbl, sums[2], 600.0, 1e-6));
	cr_expect(epsilon_eq(dbl, sums[3], 700.0, 1e-6));
	cr_expect(epsilon_eq(dbl, work, 300.0, 1e-6));
}
