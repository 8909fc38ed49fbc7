/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/check_scene.h"
#include "base/strings.h"
#include "model/names.h"

Test(summary, counts_what_the_recording_holds)
{
	scene_begin(1000);
	trace_unfinished_kernel(&trace, stream, shape);
	trace_kernel(&trace, stream, shape, 100, 200);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 64, 0, 10);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 36, 20, 30);
	trace_fill(&trace, stream, 8, 40, 50);
	trace_call(&trace, thread, "cudaMalloc", 0, 10);
	trace_call(&trace, thread, "cudaEventQuery", 20, 30);
	trace_call(&trace, thread, "cudaMalloc", 40, 50);
	trace.api_calls.rows[1].result = 600;
	trace.api_calls.rows[2].result = 2;
	run_report(&result, "summary", &trace);

	cr_assert(eq(sz, row_count(&result, "recording"), 1));
	expect_count(&result, "recording", 0, "duration_ns", 1000);
	expect_count(&result, "recording", 0, "processes", 1);
	expect_count(&result, "recording", 0, "devices", 1);
	expect_count(&result, "recording", 0, "kernels", 2);
	expect_count(&result, "recording", 0, "copies", 2);
	expect_count(&result, "recording", 0, "copied_bytes", 100);
	expect_count(&result, "recording", 0, "fills", 1);
	expect_count(&result, "recording", 0, "api_calls", 3);
	expect_count(&result, "recording", 0, "errors", 1);
	expect_count(&result, "recording", 0, "unfinished", 1);
	expect_words(&result, "recording", 0, "ledger", "complete");
	cr_expect(not(has_remark(&result, "incomplete")));
	scene_end();
}

Test(summary, tells_busy_time_from_overlap)
{
	scene_begin(1000);

	const gt_id other = trace_stream(&trace, process, 0);

	/* Kernels cover 100..300, copies 250..400 and 450..500, a fill ends at 600. */
	trace_kernel(&trace, stream, shape, 100, 250);
	trace_kernel(&trace, other, shape, 150, 300);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 8, 250, 400);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 8, 450, 500);
	trace_fill(&trace, stream, 8, 590, 600);
	run_report(&result, "summary", &trace);

	expect_count(&result, "devices", 0, "busy_ns", 200);
	expect_real(&result, "devices", 0, "busy_percent", 20.0);
	expect_real(&result, "devices", 0, "busy_in_use_percent", 40.0);
	expect_count(&result, "devices", 0, "copy_ns", 200);
	expect_count(&result, "devices", 0, "overlap_ns", 50);
	expect_count(&result, "devices", 0, "kernels", 2);
	scene_end();
}

Test(summary, shows_devices_that_did_nothing)
{
	scene_begin(1000);
	trace_device(&trace);
	trace_kernel(&trace, stream, shape, 0, 10);
	run_report(&result, "summary", &trace);

	cr_assert(eq(sz, row_count(&result, "devices"), 2));
	expect_count(&result, "devices", 1, "busy_ns", 0);
	expect_real(&result, "devices", 1, "busy_percent", 0.0);
	expect_unknown(&result, "devices", 1, "busy_in_use_percent");
	scene_end();
}

Test(summary, lists_the_five_busiest)
{
	scene_begin(1000);
	for (gt_time i = 0; i < 12; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k%d", (int)i);
		trace_kernel(&trace, stream, trace_shape(&trace, name, 1, 32), 20 * i,
		             20 * i + i + 1);
		snprintf(name, sizeof(name), "cudaCall%d", (int)i);
		trace_call(&trace, thread, name, 20 * i, 20 * i + i + 1);
	}
	run_report(&result, "summary", &trace);

	cr_assert(eq(sz, row_count(&result, "top_kernels"), 5));
	expect_words(&result, "top_kernels", 0, "kernel", "k11");
	expect_count(&result, "top_kernels", 0, "calls", 1);
	expect_count(&result, "top_kernels", 0, "total_ns", 12);
	expect_real(&result, "top_kernels", 0, "share_percent", 100.0 * 12 / 78);
	cr_assert(eq(sz, row_count(&result, "top_api_calls"), 5));
	expect_words(&result, "top_api_calls", 4, "function", "cudaCall7");
	scene_end();
}

Test(summary, adds_copies_up_by_kind)
{
	scene_begin(1000);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 100, 0, 10);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 100, 20, 40);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 500, 50, 60);
	run_report(&result, "summary", &trace);

	cr_assert(eq(sz, row_count(&result, "copies"), 2));
	expect_words(&result, "copies", 0, "kind", "HtoD");
	expect_count(&result, "copies", 0, "calls", 2);
	expect_count(&result, "copies", 0, "bytes", 600);
	expect_real(&result, "copies", 0, "achieved_bytes_per_second", 20e9);
	scene_end();
}

Test(summary, tells_pinned_from_pageable_copies)
{
	scene_begin(1000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 100, 0, 10)->src_kind = GT_MEMORY_PINNED;
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 100, 20, 40)->src_kind =
		GT_MEMORY_PAGEABLE;
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 100, 50, 55);
	run_report(&result, "summary", &trace);

	cr_assert(eq(sz, row_count(&result, "copies"), 3));
	expect_words(&result, "copies", 0, "host_memory", "pageable");
	expect_real(&result, "copies", 0, "achieved_bytes_per_second", 5e9);
	expect_words(&result, "copies", 1, "host_memory", "pinned");
	expect_real(&result, "copies", 1, "achieved_bytes_per_second", 10e9);
	expect_unknown(&result, "copies", 2, "host_memory");
	scene_end();
}

Test(summary, says_what_is_missing)
{
	scene_begin(1000);

	const gt_id dead = trace_process(&trace, "worker", 200);

	trace.processes.rows[dead].ended = GT_END_DIED;
	trace_kernel(&trace, stream, shape, 0, 10);
	trace_ledger(&trace, process, "api_calls", 7);
	trace_ledger(&trace, process, "dropped_by_cupti", 2);
	trace_ledger(&trace, process, "arming_ns", 99);
	trace_ledger(&trace, process, "of_a_newer_gputrace", 1);
	trace_ledger(&trace, dead, "api_calls", 5);
	trace_ledger(&trace, dead, "dropped_by_cupti", 3);
	run_report(&result, "summary", &trace);

	expect_words(&result, "recording", 0, "ledger",
	             "incomplete: 5 records lost or without times");
	cr_expect(has_remark(&result, "incomplete"));
	cr_assert(eq(sz, row_count(&result, "ledger"), 4));
	expect_words(&result, "ledger", 0, "class", "api_calls");
	expect_count(&result, "ledger", 0, "value", 12);
	expect_words(&result, "ledger", 0, "is_loss", "no");
	expect_count(&result, "ledger", 1, "value", 5);
	expect_words(&result, "ledger", 1, "is_loss", "yes");
	expect_words(&result, "ledger", 2, "is_loss", "no");
	expect_unknown(&result, "ledger", 3, "is_loss");
	expect_words(&result, "processes", 0, "ended", "cleanly");
	expect_words(&result, "processes", 1, "process", "worker (200)");
	expect_words(&result, "processes", 1, "ended", "died; the rest was salvaged");
	scene_end();
}

Test(summary, calls_a_source_that_could_not_start_no_record)
{
	scene_begin(1000);
	trace_ledger(&trace, process, "sources_failed", 1);
	trace_kernel(&trace, stream, shape, 0, 10);
	run_report(&result, "summary", &trace);
	expect_words(&result, "recording", 0, "ledger", "incomplete: 1 source could not start");
	cr_expect(has_remark(&result, "incomplete"));
	gt_result_release(&result);

	trace.ledgers.rows[0].value = 2;
	trace_ledger(&trace, process, "strings_lost", 1);
	trace.processes.rows[process].ended = GT_END_TORN;
	run_report(&result, "summary", &trace);
	expect_words(&result, "recording", 0, "ledger",
	             "incomplete: 1 record lost or without times, 2 sources could not start, "
	             "1 of 1 processes cut short");
	gt_result_release(&result);

	trace.ledgers.count = 0;
	trace_ledger(&trace, process, "kernels", 1);
	trace.processes.rows[process].ended = GT_END_UNREAD;
	run_report(&result, "summary", &trace);
	expect_words(&result, "recording", 0, "ledger",
	             "incomplete: 1 of 1 processes not readable");
	cr_expect(has_remark(&result, "incomplete"));
	scene_end();
}

Test(summary, counts_once_what_two_classes_see)
{
	scene_begin(1000);

	const gt_id other = trace_process(&trace, "worker", 200);

	/* 1385 kernels without times, 40 records dropped of which 30 are kernels; elsewhere 3. */
	trace_ledger(&trace, process, "launches_unfinished", 1380);
	trace_ledger(&trace, process, "kernels_unfinished", 1385);
	trace_ledger(&trace, process, "launches_missing", 30);
	trace_ledger(&trace, process, "dropped_by_cupti", 25);
	trace_ledger(&trace, process, "discarded_no_buffer", 15);
	trace_ledger(&trace, other, "launches_missing", 3);
	run_report(&result, "summary", &trace);

	expect_words(&result, "recording", 0, "ledger",
	             "incomplete: 1,428 records lost or without times");
	scene_end();
}

Test(summary, shows_notes)
{
	scene_begin(1000);
	*gt_array_push(&trace.notes) = (struct gt_note){
		.process = GT_NONE,
		.topic = gt_strings_add(trace.strings, "activity"),
		.text = gt_strings_add(trace.strings, "Another profiler was there first."),
	};
	run_report(&result, "summary", &trace);

	cr_assert(eq(sz, row_count(&result, "notes"), 1));
	expect_unknown(&result, "notes", 0, "process");
	expect_words(&result, "notes", 0, "note", "Another profiler was there first.");
	scene_end();
}

Test(summary, tells_hosts_apart)
{
	scene_begin(1000);

	const gt_id there = trace_process(&trace, "app", 100);
	const gt_id device = trace_device(&trace);

	trace.processes.rows[there].host = gt_strings_add(trace.strings, "other");
	trace.devices.rows[device].host = gt_strings_add(trace.strings, "other");
	trace.devices.rows[device].index = -1;
	trace.devices.rows[device].ordinal = 0;
	run_report(&result, "summary", &trace);

	expect_words(&result, "processes", 0, "process", "host app (100)");
	expect_words(&result, "processes", 1, "process", "other app (100)");
	expect_words(&result, "devices", 0, "device", "host 0: NVIDIA H200");
	expect_words(&result, "devices", 1, "device", "other 0: NVIDIA H200");
	scene_end();
}

Test(summary, of_api_calls_alone_says_that_no_gpu_was_used)
{
	scene_begin(1000);
	trace_call(&trace, thread, "cudaMalloc", 0, 10);
	run_report(&result, "summary", &trace);

	cr_expect(eq(sz, row_count(&result, "top_kernels"), 0));
	cr_expect(eq(sz, row_count(&result, "top_api_calls"), 1));
	cr_expect(has_remark(&result, "No GPU activity"));
	scene_end();
}

Test(summary, of_an_empty_trace_is_whole)
{
	struct gt_trace trace;
	struct gt_result result;

	gt_trace_init(&trace);
	run_report(&result, "summary", &trace);
	cr_expect(eq(sz, row_count(&result, "recording"), 1));
	expect_count(&result, "recording", 0, "kernels", 0);
	expect_unknown(&result, "recording", 0, "ledger");
	cr_expect(eq(sz, row_count(&result, "devices"), 0));
	cr_expect(eq(sz, row_count(&result, "top_kernels"), 0));
	gt_result_release(&result);
	gt_trace_release(&trace);
}
