/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kinds/memory.h"

#include "analysis/check_scene.h"
#include "base/strings.h"
#include "model/names.h"

/* Device memory that a call of 5 ns in a range took; its row. */
static struct gt_allocation *allocate_in(gt_id range, gt_size bytes, gt_time start_ns,
                                         gt_time end_ns)
{
	const gt_id call = trace_call_in(&trace, range, "cudaMalloc", start_ns, start_ns + 5);

	return trace_allocation(&trace, call, device, GT_MEMORY_CALL_ALLOCATE, bytes, end_ns);
}

static struct gt_allocation *allocate(gt_count kind, gt_id on, gt_size bytes, gt_time start_ns,
                                      gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaMalloc", start_ns, start_ns + 5);

	return trace_allocation(&trace, call, on, kind, bytes, end_ns);
}

/* One value, or several a step of 100 ns apart, of a pool. */
static void tell(gt_id pool, const char *name, gt_count kind, const double *values, size_t count)
{
	trace_counter(&trace, GT_NONE, name, kind, 100, 100, values, count);
	trace.counters.rows[trace.counters.count - 1].pool = pool;
}

static void tell_one(gt_id pool, const char *name, double value)
{
	tell(pool, name, GT_COUNTER_GAUGE, &value, 1);
}

Test(memory, of_a_gpu_has_its_peak_when_it_was_and_what_is_left)
{
	scene_begin(1000000000);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10, 500);
	allocate(GT_MEMORY_CALL_CREATE_ARRAY, device, 30, 20, 0);
	allocate(GT_MEMORY_CALL_MAP, device, 7000, 30, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE_HOST, GT_NONE, 90000, 40, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 2, 600, 700);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "devices"), 1));
	expect_count(&result, "devices", 0, "peak_bytes", 1030);
	expect_count(&result, "devices", 0, "peak_time_ns", 25);
	expect_count(&result, "devices", 0, "now_bytes", 30);
	expect_count(&result, "devices", 0, "allocations", 3);
	expect_count(&result, "devices", 0, "frees", 2);
	expect_count(&result, "devices", 0, "allocated_bytes", 1032);
	expect_count(&result, "devices", 0, "largest_bytes", 1000);
	expect_count(&result, "devices", 0, "failed", 0);
	expect_count(&result, "devices", 0, "kept", 1);
	expect_count(&result, "devices", 0, "kept_bytes", 30);
	expect_real(&result, "devices", 0, "calls_per_second", 5);
	expect_real(&result, "devices", 0, "allocated_bytes_per_second", 1032);
	scene_end();
}

Test(memory, is_told_apart_by_kind_and_by_where_it_counts)
{
	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10, 500);
	allocate(GT_MEMORY_CALL_MAP, device, 7000, 30, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE_HOST, GT_NONE, 90000, 40, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE_MANAGED, device, 5, 50, 0);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "memory"), 4));
	expect_words(&result, "memory", 0, "memory", "pinned memory");
	expect_words(&result, "memory", 0, "counts", "host");
	expect_unknown(&result, "memory", 0, "device");
	expect_words(&result, "memory", 1, "memory", "mapping");
	expect_words(&result, "memory", 1, "counts", "other rows");
	expect_words(&result, "memory", 2, "memory", "device memory");
	expect_words(&result, "memory", 2, "counts", "GPU");
	expect_count(&result, "memory", 2, "now_bytes", 0);
	expect_words(&result, "memory", 3, "counts", "either");
	scene_end();
}

Test(memory, at_the_peak_is_what_was_alive_then_by_its_origin)
{
	gt_id step;
	gt_id other;

	scene_begin(1000);
	step = trace_range(&trace, thread, GT_NONE, "step", 5, 100);
	other = trace_range(&trace, thread, GT_NONE, "other", 200, 400);
	allocate_in(step, 100, 10, 300);
	allocate_in(step, 200, 20, 300);
	allocate_in(other, 400, 210, 320)->library = gt_strings_add(trace.strings, "libnccl.so.2");
	allocate_in(other, 999, 330, 340);
	run_report(&result, "memory", &trace);
	expect_count(&result, "devices", 0, "peak_bytes", 999);
	cr_assert(eq(sz, row_count(&result, "peak"), 1));
	expect_words(&result, "peak", 0, "range", "other");
	gt_result_release(&result);
	trace.allocations.rows[3].size_bytes = 1;
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "peak"), 2));
	expect_words(&result, "peak", 0, "library", "libnccl.so.2");
	expect_words(&result, "peak", 0, "call", "cudaMalloc");
	expect_words(&result, "peak", 0, "range", "other");
	expect_words(&result, "peak", 1, "range", "step");
	expect_count(&result, "peak", 1, "bytes", 300);
	expect_count(&result, "peak", 1, "count", 2);
	expect_count(&result, "peak", 1, "largest_bytes", 200);
	expect_real(&result, "peak", 1, "share_percent", 300.0 / 7);
	scene_end();
}

Test(memory, is_counted_together_by_what_is_asked_for)
{
	gt_id outer;
	gt_id ranges[2];

	scene_begin(1000);
	outer = trace_range(&trace, thread, GT_NONE, "a", 1, 50);
	ranges[0] = trace_range(&trace, thread, outer, "aten::mm", 5, 40);
	outer = trace_range(&trace, thread, GT_NONE, "b", 60, 100);
	ranges[1] = trace_range(&trace, thread, outer, "aten::mm", 65, 90);
	allocate_in(ranges[0], 100, 10, 0);
	allocate_in(ranges[1], 10, 70, 0);
	run_report_with(&result, "memory", &trace, "by=range");
	cr_expect(eq(sz, row_count(&result, "leaks"), 2));
	expect_words(&result, "leaks", 0, "range", "a/aten::mm");
	expect_unknown(&result, "leaks", 0, "call");
	gt_result_release(&result);
	run_report_with(&result, "memory", &trace, "by=name");
	cr_assert(eq(sz, row_count(&result, "leaks"), 1));
	expect_words(&result, "leaks", 0, "range", "aten::mm");
	expect_count(&result, "leaks", 0, "count", 2);
	gt_result_release(&result);
	run_report_with(&result, "memory", &trace, "by=call");
	cr_assert(eq(sz, row_count(&result, "leaks"), 1));
	expect_words(&result, "leaks", 0, "call", "cudaMalloc");
	scene_end();
}

Test(memory, that_was_never_freed_is_a_leak_that_the_exit_mends)
{
	gt_id range;

	scene_begin(1000);
	range = trace_range(&trace, thread, GT_NONE, "step", 5, 100);
	for (gt_time i = 0; i < 7; i++)
		allocate_in(range, 4096, 10 + 10 * i, 0);
	allocate_in(range, 4096, 95, 200);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "leaks"), 1));
	expect_count(&result, "leaks", 0, "count", 7);
	expect_count(&result, "leaks", 0, "bytes", 7 * 4096);
	expect_count(&result, "leaks", 0, "first_time_ns", 15);
	expect_count(&result, "leaks", 0, "last_time_ns", 75);
	expect_words(&result, "leaks", 0, "range", "step");
	expect_unknown(&result, "leaks", 0, "library");
	cr_expect(has_remark(&result, "A process that exits gives all of it back"));
	scene_end();
}

Test(memory, that_could_not_be_had_comes_with_what_was_there)
{
	const double used[] = {5000, 6000, 7000};
	size_t failed;
	gt_id call;

	scene_begin(10000);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100, 100, used, 3);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 100, 10, 50);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 70, 20, 0);
	call = trace_call(&trace, thread, "cudaMalloc", 250, 260);
	failed = trace.memory_calls.count;
	trace_memory_call(&trace, call, GT_MEMORY_CALL_ALLOCATE, 1 << 20, 2)->place = device;
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 900, 300, 0);
	run_report(&result, "memory", &trace);
	expect_count(&result, "devices", 0, "failed", 1);
	cr_assert(eq(sz, row_count(&result, "failures"), 1));
	expect_count(&result, "failures", 0, "time_ns", 250);
	expect_count(&result, "failures", 0, "size_bytes", 1 << 20);
	expect_words(&result, "failures", 0, "result", "cudaErrorMemoryAllocation");
	expect_count(&result, "failures", 0, "live_bytes", 70);
	expect_count(&result, "failures", 0, "used_bytes", 6000);
	expect_count(&result, "failures", 0, "left_bytes", 150754820096 - 6000);
	expect_count(&result, "failures", 0, "sampled_ns", 50);
	trace.memory_calls.rows[failed].left_bytes = 4096;
	gt_result_release(&result);
	run_report(&result, "memory", &trace);
	expect_count(&result, "failures", 0, "used_bytes", 150754820096 - 4096);
	expect_count(&result, "failures", 0, "left_bytes", 4096);
	expect_count(&result, "failures", 0, "sampled_ns", 0);
	cr_assert(eq(sz, row_count(&result, "at_failure"), 1));
	expect_count(&result, "at_failure", 0, "bytes", 70);
	scene_end();
}

Test(memory, rises_in_ranges_and_what_they_keep_is_their_growth)
{
	gt_id outer;
	gt_id inner;

	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 1, 0);
	outer = trace_range(&trace, thread, GT_NONE, "step", 10, 100);
	inner = trace_range(&trace, thread, outer, "forward", 20, 60);
	allocate_in(inner, 300, 30, 50);
	allocate_in(inner, 40, 40, 90);
	allocate_in(outer, 5, 70, 0);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 2));
	expect_words(&result, "ranges", 0, "range", "step/forward");
	expect_count(&result, "ranges", 0, "kept_bytes", 40);
	expect_count(&result, "ranges", 0, "kept", 1);
	expect_count(&result, "ranges", 0, "asked", 2);
	expect_count(&result, "ranges", 0, "asked_bytes", 340);
	expect_count(&result, "ranges", 0, "peak_bytes", 1340);
	expect_count(&result, "ranges", 0, "rise_bytes", 340);
	expect_words(&result, "ranges", 1, "range", "step");
	expect_count(&result, "ranges", 1, "kept_bytes", 5);
	expect_count(&result, "ranges", 1, "asked", 3);
	expect_count(&result, "ranges", 1, "rise_bytes", 340);
	scene_end();
}

/* A range that is entered again and again. */
Test(memory, rises_as_far_as_in_the_worst_range_of_a_path)
{
	static const gt_size sizes[] = {200, 300, 100};

	scene_begin(1000);
	for (gt_time i = 0; i < 3; i++)
		allocate_in(trace_range(&trace, thread, GT_NONE, "step", 10 + 100 * i,
		                        90 + 100 * i),
		            sizes[i], 20 + 100 * i, 50 + 100 * i);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 1));
	expect_count(&result, "ranges", 0, "ranges", 3);
	expect_count(&result, "ranges", 0, "rise_bytes", 300);
	expect_count(&result, "ranges", 0, "peak_bytes", 300);
	scene_end();
}

/* In the very nanosecond in which the range ends. */
Test(memory, that_a_range_asks_for_last_is_its_rise)
{
	gt_id step;

	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 1, 0);
	step = trace_range(&trace, thread, GT_NONE, "step", 10, 100);
	allocate_in(step, 300, 95, 0); /* the call returns at 100 */
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 1));
	expect_count(&result, "ranges", 0, "rise_bytes", 300);
	expect_count(&result, "ranges", 0, "peak_bytes", 1300);
	scene_end();
}

/* A block that nobody gave back is kept, as one that was given back after the range is. */
Test(memory, of_pools_that_was_never_given_back_is_the_range_s_growth)
{
	gt_id pool;
	gt_id step;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "cache");
	step = trace_range(&trace, thread, GT_NONE, "step", 10, 100);
	trace_block(&trace, pool, 300, 20, 50)->range = step;
	trace_block(&trace, pool, 40, 30, 200)->range = step;
	trace_block(&trace, pool, 5, 40, 0)->range = step;
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 1));
	expect_count(&result, "ranges", 0, "asked", 3);
	expect_count(&result, "ranges", 0, "kept", 2);
	expect_count(&result, "ranges", 0, "kept_bytes", 45);
	scene_end();
}

Test(memory, of_pools_is_fragmented_as_samples_say_that_have_the_largest_piece)
{
	const double largest[] = {NAN, 10, NAN};
	const double free_bytes[] = {100, 100, 60};
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "cache");
	tell(pool, "largest_free_block", GT_COUNTER_GAUGE, largest, 3);
	tell(pool, "free", GT_COUNTER_GAUGE, free_bytes, 3);
	run_report(&result, "memory", &trace);
	expect_real(&result, "pools", 0, "fragmentation_percent", 90);
	expect_real(&result, "pools", 0, "worst_percent", 90);
	expect_count(&result, "pools", 0, "worst_time_ns", 200);
	scene_end();
}

Test(memory, of_pools_is_told_by_their_statistics)
{
	const double largest[] = {50, 10, 30};
	const double free_bytes[] = {100, 100, 60};
	const double in_use[] = {400, 900, 840};
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "cache");
	trace.pools.rows[pool].teller = GT_TELLER_PYTORCH;
	tell(pool, "largest_free_block_bytes", GT_COUNTER_GAUGE, largest, 3);
	tell(pool, "free", GT_COUNTER_GAUGE, free_bytes, 3);
	tell(pool, "bytes_in_use", GT_COUNTER_GAUGE, in_use, 3);
	tell_one(pool, "peak_bytes_in_use", 950);
	tell_one(pool, "bytes_reserved", 1000);
	tell_one(pool, "bytes_requested", 630);
	tell_one(pool, "num_allocs", 200);
	tell_one(pool, "num_reserve_calls", 4);
	tell_one(pool, "num_splits", 3);
	tell_one(pool, "num_trims", 2);
	tell_one(pool, "num_failed", 1);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "pools"), 1));
	expect_words(&result, "pools", 0, "pool", "cache");
	expect_words(&result, "pools", 0, "teller", "PyTorch");
	expect_words(&result, "pools", 0, "source", "statistics");
	expect_count(&result, "pools", 0, "in_use_bytes", 840);
	expect_count(&result, "pools", 0, "peak_in_use_bytes", 950);
	expect_count(&result, "pools", 0, "reserved_bytes", 1000);
	expect_count(&result, "pools", 0, "cached_bytes", 160);
	expect_real(&result, "pools", 0, "fragmentation_percent", 50);
	expect_real(&result, "pools", 0, "worst_percent", 90);
	expect_count(&result, "pools", 0, "worst_time_ns", 200);
	expect_real(&result, "pools", 0, "waste_percent", 25);
	expect_real(&result, "pools", 0, "hit_percent", 98);
	expect_count(&result, "pools", 0, "splits", 3);
	expect_count(&result, "pools", 0, "trims", 2);
	expect_count(&result, "pools", 0, "failed", 1);
	expect_unknown(&result, "pools", 0, "limit_bytes");
	scene_end();
}

/* As by torch.cuda.reset_accumulated_memory_stats: what it counted before counts as well. */
Test(memory, of_a_pool_whose_counts_began_anew_has_those_of_before)
{
	const double allocs[] = {50, 90, 10, 30};
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "cache");
	tell_one(pool, "bytes_in_use", 700);
	tell(pool, "num_allocs", GT_COUNTER_TOTAL, allocs, 4);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10, 0);
	run_report(&result, "memory", &trace);
	expect_count(&result, "pools", 0, "allocations", 90 + 20);
	scene_end();
}

/* A private pool's memory is in the figures of its device's pool: the account has it once. */
Test(memory, of_a_pool_that_is_a_part_of_another_counts_once)
{
	const double used[] = {2000, 2000, 2000};
	gt_id whole;
	gt_id part;
	size_t lines = 0;

	scene_begin(1000);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100, 100, used, 3);
	whole = trace_pool(&trace, process, device, "PyTorch caching allocator");
	part = trace_pool(&trace, process, device, "PyTorch private pool (0, 1)");
	trace.pools.rows[whole].teller = GT_TELLER_PYTORCH;
	trace.pools.rows[part].teller = GT_TELLER_PYTORCH_PART;
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10, 0);
	tell_one(whole, "bytes_in_use", 700);
	tell_one(whole, "bytes_reserved", 1000);
	tell_one(part, "bytes_in_use", 200);
	tell_one(part, "bytes_reserved", 300);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "pools"), 2));
	expect_words(&result, "pools", 1, "teller", "PyTorch, a part");
	expect_count(&result, "pools", 1, "reserved_bytes", 300);
	for (size_t i = 0; i < row_count(&result, "account"); i++) {
		if (strncmp(cell(&result, "account", i, "claim")->text, "framework", 9) != 0)
			continue;
		lines++;
		expect_words(&result, "account", i, "name", "pool PyTorch caching allocator");
	}
	cr_expect(gt(sz, lines, 0));
	scene_end();
}

/* A segment of 1,000 bytes of which 400 lie between two blocks, and 100 behind these. */
static gt_id add_pool_of_blocks(void)
{
	const gt_id pool = trace_pool(&trace, process, device, "cache");
	struct gt_pool_block *block;

	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10, 0)->address = 0x1000;
	block = trace_block(&trace, pool, 300, 20, 0);
	block->address = 0x1000;
	block->requested_bytes = 290;
	trace_block(&trace, pool, 400, 30, 50)->address = 0x1000 + 300;
	block = trace_block(&trace, pool, 200, 40, 0);
	block->address = 0x1000 + 700;
	block->requested_bytes = 160;
	return pool;
}

Test(memory, of_pools_is_told_by_their_blocks_where_they_have_no_statistics)
{
	scene_begin(1000);
	add_pool_of_blocks();
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "pools"), 1));
	expect_words(&result, "pools", 0, "source", "blocks");
	expect_count(&result, "pools", 0, "in_use_bytes", 500);
	expect_count(&result, "pools", 0, "peak_in_use_bytes", 900);
	expect_count(&result, "pools", 0, "reserved_bytes", 1000);
	expect_count(&result, "pools", 0, "cached_bytes", 500);
	expect_count(&result, "pools", 0, "largest_free_bytes", 400);
	expect_real(&result, "pools", 0, "fragmentation_percent", 20);
	expect_real(&result, "pools", 0, "waste_percent", 10);
	expect_count(&result, "pools", 0, "allocations", 3);
	expect_count(&result, "pools", 0, "reserve_calls", 1);
	expect_unknown(&result, "pools", 0, "splits");
	scene_end();
}

Test(memory, of_a_pool_is_shown_by_its_blocks_and_what_it_caches)
{
	scene_begin(1000);
	add_pool_of_blocks();
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "peak"), 1));
	gt_result_release(&result);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 6, 100, 0);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "peak"), 3));
	expect_words(&result, "peak", 0, "memory", "pool cache");
	expect_count(&result, "peak", 0, "bytes", 500);
	expect_words(&result, "peak", 1, "memory", "cached by pool cache");
	expect_count(&result, "peak", 1, "bytes", 500);
	expect_unknown(&result, "peak", 1, "count");
	expect_words(&result, "peak", 2, "memory", "device memory");
	cr_assert(eq(sz, row_count(&result, "leaks"), 3));
	expect_words(&result, "leaks", 0, "holds", "pool cache");
	scene_end();
}

static int64_t claimed(const char *moment, const char *claim)
{
	for (size_t i = 0; i < row_count(&result, "account"); i++)
		if (strcmp(cell(&result, "account", i, "moment")->text, moment) == 0 &&
		    strcmp(cell(&result, "account", i, "claim")->text, claim) == 0)
			return cell(&result, "account", i, "bytes")->unknown
			               ? -1
			               : cell(&result, "account", i, "bytes")->count;
	return -2;
}

Test(memory, of_a_gpu_adds_up_to_what_nvml_says)
{
	const double used[] = {2000, 5000, 4000};
	const double others[] = {0, 700, 600};

	scene_begin(1000);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100, 100, used, 3);
	trace_counter(&trace, device, "others_memory_bytes", GT_COUNTER_GAUGE, 100, 100, others, 3);
	add_pool_of_blocks();
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 64, 60, 250)->library =
		gt_strings_add(trace.strings, "/usr/lib/libnccl.so.2");
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 8, 70, 0);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("peak", "device total"), 5000));
	cr_expect(eq(i64, claimed("peak", "framework, in use"), 500));
	cr_expect(eq(i64, claimed("peak", "framework, cached"), 500));
	cr_expect(eq(i64, claimed("peak", "library"), 64));
	cr_expect(eq(i64, claimed("peak", "program"), 8));
	cr_expect(eq(i64, claimed("peak", "other processes"), 700));
	/* At first 2,000 of which pool, NCCL and program had 1,072 and others nothing. */
	cr_expect(eq(i64, claimed("peak", "contexts, modules"), 2000 - 1072));
	cr_expect(eq(i64, claimed("peak", "unclaimed"), 5000 - 1072 - 928 - 700));
	cr_expect(eq(i64, claimed("end", "device total"), 4000));
	cr_expect(eq(i64, claimed("end", "library"), -2), "it was freed");
	cr_expect(eq(i64, claimed("end", "unclaimed"), 4000 - 1008 - 928 - 600));
	scene_end();
}

static int64_t claimed_at(const char *moment, const char *claim)
{
	for (size_t i = 0; i < row_count(&result, "account"); i++)
		if (strcmp(cell(&result, "account", i, "moment")->text, moment) == 0 &&
		    strcmp(cell(&result, "account", i, "claim")->text, claim) == 0)
			return cell(&result, "account", i, "time_ns")->count;
	return -2;
}

#define MS 1000000

/* NVML does not see memory allocated and freed between two samples: its peak is another one. */
Test(memory, of_a_gpu_has_both_peaks_that_of_calls_and_that_of_nvml)
{
	const double used[] = {2000, 2000, 3000};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 3);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10 * MS, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 7000, 130 * MS, 170 * MS);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 500, 250 * MS, 0);
	run_report(&result, "memory", &trace);
	expect_count(&result, "devices", 0, "peak_bytes", 8000);
	cr_expect(eq(i64, claimed("peak", "program"), -2), "they are two moments");
	cr_expect(eq(i64, claimed("peak by calls", "program"), 8000));
	cr_expect(eq(i64, claimed_at("peak by calls", "program"), 130 * MS + 5));
	cr_expect(eq(i64, claimed("peak by calls", "device total"), -1));
	cr_expect(eq(i64, claimed("peak by calls", "unclaimed"), -1));
	cr_expect(has_remark(
		&result, "GPU 0, peak by calls: NVML was not asked while so much was allocated"));
	cr_expect(eq(i64, claimed("peak by NVML", "device total"), 3000));
	cr_expect(eq(i64, claimed_at("peak by NVML", "device total"), 300 * MS));
	cr_expect(eq(i64, claimed("peak by NVML", "program"), 1500));
	cr_expect(eq(i64, claimed("peak by NVML", "contexts, modules"), 1000));
	cr_expect(eq(i64, claimed("peak by NVML", "unclaimed"), 500));
	scene_end();
}

/* As much was allocated when NVML was asked as at the peak of calls, a little before. */
Test(memory, of_a_gpu_has_one_peak_where_nothing_was_allocated_between_both)
{
	const double used[] = {2000, 9000, 9000};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 3);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 7000, 130 * MS, 0);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("peak by calls", "program"), -2));
	cr_expect(eq(i64, claimed("peak", "program"), 7000));
	cr_expect(eq(i64, claimed("peak", "unclaimed"), 0));
	cr_expect(eq(i64, claimed_at("peak", "program"), 200 * MS));
	scene_end();
}

/* NVML's answer may come after the calls that freed what is claimed at the time of its sample. */
Test(memory, that_nobody_claims_is_not_known_where_more_is_claimed_than_there_is)
{
	const double used[] = {2000, 3000};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 2);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10 * MS, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 2000, 150 * MS, 210 * MS);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "device total"), 3000));
	cr_expect(eq(i64, claimed("end", "program"), 3000));
	cr_expect(eq(i64, claimed("end", "unclaimed"), -1));
	cr_expect(has_remark(&result, "GPU 0, end: 1,000 B more are claimed than NVML says are in "
	                              "use; memory was freed while NVML was being asked."));
	scene_end();
}

/* Then that is an estimate from a moment at which calls had allocated more than NVML says. */
Test(memory, of_contexts_is_not_measured_where_it_would_be_below_0)
{
	const double used[] = {500, 3000};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 2);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10 * MS, 0);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "contexts, modules"), -1));
	cr_expect(eq(i64, claimed("end", "unclaimed"), 2000));
	scene_end();
}

/* A context that was there when NVML was first asked has ended. */
Test(memory, of_contexts_is_not_known_where_less_is_in_use_than_they_took_at_first)
{
	const double used[] = {3000, 500};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 2);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 100, 10 * MS, 150 * MS);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "device total"), 500));
	cr_expect(eq(i64, claimed("end", "contexts, modules"), -1));
	cr_expect(eq(i64, claimed("end", "unclaimed"), -1));
	scene_end();
}

/* NVML is asked by one of them: for that the other one is one of "the others". */
Test(memory, of_two_recorded_processes_on_a_gpu_is_not_that_of_other_processes_too)
{
	const double used[] = {2000, 7000};
	const double others[] = {1000, 4000};
	gt_id second;

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 2);
	trace_counter(&trace, device, "others_memory_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              others, 2);
	second = trace_process(&trace, "other", 2);
	*gt_array_push(&trace.contexts) =
		(struct gt_context){.process = second, .device = device, .memory_bytes = NAN};
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 2000, 110 * MS, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 3000, 120 * MS, 0)->process = second;
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "program"), 5000));
	cr_expect(eq(i64, claimed("end", "other processes"), -1));
	cr_expect(eq(i64, claimed("end", "contexts, modules"), 2000));
	cr_expect(eq(i64, claimed("end", "unclaimed"), 0));
	scene_end();
}

Test(memory, of_a_pool_that_only_has_statistics_is_taken_off_its_librarys)
{
	const double used[] = {2000};
	gt_id pool;

	scene_begin(1000);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 500, 100, used, 1);
	pool = trace_pool(&trace, process, device, "BFC");
	tell_one(pool, "bytes_in_use", 300);
	tell_one(pool, "bytes_reserved", 1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1010, 10, 0)->library =
		gt_strings_add(trace.strings, "xla_cuda_plugin.so");
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 8, 70, 0);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "framework, in use"), 300));
	cr_expect(eq(i64, claimed("end", "framework, cached"), 700));
	cr_expect(eq(i64, claimed("end", "library"), 10));
	cr_expect(eq(i64, claimed("end", "program"), 8));
	cr_expect(eq(i64, claimed("end", "contexts, modules"), -1), "NVML was asked once");
	cr_expect(eq(i64, claimed("end", "unclaimed"), 2000 - 1018));
	scene_end();
}

Test(memory, of_contexts_is_what_was_measured_where_it_was)
{
	const double used[] = {2000, 5000};

	scene_begin(1000);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100, 100, used, 2);
	trace.contexts.rows[0].memory_bytes = 1234;
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10, 0);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "contexts, modules"), 1234));
	cr_expect(eq(i64, claimed("end", "unclaimed"), 5000 - 2234));
	scene_end();
}

static void load_module(gt_time begin_ns, gt_time loaded_ns)
{
	*gt_array_push(&trace.modules) = (struct gt_module){
		.process = process,
		.context = 0,
		.loaded_ns = TRACE_START_NS + loaded_ns,
		.load_ns = (double)(loaded_ns - begin_ns),
	};
}

Test(memory, of_modules_is_what_came_to_be_in_use_while_they_were_loaded)
{
	const double used[] = {2000, 2000, 7000, 9000, 9100};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 5);
	load_module(220 * MS, 250 * MS);
	load_module(260 * MS, 299 * MS);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 240 * MS, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 2000, 350 * MS, 0);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "contexts, modules"), 2000));
	cr_expect(eq(i64, claimed("end", "modules, later"), 4000));
	cr_expect(eq(i64, claimed("end", "unclaimed"), 100), "no module was loaded at the last");
	scene_end();
}

/* NVML's first sample takes long: what the process had is read after what is in use. */
Test(memory, of_modules_is_not_what_contexts_had_taken_by_then)
{
	const double used[] = {2000, 7500};
	const double own[] = {6000, NAN};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 2);
	trace_counter(&trace, device, "process_memory_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              own, 2);
	trace.contexts.rows[0].memory_bytes = 6000;
	load_module(100 * MS, 110 * MS);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 500, 120 * MS, 0);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "contexts, modules"), 6000));
	cr_expect(eq(i64, claimed("end", "modules, later"), 1000));
	scene_end();
}

/* While a launch is run again CUPTI has copies of what it writes: that is of no module. */
Test(memory, that_cupti_keeps_for_counters_is_of_no_module)
{
	const double used[] = {2000, 9000, 3000};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 3);
	load_module(120 * MS, 130 * MS);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 500, 110 * MS, 0);
	*gt_array_push(&trace.profiled_launches) = (struct gt_profiled_launch){
		.start_ns = 150 * MS,
		.end_ns = 250 * MS,
		.kernel = GT_NONE,
		.graph_launch = GT_NONE,
		.api_call = GT_NONE,
	};
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("peak", "CUPTI, for counters"), 6500));
	cr_expect(eq(i64, claimed("peak", "unclaimed"), 0));
	cr_expect(eq(i64, claimed("end", "modules, later"), 500));
	cr_expect(eq(i64, claimed("end", "unclaimed"), 0));
	scene_end();
}

/* A ring of device events takes memory that no call of the program's asked for. */
Test(memory, that_gputrace_took_has_a_line_of_its_own)
{
	const double used[] = {2000, 9000, 3000};

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 100 * MS, 100 * MS,
	              used, 3);
	load_module(120 * MS, 130 * MS);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 500, 110 * MS, 0);
	*gt_array_push(&trace.device_rings) = (struct gt_device_ring){
		.process = process,
		.context = 0,
		.bytes = 6000,
		.made_ns = TRACE_START_NS + 150 * MS,
		.gone_ns = TRACE_START_NS + 250 * MS,
	};
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("peak", "gputrace's rings"), 6000));
	cr_expect(eq(i64, claimed("peak", "modules, later"), 500), "not what the ring takes");
	cr_expect(eq(i64, claimed("peak", "unclaimed"), 0));
	cr_expect(eq(i64, claimed("end", "gputrace's rings"), -2), "its context has ended");
	cr_expect(eq(i64, claimed("end", "modules, later"), 500));
	cr_expect(eq(i64, claimed("end", "unclaimed"), 0));
	scene_end();
	scene_begin(1000 * MS);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 500, 110 * MS, 0);
	*gt_array_push(&trace.device_rings) =
		(struct gt_device_ring){.process = process, .context = 0, .bytes = 6000};
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "gputrace's rings"), -2), "nobody knows since when");
	scene_end();
}

/* Its statistics are older than the calls that gave it back. */
Test(memory, of_a_pool_that_was_given_back_is_nobodys)
{
	const double used[] = {5000, 100};
	gt_id pool;

	scene_begin(1000 * MS);
	trace_counter(&trace, device, "memory_used_bytes", GT_COUNTER_GAUGE, 500 * MS, 100 * MS,
	              used, 2);
	pool = trace_pool(&trace, process, device, "BFC");
	tell_one(pool, "bytes_in_use", 300);
	tell_one(pool, "bytes_reserved", 1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10 * MS, 550 * MS);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("peak", "framework, in use"), 300));
	cr_expect(eq(i64, claimed("peak", "framework, cached"), 700));
	cr_expect(eq(i64, claimed("end", "framework, in use"), -2));
	scene_end();
}

Test(memory, without_nvml_nobody_says_what_is_unclaimed)
{
	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 8, 70, 0);
	run_report(&result, "memory", &trace);
	cr_expect(eq(i64, claimed("end", "program"), 8));
	cr_expect(eq(i64, claimed("end", "device total"), -1));
	cr_expect(eq(i64, claimed("end", "unclaimed"), -1));
	cr_expect(has_remark(&result, "run --telemetry"));
	scene_end();
}

Test(memory, of_compiled_programs_is_what_their_compiler_says)
{
	scene_begin(1000);
	*gt_array_push(&trace.executables) = (struct gt_executable){
		.start_ns = TRACE_START_NS + 30,
		.device = GT_NONE,
		.name = gt_strings_add(trace.strings, "jit_step"),
		.argument_bytes = 100,
		.output_bytes = 50,
		.temporary_bytes = 7,
		.alias_bytes = 40,
		.code_bytes = UINT64_MAX,
	};
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "executables"), 1));
	expect_words(&result, "executables", 0, "executable", "jit_step");
	expect_count(&result, "executables", 0, "total_bytes", 117);
	expect_count(&result, "executables", 0, "temporary_bytes", 7);
	expect_unknown(&result, "executables", 0, "code_bytes");
	scene_end();
}

static void place(gt_count kind, gt_count advice, uint64_t location, gt_id on, gt_time start_ns)
{
	const gt_id call =
		trace_call(&trace, thread, "cudaMemPrefetchAsync", start_ns, start_ns + 5);
	struct gt_memory_call *row = trace_memory_call(&trace, call, kind, 4096, 0);

	row->options = advice;
	row->value = location;
	row->place = on;
}

Test(memory, that_is_managed_is_placed_by_calls)
{
	scene_begin(1000);
	place(GT_MEMORY_CALL_PREFETCH, 0, 1, device, 10);
	place(GT_MEMORY_CALL_PREFETCH, 0, 1, device, 20);
	place(GT_MEMORY_CALL_ADVISE, 3, 2, GT_NONE, 30);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "placed"), 2));
	expect_words(&result, "placed", 0, "what", "prefetch");
	expect_words(&result, "placed", 0, "to", "0: NVIDIA H200");
	expect_count(&result, "placed", 0, "calls", 2);
	expect_count(&result, "placed", 0, "bytes", 8192);
	expect_count(&result, "placed", 0, "total_ns", 10);
	expect_words(&result, "placed", 1, "what", "advise: preferred location");
	expect_words(&result, "placed", 1, "to", "host");
	scene_end();
}

static void happen(gt_count kind, uint64_t address, gt_wide value, gt_time start_ns)
{
	*gt_array_push(&trace.unified_events) = (struct gt_unified_event){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + start_ns + 10,
		.address = address,
		.value = value,
		.process = process,
		.source = kind == GT_UNIFIED_TO_HOST || kind == GT_UNIFIED_GPU_FAULT ? device
	                                                                             : GT_NONE,
		.target = kind == GT_UNIFIED_TO_GPU ? device : GT_NONE,
		.kind = kind,
		.detail = 1,
	};
}

Test(memory, that_is_managed_moves_back_and_forth)
{
	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE_MANAGED, GT_NONE, 0x1000, 1, 200)->address = 0x10000;
	allocate(GT_MEMORY_CALL_ALLOCATE_MANAGED, GT_NONE, 0x2000, 300, 0)->address = 0x10000;
	happen(GT_UNIFIED_TO_GPU, 0x10000, 0x1000, 20);
	happen(GT_UNIFIED_TO_GPU, 0x11000, 0x1000, 400);
	happen(GT_UNIFIED_TO_HOST, 0x10000, 0x800, 500);
	happen(GT_UNIFIED_GPU_FAULT, 0x11000, 7, 600);
	happen(GT_UNIFIED_THRASHING, 0x90000, 0x1000, 700);
	run_report(&result, "memory", &trace);
	cr_assert(eq(sz, row_count(&result, "managed"), 4));
	expect_words(&result, "managed", 0, "what", "migration to the GPU");
	expect_words(&result, "managed", 0, "cause", "asked for");
	expect_words(&result, "managed", 0, "from", "host");
	expect_words(&result, "managed", 0, "to", "GPU 0");
	expect_count(&result, "managed", 0, "events", 2);
	expect_count(&result, "managed", 0, "bytes", 0x2000);
	expect_unknown(&result, "managed", 0, "faults");
	expect_words(&result, "managed", 3, "what", "fault of the GPU");
	expect_words(&result, "managed", 3, "cause", "read");
	expect_count(&result, "managed", 3, "faults", 7);
	cr_assert(eq(sz, row_count(&result, "moved"), 2));
	expect_count(&result, "moved", 0, "size_bytes", 0x2000);
	expect_count(&result, "moved", 0, "to_gpu_bytes", 0x1000);
	expect_count(&result, "moved", 0, "to_host_bytes", 0x800);
	expect_real(&result, "moved", 0, "times", 0.75);
	expect_count(&result, "moved", 0, "gpu_faults", 7);
	expect_count(&result, "moved", 1, "to_gpu_bytes", 0x1000);
	scene_end();
}

Test(memory, of_a_window_is_what_was_there_in_it)
{
	struct gt_view view;

	scene_begin(1000);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 1000, 10, 100);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 30, 20, 0);
	allocate(GT_MEMORY_CALL_ALLOCATE, device, 2, 600, 700);
	view = gt_view_of(&trace);
	view.start_ns = TRACE_START_NS + 500;
	view.end_ns = TRACE_START_NS + 650;
	gt_result_init(&result);
	run_report_on(&result, "memory", &view);
	expect_count(&result, "devices", 0, "now_bytes", 32);
	expect_count(&result, "devices", 0, "allocations", 1);
	expect_count(&result, "devices", 0, "kept", 1);
	scene_end();
}

/* A peak that a pool tells is that of the whole recording: of a window it is the most that was told
 * in it. */
Test(memory, of_a_pool_has_a_peak_of_its_own_in_a_window_open_at_one_side)
{
	const double in_use[] = {400, 900, 840};
	struct gt_view view;
	gt_id pool;

	scene_begin(1000);
	pool = trace_pool(&trace, process, device, "cache");
	tell(pool, "bytes_in_use", GT_COUNTER_GAUGE, in_use, 3);
	tell_one(pool, "peak_bytes_in_use", 950);
	view = gt_view_of(&trace);
	view.end_ns = trace.end_ns - 1;
	run_report_on(&result, "memory", &view);
	expect_count(&result, "pools", 0, "peak_in_use_bytes", 900);
	gt_result_release(&result);
	view = gt_view_of(&trace);
	view.start_ns = trace.start_ns + 1;
	run_report_on(&result, "memory", &view);
	expect_count(&result, "pools", 0, "peak_in_use_bytes", 900);
	scene_end();
}

Test(memory, that_was_not_recorded_is_said_to_be_so)
{
	scene_begin(1000);
	run_report(&result, "memory", &trace);
	cr_expect(eq(sz, row_count(&result, "devices"), 0));
	cr_expect(has_remark(&result, "GPUTRACE_MEMORY=0"));
	scene_end();
}

/* A million blocks in ranges, on carriers: what is quadratic would not come to an end. */
Test(memory, of_a_million_blocks_takes_no_time_to_speak_of)
{
	enum { BLOCKS = 1000000, RANGES = 1000 };
	gt_id pool;
	gt_id range = GT_NONE;

	scene_begin(20 * (gt_time)BLOCKS);
	pool = trace_pool(&trace, process, device, "cache");
	allocate(GT_MEMORY_CALL_ALLOCATE, device, (gt_size)512 * BLOCKS, 1, 0)->address = 512;
	for (gt_time i = 0; i < BLOCKS; i++) {
		const gt_time start_ns = 10 * (i + 1);
		struct gt_pool_block *block;

		if (i % (BLOCKS / RANGES) == 0)
			range = trace_range(&trace, thread, GT_NONE, "step", start_ns,
			                    start_ns + 10 * (BLOCKS / RANGES));
		block = trace_block(&trace, pool, 512, start_ns, start_ns + 10 * (i % 977));
		block->address = 512 * (uint64_t)(i + 1);
		block->range = range;
	}
	run_report(&result, "memory", &trace);
	expect_count(&result, "pools", 0, "allocations", BLOCKS);
	expect_count(&result, "ranges", 0, "ranges", RANGES);
	expect_count(&result, "pools", 0, "in_use_bytes", 0);
	scene_end();
}
