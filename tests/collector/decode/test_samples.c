/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "collector/collect.h"
#include "format/file/series.h"
#include "support/check.h"
#include "support/recording.h"

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	recording_add_string(&recording, STRING_NEXT, "power_mw");
	recording_add_string(&recording, STRING_NEXT + 1, "mW");
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(samples, .init = make, .fini = drop);

static void add_samples(uint16_t series, uint64_t first_ns, double first, uint8_t columns)
{
	uint64_t times[] = {first_ns, first_ns + 100};
	double values[] = {first, NAN, first + 1, NAN};
	const struct gt_samples samples = {.series = series,
	                                   .clock = GT_SERIES_CUPTI,
	                                   .columns = columns,
	                                   .count = 2,
	                                   .times_ns = times,
	                                   .values = values};

	cr_assert(eq(int,
	             gt_writer_samples(&recording.capture.writer, &samples, (struct gt_origin){0}),
	             0));
}

Test(samples, become_series_in_order_of_time_on_the_common_clock)
{
	struct gt_trace trace;
	const struct gt_series *series;
	const struct gt_counter *counter;

	recording_add(&recording, clock, .host_ns = 6000, .boottime_ns = 5000, .realtime_ns = 1,
	              .cupti_ns = 9000, .bound_ns = 1);
	for (int twice = 0; twice < 2; twice++)
		recording_add(&recording, counter, .series = 3, .place = 0, .name = STRING_NEXT,
		              .unit = STRING_NEXT + 1, .kind = GT_COUNTER_GAUGE, .device = 1);
	recording_add(&recording, counter, .series = 4, .place = 0, .name = STRING_NEXT);
	recording_add(&recording, counter, .series = 3, .place = 9, .name = STRING_NEXT);
	add_samples(3, 9200, 600000, 2);
	add_samples(3, 9000, 500000, 2); /* a buffer that was found late */
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.series.count, 1));
	series = &trace.series.rows[0];
	cr_assert(eq(sz, series->count, 4));
	cr_expect(eq(i64, series->times_ns[0], 5000));
	cr_expect(eq(i64, series->times_ns[3], 5300));
	cr_expect(eq(dbl, series->columns[0][0], 500000));
	cr_expect(eq(dbl, series->columns[0][3], 600001));
	cr_expect(isnan(series->columns[1][2]));
	cr_assert(eq(sz, trace.counters.count, 1)); /* one that has samples, once */
	counter = &trace.counters.rows[0];
	expect_text(gt_trace_text(&trace, counter->name), "power_mw");
	expect_text(gt_trace_text(&trace, counter->unit), "mW");
	cr_expect(eq(u32, counter->device, 0));
	cr_expect(eq(u32, counter->process, 0));
	cr_expect(eq(u32, counter->series, 0));
	cr_expect(eq(i64, trace.end_ns, 5300));
	gt_trace_release(&trace);
}

Test(samples, of_a_series_that_changes_its_columns_are_left_out_with_a_note)
{
	struct gt_trace trace;

	add_samples(3, 2000, 1, 2);
	add_samples(3, 3000, 2, 1);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.series.rows[0].count, 2));
	cr_assert(eq(sz, trace.notes.count, 1));
	gt_trace_release(&trace);
}
