/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path/path.h"

#include <stdio.h>
#include <string.h>

#include "model/names.h"
#include "model/path/changes.h"
#include "model/path/spans.h"
#include "model/work/sync.h"
#include "support/check.h"
#include "support/scene.h"

/* Times are in microseconds: what is long or short is told by these. */
#define US(time) ((gt_time)(time)*1000)

enum { COPY_DEVICE_TO_HOST = 2 };

static struct gt_path path;
static char text[1024];

static void make(void)
{
	scene_begin(US(10000));
	text[0] = '\0';
}

static void drop(void)
{
	gt_path_release(&path);
	gt_trace_release(&trace);
}

TestSuite(path, .init = make, .fini = drop);

/* ---- a trace in few words ---- */

static gt_id call_on(gt_id whose, const char *function, double start, double end)
{
	return trace_call(&trace, whose, function, US(start), US(end));
}

static gt_id call(const char *function, double start, double end)
{
	return call_on(thread, function, start, end);
}

static gt_id add_stream(void)
{
	const gt_id row = (gt_id)trace.streams.count;

	*gt_array_push(&trace.streams) = (struct gt_stream){
		.context = trace.streams.rows[stream].context, .number = 100 + row, .flags = 2};
	return row;
}

static gt_id kernel_of(gt_id of_stream, gt_id asked, gt_id of_shape, double start, double end)
{
	trace_kernel(&trace, of_stream, of_shape, US(start), US(end))->api_call = asked;
	return (gt_id)trace.kernels.count - 1;
}

static gt_id kernel(gt_id of_stream, gt_id asked, double start, double end)
{
	return kernel_of(of_stream, asked, shape, start, end);
}

static gt_id copy(gt_id of_stream, gt_id asked, double start, double end)
{
	trace_copy(&trace, of_stream, COPY_DEVICE_TO_HOST, 4096, US(start), US(end))->api_call =
		asked;
	return (gt_id)trace.copies.count - 1;
}

/* A call waited for work. */
static gt_id wait_in(gt_id asked, gt_count kind, gt_count table, gt_id row)
{
	const struct gt_api_call *waiting = &trace.api_calls.rows[asked];
	const gt_id sync = (gt_id)trace.syncs.count;

	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.start_ns = waiting->start_ns,
		.end_ns = waiting->end_ns,
		.thread = waiting->thread,
		.context = trace.streams.rows[stream].context,
		.stream = GT_NONE,
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = asked,
		.kind = kind,
	};
	if (row != GT_NONE)
		*gt_array_push(&trace.edges) = (struct gt_edge){
			.from_table = table,
			.from_row = row,
			.to_table = GT_TABLE_syncs,
			.to_row = sync,
			.sync = sync,
			.kind = GT_EDGE_HOST,
		};
	return sync;
}

/* One kernel waited for another one through an event. */
static void order(gt_id before, gt_id after)
{
	*gt_array_push(&trace.edges) = (struct gt_edge){
		.from_table = GT_TABLE_kernels,
		.from_row = before,
		.to_table = GT_TABLE_kernels,
		.to_row = after,
		.sync = GT_NONE,
		.kind = GT_EDGE_EVENT,
	};
}

/* ---- the path in few words ---- */

static void tell(void *context, const struct gt_path_member *member)
{
	char so_far[sizeof(text)];

	(void)context;
	memcpy(so_far, text, sizeof(so_far));
	snprintf(text, sizeof(text), "%c%s%g-%g%s%.900s", "KGCLOAHRWDX"[member->kind],
	         member -> assumed ? "?" : "", (double)(member->start_ns - TRACE_START_NS) / 1000,
	         (double)(member->end_ns - TRACE_START_NS) / 1000, *so_far ? " " : "", so_far);
}

static void walk_of(gt_id number)
{
	struct gt_path_spans spans;

	gt_path_spans_init(&spans, &path, NULL);
	cr_assert(lt(sz, number, spans.list.count));
	gt_path_walk(&path, spans.list.rows[number].end,
	             gt_path_span_is_handed(&spans.list.rows[number]),
	             spans.list.rows[number].window, tell, NULL);
	gt_path_spans_release(&spans);
}

static void expect_path(const char *expected)
{
	gt_path_init(&path, &trace, true);
	walk_of(0);
	expect_text(text, expected);
}

/* How many us the first span would last with a change; the path must be there. */
static double lasts(const struct gt_path_change *change)
{
	const struct gt_path_change none = {.shapes = NULL};
	struct gt_path_changes changes;
	struct gt_path_spans spans;
	gt_time lasts_ns[4];

	gt_path_changes_init(&changes, &path);
	gt_path_spans_init(&spans, &path, NULL);
	cr_assert(lt(sz, spans.list.count, 4));
	gt_path_changes_last(&changes, &spans, change ? change : &none, 1, lasts_ns);
	gt_path_spans_release(&spans);
	gt_path_changes_release(&changes);
	return (double)lasts_ns[0] / 1000;
}

static double lasts_without_shape(gt_id of_shape)
{
	bool shapes[8] = {false};

	shapes[of_shape] = true;
	return lasts(&(struct gt_path_change){.shapes = shapes});
}

/* By how many us a kernel could end later. */
static double slack_of(gt_id row)
{
	const gt_id item = gt_path_item(&path, (struct gt_step){GT_TABLE_kernels, row});
	struct gt_path_changes changes;
	struct gt_path_spans spans;
	double slack_us;

	gt_path_changes_init(&changes, &path);
	gt_path_spans_init(&spans, &path, NULL);
	gt_path_changes_slack(&changes, &spans);
	slack_us = (double)changes.times_ns[2 * item + 1] / 1000;
	gt_path_spans_release(&spans);
	gt_path_changes_release(&changes);
	return slack_us;
}

/* ---- what holds what ---- */

/* Another process waited on its GPU for a kernel of this one, which ended 1 us later as the clocks
 * have it. */
static void run_two_processes(void)
{
	const gt_id other = trace_process(&trace, "other", 200);
	const gt_id its_thread = trace_thread(&trace, other, 201);
	const gt_id its_stream = trace_stream(&trace, other, device);
	const gt_id launch = call("cudaLaunchKernel", 0, 5);
	const gt_id before = kernel(stream, launch, 8, 100);
	const gt_id second = call_on(its_thread, "cudaLaunchKernel", 20, 25);

	order(before, kernel(its_stream, second, 99, 150));
}

Test(path, goes_over_to_another_process_that_was_waited_for)
{
	run_two_processes();
	*gt_array_push(&trace.clocks) = (struct gt_clock){.bound_ns = 2000};
	gt_path_init(&path, &trace, true);
	cr_expect(eq(u64, path.shared, 1));
	walk_of(0);
	expect_text(text, "L0-8 K8-100");
	text[0] = '\0';
	walk_of(1); /* from its own first call on */
	expect_text(text, "K20-99 K99-150");
}

Test(path, stays_in_its_process_where_the_clocks_contradict)
{
	run_two_processes();
	gt_path_init(&path, &trace, true);
	cr_expect(eq(u64, path.shared, 0));
	cr_expect(eq(u64, path.against_time, 1));
	walk_of(1);
	expect_text(text, "L20-99 K99-150");
}

Test(path, leads_from_a_wait_through_the_kernel_to_its_launch)
{
	const gt_id launch = call("cudaLaunchKernel", 0, 5);
	const gt_id sync = call("cudaStreamSynchronize", 10, 103);

	wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, kernel(stream, launch, 8, 100));
	expect_path("L0-8 K8-100 R100-103");
}

Test(path, stays_with_the_host_when_the_work_was_done_before_the_wait)
{
	const gt_id launch = call("cudaLaunchKernel", 0, 5);
	const gt_id sync = call("cudaStreamSynchronize", 150, 153);

	wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, kernel(stream, launch, 8, 100));
	expect_path("A0-5 H5-150 W150-153");
}

Test(path, goes_over_an_event_from_stream_to_stream)
{
	const gt_id other = add_stream();
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id second = call("cudaLaunchKernel", 6, 11);
	const gt_id before = kernel(stream, first, 8, 100);
	const gt_id after = kernel(other, second, 102, 150);

	order(before, after);
	expect_path("L0-8 K8-100 O100-102 K102-150");
}

Test(path, goes_through_host_waits_between_kernels)
{
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id sync = call("cudaStreamSynchronize", 6, 102);
	const gt_id second = call("cudaLaunchKernel", 120, 125);
	const gt_id before = kernel(stream, first, 8, 100);

	kernel(stream, second, 128, 150);
	wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, before);
	expect_path("L0-8 K8-100 R100-102 H102-120 L120-128 K128-150");
}

Test(path, follows_the_stream_where_launches_were_early)
{
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id second = call("cudaLaunchKernel", 6, 11);

	kernel(stream, first, 8, 100);
	kernel(stream, second, 101, 150);
	expect_path("L0-8 K8-100 O100-101 K101-150");
}

Test(path, leaves_out_what_ran_beside_it)
{
	const gt_id other = add_stream();
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id second = call("cudaMemcpyAsync", 6, 11);

	kernel(stream, first, 8, 100);
	copy(other, second, 15, 60);
	expect_path("L0-8 K8-100");
	cr_expect(epsilon_eq(dbl, lasts(&(struct gt_path_change){.copies = true}), 100, 1e-9));
}

Test(path, ends_in_a_call_that_waited_for_all_streams)
{
	const gt_id other = add_stream();
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id second = call("cudaLaunchKernel", 6, 11);
	const gt_id sync = call("cudaDeviceSynchronize", 12, 153);
	const gt_id shape_b = trace_shape(&trace, "late", 1, 32);

	kernel(stream, first, 8, 100);
	kernel_of(other, second, shape_b, 14, 150);
	wait_in(sync, GT_SYNC_CONTEXT_SYNCHRONIZE, 0, GT_NONE);
	expect_path("A0-5 H5-6 L6-14 K14-150 R150-153");
	/* Without the longer one the call waits for the other. */
	cr_expect(epsilon_eq(dbl, lasts_without_shape(shape_b), 103, 1e-9));
}

/* Two threads wait for one kernel. */
Test(path, ends_in_the_later_of_two_calls_that_waited_for_all_streams)
{
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id launch = call("cudaLaunchKernel", 0, 5);
	const gt_id first = call("cudaDeviceSynchronize", 10, 102);
	const gt_id second = call_on(other, "cudaDeviceSynchronize", 20, 104);

	kernel(stream, launch, 8, 100);
	wait_in(first, GT_SYNC_CONTEXT_SYNCHRONIZE, 0, GT_NONE);
	wait_in(second, GT_SYNC_CONTEXT_SYNCHRONIZE, 0, GT_NONE);
	gt_path_init(&path, &trace, false);
	walk_of(0);
	expect_text(text, "L0-8 K8-100 R100-104");
}

/* A free may wait, and did not: the call after it did. */
Test(path, ends_in_a_wait_for_all_streams_behind_a_free_that_did_not_wait)
{
	const gt_id launch = call("cudaLaunchKernel", 0, 5);
	const gt_id release = call("cudaFree", 10, 14);
	const gt_id sync = call("cudaDeviceSynchronize", 20, 103);

	kernel(stream, launch, 8, 100);
	wait_in(release, GT_SYNC_BLOCKING_FREE, 0, GT_NONE);
	wait_in(sync, GT_SYNC_CONTEXT_SYNCHRONIZE, 0, GT_NONE);
	expect_path("L0-8 K8-100 R100-103");
	cr_expect(eq(u64, path.against_time, 0),
	          "a free that did not wait is no error of the clocks");
}

Test(path, keeps_the_default_streams_rules)
{
	const gt_id other = add_stream();
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id second = call("cudaLaunchKernel", 6, 11);

	trace.streams.rows[other].flags = 1;
	trace.contexts.rows[trace.streams.rows[stream].context].null_stream =
		trace.streams.rows[stream].number;
	kernel(stream, first, 8, 100);
	kernel(other, second, 101, 150);
	expect_path("L0-8 K8-100 O100-101 K101-150");
}

Test(path, knows_no_order_between_streams_that_do_not_block)
{
	const gt_id other = add_stream();
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id second = call("cudaLaunchKernel", 6, 11);

	trace.contexts.rows[trace.streams.rows[stream].context].null_stream =
		trace.streams.rows[stream].number;
	kernel(stream, first, 8, 100);
	kernel(other, second, 14, 150);
	expect_path("A0-5 H5-6 L6-14 K14-150");
}

/* ---- what is assumed ---- */

/* The second thread is made after the first one's wait, and joined before its last call. */
static void run_two_threads(void)
{
	const gt_id helper = trace_thread(&trace, process, 8);
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id sync = call("cudaStreamSynchronize", 6, 102);
	const gt_id second = call_on(helper, "cudaLaunchKernel", 150, 155);
	const gt_id helper_sync = call_on(helper, "cudaStreamSynchronize", 156, 302);
	gt_id after;

	call("cudaFree", 320, 325);
	wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, kernel(stream, first, 8, 100));
	after = kernel(stream, second, 158, 300);
	wait_in(helper_sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, after);
}

Test(path, goes_over_to_the_thread_that_another_one_waited_for)
{
	run_two_threads();
	expect_path("L0-8 K8-100 R100-102 H?102-150 L150-158 K158-300 R300-302 H?302-320 A320-325");
}

Test(path, stays_on_its_thread_where_nothing_is_assumed)
{
	run_two_threads();
	gt_path_init(&path, &trace, false);
	walk_of(0);
	expect_text(text, "L0-8 K8-100 R100-102 H102-320 A320-325");
}

Test(path, does_not_take_a_busy_neighbour_for_what_a_thread_waited_for)
{
	const gt_id other = trace_thread(&trace, process, 8);

	call("cudaMalloc", 0, 5);
	call_on(other, "cudaMalloc", 20, 60);
	call("cudaMalloc", 200, 205);
	expect_path("A0-5 H5-200 A200-205");
}

Test(path, assumes_what_a_wait_was_for_that_is_linked_to_nothing)
{
	const gt_id launch = call("cudaLaunchKernel", 0, 5);

	call("cudaEventSynchronize", 10, 103);
	kernel(stream, launch, 8, 100);
	expect_path("L0-8 K8-100 R?100-103");
}

Test(path, assumes_that_work_waited_for_room)
{
	const gt_id other = add_stream();
	const gt_id first = call("cudaMemcpyAsync", 0, 5);
	const gt_id second = call("cudaMemcpyAsync", 6, 11);

	copy(stream, first, 8, 300);
	copy(other, second, 302, 400);
	expect_path("L0-8 C8-300 O?300-302 C302-400");
}

Test(path, says_that_a_delay_is_not_explained)
{
	const gt_id first = call("cudaLaunchKernel", 0, 5);

	kernel(stream, first, 500, 600);
	expect_path("L0-20 D20-500 K500-600");
}

/* ---- graphs ---- */

static gt_id nodes[4];

static gt_id node_in(gt_id graph, gt_id exec, gt_id original)
{
	const gt_id row = (gt_id)trace.graph_nodes.count;

	*gt_array_push(&trace.graph_nodes) = (struct gt_graph_node){
		.number = row + 1,
		.process = process,
		.thread = thread,
		.api_call = GT_NONE,
		.graph = graph,
		.exec = exec,
		.original = original,
		.origin = original == GT_NONE ? row : original,
		.range = GT_NONE,
		.for_range = GT_NONE,
		.shape = GT_NONE,
	};
	return row;
}

static void depend(gt_id before, gt_id after)
{
	*gt_array_push(&trace.graph_dependencies) =
		(struct gt_graph_dependency){.process = process, .before = before, .after = after};
}

/* Four kernels, each of a shape of its own: the second and the third at the same time. */
static void run_diamond(gt_count type_of_last)
{
	static const double begins[] = {20, 51, 51, 131};
	static const double ends[] = {50, 130, 90, 160};
	const gt_id launch = call("cudaGraphLaunch", 0, 10);
	gt_id originals[4];

	*gt_array_push(&trace.graphs) = (struct gt_graph){.process = process,
	                                                  .thread = thread,
	                                                  .api_call = GT_NONE,
	                                                  .original = GT_NONE,
	                                                  .parent = GT_NONE,
	                                                  .exec = GT_NONE,
	                                                  .number = 1};
	*gt_array_push(&trace.graph_execs) = (struct gt_graph_exec){.process = process,
	                                                            .thread = thread,
	                                                            .api_call = GT_NONE,
	                                                            .graph = 0,
	                                                            .instantiation = GT_NONE,
	                                                            .number = 2};
	for (size_t i = 0; i < 4; i++)
		originals[i] = node_in(0, GT_NONE, GT_NONE);
	for (size_t i = 0; i < 4; i++)
		nodes[i] = node_in(GT_NONE, 0, originals[i]);
	trace.graph_nodes.rows[nodes[3]].type = type_of_last;
	depend(originals[0], originals[1]);
	depend(originals[0], originals[2]);
	depend(originals[1], originals[3]);
	depend(originals[2], originals[3]);
	*gt_array_push(&trace.graph_launches) = (struct gt_graph_launch){
		.start_ns = trace.api_calls.rows[launch].start_ns,
		.end_ns = trace.api_calls.rows[launch].end_ns,
		.thread = thread,
		.context = GT_NONE,
		.stream = stream,
		.api_call = launch,
		.exec = 0,
	};
	for (size_t i = 0; i < 4; i++) {
		const gt_id branch = i == 2 ? add_stream() : stream;
		const gt_id own = trace_shape(&trace, i == 1 ? "long" : "short", 1, 32);
		const gt_id row = kernel_of(branch, launch, own, begins[i], ends[i]);

		trace.kernels.rows[row].node = nodes[i];
		trace.kernels.rows[row].graph = 2;
	}
}

Test(path, takes_the_longer_branch_of_a_graph)
{
	run_diamond(0);
	expect_path("L0-20 K20-50 O50-51 K51-130 O130-131 K131-160");
}

Test(path, tells_by_how_much_the_shorter_branch_could_be_longer)
{
	run_diamond(0);
	gt_path_init(&path, &trace, true);
	cr_expect(zero(dbl, slack_of(1)));
	cr_expect(epsilon_eq(dbl, slack_of(2), 40, 1.01));
}

Test(path, changes_over_to_the_other_branch)
{
	run_diamond(0);
	gt_path_init(&path, &trace, true);
	cr_expect(epsilon_eq(dbl, lasts(NULL), 160, 1e-9));
	/* Without the second kernel the third one leads: 131 becomes 91 or 92. */
	cr_expect(epsilon_eq(dbl, lasts_without_shape(2), 120, 1.01));
}

/* A graph that was recorded as a whole, behind a kernel. */
static gt_id whole_graph(gt_id of_stream, gt_id asked, double start, double end)
{
	*gt_array_push(&trace.graph_traces) = (struct gt_graph_trace){
		.start_ns = TRACE_START_NS + US(start),
		.end_ns = TRACE_START_NS + US(end),
		.device = device,
		.stream = of_stream,
		.api_call = asked,
		.exec = GT_NONE,
	};
	return (gt_id)trace.graph_traces.count - 1;
}

/* The table of edges knows the kernel before it alone. */
Test(path, leads_from_a_wait_through_a_whole_graph)
{
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id launch = call("cudaGraphLaunch", 30, 35);
	const gt_id sync = call("cudaStreamSynchronize", 40, 143);
	const gt_id before = kernel(stream, first, 8, 20);
	const gt_id row = wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, before);

	trace.syncs.rows[row].stream = stream;
	whole_graph(stream, launch, 38, 140);
	gt_path_init(&path, &trace, false);
	walk_of(0);
	expect_text(text, "A0-5 H5-30 L30-38 G38-140 R140-143");
}

Test(path, goes_over_an_event_behind_a_whole_graph)
{
	const gt_id other = add_stream();
	const gt_id launch = call("cudaGraphLaunch", 0, 5);
	const gt_id record = call("cudaEventRecord", 6, 7);
	const gt_id wait = call("cudaStreamWaitEvent", 8, 9);
	const gt_id second = call("cudaLaunchKernel", 10, 15);
	const gt_id recorded = wait_in(record, GT_SYNC_EVENT_RECORD, 0, GT_NONE);
	const gt_id waited = wait_in(wait, GT_SYNC_STREAM_WAIT_EVENT, 0, GT_NONE);

	trace.syncs.rows[recorded].stream = stream;
	trace.syncs.rows[waited].stream = other;
	trace.syncs.rows[waited].record = recorded;
	whole_graph(stream, launch, 8, 100);
	kernel(other, second, 102, 150);
	expect_path("L0-8 G8-100 O100-102 K102-150");
}

/* ---- changes ---- */

Test(path, without_a_change_is_what_it_was)
{
	run_two_threads();
	gt_path_init(&path, &trace, true);
	cr_expect(epsilon_eq(dbl, lasts(NULL), 325, 1e-9));
}

Test(path, ends_earlier_by_what_a_kernel_took)
{
	run_two_threads();
	gt_path_init(&path, &trace, true);
	/* 92 and 142 us of kernels; the returns and the host's own time stay. */
	cr_expect(epsilon_eq(dbl, lasts_without_shape(shape), 325 - 92 - 142, 1e-9));
}

Test(path, has_launches_for_nothing)
{
	run_two_threads();
	gt_path_init(&path, &trace, true);
	/* 8 us each from the entry to the kernel. */
	cr_expect(
		epsilon_eq(dbl, lasts(&(struct gt_path_change){.launches = true}), 325 - 16, 1e-9));
}

Test(path, does_not_hold_the_host_in_a_wait_that_is_gone)
{
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id sync = call("cudaStreamSynchronize", 6, 102);
	const gt_id second = call("cudaLaunchKernel", 120, 125);
	const gt_id before = kernel(stream, first, 8, 100);

	kernel(stream, second, 128, 150);
	wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, before);
	gt_path_init(&path, &trace, true);
	/* The second kernel follows the first one: 100 + as little as is known + 22. */
	cr_expect(epsilon_eq(
		dbl,
		lasts(&(struct gt_path_change){.wait_in = trace.api_calls.rows[sync].function}),
		122, 28.01));
	cr_expect(
		lt(dbl,
	           lasts(&(struct gt_path_change){.wait_in = trace.api_calls.rows[sync].function}),
	           150));
}

Test(path, has_copies_beside_all_else)
{
	const gt_id first = call("cudaMemcpyAsync", 0, 5);
	const gt_id second = call("cudaLaunchKernel", 6, 11);

	copy(stream, first, 8, 100);
	kernel(stream, second, 101, 150);
	expect_path("L0-8 C8-100 O100-101 K101-150");
	/* Its launch, after which the kernel begins: 6 + 8 at most, then 49. */
	cr_expect(le(dbl, lasts(&(struct gt_path_change){.copies = true}), 14 + 49));
}

/* ---- what gputrace held up ---- */

/* From its call on the launch was run several times for its counters. */
static void run_profiled(void)
{
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id second = call("cudaLaunchKernel", 10, 400);
	const gt_id third = call("cudaLaunchKernel", 401, 404);
	const gt_id sync = call("cudaStreamSynchronize", 405, 500);
	gt_id row;

	kernel(stream, first, 8, 100);
	row = kernel(stream, second, 300, 390);
	trace.kernels.rows[row].flags |= GT_PROFILED;
	trace.api_calls.rows[second].flags |= GT_PROFILED;
	row = kernel(stream, third, 410, 498);
	wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, row);
}

Test(path, measures_nothing_of_a_launch_that_was_held_up_for_its_counters)
{
	run_profiled();
	expect_path("A0-5 H5-10 X10-400 H400-401 L401-410 K410-498 R498-500");
}

/* Its time is not the time of the kernel. */
Test(path, is_no_shorter_without_what_was_not_measured)
{
	const gt_id launch = call("cudaLaunchKernel", 0, 5);
	const gt_id sync = call("cudaStreamSynchronize", 6, 302);
	const gt_id row = kernel(stream, launch, 8, 300);

	trace.kernels.rows[row].flags |= GT_PROFILED;
	trace.api_calls.rows[launch].flags |= GT_PROFILED;
	wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels, row);
	expect_path("X0-8 X8-300 R300-302");
	cr_expect(epsilon_eq(dbl, lasts_without_shape(shape), 302, 1e-9));
	cr_expect(epsilon_eq(dbl, lasts(&(struct gt_path_change){.launches = true}), 302, 1e-9));
}

/* ---- ranges ---- */

Test(path, of_a_range_ends_when_its_work_is_done)
{
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", US(10), US(40));
	const gt_id before = call("cudaMalloc", 0, 5);
	const gt_id launch = trace_call_in(&trace, step, "cudaLaunchKernel", US(20), US(25));

	(void)before;
	trace.ranges.rows[step].flags = GT_CHOSEN;
	kernel(stream, launch, 28, 90);
	expect_path("H10-20 L20-28 K28-90");
	cr_expect(epsilon_eq(dbl, lasts(NULL), 80, 1e-9));
	cr_expect(epsilon_eq(dbl, lasts_without_shape(shape), 30, 1e-9));
}

Test(path, of_a_range_ends_with_it_when_that_is_later)
{
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", US(10), US(140));
	const gt_id launch = trace_call_in(&trace, step, "cudaLaunchKernel", US(20), US(25));

	trace.ranges.rows[step].flags = GT_CHOSEN;
	kernel(stream, launch, 28, 90);
	expect_path("A20-25 H25-140");
}

/* Another thread does all the work of the range, whose own one waits for it. */
static void run_range_of_two_threads(void)
{
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", US(10), US(140));
	const gt_id launch = call_on(other, "cudaLaunchKernel", 20, 25);
	const gt_id sync = call_on(other, "cudaStreamSynchronize", 26, 132);

	trace.ranges.rows[step].flags = GT_CHOSEN;
	trace.api_calls.rows[launch].range = step;
	trace.api_calls.rows[sync].range = step;
	wait_in(sync, GT_SYNC_STREAM_SYNCHRONIZE, GT_TABLE_kernels,
	        kernel(stream, launch, 28, 130));
}

Test(path, of_a_range_leads_over_the_thread_that_did_its_work)
{
	run_range_of_two_threads();
	expect_path("L20-28 K28-130 R130-132 H?132-140");
	cr_expect(epsilon_eq(dbl, lasts(NULL), 130, 1e-9));
	cr_expect(epsilon_eq(dbl, lasts_without_shape(shape), 130 - 102, 1e-9));
}

Test(path, of_a_range_does_not_lead_over_another_thread_where_nothing_is_assumed)
{
	struct gt_path_spans spans;

	run_range_of_two_threads();
	gt_path_init(&path, &trace, false);
	gt_path_spans_init(&spans, &path, NULL);
	cr_expect(zero(sz, spans.list.count));
	cr_expect(eq(u64, spans.empty, 1));
	gt_path_spans_release(&spans);
}

/* ---- what is shown ---- */

static bool is_first_process(const void *context, struct gt_step step)
{
	(void)context;
	return step.table != GT_TABLE_processes || step.row == 0;
}

Test(path, of_a_window_is_the_time_of_what_begins_in_it)
{
	const struct gt_path_shown shown = {
		.is = is_first_process,
		.window = {TRACE_START_NS + US(110), TRACE_START_NS + US(200)},
	};
	struct gt_path_spans spans;

	run_two_threads();
	trace_thread(&trace, trace_process(&trace, "other", 200), 201);
	gt_path_init(&path, &trace, true);
	gt_path_spans_init(&spans, &path, &shown);
	cr_assert(eq(sz, spans.list.count, 1));
	cr_expect(eq(i64, spans.list.rows[0].window.start_ns, TRACE_START_NS + US(150)));
	cr_expect(eq(i64, spans.list.rows[0].window.end_ns, TRACE_START_NS + US(302)));
	gt_path_spans_release(&spans);
}

/* Another thread launched it, once in its own range, which is for the chosen one, and once in none.
 */
Test(path, of_a_range_has_the_work_of_other_threads_for_it)
{
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", US(10), US(60));
	const gt_id op = trace_range(&trace, other, GT_NONE, "op", US(20), US(30));
	const gt_id inside = trace_call_in(&trace, op, "cudaLaunchKernel", US(22), US(25));
	const gt_id launch = trace_call(&trace, other, "cudaLaunchKernel", US(40), US(45));

	trace.ranges.rows[step].flags = GT_CHOSEN;
	trace.ranges.rows[op].for_range = step;
	trace.api_calls.rows[launch].for_range = step;
	kernel(stream, inside, 30, 90);
	kernel(stream, launch, 90, 200);
	expect_path("L22-30 K30-90 K90-200");
}

/* ---- what is damaged ---- */

Test(path, leaves_out_what_did_not_finish)
{
	const gt_id launch = call("cudaLaunchKernel", 0, 5);

	trace_unfinished_kernel(&trace, stream, shape)->api_call = launch;
	expect_path("A0-5");
}

Test(path, takes_a_call_that_did_not_return_to_the_end)
{
	call("cudaMalloc", 0, 5);
	trace.api_calls.rows[call("cudaStreamSynchronize", 10, 11)].flags |= GT_UNFINISHED;
	trace.api_calls.rows[1].end_ns = 0;
	expect_path("A0-5 H5-10 W10-10000");
}

Test(path, is_none_where_there_is_nothing)
{
	struct gt_path_spans spans;

	gt_path_init(&path, &trace, true);
	gt_path_spans_init(&spans, &path, NULL);
	cr_expect(zero(sz, spans.list.count));
	gt_path_spans_release(&spans);
}

Test(path, ends_where_clocks_say_that_everything_waits_for_everything)
{
	const gt_id other = add_stream();
	const gt_id launch = call("cudaLaunchKernel", 0, 5);
	const gt_id first = kernel(stream, launch, 10, 10);
	const gt_id second = kernel(other, launch, 10, 10);

	order(first, second);
	order(second, first);
	gt_path_init(&path, &trace, true);
	walk_of(0);
	cr_expect(epsilon_eq(dbl, lasts(NULL), 10, 1e-9));
}

Test(path, counts_edges_that_go_back_in_time)
{
	const gt_id other = add_stream();
	const gt_id launch = call("cudaLaunchKernel", 0, 5);
	const gt_id first = kernel(stream, launch, 8, 50);
	const gt_id second = kernel(other, launch, 20, 60);

	order(second, first);
	expect_path("L0-20 K20-60");
	cr_expect(eq(u64, path.against_time, 1));
}

Test(path, does_not_need_work_in_the_order_in_which_it_was_given)
{
	const gt_id first = call("cudaLaunchKernel", 0, 5);
	const gt_id second = call("cudaLaunchKernel", 6, 11);

	/* As the table is sorted by start: what was given later to another stream began before. */
	kernel(add_stream(), second, 14, 30);
	kernel(stream, first, 20, 100);
	expect_path("L0-20 K20-100");
}
