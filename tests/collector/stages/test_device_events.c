/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "collector/recorded.h"
#include "model/gpu/device_clocks.h"
#include "support/device_recording.h"

enum {
	OUTER = 77,
	INNER = 78,
	POINT = 79,
	UNTOLD = 80,
	STRING_OUTER = STRING_NEXT,
	STRING_INNER,
	STRING_POINT
};

static const struct device_truth truth = {109355, 8, 32, 1.755};

static uint64_t tickets;

static void tell_names(void)
{
	recording_add_string(&recording, STRING_OUTER, "outer");
	recording_add_string(&recording, STRING_INNER, "inner");
	recording_add_string(&recording, STRING_POINT, "point");
	recording_add(&recording, device_name, .number = OUTER, .name = STRING_OUTER);
	recording_add(&recording, device_name, .number = INNER, .name = STRING_INNER);
	recording_add(&recording, device_name, .number = POINT, .name = STRING_POINT);
}

static void calibrate(void)
{
	for (uint32_t i = 0; i < 100; i++)
		add_calibration(&recording, &truth, 1000000 + i, 1000000 + 10000000ull * i,
		                1600 + 32 * (i * 7 % 40), 300 + 16 * (i * 5 % 10));
}

static void prepare(void)
{
	tickets = 0;
	make();
	tell_names();
}

TestSuite(device_events, .init = prepare, .fini = drop);

static struct device_writer writer_of(uint64_t grid_id, uint32_t sm, uint32_t block)
{
	return (struct device_writer){
		.recording = &recording,
		.truth = &truth,
		.grid_id = grid_id,
		.context = CONTEXT,
		.sm = sm,
		.block = block,
		.blocks = 4,
		.threads = 256,
	};
}

/* The bound that holds at an event. */
static double bound_of(const struct gt_device_event *event)
{
	const struct gt_device_clocks clocks =
		gt_device_clocks_of(&trace, event->process, event->device);
	uint64_t bound_ns = 0;

	cr_assert(eq(int, gt_device_bound(&clocks, event->start_ns, &bound_ns), 0));
	cr_expect(le(u64, bound_ns, 1000));
	return (double)bound_ns;
}

static void expect_times(const struct gt_device_event *event, double start_ns, double end_ns)
{
	cr_expect(le(dbl, fabs((double)event->start_ns - start_ns), bound_of(event)));
	cr_expect(le(dbl, fabs((double)event->end_ns - end_ns), bound_of(event)));
	cr_expect(le(dbl, fabs((double)(event->end_ns - event->start_ns) - (end_ns - start_ns)),
	             0.02 * (end_ns - start_ns) + 1));
}

static void expect_name(const struct gt_device_event *event, const char *name)
{
	cr_expect(eq(str, (char *)gt_trace_text(&trace, event->name), (char *)name));
}

/* An outer range of 20 us with an inner one and a value in it. */
static void write_ranges(struct device_writer *writer, double start_ns)
{
	write_chunk(writer, ++tickets, start_ns, 0);
	write_event(writer, start_ns + 100, GPUTRACE_DEVICE_BEGIN, OUTER, 0);
	write_event(writer, start_ns + 1100, GPUTRACE_DEVICE_BEGIN, INNER, 0);
	write_event(writer, start_ns + 2100, GPUTRACE_DEVICE_INT, POINT, 42);
	write_event(writer, start_ns + 9100, GPUTRACE_DEVICE_END, INNER, 0);
	write_event(writer, start_ns + 20100, GPUTRACE_DEVICE_END | GPUTRACE_DEVICE_TIMED, OUTER,
	            0);
}

Test(device_events, become_ranges_and_values_at_their_time)
{
	struct device_writer writer = writer_of(5, 3, 2);

	calibrate();
	add_launch(&recording, 1, 5000000, 5030000, 5);
	write_ranges(&writer, 5001000);
	finish();
	cr_assert(eq(sz, trace.device_events.count, 3));

	const struct gt_device_event *events = trace.device_events.rows;

	expect_name(&events[0], "outer");
	expect_name(&events[1], "inner");
	expect_name(&events[2], "point");
	expect_times(&events[0], 5001100, 5021100);
	expect_times(&events[1], 5002100, 5010100);
	expect_times(&events[2], 5003100, 5003100);
	cr_expect(eq(u32, events[0].parent, GT_NONE));
	cr_expect(eq(u32, events[1].parent, 0));
	cr_expect(eq(u32, events[2].parent, 1));
	cr_expect(eq(u32, events[2].kind, GT_DEVICE_INT));
	cr_expect(eq(u64, events[2].value, 42));
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect(eq(u32, events[i].sequence, i));
		cr_expect(eq(u32, events[i].kernel, 0));
		cr_expect(eq(u32, events[i].sm, 3));
		cr_expect(eq(u32, events[i].block, 2));
		cr_expect(eq(u32, events[i].flags, 0));
		cr_expect(eq(u32, events[i].process, 0));
		cr_expect(eq(u32, events[i].device, 0));
		cr_expect(eq(u64, events[i].ticket, 1));
	}
	cr_assert(eq(sz, trace.device_rings.count, 1));
	cr_expect(eq(u64, trace.device_rings.rows[0].written, 5), "its ring told nothing");
	cr_expect(eq(u64, trace.device_rings.rows[0].without_kernel, 0));
}

/* Multiprocessors begin to count at different times; all blocks of the kernel begin at one. */
/*
 * Each event has a reading of %globaltimer, which goes on by 32 ns: ranges of 300 ns are as long as
 * the multiprocessor's clock says.
 */
Test(device_events, that_all_have_the_time_are_as_fine_as_the_clock)
{
	enum { RANGES = 200 };
	struct device_writer writer = writer_of(5, 3, 0);

	calibrate();
	add_launch(&recording, 1, 5000000, 5000000 + 500 * RANGES + 5000, 5);
	for (uint32_t i = 0; i < RANGES; i++) {
		const double start_ns = 5001000 + 500.0 * i;

		if (i % (GPUTRACE_DEVICE_EVENTS / 2) == 0)
			write_chunk(&writer, ++tickets, start_ns, 0);
		write_event(&writer, start_ns, GPUTRACE_DEVICE_BEGIN | GPUTRACE_DEVICE_TIMED, OUTER,
		            0);
		write_event(&writer, start_ns + 300, GPUTRACE_DEVICE_END | GPUTRACE_DEVICE_TIMED,
		            OUTER, 0);
	}
	finish();
	cr_assert(eq(sz, trace.device_events.count, RANGES));
	for (uint32_t i = 0; i < RANGES; i++)
		expect_times(&trace.device_events.rows[i], 5001000 + 500.0 * i,
		             5001300 + 500.0 * i);
}

Test(device_events, of_all_multiprocessors_lie_together)
{
	calibrate();
	add_launch(&recording, 1, 5000000, 5030000, 5);
	for (uint32_t block = 0; block < 4; block++) {
		struct device_writer writer = writer_of(5, block * 40, block);

		write_ranges(&writer, 5001000);
	}
	finish();
	cr_assert(eq(sz, trace.device_events.count, 12));
	gt_array_each(const struct gt_device_event, event, &trace.device_events)
		if (event->kind == GT_DEVICE_RANGE && event->parent == GT_NONE)
			expect_times(event, 5001100, 5021100);
}

/* 20 s in one chunk: the half clock goes round once in 2.4 s. */
Test(device_events, outlast_the_half_clock)
{
	struct device_writer writer = writer_of(5, 3, 0);

	for (uint32_t i = 0; i < 220; i++)
		add_calibration(&recording, &truth, 1000000 + i, 1000000 + 100000000ull * i, 1600,
		                400);
	add_launch(&recording, 1, 5000000, 20500000000, 5);
	write_chunk(&writer, 1, 5001000, 0);
	for (int i = 0; i < 8; i++) {
		write_event(&writer, 6e6 + 2.5e9 * i, GPUTRACE_DEVICE_BEGIN | GPUTRACE_DEVICE_TIMED,
		            OUTER, 0);
		write_event(&writer, 6e6 + 2.5e9 * i + 10000, GPUTRACE_DEVICE_END, OUTER, 0);
	}
	finish();
	cr_assert(eq(sz, trace.device_events.count, 8));
	for (int i = 0; i < 8; i++)
		expect_times(&trace.device_events.rows[i], 6e6 + 2.5e9 * i,
		             6e6 + 2.5e9 * i + 10000);
}

/* The clock of the multiprocessor goes down from 1755 to 1400 MHz; nobody reads it when. */
Test(device_events, follow_a_clock_that_slows_down)
{
	const double turn_ns = 7000000;
	/* At the turn both show the same. */
	const struct device_truth slow = {109355, 8, 32, 1.4};
	const uint64_t ahead = clock_at(&truth, 0, turn_ns) - clock_at(&slow, 0, turn_ns);

	calibrate();
	add_launch(&recording, 1, 5000000, 15000000, 5);
	for (uint32_t i = 0; i < 100; i++) {
		const double begin_ns = 5001000 + 40000.0 * i;
		const struct device_truth *now = begin_ns < turn_ns ? &truth : &slow;
		const uint64_t more = begin_ns < turn_ns ? 0 : ahead;

		recording_add(&recording, device_chunk, .ticket = i + 1,
		              .globaltimer = timer_at(&truth, begin_ns),
		              .clock = clock_at(now, 0, begin_ns) + more, .grid_id = 5,
		              .context = CONTEXT, .part = i, .blocks = 4, .threads = 256);
		for (uint32_t j = 0; j < 2; j++)
			recording_add(
				&recording, device_event, .ticket = i + 1, .sequence = j,
				.clock = (uint32_t)(clock_at(now, 0, begin_ns + 500 + 10000 * j) +
			                            more),
				.context = CONTEXT,
				.tag = GPUTRACE_DEVICE_TAG(OUTER, GPUTRACE_DEVICE_BEGIN + j));
	}
	finish();
	cr_assert(eq(sz, trace.device_events.count, 100));
	for (int i = 0; i < 100; i++) {
		const struct gt_device_event *event = &trace.device_events.rows[i];
		const double begin_ns = 5001000 + 40000.0 * i;
		const struct gt_device_clocks clocks = gt_device_clocks_of(&trace, 0, 0);
		uint64_t bound_ns = 0;

		cr_assert(eq(int, gt_device_bound(&clocks, event->start_ns, &bound_ns), 0));
		cr_expect(
			le(dbl, fabs((double)event->start_ns - begin_ns - 500), (double)bound_ns));
		cr_expect(
			le(dbl, fabs((double)event->end_ns - begin_ns - 10500), (double)bound_ns));
	}
}

enum { LAUNCHES = 100 };

static uint32_t random_state;

static uint32_t random_below(uint32_t most)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % most;
}

/* A block that does one thing after the other, and reads %globaltimer a bit after its clock. */
static void write_block(uint64_t grid_id, uint32_t block, double start_ns, uint32_t phases)
{
	const uint32_t sm = block * 7 % 132;
	uint64_t read_ns = (uint64_t)start_ns; /* when it read %globaltimer */
	struct gt_record_device_event written[GPUTRACE_DEVICE_EVENTS] = {0};

	recording_add(&recording, device_chunk, .ticket = ++tickets,
	              .globaltimer = timer_at(&truth, start_ns + 20 + random_below(60)),
	              .clock = clock_at(&truth, sm, start_ns), .grid_id = grid_id,
	              .context = CONTEXT, .sm = sm, .block = block, .blocks = 40, .threads = 256);
	for (uint32_t i = 0; i < 2 * phases; i++) {
		const double time_ns = start_ns + 200 + 5000 * i;
		const bool timed = (uint64_t)time_ns - read_ns > 37000 || i == 2 * phases - 1;

		written[i] = (struct gt_record_device_event){
			.ticket = tickets,
			.sequence = i,
			.clock = (uint32_t)clock_at(&truth, sm, time_ns),
			.value = timed ? timer_at(&truth, time_ns + 20 + random_below(60)) : 0,
			.context = CONTEXT,
			.tag = GPUTRACE_DEVICE_TAG(
				OUTER, (i % 2 ? GPUTRACE_DEVICE_END : GPUTRACE_DEVICE_BEGIN) |
					       (timed ? GPUTRACE_DEVICE_TIMED : 0)),
		};
		read_ns = timed ? (uint64_t)time_ns : read_ns;
	}
	recording_add_records(&recording, GT_RECORD_device_event, written, 2 * phases);
}

/* Within the bound, which is at most 1 us; and as long as it was to be, within 2 %. */
static bool is_in_its_kernel(const struct gt_device_event *event)
{
	const struct gt_device_clocks clocks =
		gt_device_clocks_of(&trace, event->process, event->device);
	const struct gt_kernel *kernel;
	uint64_t bound_ns = 0;

	if (event->kernel >= LAUNCHES || event->flags ||
	    gt_device_bound(&clocks, event->start_ns, &bound_ns) < 0 || bound_ns > 1000)
		return false;
	kernel = &trace.kernels.rows[event->kernel];
	return event->start_ns - kernel->start_ns >= 1200 - (gt_time)bound_ns &&
	       event->end_ns <= kernel->end_ns + (gt_time)bound_ns &&
	       llabs(event->end_ns - event->start_ns - 5000) <= 100;
}

/* As a GPU is: kernels that calibrate begin and end at some distance of what they read. */
Test(device_events, lie_in_their_kernel_within_a_microsecond)
{
	size_t wrong = 0;

	recording_add(&recording, shape, .id = SHAPE + 1, .name = STRING_KERNEL, .grid_x = 40,
	              .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1);
	for (uint32_t i = 0; i < 40; i++)
		add_calibration(&recording, &truth, 1000000 + i,
		                2000000 + 100000000ull * i + 32 * random_below(1000),
		                2000 + 32 * random_below(40), 400 + random_below(300));
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		const uint64_t start_ns = 20000000 + 33000000ull * i;

		recording_add(&recording, kernel, .start_ns = start_ns, .end_ns = start_ns + 150000,
		              .correlation = 1 + i, .shape = SHAPE + 1, .context = CONTEXT,
		              .stream = STREAM, .grid_id = 1 + i);
		for (uint32_t block = 0; block < 40; block++)
			write_block(1 + i, block, (double)start_ns + 1000 + random_below(2000),
			            1 + random_below(14));
	}
	finish();
	cr_assert(gt(sz, trace.device_events.count, 4000));
	gt_array_each(const struct gt_device_event, event, &trace.device_events)
		wrong += !is_in_its_kernel(event);
	cr_expect(eq(sz, wrong, 0));
}

/* Kernels so short that none reads %globaltimer twice: what is between them tells the rate. */
Test(device_events, of_short_kernels_go_by_the_others)
{
	calibrate();
	for (uint32_t i = 0; i < 20; i++) {
		struct device_writer writer = writer_of(5 + i, 3, 0);
		const double start_ns = 5001000 + 100000.0 * i;

		add_launch(&recording, 1 + i, 5000000 + 100000 * i, 5030000 + 100000 * i, 5 + i);
		write_chunk(&writer, ++tickets, start_ns, 0);
		write_event(&writer, start_ns + 50, GPUTRACE_DEVICE_BEGIN, OUTER, 0);
		write_event(&writer, start_ns + 3050, GPUTRACE_DEVICE_END, OUTER, 0);
	}
	finish();
	cr_assert(eq(sz, trace.device_events.count, 20));
	for (uint32_t i = 0; i < 20; i++)
		expect_times(&trace.device_events.rows[i], 5001050 + 100000.0 * i,
		             5004050 + 100000.0 * i);
}

Test(device_events, of_lost_chunks_end_nowhere)
{
	struct device_writer writer = writer_of(5, 3, 0);

	calibrate();
	add_launch(&recording, 1, 5000000, 5100000, 5);
	write_chunk(&writer, 1, 5001000, 0);
	write_event(&writer, 5002000, GPUTRACE_DEVICE_BEGIN, OUTER, 0);
	write_chunk(&writer, 2, 5010000, 0); /* goes on */
	write_event(&writer, 5011000, GPUTRACE_DEVICE_END, OUTER, 0);
	write_event(&writer, 5012000, GPUTRACE_DEVICE_BEGIN, OUTER, 0);
	write_chunk(&writer, 9, 5020000, 6); /* six events in between */
	write_event(&writer, 5021000, GPUTRACE_DEVICE_END, OUTER, 0);
	write_event(&writer, 5022000, GPUTRACE_DEVICE_BEGIN, INNER, 0);
	writer.part++; /* a chunk that nobody copied out */
	write_chunk(&writer, 11, 5030000, 0);
	write_event(&writer, 5031000, GPUTRACE_DEVICE_END, INNER, 0);
	finish();
	cr_assert(eq(sz, trace.device_events.count, 5));

	const struct gt_device_event *events = trace.device_events.rows;

	expect_times(&events[0], 5002000, 5011000);
	cr_expect(eq(u32, events[0].flags, 0));
	expect_times(&events[1], 5012000, 5012000);
	cr_expect(eq(u32, events[1].flags, GT_DEVICE_NO_END));
	expect_times(&events[2], 5021000, 5021000);
	cr_expect(eq(u32, events[2].flags, GT_DEVICE_NO_BEGIN));
	cr_expect(eq(u32, events[2].sequence, 9));
	cr_expect(eq(u32, events[3].flags, GT_DEVICE_NO_END));
	cr_expect(eq(u32, events[4].flags, GT_DEVICE_NO_BEGIN));
	cr_assert(eq(sz, trace.device_rings.count, 1));
	cr_expect(eq(u64, trace.device_rings.rows[0].lost, 6));
}

/* Each end is that of the innermost open range of its name; others stay open. */
Test(device_events, nest_by_name)
{
	struct device_writer writer = writer_of(5, 3, 0);

	calibrate();
	add_launch(&recording, 1, 5000000, 5100000, 5);
	write_chunk(&writer, 1, 5001000, 0);
	write_event(&writer, 5002000, GPUTRACE_DEVICE_BEGIN, OUTER, 0);
	write_event(&writer, 5003000, GPUTRACE_DEVICE_BEGIN, INNER, 0);
	write_event(&writer, 5004000, GPUTRACE_DEVICE_BEGIN, INNER, 0);
	write_event(&writer, 5005000, GPUTRACE_DEVICE_END, INNER, 0);
	write_event(&writer, 5006000, GPUTRACE_DEVICE_END, OUTER, 0);
	write_event(&writer, 5007000, GPUTRACE_DEVICE_END, INNER, 0);
	write_event(&writer, 5008000, GPUTRACE_DEVICE_END, UNTOLD, 0);
	write_event(&writer, 5009000, GPUTRACE_DEVICE_MARK | GPUTRACE_DEVICE_TIMED, 0, 0);
	finish();
	cr_assert(eq(sz, trace.device_events.count, 5));

	const struct gt_device_event *events = trace.device_events.rows;

	expect_times(&events[0], 5002000, 5006000);
	expect_times(&events[1], 5003000, 5007000);
	expect_times(&events[2], 5004000, 5005000);
	cr_expect(eq(u32, events[2].parent, 1));
	expect_name(&events[3], "#80");
	cr_expect(eq(u32, events[3].flags, GT_DEVICE_NO_BEGIN));
	expect_name(&events[4], "");
	cr_expect(eq(u32, events[4].kind, GT_DEVICE_MARK));
	cr_expect(eq(u64, events[4].value, 0), "what it was timed with is no value");
}

/* As it is filled, a chunk is copied out more than once. */
Test(device_events, of_one_chunk_count_once)
{
	struct device_writer writer = writer_of(5, 3, 0);

	calibrate();
	add_launch(&recording, 1, 5000000, 5100000, 5);
	for (int again = 0; again < 3; again++) {
		writer.part = 0;
		write_chunk(&writer, 1, 5001000, 0);
		writer.sequence = again ? 1 : 0;
		if (!again)
			write_event(&writer, 5002000, GPUTRACE_DEVICE_BEGIN, OUTER, 0);
		write_event(&writer, 5023000, GPUTRACE_DEVICE_END | GPUTRACE_DEVICE_TIMED, OUTER,
		            0);
	}
	finish();
	cr_assert(eq(sz, trace.device_events.count, 1));
	expect_times(&trace.device_events.rows[0], 5002000, 5023000);
}

/* ---- whose they are ---- */

/* Two launches of one function at once: the grid's number tells which is which, where it holds. */
Test(device_events, of_concurrent_kernels_are_told_by_their_grid)
{
	struct device_writer alone = writer_of(4, 0, 0);
	struct device_writer first = writer_of(5, 0, 0);
	struct device_writer second = writer_of(6, 1, 0);

	calibrate();
	add_launch(&recording, 1, 4000000, 4030000, 4);
	add_launch(&recording, 2, 5000000, 5030000, 5);
	add_launch(&recording, 3, 5000000, 5030000, 6);
	write_ranges(&alone, 4001000);
	write_ranges(&first, 5001000);
	write_ranges(&second, 5002000);
	finish();
	cr_assert(eq(sz, trace.device_events.count, 9));
	gt_array_each(const struct gt_device_event, event, &trace.device_events) {
		cr_assert(lt(u32, event->kernel, 3));
		cr_expect(eq(u32, event->flags, 0));
		if (event->start_ns > 4500000)
			cr_expect(
				eq(u32, trace.kernels.rows[event->kernel].grid_id, 5 + event->sm));
	}
	cr_expect(eq(u64, trace.device_rings.rows[0].without_kernel, 0));
}

/* Without CUPTI's number nobody can tell them apart; a third one is known by its time. */
Test(device_events, of_kernels_alike_are_nobody_s)
{
	struct device_writer alone = writer_of(4, 0, 0);
	struct device_writer first = writer_of(5, 0, 0);

	calibrate();
	add_launch(&recording, 1, 4000000, 4030000, 0);
	add_launch(&recording, 2, 5000000, 5030000, 0);
	add_launch(&recording, 3, 5000000, 5030000, 0);
	write_ranges(&alone, 4001000);
	write_ranges(&first, 5001000);
	finish();
	cr_assert(eq(sz, trace.device_events.count, 6));
	gt_array_each(const struct gt_device_event, event, &trace.device_events) {
		const bool known = event->start_ns < 4500000;

		cr_expect(eq(u32, event->kernel, known ? 0 : GT_NONE));
		cr_expect(eq(u32, event->flags, known ? GT_DEVICE_BY_TIME : 0));
	}
	cr_expect(eq(u64, trace.device_rings.rows[0].without_kernel, 5));
}

/* Numbers that CUPTI counts otherwise are no reason to take the wrong one. */
Test(device_events, are_told_by_time_where_numbers_differ)
{
	struct device_writer first = writer_of(6, 0, 0);
	struct device_writer second = writer_of(7, 0, 0);

	calibrate();
	add_launch(&recording, 1, 4000000, 4030000, 7);
	add_launch(&recording, 2, 5000000, 5030000, 8);
	write_ranges(&first, 4001000);
	write_ranges(&second, 5001000);
	finish();
	gt_array_each(const struct gt_device_event, event, &trace.device_events) {
		cr_expect(eq(u32, event->kernel, event->start_ns > 4500000));
		cr_expect(eq(u32, event->flags, GT_DEVICE_BY_TIME));
	}
}

/* A launch of another shape, or in another context, cannot have written them. */
Test(device_events, go_by_shape_and_context)
{
	struct device_writer writer = writer_of(5, 0, 0);

	calibrate();
	recording_add(&recording, shape, .id = SHAPE + 1, .name = STRING_KERNEL, .grid_x = 4,
	              .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1);
	recording_add(&recording, kernel, .start_ns = 5000000, .end_ns = 5030000, .correlation = 1,
	              .shape = SHAPE + 1, .context = CONTEXT, .stream = STREAM, .grid_id = 5);
	recording_add(&recording, kernel, .start_ns = 5000000, .end_ns = 5030000, .correlation = 2,
	              .shape = SHAPE, .context = CONTEXT + 1, .stream = STREAM, .grid_id = 5);
	write_ranges(&writer, 5001000);
	finish();
	cr_assert(eq(sz, trace.device_events.count, 3));
	cr_expect(eq(u32, trace.device_events.rows[0].kernel, GT_NONE));
	cr_expect(eq(u64, trace.device_rings.rows[0].without_kernel, 5));
}

/* Replays of a graph are launches as all others; a persistent kernel runs beside them. */
Test(device_events, of_replayed_graphs_are_of_their_node)
{
	calibrate();
	recording_add(&recording, kernel, .start_ns = 4000000, .end_ns = 90000000, .correlation = 1,
	              .shape = SHAPE, .context = CONTEXT, .stream = STREAM + 1, .grid_id = 1);
	for (uint32_t i = 0; i < 1000; i++) {
		struct device_writer writer = writer_of(2 + i, 0, 0);

		recording_add(&recording, kernel, .start_ns = 5000000 + 50000 * i,
		              .end_ns = 5030000 + 50000 * i, .correlation = 7, .shape = SHAPE,
		              .context = CONTEXT, .stream = STREAM, .graph_node = 12, .graph = 3,
		              .grid_id = i % 2 ? 2 + i : 0);
		write_ranges(&writer, 5001000 + 50000.0 * i);
	}
	finish();
	cr_assert(eq(sz, trace.device_events.count, 3000));

	size_t known = 0;

	gt_array_each(const struct gt_device_event, event, &trace.device_events)
		if (event->kernel != GT_NONE) {
			const struct gt_kernel *kernel = &trace.kernels.rows[event->kernel];

			cr_expect(eq(u64, kernel->graph_node, 12));
			cr_expect(ge(i64, event->start_ns, kernel->start_ns));
			cr_expect(le(i64, event->end_ns, kernel->end_ns));
			known++;
		}
	cr_expect(eq(u64, trace.device_rings.rows[0].without_kernel + known / 3 * 5, 5000));
}

Test(device_events, of_a_kernel_that_had_not_finished)
{
	struct device_writer writer = writer_of(5, 0, 0);

	calibrate();
	recording_add(&recording, kernel, .correlation = 1, .shape = SHAPE, .context = CONTEXT,
	              .stream = STREAM, .flags = GT_RECORD_UNFINISHED);
	write_ranges(&writer, 5001000);
	finish();
	cr_assert(eq(sz, trace.device_events.count, 3));
	cr_expect(eq(u32, trace.device_events.rows[0].kernel, 0));
	cr_expect(eq(u32, trace.device_events.rows[0].flags, GT_DEVICE_BY_TIME));
}

/* A grid's number that comes again, as threads then begin with their first chunk again. */
Test(device_events, of_grids_with_one_number_are_apart)
{
	calibrate();
	for (uint32_t i = 0; i < 3; i++) {
		struct device_writer writer = writer_of(0, 0, 0);

		add_launch(&recording, 1 + i, 5000000 + 100000 * i, 5030000 + 100000 * i, 0);
		write_ranges(&writer, 5001000 + 100000.0 * i);
	}
	finish();
	cr_assert(eq(sz, trace.device_events.count, 9));
	for (uint32_t i = 0; i < 9; i++)
		cr_expect(eq(u32, trace.device_events.rows[i].kernel, i / 3));
}

Test(device_events, of_two_processes_are_of_their_own)
{
	struct device_writer writer = writer_of(5, 0, 0);

	calibrate();
	add_launch(&recording, 1, 5000000, 5030000, 5);
	write_ranges(&writer, 5001000);
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	recording_add_basics(&recording, 2);
	calibrate();
	add_launch(&recording, 1, 5000000, 5030000, 5);
	writer.part = 0;
	write_ranges(&writer, 5002000);
	finish();
	cr_assert(eq(sz, trace.device_events.count, 6));
	gt_array_each(const struct gt_device_event, event, &trace.device_events) {
		cr_expect(eq(u32,
		             gt_trace_process_of(&trace, GT_TABLE_kernels,
		                                 &trace.kernels.rows[event->kernel]),
		             event->process));
		cr_expect(ne(u32, event->name, 0));
	}
	expect_name(&trace.device_events.rows[5], "point");
	cr_expect(eq(sz, trace.device_rings.count, 2));
}

/* ---- what cannot be told ---- */

Test(device_events, without_calibration_are_left_out)
{
	struct device_writer writer = writer_of(5, 0, 0);

	add_launch(&recording, 1, 5000000, 5030000, 5);
	write_ranges(&writer, 5001000);
	recording_add(&recording, device_ring, .context = CONTEXT, .written = 5, .chunk_count = 64);
	recording_add(&recording, device_ring, .context = CONTEXT, .written = 6, .lost = 2,
	              .overwritten = 3, .chunk_count = 64, .flags = 1);
	finish();
	cr_expect(eq(sz, trace.device_events.count, 0));
	cr_expect(has_note(&trace, 0,
	                   "events that kernels wrote and that are left out, since no kernel of "
	                   "gputrace's own says where the GPU's clock is on the common timeline: "
	                   "5"));
	cr_assert(eq(sz, trace.device_rings.count, 1));
	cr_expect(eq(u64, trace.device_rings.rows[0].written, 6), "the last one holds");
	cr_expect(eq(u64, trace.device_rings.rows[0].lost, 2));
	cr_expect(eq(u64, trace.device_rings.rows[0].overwritten, 3));
	cr_expect(eq(u64, trace.device_rings.rows[0].without_kernel, 5));
	cr_expect(eq(u32, trace.device_rings.rows[0].flags, 1));
}

/* Records of its life say nothing of its counts, in whatever order they come. */
Test(device_events, have_a_ring_from_when_it_was_made_until_its_context_ends)
{
	const struct gt_device_ring *ring;

	recording_add(&recording, device_ring, .context = CONTEXT, .gone_ns = 9000);
	recording_add(&recording, device_ring, .context = CONTEXT, .written = 5, .chunk_count = 64);
	recording_add(&recording, device_ring, .context = CONTEXT, .made_ns = 2000,
	              .chunk_count = 64, .flags = 1);
	finish();
	cr_assert(eq(sz, trace.device_rings.count, 1));
	ring = &trace.device_rings.rows[0];
	cr_expect(eq(u64, ring->written, 5));
	cr_expect(eq(u32, ring->flags, 1));
	cr_expect(eq(u64, ring->bytes, 64 * (512 + 4) + 2 * 512));
	cr_expect(eq(i64, ring->gone_ns - ring->made_ns, 7000));
	cr_expect(gt(i64, ring->made_ns, 0));
}

/* The process died before more was told than that there is a ring. */
Test(device_events, are_counted_where_their_ring_told_nothing_but_its_size)
{
	struct device_writer writer = writer_of(5, 0, 0);

	calibrate();
	add_launch(&recording, 1, 5000000, 5030000, 5);
	write_ranges(&writer, 5001000);
	recording_add(&recording, device_ring, .context = CONTEXT, .made_ns = 2000,
	              .chunk_count = 64);
	finish();
	cr_assert(eq(sz, trace.device_rings.count, 1));
	cr_expect(eq(u64, trace.device_rings.rows[0].written, 5));
	cr_expect(eq(u32, trace.device_rings.rows[0].chunk_count, 64));
}

Test(device_events, that_make_no_sense_are_left_out)
{
	struct device_writer writer = writer_of(5, 0, 0);

	calibrate();
	add_launch(&recording, 1, 5000000, 5030000, 5);
	write_ranges(&writer, 5001000);
	for (uint32_t kind = 12; kind < 16; kind++)
		write_event(&writer, 5022000, kind, OUTER, 0);
	recording_add(&recording, device_event, .ticket = 1, .context = CONTEXT, .sequence = 28,
	              .tag = GPUTRACE_DEVICE_TAG(OUTER, GPUTRACE_DEVICE_MARK));
	recording_add(&recording, device_event, .ticket = 999, .context = CONTEXT,
	              .tag = GPUTRACE_DEVICE_TAG(OUTER, GPUTRACE_DEVICE_MARK));
	writer.block = 4; /* of 4 */
	write_ranges(&writer, 5001000);
	writer.block = 0;
	writer.thread = 256;
	write_ranges(&writer, 5001000);
	recording_add(&recording, device_chunk, .ticket = 90, .globaltimer = UINT64_MAX,
	              .clock = UINT64_MAX, .context = CONTEXT, .blocks = UINT32_MAX, .threads = 1);
	finish();
	cr_expect(eq(sz, trace.device_events.count, 3));
	cr_expect(eq(u64, ledger_of(&trace, "device_events_broken"), 3));
	cr_expect(has_note(&trace, 0,
	                   "events that kernels wrote and whose chunk is not there, or makes no "
	                   "sense: 12; they were left out"));
	cr_expect(has_note(&trace, 0,
	                   "events that kernels wrote and that cannot be right, by their time or "
	                   "kind: 4; they were left out"));
}

Test(device_events, cost_nothing_where_there_are_none)
{
	recording_add_kernel(&recording, 5000000, 1);
	finish();
	cr_expect(eq(sz, trace.device_events.count, 0));
	cr_expect(eq(sz, trace.device_rings.count, 0));
	cr_expect(eq(u32, trace.kernels.rows[0].grid_id, 0));
}
