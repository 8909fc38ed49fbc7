/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "collector/recorded.h"
#include "format/file/series.h"
#include "model/kinds/memory.h"
#include "support/check.h"
#include "support/recording.h"

/*
 * Covers STAGE(cuda_pools): CUDA's pools and their counters.
 * Covers STAGE(contexts): what contexts take.
 */

enum { THREAD = 100, HANDLE = 0x9000, DEFAULT_HANDLE = 0xa000, SERIES = 640, DEFAULT_SERIES = 512 };

TestSuite(cuda_pools, .init = make, .fini = drop);

#define ADD(what, start, ...)                                                                      \
	recording_add(&recording, memory_call, .kind = GT_MEMORY_CALL_##what, .start_ns = (start), \
	              .end_ns = (start) + 10, .thread = THREAD, .context = CONTEXT,                \
	              .stream = UINT64_MAX, __VA_ARGS__)

static void add_sample(uint32_t series, uint64_t at, double value)
{
	const struct gt_samples samples = {.series = (uint16_t)series,
	                                   .clock = GT_SERIES_HOST,
	                                   .columns = 1,
	                                   .count = 1,
	                                   .times_ns = &at,
	                                   .values = &value};

	cr_assert(eq(int,
	             gt_writer_samples(&recording.capture.writer, &samples, (struct gt_origin){0}),
	             0));
}

static void add_series(uint32_t series, uint32_t name, const char *text, uint64_t at, double value)
{
	recording_add_string(&recording, name, text);
	recording_add(&recording, counter, .series = series, .name = name);
	add_sample(series, at, value);
}

Test(cuda_pools, are_those_that_are_made_and_those_that_are_used)
{
	const struct gt_pool *rows;

	ADD(CREATE_POOL, 2000, .handle = HANDLE, .place = 1);
	ADD(CREATE_POOL, 2020, .handle = HANDLE + 1);
	ADD(ALLOCATE_ORDERED, 2100, .address = 0x7000, .handle = HANDLE, .size_bytes = 64);
	ADD(ALLOCATE_ORDERED, 2200, .address = 0x8000, .size_bytes = 64);
	ADD(DESTROY_POOL, 2300, .handle = HANDLE);
	finish();
	cr_assert(eq(sz, trace.pools.count, 3));
	rows = trace.pools.rows;
	cr_expect(eq(u64, rows[0].handle, HANDLE));
	cr_expect(eq(u32, rows[0].place, GT_POOL_DEVICE));
	cr_expect(ne(i64, rows[0].end_ns, 0));
	cr_expect(eq(u32, rows[1].place, GT_POOL_HOST));
	cr_expect(eq(i64, rows[1].end_ns, 0));
	expect_text(gt_trace_text(&trace, rows[2].name), "default pool");
	cr_expect(eq(u32, rows[2].device, trace.contexts.rows[0].device));
	for (unsigned i = 0; i < 3; i++) {
		cr_expect(eq(u32, rows[i].teller, GT_TELLER_CUDA));
		cr_expect(eq(u32, rows[i].number, i + 1));
	}
}

Test(cuda_pools, have_their_counters)
{
	ADD(CREATE_POOL, 2000, .handle = HANDLE, .place = 1);
	ADD(DESTROY_POOL, 2300, .handle = HANDLE);
	ADD(CREATE_POOL, 2400, .handle = HANDLE, .place = 1); /* another one */
	add_series(SERIES, STRING_NEXT, "bytes_in_use", 2500, 64);
	add_series(DEFAULT_SERIES, STRING_NEXT + 1, "bytes_in_use", 2500, 128);
	add_series(7, STRING_NEXT + 2, "something_else", 2500, 1);
	recording_add(&recording, cuda_pool, .time_ns = 2500, .handle = HANDLE, .series = SERIES,
	              .device = 1, .kind = 1);
	recording_add(&recording, cuda_pool, .time_ns = 2500, .handle = DEFAULT_HANDLE,
	              .series = DEFAULT_SERIES, .device = 1, .kind = 0);
	recording_add(&recording, cuda_pool, .time_ns = 2500, .series = 4711, .kind = 99);
	finish();
	cr_assert(eq(sz, trace.pools.count, 3));
	cr_assert(eq(sz, trace.counters.count, 3));
	cr_expect(eq(u32, trace.counters.rows[0].pool, 1));
	cr_expect(eq(u32, trace.counters.rows[1].pool, 2));
	cr_expect(eq(u32, trace.counters.rows[2].pool, GT_NONE));
	cr_expect(eq(u64, trace.pools.rows[2].handle, DEFAULT_HANDLE));
}

/* Two processes may have pools with one handle, and what is sampled is of the process's own. */
Test(cuda_pools, have_no_counters_of_another_process)
{
	ADD(CREATE_POOL, 2000, .handle = HANDLE, .place = 1);
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	recording_add_basics(&recording, 2);
	add_series(SERIES, STRING_NEXT, "bytes_in_use", 2500, 64);
	add_series(SERIES + 1, STRING_NEXT + 1, "bytes_in_use", 2700, 65);
	recording_add(&recording, cuda_pool, .time_ns = 2500, .handle = HANDLE, .series = SERIES,
	              .device = 1, .kind = 1);
	ADD(CREATE_POOL, 2600, .handle = HANDLE, .place = 1);
	recording_add(&recording, cuda_pool, .time_ns = 2700, .handle = HANDLE,
	              .series = SERIES + 1, .device = 1, .kind = 1);
	finish();
	cr_assert(eq(sz, trace.pools.count, 2));
	cr_assert(eq(sz, trace.counters.count, 2));
	gt_array_each(const struct gt_counter, counter, &trace.counters) {
		const double value = trace.series.rows[counter->series].columns[0][0];

		if (value < 65)
			cr_expect(eq(u32, counter->pool, GT_NONE), "its process had no pool yet");
		else
			cr_expect(
				eq(u32, trace.pools.rows[counter->pool].process, counter->process));
	}
}

/* Series of one GPU that both have are shown once, which renumbers all series behind them. */
Test(cuda_pools, keep_their_counters_where_two_processes_watched_one_gpu)
{
	for (uint32_t pid = 2; pid < 5; pid++) {
		recording_end(&recording, true);
		recording_begin(&recording, pid == 2   ? "node-2-1"
		                            : pid == 3 ? "node-3-1"
		                                       : "node-4-1");
		recording_add_basics(&recording, pid);
		recording_add_string(&recording, STRING_NEXT, "power_mw");
		recording_add(&recording, counter, .series = 0, .name = STRING_NEXT, .device = 1);
		add_sample(0, 2500, 100);
		ADD(CREATE_POOL, 2000, .handle = HANDLE, .place = 1);
		add_series(SERIES, STRING_NEXT + 1, "bytes_in_use", 2500, pid);
		recording_add(&recording, cuda_pool, .time_ns = 2500, .handle = HANDLE,
		              .series = SERIES, .device = 1, .kind = 1);
	}
	finish();
	cr_assert(eq(sz, trace.pools.count, 3));
	cr_assert(eq(sz, trace.counters.count, 4));
	gt_array_each(const struct gt_counter, counter, &trace.counters) {
		const double value = trace.series.rows[counter->series].columns[0][0];

		cr_expect(eq(u32, counter->pool, value < 100 ? counter->process - 1 : GT_NONE));
	}
}

Test(cuda_pools, contexts_take_what_the_process_has_and_did_not_allocate)
{
	recording_add_string(&recording, STRING_NEXT, "process_memory_bytes");
	recording_add(&recording, counter, .series = 1, .name = STRING_NEXT, .device = 1);
	ADD(ALLOCATE, 2000, .address = 0x7000, .size_bytes = 1000);
	ADD(ALLOCATE_HOST, 2050, .address = 0x9000, .size_bytes = 5000);
	add_sample(1, 2100, NAN);
	add_sample(1, 2200, 501000);
	add_sample(1, 2300, 901000);
	finish();
	cr_expect(epsilon_eq(dbl, trace.contexts.rows[0].memory_bytes, 500000, 0));
}

/* Only what is there at the first reading is taken off what the process has then. */
Test(cuda_pools, contexts_take_what_was_freed_before_the_first_reading)
{
	recording_add_string(&recording, STRING_NEXT, "process_memory_bytes");
	recording_add(&recording, counter, .series = 1, .name = STRING_NEXT, .device = 1);
	ADD(ALLOCATE, 2000, .address = 0x7000, .size_bytes = 1000);
	ADD(ALLOCATE, 2020, .address = 0x8000, .size_bytes = 30000);
	ADD(FREE, 2100, .address = 0x8000);
	ADD(ALLOCATE, 2250, .address = 0x9000, .size_bytes = 7000);
	add_sample(1, 2200, 501000);
	ADD(FREE, 2300, .address = 0x7000);
	finish();
	cr_expect(epsilon_eq(dbl, trace.contexts.rows[0].memory_bytes, 500000, 0));
}

/* Nor is a ring of device events theirs that was there by then. */
Test(cuda_pools, contexts_do_not_take_what_gputrace_took)
{
	enum { CHUNKS = 100, RING = CHUNKS * (512 + 4) + 2 * 512 };

	recording_add_string(&recording, STRING_NEXT, "process_memory_bytes");
	recording_add(&recording, counter, .series = 1, .name = STRING_NEXT, .device = 1);
	recording_add(&recording, device_ring, .context = CONTEXT, .made_ns = 2000,
	              .chunk_count = CHUNKS);
	add_sample(1, 2200, 500000 + RING);
	finish();
	cr_expect(epsilon_eq(dbl, trace.contexts.rows[0].memory_bytes, 500000, 0));
}

Test(cuda_pools, contexts_take_all_where_gputrace_took_something_later)
{
	recording_add_string(&recording, STRING_NEXT, "process_memory_bytes");
	recording_add(&recording, counter, .series = 1, .name = STRING_NEXT, .device = 1);
	recording_add(&recording, device_ring, .context = CONTEXT, .made_ns = 2300,
	              .chunk_count = 100);
	add_sample(1, 2200, 500000);
	finish();
	cr_expect(epsilon_eq(dbl, trace.contexts.rows[0].memory_bytes, 500000, 0));
}

Test(cuda_pools, of_which_nothing_is_known_contexts_memory_is_not_measured)
{
	recording_add_string(&recording, STRING_NEXT, "process_memory_bytes");
	recording_add(&recording, counter, .series = 1, .name = STRING_NEXT, .device = 1);
	ADD(ALLOCATE_ORDERED, 2000, .address = 0x7000, .size_bytes = 1000);
	add_sample(1, 2200, 501000);
	finish();
	cr_expect(isnan(trace.contexts.rows[0].memory_bytes));
}
