/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "collector/collect.h"
#include "format/file/meta.h"
#include "model/ledger.h"

static struct recording recording;

enum { LAUNCH = STRING_LAUNCH, GRAPH = STRING_NEXT, BEGIN, END_CAPTURE, COPY, ADD_NODE };

static void begin(const char *name, uint32_t pid)
{
	recording_begin(&recording, name);
	recording_add_basics(&recording, pid);
	recording_add_string(&recording, GRAPH, "cudaGraphLaunch_v10000");
	recording_add_string(&recording, BEGIN, "cudaStreamBeginCapture_v10000");
	recording_add_string(&recording, END_CAPTURE, "cudaStreamEndCapture_v10000");
	recording_add_string(&recording, COPY, "cudaMemcpyAsync_v3020");
	recording_add_string(&recording, ADD_NODE, "cudaGraphAddKernelNode_v10000");
}

static void make(void)
{
	recording_init(&recording);
	begin("node-1-1", 1);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(ledger, .init = make, .fini = drop);

static void add_api_call(uint32_t correlation, uint32_t function, uint32_t result, uint32_t tid,
                         uint32_t flags)
{
	recording_add(&recording, api_call, .start_ns = 2000 + 10ull * correlation,
	              .end_ns = flags & GT_RECORD_UNFINISHED ? 0 : 2005 + 10ull * correlation,
	              .correlation = correlation, .function = function, .result = result,
	              .thread = tid, .flags = flags);
}

static void add_kernel(uint32_t correlation, uint32_t flags)
{
	const uint64_t start =
		flags & GT_RECORD_UNFINISHED ? 0 : 1000000 + 10 * (uint64_t)correlation;

	recording_add(&recording, kernel, .start_ns = start, .end_ns = start ? start + 9 : 0,
	              .correlation = correlation, .shape = SHAPE, .context = CONTEXT,
	              .stream = STREAM, .flags = flags);
}

struct classes {
	uint64_t launches;
	uint64_t timed;
	uint64_t unfinished;
	uint64_t captured;
	uint64_t missing;
	uint64_t failed;
	uint64_t graph_launches;
	uint64_t kernels;
	uint64_t kernels_unfinished;
	uint64_t kernels_without_call;
};

static void expect_classes(const struct gt_trace *trace, const struct classes *expected)
{
	cr_expect(eq(u64, ledger_of(trace, "launches"), expected->launches));
	cr_expect(eq(u64, ledger_of(trace, "launches_timed"), expected->timed));
	cr_expect(eq(u64, ledger_of(trace, "launches_unfinished"), expected->unfinished));
	cr_expect(eq(u64, ledger_of(trace, "launches_captured"), expected->captured));
	cr_expect(eq(u64, ledger_of(trace, "launches_missing"), expected->missing));
	cr_expect(eq(u64, ledger_of(trace, "launches_refused"), expected->failed));
	cr_expect(eq(u64, ledger_of(trace, "graph_launches"), expected->graph_launches));
	cr_expect(eq(u64, ledger_of(trace, "kernels"), expected->kernels));
	cr_expect(eq(u64, ledger_of(trace, "kernels_unfinished"), expected->kernels_unfinished));
	cr_expect(
		eq(u64, ledger_of(trace, "kernels_without_call"), expected->kernels_without_call));
}

static void finish(const struct classes *expected)
{
	struct gt_trace trace;

	recording_end(&recording, true);
	trace = collect(&recording);
	expect_classes(&trace, expected);
	gt_trace_release(&trace);
}

Test(ledger, counts_a_launch_with_a_kernel_as_timed)
{
	add_api_call(1, LAUNCH, 0, 100, 0);
	add_kernel(1, 0);
	finish(&(struct classes){.launches = 1, .timed = 1, .kernels = 1});
}

Test(ledger, counts_launches_that_failed_apart)
{
	add_api_call(1, LAUNCH, 98, 100, 0);
	finish(&(struct classes){.failed = 1});
}

Test(ledger, counts_launches_that_had_not_ended_as_unfinished)
{
	add_api_call(1, LAUNCH, 0, 100, 0);
	add_kernel(1, GT_RECORD_UNFINISHED);
	add_api_call(2, LAUNCH, 0, 100, GT_RECORD_UNFINISHED); /* in the call when it died */
	finish(&(struct classes){
		.launches = 2, .unfinished = 2, .kernels = 1, .kernels_unfinished = 1});
}

Test(ledger, misses_kernels_that_never_came)
{
	add_api_call(1, LAUNCH, 0, 100, 0);
	finish(&(struct classes){.launches = 1, .missing = 1});
}

/* Nothing runs while a stream is captured; that is known by thread, not by time. */
Test(ledger, knows_launches_into_a_graph)
{
	add_api_call(1, LAUNCH, 0, 100, 0);
	add_api_call(2, BEGIN, 0, 100, 0);
	add_api_call(3, LAUNCH, 0, 100, 0);
	add_api_call(4, LAUNCH, 0, 101, 0); /* of another thread, meanwhile */
	add_api_call(5, LAUNCH, 0, 100, 0);
	add_api_call(6, END_CAPTURE, 0, 100, 0);
	add_api_call(7, LAUNCH, 0, 100, 0);
	add_api_call(8, BEGIN, 1, 100, 0); /* did not begin */
	add_api_call(9, LAUNCH, 0, 100, 0);
	add_api_call(10, END_CAPTURE, 0, 101, 0); /* of nothing */
	add_api_call(11, LAUNCH, 0, 101, 0);
	add_kernel(1, 0);
	add_kernel(9, 0);
	finish(&(struct classes){
		.launches = 7, .timed = 2, .captured = 2, .missing = 3, .kernels = 2});
}

/* Where calls say that they made nodes of graphs, threads and captures tell nothing. */
Test(ledger, believes_the_launches_that_say_they_were_captured)
{
	add_api_call(1, BEGIN, 0, 100, 0);
	add_api_call(2, LAUNCH, 0, 100, GT_RECORD_GRAPH_NODE);
	add_api_call(3, LAUNCH, 0, 101, GT_RECORD_GRAPH_NODE); /* of another thread */
	add_api_call(4, LAUNCH, 0, 100, 0);                    /* into another stream, and lost */
	add_api_call(5, LAUNCH, 0, 101, 0);                    /* likewise, and timed */
	add_api_call(6, LAUNCH, 1, 101, GT_RECORD_GRAPH_NODE); /* the capture was invalid */
	add_api_call(7, END_CAPTURE, 0, 101, 0);
	add_api_call(8, LAUNCH, 0, 100, 0); /* lost */
	add_kernel(5, 0);
	finish(&(struct classes){
		.launches = 5, .timed = 1, .captured = 2, .missing = 2, .failed = 1, .kernels = 1});
}

/* A node that was made by hand says so too: of two processes, one tells. */
Test(ledger, trusts_the_calls_of_each_process_for_itself)
{
	add_api_call(1, ADD_NODE, 0, 100, GT_RECORD_GRAPH_NODE);
	add_api_call(2, BEGIN, 0, 100, 0);
	add_api_call(3, LAUNCH, 0, 100, 0);
	recording_end(&recording, true);
	begin("node-2-1", 2);
	add_api_call(1, BEGIN, 0, 100, 0);
	add_api_call(2, LAUNCH, 0, 100, 0);
	finish(&(struct classes){.launches = 2, .captured = 1, .missing = 1});
}

/* Where no capture is, what has no kernel is missing, whatever was tried before it. */
Test(ledger, misses_a_kernel_after_a_capture_that_could_not_begin)
{
	add_api_call(1, BEGIN, 1, 100, 0);
	add_api_call(2, LAUNCH, 0, 100, 0);
	add_api_call(3, LAUNCH, 0, 100, 0);
	finish(&(struct classes){.launches = 2, .missing = 2});
}

Test(ledger, counts_a_graph_s_kernels_but_its_launch_once)
{
	add_api_call(1, GRAPH, 0, 100, 0);
	add_api_call(2, GRAPH, 1, 100, 0); /* failed */
	for (int i = 0; i < 10; i++)
		add_kernel(1, 0);
	finish(&(struct classes){.graph_launches = 1, .kernels = 10});
}

Test(ledger, counts_a_call_inside_another_with_the_outer_one)
{
	add_api_call(1, LAUNCH, 0, 100, 0);
	add_api_call(1, LAUNCH, 0, 100, GT_RECORD_NESTED);
	add_kernel(1, 0);
	finish(&(struct classes){.launches = 1, .timed = 1, .kernels = 1});
}

Test(ledger, counts_kernels_that_no_call_explains)
{
	add_api_call(1, COPY, 0, 100, 0);
	add_kernel(1, 0); /* some copies run as kernels: the call is there, but no launch */
	add_kernel(2, 0);
	add_api_call(3, LAUNCH, 0, 100, 0);
	add_kernel(3, 0);
	finish(&(struct classes){
		.launches = 1, .timed = 1, .kernels = 3, .kernels_without_call = 1});
}

/* Kernels that ran were launched: 0 launches beside them would be wrong. */
Test(ledger, does_not_know_launches_none_of_whose_calls_is_there)
{
	struct gt_trace trace;

	add_kernel(1, 0);
	add_kernel(2, 0);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(u64, ledger_of(&trace, "launches"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "launches_timed"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "launches_unknown"), 1));
	cr_expect(eq(u64, ledger_of(&trace, "kernels_without_call"), 2));
	gt_trace_release(&trace);
}

/* Launches, if there were any, are in what is lost. */
Test(ledger, does_not_say_0_launches_of_a_file_that_is_cut)
{
	struct gt_trace trace;

	recording_end(&recording, false);
	trace = collect(&recording);
	cr_expect(eq(u64, ledger_of(&trace, "launches"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "launches_unknown"), 1));
	gt_trace_release(&trace);
}

/* The record of whether calls were recorded is lost, and the calls are not. */
Test(ledger, counts_the_launches_that_a_file_has_which_does_not_say)
{
	struct gt_trace trace;

	recording_begin(&recording, "node-2-1");
	recording_add_string(&recording, LAUNCH, "cudaLaunchKernel_v7000");
	add_api_call(1, LAUNCH, 0, 100, 0);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(u64, ledger_of(&trace, "launches"), 1));
	cr_expect(eq(u64, ledger_of(&trace, "launches_missing"), 1));
	gt_trace_release(&trace);
}

/* Names of classes are texts of the capture: a damaged chunk takes them along. */
Test(ledger, has_no_class_without_a_name_and_no_number_that_nobody_can_have_counted)
{
	struct gt_trace trace;

	recording_add_string(&recording, ADD_NODE + 1, "api_lost");
	recording_add_string(&recording, ADD_NODE + 2, "not_written");
	recording_add_string(&recording, ADD_NODE + 3, "class_of_a_later_gputrace");
	recording_add(&recording, ledger, .name = ADD_NODE + 1, .value = 3);
	recording_add(&recording, ledger, .name = ADD_NODE + 2, .value = UINT64_MAX - 7);
	recording_add(&recording, ledger, .name = ADD_NODE + 3, .value = 5);
	recording_add(&recording, ledger, .name = 7000, .value = 46226469);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(u64, ledger_of(&trace, "api_lost"), 3));
	cr_expect(eq(u64, ledger_of(&trace, "not_written"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, ""), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "class_of_a_later_gputrace"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "ledgers_unknown"), 1));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture counts 1 things that only a later gputrace knows"));
	gt_trace_release(&trace);
}

Test(ledger, claims_nothing_about_launches_that_were_not_recorded)
{
	struct gt_trace trace;

	recording_add_meta(&recording, GT_META_API, "none");
	add_kernel(1, 0);
	add_kernel(2, GT_RECORD_UNFINISHED);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(u64, ledger_of(&trace, "launches"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "kernels_without_call"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "kernels"), 2));
	cr_expect(eq(u64, ledger_of(&trace, "kernels_unfinished"), 1));
	gt_trace_release(&trace);
}

/* One launch of any fate; what it adds to each class. */
static void add_any(uint32_t correlation, uint64_t random, struct classes *expected)
{
	const uint32_t tid = 100 + (uint32_t)(random >> 8) % 2;
	const bool failed = (random >> 9) % 5 == 0;
	const bool open = (random >> 12) % 5 == 0;
	const uint32_t kernels = (uint32_t)(random >> 20) % 3;
	const uint32_t ends = (uint32_t)(random >> 30) % 3; /* of which have times */

	add_api_call(correlation, LAUNCH, failed, tid, open ? GT_RECORD_UNFINISHED : 0);
	for (uint32_t i = 0; i < kernels; i++)
		add_kernel(correlation, i < ends ? 0 : GT_RECORD_UNFINISHED);
	expected->kernels += kernels;
	expected->kernels_unfinished += ends < kernels ? kernels - ends : 0;
	if (failed) {
		expected->failed++;
		return;
	}
	expected->launches++;
	if (kernels && ends)
		expected->timed++;
	else if (kernels || open)
		expected->unfinished++;
	else if (tid == 101)
		expected->captured++; /* that thread captures all the time */
	else
		expected->missing++;
}

Test(ledger, adds_up_exactly_in_every_mix)
{
	struct classes expected = {0};
	uint64_t state = 11;
	struct gt_trace trace;

	for (uint32_t process = 1; process <= 3; process++) {
		char name[32];

		snprintf(name, sizeof(name), "node-%u-1", process);
		begin(name, process);
		add_api_call(1, BEGIN, 0, 101, 0);
		for (uint32_t i = 0; i < 200; i++)
			add_any(10 + i, next_random(&state), &expected);
		recording_end(&recording, process != 2);
	}
	trace = collect(&recording);
	expect_classes(&trace, &expected);
	/* The mix has some of everything, or it shows nothing. */
	cr_expect(gt(u64, expected.timed, 0));
	cr_expect(gt(u64, expected.unfinished, 0));
	cr_expect(gt(u64, expected.captured, 0));
	cr_expect(gt(u64, expected.missing, 0));
	cr_expect(eq(u64, expected.launches,
	             expected.timed + expected.unfinished + expected.captured + expected.missing));
	for (gt_id process = 0; process < 3; process++) {
		uint64_t launches = 0;
		uint64_t classes = 0;

		gt_array_each(const struct gt_ledger, row, &trace.ledgers) {
			const char *text = gt_trace_text(&trace, row->name);

			if (row->process != process)
				continue;
			if (strcmp(text, "launches") == 0)
				launches += row->value;
			else if (strcmp(text, "launches_timed") == 0 ||
			         strcmp(text, "launches_unfinished") == 0 ||
			         strcmp(text, "launches_captured") == 0 ||
			         strcmp(text, "launches_missing") == 0)
				classes += row->value;
		}
		cr_expect(gt(u64, launches, 100));
		cr_expect(eq(u64, launches, classes));
	}
	gt_trace_release(&trace);
}

Test(ledger, tells_api_none_from_a_file_that_does_not_say)
{
	struct gt_trace trace;

	recording_begin(&recording, "node-1-1");
	recording_add_meta(&recording, GT_META_API, "none");
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	recording_end(&recording, false);
	trace = collect(&recording);
	cr_expect(eq(u64, ledger_of(&trace, "launches"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "launches_unknown"), 1));
	gt_trace_release(&trace);
}

/* As damaged records do: they are of no process, and no other process's. */
Test(ledger, counts_kernels_on_no_stream_for_nobody)
{
	struct gt_trace trace;

	recording_add(&recording, kernel, .start_ns = 2000, .end_ns = 2010, .shape = SHAPE,
	              .context = CONTEXT, .stream = UINT32_MAX);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(u64, ledger_of(&trace, "kernels"), 0));
	gt_trace_release(&trace);
}

/* A kernel, a copy and a fill with these times. */
static void add_work(uint32_t correlation, uint64_t start_ns, uint64_t end_ns)
{
	add_api_call(correlation, LAUNCH, 0, 100, 0);
	recording_add(&recording, kernel, .start_ns = start_ns, .end_ns = end_ns, .shape = SHAPE,
	              .context = CONTEXT, .stream = STREAM, .correlation = correlation);
	recording_add(&recording, copy, .start_ns = start_ns, .end_ns = end_ns, .context = CONTEXT,
	              .stream = STREAM, .kind = 1);
	recording_add(&recording, fill, .start_ns = start_ns, .end_ns = end_ns, .context = CONTEXT,
	              .stream = STREAM);
}

Test(ledger, counts_no_work_as_timed_whose_times_cannot_be_right)
{
	const uint64_t far_ns = 101ull * 86400 * 1000000000;
	struct gt_ledger_state state;
	struct gt_trace trace;

	add_work(1, 3000, 4000);
	add_work(2, 0, 0);
	add_work(3, 5000, 4000);
	add_work(4, far_ns, far_ns + 100);
	recording_end(&recording, true);
	trace = collect(&recording);
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, ledger_of(&trace, "launches_timed"), 1));
	cr_expect(eq(u64, ledger_of(&trace, "launches_unfinished"), 3));
	cr_expect(eq(u64, ledger_of(&trace, "kernels_unfinished"), 3));
	cr_expect(eq(u64, ledger_of(&trace, "copies_unfinished"), 3));
	cr_expect(eq(u64, ledger_of(&trace, "fills_unfinished"), 3));
	cr_expect(eq(u64, state.lost, 3 + 3 + 3));
	cr_expect(not(gt_ledger_is_clean(&state)));
	gt_trace_release(&trace);
}

/* Work in the middle of which a process was killed: no kernel, and yet something is missing. */
Test(ledger, is_not_clean_where_only_copies_and_fills_did_not_end)
{
	struct gt_ledger_state state;
	struct gt_trace trace;

	recording_add(&recording, copy, .start_ns = 3000, .context = CONTEXT, .stream = STREAM,
	              .kind = 1, .flags = GT_RECORD_UNFINISHED);
	recording_add(&recording, fill, .start_ns = 3000, .context = CONTEXT, .stream = STREAM,
	              .flags = GT_RECORD_UNFINISHED);
	recording_end(&recording, true);
	trace = collect(&recording);
	state = gt_ledger_state(&trace);
	cr_expect(eq(u64, ledger_of(&trace, "copies_unfinished"), 1));
	cr_expect(eq(u64, ledger_of(&trace, "fills_unfinished"), 1));
	cr_expect(not(gt_ledger_is_clean(&state)));
	gt_trace_release(&trace);
}
