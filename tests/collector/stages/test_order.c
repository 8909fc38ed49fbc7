/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "collector/collect.h"
#include "collector/stage.h"

extern const struct gt_stage gt_stage_order;

static struct gt_trace trace;

static void make(void)
{
	gt_trace_init(&trace);
}

static void drop(void)
{
	gt_trace_release(&trace);
}

TestSuite(order, .init = make, .fini = drop);

static void sort(void)
{
	struct gt_collection collection = {.trace = &trace};

	cr_assert(eq(int, gt_stage_order.run(&collection, NULL), 0));
}

/* The correlation id tells which row it was. */
static void add_kernel(gt_time start, gt_time end)
{
	const gt_count number = (gt_count)trace.kernels.count;

	*gt_array_push(&trace.kernels) = (struct gt_kernel){
		.start_ns = start,
		.end_ns = end,
		.correlation = number,
		.graph_node = (gt_wide)start,
	};
}

static int before(const struct gt_kernel *a, const struct gt_kernel *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	return a->correlation < b->correlation;
}

/* Every row is there once, whole, and in its place. */
static void expect_sorted(size_t count)
{
	uint8_t *seen = calloc(count + 1, 1);

	sort();
	cr_assert(eq(sz, trace.kernels.count, count));
	for (size_t i = 0; i < count; i++) {
		const struct gt_kernel *kernel = &trace.kernels.rows[i];

		cr_assert(lt(u32, kernel->correlation, count));
		cr_assert(eq(u64, kernel->graph_node, (gt_wide)kernel->start_ns));
		cr_assert(eq(int, seen[kernel->correlation]++, 0));
		if (i > 0)
			cr_assert(before(kernel - 1, kernel), "row %zu", i);
	}
	free(seen);
}

Test(order, leaves_sorted_rows_as_they_are)
{
	for (gt_time i = 0; i < 1000; i++)
		add_kernel(1000 + i, 2000 + i);
	expect_sorted(1000);
	for (gt_count i = 0; i < 1000; i++)
		cr_expect(eq(u32, trace.kernels.rows[i].correlation, i));
}

Test(order, takes_any_order)
{
	static const size_t counts[] = {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 4097};
	uint64_t state = 1;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (uint64_t limit = 2; limit <= 2000000; limit *= 1000) {
			trace.kernels.count = 0;
			for (size_t row = 0; row < counts[i]; row++)
				add_kernel((gt_time)(next_random(&state) % limit),
				           (gt_time)(next_random(&state) % limit));
			expect_sorted(counts[i]);
		}
	}
}

Test(order, turns_a_table_round)
{
	for (gt_time i = 0; i < 5000; i++)
		add_kernel(10000 - i, 20000);
	expect_sorted(5000);
}

/* CUPTI's buffers come one after the other, each of other streams, late and overlapping. */
Test(order, mixes_buffers_that_overlap)
{
	uint64_t state = 7;

	for (int buffer = 0; buffer < 40; buffer++) {
		gt_time at = (buffer % 7) * 3000 + (buffer / 7) * 20000 + 1;

		for (int i = 0; i < 300; i++, at += (gt_time)(next_random(&state) % 120))
			add_kernel(at, at + 50);
	}
	expect_sorted(40 * 300);
}

Test(order, puts_what_has_no_time_first)
{
	add_kernel(100, 200);
	add_kernel(0, 0);
	add_kernel(50, 60);
	expect_sorted(3);
	cr_expect(eq(u32, trace.kernels.rows[0].correlation, 1));
}

Test(order, puts_what_contains_before_what_is_contained)
{
	add_kernel(100, 120);
	add_kernel(100, 200);
	add_kernel(100, 120); /* the same as the first: they stay as they came */
	expect_sorted(3);
	cr_expect(eq(u32, trace.kernels.rows[0].correlation, 1));
	cr_expect(eq(u32, trace.kernels.rows[1].correlation, 0));
}

#define EXPECT_ORDER(T, table)                                                                     \
	do {                                                                                       \
		for (gt_time i = 0; i < 100; i++)                                                  \
			*gt_array_push(&trace.table) =                                             \
				(T){.start_ns = i * 37 % 100 + 1, .end_ns = 1000 - i};             \
		sort();                                                                            \
		for (gt_time i = 0; i < 100; i++)                                                  \
			cr_expect(eq(i64, trace.table.rows[i].start_ns, i + 1));                   \
	} while (0)

Test(order, sorts_every_table_that_has_times)
{
	EXPECT_ORDER(struct gt_kernel, kernels);
	EXPECT_ORDER(struct gt_copy, copies);
	EXPECT_ORDER(struct gt_fill, fills);
	EXPECT_ORDER(struct gt_sync, syncs);
	EXPECT_ORDER(struct gt_overhead, overheads);
	EXPECT_ORDER(struct gt_api_call, api_calls);
}
