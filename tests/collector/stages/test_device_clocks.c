/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "collector/recorded.h"
#include "model/gpu/device_clocks.h"
#include "support/device_recording.h"

TestSuite(device_clocks, .init = make, .fini = drop);

/* How far a moment is put from where it was. */
static double error_at(const struct gt_device_clocks *clocks, const struct device_truth *truth,
                       double time_ns)
{
	return (double)gt_device_time(clocks, timer_at(truth, time_ns)) - time_ns;
}

static void expect_within_bounds(const struct device_truth *truth, double from_ns, double to_ns,
                                 uint64_t most_ns)
{
	const struct gt_device_clocks clocks = gt_device_clocks_of(&trace, 0, 0);

	cr_assert(ne(sz, clocks.count, 0));
	for (int i = 0; i <= 1000; i++) {
		const double time_ns = from_ns + (to_ns - from_ns) * i / 1000;
		const double error_ns = error_at(&clocks, truth, time_ns);
		uint64_t bound_ns = 0;

		cr_assert(eq(int, gt_device_bound(&clocks, (gt_time)time_ns, &bound_ns), 0));
		cr_assert(le(dbl, fabs(error_ns), (double)bound_ns + 1), "at %.0f", time_ns);
		cr_assert(le(u64, bound_ns, most_ns), "at %.0f", time_ns);
	}
}

Test(device_clocks, are_not_there_without_calibration)
{
	recording_add_kernel(&recording, 2000, 1);
	finish();
	cr_expect(eq(sz, trace.device_clocks.count, 0));

	const struct gt_device_clocks clocks = gt_device_clocks_of(&trace, 0, 0);
	uint64_t bound_ns = 7;

	cr_expect(lt(int, gt_device_bound(&clocks, 5, &bound_ns), 0), "nobody knows");
	cr_expect(eq(u64, bound_ns, 7));
}

/* One kernel of 2 us that reads 500 ns inside of it: the offset is known to 500 ns and a step. */
Test(device_clocks, of_one_kernel_are_as_good_as_it_is_short)
{
	const struct device_truth truth = {109355, 0, 32, 1.7};

	add_calibration(&recording, &truth, 9, 1000000, 2000, 500);
	recording_add_kernel(&recording, 1100000, 1);
	finish();
	cr_expect(eq(sz, trace.kernels.count, 1), "it is none of the program's");
	cr_assert(eq(sz, trace.device_clocks.count, 1));

	const struct gt_device_clock *clock = &trace.device_clocks.rows[0];

	cr_expect(eq(u32, clock->step_ns, 32));
	cr_expect(eq(u32, clock->kernels, 1));
	cr_expect(eq(i64, clock->start_ns, 1001000));
	cr_expect(eq(i64, clock->end_ns, 1001000));
	cr_expect(ge(u64, clock->bound_ns, 500));
	cr_expect(le(u64, clock->bound_ns, 500 + 2 * 32));
	cr_expect(le(i64, llabs((int64_t)clock->offset_ns + 109355), 500));
}

/* Kernels whose margins differ cut each other's intervals, while the clocks drift by 20 us a s. */
Test(device_clocks, follow_a_drift)
{
	const struct device_truth truth = {-5000000, 20, 32, 1.7};

	for (uint32_t i = 0; i < 300; i++)
		add_calibration(&recording, &truth, 100 + i, 10000000 + 10000000ull * i,
		                1600 + 32 * (i * 7 % 40), 200 + 16 * (i * 5 % 30));
	finish();
	expect_within_bounds(&truth, 10e6, 3.0e9, 650);
}

/*
 * As with a kernel that stays: between those at the begin and the one at the end another one ran
 * beside it and took 30 us. The others' bounds of its moment are not lost.
 */
Test(device_clocks, are_as_good_where_a_kernel_took_long)
{
	const struct device_truth truth = {5000000, -3.4, 32, 1.7};

	for (uint32_t i = 0; i < 8; i++)
		add_calibration(&recording, &truth, 100 + i, 10000000 + 7000ull * i, 1200, 400);
	add_calibration(&recording, &truth, 200, 1010800000, 30000, 14800);
	add_calibration(&recording, &truth, 201, 1032200000, 1200, 400);
	finish();
	expect_within_bounds(&truth, 10e6, 1.03e9, 700);
	cr_expect(eq(u32, trace.device_clocks.rows[0].kernels, 8));
	cr_expect(eq(u32, trace.device_clocks.rows[1].kernels, 2));
}

Test(device_clocks, whose_readings_are_few_are_known_less_well)
{
	const struct device_truth truth = {5000000, 35, 1024, 1.7};

	for (uint32_t i = 0; i < 6; i++)
		add_calibration(&recording, &truth, 100 + i, 10000000 + 900000000ull * i, 2000,
		                400);
	finish();
	expect_within_bounds(&truth, 10e6, 4.5e9, 4000);
}

/* The clock is set, by 40 us: only between both sides is it uncertain by that. */
Test(device_clocks, jump_where_the_clock_was_set)
{
	struct device_truth truth = {5000000, 3, 32, 1.7};
	const struct device_truth before = truth;

	for (uint32_t i = 0; i < 40; i++) {
		truth.timer_ahead_ns = i < 20 ? 5000000 : 5040000;
		add_calibration(&recording, &truth, 100 + i, 10000000 + 10000000ull * i, 2000, 400);
	}
	finish();
	expect_within_bounds(&before, 10e6, 200e6, 1000);
	expect_within_bounds(&truth, 211e6, 400e6, 1000);

	const struct gt_device_clocks clocks = gt_device_clocks_of(&trace, 0, 0);
	uint64_t bound_ns = 0;

	cr_assert(eq(int, gt_device_bound(&clocks, 206000000, &bound_ns), 0));
	cr_expect(ge(u64, bound_ns, 39000));
	cr_expect(le(u64, bound_ns, 45000));
}

/* The same in a second of which little is known, when how fast the clock goes is known of before. */
Test(device_clocks, jump_between_two_kernels_that_are_far_apart)
{
	struct device_truth truth = {5000000, 3, 32, 1.7};
	const struct device_truth before = truth;
	const uint64_t apart_ns = 100000000;

	for (uint32_t i = 0; i < 40; i++) {
		truth.timer_ahead_ns = i < 13 ? 5000000 : 5040000;
		add_calibration(&recording, &truth, 100 + i, 10000000 + apart_ns * i, 2000, 400);
	}
	finish();
	expect_within_bounds(&before, 10e6, 1210e6, 1000);
	expect_within_bounds(&truth, 1311e6, 3900e6, 1000);

	const struct gt_device_clocks clocks = gt_device_clocks_of(&trace, 0, 0);
	uint64_t bound_ns = 0;

	cr_assert(eq(int, gt_device_bound(&clocks, 1260000000, &bound_ns), 0));
	cr_expect(ge(u64, bound_ns, 39000));
	cr_expect(le(u64, bound_ns, 45000));
}

Test(device_clocks, go_as_far_as_kernels_read_them)
{
	const struct device_truth truth = {5000000, 10, 32, 1.7};
	struct device_writer writer = {&recording, &truth, 1, CONTEXT, 0, 0, 4, 0, 256};

	for (uint32_t i = 0; i < 40; i++)
		add_calibration(&recording, &truth, 100 + i, 100000000 + 10000000ull * i, 2000,
		                400);
	write_chunk(&writer, 1, 50e6, 0);
	write_chunk(&writer, 2, 600e6, 0);
	write_event(&writer, 700e6, GPUTRACE_DEVICE_TIME, 0, 0);
	finish();
	cr_assert(gt(sz, trace.device_clocks.count, 2));
	cr_expect(le(i64, llabs(trace.device_clocks.rows[0].start_ns - 50000000), 1000));
	cr_expect(le(
		i64,
		llabs(trace.device_clocks.rows[trace.device_clocks.count - 1].end_ns - 700000000),
		5000));
	expect_within_bounds(&truth, 50e6, 700e6, 5000);
}

Test(device_clocks, leave_out_what_cannot_be)
{
	const struct device_truth truth = {5000000, 0, 32, 1.7};

	add_calibration(&recording, &truth, 9, 1000000, 2000, 500);
	add_calibration(&recording, &truth, 10, 1100000, 2000, 500);
	recording_add(&recording, device_time, .first_ns = 9, .last_ns = 8, .correlation = 11,
	              .context = CONTEXT);
	recording_add(&recording, device_time, .first_ns = 1, .last_ns = UINT64_MAX,
	              .correlation = 12, .context = CONTEXT);
	recording_add(&recording, device_time, .first_ns = 1, .last_ns = 90000000,
	              .correlation = 13, .context = CONTEXT);
	recording_add(&recording, device_time, .first_ns = 1, .last_ns = 2, .correlation = 14,
	              .context = CONTEXT);
	recording_add(&recording, device_time, .first_ns = 1, .last_ns = 2, .correlation = 10,
	              .context = 99);
	for (uint32_t id = 11; id <= 13; id++)
		recording_add_kernel(&recording, 1200000 + id, id);
	finish();
	cr_expect(eq(u32, trace.device_clocks.rows[0].kernels, 2));
	cr_expect(has_note(&trace, 0,
	                   "kernels that read the GPU's clock, and whose times cannot be right: 3; "
	                   "they were left out"));
}

/* The same GPU seen by two processes, whose clocks of CUPTI differ: each has its own offset. */
Test(device_clocks, are_those_of_each_process)
{
	const struct device_truth truth = {5000000, 0, 32, 1.7};
	const struct device_truth other = {7000000, 0, 32, 1.7};

	add_calibration(&recording, &truth, 9, 1000000, 2000, 500);
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	recording_add_basics(&recording, 2);
	add_calibration(&recording, &other, 9, 1000000, 2000, 500);
	finish();
	cr_assert(eq(sz, trace.device_clocks.count, 2));
	cr_assert(eq(sz, trace.devices.count, 1));

	const struct gt_device_clocks first = gt_device_clocks_of(&trace, 0, 0);
	const struct gt_device_clocks second = gt_device_clocks_of(&trace, 1, 0);

	cr_expect(le(dbl, fabs(error_at(&first, &truth, 2e6)), 600.0));
	cr_expect(le(dbl, fabs(error_at(&second, &other, 2e6)), 600.0));
}
