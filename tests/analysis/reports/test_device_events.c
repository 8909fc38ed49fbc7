/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/chart.h"
#include "analysis/check_scene.h"
#include "base/array.h"

/* A range of a block's first thread inside another one; returns its row. */
static gt_id add_range(gt_id kernel, const char *name, gt_count block, gt_id parent,
                       gt_time start_ns, gt_time end_ns)
{
	trace_device_event(&trace, kernel, GT_DEVICE_RANGE, name, block, start_ns, end_ns)->parent =
		parent;
	return (gt_id)trace.device_events.count - 1;
}

/* A launch of 1000 ns whose fourth block loads slowly, and ends 500 ns after the first two. */
static void make_uneven(void)
{
	gt_id tiles[4];

	scene_begin(10000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
	tiles[0] = add_range(0, "tile", 0, GT_NONE, 1000, 1400);
	tiles[1] = add_range(0, "tile", 1, GT_NONE, 1000, 1400);
	add_range(0, "load", 0, tiles[0], 1000, 1100);
	add_range(0, "load", 1, tiles[1], 1000, 1100);
	tiles[2] = add_range(0, "tile", 2, GT_NONE, 1050, 1500);
	add_range(0, "load", 2, tiles[2], 1050, 1150);
	tiles[3] = add_range(0, "tile", 3, GT_NONE, 1100, 1900);
	add_range(0, "compute", 0, tiles[0], 1100, 1300);
	add_range(0, "compute", 1, tiles[1], 1100, 1300);
	add_range(0, "load", 3, tiles[3], 1100, 1500);
	add_range(0, "compute", 2, tiles[2], 1150, 1400);
	add_range(0, "compute", 3, tiles[3], 1500, 1900);
	trace_device_clock(&trace, device, 480, 32);
}

Test(device_events, counts_time_inside_inner_ranges_once_in_own)
{
	make_uneven();
	run_report(&result, "device-events", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 3));
	expect_words(&result, "ranges", 0, "name", "tile");
	expect_words(&result, "ranges", 0, "kernel", "gemm");
	expect_count(&result, "ranges", 0, "count", 4);
	expect_count(&result, "ranges", 0, "launches", 1);
	expect_count(&result, "ranges", 0, "total_ns", 400 + 400 + 450 + 800);
	expect_count(&result, "ranges", 0, "own_ns", 100 + 100 + 100 + 0);
	expect_words(&result, "ranges", 1, "name", "compute");
	expect_count(&result, "ranges", 1, "own_ns", 200 + 200 + 250 + 400);
	expect_words(&result, "ranges", 2, "name", "load");
	expect_count(&result, "ranges", 2, "total_ns", 700);
	expect_count(&result, "ranges", 2, "own_ns", 700);
	expect_count(&result, "ranges", 2, "mean_ns", 175);
	expect_count(&result, "ranges", 2, "p50_ns", 100);
	expect_count(&result, "ranges", 2, "p95_ns", 400);
	expect_count(&result, "ranges", 2, "p99_ns", 400);
	/* Four writers in a kernel of 1000 ns. */
	expect_real(&result, "ranges", 0, "share_percent", 51.25);
	expect_real(&result, "ranges", 2, "share_percent", 17.5);
	expect_real(&result, "ranges", 0, "sm_imbalance", 800 / 512.5);
	expect_real(&result, "ranges", 2, "sm_imbalance", 400 / 175.0);
	expect_real(&result, "ranges", 2, "block_imbalance", 400 / 175.0);
	expect_count(&result, "ranges", 2, "unended", 0);
	cr_expect(has_remark(&result, "off from those of kernels by 480 ns at most; %globaltimer "
	                              "goes on by 32 ns"));
	scene_end();
}

Test(device_events, sees_late_blocks_and_the_tail)
{
	make_uneven();
	run_report(&result, "device-events", &trace);
	expect_words(&result, "kernels", 0, "kernel", "gemm");
	expect_count(&result, "kernels", 0, "launches", 1);
	expect_count(&result, "kernels", 0, "total_ns", 1000);
	expect_count(&result, "kernels", 0, "events", 12);
	expect_real(&result, "kernels", 0, "writers", 4);
	expect_real(&result, "kernels", 0, "blocks", 4);
	expect_real(&result, "kernels", 0, "multiprocessors", 4);
	expect_count(&result, "kernels", 0, "late_ns", 100);
	/* Multiprocessors end at 1400, 1400, 1500 and 1900. */
	expect_count(&result, "kernels", 0, "tail_ns", 500);
	expect_real(&result, "kernels", 0, "tail_percent", 50);
	expect_real(&result, "kernels", 0, "idle_percent", 35);
	cr_expect(has_remark(&result, "Block 3, on SM 3, is the last to begin: its first event "
	                              "comes 100 ns after"));
	cr_expect(has_remark(&result,
	                     "SM 3 is the last: it ends 500 ns (50.0% of the kernel) after half"));
	cr_expect(has_remark(&result, "done for 1.40 us in all, 35.0% of what they have"));
	cr_expect(has_remark(&result, "128 of the GPU's 132 multiprocessors told nothing"));
	scene_end();
}

/* Column 1 of SM 2 is half load and half compute: what took most of the launch goes first. */
Test(device_events, draws_the_innermost_range_of_each_column)
{
	make_uneven();
	run_report_with(&result, "device-events", &trace, "columns=10");
	cr_assert(eq(sz, row_count(&result, "timeline"), 4));
	expect_words(&result, "timeline", 0, "multiprocessors", "0");
	expect_words(&result, "timeline", 0, "timeline", "lcct......");
	expect_words(&result, "timeline", 1, "timeline", "lcct......");
	expect_words(&result, "timeline", 2, "timeline", "lccct.....");
	expect_words(&result, "timeline", 3, "timeline", ".llllcccc.");
	expect_count(&result, "timeline", 3, "first_ns", 100);
	expect_count(&result, "timeline", 3, "last_ns", 900);
	expect_count(&result, "timeline", 3, "blocks", 1);
	cr_assert(eq(sz, row_count(&result, "legend"), 3));
	expect_words(&result, "legend", 0, "letter", "c");
	expect_words(&result, "legend", 0, "name", "compute");
	expect_count(&result, "legend", 0, "own_ns", 1050);
	expect_real(&result, "legend", 0, "share_percent", 26.25);
	expect_words(&result, "legend", 2, "name", "tile");
	expect_count(&result, "launch", 0, "launch", 1);
	expect_count(&result, "launch", 0, "start_time_ns", 1000);
	expect_count(&result, "launch", 0, "column_ns", 100);
	expect_count(&result, "launch", 0, "folded", 1);
	scene_end();
}

Test(device_events, folds_multiprocessors_and_says_so)
{
	make_uneven();
	run_report_with(&result, "device-events", &trace, "strips=2");
	cr_assert(eq(sz, row_count(&result, "timeline"), 2));
	expect_words(&result, "timeline", 0, "multiprocessors", "0-1");
	expect_words(&result, "timeline", 1, "multiprocessors", "2-3");
	expect_count(&result, "timeline", 1, "blocks", 2);
	expect_count(&result, "timeline", 1, "first_ns", 50);
	expect_count(&result, "timeline", 1, "last_ns", 900);
	cr_expect(has_remark(&result, ", a row 2 multiprocessors."));
	scene_end();
}

Test(device_events, has_strips_for_a_picture)
{
	make_uneven();
	run_report(&result, "device-events", &trace);
	cr_assert(eq(sz, result.strips.count, 1));

	const struct gt_strips *strips = &result.strips.rows[0];

	expect_text(strips->title, "gemm, launch 1: its ranges by multiprocessor");
	cr_expect(epsilon_eq(dbl, strips->to_x, 1.0, 1e-9));
	cr_assert(eq(sz, strips->rows.count, 4));
	expect_text(strips->rows.rows[3], "SM 3");
	cr_assert(eq(sz, strips->kinds.count, 3));
	expect_text(strips->kinds.rows[0].label, "compute");
	/* Three ranges on each, but that SM 3 has no time in tile alone. */
	cr_assert(eq(sz, strips->parts.count, 11));
	cr_expect(eq(sz, strips->parts.rows[0].kind, 1));
	cr_expect(epsilon_eq(dbl, strips->parts.rows[0].to_x, 0.1, 1e-9));
	cr_expect(eq(sz, strips->parts.rows[10].row, 3));
	cr_expect(epsilon_eq(dbl, strips->parts.rows[10].from_x, 0.5, 1e-9));
	cr_expect(epsilon_eq(dbl, strips->parts.rows[10].to_x, 0.9, 1e-9));
	scene_end();
}

/* Blocks 0 and 4 share SM 0: each takes 100, as block 1 on SM 1 does. */
Test(device_events, tells_multiprocessors_from_blocks)
{
	scene_begin(10000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
	add_range(0, "load", 0, GT_NONE, 1000, 1100);
	add_range(0, "load", 1, GT_NONE, 1000, 1100);
	add_range(0, "load", 4, GT_NONE, 1100, 1200);
	run_report(&result, "device-events", &trace);
	expect_real(&result, "ranges", 0, "sm_imbalance", 200 / 150.0);
	expect_real(&result, "ranges", 0, "block_imbalance", 1);
	expect_real(&result, "kernels", 0, "blocks", 3);
	expect_real(&result, "kernels", 0, "multiprocessors", 2);
	cr_expect(has_remark(&result, "Blocks of a multiprocessor: 1 to 2."));
	scene_end();
}

/* One writer takes 600 of the 3000 ns of the second launch: 100 + 600 of 1000 + 3000. */
Test(device_events, shares_are_of_the_launches_that_have_the_range)
{
	scene_begin(20000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
	trace_kernel(&trace, stream, shape, 3000, 6000);
	trace_kernel(&trace, stream, shape, 7000, 9000);
	add_range(0, "load", 0, GT_NONE, 1000, 1100);
	add_range(1, "load", 0, GT_NONE, 3000, 3600);
	add_range(2, "store", 0, GT_NONE, 7000, 7100);
	run_report(&result, "device-events", &trace);
	expect_words(&result, "ranges", 0, "name", "load");
	expect_count(&result, "ranges", 0, "launches", 2);
	expect_real(&result, "ranges", 0, "share_percent", 100 * 700 / 4000.0);
	/* The longest launch is drawn, unless another one is asked for. */
	cr_expect(has_remark(&result, "Drawn: launch 2 of 3, of gemm, 3.00 us"));
	scene_end();
	scene_begin(20000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
	trace_kernel(&trace, stream, shape, 3000, 6000);
	add_range(0, "load", 0, GT_NONE, 1000, 1100);
	add_range(1, "load", 0, GT_NONE, 3000, 3600);
	run_report_with(&result, "device-events", &trace, "launch=1");
	cr_expect(has_remark(&result, "Drawn: launch 1 of 2, of gemm, 1.00 us"));
	scene_end();
}

Test(device_events, counts_marks_and_values)
{
	struct gt_device_event *event;
	const double real = 0.5;

	scene_begin(10000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
	event = trace_device_event(&trace, 0, GT_DEVICE_INT, "depth", 0, 1100, 1100);
	event->value = (uint64_t)-3;
	event = trace_device_event(&trace, 0, GT_DEVICE_INT, "depth", 1, 1100, 1100);
	event->value = 5;
	event = trace_device_event(&trace, 0, GT_DEVICE_REAL, "loss", 1, 1150, 1150);
	memcpy(&event->value, &real, sizeof(real));
	trace_device_event(&trace, 0, GT_DEVICE_MARK, "ready", 0, 1200, 1200);
	trace_device_event(&trace, 0, GT_DEVICE_MARK, "ready", 1, 1300, 1300);
	run_report(&result, "device-events", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 0));
	expect_count(&result, "marks", 0, "count", 2);
	expect_count(&result, "marks", 0, "first_ns", 200);
	expect_count(&result, "marks", 0, "mean_ns", 250);
	expect_count(&result, "marks", 0, "last_ns", 300);
	expect_words(&result, "values", 0, "name", "depth");
	expect_count(&result, "values", 0, "count", 2);
	expect_real(&result, "values", 0, "min", -3);
	expect_real(&result, "values", 0, "mean", 1);
	expect_real(&result, "values", 0, "max", 5);
	expect_real(&result, "values", 1, "mean", 0.5);
	cr_expect(has_remark(&result, "How well the times of events agree"));
	scene_end();
}

Test(device_events, ranges_without_an_end_have_no_time)
{
	struct gt_device_event *event;

	scene_begin(10000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
	event = trace_device_event(&trace, 0, GT_DEVICE_RANGE, "load", 0, 1100, 1100);
	event->flags = GT_DEVICE_NO_END | GT_DEVICE_BY_TIME;
	run_report(&result, "device-events", &trace);
	expect_count(&result, "ranges", 0, "count", 1);
	expect_count(&result, "ranges", 0, "unended", 1);
	expect_unknown(&result, "ranges", 0, "total_ns");
	expect_unknown(&result, "ranges", 0, "p50_ns");
	expect_unknown(&result, "ranges", 0, "share_percent");
	cr_expect(has_remark(&result, "Ranges whose begin or end is not there: 1."));
	cr_expect(has_remark(&result,
	                     "Events whose launch is told by time and launch shape alone: 1."));
	scene_end();
}

Test(device_events, says_what_was_lost)
{
	make_uneven();
	*gt_array_push(&trace.device_rings) = (struct gt_device_ring){
		.written = 12, .lost = 1234, .overwritten = 56, .without_kernel = 7};
	trace.device_events.rows[11].kernel = GT_NONE;
	run_report(&result, "device-events", &trace);
	expect_count(&result, "rings", 0, "lost", 1234);
	cr_expect(has_remark(&result, "Events that found no room and are lost: 1,234."));
	cr_expect(has_remark(&result, "Events that later ones took the place of: 56."));
	cr_expect(has_remark(&result, "or more than one: 7."));
	/* A range whose kernel is not known is in no kernel's time. */
	expect_words(&result, "ranges", 3, "kernel", "(name not known)");
	expect_unknown(&result, "ranges", 3, "share_percent");
	cr_assert(eq(sz, row_count(&result, "kernels"), 1));
	scene_end();
}

Test(device_events, draws_nothing_by_itself_of_several_functions)
{
	make_uneven();
	trace_kernel(&trace, stream, trace_shape(&trace, "relu", 1, 32), 3000, 4000);
	add_range(1, "load", 0, GT_NONE, 3000, 3100);
	run_report(&result, "device-events", &trace);
	cr_expect(eq(ptr, (void *)gt_result_find(&result, "timeline"), NULL));
	cr_expect(eq(sz, result.strips.count, 0));
	cr_expect(has_remark(&result, "--kernel NAME draws the longest launch"));
	cr_assert(eq(sz, row_count(&result, "kernels"), 2));
	gt_result_release(&result);
	run_report_with(&result, "device-events", &trace, "launch=2");
	cr_expect(has_remark(&result, "Drawn: launch 2 of 2, of relu"));
	scene_end();
}

Test(device_events, are_named_in_the_summary)
{
	make_uneven();
	run_report(&result, "summary", &trace);
	cr_expect(has_remark(&result, "Kernels told 12 events of themselves: gputrace report "
	                              "device-events."));
	scene_end();
}

Test(device_events, says_how_to_get_them)
{
	scene_begin(1000);
	run_report(&result, "device-events", &trace);
	cr_expect(eq(sz, row_count(&result, "ranges"), 0));
	cr_expect(has_remark(&result, "gputrace run --device-events records what kernels write "
	                              "with include/gputrace/device.cuh"));
	cr_expect(gt_result_says_why_empty(&result));
	scene_end();
	scene_begin(1000);
	*gt_array_push(&trace.device_rings) = (struct gt_device_ring){.chunk_count = 8};
	run_report(&result, "device-events", &trace);
	cr_expect(has_remark(&result, "No kernel told events"));
	scene_end();
	scene_begin(1000);
	*gt_array_push(&trace.device_rings) =
		(struct gt_device_ring){.written = 1500, .without_kernel = 1500};
	run_report(&result, "device-events", &trace);
	cr_expect(has_remark(&result, "None of 1,500 events that kernels told can be put"));
	scene_end();
}

Test(device_events, refuses_a_launch_that_is_not_there)
{
	const struct gt_report *report = gt_report_find("device-events");
	struct gt_arguments arguments;
	struct gt_error err = {0};

	make_uneven();

	const struct gt_view view = gt_view_of(&trace);

	gt_result_init(&result);
	gt_arguments_init(&arguments, report->parameters);
	cr_assert(eq(int, gt_arguments_set(&arguments, report->parameters, "launch=2", NULL), 0));
	cr_expect(lt(int, gt_report_run(report, &view, &arguments, &result, &err), 0));
	expect_text(err.text, "launch=2: launches that told events are numbered up to 1");
	scene_end();
}

/* Times that a damaged recording can hold must not overflow. */
Test(device_events, survives_any_times)
{
	static const gt_time times[] = {INT64_MIN, -5, 0, 1000, INT64_MAX};

	scene_begin(10000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
	for (gt_count i = 0; i < 100; i++)
		*gt_array_push(&trace.device_events) = (struct gt_device_event){
			.start_ns = times[i % 5],
			.end_ns = times[i / 5 % 5],
			.value = UINT64_MAX - i,
			.process = i % 3 ? process : GT_NONE,
			.device = i % 7 ? device : 99,
			.kernel = i % 4 ? 0 : 77 + i,
			.parent = i % 2 ? i / 2 : 100000,
			.kind = i % 6,
			.sm = i * 0x10000001,
			.block = i,
			.flags = i % 8,
		};
	run_report_with(&result, "device-events", &trace, "launch=1");
	cr_expect(gt(sz, row_count(&result, "ranges"), 0));
	scene_end();
}
