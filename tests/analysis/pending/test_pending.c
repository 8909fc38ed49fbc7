/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pending/pending.h"

#include "analysis/pending/remarks.h"
#include "analysis/pending/tables.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "model/naming/kernel_names.h"
#include "model/work/sync.h"
#include "support/check.h"
#include "support/scene.h"

enum { SECOND = 1000000000 };

static struct gt_pending pending;

/* The process runs, and was heard of a moment before the end. */
static void begin(void)
{
	scene_begin(10 * (gt_time)SECOND);
	trace.processes.rows[process].ended = GT_END_RUNNING;
	trace.processes.rows[process].end_ns = TRACE_START_NS + 10 * (gt_time)SECOND;
}

static void look(void)
{
	gt_pending_init(&pending, &trace, TRACE_START_NS + 10 * (gt_time)SECOND);
}

static void end(void)
{
	gt_pending_release(&pending);
	gt_trace_release(&trace);
}

/* A kernel that a call of a thread launched at that moment and that has not ended. */
static void launch_by(gt_id by, gt_id into, gt_time call_ns)
{
	const gt_id call = trace_call(&trace, by, "cuLaunchKernel", call_ns, call_ns + 5);
	struct gt_kernel *kernel = trace_unfinished_kernel(&trace, into, shape);

	kernel->api_call = call;
	kernel->correlation = call + 1;
}

static void launch(gt_id into, gt_time call_ns)
{
	launch_by(thread, into, call_ns);
}

/* One that a call launched at that moment and that ended since. Behind all that has not. */
static void launch_ended(gt_time call_ns, gt_time start_ns)
{
	const gt_id call = trace_call(&trace, thread, "cuLaunchKernel", call_ns, call_ns + 5);

	trace_kernel(&trace, stream, shape, start_ns, start_ns + 100)->api_call = call;
}

/* A call about an event or the work of a stream; its row. record GT_NONE: none. */
static gt_id add_sync(gt_count kind, gt_id of, gt_time start_ns, gt_id record)
{
	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + start_ns + 1,
		.thread = thread,
		.context = trace.streams.rows[of].context,
		.stream = of,
		.event = GT_NONE,
		.record = record,
		.api_call = GT_NONE,
		.kind = kind,
	};
	return (gt_id)trace.syncs.count - 1;
}

static const struct gt_pending_work *work(size_t row)
{
	return &pending.works.rows[row];
}

static void expect_states(size_t count, const enum gt_pending_state *states)
{
	cr_assert(eq(sz, pending.works.count, count));
	for (size_t i = 0; i < count; i++)
		cr_expect(eq(u32, work(i)->state, states[i]), "work %zu", i);
}

Test(pending, the_first_of_each_stream_runs_and_the_others_wait)
{
	begin();

	const gt_id other = trace_stream(&trace, process, device);

	launch(stream, 100);
	launch_by(trace_thread(&trace, process, 8), other, 200);
	launch(stream, 300);
	look();
	expect_states(3, (enum gt_pending_state[]){GT_PENDING_FIRST, GT_PENDING_FIRST,
	                                           GT_PENDING_BEHIND});
	cr_expect(eq(u32, work(2)->place, 2));
	cr_expect(eq(u32, pending.streams[stream].pending, 2));
	end();
}

/* CUPTI says nothing of it before that which its thread gave before. */
Test(pending, work_on_another_stream_behind_open_work_of_its_thread_may_have_ended)
{
	begin();

	const gt_id other = trace_stream(&trace, process, device);
	const gt_id third = trace_stream(&trace, process, device);
	const gt_id second = trace_thread(&trace, process, 8);
	gt_id record;

	launch(stream, 100);
	launch(other, 110);
	record = add_sync(GT_SYNC_EVENT_RECORD, other, 120, GT_NONE);
	(void)add_sync(GT_SYNC_STREAM_WAIT_EVENT, third, 130, record);
	launch_by(second, third, 140);
	launch_by(second, other, 150);
	look();
	expect_states(4, (enum gt_pending_state[]){GT_PENDING_FIRST, GT_PENDING_HIDDEN,
	                                           GT_PENDING_MAYBE, GT_PENDING_HIDDEN});
	cr_assert(eq(sz, pending.waits.count, 1));
	cr_expect(not(pending.waits.rows[0].certain));
	end();
}

Test(pending, several_threads_give_to_one_stream_in_the_order_of_their_calls)
{
	begin();

	const gt_id other = trace_thread(&trace, process, 8);

	launch_by(other, stream, 100);
	launch(stream, 200);
	launch_by(other, stream, 300);
	look();
	cr_assert(eq(sz, pending.works.count, 3));
	for (gt_count i = 0; i < 3; i++)
		cr_expect(eq(u32, work(i)->place, i + 1));
	cr_expect(eq(u32, trace.api_calls.rows[work(0)->api_call].thread, other));
	cr_expect(eq(u32, trace.api_calls.rows[work(1)->api_call].thread, thread));
	end();
}

Test(pending, two_processes_with_the_same_numbers_are_two)
{
	begin();

	const gt_id rank = trace_process(&trace, "app", 101);
	const gt_id its_thread = trace_thread(&trace, rank, 7);
	const gt_id its_stream = trace_stream(&trace, rank, device);

	trace.processes.rows[rank].ended = GT_END_DIED;
	trace.processes.rows[rank].end_ns = TRACE_START_NS + 3 * (gt_time)SECOND;
	launch(stream, 100);
	launch_by(its_thread, its_stream, 200);
	look();
	expect_states(2, (enum gt_pending_state[]){GT_PENDING_FIRST, GT_PENDING_FIRST});
	cr_expect(eq(u32, work(0)->process, process));
	cr_expect(eq(u32, work(1)->process, rank));
	cr_expect(eq(i64, gt_pending_until(&pending, process),
	             TRACE_START_NS + 10 * (gt_time)SECOND));
	cr_expect(eq(i64, gt_pending_until(&pending, rank), TRACE_START_NS + 3 * (gt_time)SECOND));
	end();
}

Test(pending, young_work_may_have_ended_without_a_record)
{
	const gt_time young_ns = 10 * (gt_time)SECOND - 150000000;

	begin();
	launch(stream, young_ns);
	launch(stream, young_ns + 10);
	look();
	expect_states(2, (enum gt_pending_state[]){GT_PENDING_UNTOLD, GT_PENDING_UNTOLD});
	gt_pending_release(&pending);
	/* By the interval that was set. */
	trace.flush_interval_ns = 50000000;
	look();
	expect_states(2, (enum gt_pending_state[]){GT_PENDING_FIRST, GT_PENDING_BEHIND});
	end();
}

Test(pending, work_of_an_unknown_launch_has_no_age_and_may_have_ended)
{
	begin();
	(void)trace_unfinished_kernel(&trace, stream, shape);
	look();
	expect_states(1, (enum gt_pending_state[]){GT_PENDING_UNTOLD});
	cr_expect(eq(i64, work(0)->given_ns, 0));
	end();
}

Test(pending, work_of_an_unknown_launch_is_older_than_a_call_with_a_higher_number)
{
	begin();
	(void)trace_unfinished_kernel(&trace, stream, shape);
	trace.kernels.rows[0].correlation = 5;
	(void)trace_call(&trace, thread, "cudaMalloc", 100, 101);
	trace.api_calls.rows[0].correlation = 4;
	look();
	expect_states(1, (enum gt_pending_state[]){GT_PENDING_UNTOLD});
	gt_pending_release(&pending);
	trace.api_calls.rows[0].correlation = 6;
	look();
	expect_states(1, (enum gt_pending_state[]){GT_PENDING_FIRST});
	end();
}

Test(pending, work_before_other_work_that_ended_has_ended)
{
	begin();
	launch(stream, 100);
	launch_ended(200, 300);
	look();
	cr_expect(eq(sz, pending.works.count, 0));
	cr_expect(eq(i64, pending.streams[stream].last_end_ns, TRACE_START_NS + 400));
	end();
}

Test(pending, work_before_a_wait_of_the_host_that_returned_has_ended)
{
	begin();
	launch(stream, 100);
	(void)add_sync(GT_SYNC_CONTEXT_SYNCHRONIZE, stream, 200, GT_NONE);
	launch(stream, 300);
	look();
	cr_assert(eq(sz, pending.works.count, 1));
	cr_expect(eq(i64, work(0)->given_ns, TRACE_START_NS + 300));
	end();
}

/* Work that other threads gave to the stream meanwhile may be behind it. */
Test(pending, a_copy_that_blocked_has_ended_with_what_was_before_it)
{
	gt_id row;

	begin();
	launch(stream, 100);
	row = add_sync(GT_SYNC_BLOCKING_COPY, stream, 200, GT_NONE);
	trace.syncs.rows[row].end_ns = TRACE_START_NS + 400;
	launch(stream, 200);
	trace.syncs.rows[row].api_call = trace.kernels.rows[1].api_call;
	launch_by(trace_thread(&trace, process, 8), stream, 300);
	look();
	cr_assert(eq(sz, pending.works.count, 1));
	cr_expect(eq(i64, work(0)->given_ns, TRACE_START_NS + 300));
	end();
}

Test(pending, a_wait_that_failed_or_has_not_returned_proves_nothing)
{
	begin();
	launch(stream, 100);
	(void)add_sync(GT_SYNC_STREAM_SYNCHRONIZE, stream, 200, GT_NONE);
	(void)add_sync(GT_SYNC_STREAM_SYNCHRONIZE, stream, 300, GT_NONE);
	trace.syncs.rows[0].result = 719;
	trace.syncs.rows[1].flags = GT_UNFINISHED;
	look();
	cr_expect(eq(sz, pending.works.count, 1));
	end();
}

Test(pending, a_stream_waits_for_what_its_event_was_recorded_behind)
{
	begin();

	const gt_id other = trace_stream(&trace, process, device);
	const gt_id third = trace_stream(&trace, process, device);
	gt_id record;

	launch(stream, 100);
	launch(stream, 110);
	record = add_sync(GT_SYNC_EVENT_RECORD, stream, 120, GT_NONE);
	launch(stream, 125);
	(void)add_sync(GT_SYNC_STREAM_WAIT_EVENT, other, 130, record);
	launch(other, 140);
	/* The third stream waits for an event that the second recorded behind its wait. */
	record = add_sync(GT_SYNC_EVENT_RECORD, other, 135, GT_NONE);
	(void)add_sync(GT_SYNC_STREAM_WAIT_EVENT, third, 150, record);
	launch(third, 160);
	look();
	expect_states(5, (enum gt_pending_state[]){GT_PENDING_FIRST, GT_PENDING_BEHIND,
	                                           GT_PENDING_BEHIND, GT_PENDING_EVENT,
	                                           GT_PENDING_EVENT});
	cr_assert(eq(sz, pending.waits.count, 2));
	cr_expect(eq(u32, pending.waits.rows[0].stream, other));
	cr_expect(pending.waits.rows[0].certain);
	cr_expect(eq(sz, pending.waits.rows[0].behind, 1));
	cr_expect(eq(sz, pending.waits.rows[0].held_by, 0));
	cr_expect(eq(sz, pending.waits.rows[1].behind, GT_PENDING_NONE));
	cr_expect(eq(sz, pending.waits.rows[1].held_by, 0));
	end();
}

Test(pending, an_event_behind_work_that_ended_holds_nobody_up)
{
	begin();

	const gt_id other = trace_stream(&trace, process, device);
	gt_id record;

	launch(other, 140);
	launch(stream, 150);
	launch_ended(160, 300);
	/* The call of the one that ended is the first. */
	trace.api_calls.rows[2].start_ns = TRACE_START_NS + 100;
	record = add_sync(GT_SYNC_EVENT_RECORD, stream, 120, GT_NONE);
	(void)add_sync(GT_SYNC_STREAM_WAIT_EVENT, other, 130, record);
	look();
	expect_states(2, (enum gt_pending_state[]){GT_PENDING_FIRST, GT_PENDING_HIDDEN});
	cr_expect(eq(sz, pending.waits.count, 0));
	end();
}

Test(pending, a_host_function_may_hold_up_work_behind_it)
{
	begin();
	(void)add_sync(GT_SYNC_HOST_FUNCTION, stream, 50, GT_NONE);
	launch(stream, 100);
	(void)add_sync(GT_SYNC_HOST_FUNCTION, stream, 150, GT_NONE);
	look();
	expect_states(1, (enum gt_pending_state[]){GT_PENDING_MAYBE});
	cr_assert(eq(sz, pending.waits.count, 1));
	cr_expect(not(pending.waits.rows[0].certain));
	end();
}

Test(pending, a_default_stream_waits_for_the_others_of_its_context)
{
	begin();

	const gt_id context = trace.streams.rows[stream].context;
	const gt_id null = trace_stream(&trace, process, device);
	const gt_id free_stream = trace_stream(&trace, process, device);

	trace.streams.rows[null].context = trace.streams.rows[free_stream].context = context;
	trace.contexts.rows[context].null_stream = trace.streams.rows[null].number;
	trace.streams.rows[stream].flags = 1;
	trace.streams.rows[free_stream].flags = 2; /* non-blocking */
	launch(stream, 100);
	launch(null, 200);
	launch(free_stream, 300);
	look();
	expect_states(3, (enum gt_pending_state[]){GT_PENDING_FIRST, GT_PENDING_DEFAULT,
	                                           GT_PENDING_HIDDEN});
	end();
}

/* A launch of an executable graph into the stream; its call. */
static gt_id launch_graph(gt_id exec, gt_time call_ns)
{
	const gt_id call = trace_call(&trace, thread, "cuGraphLaunch", call_ns, call_ns + 5);

	*gt_array_push(&trace.graph_launches) = (struct gt_graph_launch){
		.start_ns = TRACE_START_NS + call_ns,
		.end_ns = TRACE_START_NS + call_ns + 5,
		.thread = thread,
		.context = trace.streams.rows[stream].context,
		.stream = stream,
		.api_call = call,
		.exec = exec,
		.correlation = call + 1,
	};
	return call;
}

/* A node of it that ended, on a stream of CUPTI's choice. */
static void add_node(gt_id call, gt_id on, gt_time start_ns, gt_wide node)
{
	struct gt_kernel *kernel = trace_kernel(&trace, on, shape, start_ns, start_ns + 10);

	kernel->api_call = call;
	kernel->graph = 1;
	kernel->graph_node = node;
}

Test(pending, a_launch_of_a_graph_is_one_piece_of_work)
{
	begin();

	const gt_id inner = trace_stream(&trace, process, device);
	gt_id call;

	(void)trace_unfinished_kernel(&trace, stream, shape);
	*gt_array_push(&trace.graph_execs) =
		(struct gt_graph_exec){.process = process, .graph = GT_NONE, .number = 4};
	call = launch_graph(0, 100);
	for (gt_wide node = 1; node <= 3; node++)
		add_node(call, inner, 200 + (gt_time)node * 20, node);
	call = launch_graph(0, 400);
	add_node(call, inner, 500, 1);
	call = trace_call(&trace, thread, "cuLaunchKernel", 600, 605);
	trace.kernels.rows[0].api_call = call;
	look();
	expect_states(2, (enum gt_pending_state[]){GT_PENDING_FIRST, GT_PENDING_BEHIND});
	cr_expect(eq(u32, work(0)->step.table, GT_TABLE_graph_launches));
	cr_expect(eq(u32, work(0)->step.row, 1));
	cr_expect(eq(u64, work(0)->ended, 1));
	cr_expect(eq(u64, work(0)->nodes, 3));
	end();
}

Test(pending, the_first_open_node_of_a_graph_is_named)
{
	begin();

	const gt_id call = launch_graph(GT_NONE, 100);

	for (gt_wide node = 3; node > 1; node--) {
		struct gt_kernel *kernel = trace_unfinished_kernel(&trace, stream, shape);

		kernel->api_call = call;
		kernel->graph_node = node;
	}
	look();
	cr_assert(eq(sz, pending.works.count, 1));
	cr_expect(eq(u32, work(0)->node.table, GT_TABLE_kernels));
	cr_expect(eq(u32, work(0)->node.row, 1));
	end();
}

Test(pending, a_graph_that_never_had_a_record_may_have_ended)
{
	begin();
	(void)launch_graph(GT_NONE, 100);
	look();
	expect_states(1, (enum gt_pending_state[]){GT_PENDING_UNTOLD});
	end();
}

Test(pending, threads_are_inside_the_last_call_that_did_not_return)
{
	begin();

	gt_id wait;
	gt_id call = trace_call(&trace, thread, "cudaMalloc", 100, 100);

	trace.api_calls.rows[call].flags |= GT_UNFINISHED; /* its end was lost */
	call = trace_call(&trace, thread, "cudaStreamSynchronize", 200, 200);
	trace.api_calls.rows[call].flags |= GT_UNFINISHED;
	wait = add_sync(GT_SYNC_STREAM_SYNCHRONIZE, stream, 199, GT_NONE);
	trace.syncs.rows[wait].flags = GT_UNFINISHED;
	trace.syncs.rows[wait].api_call = call;
	look();
	cr_assert(eq(sz, pending.threads.count, 1));
	cr_expect(eq(u32, pending.threads.rows[0].api_call, call));
	cr_expect(eq(u32, pending.threads.rows[0].sync, wait));
	end();
}

/* Nobody heard of its return while recording was paused. */
Test(pending, threads_are_inside_no_call_that_a_pause_interrupted)
{
	gt_id call;

	begin();
	call = trace_call(&trace, thread, "cudaStreamSynchronize", 200, 300);
	trace.api_calls.rows[call].flags |= GT_UNFINISHED | GT_INTERRUPTED;
	look();
	cr_expect(eq(sz, pending.threads.count, 0));
	end();
}

Test(pending, the_age_of_a_silent_process_ends_where_it_fell_silent)
{
	begin();
	launch(stream, 100);
	gt_pending_init(&pending, &trace, TRACE_START_NS + 100 * (gt_time)SECOND);
	cr_expect(not(gt_pending_is_heard(&pending, process)));
	cr_expect(eq(i64, gt_pending_until(&pending, process),
	             TRACE_START_NS + 10 * (gt_time)SECOND));
	end();
}

static void tell(struct gt_result *result)
{
	struct gt_error err = {0};

	gt_result_init(result);
	gt_pending_add_tables(result, &pending, 1);
	gt_pending_remark(result, &pending, 1);
	cr_assert(eq(int, gt_result_check(result, &err), 0), "%s", err.text);
}

Test(pending, tables_have_collectives_first)
{
	struct gt_result result;
	const struct gt_section *table;
	const gt_id gemm = (begin(), shape);

	launch(stream, 100);
	shape = trace_shape(&trace, "ncclDevKernel_AllReduce", 1, 32);
	trace.launch_shapes.rows[shape].family = GT_FAMILY_communication;
	launch(stream, 200);
	cr_assert(ne(u32, shape, gemm));
	look();
	tell(&result);
	table = gt_result_find(&result, "work");
	cr_assert(eq(sz, gt_section_row_count(table), 2));
	expect_text(gt_section_cell(table, 0, "operation")->text, "ncclDevKernel_AllReduce");
	expect_text(gt_section_cell(table, 0, "state")->text, "behind other work");
	cr_expect(eq(i64, gt_section_cell(table, 0, "age_ns")->count, 10 * (int64_t)SECOND - 200));
	cr_expect(eq(i64, gt_section_cell(table, 0, "place")->count, 2));
	expect_text(gt_section_cell(table, 1, "operation")->text, "gemm");
	expect_text(gt_section_cell(table, 1, "state")->text, "runs or is stuck");
	gt_result_release(&result);
	end();
}

Test(pending, tables_say_what_never_ended_of_a_program_that_did)
{
	struct gt_result result;
	const struct gt_section *table;

	begin();
	trace.processes.rows[process].ended = GT_END_DIED;
	launch(stream, 100);
	look();
	tell(&result);
	table = gt_result_find(&result, "work");
	cr_assert(eq(sz, gt_section_row_count(table), 1));
	expect_text(gt_section_cell(table, 0, "state")->text, "never ended");
	cr_expect(strstr(result.remarks.rows[1].text, "The program has ended"));
	gt_result_release(&result);
	end();
}

Test(pending, a_recording_without_pending_work_says_so)
{
	struct gt_result result;

	begin();
	look();
	tell(&result);
	cr_expect(gt_result_says_why_empty(&result));
	gt_result_release(&result);
	end();
}
