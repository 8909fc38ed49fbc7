/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "collector/collect.h"
#include "format/file/series.h"
#include "support/check.h"
#include "support/recording.h"

/* Several processes that sampled the same GPU. */

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(series, .init = make, .fini = drop);

/* A process that samples power and a clock of GPU 0 so often, 100 apart. */
static void add_process(uint32_t pid, const char *clock, uint64_t first_ns, uint32_t count,
                        double power)
{
	char name[32];

	snprintf(name, sizeof(name), "node-%u-1", pid);
	recording_begin(&recording, name);
	recording_add_basics(&recording, pid);
	recording_add_string(&recording, STRING_NEXT, "power_mw");
	recording_add_string(&recording, STRING_NEXT + 1, clock);
	for (uint32_t place = 0; place < 2; place++)
		recording_add(&recording, counter, .series = 1, .place = place,
		              .name = STRING_NEXT + place, .kind = GT_COUNTER_GAUGE, .device = 1);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t time_ns = first_ns + i * UINT64_C(100);
		double values[] = {power, power + 1};
		const struct gt_samples samples = {.series = 1,
		                                   .clock = GT_SERIES_HOST,
		                                   .columns = 2,
		                                   .count = 1,
		                                   .times_ns = &time_ns,
		                                   .values = values};

		cr_assert(eq(int,
		             gt_writer_samples(&recording.capture.writer, &samples,
		                               (struct gt_origin){0}),
		             0));
	}
	recording_end(&recording, true);
}

static void expect_sample(const struct gt_series *series, size_t at, gt_time time_ns, double power)
{
	cr_assert(lt(sz, at, series->count));
	cr_expect(eq(i64, series->times_ns[at], time_ns), "sample %zu", at);
	cr_expect(eq(dbl, series->columns[0][at], power), "sample %zu", at);
	cr_expect(eq(dbl, series->columns[1][at], power + 1), "sample %zu", at);
}

Test(series, of_one_gpu_are_one_and_the_longest_is_believed)
{
	struct gt_trace trace;

	add_process(1, "sm_clock_mhz", 2050, 3, 10); /* 2050 .. 2250 */
	add_process(2, "sm_clock_mhz", 2000, 4, 20); /* 2000 .. 2300 */
	trace = collect(&recording);
	cr_assert(eq(sz, trace.devices.count, 1));
	cr_assert(eq(sz, trace.series.count, 1));
	cr_assert(eq(sz, trace.series.rows[0].count, 4));
	for (size_t i = 0; i < 4; i++)
		expect_sample(&trace.series.rows[0], i, 2000 + 100 * (gt_time)i, 20);
	cr_assert(eq(sz, trace.counters.count, 2));
	for (uint32_t place = 0; place < 2; place++) {
		cr_expect(eq(u32, trace.counters.rows[place].series, 0));
		cr_expect(eq(u32, trace.counters.rows[place].place, place));
		cr_expect(eq(u32, trace.counters.rows[place].process, 1));
	}
	gt_trace_release(&trace);
}

/* The first and the last of the one are at the very moments of the other's. */
Test(series, that_were_sampled_at_the_same_moments_are_there_once)
{
	struct gt_trace trace;

	add_process(1, "sm_clock_mhz", 2000, 4, 10);
	add_process(2, "sm_clock_mhz", 2000, 4, 20);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.series.count, 1));
	cr_assert(eq(sz, trace.series.rows[0].count, 4));
	for (size_t i = 0; i < 4; i++)
		expect_sample(&trace.series.rows[0], i, 2000 + 100 * (gt_time)i, 10);
	gt_trace_release(&trace);
}

Test(series, are_joined_where_only_one_process_sampled)
{
	struct gt_trace trace;
	const struct gt_series *series;

	add_process(1, "sm_clock_mhz", 2050, 9, 10); /* 2050 .. 2850 */
	add_process(2, "sm_clock_mhz", 1900, 3, 20); /* 1900 .. 2100: two before */
	add_process(3, "sm_clock_mhz", 3000, 2, 30); /* after */
	trace = collect(&recording);
	cr_assert(eq(sz, trace.series.count, 1));
	series = &trace.series.rows[0];
	cr_assert(eq(sz, series->count, 13));
	expect_sample(series, 0, 1900, 20);
	expect_sample(series, 1, 2000, 20);
	expect_sample(series, 2, 2050, 10);
	expect_sample(series, 10, 2850, 10);
	expect_sample(series, 11, 3000, 30);
	expect_sample(series, 12, 3100, 30);
	cr_expect(eq(sz, trace.counters.count, 2));
	gt_trace_release(&trace);
}

Test(series, of_other_counters_stay_apart)
{
	struct gt_trace trace;

	add_process(1, "sm_clock_mhz", 2000, 3, 10);
	add_process(2, "memory_clock_mhz", 2000, 3, 20);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.series.count, 2));
	cr_expect(eq(sz, trace.counters.count, 4));
	gt_trace_release(&trace);
}
