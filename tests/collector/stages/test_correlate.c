/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "collector/collect.h"
#include "collector/stage.h"

extern const struct gt_stage gt_stage_correlate;

/* Two processes, each with a thread, a context and a stream of the same row number. */
static struct gt_trace trace;

static void make(void)
{
	gt_trace_init(&trace);
	for (gt_id process = 0; process < 2; process++) {
		*gt_array_push(&trace.processes) = (struct gt_process){.pid = process};
		*gt_array_push(&trace.threads) = (struct gt_thread){.process = process};
		*gt_array_push(&trace.contexts) = (struct gt_context){.process = process};
		*gt_array_push(&trace.streams) = (struct gt_stream){.context = process};
	}
}

static void drop(void)
{
	gt_trace_release(&trace);
}

TestSuite(correlate, .init = make, .fini = drop);

static void add_api_call(gt_id process, gt_count correlation, gt_time start, gt_count flags)
{
	*gt_array_push(&trace.api_calls) = (struct gt_api_call){
		.thread = process, .correlation = correlation, .start_ns = start, .flags = flags};
}

static void add_kernel(gt_id process, gt_count correlation, gt_time start)
{
	*gt_array_push(&trace.kernels) = (struct gt_kernel){
		.stream = process, .correlation = correlation, .start_ns = start};
}

static void join(void)
{
	struct gt_collection collection = {.trace = &trace};

	cr_assert(eq(int, gt_stage_correlate.run(&collection, NULL), 0));
}

static gt_id call_of(size_t kernel)
{
	return trace.kernels.rows[kernel].api_call;
}

Test(correlate, keeps_equal_ids_of_two_processes_apart)
{
	add_api_call(0, 7, 100, 0);
	add_api_call(1, 7, 101, 0);
	add_api_call(1, 8, 102, 0);
	add_kernel(1, 7, 200);
	add_kernel(0, 7, 201);
	add_kernel(0, 8, 202);
	join();
	cr_expect(eq(u32, call_of(0), 1));
	cr_expect(eq(u32, call_of(1), 0));
	cr_expect(eq(u32, call_of(2), GT_NONE));
}

Test(correlate, joins_all_kernels_of_a_graph_launch_with_it)
{
	add_api_call(0, 7, 100, 0);
	add_api_call(0, 8, 110, 0);
	for (gt_time i = 0; i < 50; i++)
		add_kernel(0, 7, 200 + i);
	add_kernel(0, 8, 300);
	join();
	for (size_t i = 0; i < 50; i++)
		cr_expect(eq(u32, call_of(i), 0));
	cr_expect(eq(u32, call_of(50), 1));
}

Test(correlate, takes_the_outer_of_nested_calls)
{
	add_api_call(0, 7, 100, 0);
	add_api_call(0, 7, 101, GT_NESTED | GT_DRIVER_API);
	add_api_call(0, 8, 110, GT_NESTED); /* whose outer call is not recorded */
	add_kernel(0, 7, 200);
	add_kernel(0, 8, 210);
	join();
	cr_expect(eq(u32, call_of(0), 0));
	cr_expect(eq(u32, call_of(1), GT_NONE));
}

Test(correlate, joins_copies_fills_and_waits)
{
	add_api_call(1, 3, 100, 0);
	*gt_array_push(&trace.copies) = (struct gt_copy){.stream = 1, .correlation = 3};
	*gt_array_push(&trace.fills) = (struct gt_fill){.stream = 1, .correlation = 3};
	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.thread = GT_NONE, .stream = GT_NONE, .context = 1, .correlation = 3};
	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.thread = GT_NONE, .stream = GT_NONE, .context = 0, .correlation = 3};
	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.thread = GT_NONE, .stream = GT_NONE, .context = GT_NONE, .correlation = 3};
	join();
	cr_expect(eq(u32, trace.copies.rows[0].api_call, 0));
	cr_expect(eq(u32, trace.fills.rows[0].api_call, 0));
	cr_expect(eq(u32, trace.syncs.rows[0].api_call, 0));
	cr_expect(eq(u32, trace.syncs.rows[1].api_call, GT_NONE));
	cr_expect(eq(u32, trace.syncs.rows[2].api_call, GT_NONE));
}

Test(correlate, finds_nothing_where_there_are_no_calls)
{
	add_kernel(0, 7, 200);
	join();
	cr_expect(eq(u32, call_of(0), GT_NONE));
}

Test(correlate, takes_ids_of_all_sizes)
{
	static const gt_count ids[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

	for (gt_id i = 0; i < 6; i++) {
		add_api_call(0, ids[i], 100 + i, 0);
		add_kernel(0, ids[i], 200 + i);
	}
	join();
	for (gt_id i = 0; i < 6; i++)
		cr_expect(eq(u32, call_of(i), i));
}

/* Ids are of 32 bits: after four billion calls, hours, they come again. */
Test(correlate, tells_calls_apart_whose_ids_came_again)
{
	const gt_time hour = 3600ll * 1000000000;

	for (int round = 0; round < 3; round++)
		for (gt_count id = 1; id <= 20; id++)
			add_api_call(0, id, 1000 + round * hour + id, 0);
	add_kernel(0, 5, 0); /* unfinished: of the last one, as the others would be done */
	for (int round = 0; round < 3; round++) {
		add_kernel(0, 5, 2000 + round * hour);
		add_kernel(0, 6, 1000 + round * hour); /* clocks are not exact */
	}
	join();
	cr_expect(eq(u32, call_of(0), 44));
	for (gt_id round = 0; round < 3; round++) {
		cr_expect(eq(u32, call_of(1 + 2 * round), 20 * round + 4));
		cr_expect(eq(u32, call_of(2 + 2 * round), 20 * round + 5));
	}
}

/* Like a search of all calls, for ids that are dense, sparse and not there. */
Test(correlate, finds_what_a_search_finds)
{
	uint64_t state = 3;

	for (int spread = 0; spread < 3; spread++) {
		const uint64_t step = 1 + (uint64_t)spread * spread * 100000;
		gt_count id = (gt_count)next_random(&state);

		trace.api_calls.count = trace.kernels.count = 0;
		for (gt_time i = 0; i < 3000; i++) {
			id += 1 + (gt_count)(next_random(&state) % step);
			add_api_call(next_random(&state) % 2, id, 100 + i, 0);
			add_kernel(next_random(&state) % 2, id, 200 + i);
		}
		join();
		for (size_t i = 0; i < 3000; i++) {
			const struct gt_kernel *kernel = &trace.kernels.rows[i];
			const struct gt_api_call *call = &trace.api_calls.rows[i];

			cr_assert(eq(u32, kernel->api_call,
			             call->thread == kernel->stream ? (gt_id)i : GT_NONE));
		}
	}
}

/* The order of writing, and the process whose capture has it, do not matter. */
Test(correlate, joins_records_that_came_late)
{
	struct recording recording;
	struct gt_trace read;

	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	for (uint32_t i = 50; i > 0; i--)
		recording_add_kernel(&recording, 100000 + 100 * (i * 7 % 50), i * 7 % 50 + 1);
	for (uint32_t i = 50; i > 0; i--)
		recording_add_call(&recording, 2000 + 100 * (i * 3 % 50), i * 3 % 50 + 1);
	recording_end(&recording, true);
	read = collect(&recording);
	cr_assert(eq(sz, read.kernels.count, 50));
	cr_assert(eq(sz, read.api_calls.count, 50));
	for (gt_id i = 0; i < 50; i++) {
		cr_expect(eq(u32, read.kernels.rows[i].api_call, i));
		cr_expect(eq(u32, read.api_calls.rows[i].correlation, i + 1));
	}
	gt_trace_release(&read);
	recording_release(&recording);
}
