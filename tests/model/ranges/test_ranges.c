/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/ranges.h"

#include <string.h>

#include "model/ranges/owners.h"
#include "support/check.h"
#include "support/trace.h"

static struct gt_trace trace;
static struct gt_ranges ranges;
static gt_id process;
static gt_id thread;

static void begin(void)
{
	trace_init(&trace, 1000);
	process = trace_process(&trace, "app", 100);
	thread = trace_thread(&trace, process, 7);
}

static void end(void)
{
	gt_ranges_release(&ranges);
	gt_trace_release(&trace);
}

static const char *path_of(gt_id range)
{
	static char text[GT_RANGE_PATH_BYTES];

	gt_range_path_text(&ranges, gt_ranges_path(&ranges, range), text);
	return text;
}

Test(ranges, have_the_names_around_them_as_path)
{
	begin();

	const gt_id train = trace_range(&trace, thread, GT_NONE, "train", 0, 900);
	const gt_id first = trace_range(&trace, thread, train, "step", 100, 200);
	const gt_id inner = trace_range(&trace, thread, first, "forward", 110, 120);
	const gt_id second = trace_range(&trace, thread, train, "step", 300, 400);

	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(train), "train");
	expect_text(path_of(inner), "train/step/forward");
	expect_text(path_of(second), "train/step");
	cr_expect(eq(u32, gt_ranges_path(&ranges, first), gt_ranges_path(&ranges, second)));
	cr_expect(eq(sz, ranges.paths.count, 3));
	end();
}

Test(ranges, of_one_name_in_two_domains_are_two)
{
	begin();

	const gt_id domain = trace_domain(&trace, process, "NCCL");
	const gt_id same = trace_domain(&trace, process, "NCCL");
	const gt_id plain = trace_range(&trace, thread, GT_NONE, "reduce", 0, 10);
	const gt_id other = trace_range(&trace, thread, GT_NONE, "reduce", 20, 30);
	const gt_id again = trace_range(&trace, thread, GT_NONE, "reduce", 40, 50);

	trace.ranges.rows[other].domain = domain;
	trace.ranges.rows[again].domain = same;
	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(plain), "reduce");
	expect_text(path_of(other), "NCCL:reduce");
	cr_expect(eq(u32, gt_ranges_path(&ranges, other), gt_ranges_path(&ranges, again)),
	          "domains of one name are one, whichever process made them");
	end();
}

Test(ranges, keep_separators_in_names_apart_from_those_between_them)
{
	begin();

	const gt_id outer = trace_range(&trace, thread, GT_NONE, "jit(f)/add", 0, 90);
	const gt_id inner = trace_range(&trace, thread, outer, "a\\b", 10, 20);
	const gt_id silent = trace_range(&trace, thread, outer, "", 30, 40);

	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(inner), "jit(f)\\/add/a\\\\b");
	expect_text(path_of(silent), "jit(f)\\/add/(no name)");
	end();
}

Test(ranges, that_overlap_are_around_others_only_while_they_are_open)
{
	begin();

	/* Started and ended like a pipeline: never more than two are open. */
	const gt_id first = trace_range(&trace, thread, GT_NONE, "load", 0, 150);
	const gt_id second = trace_range(&trace, thread, first, "load", 100, 250);
	const gt_id third = trace_range(&trace, thread, second, "load", 200, 350);
	const gt_id inner = trace_range(&trace, thread, third, "copy", 300, 310);

	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(second), "load/load");
	expect_text(path_of(third), "load/load");
	expect_text(path_of(inner), "load/copy");
	cr_expect(eq(u32, gt_ranges_around(&ranges, third, TRACE_START_NS + 220), second));
	cr_expect(eq(u32, gt_ranges_around(&ranges, third, TRACE_START_NS + 260), GT_NONE));
	cr_expect(eq(u32, gt_ranges_around(&ranges, second, TRACE_START_NS + 120), first));
	cr_expect(eq(u32, gt_ranges_around(&ranges, second, TRACE_START_NS + 150), GT_NONE));
	end();
}

Test(ranges, that_outlast_what_is_around_them_go_on_to_what_is_open_above)
{
	begin();

	const gt_id run = trace_range(&trace, thread, GT_NONE, "run", 0, 900);
	const gt_id short_one = trace_range(&trace, thread, run, "short", 100, 200);
	const gt_id long_one = trace_range(&trace, thread, short_one, "long", 150, 800);

	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(long_one), "run/short/long");
	cr_expect(eq(u32, gt_ranges_around(&ranges, long_one, TRACE_START_NS + 160), short_one));
	cr_expect(eq(u32, gt_ranges_around(&ranges, long_one, TRACE_START_NS + 500), run));
	end();
}

Test(ranges, without_an_end_are_open_for_ever)
{
	begin();

	const gt_id outer = trace_range(&trace, thread, GT_NONE, "outer", 0, 0);
	const gt_id inner = trace_range(&trace, thread, outer, "inner", 10, 20);

	trace.ranges.rows[outer].end_ns = 0;
	trace.ranges.rows[outer].flags = GT_UNFINISHED;
	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(inner), "outer/inner");
	cr_expect(eq(u32, gt_ranges_around(&ranges, inner, TRACE_START_NS + 15), outer));
	end();
}

Test(ranges, may_begin_in_the_nanosecond_of_what_they_are_in)
{
	begin();

	/* Sorted by start and end, the inner one comes first. */
	const gt_id inner = trace_range(&trace, thread, 1, "inner", 100, 200);
	const gt_id outer = trace_range(&trace, thread, GT_NONE, "outer", 100, 300);

	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(inner), "outer/inner");
	cr_expect(eq(u32, gt_ranges_around(&ranges, inner, TRACE_START_NS + 110), outer));
	end();
}

Test(ranges, that_lie_in_themselves_end_somewhere)
{
	begin();

	const gt_id first = trace_range(&trace, thread, 1, "a", 0, 100);
	const gt_id second = trace_range(&trace, thread, 0, "b", 10, 90);
	const gt_id own = trace_range(&trace, thread, 2, "c", 20, 80);
	const gt_id lost = trace_range(&trace, thread, 77, "d", 30, 70);

	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(first), "b/a");
	expect_text(path_of(second), "b");
	expect_text(path_of(own), "c");
	expect_text(path_of(lost), "d");
	end();
}

/* Each is the parent of the next and ends long after it began: no chain stays whole. */
Test(ranges, that_overlap_by_the_thousand_cost_no_more_than_so_many_steps_each)
{
	enum { RANGES = 40000, LENGTH = 3000 };
	gt_id last = GT_NONE;

	begin();
	for (gt_time i = 0; i < RANGES; i++)
		last = trace_range(&trace, thread, last, "open", i, i + LENGTH);
	gt_ranges_init(&ranges, &trace);
	cr_expect(le(sz, ranges.walked, (1 << 20) + 64 * RANGES + 2 * LENGTH));
	cr_expect(eq(u32, ranges.paths.rows[ranges.path_of[LENGTH - 1]].depth, LENGTH - 1));
	cr_expect(ne(u32, ranges.path_of[last], GT_NONE));
	end();
}

Test(ranges, too_deep_for_a_text_show_where_they_end)
{
	gt_id range = GT_NONE;

	begin();
	for (int i = 0; i < 1000; i++)
		range = trace_range(&trace, thread, range, "recursion", i, 10000 - i);
	gt_ranges_init(&ranges, &trace);

	const char *path = path_of(range);

	cr_expect(lt(sz, strlen(path), GT_RANGE_PATH_BYTES));
	cr_expect(gt(sz, strlen(path), GT_RANGE_PATH_BYTES - 20));
	cr_expect(eq(int, strncmp(path, ".../recursion/", 14), 0));
	end();
}

Test(ranges, with_long_names_keep_whole_characters)
{
	char name[4096];

	begin();
	memset(name, 'x', sizeof(name));
	for (size_t i = 1; i + 1 < sizeof(name); i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	name[sizeof(name) - 1] = '\0';

	const gt_id range = trace_range(&trace, thread, GT_NONE, name, 0, 10);

	gt_ranges_init(&ranges, &trace);

	const char *path = path_of(range);
	const size_t length = strlen(path);

	cr_expect(lt(sz, length, GT_RANGE_NAME_BYTES));
	expect_text(path + length - 5, "\xc3\xa4...");
	end();
}

Test(ranges, of_work_are_those_of_the_thread_that_asked_for_it)
{
	begin();

	const gt_id range = trace_range(&trace, thread, GT_NONE, "step", 0, 100);
	const gt_id device = trace_device(&trace);
	const gt_id stream = trace_stream(&trace, process, device);
	const gt_id inside = trace_call_in(&trace, range, "cudaMemcpyAsync", 10, 20);
	const gt_id outside = trace_call(&trace, thread, "cudaMemcpyAsync", 200, 210);

	trace_copy(&trace, stream, 1, 8, 300, 400)->api_call = inside;
	trace_copy(&trace, stream, 1, 8, 400, 500)->api_call = outside;
	trace_copy(&trace, stream, 1, 8, 500, 600);
	gt_ranges_init(&ranges, &trace);
	cr_expect(eq(u32, gt_owner_of(&trace, GT_ACTIVITY_COPY, 0).range, range));
	cr_expect(eq(i64, gt_owner_of(&trace, GT_ACTIVITY_COPY, 0).at_ns, TRACE_START_NS + 10));
	cr_expect(eq(u32, gt_owner_of(&trace, GT_ACTIVITY_COPY, 1).range, GT_NONE));
	cr_expect(eq(u32, gt_owner_of(&trace, GT_ACTIVITY_COPY, 2).range, GT_NONE));
	end();
}

Test(ranges, of_work_of_a_captured_graph_are_two)
{
	begin();

	const gt_id forward = trace_range(&trace, thread, GT_NONE, "forward", 0, 100);
	const gt_id replay = trace_range(&trace, thread, GT_NONE, "replay", 200, 300);
	const gt_id stream = trace_stream(&trace, process, trace_device(&trace));
	const gt_id shape = trace_shape(&trace, "gemm", 1, 32);
	const gt_id captured = trace_call_in(&trace, forward, "cudaLaunchKernel", 10, 20);
	const gt_id launched = trace_call_in(&trace, replay, "cudaGraphLaunch", 210, 220);
	const gt_id node = trace_node(&trace, process, captured);
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, 400, 500);
	struct gt_owners owners;

	kernel->api_call = launched;
	kernel->node = node;
	trace_fill(&trace, stream, 8, 600, 700)->api_call = launched;
	gt_ranges_init(&ranges, &trace);
	owners = gt_owners_of(&trace, GT_ACTIVITY_KERNEL, 0);
	cr_expect(eq(u32, owners.launched.range, replay));
	cr_expect(eq(u32, owners.captured.range, forward));
	cr_expect(eq(i64, owners.captured.at_ns, TRACE_START_NS + 11));
	cr_expect(eq(u32, gt_owner_of(&trace, GT_ACTIVITY_KERNEL, 0).range, forward));
	cr_expect(eq(u32, gt_owner_of(&trace, GT_ACTIVITY_FILL, 0).range, replay));
	end();
}

/* A clone of a node was captured when the node was, whenever the clone was made. */
Test(ranges, of_work_of_a_clone_are_those_that_were_open_when_its_origin_was_made)
{
	begin();

	const gt_id forward = trace_range(&trace, thread, GT_NONE, "forward", 0, 100);
	const gt_id captured = trace_call_in(&trace, forward, "cudaLaunchKernel", 10, 20);
	const gt_id instantiated = trace_call(&trace, thread, "cudaGraphInstantiate", 200, 220);
	const gt_id stream = trace_stream(&trace, process, trace_device(&trace));
	const gt_id origin = trace_node(&trace, process, captured);
	const gt_id clone = trace_node(&trace, process, instantiated);
	struct gt_owners owners;

	trace.graph_nodes.rows[clone].origin = origin;
	trace.graph_nodes.rows[clone].range = forward;
	trace_fill(&trace, stream, 8, 400, 500)->node = clone;
	trace_fill(&trace, stream, 8, 600, 700)->node = origin;
	gt_ranges_init(&ranges, &trace);
	for (gt_id i = 0; i < 2; i++) {
		owners = gt_owners_of(&trace, GT_ACTIVITY_FILL, i);
		cr_expect(eq(u32, owners.captured.range, forward));
		cr_expect(eq(i64, owners.captured.at_ns, TRACE_START_NS + 11));
		cr_expect(eq(u32, owners.launched.range, GT_NONE));
	}
	trace.graph_nodes.rows[clone].origin = GT_NONE;
	owners = gt_owners_of(&trace, GT_ACTIVITY_FILL, 0);
	cr_expect(eq(i64, owners.captured.at_ns, TRACE_START_NS + 201), "it has none");
	end();
}

/* Behind the ranges of a thread comes the one of another thread that they were begun for. */
Test(ranges, go_on_where_another_thread_waits)
{
	begin();

	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id train = trace_range(&trace, thread, GT_NONE, "train", 0, 900);
	const gt_id step = trace_range(&trace, thread, train, "step", 100, 500);
	const gt_id engine = trace_range(&trace, other, GT_NONE, "engine", 200, 600);
	const gt_id op = trace_range(&trace, other, engine, "op", 210, 590);

	trace.ranges.rows[engine].for_range = trace.ranges.rows[op].for_range = step;
	trace.ranges.rows[engine].flags |= GT_BY_TIME;
	gt_ranges_init(&ranges, &trace);
	expect_text(path_of(op), "engine/op");
	cr_expect(eq(u32, gt_ranges_around(&ranges, op, TRACE_START_NS + 300), engine));
	cr_expect(eq(u32, gt_ranges_around(&ranges, engine, TRACE_START_NS + 300), step));
	cr_expect(eq(u32, gt_ranges_around(&ranges, engine, TRACE_START_NS + 550), train));
	cr_expect(eq(u32, gt_ranges_beyond(&ranges, op, TRACE_START_NS + 300), step));
	cr_expect(gt_ranges_by_time(&ranges, engine, step));
	cr_expect(not(gt_ranges_by_time(&ranges, op, engine)));
	cr_expect(eq(u32, gt_ranges_around_sure(&ranges, op, TRACE_START_NS + 300), engine));
	cr_expect(eq(u32, gt_ranges_around_sure(&ranges, engine, TRACE_START_NS + 300), GT_NONE));
	end();
}

/* A window may have taken out what a range was for, and a damaged recording says anything. */
Test(ranges, are_for_none_that_began_with_them_or_is_gone)
{
	begin();

	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id one = trace_range(&trace, thread, GT_NONE, "one", 100, 500);
	const gt_id two = trace_range(&trace, other, GT_NONE, "two", 100, 500);
	const gt_id three = trace_range(&trace, other, GT_NONE, "three", 600, 700);

	trace.ranges.rows[one].for_range = two;
	trace.ranges.rows[two].for_range = one;
	trace.ranges.rows[three].for_range = 77;
	gt_ranges_init(&ranges, &trace);
	for (gt_id i = 0; i < 3; i++) {
		cr_expect(eq(u32, gt_ranges_for(&ranges, i), GT_NONE));
		cr_expect(eq(u32, gt_ranges_around(&ranges, i, TRACE_START_NS + 300), GT_NONE));
	}
	end();
}

Test(ranges, own_calls_that_were_made_for_them)
{
	begin();

	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 900);
	const gt_id own = trace_range(&trace, other, GT_NONE, "own", 100, 200);
	const gt_id inside = trace_call_in(&trace, own, "cudaLaunchKernel", 110, 120);
	const gt_id made_for = trace_call(&trace, other, "cudaLaunchKernel", 300, 310);
	struct gt_owner owner;

	trace.api_calls.rows[inside].for_range = step;
	trace.api_calls.rows[made_for].for_range = step;
	trace.api_calls.rows[made_for].flags = GT_BY_TIME;
	cr_expect(eq(u32, gt_owner_of_call(&trace, inside).range, own));
	owner = gt_owner_of_call(&trace, made_for);
	cr_expect(eq(u32, owner.range, step));
	cr_expect(eq(i64, owner.at_ns, TRACE_START_NS + 300));
	cr_expect(owner.by_time);
	cr_expect(eq(u32, gt_owner_sure(owner).range, GT_NONE));
	gt_ranges_init(&ranges, &trace);
	end();
}
