/* SPDX-License-Identifier: Apache-2.0 */
#include "model/quiet.h"

#include "model/filter.h"
#include "model/view.h"
#include "support/check.h"
#include "support/trace.h"

static uint64_t between(const struct gt_quiet *quiet, gt_time start_ns, gt_time end_ns)
{
	return gt_quiet_between(quiet, TRACE_START_NS + start_ns, TRACE_START_NS + end_ns);
}

Test(quiet, is_when_no_gpu_ran_anything)
{
	struct gt_trace trace;
	struct gt_quiet quiet;
	gt_id process;
	gt_id streams[2];
	gt_id shape;

	trace_init(&trace, 1000);
	process = trace_process(&trace, "app", 100);
	streams[0] = trace_stream(&trace, process, trace_device(&trace));
	streams[1] = trace_stream(&trace, process, trace_device(&trace));
	shape = trace_shape(&trace, "gemm", 1, 32);
	trace_kernel(&trace, streams[0], shape, 100, 300);
	trace_kernel(&trace, streams[1], shape, 200, 400);
	trace_kernel(&trace, streams[0], shape, 500, 600);
	gt_quiet_init(&quiet, &trace);
	cr_expect(eq(u64, between(&quiet, 0, 1000), 100 + 100 + 400));
	cr_expect(eq(u64, between(&quiet, 150, 390), 0));
	cr_expect(eq(u64, between(&quiet, 50, 450), 50 + 50));
	cr_expect(eq(u64, between(&quiet, 420, 460), 40));
	cr_expect(eq(u64, between(&quiet, 700, 700), 0));
	cr_expect(eq(u64, between(&quiet, 700, 600), 0));
	gt_quiet_release(&quiet);
	gt_trace_release(&trace);
}

/* Two processes, each on a GPU of its own: one is busy from 100 to 300, the other from 200 to 400. */
static uint64_t quiet_of_part(enum gt_filter_part part, const char *value)
{
	struct gt_trace trace;
	struct gt_filter filter;
	struct gt_view view;
	struct gt_quiet quiet;
	uint64_t quiet_ns;

	trace_init(&trace, 1000);
	for (gt_count i = 0; i < 2; i++) {
		const gt_id process = trace_process(&trace, i ? "second" : "first", 100 + i);

		trace_kernel(&trace, trace_stream(&trace, process, trace_device(&trace)),
		             trace_shape(&trace, "gemm", 1, 32), 100 + 100 * i, 300 + 100 * i);
	}
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, part, value, NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	gt_quiet_init(&quiet, &trace);
	quiet_ns = between(&quiet, 0, 500);
	gt_quiet_release(&quiet);
	gt_filter_release(&filter);
	gt_trace_release(&trace);
	return quiet_ns;
}

Test(quiet, goes_by_all_gpus_unless_some_are_chosen)
{
	cr_expect(eq(u64, quiet_of_part(GT_FILTER_PROCESS, "first"), 200));
	cr_expect(eq(u64, quiet_of_part(GT_FILTER_DEVICE, "0"), 300));
	cr_expect(eq(u64, quiet_of_part(GT_FILTER_FROM, "150ns"), 200));
}

Test(quiet, is_all_the_time_where_nothing_ran)
{
	struct gt_trace trace;
	struct gt_quiet quiet;

	trace_init(&trace, 1000);
	gt_quiet_init(&quiet, &trace);
	cr_expect(eq(u64, between(&quiet, 10, 30), 20));
	gt_quiet_release(&quiet);
	gt_trace_release(&trace);
}
