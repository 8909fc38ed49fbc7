/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/profiled.h"

#include "analysis/check_report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "format/control/control.h"
#include "support/scene.h"

enum { MS = 1000000 };

/* A remark about pauses, in the words that a reader gets. */

static struct gt_result result;

static void pause_of(gt_id of, gt_time start_ns, gt_time end_ns, gt_count cause)
{
	*gt_array_push(&trace.pauses) = (struct gt_pause){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.process = of,
		.paused_by = cause,
	};
}

static void remark(void)
{
	gt_result_init(&result);
	gt_remark_not_measured(&result, &trace, "busy");
}

static void end(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

Test(pauses, of_one_process_their_number_and_sum)
{
	scene_begin(10 * MS);
	pause_of(process, 1 * MS, 2 * MS, GT_CAUSE_COMMAND);
	remark();
	cr_expect(has_remark(&result, "was paused once, for 1.00 ms"));
	gt_result_release(&result);
	pause_of(process, 3 * MS, 5 * MS, GT_CAUSE_COMMAND);
	remark();
	cr_expect(has_remark(&result, "was paused 2 times, 3.00 ms in all"));
	end();
}

/* Eight ranks that were paused once were not paused eight times. */
Test(pauses, of_several_processes_the_most_of_one)
{
	scene_begin(10 * MS);
	for (gt_count i = 0; i < 7; i++)
		pause_of(trace_process(&trace, "app", 101 + i), 1 * MS, 2 * MS, GT_CAUSE_COMMAND);
	pause_of(process, 1 * MS, 2 * MS, GT_CAUSE_COMMAND);
	pause_of(process, 4 * MS, 6 * MS, GT_CAUSE_COMMAND);
	remark();
	cr_expect(has_remark(&result,
	                     "was paused in 8 processes, in each at most 2 times and for 3.00 ms"));
	end();
}

Test(pauses, what_was_dropped_is_no_pause)
{
	scene_begin(10 * MS);
	gt_trace_add_ledger(&trace, process, "kernels_gone", 12345);
	pause_of(process, 0, 5 * MS, GT_CAUSE_KEPT);
	remark();
	cr_expect(has_remark(&result, "--keep-last asks: 12,345 kernels before it were dropped"));
	cr_expect(not(has_remark(&result, "paused")));
	end();
}

Test(pauses, none_need_no_word)
{
	scene_begin(10 * MS);
	remark();
	cr_expect(not(has_remark(&result, "paused")));
	end();
}
