/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/check_report.h"
#include "base/strings.h"
#include "model/names.h"

struct scene {
	struct gt_trace trace;
	struct gt_result result;
	gt_id process;
	gt_id thread;
	gt_id stream;
	gt_id shape;
};

static void scene_init(struct scene *scene)
{
	trace_init(&scene->trace, 1000);
	scene->process = trace_process(&scene->trace, "app", 100);
	scene->thread = trace_thread(&scene->trace, scene->process, 100);
	scene->stream = trace_stream(&scene->trace, scene->process, trace_device(&scene->trace));
	scene->shape = trace_shape(&scene->trace, "gemm", 1, 32);
}

static void scene_release(struct scene *scene)
{
	gt_result_release(&scene->result);
	gt_trace_release(&scene->trace);
}

Test(summary, counts_what_the_recording_holds)
{
	struct scene scene;

	scene_init(&scene);
	trace_unfinished_kernel(&scene.trace, scene.stream, scene.shape);
	trace_kernel(&scene.trace, scene.stream, scene.shape, 100, 200);
	trace_copy(&scene.trace, scene.stream, GT_COPY_HOST_TO_DEVICE, 64, 0, 10);
	trace_copy(&scene.trace, scene.stream, GT_COPY_DEVICE_TO_HOST, 36, 20, 30);
	trace_fill(&scene.trace, scene.stream, 8, 40, 50);
	trace_call(&scene.trace, scene.thread, "cudaMalloc", 0, 10);
	trace_call(&scene.trace, scene.thread, "cudaEventQuery", 20, 30);
	trace_call(&scene.trace, scene.thread, "cudaMalloc", 40, 50);
	scene.trace.api_calls.rows[1].result = 600;
	scene.trace.api_calls.rows[2].result = 2;
	run_report(&scene.result, "summary", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "recording"), 1));
	expect_count(&scene.result, "recording", 0, "duration_ns", 1000);
	expect_count(&scene.result, "recording", 0, "processes", 1);
	expect_count(&scene.result, "recording", 0, "devices", 1);
	expect_count(&scene.result, "recording", 0, "kernels", 2);
	expect_count(&scene.result, "recording", 0, "copies", 2);
	expect_count(&scene.result, "recording", 0, "copied_bytes", 100);
	expect_count(&scene.result, "recording", 0, "fills", 1);
	expect_count(&scene.result, "recording", 0, "api_calls", 3);
	expect_count(&scene.result, "recording", 0, "errors", 1);
	expect_count(&scene.result, "recording", 0, "unfinished", 1);
	expect_words(&scene.result, "recording", 0, "ledger", "complete");
	cr_expect(not(has_remark(&scene.result, "incomplete")));
	scene_release(&scene);
}

Test(summary, tells_busy_time_from_overlap)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id other = trace_stream(&scene.trace, scene.process, 0);

	/* Kernels cover 100..300, copies 250..400 and 450..500, a fill ends at 600. */
	trace_kernel(&scene.trace, scene.stream, scene.shape, 100, 250);
	trace_kernel(&scene.trace, other, scene.shape, 150, 300);
	trace_copy(&scene.trace, scene.stream, GT_COPY_HOST_TO_DEVICE, 8, 250, 400);
	trace_copy(&scene.trace, scene.stream, GT_COPY_HOST_TO_DEVICE, 8, 450, 500);
	trace_fill(&scene.trace, scene.stream, 8, 590, 600);
	run_report(&scene.result, "summary", &scene.trace);

	expect_count(&scene.result, "devices", 0, "busy_ns", 200);
	expect_real(&scene.result, "devices", 0, "busy_percent", 20.0);
	expect_real(&scene.result, "devices", 0, "busy_in_use_percent", 40.0);
	expect_count(&scene.result, "devices", 0, "copy_ns", 200);
	expect_count(&scene.result, "devices", 0, "overlap_ns", 50);
	expect_count(&scene.result, "devices", 0, "kernels", 2);
	scene_release(&scene);
}

Test(summary, shows_devices_that_did_nothing)
{
	struct scene scene;

	scene_init(&scene);
	trace_device(&scene.trace);
	trace_kernel(&scene.trace, scene.stream, scene.shape, 0, 10);
	run_report(&scene.result, "summary", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "devices"), 2));
	expect_count(&scene.result, "devices", 1, "busy_ns", 0);
	expect_real(&scene.result, "devices", 1, "busy_percent", 0.0);
	expect_unknown(&scene.result, "devices", 1, "busy_in_use_percent");
	scene_release(&scene);
}

Test(summary, lists_the_five_busiest)
{
	struct scene scene;

	scene_init(&scene);
	for (gt_time i = 0; i < 12; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k%d", (int)i);
		trace_kernel(&scene.trace, scene.stream, trace_shape(&scene.trace, name, 1, 32),
		             20 * i, 20 * i + i + 1);
		snprintf(name, sizeof(name), "cudaCall%d", (int)i);
		trace_call(&scene.trace, scene.thread, name, 20 * i, 20 * i + i + 1);
	}
	run_report(&scene.result, "summary", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "top_kernels"), 5));
	expect_words(&scene.result, "top_kernels", 0, "kernel", "k11");
	expect_count(&scene.result, "top_kernels", 0, "calls", 1);
	expect_count(&scene.result, "top_kernels", 0, "total_ns", 12);
	expect_real(&scene.result, "top_kernels", 0, "share_percent", 100.0 * 12 / 78);
	cr_assert(eq(sz, row_count(&scene.result, "top_api_calls"), 5));
	expect_words(&scene.result, "top_api_calls", 4, "function", "cudaCall7");
	scene_release(&scene);
}

Test(summary, adds_copies_up_by_kind)
{
	struct scene scene;

	scene_init(&scene);
	trace_copy(&scene.trace, scene.stream, GT_COPY_DEVICE_TO_HOST, 100, 0, 10);
	trace_copy(&scene.trace, scene.stream, GT_COPY_HOST_TO_DEVICE, 100, 20, 40);
	trace_copy(&scene.trace, scene.stream, GT_COPY_HOST_TO_DEVICE, 500, 50, 60);
	run_report(&scene.result, "summary", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "copies"), 2));
	expect_words(&scene.result, "copies", 0, "kind", "HtoD");
	expect_count(&scene.result, "copies", 0, "calls", 2);
	expect_count(&scene.result, "copies", 0, "bytes", 600);
	expect_real(&scene.result, "copies", 0, "achieved_bytes_per_second", 20e9);
	scene_release(&scene);
}

Test(summary, tells_pinned_from_pageable_copies)
{
	struct scene scene;

	scene_init(&scene);
	trace_copy(&scene.trace, scene.stream, GT_COPY_HOST_TO_DEVICE, 100, 0, 10)->src_kind =
		GT_MEMORY_PINNED;
	trace_copy(&scene.trace, scene.stream, GT_COPY_HOST_TO_DEVICE, 100, 20, 40)->src_kind =
		GT_MEMORY_PAGEABLE;
	trace_copy(&scene.trace, scene.stream, GT_COPY_DEVICE_TO_DEVICE, 100, 50, 55);
	run_report(&scene.result, "summary", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "copies"), 3));
	expect_words(&scene.result, "copies", 0, "host_memory", "pageable");
	expect_real(&scene.result, "copies", 0, "achieved_bytes_per_second", 5e9);
	expect_words(&scene.result, "copies", 1, "host_memory", "pinned");
	expect_real(&scene.result, "copies", 1, "achieved_bytes_per_second", 10e9);
	expect_unknown(&scene.result, "copies", 2, "host_memory");
	scene_release(&scene);
}

Test(summary, says_what_is_missing)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id dead = trace_process(&scene.trace, "worker", 200);

	scene.trace.processes.rows[dead].ended = GT_END_DIED;
	trace_kernel(&scene.trace, scene.stream, scene.shape, 0, 10);
	trace_ledger(&scene.trace, scene.process, "api_calls", 7);
	trace_ledger(&scene.trace, scene.process, "dropped_by_cupti", 2);
	trace_ledger(&scene.trace, scene.process, "arming_ns", 99);
	trace_ledger(&scene.trace, scene.process, "of_a_newer_gputrace", 1);
	trace_ledger(&scene.trace, dead, "api_calls", 5);
	trace_ledger(&scene.trace, dead, "dropped_by_cupti", 3);
	run_report(&scene.result, "summary", &scene.trace);

	expect_words(&scene.result, "recording", 0, "ledger",
	             "incomplete: 5 records lost or without times");
	cr_expect(has_remark(&scene.result, "incomplete"));
	cr_assert(eq(sz, row_count(&scene.result, "ledger"), 4));
	expect_words(&scene.result, "ledger", 0, "class", "api_calls");
	expect_count(&scene.result, "ledger", 0, "value", 12);
	expect_words(&scene.result, "ledger", 0, "is_loss", "no");
	expect_count(&scene.result, "ledger", 1, "value", 5);
	expect_words(&scene.result, "ledger", 1, "is_loss", "yes");
	expect_words(&scene.result, "ledger", 2, "is_loss", "no");
	expect_unknown(&scene.result, "ledger", 3, "is_loss");
	expect_words(&scene.result, "processes", 0, "ended", "cleanly");
	expect_words(&scene.result, "processes", 1, "process", "worker (200)");
	expect_words(&scene.result, "processes", 1, "ended", "died; the rest was salvaged");
	scene_release(&scene);
}

Test(summary, calls_a_source_that_could_not_start_no_record)
{
	struct scene scene;

	scene_init(&scene);
	trace_ledger(&scene.trace, scene.process, "sources_failed", 1);
	trace_kernel(&scene.trace, scene.stream, scene.shape, 0, 10);
	run_report(&scene.result, "summary", &scene.trace);
	expect_words(&scene.result, "recording", 0, "ledger",
	             "incomplete: 1 source could not start");
	cr_expect(has_remark(&scene.result, "incomplete"));
	gt_result_release(&scene.result);

	scene.trace.ledgers.rows[0].value = 2;
	trace_ledger(&scene.trace, scene.process, "strings_lost", 1);
	scene.trace.processes.rows[scene.process].ended = GT_END_TORN;
	run_report(&scene.result, "summary", &scene.trace);
	expect_words(&scene.result, "recording", 0, "ledger",
	             "incomplete: 1 record lost or without times, 2 sources could not start, "
	             "1 of 1 processes cut short");
	gt_result_release(&scene.result);

	scene.trace.ledgers.count = 0;
	trace_ledger(&scene.trace, scene.process, "kernels", 1);
	scene.trace.processes.rows[scene.process].ended = GT_END_UNREAD;
	run_report(&scene.result, "summary", &scene.trace);
	expect_words(&scene.result, "recording", 0, "ledger",
	             "incomplete: 1 of 1 processes not readable");
	cr_expect(has_remark(&scene.result, "incomplete"));
	scene_release(&scene);
}

Test(summary, counts_once_what_two_classes_see)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id other = trace_process(&scene.trace, "worker", 200);

	/* 1385 kernels without times, 40 records dropped of which 30 are kernels; elsewhere 3. */
	trace_ledger(&scene.trace, scene.process, "launches_unfinished", 1380);
	trace_ledger(&scene.trace, scene.process, "kernels_unfinished", 1385);
	trace_ledger(&scene.trace, scene.process, "launches_missing", 30);
	trace_ledger(&scene.trace, scene.process, "dropped_by_cupti", 25);
	trace_ledger(&scene.trace, scene.process, "discarded_no_buffer", 15);
	trace_ledger(&scene.trace, other, "launches_missing", 3);
	run_report(&scene.result, "summary", &scene.trace);

	expect_words(&scene.result, "recording", 0, "ledger",
	             "incomplete: 1,428 records lost or without times");
	scene_release(&scene);
}

Test(summary, shows_notes)
{
	struct scene scene;

	scene_init(&scene);
	*gt_array_push(&scene.trace.notes) = (struct gt_note){
		.process = GT_NONE,
		.topic = gt_strings_add(scene.trace.strings, "activity"),
		.text = gt_strings_add(scene.trace.strings, "Another profiler was there first."),
	};
	run_report(&scene.result, "summary", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "notes"), 1));
	expect_unknown(&scene.result, "notes", 0, "process");
	expect_words(&scene.result, "notes", 0, "note", "Another profiler was there first.");
	scene_release(&scene);
}

Test(summary, tells_hosts_apart)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id there = trace_process(&scene.trace, "app", 100);
	const gt_id device = trace_device(&scene.trace);

	scene.trace.processes.rows[there].host = gt_strings_add(scene.trace.strings, "other");
	scene.trace.devices.rows[device].host = gt_strings_add(scene.trace.strings, "other");
	scene.trace.devices.rows[device].index = -1;
	scene.trace.devices.rows[device].ordinal = 0;
	run_report(&scene.result, "summary", &scene.trace);

	expect_words(&scene.result, "processes", 0, "process", "host app (100)");
	expect_words(&scene.result, "processes", 1, "process", "other app (100)");
	expect_words(&scene.result, "devices", 0, "device", "host 0: NVIDIA H200");
	expect_words(&scene.result, "devices", 1, "device", "other 0: NVIDIA H200");
	scene_release(&scene);
}

Test(summary, of_api_calls_alone_says_that_no_gpu_was_used)
{
	struct scene scene;

	scene_init(&scene);
	trace_call(&scene.trace, scene.thread, "cudaMalloc", 0, 10);
	run_report(&scene.result, "summary", &scene.trace);

	cr_expect(eq(sz, row_count(&scene.result, "top_kernels"), 0));
	cr_expect(eq(sz, row_count(&scene.result, "top_api_calls"), 1));
	cr_expect(has_remark(&scene.result, "No GPU activity"));
	scene_release(&scene);
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
