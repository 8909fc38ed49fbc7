/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/recorded.h"
#include "format/file/series.h"
#include "format/ranges.h"
#include "model/kinds/memory.h"

/* Covers STAGE(pools): blocks from what pools told. */

enum { THREAD = 100, OTHER_THREAD = 101, ADDRESS = 0x7000, POOL = 3, HANDLE = 0x9000 };

TestSuite(pools, .init = make, .fini = drop);

static void add_pool(uint64_t time, uint32_t number, const char *name)
{
	recording_add_string(&recording, STRING_NEXT + number, name);
	recording_add(&recording, pool, .time_ns = time, .number = number, .device = 1,
	              .name = STRING_NEXT + number, .place = GT_POOL_MANAGED,
	              .teller = GT_TELLER_JAX);
}

/* By THREAD, for no stream. */
static void alloc(uint64_t time, uint64_t address, uint64_t bytes)
{
	recording_add(&recording, block_begin, .time_ns = time, .address = address,
	              .size_bytes = bytes, .pool = POOL, .thread = THREAD, .stream = UINT64_MAX);
}

static void alloc_by(uint32_t thread, uint64_t time, uint64_t address)
{
	recording_add(&recording, block_begin, .time_ns = time, .address = address, .size_bytes = 1,
	              .pool = POOL, .thread = thread, .stream = UINT64_MAX);
}

static void alloc_on(uint64_t stream, uint64_t time, uint64_t address)
{
	recording_add(&recording, block_begin, .time_ns = time, .address = address, .size_bytes = 1,
	              .pool = POOL, .thread = THREAD, .stream = stream);
}

/* By another thread. */
static void give_back(uint32_t pool, uint64_t time, uint64_t address)
{
	recording_add(&recording, block_end, .time_ns = time, .address = address, .pool = pool,
	              .thread = OTHER_THREAD, .stream = UINT64_MAX);
}

/* The rows, of which there are so many. */
static const struct gt_pool_block *collect_rows(size_t count)
{
	finish();
	cr_assert(eq(sz, trace.pool_blocks.count, count));
	return trace.pool_blocks.rows;
}

Test(pools, are_what_the_program_said_of_them)
{
	add_pool(2000, POOL, "activations");
	recording_add(&recording, pool_end, .time_ns = 5000, .number = POOL);
	recording_add(&recording, pool_end, .time_ns = 6000, .number = POOL);
	(void)collect_rows(0);
	cr_assert(eq(sz, trace.pools.count, 1));
	expect_text(gt_trace_text(&trace, trace.pools.rows[0].name), "activations");
	cr_expect(eq(i64, trace.pools.rows[0].end_ns - trace.pools.rows[0].start_ns, 3000));
	cr_expect(eq(u32, trace.pools.rows[0].device, 0), "ordinal 0, the basics' GPU");
	cr_expect(eq(u32, trace.pools.rows[0].number, POOL));
	cr_expect(eq(u32, trace.pools.rows[0].place, GT_POOL_MANAGED));
	cr_expect(eq(u32, trace.pools.rows[0].teller, GT_TELLER_JAX));
	cr_expect(eq(u64, ledger_of(&trace, "blocks_unopened"), UINT64_MAX), "it has no blocks");
}

Test(pools, hand_out_blocks_until_they_are_given_back)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	recording_add(&recording, block_begin, .time_ns = 2100, .address = ADDRESS,
	              .size_bytes = 512, .requested_bytes = 500, .pool = POOL, .thread = THREAD,
	              .stream = UINT64_MAX);
	give_back(POOL, 2600, ADDRESS);
	rows = collect_rows(1);
	cr_expect(eq(i64, rows[0].end_ns - rows[0].start_ns, 500));
	cr_expect(eq(u64, rows[0].address, ADDRESS));
	cr_expect(eq(u64, rows[0].size_bytes, 512));
	cr_expect(eq(u64, rows[0].requested_bytes, 500));
	cr_expect(eq(u32, rows[0].pool, 0));
	cr_expect(eq(u32, trace.threads.rows[rows[0].thread].tid, THREAD), "who got it");
	cr_expect(eq(u32, rows[0].stream, GT_NONE));
	cr_expect(eq(u32, rows[0].range, GT_NONE));
	cr_expect(eq(u32, rows[0].flags, 0));
	cr_expect(eq(u64, ledger_of(&trace, "blocks_unopened"), 0));
	cr_expect(eq(u64, ledger_of(&trace, "blocks_unended"), 0));
	cr_expect(eq(sz, trace.notes.count, 0));
}

/* A process is there for as long as it is told of, also where the last that it tells is an end. */
Test(pools, end_no_later_than_their_process)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	alloc(2100, ADDRESS, 1);
	give_back(POOL, 900000, ADDRESS);
	rows = collect_rows(1);
	cr_expect(eq(i64, trace.processes.rows[0].end_ns, rows[0].end_ns));
	cr_expect(eq(i64, trace.end_ns, rows[0].end_ns));
}

Test(pools, blocks_that_nobody_gave_back_were_out_at_the_end)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	recording_add(&recording, block_begin, .time_ns = 2100, .address = ADDRESS,
	              .size_bytes = 512, .pool = POOL, .thread = THREAD, .stream = UINT64_MAX,
	              .flags = GT_RECORD_SALVAGED);
	give_back(POOL + 1, 2600, ADDRESS); /* another pool's */
	rows = collect_rows(1);
	cr_expect(eq(i64, rows[0].end_ns, 0));
	cr_expect(eq(u32, rows[0].flags, GT_UNFINISHED | GT_SALVAGED));
	cr_expect(eq(u64, ledger_of(&trace, "blocks_unopened"), 1));
	cr_expect(has_note(&trace, 0,
	                   "blocks that were given back to pools which had not handed them out "
	                   "while that was recorded: 1"));
}

Test(pools, take_their_blocks_with_them)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	alloc(2100, ADDRESS, 512);
	alloc(5100, ADDRESS + 1, 64); /* which is too late */
	recording_add(&recording, pool_end, .time_ns = 5000, .number = POOL);
	rows = collect_rows(2);
	cr_expect(eq(i64, rows[0].end_ns - rows[0].start_ns, 2900));
	cr_expect(eq(u32, rows[0].flags, 0));
	cr_expect(eq(u32, rows[1].flags, GT_UNFINISHED));
}

Test(pools, blocks_end_where_their_address_comes_again)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	alloc(2100, ADDRESS, 1);
	alloc(2300, ADDRESS, 2);
	give_back(POOL, 2600, ADDRESS);
	rows = collect_rows(2);
	cr_expect(eq(i64, rows[0].end_ns, rows[1].start_ns));
	cr_expect(eq(i64, rows[1].end_ns - rows[1].start_ns, 300));
	cr_expect(eq(u64, ledger_of(&trace, "blocks_unended"), 1));
	cr_expect(has_note(&trace, 0,
	                   "blocks that pools handed out while they were still out, so that the "
	                   "first of the two ends there: 1"));
}

/* Whatever order the records lie in: those of a thread stand together. */
Test(pools, give_an_address_to_another_thread_as_soon_as_it_is_free)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	for (uint64_t i = 0; i < 10; i++)
		alloc(3000 + 100 * i, ADDRESS, i + 1);
	for (uint64_t i = 0; i < 10; i++)
		give_back(POOL, 3100 + 100 * i,
		          ADDRESS); /* the moment at which it is handed out again */
	rows = collect_rows(10);
	for (size_t i = 0; i < 10; i++) {
		cr_expect(eq(u64, rows[i].size_bytes, i + 1));
		cr_expect(eq(i64, rows[i].end_ns - rows[i].start_ns, 100));
	}
	cr_expect(eq(u64, ledger_of(&trace, "blocks_unended"), 0));
}

/* By a clock that is no finer than that. */
Test(pools, blocks_may_end_at_the_moment_at_which_they_begin)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	alloc(3000, ADDRESS, 1);
	give_back(POOL, 3000, ADDRESS);
	alloc(3000, ADDRESS + 8, 2);
	give_back(POOL, 3000, ADDRESS + 8);
	give_back(POOL, 3001, ADDRESS + 8);
	rows = collect_rows(2);
	cr_expect(eq(i64, rows[0].end_ns, rows[0].start_ns));
	cr_expect(eq(u32, rows[1].flags, 0));
	cr_expect(eq(u64, ledger_of(&trace, "blocks_unopened"), 1));
}

Test(pools, whose_record_is_lost_are_there_from_their_first_block_on)
{
	alloc(3000, ADDRESS, 1);
	alloc(2500, ADDRESS + 8, 1);
	(void)collect_rows(2);
	cr_assert(eq(sz, trace.pools.count, 1));
	cr_expect(eq(i64, trace.pools.rows[0].start_ns, trace.pool_blocks.rows[0].start_ns));
	cr_expect(eq(u32, trace.pools.rows[0].place, UINT32_MAX), "nobody said");
	cr_expect(eq(u32, trace.pools.rows[0].device, GT_NONE));
}

Test(pools, know_the_stream_that_had_the_handle)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	recording_add(&recording, handle, .time_ns = 1500, .handle = HANDLE, .context = CONTEXT,
	              .stream = STREAM);
	recording_add(&recording, context, .id = CONTEXT, .device = 0, .null_stream = STREAM + 1);
	alloc_on(HANDLE, 2100, ADDRESS);
	alloc_on(0, 2200, ADDRESS + 1);
	alloc_on(HANDLE + 1, 2300, ADDRESS + 2);
	rows = collect_rows(3);
	cr_expect(eq(u32, trace.streams.rows[rows[0].stream].number, STREAM));
	cr_expect(eq(u32, trace.streams.rows[rows[1].stream].number, STREAM + 1));
	cr_expect(eq(u32, rows[2].stream, GT_NONE), "nobody made it");
}

Test(pools, blocks_are_in_the_range_that_was_open_on_their_thread)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "p");
	recording_add(&recording, range_begin, .time_ns = 2200, .order = 1, .thread = THREAD,
	              .kind = GT_RANGE_STEP_STACK);
	recording_add(&recording, range_end, .time_ns = 2400, .order = 2, .thread = THREAD,
	              .kind = GT_RANGE_STEP_STACK);
	recording_add_call(&recording, 2250, 7);
	alloc(2100, ADDRESS, 1);
	alloc(2300, ADDRESS + 1, 1);
	alloc_by(OTHER_THREAD, 2310, ADDRESS + 2);
	alloc(2500, ADDRESS + 3, 1);
	alloc_by(0, 2600, ADDRESS + 4); /* one of gputrace's own */
	rows = collect_rows(5);
	cr_expect(eq(u32, rows[0].range, GT_NONE));
	cr_expect(eq(u32, rows[1].range, 0));
	cr_expect(eq(u32, rows[2].range, 0), "its thread has none, and one other thread has");
	cr_expect(ne(u32, rows[2].flags & GT_BY_TIME, 0));
	cr_expect(eq(u32, rows[1].flags & GT_BY_TIME, 0));
	cr_expect(eq(u32, rows[3].range, GT_NONE));
	cr_expect(eq(u32, rows[4].thread, GT_NONE));
	cr_assert(eq(sz, trace.api_calls.count, 1));
	cr_expect(eq(u32, trace.api_calls.rows[0].range, 0), "as calls are");
}

Test(pools, of_several_processes_are_their_own)
{
	const struct gt_pool_block *rows;

	add_pool(2000, POOL, "first");
	alloc(2100, ADDRESS, 1);
	alloc(2400, ADDRESS + 1, 2);
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	recording_add_basics(&recording, 2);
	add_pool(2000, POOL, "second");
	alloc(2200, ADDRESS, 3);
	give_back(POOL, 2300, ADDRESS);
	give_back(POOL, 2500, ADDRESS + 1); /* which this one has not */
	rows = collect_rows(3);
	cr_assert(eq(sz, trace.pools.count, 2));
	cr_expect(eq(u32, trace.pools.rows[rows[1].pool].process, 1));
	expect_text(gt_trace_text(&trace, trace.pools.rows[rows[1].pool].name), "second");
	cr_expect(eq(u64, rows[0].size_bytes, 1));
	cr_expect(eq(u32, rows[0].flags, GT_UNFINISHED));
	cr_expect(eq(u64, rows[1].size_bytes, 3));
	cr_expect(eq(u32, rows[1].flags, 0));
	cr_expect(eq(u32, rows[2].flags, GT_UNFINISHED));
	cr_expect(eq(u64, ledger_of(&trace, "blocks_unopened"), 1));
	cr_expect(eq(sz, trace.devices.count, 1), "which both pools are on");
	cr_expect(eq(u32, trace.pools.rows[1].device, 0));
}

static void add_sample(uint64_t time, uint16_t series, double value)
{
	const struct gt_samples samples = {
		.series = series,
		.columns = 1,
		.count = 1,
		.times_ns = &time,
		.values = &value,
	};

	cr_assert(ge(int,
	             gt_writer_samples(&recording.capture.writer, &samples, (struct gt_origin){0}),
	             0));
}

/* Both processes' pools are on one GPU, and have counters of one name. */
Test(pools, have_counters_that_are_not_another_pool_s)
{
	for (uint32_t process = 1; process <= 2; process++) {
		if (process > 1)
			recording_begin(&recording, "node-2-1");
		if (process > 1)
			recording_add_basics(&recording, 2);
		add_pool(2000, POOL, "p");
		recording_add_string(&recording, 60, "bytes_in_use");
		recording_add(&recording, counter, .series = 4098, .name = 60, .pool = POOL);
		recording_add(&recording, counter, .series = 4097, .name = 60, .device = 1);
		add_sample(2100, 4098, process);
		add_sample(2100, 4097, process);
		if (process == 1)
			recording_end(&recording, true);
	}
	(void)collect_rows(0);
	cr_assert(eq(sz, trace.counters.count, 3), "the GPU's own is one");
	cr_assert(eq(sz, trace.pools.count, 2));
	gt_array_each(const struct gt_counter, counter, &trace.counters) {
		if (counter->pool == GT_NONE)
			continue;
		cr_expect(eq(u32, counter->process, trace.pools.rows[counter->pool].process));
		cr_expect(eq(dbl, trace.series.rows[counter->series].columns[0][0],
		             counter->process + 1.0));
	}
}

Test(pools, programs_of_xla_are_rows_as_they_were_told)
{
	recording_add_string(&recording, 60, "jit_step");
	recording_add(&recording, executable, .start_ns = 2000, .end_ns = 2000, .name = 60,
	              .argument_bytes = 1, .output_bytes = 2, .temporary_bytes = 3,
	              .alias_bytes = 4, .code_bytes = UINT64_MAX);
	(void)collect_rows(0);
	cr_assert(eq(sz, trace.executables.count, 1));
	expect_text(gt_trace_text(&trace, trace.executables.rows[0].name), "jit_step");
	cr_expect(eq(u32, trace.executables.rows[0].device, GT_NONE));
	cr_expect(eq(u64, trace.executables.rows[0].temporary_bytes, 3));
	cr_expect(eq(u64, trace.executables.rows[0].code_bytes, UINT64_MAX), "not known");
}
