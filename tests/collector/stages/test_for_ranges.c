/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "collector/recorded.h"
#include "format/ranges.h"

/* Tests add the deeds of each thread in order of time. */

enum { MAIN = 100, AUTOGRAD = 101, OTHER = 102, THREADS = 3 };

static uint32_t next_string;
static uint32_t orders[THREADS];
static int levels[THREADS];
static uint32_t correlation;

static void prepare(void)
{
	make();
	next_string = STRING_NEXT;
	correlation = 0;
	memset(orders, 0, sizeof(orders));
	memset(levels, 0, sizeof(levels));
}

TestSuite(for_ranges, .init = prepare, .fini = drop);

static uint32_t text(const char *words)
{
	recording_add_string(&recording, next_string, words);
	return next_string++;
}

static void push(uint32_t thread, uint64_t time, const char *words)
{
	const uint32_t domain = strncmp(words, "nccl", 4) == 0;

	recording_add(&recording, range_begin, .time_ns = time, .order = ++orders[thread - MAIN],
	              .domain = domain, .level = (uint32_t)(domain ? 0 : levels[thread - MAIN]),
	              .text = text(words), .kind = GT_RANGE_STEP_STACK, .thread = thread);
	levels[thread - MAIN] += !domain;
}

static void pop_of(uint32_t thread, uint64_t time, uint32_t domain)
{
	levels[thread - MAIN] -= !domain;
	recording_add(&recording, range_end, .time_ns = time, .order = ++orders[thread - MAIN],
	              .domain = domain, .level = (uint32_t)(domain ? 0 : levels[thread - MAIN]),
	              .kind = GT_RANGE_STEP_STACK, .thread = thread);
}

static void pop(uint32_t thread, uint64_t time)
{
	pop_of(thread, time, 0);
}

static void call(uint32_t thread, uint64_t time)
{
	recording_add(&recording, api_call, .start_ns = time, .end_ns = time + 2,
	              .correlation = ++correlation, .function = STRING_LAUNCH, .thread = thread);
}

/* An operation with one call in its middle. */
static void op(uint32_t thread, uint64_t time, const char *words)
{
	push(thread, time, words);
	call(thread, time + 4);
	pop(thread, time + 9);
}

/* One operation of backward, in the range that autograd's engine puts around it. */
static void backward(uint32_t thread, uint64_t time, const char *name, unsigned sequence)
{
	char words[128];

	snprintf(words, sizeof(words), "autograd::engine::evaluate_function: %s, op_id = 9", name);
	push(thread, time, words);
	snprintf(words, sizeof(words), "%s, seq = %u, op_id = 9", name, sequence);
	op(thread, time + 1, words);
	pop(thread, time + 18);
}

static gt_id call_at(uint64_t time)
{
	for (gt_id i = 0; i < trace.api_calls.count; i++)
		if (trace.api_calls.rows[i].start_ns == (gt_time)time)
			return i;
	cr_assert(false, "there is no call at %u", (unsigned)time);
	return GT_NONE;
}

/* The text of a range, "" for none. */
static const char *text_of(gt_id row)
{
	return row == GT_NONE ? "" : gt_trace_text(&trace, trace.ranges.rows[row].text);
}

/* Looks at the outermost range around a call on its thread, or at the call itself. */
static void expect_for(uint64_t time, const char *words, uint32_t flags)
{
	const struct gt_api_call *row = &trace.api_calls.rows[call_at(time)];
	gt_id found = row->for_range;
	uint32_t told = row->flags;

	for (gt_id range = row->range; range != GT_NONE; range = trace.ranges.rows[range].parent) {
		found = trace.ranges.rows[range].for_range;
		told = trace.ranges.rows[range].flags;
	}
	cr_expect(eq(str, (char *)text_of(found), (char *)words), "at %u", (unsigned)time);
	cr_expect(eq(u32, told & (GT_BY_TIME | GT_UNTOLD), flags), "at %u", (unsigned)time);
}

Test(for_ranges, backward_belongs_to_what_waits_for_it_by_sequence_number)
{
	push(MAIN, 2000, "step");
	op(MAIN, 2010, "aten::mm, seq = 5, op_id = 1");
	push(MAIN, 2030, "loss.backward");
	backward(AUTOGRAD, 2040, "MmBackward0", 5);
	pop(MAIN, 2090);
	pop(MAIN, 2095);
	finish();
	expect_for(2045, "loss.backward", 0);
	expect_for(2014, "", 0);
}

/* The number is the same in the next step, and the last before it counts. */
Test(for_ranges, numbers_that_come_again_are_of_the_last_that_had_them)
{
	push(OTHER, 1900, "elsewhere");
	op(OTHER, 1910, "aten::add, seq = 5, op_id = 1");
	push(MAIN, 2000, "step 1");
	op(MAIN, 2010, "aten::mm, seq = 5, op_id = 1");
	backward(AUTOGRAD, 2040, "MmBackward0", 5);
	pop(MAIN, 2090);
	push(MAIN, 3000, "step 2");
	op(MAIN, 3010, "aten::mm, seq = 5, op_id = 1");
	backward(AUTOGRAD, 3040, "MmBackward0", 5);
	pop(MAIN, 3090);
	pop(OTHER, 3100);
	finish();
	expect_for(2045, "step 1", 0);
	expect_for(3045, "step 2", 0);
}

/* PyTorch's threads begin with 0, and backward calls operations that have numbers. */
Test(for_ranges, numbers_of_the_thread_itself_are_not_those_of_backward)
{
	push(OTHER, 1900, "elsewhere");
	push(MAIN, 2000, "step");
	op(MAIN, 2010, "aten::mm, seq = 0, op_id = 1");
	push(AUTOGRAD, 2040, "autograd::engine::evaluate_function: AccumulateGrad, op_id = 2");
	op(AUTOGRAD, 2042, "aten::detach, seq = 0, op_id = 3");
	pop(AUTOGRAD, 2055);
	backward(AUTOGRAD, 2060, "MmBackward0", 0);
	pop(MAIN, 2090);
	pop(OTHER, 2100);
	finish();
	expect_for(2065, "step", 0);
	expect_for(2046, "", GT_UNTOLD);
}

/* A thread that runs its own backward pass is in its own ranges, whatever others number alike. */
Test(for_ranges, backward_on_the_thread_of_forward_is_its_own)
{
	push(OTHER, 1900, "elsewhere");
	op(OTHER, 1910, "aten::add, seq = 5, op_id = 1");
	push(OTHER, 1950, "more");
	op(MAIN, 2010, "aten::mm, seq = 5, op_id = 1");
	backward(MAIN, 2040, "MmBackward0", 5);
	push(AUTOGRAD, 2070, "a third");
	call(MAIN, 2075);
	pop(AUTOGRAD, 2080);
	pop(OTHER, 2090);
	pop(OTHER, 2100);
	finish();
	expect_for(2045, "more", GT_BY_TIME);
	expect_for(2075, "", GT_UNTOLD);
}

/* Nobody recorded the forward operation of the outer one, and two threads have ranges open. */
Test(for_ranges, operations_with_a_number_do_not_go_with_what_is_inside)
{
	push(MAIN, 2100, "step");
	op(MAIN, 2110, "aten::relu, seq = 5, op_id = 1");
	push(OTHER, 2150, "other");
	push(AUTOGRAD, 2200, "MmBackward0, seq = 9, op_id = 2");
	call(AUTOGRAD, 2205);
	op(AUTOGRAD, 2220, "ReluBackward0, seq = 5, op_id = 3");
	pop(AUTOGRAD, 2240);
	pop(OTHER, 2300);
	pop(MAIN, 2400);
	finish();
	expect_for(2205, "", GT_UNTOLD);
}

Test(for_ranges, what_lies_between_operations_of_one_range_belongs_there_too)
{
	push(OTHER, 1900, "elsewhere");
	push(MAIN, 2000, "step");
	op(MAIN, 2010, "aten::mm, seq = 5, op_id = 1");
	op(MAIN, 2020, "aten::add, seq = 6, op_id = 1");
	call(AUTOGRAD, 2035);
	backward(AUTOGRAD, 2040, "AddBackward0", 6);
	op(AUTOGRAD, 2060, "autograd::engine::evaluate_function: AccumulateGrad, op_id = 2");
	call(AUTOGRAD, 2070);
	backward(AUTOGRAD, 2080, "MmBackward0", 5);
	call(AUTOGRAD, 2105);
	pop(MAIN, 2110);
	pop(OTHER, 2120);
	finish();
	expect_for(2064, "step", 0);
	expect_for(2070, "step", 0);
	expect_for(2035, "", GT_UNTOLD);
	expect_for(2105, "", GT_UNTOLD);
}

Test(for_ranges, what_lies_between_two_steps_belongs_to_neither)
{
	push(MAIN, 2000, "step 1");
	op(MAIN, 2010, "aten::mm, seq = 5, op_id = 1");
	backward(AUTOGRAD, 2040, "MmBackward0", 5);
	pop(MAIN, 2090);
	call(AUTOGRAD, 2095);
	push(MAIN, 3000, "step 2");
	op(MAIN, 3010, "aten::mm, seq = 6, op_id = 1");
	backward(AUTOGRAD, 3040, "MmBackward0", 6);
	pop(MAIN, 3090);
	finish();
	expect_for(2095, "", 0);
	expect_for(3045, "step 2", 0);
}

Test(for_ranges, a_thread_without_ranges_works_for_the_one_that_has_some_by_time)
{
	call(AUTOGRAD, 1990);
	push(MAIN, 2000, "step");
	call(AUTOGRAD, 2005);
	push(MAIN, 2010, "loss.backward");
	call(AUTOGRAD, 2015);
	op(AUTOGRAD, 2020, "nn.Module: Net backward");
	pop(MAIN, 2040);
	pop(MAIN, 2050);
	call(AUTOGRAD, 2050);
	finish();
	expect_for(1990, "", 0);
	expect_for(2005, "step", GT_BY_TIME);
	expect_for(2015, "loss.backward", GT_BY_TIME);
	expect_for(2024, "loss.backward", GT_BY_TIME);
	expect_for(2050, "", 0);
}

/* Modules and libraries name what they do themselves: nobody else works for that. */
Test(for_ranges, work_by_time_is_for_ranges_of_the_program_alone)
{
	push(MAIN, 2000, "nn.Module: Net");
	call(OTHER, 2005);
	push(MAIN, 2010, "mine");
	push(MAIN, 2020, "aten::mm, seq = 5, op_id = 1");
	call(OTHER, 2025);
	pop(MAIN, 2030);
	pop(MAIN, 2040);
	pop(MAIN, 2050);
	finish();
	expect_for(2005, "", 0);
	expect_for(2025, "mine", GT_BY_TIME);
}

Test(for_ranges, of_a_thread_that_has_one_of_the_program_are_its_own)
{
	push(MAIN, 2000, "step");
	push(OTHER, 2010, "load");
	call(OTHER, 2015);
	op(OTHER, 2020, "aten::copy_, op_id = 1");
	pop(OTHER, 2040);
	call(OTHER, 2045);
	pop(MAIN, 2050);
	finish();
	expect_for(2015, "", 0);
	expect_for(2024, "", 0);
	expect_for(2045, "step", GT_BY_TIME);
}

Test(for_ranges, several_threads_with_ranges_leave_it_untold)
{
	push(MAIN, 2000, "step");
	push(OTHER, 2010, "load");
	call(AUTOGRAD, 2015);
	pop(OTHER, 2020);
	call(AUTOGRAD, 2025);
	pop(MAIN, 2050);
	finish();
	expect_for(2015, "", GT_UNTOLD);
	expect_for(2025, "step", GT_BY_TIME);
}

/* NCCL names its calls, on whatever thread they are made. */
Test(for_ranges, of_libraries_are_not_the_programs)
{
	recording_add(&recording, given_name, .time_ns = 1000, .number = 1, .text = text("NCCL"),
	              .kind = GT_NAMED_DOMAIN);
	push(MAIN, 2000, "step");
	push(AUTOGRAD, 2010, "ncclAllReduce");
	call(AUTOGRAD, 2015);
	pop_of(AUTOGRAD, 2020, 1);
	pop(MAIN, 2050);
	finish();
	expect_for(2015, "step", GT_BY_TIME);
}

/* One thread reruns the forward pass of a checkpoint for the step, another one runs backward for
 * that. */
Test(for_ranges, threads_may_work_for_each_other_in_turn)
{
	push(MAIN, 2000, "step");
	op(MAIN, 2010, "CheckpointFunction, seq = 5, op_id = 1");
	push(AUTOGRAD, 2040, "CheckpointFunctionBackward, seq = 5, op_id = 2");
	op(AUTOGRAD, 2045, "aten::mm, seq = 0, op_id = 3");
	backward(OTHER, 2060, "MmBackward0", 0);
	pop(AUTOGRAD, 2085);
	pop(MAIN, 2090);
	finish();
	expect_for(2065, "CheckpointFunctionBackward, seq = 5, op_id = 2", 0);
	expect_for(2049, "step", 0);
}

/* A worker has the numbers, and after a fork may have the threads, of its parent. */
Test(for_ranges, processes_do_not_work_for_each_other)
{
	push(MAIN, 2000, "step");
	op(MAIN, 2010, "aten::mm, seq = 5, op_id = 1");
	call(OTHER, 2045);
	pop(MAIN, 2090);
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-2");
	recording_add_basics(&recording, 2);
	memset(orders, 0, sizeof(orders));
	memset(levels, 0, sizeof(levels));
	next_string = STRING_NEXT;
	call(MAIN, 2020);
	backward(AUTOGRAD, 2040, "MmBackward0", 5);
	call(OTHER, 2070);
	finish();
	cr_assert(eq(sz, trace.processes.count, 2));
	expect_for(2020, "", 0);
	expect_for(2070, "", 0);
	gt_array_each(const struct gt_range, range, &trace.ranges)
		cr_expect(eq(u32, range->for_range, GT_NONE));
}

/* Ranges of modules in backward are started and ended; operations begin before and after. */
Test(for_ranges, go_on_where_a_started_one_ends)
{
	push(MAIN, 2000, "step");
	op(MAIN, 2010, "aten::mm, seq = 5, op_id = 1");
	recording_add(&recording, range_begin, .time_ns = 2035, .order = ++orders[1], .id = 7,
	              .level = GT_LEVEL_UNKNOWN, .text = text("nn.Module: Net backward"),
	              .kind = GT_RANGE_STEP_ID, .thread = AUTOGRAD);
	push(AUTOGRAD, 2040, "autograd::engine::evaluate_function: MmBackward0, op_id = 9");
	recording_add(&recording, range_end, .time_ns = 2041, .order = ++orders[1], .id = 7,
	              .level = GT_LEVEL_UNKNOWN, .kind = GT_RANGE_STEP_ID, .thread = AUTOGRAD);
	op(AUTOGRAD, 2042, "MmBackward0, seq = 5, op_id = 9");
	pop(AUTOGRAD, 2060);
	pop(MAIN, 2090);
	finish();
	gt_array_each(const struct gt_range, range, &trace.ranges)
		if (trace.threads.rows[range->thread].tid == AUTOGRAD)
			expect_text(text_of(range->for_range), "step");
}
