/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/opening.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/ranges/steps/steps.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/scene.h"

static struct gt_opening opening;

static void begin(void)
{
	scene_begin(100000000);
}

static void end(void)
{
	gt_trace_release(&trace);
}

TestSuite(opening, .init = begin, .fini = end);

static void open_trace(void)
{
	const struct gt_view view = gt_view_of(&trace);

	struct gt_steps steps;

	gt_steps_init(&steps, &view);
	gt_opening_init(&opening, &view, &steps);
	gt_steps_release(&steps);
}

static void expect_stretch(gt_time start_ns, gt_time end_ns)
{
	cr_expect(eq(i64, opening.start_ns, TRACE_START_NS + start_ns));
	cr_expect(eq(i64, opening.end_ns, TRACE_START_NS + end_ns));
}

/* Eight steps; of the last four the second is nearest to the median of all. */
Test(opening, shows_a_typical_step)
{
	static const gt_time walls[] = {900, 120, 100, 100, 140, 104, 80, 110};

	for (gt_time i = 0; i < 8; i++) {
		const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 1000 + 1000 * i,
		                               1000 + 1000 * i + walls[i]);

		scene_launch(step, 1010 + 1000 * i, 1020 + 1000 * i, 1030 + 1000 * i);
	}
	open_trace();
	expect_stretch(6000 - 104 / 20, 6104 + 104 / 5);
	cr_expect(eq(sz, opening.stream_count, 1));
	cr_expect(eq(u32, opening.streams[0], trace.streams.rows[stream].number));
	cr_expect(opening.busy && opening.path && !opening.shared);
}

Test(opening, shows_all_work_where_it_is_little)
{
	trace_kernel(&trace, stream, shape, 10000, 20000);
	trace_kernel(&trace, stream, shape, 30000, 60000);
	open_trace();
	expect_stretch(10000 - 1000, 60000 + 1000);
}

Test(opening, shows_the_middle_of_much_work)
{
	for (gt_time i = 0; i < 3000; i++)
		trace_kernel(&trace, stream, shape, 10000 + 1000 * i, 10500 + 1000 * i);
	open_trace();
	expect_stretch(10000 + 1300000 - 399500 / 50, 10000 + 1699500 + 399500 / 50);
}

Test(opening, keeps_the_streams_with_most_work_in_view)
{
	const gt_id second = trace_stream(&trace, process, device);
	const gt_id third = trace_stream(&trace, process, device);

	trace.streams.rows[second].number = 20;
	trace.streams.rows[third].number = 30;
	for (gt_time i = 0; i < 6; i++)
		trace_kernel(&trace,
		             i == 0  ? stream
		             : i < 3 ? third
		                     : second,
		             shape, 1000 + 1000 * i, 1500 + 1000 * i);
	open_trace();
	cr_assert(eq(sz, opening.stream_count, 2));
	cr_expect(eq(u32, opening.streams[0], 20));
	cr_expect(eq(u32, opening.streams[1], 30));
}

/* Four processes with a stream of one number each are too many tracks. */
Test(opening, keeps_no_streams_in_view_that_are_too_many)
{
	for (gt_count i = 0; i < 3; i++) {
		const gt_id other = trace_process(&trace, "worker", 200 + i);
		const gt_id theirs = trace_stream(&trace, other, device);

		trace.streams.rows[theirs].number = trace.streams.rows[stream].number;
		trace_kernel(&trace, theirs, shape, 1000 + 1000 * (gt_time)i,
		             1500 + 1000 * (gt_time)i);
	}
	trace_kernel(&trace, stream, shape, 9000, 9500);
	open_trace();
	cr_expect(eq(sz, opening.stream_count, 0));
	cr_expect(opening.busy && !opening.path && opening.shared);
}

Test(opening, says_nothing_of_a_trace_without_work)
{
	open_trace();
	cr_expect(opening.known);
	cr_expect(eq(i64, opening.end_ns, 0));
	cr_expect(eq(sz, opening.stream_count, 0));
}

Test(opening, is_read_as_it_was_written)
{
	struct gt_opening read;
	char text[GT_OPENING_BYTES];

	trace_kernel(&trace, stream, shape, 10000, 20000);
	open_trace();
	gt_opening_write(&opening, text);
	cr_assert(gt_opening_read(&read, text), "%s", text);
	cr_expect(eq(i64, read.start_ns, opening.start_ns));
	cr_expect(eq(i64, read.end_ns, opening.end_ns));
	cr_expect(eq(sz, read.stream_count, opening.stream_count));
	cr_expect(eq(u32, read.streams[0], opening.streams[0]));
	cr_expect(read.known && read.busy && read.path && !read.shared);
}

/* The file may be anybody's: what it says goes into an address. */
Test(opening, is_nothing_but_numbers)
{
	static const char *const texts[] = {"",
	                                    "1",
	                                    "1 2 1 1",
	                                    "2 1 1 1 1",
	                                    "1 2 1 1 1 x",
	                                    "1 2 1 1 1 7&url=x",
	                                    "1 2 1 1 1 7 8 9",
	                                    "1 2 1 1 1 4294967296",
	                                    "1 99999999999999999999 1 1 1",
	                                    "-1 2 1 1 1",
	                                    "1  2 1 1 1"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_expect(!gt_opening_read(&opening, texts[i]), "%s", texts[i]);
		cr_expect(!opening.known, "%s", texts[i]);
	}
	cr_expect(gt_opening_read(&opening, "1 2 1 1 1"));
}
