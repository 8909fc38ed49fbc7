/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/projection.h"

#include "model/names.h"
#include "support/check.h"
#include "support/scene.h"

static struct gt_ranges ranges;
static struct gt_projection projection;

static void begin(void)
{
	scene_begin(10000);
}

static void end(void)
{
	gt_projection_release(&projection);
	gt_ranges_release(&ranges);
	gt_trace_release(&trace);
}

static void project(enum gt_projection_by by, const gt_id *groups, size_t count)
{
	gt_ranges_init(&ranges, &trace);
	gt_projection_init(&projection, &ranges, by, groups, count);
}

/* The only row of a group. */
static const struct gt_projected *row_of(gt_id group)
{
	cr_assert(ne(u32, projection.first[group], GT_NONE), "group %u has no row", group);

	const struct gt_projected *row = &projection.rows.rows[projection.first[group]];

	cr_assert(eq(u32, row->next, GT_NONE), "group %u has several rows", group);
	return row;
}

Test(projection, of_a_range_has_all_that_was_asked_for_in_it_and_below)
{
	begin();

	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 100);
	const gt_id forward = trace_range(&trace, thread, step, "forward", 10, 50);
	const gt_id inner = trace_call_in(&trace, forward, "cudaLaunchKernel", 20, 30);
	const gt_id outer = trace_call_in(&trace, step, "cudaMemcpyAsync", 60, 70);

	/* It runs long after the range has ended, and another one's kernel between the two. */
	trace_kernel(&trace, stream, shape, 500, 600)->api_call = inner;
	trace_kernel(&trace, stream, shape, 600, 650);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 4096, 700, 800)->api_call = outer;
	project(GT_PROJECT_DEVICES, NULL, 0);

	cr_expect(eq(i64, row_of(forward)->span.start_ns, TRACE_START_NS + 500));
	cr_expect(eq(i64, row_of(forward)->span.end_ns, TRACE_START_NS + 600));
	cr_expect(eq(u64, row_of(forward)->copies, 0));
	cr_expect(eq(u64, row_of(step)->kernels, 1));
	cr_expect(eq(u64, row_of(step)->copies, 1));
	cr_expect(eq(u64, row_of(step)->copied_bytes, 4096));
	cr_expect(eq(u64, row_of(step)->cover.covered_ns, 200));
	cr_expect(eq(u64, gt_cover_span(&row_of(step)->span), 300));
	cr_expect(eq(u64, row_of(step)->idle_ns, 50), "the other's kernel is not idle time");
	end();
}

/* Another thread's launch was held up for its counters between the two kernels. */
/* A thread without ranges captured it for one that waited in a range. */
Test(projection, has_what_was_captured_for_the_range_of_another_thread)
{
	begin();

	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 100);
	const gt_id helper = trace_thread(&trace, process, 8);
	const gt_id capture = trace_call(&trace, helper, "cuLaunchKernel", 20, 30);
	const gt_id node = trace_node(&trace, process, capture);
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, 500, 600);

	kernel->node = node;
	trace.graph_nodes.rows[node].made_ns = TRACE_START_NS + 25;
	trace.graph_nodes.rows[node].for_range = step;
	trace.graph_nodes.rows[node].flags = GT_BY_TIME;
	project(GT_PROJECT_DEVICES, NULL, 0);
	cr_expect(eq(u64, row_of(step)->kernels, 1));
	cr_expect(eq(u64, row_of(step)->captured, 1));
	cr_expect(eq(u64, row_of(step)->sure.covered_ns, 0));
	end();
}

Test(projection, was_not_idle_while_nothing_is_measured)
{
	begin();

	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 100);
	const gt_id first = trace_call_in(&trace, step, "cudaLaunchKernel", 20, 30);
	const gt_id second = trace_call_in(&trace, step, "cudaLaunchKernel", 40, 50);

	trace_kernel(&trace, stream, shape, 100, 200)->api_call = first;
	trace_kernel(&trace, stream, shape, 900, 950)->api_call = second;
	*gt_array_push(&trace.profiled_launches) =
		(struct gt_profiled_launch){.start_ns = TRACE_START_NS + 300,
	                                    .end_ns = TRACE_START_NS + 700,
	                                    .kernel = GT_NONE};
	project(GT_PROJECT_DEVICES, NULL, 0);
	cr_expect(eq(u64, row_of(step)->idle_ns, 100 + 200));
	end();
}

Test(projection, counts_what_overlaps_once)
{
	begin();

	const gt_id other = trace_stream(&trace, process, device);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 100);
	const gt_id call = trace_call_in(&trace, step, "cudaLaunchKernel", 20, 30);

	trace_kernel(&trace, stream, shape, 500, 600)->api_call = call;
	trace_kernel(&trace, other, shape, 550, 700)->api_call = call;
	project(GT_PROJECT_DEVICES, NULL, 0);
	cr_expect(eq(u64, row_of(step)->cover.covered_ns, 200));
	cr_expect(eq(u64, row_of(step)->idle_ns, 0));
	end();
}

Test(projection, by_stream_has_a_row_for_each)
{
	begin();

	const gt_id other = trace_stream(&trace, process, device);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 100);
	const gt_id call = trace_call_in(&trace, step, "cudaLaunchKernel", 20, 30);
	size_t rows = 0;

	/* They take turns. */
	trace_kernel(&trace, stream, shape, 500, 600)->api_call = call;
	trace_kernel(&trace, other, shape, 600, 700)->api_call = call;
	trace_kernel(&trace, stream, shape, 700, 800)->api_call = call;
	trace_kernel(&trace, other, shape, 800, 900)->api_call = call;
	project(GT_PROJECT_STREAMS, NULL, 0);
	for (gt_id i = projection.first[step]; i != GT_NONE; i = projection.rows.rows[i].next) {
		const struct gt_projected *row = &projection.rows.rows[i];

		rows++;
		cr_expect(eq(u64, row->kernels, 2));
		cr_expect(eq(u64, row->cover.covered_ns, 200));
		cr_expect(eq(u64, gt_cover_span(&row->span), 300));
		cr_expect(eq(i64, row->span.start_ns,
		             TRACE_START_NS + (row->place == stream ? 500 : 600)));
	}
	cr_expect(eq(sz, rows, 2));
	end();
}

Test(projection, of_a_group_counts_work_once_that_lies_in_it_twice)
{
	const gt_id groups[] = {0, 0, 1};

	begin();

	const gt_id outer = trace_range(&trace, thread, GT_NONE, "f", 0, 100);
	const gt_id inner = trace_range(&trace, thread, outer, "f", 10, 90);
	const gt_id other = trace_range(&trace, thread, inner, "g", 20, 80);
	const gt_id call = trace_call_in(&trace, other, "cudaLaunchKernel", 30, 40);

	trace_kernel(&trace, stream, shape, 500, 600)->api_call = call;
	project(GT_PROJECT_DEVICES, groups, 2);
	cr_expect(eq(u64, row_of(0)->kernels, 1));
	cr_expect(eq(u64, row_of(1)->kernels, 1));
	end();
}

Test(projection, leaves_out_ranges_that_had_ended)
{
	begin();

	const gt_id ended = trace_range(&trace, thread, GT_NONE, "ended", 0, 20);
	const gt_id open = trace_range(&trace, thread, ended, "open", 10, 100);
	const gt_id call = trace_call_in(&trace, open, "cudaLaunchKernel", 30, 40);

	trace_kernel(&trace, stream, shape, 500, 600)->api_call = call;
	project(GT_PROJECT_DEVICES, NULL, 0);
	cr_expect(eq(u64, row_of(open)->kernels, 1));
	cr_expect(eq(u32, projection.first[ended], GT_NONE));
	end();
}

Test(projection, of_work_without_times_or_place_is_empty)
{
	begin();

	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 100);
	const gt_id call = trace_call_in(&trace, step, "cudaLaunchKernel", 30, 40);

	trace_unfinished_kernel(&trace, stream, shape)->api_call = call;

	struct gt_kernel *lost = trace_kernel(&trace, stream, shape, 500, 600);

	lost->api_call = call;
	lost->device = GT_NONE;
	project(GT_PROJECT_DEVICES, NULL, 0);
	cr_expect(eq(u32, projection.first[step], GT_NONE));
	end();
}

Test(projection, of_a_captured_graph_is_in_both_ranges_but_only_the_launch_has_a_span)
{
	begin();

	const gt_id forward = trace_range(&trace, thread, GT_NONE, "forward", 0, 100);
	const gt_id replay = trace_range(&trace, thread, GT_NONE, "replay", 200, 300);
	const gt_id node = trace_node(&trace, process,
	                              trace_call_in(&trace, forward, "cudaLaunchKernel", 10, 20));
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, 400, 500);

	kernel->api_call = trace_call_in(&trace, replay, "cudaGraphLaunch", 210, 220);
	kernel->node = node;
	project(GT_PROJECT_DEVICES, NULL, 0);
	cr_expect(eq(u64, row_of(forward)->kernels, 1));
	cr_expect(eq(u64, row_of(forward)->captured, 1));
	cr_expect(eq(u64, row_of(forward)->cover.covered_ns, 100));
	cr_expect(not(row_of(forward)->span.begun));
	cr_expect(eq(u64, row_of(replay)->kernels, 1));
	cr_expect(eq(u64, row_of(replay)->captured, 0));
	cr_expect(eq(u64, gt_cover_span(&row_of(replay)->span), 100));
	end();
}

/* Two GPUs work for a range, partly after its end and partly by time alone. */
Test(projection, of_a_range_tells_what_ran_in_it_and_what_is_sure)
{
	begin();

	const gt_id second = trace_stream(&trace, process, trace_device(&trace));
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 400);
	const gt_id op = trace_range(&trace, other, GT_NONE, "op", 50, 90);
	const gt_id call = trace_call_in(&trace, step, "cudaLaunchKernel", 20, 30);
	const gt_id inside = trace_call_in(&trace, op, "cudaLaunchKernel", 60, 70);
	const gt_id made_for = trace_call(&trace, other, "cudaLaunchKernel", 100, 110);
	uint64_t covered_ns = 0;
	uint64_t sure_ns = 0;

	trace.ranges.rows[op].for_range = step;
	trace.ranges.rows[op].flags |= GT_BY_TIME;
	trace.api_calls.rows[made_for].for_range = step;
	trace_kernel(&trace, stream, shape, 100, 200)->api_call = call;
	trace_kernel(&trace, second, shape, 150, 250)->api_call = made_for;
	trace_kernel(&trace, stream, shape, 350, 450)->api_call = inside;
	trace.kernels.rows[1].device = trace.contexts.rows[1].device;
	project(GT_PROJECT_DEVICES, NULL, 0);
	for (gt_id i = projection.first[step]; i != GT_NONE; i = projection.rows.rows[i].next) {
		covered_ns += projection.rows.rows[i].cover.covered_ns;
		sure_ns += projection.rows.rows[i].sure.covered_ns;
	}
	cr_expect(eq(u64, covered_ns, 300));
	cr_expect(eq(u64, sure_ns, 200), "op is for step by time alone");
	cr_expect(eq(u64, projection.within[step].covered_ns, 150 + 50));
	cr_expect(eq(u64, row_of(op)->sure.covered_ns, 100), "its own work is sure");
	cr_expect(eq(u64, projection.within[op].covered_ns, 0));
	end();
}

/* A range with the same span as the one that it is for is drawn inside that. */
Test(projection, has_ranges_of_other_threads_behind_those_they_are_for)
{
	gt_id *order;
	size_t count;

	begin();

	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id train = trace_range(&trace, thread, GT_NONE, "train", 0, 400);
	const gt_id step = trace_range(&trace, thread, train, "step", 10, 300);
	const gt_id op = trace_range(&trace, other, GT_NONE, "op", 50, 90);

	trace.ranges.rows[op].for_range = step;
	scene_launch(op, 60, 100, 200);
	project(GT_PROJECT_STREAMS, NULL, 0);
	order = gt_projection_order(&projection, &ranges, &count);
	cr_assert(eq(sz, count, 3));
	cr_expect(eq(u32, projection.rows.rows[order[0]].group, train));
	cr_expect(eq(u32, projection.rows.rows[order[1]].group, step));
	cr_expect(eq(u32, projection.rows.rows[order[2]].group, op));
	gt_array_free(order);
	end();
}
