/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "collector/collect.h"
#include "collector/decode/decoder.h"
#include "format/file/chunk.h"
#include "format/file/meta.h"
#include "format/file/series.h"
#include "format/recording.h"

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(decode, .init = make, .fini = drop);

/* Clocks that all show the same, so that times come out as they went in. */
static void add_clock(void)
{
	recording_add(&recording, clock, .host_ns = 1000, .boottime_ns = 1000, .realtime_ns = 1000,
	              .cupti_ns = 1000, .bound_ns = 50);
}

Test(decode, takes_the_facts_about_a_process)
{
	static const char command[] = "python\0-c\0print(1)";
	unsigned char bytes[512];
	struct gt_meta meta = {.bytes = bytes, .capacity = sizeof(bytes)};
	struct gt_trace trace;

	gt_meta_add(&meta, GT_META_TOOL, "0.1.0");
	gt_meta_add(&meta, GT_META_HOST, "node");
	gt_meta_add_number(&meta, GT_META_PID, 4242);
	gt_meta_add_number(&meta, GT_META_PPID, 4241);
	gt_meta_add(&meta, GT_META_KERNEL, "6.1.0-18-amd64");
	gt_meta_add(&meta, GT_META_MACHINE, "aarch64");
	gt_meta_add_number(&meta, GT_META_CPUS, 96);
	gt_meta_add_number(&meta, GT_META_STARTED, 123456789012);
	gt_meta_add(&meta, GT_META_PROGRAM, "/usr/bin/python3.11");
	gt_meta_add_bytes(&meta, GT_META_COMMAND, command, sizeof(command));
	gt_meta_add(&meta, GT_META_CUPTI_PATH, "/opt/libcupti.so.13");
	gt_meta_add_number(&meta, GT_META_CUPTI_VERSION, 130000);
	gt_meta_add_number(&meta, GT_META_DRIVER, 12040);
	gt_meta_add(&meta, GT_META_ENVIRONMENT, "NCCL_ALGO=Ring\nOMP_NUM_THREADS=4\n");
	gt_meta_add(&meta, "a key of later", "anything");
	gt_meta_write(&recording.capture.writer, &meta);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 1));

	const struct gt_process *process = trace.processes.rows;

	expect_text(gt_trace_text(&trace, trace.tool_version), "0.1.0");
	expect_text(gt_trace_text(&trace, trace.cupti), "/opt/libcupti.so.13 (version 130000)");
	expect_text(gt_trace_text(&trace, trace.driver), "12.4");
	expect_text(gt_trace_text(&trace, process->host), "node");
	expect_text(gt_trace_text(&trace, process->name), "python3.11");
	expect_text(gt_trace_text(&trace, process->command), "python -c print(1)");
	expect_text(gt_trace_text(&trace, process->environment),
	            "NCCL_ALGO=Ring\nOMP_NUM_THREADS=4\n");
	expect_text(gt_trace_text(&trace, process->capture), "node-1-1.capture");
	cr_expect(eq(u32, process->pid, 4242));
	cr_expect(eq(u32, process->parent_pid, 4241));
	expect_text(gt_trace_text(&trace, process->kernel_release), "6.1.0-18-amd64");
	expect_text(gt_trace_text(&trace, process->architecture), "aarch64");
	cr_expect(eq(u32, process->cpus, 96));
	cr_expect(eq(u64, process->started_ticks, 123456789012));
	cr_expect(eq(u32, process->ended, GT_END_CLEAN));
	cr_expect(eq(sz, trace.notes.count, 0));
	gt_trace_release(&trace);
}

Test(decode, brings_every_field_of_a_kernel_across)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add(&recording, kernel, .start_ns = 2000, .end_ns = 2100, .graph_node = 1u << 31,
	              .correlation = 5, .shape = SHAPE, .device = 0, .context = CONTEXT,
	              .stream = STREAM, .graph = 9, .flags = GT_RECORD_DEVICE_LAUNCHED);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.kernels.count, 1));

	const struct gt_kernel *kernel = trace.kernels.rows;

	cr_expect(eq(i64, kernel->start_ns, 2000));
	cr_expect(eq(i64, kernel->end_ns, 2100));
	cr_expect(eq(u64, kernel->graph_node, 1u << 31));
	cr_expect(eq(u32, kernel->graph, 9));
	cr_expect(eq(u32, kernel->shape, 0));
	cr_expect(eq(u32, kernel->stream, 0));
	cr_expect(eq(u32, kernel->device, 0));
	cr_expect(eq(u32, kernel->api_call, GT_NONE));
	cr_expect(eq(u32, kernel->correlation, 5));
	cr_expect(eq(u32, kernel->flags, GT_DEVICE_LAUNCHED));
	gt_trace_release(&trace);
}

Test(decode, brings_every_field_of_a_copy_across)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add(&recording, device, .ordinal = 1);
	recording_add(&recording, copy, .start_ns = 2000, .end_ns = 2100, .size_bytes = 1ull << 40,
	              .graph_node = 3, .correlation = 5, .context = CONTEXT, .stream = STREAM,
	              .graph = 9, .src_device = 2, .dst_device = 1, .kind = 10, .src_kind = 3,
	              .dst_kind = 4, .flags = GT_RECORD_ASYNC);
	recording_add(&recording, copy, .start_ns = 2200, .end_ns = 2300, .context = CONTEXT,
	              .stream = STREAM);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.copies.count, 2));

	const struct gt_copy *copy = trace.copies.rows;

	cr_expect(eq(i64, copy->start_ns, 2000));
	cr_expect(eq(i64, copy->end_ns, 2100));
	cr_expect(eq(u64, copy->size_bytes, 1ull << 40));
	cr_expect(eq(u64, copy->graph_node, 3));
	cr_expect(eq(u32, copy->graph, 9));
	cr_expect(eq(u32, copy->stream, 0));
	cr_expect(eq(u32, trace.devices.rows[copy->device].ordinal, 0));
	cr_expect(eq(u32, trace.devices.rows[copy->src_device].ordinal, 1));
	cr_expect(eq(u32, trace.devices.rows[copy->dst_device].ordinal, 0));
	cr_expect(eq(u32, copy->correlation, 5));
	cr_expect(eq(u32, copy->kind, 10));
	cr_expect(eq(u32, copy->src_kind, 3));
	cr_expect(eq(u32, copy->dst_kind, 4));
	cr_expect(eq(u32, copy->flags, GT_ASYNC));
	cr_expect(eq(u32, copy[1].src_device, GT_NONE)); /* not between GPUs */
	cr_expect(eq(u32, copy[1].dst_device, GT_NONE));
	gt_trace_release(&trace);
}

Test(decode, brings_every_field_of_a_fill_across)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add(&recording, fill, .start_ns = 2000, .end_ns = 2100, .size_bytes = 77,
	              .graph_node = 3, .correlation = 5, .context = CONTEXT, .stream = STREAM,
	              .graph = 9, .value = 255, .memory_kind = 3, .flags = GT_RECORD_ASYNC);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.fills.count, 1));

	const struct gt_fill *fill = trace.fills.rows;

	cr_expect(eq(i64, fill->start_ns, 2000));
	cr_expect(eq(i64, fill->end_ns, 2100));
	cr_expect(eq(u64, fill->size_bytes, 77));
	cr_expect(eq(u64, fill->graph_node, 3));
	cr_expect(eq(u32, fill->graph, 9));
	cr_expect(eq(u32, fill->stream, 0));
	cr_expect(eq(u32, fill->device, 0));
	cr_expect(eq(u32, fill->api_call, GT_NONE));
	cr_expect(eq(u32, fill->correlation, 5));
	cr_expect(eq(u32, fill->value, 255));
	cr_expect(eq(u32, fill->memory_kind, 3));
	cr_expect(eq(u32, fill->flags, GT_ASYNC));
	gt_trace_release(&trace);
}

Test(decode, brings_every_field_of_waits_and_overheads_across)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add(&recording, sync, .start_ns = 2000, .end_ns = 2100, .correlation = 5,
	              .context = CONTEXT, .stream = STREAM, .event = 12, .kind = 3);
	recording_add(&recording, sync, .start_ns = 2200, .end_ns = 2300, .context = CONTEXT,
	              .stream = UINT32_MAX, .event = UINT32_MAX, .kind = 4);
	recording_add(&recording, overhead, .start_ns = 2000, .end_ns = 2100, .correlation = 5,
	              .tid = 101, .kind = 65536);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.syncs.count, 2));
	cr_assert(eq(sz, trace.overheads.count, 1));

	const struct gt_sync *sync = trace.syncs.rows;
	const struct gt_overhead *overhead = trace.overheads.rows;

	cr_expect(eq(i64, sync->start_ns, 2000));
	cr_expect(eq(i64, sync->end_ns, 2100));
	cr_expect(eq(u32, sync->context, 0));
	cr_expect(eq(u32, sync->stream, 0));
	cr_expect(eq(u32, sync->api_call, GT_NONE));
	cr_expect(eq(u32, sync->correlation, 5));
	cr_assert(eq(sz, trace.events.count, 1));
	cr_expect(eq(u32, sync->event, 0));
	cr_expect(eq(u64, trace.events.rows[0].handle, 12));
	cr_expect(eq(u32, sync->kind, 3));
	cr_expect(eq(u32, sync[1].stream, GT_NONE));
	cr_expect(eq(u32, sync[1].event, GT_NONE));
	cr_expect(eq(sz, trace.streams.count, 1));
	cr_expect(eq(i64, overhead->start_ns, 2000));
	cr_expect(eq(i64, overhead->end_ns, 2100));
	cr_expect(eq(u32, overhead->process, 0));
	cr_expect(eq(u32, overhead->tid, 101));
	cr_expect(eq(u32, overhead->kind, 65536));
	cr_expect(eq(u32, overhead->correlation, 5));
	gt_trace_release(&trace);
}

Test(decode, brings_every_field_of_an_api_call_across)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add(&recording, thread, .tid = 100, .name = STRING_DEVICE);
	recording_add(&recording, api_call, .start_ns = 2000, .end_ns = 2100, .correlation = 5,
	              .function = STRING_LAUNCH, .result = (uint32_t)-3, .thread = 100,
	              .flags = GT_RECORD_DRIVER_API | GT_RECORD_NESTED);
	recording_add(&recording, api_call, .start_ns = 2200, .correlation = 6,
	              .function = STRING_LAUNCH, .thread = 101, .flags = GT_RECORD_UNFINISHED);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.api_calls.count, 2));
	cr_assert(eq(sz, trace.threads.count, 2));

	const struct gt_api_call *call = trace.api_calls.rows;
	const struct gt_thread *thread = &trace.threads.rows[call->thread];

	cr_expect(eq(i64, call->start_ns, 2000));
	cr_expect(eq(i64, call->end_ns, 2100));
	expect_text(gt_trace_text(&trace, call->function), "cudaLaunchKernel");
	cr_expect(eq(u32, call->correlation, 5));
	cr_expect(eq(i32, call->result, -3));
	cr_expect(eq(u32, call->kind, GT_API_LAUNCH));
	cr_expect(eq(u32, call->flags, GT_DRIVER_API | GT_NESTED));
	cr_expect(eq(u32, thread->tid, 100));
	cr_expect(eq(u32, thread->process, 0));
	expect_text(gt_trace_text(&trace, thread->name), "NVIDIA H200");
	cr_expect(eq(u32, call[1].flags, GT_UNFINISHED));
	cr_expect(eq(i64, call[1].end_ns, 0));
	cr_expect(eq(u32, trace.threads.rows[call[1].thread].tid, 101));
	gt_trace_release(&trace);
}

Test(decode, keeps_unfinished_kernels_without_times)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add_kernel(&recording, 2000, 1);
	recording_add(&recording, kernel, .correlation = 2, .shape = SHAPE, .context = CONTEXT,
	              .stream = STREAM, .flags = GT_RECORD_UNFINISHED | GT_RECORD_SALVAGED);
	recording_end(&recording, false);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.kernels.count, 2));
	cr_expect(eq(u32, trace.kernels.rows[0].flags, GT_UNFINISHED | GT_SALVAGED));
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 0));
	cr_expect(eq(i64, trace.kernels.rows[0].end_ns, 0));
	cr_expect(eq(u32, trace.kernels.rows[0].correlation, 2));
	gt_trace_release(&trace);
}

/* Activity may name a context or a stream that nothing has described yet, or ever. */
Test(decode, knows_streams_and_contexts_whenever_they_are_described)
{
	struct gt_trace trace;

	add_clock();
	recording_add(&recording, kernel, .start_ns = 2000, .end_ns = 2010, .context = 3,
	              .stream = 8, .device = 1);
	recording_add(&recording, kernel, .start_ns = 2020, .end_ns = 2030, .context = 3,
	              .stream = 9, .device = 1);
	recording_add(&recording, stream, .id = 8, .context = 3, .priority = (uint32_t)-5,
	              .flags = 2);
	recording_add(&recording, context, .id = 3, .device = 1, .null_stream = 7, .sm_count = 33);
	recording_add(&recording, stream, .id = 8, .context = 4); /* the same number elsewhere */
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.streams.count, 3));
	cr_assert(eq(sz, trace.contexts.count, 2));
	cr_expect(eq(u32, trace.streams.rows[0].number, 8));
	cr_expect(eq(i32, trace.streams.rows[0].priority, -5));
	cr_expect(eq(u32, trace.streams.rows[0].flags, 2));
	cr_expect(eq(u32, trace.streams.rows[1].number, 9));
	cr_expect(eq(i32, trace.streams.rows[1].priority, 0));
	cr_expect(eq(u32, trace.streams.rows[2].context, 1));
	cr_expect(eq(u32, trace.contexts.rows[0].null_stream, 7));
	cr_expect(eq(u32, trace.contexts.rows[0].sm_count, 33));
	cr_expect(eq(u32, trace.contexts.rows[1].sm_count, 0));
	cr_expect(eq(u32, trace.contexts.rows[0].device, 0));
	cr_expect(eq(u32, trace.contexts.rows[1].device, GT_NONE));
	cr_expect(eq(u32, trace.kernels.rows[0].stream, 0));
	cr_expect(eq(u32, trace.kernels.rows[1].stream, 1));
	gt_trace_release(&trace);
}

Test(decode, reads_strings_and_shapes_written_after_their_users)
{
	struct gt_trace trace;

	add_clock();
	recording_add(&recording, kernel, .start_ns = 2000, .end_ns = 2010, .shape = 3);
	recording_add(&recording, api_call, .start_ns = 1500, .end_ns = 1510, .function = 2,
	              .thread = 1);
	recording_add(&recording, shape, .id = 3, .name = 9, .grid_x = 6);
	recording_add_string(&recording, 9, "late");
	recording_add_string(&recording, 2, "cuLaunchKernel");
	recording_end(&recording, true);
	trace = collect(&recording);

	const struct gt_launch_shape *shape =
		&trace.launch_shapes.rows[trace.kernels.rows[0].shape];

	expect_text(gt_trace_text(&trace, shape->name), "late");
	cr_expect(eq(u32, shape->grid_x, 6));
	expect_text(gt_trace_text(&trace, trace.api_calls.rows[0].function), "cuLaunchKernel");
	gt_trace_release(&trace);
}

Test(decode, shows_strings_that_never_came_as_empty)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add_string(&recording, 0xfffffff0u, "a damaged id"); /* no room is made for it */
	recording_add(&recording, shape, .id = 2, .name = 500, .grid_x = 6);
	recording_add(&recording, kernel, .start_ns = 2000, .end_ns = 2010, .shape = 2,
	              .context = CONTEXT, .stream = STREAM);
	recording_add(&recording, api_call, .start_ns = 1500, .end_ns = 1510,
	              .function = 0xfffffff0u, .thread = 1);
	recording_add(&recording, shape, .id = 0xfffffff0u, .grid_x = 6);
	recording_add(&recording, note, .topic = 500, .text = 501);
	recording_end(&recording, true);
	trace = collect(&recording);

	const struct gt_launch_shape *shape =
		&trace.launch_shapes.rows[trace.kernels.rows[0].shape];

	expect_text(gt_trace_text(&trace, shape->name), "");
	cr_expect(eq(u32, shape->grid_x, 6));
	expect_text(gt_trace_text(&trace, trace.api_calls.rows[0].function), "");
	cr_assert(eq(sz, trace.notes.count, 2));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture holds 2 names or launch shapes with numbers that "
	                   "cannot be right"));
	cr_expect(has_note(&trace, 0, ""));
	gt_trace_release(&trace);
}

Test(decode, takes_the_last_value_of_each_counter)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add_string(&recording, STRING_NEXT, "api_lost");
	recording_add_string(&recording, STRING_NEXT + 1, "not_written");
	recording_add(&recording, ledger, .name = STRING_NEXT, .value = 3);
	recording_add(&recording, ledger, .name = STRING_NEXT + 1, .value = 1);
	recording_add(&recording, ledger, .name = STRING_NEXT, .value = 5000000000);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(u64, ledger_of(&trace, "api_lost"), 5000000000));
	cr_expect(eq(u64, ledger_of(&trace, "not_written"), 1));
	gt_trace_release(&trace);
}

Test(decode, passes_on_the_notes_of_a_process)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add_string(&recording, STRING_NEXT, "activity");
	recording_add_string(&recording, STRING_NEXT + 1, "libcupti was not found");
	recording_add(&recording, note, .topic = STRING_NEXT, .text = STRING_NEXT + 1);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.notes.count, 1));
	cr_expect(has_note(&trace, 0, "libcupti was not found"));
	expect_text(gt_trace_text(&trace, trace.notes.rows[0].topic), "activity");
	gt_trace_release(&trace);
}

/* ---- damage ---- */

static size_t add_launches(uint64_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		recording_add_call(&recording, first + 100 * i, i + 1);
		recording_add_kernel(&recording, first + 100 * i + 50, i + 1);
	}
	return recording.capture.size;
}

Test(decode, reads_a_torn_capture_up_to_its_end)
{
	struct gt_trace trace;
	size_t whole;

	recording_add_basics(&recording, 1);
	whole = add_launches(2000, 3);
	recording_add_kernel(&recording, 9000, 4);
	recording.capture.size -= 11;

	char text[128];

	snprintf(text, sizeof(text),
	         "node-1-1.capture ends inside a chunk: its last %zu bytes could not be read",
	         recording.capture.size - whole);
	recording_end(&recording, false);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 3));
	cr_expect(eq(sz, trace.api_calls.count, 3));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_TORN));
	cr_expect(eq(sz, trace.notes.count, 1));
	cr_expect(has_note(&trace, 0, text));
	gt_trace_release(&trace);
}

static void expect_in_ledger(const struct gt_trace *trace, const char *name, uint64_t value)
{
	uint64_t found = 0;

	cr_expect(gt_trace_ledger(trace, name, &found) == 0, "%s is in no ledger", name);
	cr_expect(eq(u64, found, value), "%s", name);
}

Test(decode, reads_around_damage)
{
	struct gt_trace trace;
	char text[128];
	size_t begin;
	size_t end;

	recording_add_basics(&recording, 1);
	begin = add_launches(2000, 3);
	recording_add_kernel(&recording, 9000, 4);
	end = recording.capture.size;
	recording.capture.bytes[end - 1] ^= 1;
	recording_add_kernel(&recording, 9100, 5);
	recording_end(&recording, true);
	snprintf(text, sizeof(text),
	         "node-1-1.capture is damaged: %zu bytes from byte %zu on could not be read",
	         end - begin, begin);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 4));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_CLEAN));
	cr_expect(eq(sz, trace.notes.count, 1));
	cr_expect(has_note(&trace, 0, text));
	expect_in_ledger(&trace, "bytes_damaged", end - begin);
	gt_trace_release(&trace);
}

/* After what its process wrote last nothing can be missing, but something is there. */
Test(decode, counts_bytes_behind_the_end_as_damage)
{
	static const char behind[100] = "GTCK";
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	recording_add_meta(&recording, "end", "clean");
	capture_add_bytes(&recording.capture, behind, sizeof(behind));
	recording_end(&recording, false);
	trace = collect(&recording);
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_CLEAN));
	expect_in_ledger(&trace, "bytes_damaged", sizeof(behind));
	gt_trace_release(&trace);
}

Test(decode, takes_of_texts_that_are_too_long_the_beginning)
{
	const size_t size = GT_TEXT_MAX + 100;
	uint8_t *bytes = malloc(size + 20);
	uint8_t *at = gt_put_varint(gt_put_varint(bytes, STRING_NEXT), size);
	struct gt_trace trace;

	memset(at, 'a', size);
	memcpy(at + GT_TEXT_MAX - 1, "\xe2\x82\xac", 3);
	recording_add_basics(&recording, 1);
	gt_writer_payload(&recording.capture.writer, GT_RECORD_STRINGS, bytes,
	                  (size_t)(at - bytes) + size, 1);
	recording_add(&recording, thread, .tid = 7, .name = STRING_NEXT);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.threads.count, 1));
	cr_expect(
		eq(sz, strlen(gt_trace_text(&trace, trace.threads.rows[0].name)), GT_TEXT_MAX - 1));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture holds 1 texts that are longer than any that gputrace "
	                   "writes: the first 16384 bytes of each are here"));
	gt_trace_release(&trace);
	free(bytes);
}

Test(decode, skips_chunks_of_kinds_it_does_not_know)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	for (int i = 0; i < 3; i++)
		gt_writer_payload(&recording.capture.writer, 4711, "later", 5, 1);
	add_launches(2000, 2);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 2));
	cr_expect(eq(sz, trace.notes.count, 1));
	cr_expect(
		has_note(&trace, 0,
	                 "node-1-1.capture holds 3 chunks of kinds that a later gputrace writes"));
	gt_trace_release(&trace);
}

Test(decode, leaves_out_chunks_that_do_not_fit_their_kind)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	gt_writer_payload(&recording.capture.writer, GT_RECORD_kernel, "not columns", 11, 1);
	gt_writer_payload(&recording.capture.writer, GT_RECORD_api_call, "", 0, 1000000);
	add_launches(2000, 2);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 2));
	cr_expect(eq(sz, trace.api_calls.count, 2));
	cr_expect(eq(sz, trace.notes.count, 1));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture holds 2 chunks whose contents do not fit their kind"));
	expect_in_ledger(&trace, "chunks_damaged", 2);
	gt_trace_release(&trace);
}

Test(decode, reads_an_empty_file_as_torn)
{
	struct gt_trace trace;

	recording_add_file(&recording, "node-1-1.capture", "", 0);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 1));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_TORN));
	cr_expect(eq(sz, trace.notes.count, 1));
	cr_expect(has_note(&trace, 0, "node-1-1.capture is empty"));
	gt_trace_release(&trace);
}

Test(decode, says_when_a_file_ends_in_or_after_its_header)
{
	struct gt_trace trace;

	recording_end(&recording, false);
	recording_add_file(&recording, "node-2-1.capture", GT_FILE_MAGIC, 4);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 2));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_TORN));
	cr_expect(eq(u32, trace.processes.rows[1].ended, GT_END_TORN));
	cr_expect(eq(sz, trace.notes.count, 2));
	cr_expect(has_note(&trace, 0, "node-1-1.capture holds nothing but its header"));
	cr_expect(has_note(&trace, 1, "node-2-1.capture ends inside its header"));
	gt_trace_release(&trace);
}

Test(decode, leaves_out_one_file_that_is_no_capture)
{
	struct gt_trace trace;

	recording_add_basics(&recording, 1);
	add_launches(2000, 2);
	recording_end(&recording, true);
	recording_add_file(&recording, "node-2-1.capture", "hello, world, this is text", 26);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 2));
	cr_expect(eq(sz, trace.kernels.count, 2));
	cr_expect(eq(u32, trace.processes.rows[1].ended, GT_END_UNREAD));
	cr_expect(
		has_note(&trace, 1, "node-2-1.capture was left out: it is not a gputrace capture"));
	gt_trace_release(&trace);
}

/* ---- arenas ---- */

static struct test_arena arena;

/* An arena of a process that died with one kernel in CUPTI's buffer and one call in a thread's. */
static void make_arena(void)
{
	struct gt_slot *activity;
	struct gt_slot *records;

	test_arena_init(&arena, 2, 1 << 16, "node-1-1.capture");
	activity = gt_arena_take(&arena.arena, GT_SLOT_ACTIVITY);
	records = gt_arena_take(&arena.arena, GT_SLOT_RECORDS);
	records->tid = 100;
	add_name(&arena, 4096, "_Z5saxpyPfS_f");
	add_raw_kernel(&arena, activity, 1, 4096);
	add_call(&arena, records, 1);
}

Test(decode, salvages_the_arena_beside_a_capture)
{
	struct gt_trace trace;

	add_clock();
	recording_end(&recording, false);
	make_arena();
	recording_add_arena(&recording, &arena);
	test_arena_release(&arena);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.kernels.count, 1));
	cr_assert(eq(sz, trace.api_calls.count, 1));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_DIED));
	cr_expect(eq(u32, trace.kernels.rows[0].flags, GT_SALVAGED));
	cr_expect(eq(u32, trace.api_calls.rows[0].flags, GT_SALVAGED));
	cr_expect(eq(u32, trace.kernels.rows[0].api_call, 0));
	cr_expect(eq(u32, trace.threads.rows[0].tid, 100));
	expect_text(gt_trace_text(&trace,
	                          trace.launch_shapes.rows[trace.kernels.rows[0].shape].demangled),
	            "saxpy(float*, float*, float)");
	cr_expect(eq(sz, trace.notes.count, 0));
	gt_trace_release(&trace);
}

/* The process died between writing a chunk and marking its buffer as drained. */
Test(decode, takes_nothing_from_an_arena_that_the_capture_has_already)
{
	struct gt_trace trace;
	const struct gt_record_kernel kernel = {.start_ns = 1010, .end_ns = 1015, .correlation = 1};

	add_clock();
	make_arena();
	gt_writer_records(&recording.capture.writer, GT_RECORD_kernel, &kernel, 1,
	                  (struct gt_origin){.source = arena.arena.slots[0].sequence});
	recording_end(&recording, false);
	atomic_store(&arena.arena.slots[0].state, GT_SLOT_DRAINING);
	recording_add_arena(&recording, &arena);
	test_arena_release(&arena);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(sz, trace.api_calls.count, 1));
	gt_trace_release(&trace);
}

Test(decode, leaves_the_arena_of_a_running_process_alone)
{
	struct gt_trace trace;
	char path[128];
	int fd;

	recording_add_basics(&recording, 1);
	add_launches(2000, 2);
	recording_end(&recording, false);
	make_arena();
	recording_add_arena(&recording, &arena);
	test_arena_release(&arena);
	snprintf(path, sizeof(path), "%s/node-1-1.arena", recording.path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	cr_assert(eq(int, gt_file_lock(fd, GT_HOLD_ALONE), 0));
	trace = collect(&recording);
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_RUNNING));
	cr_expect(eq(sz, trace.kernels.count, 2));
	cr_expect(has_note(&trace, 0,
	                   "the process still runs: the latest events are not in its capture yet"));
	gt_trace_release(&trace);
	close(fd);

	/* The lock goes with the process. */
	trace = collect(&recording);
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_DIED));
	cr_expect(eq(sz, trace.kernels.count, 3));
	gt_trace_release(&trace);
}

Test(decode, goes_on_without_an_arena_that_is_damaged)
{
	struct gt_trace trace;
	uint8_t bytes[16384];
	char text[256];

	recording_add_basics(&recording, 1);
	add_launches(2000, 2);
	recording_end(&recording, false);
	memset(bytes, 0xff, sizeof(bytes));
	recording_add_file(&recording, "node-1-1.arena", bytes, sizeof(bytes));
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 2));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_TORN));
	cr_assert(eq(sz, trace.notes.count, 2));
	snprintf(text, sizeof(text), "%s/node-1-1.arena could not be salvaged: ", recording.path);
	cr_expect(eq(int,
	             strncmp(gt_trace_text(&trace, trace.notes.rows[0].text), text, strlen(text)),
	             0));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture has no end: what its process did last is not known"));
	gt_trace_release(&trace);
}

/* Somebody removed the capture, or copied only the arena. */
Test(decode, reads_an_arena_without_its_capture)
{
	struct gt_trace trace;

	make_arena();
	arena.arena.header->clocks[0] = (struct gt_record_clock){.host_ns = 1000,
	                                                         .boottime_ns = 1000,
	                                                         .realtime_ns = 1000,
	                                                         .cupti_ns = 1000,
	                                                         .bound_ns = 50};
	arena.arena.header->clock_count = 1;
	/* All of it is in the capture that is gone. */
	arena.arena.header->clocks_written = 1;
	arena.arena.header->strings_written = arena.arena.header->string_count;
	arena.arena.header->heap_written = arena.arena.header->heap_used;
	recording_add_arena(&recording, &arena);
	test_arena_release(&arena);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 1));
	cr_expect(eq(u32, trace.processes.rows[0].pid, 1));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_UNREAD));
	cr_assert(eq(sz, trace.kernels.count, 1));
	cr_assert(eq(sz, trace.api_calls.count, 1));
	cr_expect(eq(u32, trace.kernels.rows[0].flags, GT_SALVAGED));
	cr_expect(eq(i64, trace.kernels.rows[0].start_ns, 1010));
	expect_text(gt_trace_text(&trace,
	                          trace.launch_shapes.rows[trace.kernels.rows[0].shape].demangled),
	            "saxpy(float*, float*, float)");
	cr_expect(ne(u32, trace.api_calls.rows[0].function, 0));
	cr_expect(eq(sz, trace.notes.count, 1));
	cr_expect(has_note(&trace, 0,
	                   "node-1-1.capture is missing: only what its arena holds can be read"));
	gt_trace_release(&trace);
}

Test(decode, takes_an_arena_for_a_capture_that_cannot_be_read)
{
	struct gt_trace trace;

	recording_add_file(&recording, "node-1-1.capture", "hello, world, this is text", 26);
	make_arena();
	recording_add_arena(&recording, &arena);
	test_arena_release(&arena);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_UNREAD));
	cr_expect(
		has_note(&trace, 0, "node-1-1.capture was left out: it is not a gputrace capture"));
	gt_trace_release(&trace);
}

Test(decode, knows_a_process_that_runs_by_its_arena_alone)
{
	struct gt_trace trace;
	char path[128];
	int fd;

	recording_add_file(&recording, "node-1-1.arena", "", 0);
	snprintf(path, sizeof(path), "%s/node-1-1.arena", recording.path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	cr_assert(eq(int, gt_file_lock(fd, GT_HOLD_ALONE), 0));
	trace = collect(&recording);
	cr_assert(eq(sz, trace.processes.count, 1));
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_RUNNING));
	gt_trace_release(&trace);
	close(fd);
}

Test(decode, says_nothing_about_an_arena_that_was_never_used)
{
	struct gt_trace trace;
	uint8_t zeros[8192] = {0};

	recording_add_basics(&recording, 1);
	recording_end(&recording, true);
	recording_add_file(&recording, "node-1-1.arena", zeros, sizeof(zeros));
	trace = collect(&recording);
	cr_expect(eq(u32, trace.processes.rows[0].ended, GT_END_CLEAN));
	cr_expect(eq(sz, trace.notes.count, 0));
	gt_trace_release(&trace);
}

/* Memory that a recording may take, by the size of its file; see collector/decode/decoder.h. */
static size_t room_of_capture(void)
{
	return GT_ROOM_BASE + GT_ROOM_SHARE * recording.capture.size;
}

static void expect_refused(const struct gt_trace *trace)
{
	bool found = false;

	gt_array_each(const struct gt_note, note, &trace->notes)
		found |= strstr(gt_trace_text(trace, note->text),
		                "asks for more memory than what is in it can need") != NULL;
	cr_expect(found);
	found = false;
	gt_array_each(const struct gt_ledger, ledger, &trace->ledgers)
		found |= strcmp(gt_trace_text(trace, ledger->name), "chunks_left_out") == 0 &&
		         ledger->value > 0;
	cr_expect(found, "it is in no ledger");
}

/* Zeros compress to next to nothing: 150 bytes in the file would be 4096 rows in memory. */
Test(decode, takes_no_more_memory_for_rows_than_the_file_can_need)
{
	struct gt_record_kernel *kernels = calloc(GT_CHUNK_MAX_RECORDS, sizeof(*kernels));
	struct gt_trace trace;

	for (int i = 0; i < 500; i++)
		recording_add_records(&recording, GT_RECORD_kernel, kernels, GT_CHUNK_MAX_RECORDS);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(lt(sz, trace.kernels.count * sizeof(struct gt_kernel), room_of_capture()));
	cr_expect(gt(sz, trace.kernels.count, 0));
	expect_refused(&trace);
	gt_trace_release(&trace);
	free(kernels);
}

Test(decode, takes_no_more_memory_for_ids_than_the_file_can_need)
{
	struct gt_trace trace;

	recording_add_string(&recording, GT_MAX_ID - 1, "far away");
	recording_add(&recording, shape, .id = GT_MAX_ID - 1);
	recording_add_string(&recording, 1, "near");
	recording_end(&recording, true);
	trace = collect(&recording);
	expect_refused(&trace);
	gt_trace_release(&trace);
}

Test(decode, takes_no_more_memory_for_series_than_the_file_can_need)
{
	enum { COLUMNS = GT_SERIES_MAX_COLUMNS, SAMPLES = 1024 };
	double *values = malloc(sizeof(*values) * COLUMNS * SAMPLES);
	uint64_t *times_ns = calloc(SAMPLES, sizeof(*times_ns));
	uint8_t *bytes = malloc(GT_SERIES_BOUND(COLUMNS, SAMPLES));
	struct gt_samples samples = {
		.columns = COLUMNS, .count = SAMPLES, .times_ns = times_ns, .values = values};
	struct gt_trace trace;
	size_t memory = 0;

	for (size_t i = 0; i < (size_t)COLUMNS * SAMPLES; i++)
		values[i] = NAN;
	for (uint16_t i = 0; i < 200; i++) {
		samples.series = i / 2;
		(void)gt_writer_payload(&recording.capture.writer, GT_RECORD_SERIES, bytes,
		                        gt_series_encode(&samples, bytes), SAMPLES);
	}
	recording_end(&recording, true);
	trace = collect(&recording);
	gt_array_each(const struct gt_series, series, &trace.series)
		memory += series->capacity * (series->column_count + 1) * sizeof(double);
	cr_expect(lt(sz, memory, 2 * room_of_capture()));
	expect_refused(&trace);
	gt_trace_release(&trace);
	free(values);
	free(times_ns);
	free(bytes);
}

Test(decode, has_room_for_the_densest_that_programs_record)
{
	struct gt_record_kernel *kernels = calloc(400000, sizeof(*kernels));
	struct gt_trace trace;
	uint64_t state = 1;

	recording_add_basics(&recording, 1);
	for (uint32_t i = 0; i < 400000; i++)
		kernels[i] = (struct gt_record_kernel){
			.start_ns = 10000 + 2000ull * i + 32 * (next_random(&state) % 8),
			.end_ns = 11000 + 2000ull * i + 32 * (next_random(&state) % 8),
			.correlation = i,
			.shape = SHAPE,
			.context = CONTEXT,
			.stream = STREAM,
		};
	recording_add_records(&recording, GT_RECORD_kernel, kernels, 400000);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 400000));
	gt_trace_release(&trace);
	free(kernels);
}
