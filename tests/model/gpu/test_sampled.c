/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/sampled.h"

#include <math.h>

#include "model/names.h"
#include "support/check.h"
#include "support/trace.h"

static struct gt_trace trace;
static gt_id streams[2];
static gt_id shape;

/* Two streams of one GPU, and another GPU that nobody uses. */
static void make(void)
{
	gt_id process;

	trace_init(&trace, 10000);
	process = trace_process(&trace, "app", 100);
	trace_device(&trace);
	trace_device(&trace);
	streams[0] = trace_stream(&trace, process, 0);
	streams[1] = trace_stream(&trace, process, 0);
	shape = trace_shape(&trace, "work", 132, 256);
}

static void drop(void)
{
	gt_trace_release(&trace);
}

TestSuite(sampled, .init = make, .fini = drop);

/* Samples of 100 ns from 0 on, and where each is expected to be. */
static void expect_places(gt_id device, const double *values, const enum gt_sampled_place *places,
                          const gt_id *kernels, size_t count)
{
	const struct trace_column column = {"dram_read_bytes", "bytes", GT_COUNTER_SUM, values};
	const gt_id row = trace_sampled(&trace, device, 0, 100, &column, 1, count);
	const struct gt_sampled *sampled;
	struct gt_sampled_list list;

	gt_sampled_list_init(&list, &trace);
	sampled = gt_sampled_of(&list, &trace.counters.rows[row + 1]);
	cr_assert(ne(ptr, (void *)sampled, NULL));
	for (size_t i = 0; i < count; i++) {
		cr_expect(eq(int, sampled->places[i], (int)places[i]), "sample %zu", i);
		cr_expect(eq(u32, sampled->kernels[i], kernels[i]), "sample %zu", i);
	}
	gt_sampled_list_release(&list);
}

Test(sampled, is_a_kernel_s_when_it_lies_in_it_alone)
{
	static const double values[] = {1, 1, 1, 1, 1, 1, 1, NAN, 1};
	static const enum gt_sampled_place places[] = {
		GT_SAMPLED_KERNEL,                    /* touches its start */
		GT_SAMPLED_KERNEL,                    /* ends with it */
		GT_SAMPLED_IDLE,   GT_SAMPLED_SHARED, /* begins in the middle */
		GT_SAMPLED_KERNEL, GT_SAMPLED_SHARED, /* a copy ran beside it */
		GT_SAMPLED_SHARED,                    /* another kernel did */
		GT_SAMPLED_GAP,    GT_SAMPLED_SHARED, /* both end in the middle */
	};
	static const gt_id kernels[] = {0,       0,       GT_NONE, GT_NONE, 1,
	                                GT_NONE, GT_NONE, GT_NONE, GT_NONE};

	trace_kernel(&trace, streams[0], shape, 0, 200);
	trace_kernel(&trace, streams[0], shape, 350, 850);
	trace_kernel(&trace, streams[1], shape, 650, 660);
	trace_copy(&trace, streams[1], GT_COPY_HOST_TO_DEVICE, 64, 550, 560);
	expect_places(0, values, places, kernels, 9);
}

Test(sampled, is_nobody_s_where_work_follows_work)
{
	static const double values[] = {1, 1, 1};
	static const enum gt_sampled_place places[] = {GT_SAMPLED_KERNEL, GT_SAMPLED_SHARED,
	                                               GT_SAMPLED_KERNEL};
	static const gt_id kernels[] = {0, GT_NONE, 1};

	trace_kernel(&trace, streams[0], shape, 0, 150);
	trace_kernel(&trace, streams[0], shape, 150, 300);
	expect_places(0, values, places, kernels, 3);
}

Test(sampled, knows_a_long_kernel_beside_short_ones_that_ended)
{
	static const double values[] = {1, 1};
	static const enum gt_sampled_place places[] = {GT_SAMPLED_SHARED, GT_SAMPLED_KERNEL};
	static const gt_id kernels[] = {GT_NONE, 0};

	trace_kernel(&trace, streams[0], shape, 0, 1000);
	trace_kernel(&trace, streams[1], shape, 10, 20);
	trace_kernel(&trace, streams[1], shape, 30, 100);
	expect_places(0, values, places, kernels, 2);
}

Test(sampled, is_of_one_gpu)
{
	static const double values[] = {1};
	static const enum gt_sampled_place places[] = {GT_SAMPLED_IDLE};
	static const gt_id kernels[] = {GT_NONE};

	trace_kernel(&trace, streams[0], shape, 0, 1000);
	expect_places(1, values, places, kernels, 1);
}

Test(sampled, has_counters_of_hardware_alone)
{
	static const double values[] = {1};
	const struct trace_column column = {"dram_read_bytes", "bytes", GT_COUNTER_SUM, values};
	const gt_id row = trace_sampled(&trace, 0, 0, 100, &column, 1, 1);
	struct gt_sampled_list list;

	trace_counter(&trace, 0, "power_mw", GT_COUNTER_GAUGE, 0, 100, values, 1);
	trace_counter(&trace, 0, "without_length", GT_COUNTER_SUM, 0, 100, values, 1);
	gt_sampled_list_init(&list, &trace);
	cr_assert(eq(sz, list.count, 1));
	cr_expect(eq(ptr, (void *)gt_sampled_of(&list, &trace.counters.rows[row]), NULL));
	cr_expect(eq(ptr, (void *)gt_sampled_of(&list, &trace.counters.rows[row + 1]),
	             (void *)&list.rows[0]));
	cr_expect(eq(ptr, (void *)gt_sampled_of(&list, &trace.counters.rows[row + 2]), NULL));
	cr_expect(eq(ptr, (void *)gt_sampled_of(&list, &trace.counters.rows[row + 3]), NULL));
	gt_sampled_list_release(&list);
	expect_text(gt_sampled_group("dram_read_bytes"), "DRAM");
	expect_text(gt_sampled_group("lts__t_sectors.sum"), "Metrics");
}

/* Lengths that a damaged recording may have. */
Test(sampled, believes_no_length_that_cannot_be)
{
	static const double values[] = {1, 1, 1, 1};
	static const double lengths[] = {NAN, -5, 0, 1e300};
	const struct trace_column column = {"dram_read_bytes", "bytes", GT_COUNTER_SUM, values};
	const gt_id row = trace_sampled(&trace, 0, 0, 100, &column, 1, 4);
	struct gt_sampled_list list;

	for (size_t i = 0; i < 4; i++)
		trace.series.rows[trace.counters.rows[row].series].columns[0][i] = lengths[i];
	gt_sampled_list_init(&list, &trace);
	for (size_t i = 0; i < 4; i++) {
		cr_expect(eq(dbl, gt_sampled_length(&list.rows[0], i), 0));
		cr_expect(eq(int, list.rows[0].places[i], GT_SAMPLED_SHARED));
	}
	gt_sampled_list_release(&list);
	trace.counters.rows[row].place = 77;
	gt_sampled_list_init(&list, &trace);
	cr_expect(eq(sz, list.count, 0));
	gt_sampled_list_release(&list);
}

/* Groups 1 and 2 lie in 0, 3 in none. Kernels of 1, 2, 2 at the same time, 3, and a copy beside 1. */
static void make_groups(void)
{
	static const gt_time starts_ns[] = {100, 250, 400, 430, 600, 700};
	static const gt_time ends_ns[] = {200, 300, 460, 480, 650, 800};

	for (size_t i = 0; i < 6; i++)
		trace_kernel(&trace, streams[0], shape, starts_ns[i], ends_ns[i]);
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 8, 750, 760);
}

Test(sampled, gives_a_sample_to_the_group_that_all_lies_in)
{
	static const gt_id of_kernel[] = {1, 2, 2, 2, 3, 1};
	static const gt_id outer[] = {GT_NONE, 0, 0, GT_NONE};
	const struct gt_sampled_groups groups = {of_kernel, outer};
	static const double values[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, NAN};
	const struct trace_column column = {"dram_read_bytes", "bytes", GT_COUNTER_SUM, values};
	struct gt_sampled_list list;
	struct gt_sampled_owner *owners;

	make_groups();
	trace_sampled(&trace, 0, 0, 100, &column, 1, 10);
	gt_sampled_list_init(&list, &trace);
	owners = gt_sampled_owners(&list.rows[0], &trace, &groups);
	cr_expect(eq(u32, owners[0].group, GT_NONE));
	cr_expect(eq(u32, owners[1].group, 1));
	cr_expect(eq(dbl, owners[1].busy_ns, 100));
	cr_expect(eq(u32, owners[2].group, 2));
	cr_expect(eq(dbl, owners[2].busy_ns, 50));
	cr_expect(eq(u32, owners[3].group, GT_NONE));
	/* two at once, of one group: 400 to 480, and 60 + 50 */
	cr_expect(eq(u32, owners[4].group, 2));
	cr_expect(eq(dbl, owners[4].busy_ns, 80));
	cr_expect(eq(dbl, owners[4].work_ns, 110));
	cr_expect(eq(u32, owners[6].group, 3));
	cr_expect(eq(u32, owners[7].group, GT_NONE), "a copy ran too");
	cr_expect(eq(dbl, owners[7].busy_ns, 0));
	cr_expect(eq(u32, owners[9].group, GT_NONE), "it was lost");
	gt_array_free(owners);
	gt_sampled_list_release(&list);
}

Test(sampled, finds_what_two_groups_lie_in)
{
	static const gt_id outer[] = {GT_NONE, 0, 1, 0, GT_NONE};
	const struct gt_sampled_groups nested = {NULL, outer};
	const struct gt_sampled_groups flat = {NULL, NULL};

	cr_expect(eq(u32, gt_sampled_common(&nested, 2, 3), 0));
	cr_expect(eq(u32, gt_sampled_common(&nested, 2, 1), 1));
	cr_expect(eq(u32, gt_sampled_common(&nested, 2, 4), GT_NONE));
	cr_expect(eq(u32, gt_sampled_common(&nested, GT_NONE, 4), GT_NONE));
	cr_expect(eq(u32, gt_sampled_common(&flat, 2, 2), 2));
	cr_expect(eq(u32, gt_sampled_common(&flat, 2, 3), GT_NONE));
}
