/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/top/ended.h"

#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "support/check.h"
#include "support/scene.h"

enum { MS = 1000000 };

static struct gt_ended ended;

static void begin(void)
{
	scene_begin(10000 * (gt_time)MS);
	trace.processes.rows[process].ended = GT_END_RUNNING;
}

static void end(void)
{
	gt_ended_release(&ended);
	gt_trace_release(&trace);
}

TestSuite(ended, .init = begin, .fini = end);

static gt_time ms(gt_time time_ms)
{
	return time_ms * MS;
}

static void add_kernel(gt_count correlation, gt_time from_ms, gt_time to_ms)
{
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, ms(from_ms), ms(to_ms));

	kernel->correlation = correlation;
	kernel->grid_id = correlation;
}

static void read_clocks(gt_time time_ms)
{
	*gt_array_push(&trace.clocks) =
		(struct gt_clock){.boottime_ns = TRACE_START_NS + ms(time_ms), .process = process};
}

/* These ended since the look before, in this order: correlation ids, 0 behind them. */
static void expect_look(gt_time now_ms, const gt_count *correlations)
{
	struct gt_result result;
	struct gt_error err = {0};
	const struct gt_section *section;
	size_t count = 0;

	gt_result_init(&result);
	gt_ended_begin(&ended, &result);
	gt_ended_add(&ended, &trace, TRACE_START_NS + ms(now_ms), &result);
	cr_expect(eq(int, gt_result_check(&result, &err), 0), "%s", err.text);
	section = &result.sections.rows[0];
	while (correlations[count] != 0)
		count++;
	cr_assert(eq(sz, gt_section_row_count(section), count));
	for (size_t i = 0; i < count; i++)
		cr_expect(eq(i64, gt_section_cell(section, i, "correlation")->count,
		             correlations[i]));
	gt_result_release(&result);
}

#define LOOK(now_ms, ...) expect_look(now_ms, (const gt_count[]){__VA_ARGS__ 0})

Test(ended, each_once_and_in_the_order_of_their_ends)
{
	read_clocks(5000);
	add_kernel(1, 100, 400);
	add_kernel(2, 200, 300);
	add_kernel(3, 250, 900);
	LOOK(1000, 2, 1, );
	LOOK(1050, );
	LOOK(1101, 3, );
	LOOK(2000, );
}

Test(ended, those_before_it_began_are_not_wanted)
{
	read_clocks(5000);
	ended.from_ns = TRACE_START_NS + ms(350);
	add_kernel(1, 100, 300);
	add_kernel(2, 200, 400);
	LOOK(1000, 2, );
}

Test(ended, one_whose_record_comes_late_is_not_missed)
{
	read_clocks(5000);
	add_kernel(1, 100, 300);
	LOOK(1000, 1, );
	add_kernel(2, 200, 310);
	add_kernel(3, 800, 900);
	LOOK(1500, 2, 3, );
	LOOK(2000, );
}

Test(ended, times_are_waited_for_until_clocks_were_read_later)
{
	read_clocks(500);
	add_kernel(1, 100, 300);
	add_kernel(2, 400, 600);
	LOOK(1000, 1, );
	read_clocks(1500);
	/* That reading moves it a little. */
	trace.kernels.rows[0].end_ns += 50;
	LOOK(1600, 2, );
	LOOK(1700, );
}

Test(ended, a_process_that_is_silent_holds_up_no_other)
{
	read_clocks(100);
	add_kernel(1, 200, 300);
	LOOK(1000, );
	LOOK(3400, 1, );
}

Test(ended, all_that_there_is_comes_when_the_program_has_ended)
{
	read_clocks(500);
	add_kernel(1, 100, 300);
	add_kernel(2, 400, 9000);
	LOOK(1000, 1, );
	trace.processes.rows[process].ended = GT_END_CLEAN;
	LOOK(1001, 2, );
}

Test(ended, work_without_an_end_is_not_given_out)
{
	read_clocks(5000);
	trace_unfinished_kernel(&trace, stream, shape);
	LOOK(6000, );
}

Test(ended, nodes_of_one_launch_of_a_graph_are_told_apart)
{
	read_clocks(5000);
	add_kernel(1, 100, 300);
	add_kernel(1, 400, 500);
	trace.kernels.rows[0].graph_node = 4;
	trace.kernels.rows[1].graph_node = 5;
	LOOK(650, 1, );
	LOOK(1000, 1, );
}

Test(ended, a_process_that_calls_exec_counts_anew)
{
	read_clocks(5000);
	add_kernel(1, 100, 300);
	LOOK(1000, 1, );
	trace.processes.rows[process].capture = gt_strings_add(trace.strings, "again");
	LOOK(1100, 1, );
}

Test(ended, ranges_come_with_their_paths)
{
	struct gt_result result;
	gt_id outer;

	ended.of = GT_ENDED_RANGES;
	read_clocks(5000);
	outer = trace_range(&trace, thread, GT_NONE, "train", ms(10), ms(4000));
	trace_range(&trace, thread, outer, "step", ms(20), ms(100));
	gt_result_init(&result);
	gt_ended_begin(&ended, &result);
	gt_ended_add(&ended, &trace, TRACE_START_NS + ms(1000), &result);
	cr_assert(eq(sz, gt_section_row_count(&result.sections.rows[0]), 1));
	expect_text(gt_section_cell(&result.sections.rows[0], 0, "range")->text, "train/step");
	cr_expect(eq(i64, gt_section_cell(&result.sections.rows[0], 0, "wall_ns")->count, ms(80)));
	gt_result_release(&result);
}
