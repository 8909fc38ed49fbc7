/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/graph_samples.h"
#include "support/check.h"

static struct gt_graph_samples samples;
static struct gt_graph_folds folds;

static void forget(void)
{
	samples = (struct gt_graph_samples){.wanted = 10};
	folds = (struct gt_graph_folds){0};
}

TestSuite(graph_samples, .init = forget);

static bool take_kernel(uint32_t correlation, uint64_t start_ns, uint64_t end_ns)
{
	const struct gt_record_kernel kernel = {
		.start_ns = start_ns,
		.end_ns = end_ns,
		.graph_node = (uint64_t)7 << 32,
		.graph = 7,
		.correlation = correlation,
		.device = 1,
		.context = 3,
		.stream = 4,
	};

	return gt_graph_folds_take(&folds, &samples, GT_RECORD_kernel, &kernel);
}

Test(graph_samples, put_the_activities_of_a_launch_together)
{
	const struct gt_record_copy copy = {.start_ns = 90,
	                                    .end_ns = 95,
	                                    .graph_node = 1,
	                                    .graph = 7,
	                                    .correlation = 5,
	                                    .device = 1};

	cr_expect(take_kernel(5, 100, 110));
	cr_expect(take_kernel(6, 200, 210));
	cr_expect(take_kernel(5, 105, 120));
	cr_expect(gt_graph_folds_take(&folds, &samples, GT_RECORD_copy, &copy));
	cr_assert(eq(u32, folds.count, 2));
	cr_expect(eq(u64, folds.rows[0].start_ns, 90));
	cr_expect(eq(u64, folds.rows[0].end_ns, 120));
	cr_expect(eq(u64, folds.rows[0].work_ns, 10 + 15 + 5));
	cr_expect(eq(u32, folds.rows[0].activities, 3));
	cr_expect(eq(u32, folds.rows[0].graph, 7));
	cr_expect(eq(u32, folds.rows[0].device, 2)); /* 0 stands for none */
	cr_expect(eq(u32, folds.rows[1].activities, 1));
}

Test(graph_samples, leave_marked_launches_node_by_node)
{
	gt_graph_samples_mark(&samples, 5);
	cr_expect(not(take_kernel(5, 100, 110)));
	cr_expect(take_kernel(5 + GT_SAMPLED_LAUNCHES, 100, 110));
	gt_graph_samples_mark(&samples, 5 + GT_SAMPLED_LAUNCHES); /* takes the place of the other */
	cr_expect(take_kernel(5, 100, 110));
}

Test(graph_samples, leave_what_names_no_launch_and_what_has_not_ended)
{
	const struct gt_record_kernel alone = {.start_ns = 1, .end_ns = 2, .correlation = 5};
	const struct gt_record_sync other = {.correlation = 5};

	cr_expect(not(take_kernel(0, 100, 110)));
	cr_expect(not(take_kernel(5, 0, 0)));
	cr_expect(not(gt_graph_folds_take(&folds, &samples, GT_RECORD_kernel, &alone)));
	cr_expect(not(gt_graph_folds_take(&folds, &samples, GT_RECORD_sync, &other)));
	samples.wanted = 0;
	cr_expect(not(take_kernel(5, 100, 110)));
	cr_expect(eq(u32, folds.count, 0));
}

Test(graph_samples, say_when_they_are_full)
{
	for (uint32_t i = 1; i <= GT_GRAPH_FOLDS; i++) {
		cr_expect(not(gt_graph_folds_full(&folds)));
		cr_expect(take_kernel(i, 100, 110));
	}
	cr_expect(gt_graph_folds_full(&folds));
	for (uint32_t i = GT_GRAPH_FOLDS; i >= 1; i--)
		cr_expect(take_kernel(i, 100, 110));
	cr_expect(eq(u32, folds.count, GT_GRAPH_FOLDS));
}
