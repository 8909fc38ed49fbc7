/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "collector/recorded.h"
#include "format/ranges.h"

/* Covers STAGE(labels) besides: what programs name. */

enum { MAIN = 100, OTHER = 101, LIBRARY = 1, NO_LEVEL = -1 };

static uint32_t next_string;
static uint32_t orders[2]; /* of MAIN and OTHER */

static void prepare(void)
{
	make();
	next_string = STRING_NEXT;
	orders[0] = orders[1] = 0;
}

TestSuite(ranges, .init = prepare, .fini = drop);

static uint32_t text(const char *words)
{
	recording_add_string(&recording, next_string, words);
	return next_string++;
}

static void push_at(uint32_t thread, uint64_t time, uint32_t domain, int level, const char *words)
{
	recording_add(&recording, range_begin, .time_ns = time, .order = ++orders[thread - MAIN],
	              .domain = domain, .level = (uint32_t)level, .text = text(words),
	              .kind = GT_RANGE_STEP_STACK, .thread = thread);
}

static void pop_at(uint32_t thread, uint64_t time, uint32_t domain, int level)
{
	recording_add(&recording, range_end, .time_ns = time, .order = ++orders[thread - MAIN],
	              .domain = domain, .level = (uint32_t)level, .kind = GT_RANGE_STEP_STACK,
	              .thread = thread);
}

static void start_at(uint32_t thread, uint64_t time, uint64_t id, const char *words)
{
	recording_add(&recording, range_begin, .time_ns = time, .order = ++orders[thread - MAIN],
	              .id = id, .level = GT_LEVEL_UNKNOWN, .text = text(words),
	              .kind = GT_RANGE_STEP_ID, .thread = thread);
}

static void end_at(uint32_t thread, uint64_t time, uint64_t id)
{
	recording_add(&recording, range_end, .time_ns = time, .order = ++orders[thread - MAIN],
	              .id = id, .level = GT_LEVEL_UNKNOWN, .kind = GT_RANGE_STEP_ID,
	              .thread = thread);
}

static void read_it(void)
{
	finish();
}

static const struct gt_range *range(const char *words)
{
	gt_array_each(const struct gt_range, row, &trace.ranges)
		if (strcmp(gt_trace_text(&trace, row->text), words) == 0)
			return row;
	cr_assert(false, "there is no range %s", words);
	return NULL;
}

/* The text of the range in a column, "" for none. */
static const char *text_of(gt_id row)
{
	return row == GT_NONE ? "" : gt_trace_text(&trace, trace.ranges.rows[row].text);
}

static void expect_span(const char *words, int64_t start, int64_t end)
{
	cr_expect(eq(i64, range(words)->start_ns, start), "%s", words);
	cr_expect(eq(i64, range(words)->end_ns, end), "%s", words);
	cr_expect(eq(int, (range(words)->flags & GT_UNFINISHED) != 0, end == 0), "%s", words);
}

Test(ranges, that_are_nested_have_parents_and_depths)
{
	push_at(MAIN, 2000, 0, 0, "step");
	push_at(MAIN, 2010, 0, 1, "forward");
	pop_at(MAIN, 2020, 0, 1);
	push_at(MAIN, 2030, 0, 1, "backward");
	pop_at(MAIN, 2040, 0, 1);
	pop_at(MAIN, 2050, 0, 0);
	read_it();
	expect_span("step", 2000, 2050);
	expect_span("forward", 2010, 2020);
	expect_span("backward", 2030, 2040);
	cr_expect(eq(u32, range("step")->parent, GT_NONE));
	expect_text(text_of(range("backward")->parent), "step");
	cr_expect(eq(u32, range("step")->depth, 0));
	cr_expect(eq(u32, range("backward")->depth, 1));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 0));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_unopened"), 0));
}

/* Two domains need not be nested in each other; the parent is what began last. */
Test(ranges, of_two_domains_may_overlap)
{
	push_at(MAIN, 2000, 0, 0, "a");
	push_at(MAIN, 2010, LIBRARY, 0, "b");
	pop_at(MAIN, 2020, 0, 0);
	push_at(MAIN, 2030, 0, 0, "c");
	pop_at(MAIN, 2040, LIBRARY, 0);
	push_at(MAIN, 2050, LIBRARY, 0, "d");
	pop_at(MAIN, 2060, LIBRARY, 0);
	pop_at(MAIN, 2070, 0, 0);
	read_it();
	expect_span("a", 2000, 2020);
	expect_span("b", 2010, 2040);
	expect_text(text_of(range("b")->parent), "a");
	expect_text(text_of(range("c")->parent), "b");
	expect_text(text_of(range("d")->parent), "c");
	cr_expect(eq(u32, range("d")->depth, 3));
	cr_expect(ne(u32, range("a")->domain, range("b")->domain));
}

/* It is open on the thread that started it until another one ends it. */
Test(ranges, may_end_on_another_thread)
{
	start_at(MAIN, 2000, 7, "request");
	push_at(MAIN, 2010, 0, 0, "inside");
	pop_at(MAIN, 2020, 0, 0);
	end_at(OTHER, 2030, 7);
	push_at(MAIN, 2040, 0, 0, "after");
	pop_at(MAIN, 2050, 0, 0);
	read_it();
	expect_span("request", 2000, 2030);
	cr_expect(eq(u32, trace.threads.rows[range("request")->thread].tid, MAIN));
	cr_expect(eq(u32, trace.threads.rows[range("request")->end_thread].tid, OTHER));
	cr_expect(eq(u32, range("request")->kind, GT_RANGE_STARTED));
	expect_text(text_of(range("inside")->parent), "request");
	cr_expect(eq(u32, range("after")->parent, GT_NONE));
}

Test(ranges, that_did_not_end_are_unfinished)
{
	push_at(MAIN, 2000, 0, 0, "open");
	start_at(MAIN, 2010, 1, "started");
	read_it();
	expect_span("open", 2000, 0);
	expect_span("started", 2010, 0);
	cr_expect(eq(u32, range("open")->end_thread, GT_NONE));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 0));
}

Test(ranges, that_lost_their_end_spoil_no_other)
{
	push_at(MAIN, 2000, 0, 0, "outer");
	push_at(MAIN, 2010, 0, 1, "torn");
	push_at(MAIN, 2020, 0, 1, "next");
	pop_at(MAIN, 2030, 0, 1);
	push_at(MAIN, 2040, 0, 1, "torn too");
	pop_at(MAIN, 2050, 0, 0);
	read_it();
	expect_span("outer", 2000, 2050);
	expect_span("torn", 2010, 0);
	expect_span("next", 2020, 2030);
	expect_span("torn too", 2040, 0);
	expect_text(text_of(range("next")->parent), "outer");
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 2));
}

Test(ranges, whose_begin_is_lost_are_counted)
{
	push_at(MAIN, 2000, 0, 0, "outer");
	pop_at(MAIN, 2010, 0, 1);
	pop_at(MAIN, 2020, 0, 0);
	read_it();
	expect_span("outer", 2000, 2020);
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 1));
}

Test(ranges, that_nobody_began_are_counted)
{
	recording_add(&recording, range_end, .time_ns = 2000, .order = 1, .level = GT_LEVEL_UNKNOWN,
	              .kind = GT_RANGE_STEP_EMPTY, .thread = MAIN);
	end_at(OTHER, 2010, 99);
	pop_at(OTHER, 2020, LIBRARY, NO_LEVEL);
	start_at(OTHER, 2030, 5, "once");
	end_at(OTHER, 2040, 5);
	end_at(OTHER, 2050, 5);
	read_it();
	expect_span("once", 2030, 2040);
	cr_expect(eq(sz, trace.ranges.count, 1));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_unopened"), 4));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 0));
}

Test(ranges, without_levels_are_paired_as_they_come)
{
	push_at(MAIN, 2000, LIBRARY, NO_LEVEL, "outer");
	push_at(MAIN, 2010, LIBRARY, NO_LEVEL, "inner");
	pop_at(MAIN, 2020, LIBRARY, NO_LEVEL);
	pop_at(MAIN, 2030, LIBRARY, NO_LEVEL);
	read_it();
	expect_span("outer", 2000, 2030);
	expect_span("inner", 2010, 2020);
}

/* Where the clock stands still; buffers come in any order. */
Test(ranges, at_one_time_are_in_the_order_of_the_thread)
{
	orders[0] = 1;
	push_at(MAIN, 2000, 0, 1, "inner");
	pop_at(MAIN, 2000, 0, 1);
	pop_at(MAIN, 2000, 0, 0);
	orders[0] = 0;
	push_at(MAIN, 2000, 0, 0, "outer");
	read_it();
	expect_text(text_of(range("inner")->parent), "outer");
	expect_span("outer", 2000, 2000);
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 0));
}

/* The kernel gives thread ids out again; a new thread counts from 1. */
Test(ranges, of_a_dead_thread_hold_nothing_of_the_next_one)
{
	push_at(MAIN, 2000, 0, 0, "of the first");
	start_at(MAIN, 2005, 3, "started by it");
	orders[0] = 0;
	push_at(MAIN, 2010, 0, 0, "of the second");
	pop_at(MAIN, 2020, 0, 0);
	read_it();
	expect_span("of the first", 2000, 0);
	expect_span("of the second", 2010, 2020);
	cr_expect(eq(u32, range("of the second")->parent, GT_NONE));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 0));
}

Test(ranges, hold_the_calls_that_are_made_in_them)
{
	recording_add_call(&recording, 1990, 1);
	push_at(MAIN, 2000, 0, 0, "outer");
	recording_add_call(&recording, 2005, 2);
	push_at(MAIN, 2010, 0, 1, "inner");
	recording_add_call(&recording, 2015, 3);
	pop_at(MAIN, 2020, 0, 1);
	recording_add_call(&recording, 2025, 4);
	pop_at(MAIN, 2040, 0, 0);
	recording_add_call(&recording, 2045, 5);
	push_at(OTHER, 1000, 0, 0, "elsewhere");
	read_it();

	static const char *const wanted[] = {"", "outer", "inner", "outer", ""};

	cr_assert(eq(sz, trace.api_calls.count, 5));
	for (size_t i = 0; i < 5; i++)
		expect_text(text_of(trace.api_calls.rows[i].range), wanted[i]);
}

Test(ranges, are_told_what_the_program_said_of_them)
{
	const uint32_t string = text("registered");
	const uint32_t domain = text("library");
	const uint32_t category = text("io");

	recording_add(&recording, range_begin, .time_ns = 2000, .order = 1, .registered = 4,
	              .domain = LIBRARY, .category = 8, .payload = 77, .payload_type = 1,
	              .color = 0xff00ff00, .kind = GT_RANGE_STEP_STACK, .thread = MAIN);
	recording_add(&recording, range_begin, .time_ns = 2010, .order = 2, .category = 9,
	              .kind = GT_RANGE_STEP_MARK, .level = GT_LEVEL_UNKNOWN, .thread = MAIN,
	              .text = text("mark"));
	recording_add(&recording, given_name, .time_ns = 3000, .number = 4, .text = string,
	              .kind = GT_NAMED_STRING, .domain = LIBRARY);
	recording_add(&recording, given_name, .time_ns = 3000, .number = LIBRARY, .text = domain,
	              .kind = GT_NAMED_DOMAIN);
	recording_add(&recording, given_name, .time_ns = 3000, .number = 8, .text = category,
	              .kind = GT_NAMED_CATEGORY, .domain = LIBRARY);
	read_it();

	const struct gt_range *row = range("registered");
	const struct gt_mark *mark = &trace.marks.rows[0];

	cr_expect(eq(u64, row->payload, 77));
	cr_expect(eq(u32, row->payload_type, 1));
	cr_expect(eq(u32, row->color, 0xff00ff00));
	expect_text(gt_trace_text(&trace, row->category), "io");
	expect_text(gt_trace_text(&trace, trace.domains.rows[row->domain].name), "library");
	cr_assert(eq(sz, trace.marks.count, 1));
	cr_expect(eq(i64, mark->start_ns, 2010));
	cr_expect(eq(i64, mark->end_ns, 2010));
	expect_text(gt_trace_text(&trace, mark->text), "mark");
	expect_text(gt_trace_text(&trace, mark->category), "9");
	expect_text(gt_trace_text(&trace, trace.domains.rows[mark->domain].name), "");
	expect_text(text_of(mark->range), "registered");
}

/* Handles of domains are numbers that begin anew; what they are called is what they are. */
Test(ranges, of_domains_with_one_name_are_of_one_domain)
{
	const uint32_t name = text("library");

	recording_add(&recording, given_name, .time_ns = 1000, .number = 1, .text = name,
	              .kind = GT_NAMED_DOMAIN);
	recording_add(&recording, given_name, .time_ns = 1000, .number = 2, .text = name,
	              .kind = GT_NAMED_DOMAIN);
	push_at(MAIN, 2000, 1, 0, "one");
	push_at(MAIN, 2010, 2, 0, "two");
	pop_at(MAIN, 2020, 1, 0);
	read_it();
	cr_expect(eq(u32, range("one")->domain, range("two")->domain));
	expect_span("one", 2000, 2020);
	expect_span("two", 2010, 0);
}

Test(ranges, share_a_trace_with_those_of_other_processes)
{
	push_at(MAIN, 2000, 0, 0, "first");
	start_at(MAIN, 2001, 1, "started in the first");
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	recording_add_basics(&recording, 2);
	next_string = STRING_NEXT;
	orders[0] = 0;
	push_at(MAIN, 1990, 0, 0, "second");
	pop_at(MAIN, 2010, 0, 0);
	end_at(MAIN, 2020, 1);
	read_it();
	expect_span("first", 2000, 0);
	expect_span("started in the first", 2001, 0);
	expect_span("second", 1990, 2010);
	cr_expect(eq(u32, range("first")->parent, GT_NONE));
	cr_expect(eq(u32, range("second")->parent, GT_NONE));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_unopened"), 1));
	cr_expect(eq(sz, trace.domains.count, 2));
}

/* The thread's count goes on, its time does not. */
Test(ranges, that_are_told_later_neither_hold_others_nor_end_them)
{
	push_at(MAIN, 2000, 0, 0, "outer");
	recording_add(&recording, range_begin, .time_ns = 1500, .order = ++orders[0], .id = 5,
	              .level = GT_LEVEL_UNKNOWN, .text = text("told"), .kind = GT_RANGE_STEP_LATER,
	              .thread = MAIN);
	recording_add(&recording, range_end, .time_ns = 2008, .order = ++orders[0], .id = 5,
	              .level = GT_LEVEL_UNKNOWN, .kind = GT_RANGE_STEP_LATER, .thread = MAIN);
	recording_add(&recording, range_begin, .time_ns = 2003, .order = ++orders[0],
	              .level = GT_LEVEL_UNKNOWN, .text = text("told mark"),
	              .kind = GT_RANGE_STEP_LATER_MARK, .thread = MAIN);
	push_at(MAIN, 2004, 0, 1, "inner");
	pop_at(MAIN, 2006, 0, 1);
	pop_at(MAIN, 2010, 0, 0);
	read_it();
	expect_span("told", 1500, 2008);
	expect_span("outer", 2000, 2010);
	expect_span("inner", 2004, 2006);
	cr_expect(eq(u32, range("told")->parent, GT_NONE));
	cr_expect(eq(u32, range("outer")->parent, GT_NONE));
	cr_assert(eq(sz, trace.marks.count, 1));
	cr_expect(eq(u32, trace.marks.rows[0].range, GT_NONE));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 0));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_unopened"), 0));
}

/* Statements of the program on memory: a heap at 100, its regions, and improper uses. */
static void tell(uint64_t time, uint32_t kind, uint64_t handle, uint64_t heap, uint64_t bytes)
{
	recording_add(&recording, told_memory, .time_ns = time, .kind = kind, .handle = handle,
	              .address = handle, .heap = heap, .size_bytes = bytes);
}

static void expect_region(gt_id row, uint64_t bytes, gt_time end_ns, gt_id heap)
{
	const struct gt_memory_region *region = &trace.memory_regions.rows[row];

	cr_expect(eq(u64, region->size_bytes, bytes), "row %u", row);
	cr_expect(eq(i64, region->end_ns, end_ns), "row %u", row);
	cr_expect(eq(u32, region->heap, heap), "row %u", row);
}

Test(ranges, stand_beside_memory_that_ends_with_its_heap)
{
	tell(2000, GT_TOLD_HEAP, 100, 0, 50);
	tell(2001, GT_TOLD_REGION, 100, 100, 10);
	tell(2002, GT_TOLD_REGION, 120, 100, 5);
	tell(2003, GT_TOLD_REGION_SIZE, 120, 0, 7);
	tell(2004, GT_TOLD_REGION_END, 100, 0, 0);
	tell(2005, GT_TOLD_HEAP_RESET, 100, 0, 0);
	tell(2006, GT_TOLD_REGION, 120, 100, 9);
	tell(2007, GT_TOLD_HEAP_END, 100, 0, 0);
	read_it();
	cr_assert(eq(sz, trace.memory_regions.count, 4));
	expect_region(0, 50, 2007, GT_NONE);
	expect_region(1, 10, 2004, 0);
	expect_region(2, 7, 2005, 0);
	expect_region(3, 9, 2007, 0);
}

Test(ranges, stand_beside_memory_of_which_nonsense_is_told)
{
	tell(2000, GT_TOLD_REGION_END, 5, 0, 0);
	tell(2001, GT_TOLD_HEAP_END, 6, 0, 0);
	tell(2002, GT_TOLD_REGION, 7, 999, 1);
	tell(2003, GT_TOLD_REGION, 7, 0, 2);
	tell(2004, 77, 7, 0, 3);
	tell(2005, GT_TOLD_HEAP_RESET, 0, 0, 0);
	tell(2006, GT_TOLD_REGION_SIZE, 7, 0, 4);
	read_it();
	cr_assert(eq(sz, trace.memory_regions.count, 2));
	expect_region(0, 1, 2003, GT_NONE);
	expect_region(1, 2, 2005, GT_NONE);
}

Test(ranges, name_a_device_of_which_nothing_else_is_said_yet)
{
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	next_string = STRING_NEXT;
	recording_add(&recording, given_name, .time_ns = 2000, .number = 0,
	              .text = text("first GPU"), .kind = GT_NAMED_DEVICE);
	recording_add_basics(&recording, 2);
	push_at(MAIN, 2000, 0, 0, "x");
	read_it();
	expect_text(gt_trace_text(&trace, trace.devices.rows[0].label), "first GPU");
}

Test(ranges, name_what_the_program_named)
{
	recording_add(&recording, handle, .time_ns = 1000, .handle = 0xabc, .context = CONTEXT,
	              .stream = STREAM + 1);
	push_at(MAIN, 2000, 0, 0, "x");
	recording_add(&recording, given_name, .time_ns = 2000, .number = MAIN,
	              .text = text("worker"), .kind = GT_NAMED_THREAD);
	recording_add(&recording, given_name, .time_ns = 1999, .number = MAIN,
	              .text = text("before that"), .kind = GT_NAMED_THREAD);
	recording_add(&recording, given_name, .time_ns = 2000, .number = 0,
	              .text = text("first GPU"), .kind = GT_NAMED_DEVICE);
	recording_add(&recording, given_name, .time_ns = 2000, .number = CONTEXT,
	              .text = text("main context"), .kind = GT_NAMED_CONTEXT);
	recording_add(&recording, given_name, .time_ns = 2000, .number = 0xabc,
	              .text = text("copies"), .kind = GT_NAMED_STREAM);
	recording_add(&recording, given_name, .time_ns = 2000, .number = 0, .text = text("default"),
	              .kind = GT_NAMED_STREAM);
	recording_add(&recording, given_name, .time_ns = 2000, .number = 12345,
	              .text = text("nobody"), .kind = GT_NAMED_THREAD);
	read_it();
	cr_assert(eq(sz, trace.threads.count, 1));
	expect_text(gt_trace_text(&trace, trace.threads.rows[0].name), "worker");
	expect_text(gt_trace_text(&trace, trace.devices.rows[0].label), "first GPU");
	expect_text(gt_trace_text(&trace, trace.contexts.rows[0].name), "main context");
	gt_array_each(const struct gt_stream, stream, &trace.streams)
		expect_text(gt_trace_text(&trace, stream->name),
		            stream->number == STREAM ? "default" : "copies");
	cr_expect(eq(sz, trace.streams.count, 2));
}

/* No recursion, and nothing that grows with the square of it. */
Test(ranges, may_be_nested_as_deep_as_they_like, .timeout = 60)
{
	enum { DEPTH = 60000 };
	static struct gt_record_range_begin begins[DEPTH];
	static struct gt_record_range_end ends[DEPTH];

	for (uint32_t i = 0; i < DEPTH; i++) {
		begins[i] = (struct gt_record_range_begin){
			.time_ns = 2000 + i, .order = i + 1, .level = i, .thread = MAIN};
		ends[i] = (struct gt_record_range_end){.time_ns = 2000 + DEPTH + i,
		                                       .order = DEPTH + i + 1,
		                                       .level = DEPTH - 1 - i,
		                                       .thread = MAIN};
	}
	recording_add_records(&recording, GT_RECORD_range_begin, begins, DEPTH);
	recording_add_records(&recording, GT_RECORD_range_end, ends, DEPTH);
	read_it();
	cr_assert(eq(sz, trace.ranges.count, DEPTH));
	cr_expect(eq(u32, trace.ranges.rows[DEPTH - 1].depth, DEPTH - 1));
	cr_expect(eq(i64, trace.ranges.rows[0].end_ns, 2000 + 2 * DEPTH - 1));
	cr_expect(eq(u64, ledger_of(&trace, "ranges_torn"), 0));
}
