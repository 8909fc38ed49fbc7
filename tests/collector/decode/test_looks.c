/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/decode/looks.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "collector/collect.h"
#include "format/recording.h"

static struct recording recording;
static struct gt_look look_at;
static char name[HOST_NAME_MAX + 16];

static gt_time now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (gt_time)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A process of this machine, whose file has some launches, and ends there for now. */
static void make(void)
{
	char host[HOST_NAME_MAX + 1];

	gt_host_name(host, sizeof(host));
	snprintf(name, sizeof(name), "%s-1-1", host);
	recording_init(&recording);
	recording_begin(&recording, name);
	recording_add_basics(&recording, 1);
	look_at = (struct gt_look){.looks = gt_looks_new()};
}

static void drop(void)
{
	gt_looks_free(look_at.looks);
	recording_release(&recording);
}

TestSuite(looks, .init = make, .fini = drop);

static void add_launch(uint64_t start, uint32_t correlation)
{
	recording_add_call(&recording, start, correlation);
	recording_add_kernel(&recording, start, correlation);
}

/* The file as it is now, and a look at it that wants work since then. */
static struct gt_trace look(gt_time since_ns)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	recording_end(&recording, false);
	gt_trace_init(&trace);
	look_at.since_ns = since_ns;
	cr_assert(eq(int, gt_collect_look(recording.path, &look_at, &trace, &err), 0), "%s",
	          err.text);
	return trace;
}

static void expect_look(gt_time since_ns, size_t kernels)
{
	struct gt_trace trace = look(since_ns);

	cr_expect(eq(sz, trace.kernels.count, kernels));
	cr_expect(eq(sz, trace.api_calls.count, kernels));
	cr_expect(eq(i64, trace.known_from_ns, 0));
	gt_trace_release(&trace);
}

Test(looks, read_on_where_the_one_before_ended)
{
	add_launch(2000, 1);
	expect_look(0, 1);
	expect_look(0, 1);
	add_launch(3000, 2);
	expect_look(0, 2);
}

Test(looks, see_the_same_as_a_reading_of_all)
{
	struct gt_trace all;
	struct gt_trace seen;

	add_launch(2000, 1);
	seen = look(0);
	gt_trace_release(&seen);
	add_launch(3000, 2);
	seen = look(0);
	all = collect(&recording);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		if (i != GT_TABLE_ledgers && i != GT_TABLE_notes)
			cr_expect(eq(sz, gt_trace_table(&seen, i).row_count,
			             gt_trace_table(&all, i).row_count),
			          "%s", gt_trace_table(&all, i).name);
	cr_expect(eq(i64, seen.kernels.rows[1].end_ns, all.kernels.rows[1].end_ns));
	cr_expect(eq(u32, seen.kernels.rows[1].api_call, all.kernels.rows[1].api_call));
	gt_trace_release(&all);
	gt_trace_release(&seen);
}

Test(looks, take_a_chunk_when_it_is_whole)
{
	struct capture whole;
	struct gt_trace trace;

	add_launch(2000, 1);
	recording_end(&recording, false);
	whole = recording.capture;
	recording.capture.size -= 3;
	trace = look(0);
	cr_expect(eq(sz, trace.kernels.count, 0));
	gt_trace_release(&trace);
	recording.capture = whole;
	expect_look(0, 1);
}

Test(looks, begin_anew_with_a_file_that_was_cut)
{
	add_launch(2000, 1);

	const size_t size = recording.capture.size;

	add_launch(3000, 2);
	expect_look(0, 2);
	recording.capture.size = size;
	expect_look(0, 1);
}

/* More than a look keeps in any case: so many chunks of old calls. */
static void add_many(uint64_t start)
{
	enum { AT_A_TIME = 1000 };
	static struct gt_record_api_call calls[AT_A_TIME];

	for (uint32_t i = 0; i < AT_A_TIME; i++)
		calls[i] = (struct gt_record_api_call){.start_ns = start + i,
		                                       .end_ns = start + i + 1,
		                                       .correlation = 100 + i,
		                                       .function = STRING_LAUNCH};
	for (int i = 0; i < GT_LOOK_LEAST / AT_A_TIME; i++)
		recording_add_records(&recording, GT_RECORD_api_call, calls, AT_A_TIME);
}

Test(looks, leave_out_work_that_was_written_before_it_is_wanted)
{
	struct gt_trace trace;

	add_launch(2000, 1);
	add_many(5000);
	trace = look(0);
	cr_expect(eq(sz, trace.kernels.count, 1));
	gt_trace_release(&trace);
	/* The look before read the kernel, so that it ended earlier. */
	add_launch(9000, 2);
	trace = look(now_ns());
	cr_assert(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(u32, trace.kernels.rows[0].correlation, 2));
	cr_expect(gt(i64, trace.known_from_ns, 0));
	cr_expect(le(i64, trace.known_from_ns, trace.kernels.rows[0].start_ns));
	cr_expect(eq(sz, trace.streams.count, 1));
	cr_expect(eq(u64, ledger_of(&trace, "launches_missing"), UINT64_MAX));
	cr_expect(eq(u64, ledger_of(&trace, "missing_kernel"), UINT64_MAX));
	gt_trace_release(&trace);
}

Test(looks, keep_work_that_is_wanted_and_was_written_before_the_look_at_hand)
{
	struct gt_trace trace;
	const gt_time before_ns = now_ns();

	add_launch(2000, 1);
	add_many(5000);
	trace = look(0);
	gt_trace_release(&trace);
	trace = look(before_ns);
	cr_expect(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(i64, trace.known_from_ns, 0));
	gt_trace_release(&trace);
}

Test(looks, leave_out_processes_of_other_machines)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	add_launch(2000, 1);
	recording_end(&recording, false);
	recording_begin(&recording, "elsewhere-far-away-1-1");
	recording_add_basics(&recording, 1);
	recording_end(&recording, false);
	gt_trace_init(&trace);
	cr_assert(eq(int, gt_collect_look(recording.path, &look_at, &trace, &err), 0));
	cr_expect(eq(sz, trace.processes.count, 1));
	cr_expect(eq(sz, look_at.elsewhere, 1));
	gt_trace_release(&trace);
}

Test(looks, see_a_recording_of_another_machine_that_has_ended)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	recording_begin(&recording, "elsewhere-far-away-1-1");
	recording_add_basics(&recording, 1);
	add_launch(2000, 1);
	recording_end(&recording, true);
	gt_trace_init(&trace);
	cr_assert(eq(int, gt_collect_look(recording.path, &look_at, &trace, &err), 0));
	cr_expect(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(sz, look_at.elsewhere, 0));
	gt_trace_release(&trace);
}
