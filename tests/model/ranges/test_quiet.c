/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/quiet.h"

#include "model/view/filter.h"
#include "model/view/view.h"
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

/* Work that is short lies inside of longer work of another stream. */
Test(quiet, is_not_when_longer_work_still_runs)
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
	trace_kernel(&trace, streams[0], shape, 100, 600);
	trace_kernel(&trace, streams[1], shape, 200, 300);
	trace_kernel(&trace, streams[1], shape, 700, 800);
	gt_quiet_init(&quiet, &trace);
	cr_expect(eq(u64, between(&quiet, 200, 600), 0));
	cr_expect(eq(u64, between(&quiet, 200, 800), 100));
	gt_quiet_release(&quiet);
	gt_trace_release(&trace);
}

/* Stretches in which gputrace held the program up, on their own, around work and after it. */
Test(quiet, is_not_what_is_not_measured)
{
	struct gt_trace trace;
	struct gt_quiet quiet;
	gt_id stream;
	static const gt_time held[][2] = {{50, 100}, {250, 400}, {800, 900}};

	trace_init(&trace, 1000);
	stream = trace_stream(&trace, trace_process(&trace, "app", 100), trace_device(&trace));
	trace_kernel(&trace, stream, trace_shape(&trace, "gemm", 1, 32), 300, 350);
	for (size_t i = 0; i < 3; i++)
		*gt_array_push(&trace.profiled_launches) = (struct gt_profiled_launch){
			.start_ns = TRACE_START_NS + held[i][0],
			.end_ns = TRACE_START_NS + held[i][1],
			.kernel = GT_NONE,
		};
	gt_quiet_init(&quiet, &trace);
	cr_expect(eq(u64, between(&quiet, 0, 1000), 50 + 150 + 400 + 100));
	cr_expect(eq(u64, between(&quiet, 60, 90), 0));
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
