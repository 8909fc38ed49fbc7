/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "collector/collect.h"
#include "collector/kinds.h"
#include "collector/stage.h"

extern const struct gt_stage gt_stage_clocks;

/* One capture of one process, its rows made by hand. */
static struct gt_trace trace;
static struct gt_collection collection;
static struct gt_kinds kinds;
static struct gt_capture *capture;

static void make(void)
{
	gt_trace_init(&trace);
	gt_kinds_init(&kinds);
	collection = (struct gt_collection){.trace = &trace, .kinds = &kinds};
	*gt_array_push(&trace.processes) = (struct gt_process){.pid = 1};
	capture = gt_array_push(&collection.captures);
	*capture = (struct gt_capture){.name = "node-1-1.capture"};
}

static void drop(void)
{
	gt_array_release(&capture->clocks);
	gt_array_release(&capture->segments);
	gt_array_release(&collection.captures);
	gt_trace_release(&trace);
}

TestSuite(clocks, .init = make, .fini = drop);

static void add_clock(uint64_t boottime, uint64_t monotonic, uint64_t cupti)
{
	*gt_array_push(&capture->clocks) = (struct gt_record_clock){
		.boottime_ns = boottime,
		.host_ns = monotonic,
		.cupti_ns = cupti,
		.realtime_ns = boottime + 5,
		.bound_ns = 77,
	};
}

/* The row came as a record of the kind. */
static void add_segment(uint32_t kind, size_t row)
{
	*gt_array_push(&capture->segments) =
		(struct gt_segment){.kind = kind, .first = row, .count = 1};
}

static void add_kernel(gt_time start, gt_time end)
{
	*gt_array_push(&trace.kernels) = (struct gt_kernel){.start_ns = start, .end_ns = end};
	add_segment(GT_RECORD_kernel, trace.kernels.count - 1);
}

static void add_api_call(gt_time start, gt_time end)
{
	*gt_array_push(&trace.api_calls) = (struct gt_api_call){.start_ns = start, .end_ns = end};
	add_segment(GT_RECORD_api_call, trace.api_calls.count - 1);
}

static void convert(void)
{
	cr_assert(eq(int, gt_stage_clocks.run(&collection, NULL), 0));
}

/* CUPTI's clock began elsewhere and runs fast by so many millionths: exact in 64 bits. */
static uint64_t cupti_at(uint64_t boottime, uint64_t ppm)
{
	return boottime + 7000000000000 + boottime / 1000000 * ppm +
	       boottime % 1000000 * ppm / 1000000;
}

Test(clocks, are_exact_to_a_nanosecond_when_one_drifts_evenly)
{
	const uint64_t begin = 86400000000000; /* a day after the boot */
	uint64_t state = 1;

	/* Readings at odd intervals, for an hour. */
	for (uint64_t at = begin; at < begin + 3600000000000;
	     at += 500000000 + next_random(&state) % 1000000000)
		add_clock(at, at, cupti_at(at, 43));
	for (int i = 0; i < 10000; i++) {
		const uint64_t at = begin + next_random(&state) % 3590000000000;

		add_kernel((gt_time)cupti_at(at, 43), (gt_time)cupti_at(at + 5000, 43));
		add_api_call((gt_time)at, (gt_time)at + 3000);
	}
	convert();
	for (int i = 0; i < 10000; i++) {
		const struct gt_kernel *kernel = &trace.kernels.rows[i];
		const struct gt_api_call *call = &trace.api_calls.rows[i];

		cr_assert(le(i64, llabs(kernel->start_ns - call->start_ns), 1));
		cr_assert(le(i64, llabs(kernel->end_ns - call->start_ns - 5000), 1));
		cr_assert(eq(i64, call->end_ns - call->start_ns, 3000));
	}
}

Test(clocks, follow_a_drift_that_changes_piece_by_piece)
{
	add_clock(1000, 1000, 10000);
	add_clock(2000, 2000, 12000); /* two ticks a nanosecond */
	add_clock(3000, 3000, 12500); /* half a tick */
	add_kernel(10000, 10500);
	add_kernel(12000, 12250);
	add_kernel(12499, 12500);
	convert();
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 1000));
	cr_expect(eq(i64, trace.kernels.rows[0].end_ns, 1250));
	cr_expect(eq(i64, trace.kernels.rows[1].start_ns, 2000));
	cr_expect(eq(i64, trace.kernels.rows[1].end_ns, 2500));
	cr_expect(eq(i64, trace.kernels.rows[2].start_ns, 2998));
	cr_expect(eq(i64, trace.kernels.rows[2].end_ns, 3000));
}

Test(clocks, keep_their_distance_before_the_first_and_after_the_last_reading)
{
	add_clock(1000, 1000, 10000);
	add_clock(2000, 2000, 12000);
	add_kernel(9500, 13000);
	convert();
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 500));
	cr_expect(eq(i64, trace.kernels.rows[0].end_ns, 3000));
}

/* The machine slept: MONOTONIC stood still, BOOTTIME went on for eight hours. */
Test(clocks, follow_a_machine_that_slept)
{
	const int64_t slept = 8ll * 3600 * 1000000000;

	add_clock(1000, 1000, 1000);
	add_clock(2000, 2000, 2000);
	add_clock(2100 + (uint64_t)slept, 2100, 2100);
	add_clock(3100 + (uint64_t)slept, 3100, 3100);
	add_api_call(1500, 1600);
	add_api_call(2600, 2700);
	convert();
	cr_expect(eq(i64, trace.api_calls.rows[0].start_ns, 1500));
	cr_expect(eq(i64, trace.api_calls.rows[1].start_ns, 2600 + slept));
	cr_expect(eq(i64, trace.api_calls.rows[1].end_ns, 2700 + slept));
}

Test(clocks, may_be_read_in_any_order_and_jump_about)
{
	add_clock(3000, 3000, 13000);
	add_clock(1000, 1000, 11000);
	add_clock(2000, 2000, 12000);
	add_clock(2000, 2000, 12000); /* written twice */
	for (gt_time at = 3400; at > 600; at -= 7)
		add_kernel(10000 + at, 10000 + (at * 31) % 2800 + 600);
	convert();
	for (size_t i = 0; i < trace.kernels.count; i++) {
		const gt_time at = 3400 - 7 * (gt_time)i;

		cr_assert(eq(i64, trace.kernels.rows[i].start_ns, at));
		cr_assert(eq(i64, trace.kernels.rows[i].end_ns, (at * 31) % 2800 + 600));
	}
}

Test(clocks, convert_every_table_and_only_the_capture_s_own_rows)
{
	add_clock(1000, 500, 10000);
	add_kernel(1, 2);
	capture->segments.count = 0; /* another capture's */
	add_kernel(10010, 10020);
	*gt_array_push(&trace.copies) = (struct gt_copy){.start_ns = 10030, .end_ns = 10040};
	*gt_array_push(&trace.fills) = (struct gt_fill){.start_ns = 10050, .end_ns = 10060};
	*gt_array_push(&trace.syncs) = (struct gt_sync){.start_ns = 10070, .end_ns = 0};
	*gt_array_push(&trace.overheads) = (struct gt_overhead){.start_ns = 10080, .end_ns = 10090};
	add_segment(GT_RECORD_copy, 0);
	add_segment(GT_RECORD_fill, 0);
	add_segment(GT_RECORD_sync, 0);
	add_segment(GT_RECORD_overhead, 0);
	add_api_call(600, 700);
	convert();
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 1));
	cr_expect(eq(i64, trace.kernels.rows[1].start_ns, 1010));
	cr_expect(eq(i64, trace.copies.rows[0].end_ns, 1040));
	cr_expect(eq(i64, trace.fills.rows[0].end_ns, 1060));
	cr_expect(eq(i64, trace.syncs.rows[0].start_ns, 1070));
	cr_expect(eq(i64, trace.syncs.rows[0].end_ns, 0)); /* not known stays not known */
	cr_expect(eq(i64, trace.overheads.rows[0].end_ns, 1090));
	cr_expect(eq(i64, trace.api_calls.rows[0].start_ns, 1100));
	cr_expect(eq(i64, trace.processes.rows[0].start_ns, 1000));
	cr_expect(eq(i64, trace.processes.rows[0].end_ns, 1200));
	cr_expect(eq(i64, trace.start_ns, 1000));
	cr_expect(eq(i64, trace.end_ns, 1200));
}

/* The processor's counter: begins where MONOTONIC stands and runs by so many millionths fast. */
static void add_scaled_clock(uint64_t boottime, uint64_t ppm)
{
	add_clock(boottime, boottime + boottime / 1000000 * ppm, 0);
	(gt_array_end(&capture->clocks) - 1)->monotonic_ns = boottime - 300;
}

Test(clocks, go_on_at_their_rate_where_their_nanosecond_is_only_nearly_one)
{
	add_scaled_clock(1000000000, 400);
	add_scaled_clock(2000000000, 400);
	add_scaled_clock(2000001000, 400);
	add_api_call(501000000 - 800000, 1000400000);      /* half a second before the first */
	add_api_call(1500600000, 3000000000 + 3000 * 400); /* a second after the last */
	convert();
	cr_expect(lt(i64, llabs(trace.api_calls.rows[0].start_ns - 500000000), 3000));
	cr_expect(eq(i64, trace.api_calls.rows[0].end_ns, 1000000000));
	cr_expect(lt(i64, llabs(trace.api_calls.rows[1].start_ns - 1500000000), 3));
	cr_expect(lt(i64, llabs(trace.api_calls.rows[1].end_ns - 3000000000), 3));
	cr_expect(eq(u64, trace.clocks.rows[0].monotonic_ns, 999999700));
	cr_expect(eq(sz, trace.notes.count, 0));
}

Test(clocks, say_that_a_counter_jumped)
{
	add_scaled_clock(1000000000, 400);
	add_scaled_clock(2000000000, 400);
	add_clock(3000000000, 1000, 0); /* begun anew */
	(gt_array_end(&capture->clocks) - 1)->monotonic_ns = 3000000000;
	convert();
	cr_assert(eq(sz, trace.notes.count, 1));
	cr_expect(strstr(gt_trace_text(&trace, trace.notes.rows[0].text), "jumped") != NULL);
}

Test(clocks, keep_their_readings_for_whoever_looks)
{
	add_clock(1000, 500, 10000);
	add_clock(2000, 1500, 0);
	convert();
	cr_assert(eq(sz, trace.clocks.count, 2));
	cr_expect(eq(i64, trace.clocks.rows[0].boottime_ns, 1000));
	cr_expect(eq(u64, trace.clocks.rows[0].monotonic_ns, 500));
	cr_expect(eq(u64, trace.clocks.rows[0].realtime_ns, 1005));
	cr_expect(eq(u64, trace.clocks.rows[0].cupti_ns, 10000));
	cr_expect(eq(u64, trace.clocks.rows[0].bound_ns, 77));
	cr_expect(eq(u32, trace.clocks.rows[0].process, 0));
	cr_expect(eq(u64, trace.clocks.rows[1].cupti_ns, 0));
}

Test(clocks, place_nothing_when_they_were_never_read)
{
	add_kernel(100, 200);
	add_api_call(100, 200);
	convert();
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 0));
	cr_expect(eq(i64, trace.api_calls.rows[0].end_ns, 0));
	cr_assert(eq(sz, trace.notes.count, 1));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture holds no clock reading: nothing in it can be placed "
	                   "in time"));
	cr_expect(eq(i64, trace.start_ns, 0));
	cr_expect(eq(i64, trace.end_ns, 0));
}

/* No GPU clock: calls have times, GPU work does not, which somebody has to say. */
Test(clocks, place_no_gpu_work_when_cupti_s_was_never_read)
{
	add_clock(1000, 500, 0);
	add_kernel(100, 200);
	add_api_call(600, 700);
	convert();
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 0));
	cr_expect(eq(i64, trace.api_calls.rows[0].start_ns, 1100));
	cr_assert(eq(sz, trace.notes.count, 1));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture holds no reading of CUPTI's clock: its GPU work "
	                   "cannot be placed in time"));
}

Test(clocks, say_nothing_of_a_capture_without_events)
{
	convert();
	cr_expect(eq(sz, trace.notes.count, 0));
}

/* Whatever a file says, no difference of two times and no sum of durations overflows. */
Test(clocks, take_times_that_cannot_be_right_as_not_known)
{
	static const gt_time wild[] = {INT64_MIN, INT64_MAX, -1, INT64_MAX / 2, INT64_MAX / 4};

	add_clock(1000, 1000, 11000);
	add_clock(5000, 5000, 15000);
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++)
		add_kernel(12000, wild[i]);
	add_kernel(12000, 13000);
	convert();
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		cr_expect(eq(i64, trace.kernels.rows[i].start_ns, 2000));
		cr_expect(eq(i64, trace.kernels.rows[i].end_ns, 0));
	}
	cr_expect(eq(i64, trace.kernels.rows[5].end_ns, 3000));
	cr_expect(eq(i64, trace.end_ns, 5000));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture holds 5 times that cannot be right, far from every "
	                   "clock reading or too long: they count as not known"));
}

Test(clocks, leave_out_readings_that_cannot_be_right)
{
	add_clock(UINT64_MAX, 1000, 11000);
	add_clock(1000, 1000, 11000);
	add_clock(5000, UINT64_MAX / 2, 15000);
	add_clock((uint64_t)1 << 57, 5000, 15000);
	add_clock(5000, 5000, 15000);
	add_kernel(12000, 13000);
	convert();
	cr_assert(eq(sz, trace.clocks.count, 2));
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 2000));
	cr_expect(eq(i64, trace.start_ns, 1000));
	cr_expect(eq(i64, trace.end_ns, 5000));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture holds 3 clock readings that cannot be right: they "
	                   "were left out"));
}

Test(clocks, bound_the_sum_of_all_durations)
{
	const gt_time day_ns = (gt_time)86400 * 1000000000;
	uint64_t sum_ns = 0;

	add_clock(1000, 1000, 1000);
	for (size_t i = 0; i < 3000; i++)
		add_kernel(1000, 90 * day_ns);
	convert();
	gt_array_each(const struct gt_kernel, kernel, &trace.kernels)
		sum_ns += (uint64_t)(kernel->end_ns - kernel->start_ns);
	cr_expect(lt(u64, sum_ns, INT64_MAX / 2));
	cr_expect(eq(sz, trace.notes.count, 1));
}

/* Another capture, of a machine that had been started so. */
static void add_machine(const char *host, const char *boot)
{
	*gt_array_push(&trace.processes) =
		(struct gt_process){.host = gt_strings_add(trace.strings, host)};
	*gt_array_push(&collection.captures) = (struct gt_capture){
		.name = "other.capture",
		.process = (gt_id)trace.processes.count - 1,
		.boot = gt_strings_add(trace.strings, boot),
	};
	capture = collection.captures.rows;
}

Test(clocks, of_several_machines_are_said_not_to_be_comparable)
{
	add_machine("node-1", "a");
	add_machine("node-1", "a");
	convert();
	cr_expect(eq(sz, trace.notes.count, 0));
	add_machine("node-2", "b");
	convert();
	cr_expect(
		has_note(&trace, GT_NONE,
	                 "the processes ran on 2 machines, or on one that was started again "
	                 "(node-1, node-2): each counts time from its own start, so that times of "
	                 "different ones cannot be compared"));
	add_machine("node-2", "c");
	add_machine("node-3", "d");
	convert();
	cr_expect(has_note(&trace, GT_NONE,
	                   "the processes ran on 4 machines, or on one that was started again "
	                   "(node-1, node-2, node-2, ...): each counts time from its own start, so "
	                   "that times of different ones cannot be compared"));
}

Test(clocks, say_what_ends_before_it_begins)
{
	add_clock(1000, 1000, 1000);
	add_kernel(3000, 2000);
	convert();
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture holds 1 events that end before they begin: they take "
	                   "no time"));
}
