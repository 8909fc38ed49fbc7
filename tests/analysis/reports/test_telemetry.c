/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/check_report.h"
#include "model/gpu/throttle.h"

#define SECOND INT64_C(1000000000)

static struct gt_trace trace;
static struct gt_result result;

/* A recording of 10 s of two GPUs. */
static void make(void)
{
	trace_init(&trace, 10 * SECOND);
	trace_process(&trace, "app", 100);
	trace_device(&trace);
	trace_device(&trace);
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(telemetry, .init = make, .fini = drop);

#define VALUES(...)                                                                                \
	(const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

Test(telemetry, says_how_a_level_is_distributed)
{
	double values[21];

	for (int i = 0; i < 21; i++)
		values[i] = (i * 8) % 21; /* 0 to 20, in another order */
	trace_counter(&trace, 0, "temperature_c", GT_COUNTER_GAUGE, 0, SECOND, values, 21);
	run_report(&result, "telemetry", &trace);
	cr_assert(eq(sz, row_count(&result, "counters"), 1));
	expect_words(&result, "counters", 0, "device", "0: NVIDIA H200");
	expect_words(&result, "counters", 0, "counter", "temperature_c");
	expect_words(&result, "counters", 0, "unit", "u");
	expect_count(&result, "counters", 0, "samples", 21);
	expect_real(&result, "counters", 0, "min", 0.0);
	expect_real(&result, "counters", 0, "p5", 1.0);
	expect_real(&result, "counters", 0, "median", 10.0);
	expect_real(&result, "counters", 0, "p95", 19.0);
	expect_real(&result, "counters", 0, "max", 20.0);
	expect_unknown(&result, "counters", 0, "difference");
}

Test(telemetry, names_the_pool_that_a_counter_is_about)
{
	const gt_id pool = trace_pool(&trace, 0, 0, "activations");

	trace_counter(&trace, GT_NONE, "bytes_in_use", GT_COUNTER_GAUGE, 0, SECOND, VALUES(1, 2));
	trace.counters.rows[0].pool = pool;
	run_report(&result, "telemetry", &trace);
	cr_assert(eq(sz, row_count(&result, "counters"), 1));
	expect_words(&result, "counters", 0, "counter", "activations: bytes_in_use");
	expect_unknown(&result, "counters", 0, "device");
}

Test(telemetry, numbers_the_pool_that_has_no_name)
{
	const gt_id pool = trace_pool(&trace, 0, 0, "");

	trace.pools.rows[pool].number = 3;
	trace_counter(&trace, GT_NONE, "bytes_in_use", GT_COUNTER_GAUGE, 0, SECOND, VALUES(1, 2));
	trace.counters.rows[0].pool = pool;
	run_report(&result, "telemetry", &trace);
	expect_words(&result, "counters", 0, "counter", "pool 3: bytes_in_use");
}

Test(telemetry, weighs_a_mean_by_time)
{
	/* 10 for two seconds, then 20 for one: what is missing in between changes nothing. */
	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, SECOND / 2,
	              VALUES(10, NAN, 10, NAN, 10, 20, 20, 20));
	run_report(&result, "telemetry", &trace);
	expect_count(&result, "counters", 0, "samples", 6);
	/* 2 s of 10, half a second of 15, 1 s of 20 */
	expect_real(&result, "counters", 0, "mean", (20 + 7.5 + 20) / 3.5);
}

Test(telemetry, takes_the_difference_of_what_counts_up)
{
	trace_counter(&trace, 1, "pcie_replays", GT_COUNTER_TOTAL, 0, SECOND,
	              VALUES(1007, NAN, 1009, 1010, 1013));
	run_report(&result, "telemetry", &trace);
	expect_words(&result, "counters", 0, "device", "1: NVIDIA H200");
	expect_count(&result, "counters", 0, "samples", 4);
	expect_real(&result, "counters", 0, "difference", 6.0);
	expect_real(&result, "counters", 0, "per_second", 1.5);
	expect_unknown(&result, "counters", 0, "mean");
}

/* The driver was loaded anew between the third sample and the fourth. */
Test(telemetry, does_not_take_a_counter_that_began_anew_for_less_than_nothing)
{
	trace_counter(&trace, 1, "pcie_replays", GT_COUNTER_TOTAL, 0, SECOND,
	              VALUES(100, 103, 106, 1, 4));
	run_report(&result, "telemetry", &trace);
	expect_real(&result, "counters", 0, "difference", 9);
	expect_real(&result, "counters", 0, "per_second", 3);
}

Test(telemetry, does_not_know_the_difference_of_a_counter_that_only_began_anew)
{
	trace_counter(&trace, 1, "pcie_replays", GT_COUNTER_TOTAL, 0, SECOND, VALUES(100, 1));
	run_report(&result, "telemetry", &trace);
	expect_unknown(&result, "counters", 0, "difference");
	expect_unknown(&result, "counters", 0, "per_second");
}

Test(telemetry, says_what_was_not_measured)
{
	trace_counter(&trace, 0, "ecc_corrected", GT_COUNTER_TOTAL, 0, SECOND, VALUES(NAN, NAN));
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND, VALUES(NAN, 5));
	run_report(&result, "telemetry", &trace);
	expect_count(&result, "counters", 0, "samples", 0);
	expect_unknown(&result, "counters", 0, "difference");
	expect_count(&result, "counters", 1, "samples", 1);
	expect_unknown(&result, "counters", 1, "difference");
	cr_expect(has_remark(&result, "Not measured on 0: NVIDIA H200: ecc_corrected."));
	cr_expect(eq(sz, row_count(&result, "energy"), 0));
	cr_expect(eq(sz, row_count(&result, "throttles"), 0));
}

Test(telemetry, has_the_program_s_own_counters_behind_those_of_gpus)
{
	trace_counter(&trace, GT_NONE, "queue", GT_COUNTER_GAUGE, 0, SECOND, VALUES(1, 3));
	trace_counter(&trace, 1, "power_mw", GT_COUNTER_GAUGE, 0, SECOND, VALUES(5, 5));
	run_report(&result, "telemetry", &trace);
	cr_assert(eq(sz, row_count(&result, "counters"), 2));
	expect_words(&result, "counters", 0, "counter", "power_mw");
	expect_unknown(&result, "counters", 0, "process");
	expect_words(&result, "counters", 1, "counter", "queue");
	expect_unknown(&result, "counters", 1, "device");
	expect_words(&result, "counters", 1, "process", "app (100)");
	expect_real(&result, "counters", 1, "max", 3.0);
}

Test(telemetry, says_that_there_is_none)
{
	run_report(&result, "telemetry", &trace);
	cr_expect(eq(sz, row_count(&result, "counters"), 0));
	cr_expect(has_remark(&result, "No telemetry was recorded"));
}

Test(telemetry, compares_the_energy_counter_with_the_samples_of_power)
{
	/* The counter has a value each other sample; 100 W, then 200 W: 150 J in the step between. */
	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, SECOND,
	              VALUES(50000, 100000, 100000, 200000, 200000, 90000));
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, SECOND, SECOND,
	              VALUES(1000, NAN, 251000, 461000));
	run_report(&result, "telemetry", &trace);
	cr_assert(eq(sz, row_count(&result, "energy"), 1));
	expect_count(&result, "energy", 0, "duration_ns", 3 * SECOND);
	expect_real(&result, "energy", 0, "energy_j", 460.0);
	expect_real(&result, "energy", 0, "integrated_j", 450.0);
	cr_expect(epsilon_eq(dbl, cell(&result, "energy", 0, "difference_percent")->real,
	                     -1000.0 / 460, 1e-6));
	expect_real(&result, "energy", 0, "mean_w", 460.0 / 3);
}

/* The driver was loaded anew between the second reading and the third: nothing is known of then. */
Test(telemetry, leaves_out_of_the_energy_when_its_counter_began_anew)
{
	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, SECOND,
	              VALUES(100000, 100000, 100000, 100000));
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND,
	              VALUES(900000, 1000000, 5000, 105000));
	run_report(&result, "telemetry", &trace);
	expect_count(&result, "energy", 0, "duration_ns", 2 * SECOND);
	expect_real(&result, "energy", 0, "energy_j", 200.0);
	expect_real(&result, "energy", 0, "integrated_j", 200.0);
}

/* As NVML is asked: the energy at the begin, at the end, and once a second; power ten times. */
Test(telemetry, takes_the_energy_of_all_the_time_in_which_power_was_watched)
{
	double power[13];
	double energy[13];

	for (int i = 0; i < 13; i++) {
		power[i] = 100000;
		energy[i] = i == 0 || i == 1 || i == 12 ? 10000.0 * i : NAN;
	}
	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, SECOND / 10, power, 13);
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND / 10, energy, 13);
	run_report(&result, "telemetry", &trace);
	expect_count(&result, "energy", 0, "duration_ns", 1200000000);
	expect_real(&result, "energy", 0, "energy_j", 120.0);
}

Test(telemetry, leaves_out_what_nobody_watched)
{
	double power[40];
	double energy[40];

	for (int i = 0; i < 40; i++) {
		const bool watched = i < 10 || i > 24;

		power[i] = watched ? 100000 : NAN;
		energy[i] = watched ? 10000.0 * i : NAN;
	}
	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, SECOND / 10, power, 40);
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND / 10, energy, 40);
	run_report(&result, "telemetry", &trace);
	/* 0.9 s and 1.4 s */
	expect_count(&result, "energy", 0, "duration_ns", 2300000000);
	expect_real(&result, "energy", 0, "energy_j", 230.0);
	expect_real(&result, "energy", 0, "integrated_j", 230.0);
}

Test(telemetry, makes_ranges_of_the_reasons_of_low_clocks)
{
	const double cap = GT_THROTTLE_SW_POWER_CAP;
	const double idle = GT_THROTTLE_GPU_IDLE;

	/* The cap holds for two seconds, one of them with idle, and for one more. */
	trace_counter(&trace, 0, "throttle_reasons", GT_COUNTER_MASK, 0, SECOND,
	              VALUES(idle, cap, cap + idle, 0, cap, 0, idle));
	run_report(&result, "telemetry", &trace);
	cr_assert(eq(sz, row_count(&result, "throttles"), 2));
	expect_words(&result, "throttles", 0, "reason", "gpu_idle");
	expect_words(&result, "throttles", 0, "slows", "no");
	expect_count(&result, "throttles", 0, "times", 3);
	expect_count(&result, "throttles", 0, "total_ns", 2 * SECOND);
	expect_words(&result, "throttles", 1, "reason", "sw_power_cap");
	expect_words(&result, "throttles", 1, "slows", "yes");
	expect_words(&result, "throttles", 1, "meaning", "the power limit is reached");
	expect_count(&result, "throttles", 1, "times", 2);
	expect_count(&result, "throttles", 1, "total_ns", 3 * SECOND);
	expect_count(&result, "throttles", 1, "longest_ns", 2 * SECOND);
	expect_real(&result, "throttles", 1, "share_percent", 30.0);
}

Test(telemetry, tells_clocks_that_nothing_kept_low_from_those_that_nobody_watched)
{
	trace_counter(&trace, 0, "energy_mj", GT_COUNTER_TOTAL, 0, SECOND, VALUES(1, 5));
	run_report(&result, "telemetry", &trace);
	cr_expect(!has_remark(&result, "Nothing kept the clocks"));
	gt_result_release(&result);
	trace_counter(&trace, 0, "throttle_reasons", GT_COUNTER_MASK, 0, SECOND, VALUES(0, NAN, 0));
	run_report(&result, "telemetry", &trace);
	cr_expect(eq(sz, row_count(&result, "throttles"), 0));
	cr_expect(
		has_remark(&result, "Nothing kept the clocks of 0: NVIDIA H200 low in 2 samples."));
}

Test(telemetry, does_not_say_of_a_time_without_samples_that_a_reason_held)
{
	double reasons[40];

	for (int i = 0; i < 40; i++)
		reasons[i] = i < 10 || i > 24 ? GT_THROTTLE_SW_POWER_CAP : NAN;
	trace_counter(&trace, 0, "throttle_reasons", GT_COUNTER_MASK, 0, SECOND / 10, reasons, 40);
	run_report(&result, "telemetry", &trace);
	expect_count(&result, "throttles", 0, "times", 2);
	expect_count(&result, "throttles", 0, "total_ns", 2400000000);
	expect_count(&result, "throttles", 0, "longest_ns", 1400000000);
}
