/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/recorded.h"
#include "format/control/control.h"
#include "support/check.h"
#include "support/recording.h"

/* Covers STAGE(pauses): times in which nothing was recorded, and what they interrupted. */

TestSuite(pauses, .init = make, .fini = drop);

static void pause_at(uint64_t start, uint64_t end, uint32_t resumed_by)
{
	recording_add(&recording, pause, .start_ns = start, .end_ns = end,
	              .paused_by = GT_CAUSE_COMMAND, .resumed_by = resumed_by);
}

static void open_call(uint64_t start, uint32_t correlation)
{
	recording_add(&recording, api_call, .start_ns = start, .correlation = correlation,
	              .thread = 100, .function = STRING_LAUNCH, .flags = GT_RECORD_UNFINISHED);
}

Test(pauses, are_one_each_that_was_told_twice)
{
	pause_at(1000, 0, GT_CAUSE_UNKNOWN);
	pause_at(1000, 3000, GT_CAUSE_RANGE);
	pause_at(5000, 0, GT_CAUSE_UNKNOWN);
	pause_at(5000, 6000, GT_CAUSE_COMMAND);
	finish();
	cr_assert(eq(sz, trace.pauses.count, 2));
	cr_expect(eq(i64, trace.pauses.rows[0].end_ns - trace.pauses.rows[0].start_ns, 2000));
	cr_expect(eq(u32, trace.pauses.rows[0].resumed_by, GT_CAUSE_RANGE));
	cr_expect(eq(u32, trace.pauses.rows[0].flags & GT_UNFINISHED, 0));
	cr_expect(eq(i64, trace.pauses.rows[1].end_ns - trace.pauses.rows[1].start_ns, 1000));
}

Test(pauses, of_a_process_that_was_killed_last_to_its_end)
{
	pause_at(1000, 0, GT_CAUSE_UNKNOWN);
	recording_add_call(&recording, 9000, 5);
	finish();
	cr_assert(eq(sz, trace.pauses.count, 1));
	cr_expect(eq(i64, trace.pauses.rows[0].end_ns, trace.processes.rows[0].end_ns));
	cr_expect(ne(u32, trace.pauses.rows[0].flags & GT_UNFINISHED, 0));
}

Test(pauses, end_the_calls_that_they_interrupt)
{
	open_call(900, 5);
	pause_at(1000, 3000, GT_CAUSE_COMMAND);
	open_call(3500, 6);
	finish();
	cr_assert(eq(sz, trace.api_calls.count, 2));
	cr_expect(eq(i64, trace.api_calls.rows[0].end_ns, trace.pauses.rows[0].start_ns));
	cr_expect(ne(u32, trace.api_calls.rows[0].flags & GT_UNFINISHED, 0), "nobody saw its end");
	cr_expect(eq(i64, trace.api_calls.rows[1].end_ns, 0), "no pause came after it");
}
