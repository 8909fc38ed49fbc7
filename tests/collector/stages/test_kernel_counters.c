/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/recorded.h"
#include "support/check.h"
#include "support/recording.h"

/*
 * Covers STAGE(profiled): times of kernels that were run several times.
 * Covers STAGE(kernel_counters): what was counted of which launch.
 */

enum { NAME = STRING_NEXT, METRIC, UNIT, DURATION, DURATION_METRIC, NS };

static void prepare(void)
{
	make();
	recording_add_string(&recording, NAME, "dram_read_bytes");
	recording_add_string(&recording, METRIC, "dram__bytes_read.sum");
	recording_add_string(&recording, UNIT, "bytes");
	recording_add_string(&recording, DURATION, "duration_ns");
	recording_add_string(&recording, DURATION_METRIC, "gpu__time_duration.sum");
	recording_add_string(&recording, NS, "ns");
	recording_add(&recording, profiled_metric, .number = 0, .name = NAME, .metric = METRIC,
	              .unit = UNIT);
	recording_add(&recording, profiled_metric, .number = 1, .name = DURATION,
	              .metric = DURATION_METRIC, .unit = NS);
}

TestSuite(kernel_counters, .init = prepare, .fini = drop);

/* The way CUPTI tells of a kernel that it has replayed: without times. */
static void add_replayed(uint32_t correlation)
{
	recording_add(&recording, kernel, .shape = SHAPE, .context = CONTEXT, .stream = STREAM,
	              .correlation = correlation, .flags = GT_RECORD_UNFINISHED);
}

static void add_launch(uint64_t start, uint64_t end, uint32_t correlation, uint32_t kind)
{
	recording_add_call(&recording, start + 10, correlation);
	recording_add(&recording, profiled_launch, .start_ns = start, .end_ns = end,
	              .correlation = correlation, .passes = 9, .kind = kind);
}

static void add_value(uint32_t correlation, uint32_t metric, double value)
{
	recording_add(&recording, profiled_value, .correlation = correlation, .metric = metric,
	              .value = value);
}

static void expect_counter(size_t row, gt_id kernel, const char *name, double value)
{
	const struct gt_kernel_counter *counter = &trace.kernel_counters.rows[row];

	cr_expect(eq(u32, counter->kernel, kernel));
	expect_text(gt_trace_text(&trace, counter->name), name);
	cr_expect(ieee_ulp_eq(dbl, counter->value, value, 1));
}

Test(kernel_counters, go_to_the_launch_with_their_correlation_id)
{
	recording_add_call(&recording, 1000, 1);
	recording_add_kernel(&recording, 1100, 1);
	add_launch(2000, 9000, 2, 0);
	add_replayed(2);
	add_value(2, 0, 4096);
	add_value(2, 1, 500);
	add_value(3, 0, 1); /* of a launch that nobody knows */
	finish();
	cr_assert(eq(sz, trace.kernels.count, 2));
	cr_expect(eq(u32, trace.kernels.rows[0].flags & GT_PROFILED, 0));
	cr_expect(ne(u32, trace.kernels.rows[1].flags & GT_PROFILED, 0));
	cr_expect(eq(u32, trace.kernels.rows[1].flags & GT_UNFINISHED, 0));
	cr_expect(eq(i64, trace.kernels.rows[1].end_ns, 9000));
	cr_expect(eq(i64, trace.kernels.rows[1].start_ns, 8500));
	cr_assert(eq(sz, trace.profiled_launches.count, 1));
	cr_expect(eq(u32, trace.profiled_launches.rows[0].kernel, 1));
	cr_expect(eq(u32, trace.profiled_launches.rows[0].passes, 9));
	cr_assert(eq(sz, trace.kernel_counters.count, 2));
	expect_counter(0, 1, "dram_read_bytes", 4096);
	expect_counter(1, 1, "duration_ns", 500);
	cr_expect(ne(u32, trace.api_calls.rows[1].flags & GT_PROFILED, 0));
	cr_expect(eq(u64, ledger_of(&trace, "launches_timed"), 2));
}

enum { UNCONFIGURED = SHAPE + 1, CONFIGURED, OTHER, ALONE };

static void add_shape(uint32_t id, uint32_t grid_x, uint32_t configured)
{
	recording_add(&recording, shape, .id = id, .name = STRING_KERNEL, .grid_x = grid_x,
	              .grid_y = 1, .grid_z = 1, .block_x = 64, .block_y = 1, .block_z = 1,
	              .registers = 18, .shared_executed = configured,
	              .cache_config = configured != 0);
}

/* CUPTI does not say how shared memory and caches were configured for a launch that it replayed. */
Test(kernel_counters, are_of_the_shape_that_others_were_launched_with)
{
	static const uint32_t shapes[] = {UNCONFIGURED, CONFIGURED, OTHER, ALONE};

	add_shape(UNCONFIGURED, 100, 0);
	add_shape(OTHER, 200, 32768);
	add_shape(CONFIGURED, 100, 32768);
	add_shape(ALONE, 300, 0);
	for (uint32_t i = 0; i < 4; i++) {
		if (i == 0 || i == 3)
			add_launch(2000 + i * 1000, 2900 + i * 1000, 1 + i, 0);
		else
			recording_add_call(&recording, 2010 + i * 1000, 1 + i);
		recording_add(&recording, kernel, .shape = shapes[i], .context = CONTEXT,
		              .stream = STREAM, .correlation = 1 + i, .start_ns = 2100 + i * 1000,
		              .end_ns = 2200 + i * 1000);
	}
	finish();
	cr_assert(eq(sz, trace.kernels.count, 4));
	cr_expect(ne(u32, trace.kernels.rows[0].flags & GT_PROFILED, 0));
	cr_expect(eq(u32, trace.kernels.rows[0].shape, trace.kernels.rows[1].shape));
	cr_expect(ne(u32, trace.kernels.rows[0].shape, trace.kernels.rows[2].shape));
	cr_expect(eq(u32, trace.launch_shapes.rows[trace.kernels.rows[3].shape].grid_x, 300));
}

Test(kernel_counters, take_the_time_of_the_call_where_none_was_counted)
{
	add_launch(2000, 9000, 2, 0);
	add_replayed(2);
	finish();
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 2000));
	cr_expect(eq(i64, trace.kernels.rows[0].end_ns, 9000));
}

Test(kernel_counters, leave_a_graph_s_kernels_as_they_ran)
{
	add_launch(2000, 9000, 2, 1);
	recording_add(&recording, kernel, .shape = SHAPE, .context = CONTEXT, .stream = STREAM,
	              .correlation = 2, .start_ns = 2100, .end_ns = 2200, .graph = 3,
	              .graph_node = 7);
	recording_add_kernel(&recording, 2300, 2); /* CUPTI's own, with which it waits */
	add_value(2, 0, 77);
	finish();
	cr_assert(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(u32, trace.kernels.rows[0].flags & GT_PROFILED, 0));
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 2100));
	cr_expect(eq(u32, trace.profiled_launches.rows[0].kernel, GT_NONE));
	cr_assert(eq(sz, trace.kernel_counters.count, 1));
	expect_counter(0, GT_NONE, "dram_read_bytes", 77);
}

/* Each process counts its correlation ids for itself. */
Test(kernel_counters, of_one_process_give_no_times_to_kernels_of_another)
{
	add_launch(2000, 9000, 2, 0);
	add_replayed(2);
	add_value(2, 1, 500);
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	recording_add_basics(&recording, 2);
	add_launch(20000, 21000, 3, 0);
	add_replayed(3);
	add_replayed(2); /* of a launch that was not counted */
	finish();
	cr_assert(eq(sz, trace.kernels.count, 3));
	gt_array_each(const struct gt_kernel, kernel, &trace.kernels) {
		const gt_id process = gt_trace_stream_process(&trace, kernel->stream);

		if (trace.processes.rows[process].pid == 2 && kernel->correlation == 2)
			cr_expect(ne(u32, kernel->flags & GT_UNFINISHED, 0));
		else
			cr_expect(eq(u32, kernel->flags & GT_UNFINISHED, 0));
	}
}
