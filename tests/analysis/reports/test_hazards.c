/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_report.h"
#include "analysis/reports/hazards/declared_accesses.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/kinds/access.h"
#include "model/kinds/graph.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/work/sync.h"

/*
 * A program with two streams that are not blocking and the default stream. The work that a test
 * gives the streams is called at the time that it names, and runs a while later.
 */
static struct gt_trace trace;
static struct gt_result result;
static gt_id process;
static gt_id thread;
static gt_id legacy;
static gt_id first;
static gt_id second;

enum { NON_BLOCKING = 2, MEMORY = 0x10000, BYTES = 4096, RUNS_NS = 10000 };

static gt_id add_stream(gt_count number, gt_count flags)
{
	*gt_array_push(&trace.streams) = (struct gt_stream){
		.context = trace.streams.rows[legacy].context, .number = number, .flags = flags};
	return (gt_id)trace.streams.count - 1;
}

static void make(void)
{
	trace_init(&trace, 1000000);
	process = trace_process(&trace, "app", 1);
	thread = trace_thread(&trace, process, 101);
	legacy = trace_stream(&trace, process, trace_device(&trace));
	trace.streams.rows[legacy].number = 7;
	trace.contexts.rows[trace.streams.rows[legacy].context].null_stream = 7;
	first = add_stream(13, NON_BLOCKING);
	second = add_stream(14, NON_BLOCKING);
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(hazards, .init = make, .fini = drop);

static void add_access(gt_id call, uint64_t address, gt_size bytes, gt_count kind)
{
	*gt_array_push(&trace.accesses) = (struct gt_access){
		.start_ns = trace.api_calls.rows[call].start_ns,
		.end_ns = trace.api_calls.rows[call].start_ns,
		.address = address,
		.size_bytes = bytes,
		.rows = 1,
		.kind = kind,
		.thread = thread,
		.stream = GT_NONE,
		.context = GT_NONE,
		.api_call = call,
	};
}

/* Writes. */
static void fill(gt_id stream, gt_time at_ns, uint64_t address)
{
	const gt_id call = trace_call(&trace, thread, "cudaMemsetAsync", at_ns, at_ns + 5);

	add_access(call, address, BYTES, GT_ACCESS_FILL);
	struct gt_fill *row = trace_fill(&trace, stream, BYTES, at_ns + 100, at_ns + RUNS_NS);

	row->api_call = call;
	row->memory_kind = GT_MEMORY_DEVICE;
}

/* Reads it, and writes other memory. */
static void copy(gt_id stream, gt_time at_ns, uint64_t address)
{
	const gt_id call = trace_call(&trace, thread, "cudaMemcpyAsync", at_ns, at_ns + 5);

	add_access(call, address, BYTES, GT_ACCESS_COPY_FROM);
	add_access(call, 0x900000 + (uint64_t)at_ns * BYTES, BYTES, GT_ACCESS_COPY_TO);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, BYTES, at_ns + 100, at_ns + RUNS_NS)
		->api_call = call;
}

static struct gt_sync *add_sync(enum gt_sync_kind kind, gt_id stream, gt_time at_ns)
{
	struct gt_sync *sync = gt_array_push(&trace.syncs);

	*sync = (struct gt_sync){
		.start_ns = TRACE_START_NS + at_ns,
		.end_ns = TRACE_START_NS + at_ns + 2,
		.kind = kind,
		.thread = thread,
		.context = trace.streams.rows[legacy].context,
		.stream = stream,
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = GT_NONE,
	};
	return sync;
}

static void add_event(void)
{
	*gt_array_push(&trace.events) = (struct gt_event){.process = process, .handle = 1};
}

static void record(gt_id stream, gt_time at_ns)
{
	add_sync(GT_SYNC_EVENT_RECORD, stream, at_ns)->event = 0;
}

static void wait_for_event(gt_id stream, gt_time at_ns)
{
	struct gt_sync *sync = add_sync(GT_SYNC_STREAM_WAIT_EVENT, stream, at_ns);

	sync->event = 0;
	sync->record = 0;
}

static void look(size_t hazards)
{
	run_report(&result, "hazards", &trace);
	cr_expect(eq(sz, row_count(&result, "hazards"), hazards));
}

/* ---- uses of one piece of memory ---- */

Test(hazards, of_a_read_after_a_write_on_another_stream)
{
	fill(first, 100, MEMORY);
	copy(second, 200, MEMORY);
	look(1);
	expect_words(&result, "hazards", 0, "kind", "read after write");
	expect_count(&result, "hazards", 0, "times", 1);
	expect_count(&result, "hazards", 0, "overlapped", 1);
	expect_words(&result, "hazards", 0, "earlier", "fill (13)");
	expect_words(&result, "hazards", 0, "earlier_stream", "13");
	expect_words(&result, "hazards", 0, "later", "copy DtoD (14)");
	expect_words(&result, "hazards", 0, "later_stream", "14");
	expect_words(&result, "hazards", 0, "later_call", "cudaMemcpyAsync");
	expect_words(&result, "hazards", 0, "address", "0x10000");
	expect_count(&result, "hazards", 0, "bytes", BYTES);
	expect_count(&result, "hazards", 0, "earlier_at_ns", 100);
	expect_words(&result, "hazards", 0, "order_by", "event from 13 to 14");
}

Test(hazards, of_a_write_after_a_read_and_of_two_writes)
{
	copy(first, 100, MEMORY);
	fill(second, 200, MEMORY);
	fill(first, 300, MEMORY);
	look(2);
	expect_words(&result, "hazards", 0, "kind", "write after read");
	expect_words(&result, "hazards", 1, "kind", "write after write");
}

Test(hazards, that_only_could_happen_say_so)
{
	fill(first, 100, MEMORY);
	copy(second, 100000, MEMORY);
	look(1);
	expect_count(&result, "hazards", 0, "times", 1);
	expect_count(&result, "hazards", 0, "overlapped", 0);
}

Test(hazards, need_memory_in_common_and_a_write)
{
	fill(first, 100, MEMORY);
	fill(second, 200, MEMORY + BYTES);
	copy(first, 300, 0x400000);
	copy(second, 400, 0x400000);
	look(0);
	cr_expect(has_remark(&result, "No two uses"));
}

Test(hazards, of_memory_that_only_overlaps_are_of_that_part)
{
	fill(first, 100, MEMORY);
	fill(second, 200, MEMORY + BYTES - 16);
	look(1);
	expect_count(&result, "hazards", 0, "bytes", 16);
	expect_words(&result, "hazards", 0, "address", "0x10ff0");
}

Test(hazards, in_a_loop_are_one_row)
{
	for (gt_time i = 0; i < 10; i++) {
		fill(first, 1000 * i + 100, MEMORY);
		copy(second, 1000 * i + 200, MEMORY);
	}
	look(2);
	expect_words(&result, "hazards", 0, "kind", "read after write");
	expect_count(&result, "hazards", 0, "times", 10);
	expect_words(&result, "hazards", 1, "kind", "write after read");
	expect_count(&result, "hazards", 1, "times", 9);
}

/* Every second row of some memory, and those between them. */
Test(hazards, of_rows_are_of_the_bytes_in_them)
{
	fill(first, 100, MEMORY);
	fill(second, 200, MEMORY + 128);
	for (int i = 0; i < 2; i++) {
		trace.accesses.rows[i].size_bytes = 128;
		trace.accesses.rows[i].pitch = 256;
		trace.accesses.rows[i].rows = 8;
	}
	look(0);
	gt_result_release(&result);
	trace.accesses.rows[1].address -= 1;
	look(1);
	expect_count(&result, "hazards", 0, "bytes", 8);
}

/* ---- what orders ---- */

Test(hazards, are_none_within_a_stream)
{
	fill(first, 100, MEMORY);
	copy(first, 200, MEMORY);
	fill(first, 300, MEMORY);
	look(0);
}

Test(hazards, are_none_behind_an_event)
{
	add_event();
	fill(first, 100, MEMORY);
	record(first, 150);
	wait_for_event(second, 180);
	copy(second, 200, MEMORY);
	look(0);
}

Test(hazards, are_there_when_the_event_was_recorded_too_early)
{
	add_event();
	record(first, 50);
	fill(first, 100, MEMORY);
	wait_for_event(second, 180);
	copy(second, 200, MEMORY);
	look(1);
}

Test(hazards, are_there_when_the_stream_waited_too_late)
{
	add_event();
	fill(first, 100, MEMORY);
	record(first, 150);
	copy(second, 160, MEMORY);
	wait_for_event(second, 180);
	look(1);
}

/* CUDA does not wait for an event that was never recorded. */
Test(hazards, are_there_when_the_event_was_never_recorded)
{
	add_event();
	trace.events.rows[0].created_ns = 50;
	fill(first, 100, MEMORY);
	wait_for_event(second, 180);
	trace.syncs.rows[0].record = GT_NONE;
	copy(second, 200, MEMORY);
	look(1);
}

Test(hazards, are_not_claimed_where_the_record_was_not_seen)
{
	add_event();
	fill(first, 100, MEMORY);
	wait_for_event(second, 180);
	trace.syncs.rows[0].record = GT_NONE;
	copy(second, 200, MEMORY);
	look(0);
}

Test(hazards, are_none_when_events_lead_there_through_a_third_stream)
{
	const gt_id third = add_stream(15, NON_BLOCKING);

	add_event();
	add_event();
	fill(first, 100, MEMORY);
	record(first, 150);
	wait_for_event(third, 160);
	add_sync(GT_SYNC_EVENT_RECORD, third, 170)->event = 1;
	struct gt_sync *wait = add_sync(GT_SYNC_STREAM_WAIT_EVENT, second, 180);

	wait->event = 1;
	wait->record = 2;
	copy(second, 200, MEMORY);
	look(0);
}

Test(hazards, are_none_behind_a_wait_of_the_host)
{
	fill(first, 100, MEMORY);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 150);
	copy(second, 200, MEMORY);
	look(0);
}

Test(hazards, are_there_when_the_host_waited_for_the_wrong_stream)
{
	fill(first, 100, MEMORY);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, second, 150);
	copy(second, 200, MEMORY);
	look(1);
}

/* A wait orders work at its return, not work that another thread asks for during the call. */
Test(hazards, are_there_while_the_host_still_waits)
{
	fill(first, 100, MEMORY);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 150)->end_ns = TRACE_START_NS + 20000;
	copy(second, 200, MEMORY);
	look(1);
}

Test(hazards, are_none_behind_a_wait_for_the_device)
{
	fill(first, 100, MEMORY);
	add_sync(GT_SYNC_CONTEXT_SYNCHRONIZE, GT_NONE, 150);
	copy(second, 200, MEMORY);
	look(0);
}

Test(hazards, are_none_behind_a_query_that_was_told_that_it_is_done)
{
	fill(first, 100, MEMORY);
	*gt_array_push(&trace.queries) = (struct gt_query){
		.start_ns = TRACE_START_NS + 150,
		.end_ns = TRACE_START_NS + 150,
		.thread = thread,
		.stream = first,
		.event = GT_NONE,
		.kind = GT_SYNC_STREAM_QUERY,
		.result = 600,
		.count = 1,
	};
	copy(second, 200, MEMORY);
	look(1);
	gt_result_release(&result);
	trace.queries.rows[0].result = 0;
	look(0);
}

Test(hazards, are_none_between_blocking_streams_and_the_default_one)
{
	const gt_id blocking = add_stream(15, 1);

	fill(blocking, 100, MEMORY);
	copy(legacy, 200, MEMORY);
	fill(blocking, 300, MEMORY);
	look(0);
}

Test(hazards, are_there_between_the_default_stream_and_one_that_is_not_blocking)
{
	fill(legacy, 100, MEMORY);
	copy(first, 200, MEMORY);
	look(1);
}

/* Whatever a kernel of the default stream touches, blocking streams wait for each other through it.
 */
Test(hazards, are_none_between_blocking_streams_with_work_of_the_default_one_between)
{
	const gt_id one = add_stream(15, 1);
	const gt_id other = add_stream(16, 1);
	const gt_id shape = trace_shape(&trace, "k", 1, 32);

	fill(one, 100, MEMORY);
	const gt_id call = trace_call(&trace, thread, "cudaLaunchKernel", 150, 155);
	trace_kernel(&trace, legacy, shape, 20000, 21000)->api_call = call;
	copy(other, 200, MEMORY);
	look(0);
	gt_result_release(&result);
	trace.kernels.rows[0].stream = first;
	look(1);
}

Test(hazards, are_none_behind_a_value_that_was_waited_for)
{
	fill(first, 100, MEMORY);
	add_sync(GT_SYNC_WRITE_VALUE, first, 150)->address = 0x50;
	struct gt_sync *wait = add_sync(GT_SYNC_WAIT_VALUE, second, 160);

	wait->address = 0x50;
	wait->record = 0;
	copy(second, 200, MEMORY);
	look(0);
}

/* The write before it is not the one that it waits for. */
Test(hazards, are_not_claimed_behind_a_value_that_is_written_after_the_wait)
{
	add_sync(GT_SYNC_WRITE_VALUE, first, 50)->address = 0x50;
	struct gt_sync *wait = add_sync(GT_SYNC_WAIT_VALUE, second, 60);

	wait->address = 0x50;
	wait->record = 2;
	fill(first, 100, MEMORY);
	add_sync(GT_SYNC_WRITE_VALUE, first, 150)->address = 0x50;
	copy(second, 200, MEMORY);
	look(0);
	cr_expect(has_remark(&result, "nothing is said"));
}

Test(hazards, are_not_claimed_where_a_stream_waits_for_what_nobody_sees)
{
	fill(first, 100, MEMORY);
	add_sync(GT_SYNC_EXTERNAL_WAIT, second, 150);
	copy(second, 200, MEMORY);
	look(0);
	cr_expect(has_remark(&result, "nothing is said"));
}

/* cudaMemset of device memory returns at once. */
Test(hazards, are_there_behind_a_fill_for_which_nobody_waited)
{
	fill(legacy, 100, MEMORY);
	struct gt_sync *sync = add_sync(GT_SYNC_BLOCKING_FILL, legacy, 100);

	sync->api_call = trace.fills.rows[0].api_call;
	copy(first, 200, MEMORY);
	look(1);
	gt_result_release(&result);
	trace.fills.rows[0].memory_kind = GT_MEMORY_MANAGED;
	look(0);
}

/* ---- allocations in the order of a stream ---- */

static gt_id add_memory_call(gt_count kind, gt_id stream, gt_time at_ns)
{
	const gt_id call = trace_call(&trace, thread,
	                              gt_memory_does(kind) == GT_MEMORY_ENDS ? "cudaFreeAsync"
	                                                                     : "cudaMallocAsync",
	                              at_ns, at_ns + 5);

	*gt_array_push(&trace.memory_calls) = (struct gt_memory_call){
		.start_ns = TRACE_START_NS + at_ns,
		.end_ns = TRACE_START_NS + at_ns + 5,
		.address = MEMORY,
		.size_bytes = BYTES,
		.thread = thread,
		.context = trace.streams.rows[legacy].context,
		.stream = stream,
		.place = GT_NONE,
		.api_call = call,
		.kind = kind,
	};
	return (gt_id)trace.memory_calls.count - 1;
}

static gt_id allocate(gt_count kind, gt_id stream, gt_time at_ns)
{
	const gt_id made_by = add_memory_call(kind, stream, at_ns);

	*gt_array_push(&trace.allocations) = (struct gt_allocation){
		.start_ns = trace.memory_calls.rows[made_by].start_ns,
		.address = MEMORY,
		.size_bytes = BYTES,
		.process = process,
		.made_by = made_by,
		.ended_by = GT_NONE,
		.range = GT_NONE,
		.kind = kind,
		.flags = GT_UNFINISHED,
	};
	return (gt_id)trace.allocations.count - 1;
}

static gt_id allocate_ordered(gt_id stream, gt_time at_ns)
{
	return allocate(GT_MEMORY_CALL_ALLOCATE_ORDERED, stream, at_ns);
}

static void end_with(gt_id allocation, gt_count kind, gt_id stream, gt_time at_ns)
{
	const gt_id row = add_memory_call(kind, stream, at_ns);

	trace.allocations.rows[allocation].ended_by = row;
	trace.allocations.rows[allocation].end_ns = trace.memory_calls.rows[row].start_ns;
	trace.allocations.rows[allocation].flags = 0;
}

static void free_ordered(gt_id allocation, gt_id stream, gt_time at_ns)
{
	end_with(allocation, GT_MEMORY_CALL_FREE_ORDERED, stream, at_ns);
}

Test(hazards, of_memory_that_is_freed_while_another_stream_uses_it)
{
	const gt_id memory = allocate_ordered(first, 10);

	add_event();
	record(first, 30);
	wait_for_event(second, 40);
	copy(second, 200, MEMORY);
	free_ordered(memory, first, 300);
	look(1);
	expect_words(&result, "hazards", 0, "kind", "use after free");
	expect_words(&result, "hazards", 0, "earlier", "copy DtoD (14)");
	expect_words(&result, "hazards", 0, "later", "free into a pool (13)");
	expect_words(&result, "hazards", 0, "later_stream", "13");
	expect_count(&result, "hazards", 0, "overlapped", 1);
}

Test(hazards, are_none_of_memory_that_is_freed_behind_an_event)
{
	const gt_id memory = allocate_ordered(first, 10);

	add_event();
	fill(first, 100, MEMORY);
	copy(first, 120, MEMORY);
	record(first, 150);
	wait_for_event(second, 180);
	free_ordered(memory, second, 300);
	look(0);
}

Test(hazards, of_memory_that_is_used_after_it_was_freed)
{
	free_ordered(allocate_ordered(first, 10), first, 100);
	copy(first, 200, MEMORY);
	look(1);
	expect_words(&result, "hazards", 0, "kind", "use after free");
	expect_words(&result, "hazards", 0, "earlier", "free into a pool (13)");
	expect_words(&result, "hazards", 0, "order_by", "free it later");
	expect_count(&result, "hazards", 0, "overlapped", 1);
}

Test(hazards, of_memory_that_another_stream_uses_before_it_is_there)
{
	allocate_ordered(first, 10);
	fill(second, 100, MEMORY);
	fill(first, 200, 0x700000);
	look(1);
	expect_words(&result, "hazards", 0, "kind", "use before allocation");
	expect_words(&result, "hazards", 0, "earlier_stream", "13");
}

/* Nobody knows the address before the call has returned: it is other memory that was there. */
Test(hazards, are_none_of_memory_that_is_used_before_its_call_returns)
{
	allocate_ordered(first, 10);
	fill(second, 12, MEMORY);
	fill(first, 200, 0x700000);
	look(0);
}

/* Earlier contents of the memory are another allocation's. */
Test(hazards, are_none_between_what_used_memory_before_and_after_it_was_handed_out_again)
{
	const gt_id memory = allocate_ordered(first, 10);

	fill(first, 100, MEMORY);
	free_ordered(memory, first, 200);
	allocate_ordered(second, 300);
	fill(second, 400, MEMORY);
	look(0);
}

Test(hazards, are_none_of_memory_that_a_free_waits_for)
{
	const gt_id memory = allocate(GT_MEMORY_CALL_ALLOCATE, GT_NONE, 10);

	fill(first, 100, MEMORY);
	end_with(memory, GT_MEMORY_CALL_FREE, GT_NONE, 300);
	look(0);
}

/* ---- kernels that say what they use ---- */

static gt_id add_kernel(gt_id range, gt_id stream, gt_time at_ns)
{
	const gt_id call = trace_call_in(&trace, range, "cudaLaunchKernel", at_ns, at_ns + 5);

	if (trace.launch_shapes.count == 0)
		trace_shape(&trace, "k", 1, 32);
	trace_kernel(&trace, stream, 0, at_ns + 100, at_ns + RUNS_NS)->api_call = call;
	return call;
}

static void say(gt_id range, const char *data)
{
	trace.ranges.rows[range].data = gt_strings_add(trace.strings, data);
}

Test(hazards, of_kernels_that_say_what_they_use)
{
	const gt_id range = trace_range(&trace, thread, GT_NONE, "scale", 100, 190);

	say(range,
	    "[{\"gputrace.address\":\"0x10000\",\"gputrace.bytes\":64,\"gputrace.mode\":2}]");
	add_kernel(range, first, 110);
	copy(second, 200, MEMORY);
	look(1);
	expect_words(&result, "hazards", 0, "kind", "read after write");
	expect_words(&result, "hazards", 0, "earlier", "k (13)");
	expect_words(&result, "hazards", 0, "earlier_range", "scale");
	expect_count(&result, "hazards", 0, "bytes", 64);
	expect_words(&result, "covered", 0, "work", "kernels");
	expect_count(&result, "covered", 0, "known", 1);
}

Test(hazards, say_how_much_of_the_work_is_not_known)
{
	const gt_id range = trace_range(&trace, thread, GT_NONE, "scale", 100, 190);

	add_kernel(range, first, 110);
	copy(second, 200, MEMORY);
	look(0);
	expect_count(&result, "covered", 0, "count", 1);
	expect_count(&result, "covered", 0, "known", 0);
	cr_expect(has_remark(&result, "1 of 2 kernels, copies and fills are not looked at"));
}

Test(hazards, without_addresses_say_how_to_get_them)
{
	add_kernel(trace_range(&trace, thread, GT_NONE, "scale", 100, 190), first, 110);
	look(0);
	cr_expect(has_remark(&result, "--hazards"));
}

Test(hazards, are_not_looked_for_in_chosen_work)
{
	struct gt_view view = gt_view_of(&trace);

	fill(first, 100, MEMORY);
	copy(second, 200, MEMORY);
	view.by_work = true;
	run_report_on(&result, "hazards", &view);
	cr_expect(eq(sz, row_count(&result, "hazards"), 0));
	cr_expect(has_remark(&result, "without --device"));
}

/* Two launches of one graph, in which a fill was captured; a copy on another stream. */
Test(hazards, of_nodes_of_graphs_are_those_of_the_stream_of_the_launch)
{
	const gt_id captured = trace_call(&trace, thread, "cudaMemsetAsync", 10, 15);
	const gt_id node = trace_node(&trace, process, captured);
	const gt_id launch = trace_call(&trace, thread, "cudaGraphLaunch", 100, 105);
	struct gt_fill *row = trace_fill(&trace, legacy, BYTES, 200, 300);

	row->api_call = launch;
	row->node = node;
	row->graph_node = 5;
	add_access(captured, MEMORY, BYTES, GT_ACCESS_FILL);
	*gt_array_push(&trace.graph_launches) =
		(struct gt_graph_launch){.api_call = launch, .stream = first};
	copy(second, 250, MEMORY);
	look(1);
	expect_words(&result, "hazards", 0, "earlier_stream", "13");
	gt_result_release(&result);
	trace.graph_nodes.rows[node].changes = 1;
	look(0);
}

/* ---- inside one launch of a graph ---- */

/* A node made by a call that fills, or copies from, memory. */
static gt_id add_node(const char *function, gt_time at_ns, uint64_t address, gt_count kind)
{
	const gt_id call = trace_call(&trace, thread, function, at_ns, at_ns + 5);
	const gt_id node = trace_node(&trace, process, call);

	trace.graph_nodes.rows[node].graph = 0;
	trace.graph_nodes.rows[node].type =
		kind == GT_ACCESS_FILL ? GT_GRAPH_NODE_MEMSET : GT_GRAPH_NODE_MEMCPY;
	trace.graph_nodes.rows[node].made_by = gt_strings_add(trace.strings, function);
	add_access(call, address, BYTES, kind);
	return node;
}

static void depend(gt_id before, gt_id after)
{
	*gt_array_push(&trace.graph_dependencies) =
		(struct gt_graph_dependency){.process = process, .before = before, .after = after};
}

/*
 * Fills the memory, fills other memory beside that, and copies from the memory; and an executable
 * graph of it, whose nodes are so many rows behind these.
 */
struct race {
	gt_id fill;
	gt_id beside;
	gt_id copy;
};

enum { CLONES = 3 };

static struct race add_graph(void)
{
	struct race race;

	*gt_array_push(&trace.graphs) = (struct gt_graph){
		.process = process, .original = GT_NONE, .parent = GT_NONE, .exec = GT_NONE};
	*gt_array_push(&trace.graph_execs) = (struct gt_graph_exec){.process = process, .graph = 0};
	race.fill = add_node("cudaMemsetAsync", 10, MEMORY, GT_ACCESS_FILL);
	race.beside = add_node("cudaMemsetAsync", 20, MEMORY + 16 * BYTES, GT_ACCESS_FILL);
	race.copy = add_node("cudaMemcpyAsync", 30, MEMORY + BYTES / 2, GT_ACCESS_COPY_FROM);
	for (gt_id original = 0; original < CLONES; original++) {
		struct gt_graph_node clone = trace.graph_nodes.rows[original];

		clone.number = 100 + original;
		clone.original = original;
		clone.exec = 0;
		clone.graph = GT_NONE;
		clone.api_call = GT_NONE;
		*gt_array_push(&trace.graph_nodes) = clone;
	}
	return race;
}

static void run_node(struct gt_fill *row, gt_id launch, gt_id node)
{
	row->api_call = launch;
	row->node = node + CLONES;
	row->graph_node = trace.graph_nodes.rows[node + CLONES].number;
}

static void launch_graph(const struct race *race, gt_time at_ns)
{
	const gt_id launch = trace_call(&trace, thread, "cudaGraphLaunch", at_ns, at_ns + 5);
	struct gt_copy *copy;

	*gt_array_push(&trace.graph_launches) =
		(struct gt_graph_launch){.api_call = launch, .stream = first, .exec = 0};
	run_node(trace_fill(&trace, first, BYTES, at_ns + 50, at_ns + 150), launch, race->fill);
	run_node(trace_fill(&trace, first, BYTES, at_ns + 60, at_ns + 160), launch, race->beside);
	copy = trace_copy(&trace, first, GT_COPY_DEVICE_TO_DEVICE, BYTES, at_ns + 100, at_ns + 200);
	copy->api_call = launch;
	copy->node = race->copy + CLONES;
	copy->graph_node = trace.graph_nodes.rows[race->copy + CLONES].number;
}

Test(hazards, of_two_nodes_of_a_launch_that_do_not_wait_for_each_other)
{
	const struct race race = add_graph();

	launch_graph(&race, 1000);
	launch_graph(&race, 2000);
	look(1);
	expect_words(&result, "hazards", 0, "kind", "read after write");
	expect_count(&result, "hazards", 0, "times", 2);
	expect_count(&result, "hazards", 0, "overlapped", 2);
	expect_count(&result, "hazards", 0, "bytes", BYTES / 2);
	expect_count(&result, "hazards", 0, "earlier_node", race.fill + 1);
	expect_count(&result, "hazards", 0, "later_node", race.copy + 1);
	expect_words(&result, "hazards", 0, "earlier", "fill, node 1 (13)");
	expect_words(&result, "hazards", 0, "later", "copy DtoD, node 3 (13)");
	expect_words(&result, "hazards", 0, "earlier_call", "cudaMemsetAsync");
	expect_words(&result, "hazards", 0, "later_call", "cudaMemcpyAsync");
	expect_words(&result, "hazards", 0, "order_by", "dependency of node 3 on node 1");
}

Test(hazards, of_nodes_are_none_where_one_waits_for_the_other_through_a_third)
{
	const struct race race = add_graph();

	depend(race.fill, race.beside);
	depend(race.beside, race.copy);
	launch_graph(&race, 1000);
	look(0);
}

Test(hazards, of_nodes_are_none_where_the_later_made_runs_first)
{
	const struct race race = add_graph();

	depend(race.copy, race.fill);
	launch_graph(&race, 1000);
	look(0);
}

Test(hazards, of_nodes_are_not_claimed_where_one_was_changed)
{
	const struct race race = add_graph();

	launch_graph(&race, 1000);
	trace.graph_nodes.rows[race.copy].changes = 1;
	look(0);
}

Test(hazards, of_nodes_are_not_claimed_where_the_graph_was_updated)
{
	const struct race race = add_graph();

	*gt_array_push(&trace.graph_calls) = (struct gt_graph_call){
		.start_ns = TRACE_START_NS + 500,
		.end_ns = TRACE_START_NS + 510,
		.kind = GT_GRAPH_CALL_UPDATE,
		.thread = thread,
		.exec = 0,
		.graph = GT_NONE,
		.node = GT_NONE,
		.api_call = GT_NONE,
	};
	launch_graph(&race, 1000);
	look(0);
}

Test(hazards, of_nodes_are_not_claimed_where_a_node_waits_for_an_event)
{
	const struct race race = add_graph();

	trace.graph_nodes.rows[race.beside + CLONES].type = GT_GRAPH_NODE_WAIT_EVENT;
	launch_graph(&race, 1000);
	look(0);
}

Test(hazards, of_nodes_that_only_read_are_none)
{
	const struct race race = add_graph();

	trace.accesses.rows[0].kind = GT_ACCESS_COPY_FROM;
	launch_graph(&race, 1000);
	look(0);
}

/* ---- batches ---- */

/* The copies of one call are in no order, but all of them are in that of the stream. */
Test(hazards, of_a_batch_are_those_of_all_its_copies)
{
	const gt_id call = trace_call(&trace, thread, "cuMemcpyBatchAsync_v2", 10, 15);

	add_access(call, 0x900000, BYTES, GT_ACCESS_COPY_FROM);
	add_access(call, MEMORY, BYTES, GT_ACCESS_COPY_TO);
	add_access(call, 0x910000, BYTES, GT_ACCESS_COPY_FROM);
	add_access(call, MEMORY + BYTES, BYTES, GT_ACCESS_COPY_TO);
	for (int i = 0; i < 2; i++)
		trace_copy(&trace, first, GT_COPY_DEVICE_TO_DEVICE, BYTES, 100, 200)->api_call =
			call;
	copy(second, 50, MEMORY);
	copy(second, 60, MEMORY + BYTES);
	look(1);
	expect_count(&result, "hazards", 0, "times", 2);
	expect_count(&result, "covered", 0, "known", 4);
}

Test(hazards, of_a_batch_that_is_told_in_part_count_it_as_not_known)
{
	const gt_id call = trace_call(&trace, thread, "cuMemcpyBatchAsync_v2", 10, 15);

	add_access(call, MEMORY, BYTES, GT_ACCESS_COPY_TO);
	add_access(call, 0, 0, GT_ACCESS_COPY_TO);
	trace.accesses.rows[1].rows = 0;
	for (int i = 0; i < 2; i++)
		trace_copy(&trace, first, GT_COPY_DEVICE_TO_DEVICE, BYTES, 100, 200)->api_call =
			call;
	look(0);
	expect_count(&result, "covered", 0, "count", 2);
	expect_count(&result, "covered", 0, "known", 0);
}

/* ---- values as an attacker writes them ---- */

Test(hazards, survive_sizes_and_rows_that_make_no_sense)
{
	for (int i = 0; i < 6; i++)
		fill(i % 2 ? first : second, 100 * (i + 1), MEMORY);
	trace.accesses.rows[0].size_bytes = -1;
	trace.accesses.rows[1].address = UINT64_MAX;
	trace.accesses.rows[2].rows = UINT32_MAX;
	trace.accesses.rows[3].rows = 200;
	trace.accesses.rows[3].pitch = UINT64_MAX;
	trace.accesses.rows[4].rows = 0;
	trace.accesses.rows[5].kind = 77;
	add_sync(GT_SYNC_EVENT_RECORD, 99, 50)->event = 99;
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 99, 60)->record = 99;
	look(0);
}

static size_t read_said(const char *text, struct gt_declared *list)
{
	return gt_declared_read(text, list, 4);
}

Test(hazards, are_read_from_what_a_range_says)
{
	struct gt_declared list[4];

	cr_assert(eq(sz,
	             read_said("[{\"name\":\"{\\\"gputrace.bytes\\\":1\",\"gputrace.bytes\":16,"
	                       "\"gputrace.address\":4096,\"gputrace.mode\":3},{\"other\":1},"
	                       "{\"uses\":[{\"gputrace.address\":\"0xff\",\"gputrace.bytes\":1,"
	                       "\"gputrace.mode\":1}]}]",
	                       list),
	             2));
	cr_expect(eq(u64, list[0].address, 4096));
	cr_expect(eq(u64, list[0].size_bytes, 16));
	cr_expect(eq(u32, list[0].mode, GT_DECLARED_BOTH));
	cr_expect(eq(u64, list[1].address, 255));
	cr_expect(eq(u32, list[1].mode, GT_DECLARED_READS));
	cr_expect(eq(sz, read_said("", list), 0));
	cr_expect(eq(sz, read_said("[{\"gputrace.address\":1,\"gputrace.bytes\":1,\"gputr", list),
	             0));
	cr_expect(
		eq(sz,
	           read_said("[{\"gputrace.address\":1,\"gputrace.bytes\":0,\"gputrace.mode\":1}]",
	                     list),
	           0));
	cr_expect(eq(sz,
	             read_said("[{\"gputrace.address\":18446744073709551615,\"gputrace.bytes\":2,"
	                       "\"gputrace.mode\":1}]",
	                       list),
	             0));
	cr_expect(eq(sz, read_said("\"\\", list), 0));
}
