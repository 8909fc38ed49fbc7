/* SPDX-License-Identifier: Apache-2.0 */
/* Covers PART(descriptors), Covers PART(gpu), Covers PART(attributes). */
#include "support/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "base/sink/file.h"
#include "exporters/exporter.h"
#include "exporters/read.h"
#include "exporters/sample.h"
#include "model/view/view.h"

/* Two processes on two GPUs, a launch and a copy on each. */
static void make_pair(struct gt_trace *trace)
{
	gt_trace_init(trace);
	sample_shape(trace, "_Z4stepv", "step()", 4);
	for (unsigned i = 0; i < 2; i++) {
		const gt_id process = sample_process(trace, "app", 50 + i);
		const gt_id thread = sample_thread(trace, process, 50 + i);
		const gt_id device = sample_device(trace, i ? 3 : 1, 0);
		const gt_id stream =
			sample_stream(trace, sample_context(trace, process, device), 7);
		const gt_time now_ns = SAMPLE_START + 1000 + i * 100;
		const gt_id launch =
			sample_call(trace, thread, "cudaLaunchKernel", now_ns, now_ns + 50);

		sample_kernel(trace, stream, 0, launch, now_ns + 70, now_ns + 80);
		sample_copy(trace, stream, GT_COPY_HOST_TO_DEVICE, launch, now_ns + 70,
		            now_ns + 95);
	}
	sample_finish(trace, SAMPLE_START + 5000);
}

static struct file export_pair(void)
{
	struct gt_trace trace;
	struct file file;

	make_pair(&trace);
	file = export(&trace, true);
	gt_trace_release(&trace);
	return file;
}

Test(perfetto, gives_every_gpu_slice_an_id_of_its_own)
{
	struct file file = export_pair();
	uint64_t ids[4];

	cr_assert(count_packets(&file, RENDER_STAGE) == 4);
	for (unsigned i = 0; i < 4; i++) {
		ids[i] =
			number_in(message_in(find_packet(&file, RENDER_STAGE, i), RENDER_STAGE), 1);
		cr_expect(ids[i] >= 1 && ids[i] <= 4,
		          "ids are small: a launch carries its id twice");
		for (unsigned j = 0; j < i; j++)
			cr_expect(ids[i] != ids[j]);
	}
	free(file.bytes);
}

Test(perfetto, points_from_each_call_to_what_it_launched)
{
	struct file file = export_pair();
	unsigned calls = 0;

	cr_expect(file.counts.arrows == 4);
	for (unsigned i = 0; i < count_packets(&file, TRACK_EVENT); i++) {
		const struct bytes event =
			message_in(find_packet(&file, TRACK_EVENT, i), TRACK_EVENT);
		const struct bytes arrows = message_in(event, 3000);

		if (calls < 2 && number_in(event, 9) == 1) { /* begins; the calls come first */
			const struct bytes kernel = message_in(
				find_packet(&file, RENDER_STAGE, 2 * calls), RENDER_STAGE);
			const struct bytes copy = message_in(
				find_packet(&file, RENDER_STAGE, 2 * calls + 1), RENDER_STAGE);
			struct field field;

			/* Unpacked: a field for each, or Perfetto reads none of them. */
			cr_assert(count_in(arrows, 1) == 2);
			find_nth(arrows, 1, 0, &field);
			cr_expect(field.type == 0 && field.value == number_in(kernel, 1));
			find_nth(arrows, 1, 1, &field);
			cr_expect(field.value == number_in(copy, 1));
			calls++;
		} else {
			cr_expect(count_in(event, 3000) == 0, "again on the end: the arrow twice");
		}
	}
	cr_expect(calls == 2 && file.counts.api_slices == 2);
	free(file.bytes);
}

Test(perfetto, numbers_contexts_through_and_says_whose_they_are)
{
	struct file file = export_pair();
	struct bytes rest = all(&file);
	struct bytes packet;
	unsigned contexts = 0;

	while (next_packet(&rest, &packet)) {
		const struct bytes interned = message_in(packet, INTERNED_DATA);
		struct field field;

		for (unsigned i = 0; find_nth(interned, 23, i, &field); i++) {
			contexts++;
			cr_expect(number_in(field.bytes, 1) == contexts);
			cr_expect(number_in(field.bytes, 2) == 49 + contexts);
			cr_expect(number_in(field.bytes, 3) == 4, "CUDA");
		}
	}
	cr_expect(contexts == 2);
	for (unsigned i = 0; i < 4; i++) {
		const struct bytes event =
			message_in(find_packet(&file, RENDER_STAGE, i), RENDER_STAGE);

		cr_expect(number_in(event, 5) == 1 + i / 2);
		cr_expect(number_in(event, 11) == 1 + i / 2 * 2, "the machine's number of the GPU");
	}
	free(file.bytes);
}

Test(perfetto, describes_all_gpus_in_one_packet_with_holes)
{
	struct file file = export_pair();
	const struct bytes info = message_in(find_packet(&file, GPU_INFO, 0), GPU_INFO);
	static const uint8_t uuid[] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
	                               0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
	struct field gpu;

	cr_assert(count_packets(&file, GPU_INFO) == 1);
	cr_assert(count_in(info, 1) == 4);
	find_nth(info, 1, 1, &gpu);
	cr_expect(text_is(gpu.bytes, 1, "NVIDIA H200 #1"));
	cr_expect(text_is(gpu.bytes, 4, "sm_90"));
	cr_expect(text_is(gpu.bytes, 7, "0000:19:00.0"));
	cr_assert(message_in(gpu.bytes, 5).end - message_in(gpu.bytes, 5).at == sizeof(uuid));
	cr_expect(memcmp(message_in(gpu.bytes, 5).at, uuid, sizeof(uuid)) == 0);
	find_nth(info, 1, 3, &gpu);
	cr_expect(text_is(gpu.bytes, 1, "NVIDIA H200 #3"));
	free(file.bytes);
}

Test(perfetto, describes_each_process_and_thread_once)
{
	struct file file = export_pair();
	uint64_t uuids[16];
	unsigned processes = 0;
	unsigned threads = 0;
	const unsigned count = count_packets(&file, TRACK_DESCRIPTOR);

	cr_assert(count <= 16);
	for (unsigned i = 0; i < count; i++) {
		const struct bytes track =
			message_in(find_packet(&file, TRACK_DESCRIPTOR, i), TRACK_DESCRIPTOR);

		processes += count_in(track, 3);
		threads += count_in(track, 4);
		uuids[i] = number_in(track, 1);
		cr_expect(uuids[i] != 0);
		for (unsigned j = 0; j < i; j++)
			cr_expect(uuids[i] != uuids[j]);
	}
	cr_expect(processes == 2 && threads == 2);
	free(file.bytes);
}

Test(perfetto, tells_processes_with_one_pid_apart)
{
	struct gt_trace trace;
	struct file file;
	uint64_t pids[2];

	make_pair(&trace);
	trace.processes.rows[1].pid = trace.processes.rows[0].pid;
	file = export(&trace, true);
	for (unsigned i = 0; i < 2; i++) {
		const struct bytes packet = find_packet(&file, TRACK_DESCRIPTOR, i);

		pids[i] = number_in(message_in(message_in(packet, TRACK_DESCRIPTOR), 3), 1);
	}
	cr_expect(pids[0] == 50);
	cr_expect(pids[1] > 1 << 22, "a pid that Linux never gives out");
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(perfetto, starts_every_sequence_with_a_clean_state)
{
	struct file file = export_pair();
	struct bytes rest = all(&file);
	struct bytes packet;
	bool started[64] = {false};

	while (next_packet(&rest, &packet)) {
		const uint64_t id = number_in(packet, SEQUENCE_ID);

		cr_assert(id > 0 && id < 64);
		cr_expect(number_in(packet, SEQUENCE_FLAGS) == (started[id] ? 2 : 1));
		started[id] = true;
	}
	free(file.bytes);
}

/* Remembers the interned numbers of one sequence, by field of InternedData. */
struct interned {
	bool known[64][1002][128];
};

static void expect_known(const struct interned *interned, uint64_t sequence, uint32_t table,
                         uint64_t iid)
{
	cr_assert(iid < 128);
	cr_expect(interned->known[sequence][table][iid],
	          "table %u, number %llu is used before it is said", table,
	          (unsigned long long)iid);
}

static void expect_slice_known(const struct interned *interned, uint64_t sequence,
                               struct bytes event)
{
	expect_known(interned, sequence, 23, number_in(event, 5));
	expect_known(interned, sequence, 24, number_in(event, 13));
	expect_known(interned, sequence, 24, number_in(event, 14));
	expect_known(interned, sequence, 2, number_in(event, 20));
	if (count_in(event, 19))
		expect_known(interned, sequence, 1000, number_in(event, 19));
}

Test(perfetto, says_every_name_before_it_is_used_and_once)
{
	struct file file = export_pair();
	struct bytes rest = all(&file);
	struct bytes packet;
	struct interned *interned = calloc(1, sizeof(*interned));
	struct field field;

	while (next_packet(&rest, &packet)) {
		const uint64_t sequence = number_in(packet, SEQUENCE_ID);
		struct bytes data = message_in(packet, INTERNED_DATA);

		while (next_field(&data, &field)) {
			const uint64_t iid = number_in(field.bytes, 1);

			cr_assert(sequence < 64 && field.number < 1002 && iid < 128);
			cr_expect(iid > 0 && !interned->known[sequence][field.number][iid]);
			interned->known[sequence][field.number][iid] = true;
		}
		if (find(packet, RENDER_STAGE, &field))
			expect_slice_known(interned, sequence, field.bytes);
		if (find(packet, TRACK_EVENT, &field) && number_in(field.bytes, 9) == 1) {
			expect_known(interned, sequence, 1, number_in(field.bytes, 3));
			expect_known(interned, sequence, 2, number_in(field.bytes, 10));
		}
		if (find(packet, COUNTER_EVENT, &field))
			expect_known(interned, sequence, 47, number_in(field.bytes, 4));
	}
	free(interned);
	free(file.bytes);
}

/* Times as Perfetto works them out: each adds to the one before on its sequence. */
Test(perfetto, gives_back_every_time)
{
	static const gt_time expected[] = {1070, 1070, 1170, 1170};
	struct file file = export_pair();
	struct bytes rest = all(&file);
	struct bytes packet;
	gt_time now_ns = SAMPLE_START;
	unsigned slices = 0;

	while (next_packet(&rest, &packet)) {
		if (count_in(packet, RENDER_STAGE) == 0)
			continue;
		cr_expect(count_in(packet, TIMESTAMP) == 1);
		cr_expect(count_in(packet, TIMESTAMP_CLOCK) == 0);
		now_ns += (gt_time)number_in(packet, TIMESTAMP);
		cr_expect(now_ns == SAMPLE_START + expected[slices]);
		slices++;
	}
	cr_expect(slices == 4);
	free(file.bytes);
}

Test(perfetto, writes_a_time_that_goes_back_in_full)
{
	struct gt_trace trace;
	struct file file;
	struct bytes packet;

	make_pair(&trace);
	trace.kernels.rows[1].start_ns = SAMPLE_START + 20; /* not in order */
	trace.copies.count = 0;
	file = export(&trace, true);
	packet = find_packet(&file, RENDER_STAGE, 1);
	cr_expect(number_in(packet, TIMESTAMP) == SAMPLE_START + 20);
	cr_expect(number_in(packet, TIMESTAMP_CLOCK) == 6);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(perfetto, keeps_the_clocks_of_the_file_from_going_back)
{
	struct file file = export_pair();
	struct bytes rest = all(&file);
	struct bytes packet;
	uint64_t last[64] = {0};
	unsigned readings = 0;
	struct field clock;

	while (next_packet(&rest, &packet)) {
		const struct bytes snapshot = message_in(packet, CLOCK_SNAPSHOT);

		for (unsigned i = 0; find_nth(snapshot, 1, i, &clock); i++) {
			const uint64_t id = number_in(clock.bytes, 1);
			const uint64_t now = number_in(clock.bytes, 2);

			if (id >= 64)
				continue; /* a sequence's own */
			cr_expect(now >= last[id]);
			last[id] = now;
			readings += id == 1;
		}
	}
	cr_expect(readings == 2, "the first and the last reading of the wall clock");
	free(file.bytes);
}

static bool is_compute(struct bytes stage)
{
	return number_in(stage, 4) == 2;
}

Test(perfetto, shows_only_kernels_as_compute)
{
	struct file file = export_pair();
	const struct bytes kernel = message_in(find_packet(&file, RENDER_STAGE, 0), RENDER_STAGE);
	const struct bytes copy = message_in(find_packet(&file, RENDER_STAGE, 1), RENDER_STAGE);
	struct bytes rest = all(&file);
	struct bytes packet;
	struct field stage;

	cr_expect(count_in(kernel, 19) == 1 && count_in(copy, 19) == 0);
	while (next_packet(&rest, &packet))
		for (unsigned i = 0; find_nth(message_in(packet, INTERNED_DATA), 24, i, &stage);
		     i++)
			if (count_in(stage.bytes, 4))
				cr_expect(is_compute(stage.bytes) ==
				          (number_in(stage.bytes, 1) == number_in(kernel, 14)));
	cr_expect(number_in(kernel, 14) != number_in(copy, 14));
	free(file.bytes);
}

Test(perfetto, leaves_out_kernels_that_never_ended_and_counts_them)
{
	struct gt_trace trace;
	struct file file;
	struct bytes attributes;
	struct field field;
	bool found = false;

	make_pair(&trace);
	trace.kernels.rows[0].flags = GT_UNFINISHED;
	trace.kernels.rows[0].start_ns = trace.kernels.rows[0].end_ns = 0;
	file = export(&trace, true);
	cr_expect(file.counts.gpu_slices == 3 && file.counts.skipped == 1);
	cr_expect(count_packets(&file, RENDER_STAGE) == 3);
	cr_expect(file.counts.arrows == 3);

	attributes = message_in(find_packet(&file, ATTRIBUTES, 0), ATTRIBUTES);
	for (unsigned i = 0; find_nth(attributes, 1, i, &field); i++)
		if (text_is(field.bytes, 1, "kernels_unfinished"))
			found = number_in(field.bytes, 2) == 1;
	cr_expect(found);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(perfetto, says_what_the_ledgers_of_all_processes_add_up_to)
{
	struct file file = export_pair();
	const struct bytes attributes = message_in(find_packet(&file, ATTRIBUTES, 0), ATTRIBUTES);
	struct field field;
	unsigned found = 0;

	for (unsigned i = 0; find_nth(attributes, 1, i, &field); i++)
		if (text_is(field.bytes, 1, "ledger.kernels"))
			found += (unsigned)number_in(field.bytes, 2);
	cr_expect(found == 42);
	free(file.bytes);
}

Test(perfetto, titles_a_copy_by_its_direction_memory_and_size)
{
	struct file file = export_pair();
	const struct bytes copy = message_in(find_packet(&file, RENDER_STAGE, 1), RENDER_STAGE);
	struct bytes rest = all(&file);
	struct bytes packet;
	struct field name;
	bool found = false;

	while (next_packet(&rest, &packet))
		for (unsigned i = 0; count_in(packet, INTERNED_DATA) &&
		                     find_nth(message_in(packet, INTERNED_DATA), 2, i, &name);
		     i++)
			if (number_in(name.bytes, 1) == number_in(copy, 20) &&
			    text_is(name.bytes, 2, "HtoD pinned 1.0 MiB"))
				found = true;
	cr_expect(found);
	free(file.bytes);
}

/* Each kernel of a stream shares what is interned with the others of its shape there only. */
Test(perfetto, tells_kernels_of_many_streams_apart)
{
	enum { STREAMS = 3000 };
	struct gt_trace trace;
	struct file file;
	struct bytes rest;
	struct bytes packet;
	uint64_t kernels[STREAMS];
	unsigned count = 0;

	make_pair(&trace);
	trace.kernels.count = trace.copies.count = 0;
	for (unsigned i = 0; i < STREAMS; i++)
		sample_stream(&trace, 0, 100 + i);
	for (gt_id i = 0; i < 2 * STREAMS; i++)
		sample_kernel(&trace, 2 + i % STREAMS, 0, GT_NONE, SAMPLE_START + 10 * i,
		              SAMPLE_START + 10 * i + 5);
	file = export(&trace, true);
	rest = all(&file);
	while (next_packet(&rest, &packet)) {
		const struct bytes event = message_in(packet, RENDER_STAGE);

		if (count_in(packet, RENDER_STAGE) == 0)
			continue;
		if (count < STREAMS)
			kernels[count] = number_in(event, 19);
		else
			cr_expect(number_in(event, 19) == kernels[count - STREAMS]);
		if (count > 0 && count < STREAMS)
			cr_expect(kernels[count] == kernels[count - 1] + 1);
		count++;
	}
	cr_expect(count == 2 * STREAMS);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(perfetto, gives_a_slice_without_a_length_one_nanosecond)
{
	struct gt_trace trace;
	struct file file;

	make_pair(&trace);
	trace.kernels.rows[0].end_ns = trace.kernels.rows[0].start_ns;
	file = export(&trace, true);
	cr_expect(number_in(message_in(find_packet(&file, RENDER_STAGE, 0), RENDER_STAGE), 2) == 1);
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(perfetto, ends_a_nested_call_no_later_than_the_one_around_it)
{
	static const gt_time expected[] = {100, 200, 900, 900};
	static const uint64_t types[] = {1, 1, 2, 2};
	struct gt_trace trace;
	struct file file;
	gt_time now_ns = SAMPLE_START;

	gt_trace_init(&trace);
	sample_thread(&trace, sample_process(&trace, "app", 5), 5);
	sample_call(&trace, 0, "cudaMalloc", SAMPLE_START + 100, SAMPLE_START + 900);
	sample_call(&trace, 0, "cuMemAlloc", SAMPLE_START + 200, SAMPLE_START + 950);
	sample_last_call(&trace)->flags = GT_NESTED;
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	cr_assert(count_packets(&file, TRACK_EVENT) == 4);
	for (unsigned i = 0; i < 4; i++) {
		const struct bytes packet = find_packet(&file, TRACK_EVENT, i);

		now_ns += (gt_time)number_in(packet, TIMESTAMP);
		cr_expect(now_ns == SAMPLE_START + expected[i]);
		cr_expect(number_in(message_in(packet, TRACK_EVENT), 9) == types[i]);
	}
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(perfetto, leaves_a_call_that_never_returned_open)
{
	struct gt_trace trace;
	struct file file;

	gt_trace_init(&trace);
	sample_thread(&trace, sample_process(&trace, "app", 5), 5);
	sample_call(&trace, 0, "cudaDeviceSynchronize", SAMPLE_START + 100, 0);
	sample_last_call(&trace)->flags = GT_UNFINISHED;
	sample_finish(&trace, SAMPLE_START + 2000);
	file = export(&trace, true);
	cr_expect(count_packets(&file, TRACK_EVENT) == 1);
	cr_expect(file.counts.api_slices == 1);
	free(file.bytes);
	gt_trace_release(&trace);
}

/* Unpacks one compressed packet to the end of plain. */
static size_t inflate_packet(struct bytes packed, uint8_t *plain, size_t room)
{
	uLongf size = room;

	cr_assert(uncompress(plain, &size, packed.at, (uLong)(packed.end - packed.at)) == Z_OK);
	cr_expect(size <= 512 * 1024, "Perfetto's limit of a compressed packet");
	return size;
}

static size_t decompress_packet(struct bytes packed, uint8_t *plain, size_t room)
{
	const size_t size =
		ZSTD_decompress(plain, room, packed.at, (size_t)(packed.end - packed.at));

	cr_assert(ZSTD_isError(size) == 0);
	cr_expect(size <= 512 * 1024, "Perfetto's limit of a compressed packet");
	return size;
}

/* 60,000 kernels, in several blocks, as one packet after the other and in compressed ones of that
 * number. */
static void expect_same_bytes(enum gt_compression compression, uint32_t number,
                              size_t (*unpack)(struct bytes packed, uint8_t *plain, size_t room))
{
	const struct gt_export_options options = {.compression = compression};
	struct gt_trace trace;
	struct gt_view view;
	struct file plain;
	struct file packed;
	struct bytes rest;
	struct bytes packet;
	uint8_t *bytes;
	size_t size = 0;

	make_pair(&trace);
	for (unsigned i = 0; i < 60000; i++)
		sample_kernel(&trace, 0, 0, GT_NONE, SAMPLE_START + 2000 + i * 7 % 1000 + i * 1000,
		              SAMPLE_START + 3000 + i * 1000);
	view = gt_view_of(&trace);
	plain = export(&trace, true);
	packed = export_as(&view, "perfetto", &options);
	cr_expect(packed.counts.raw_bytes == plain.size);
	cr_expect(packed.size < plain.size / 3);

	bytes = calloc(1, plain.size + 1);
	rest = all(&packed);
	while (next_packet(&rest, &packet)) {
		struct bytes block;

		cr_assert(count_in(packet, number) == 1);
		size += unpack(message_in(packet, number), bytes + size, plain.size - size);
		block = (struct bytes){bytes, bytes + size};
		while (next_packet(&block, &packet))
			; /* asserts that no packet is cut */
	}
	cr_assert(size == plain.size);
	cr_expect(memcmp(bytes, plain.bytes, size) == 0);
	free(bytes);
	free(plain.bytes);
	free(packed.bytes);
	gt_trace_release(&trace);
}

Test(perfetto, compresses_whole_packets_to_the_same_bytes)
{
	expect_same_bytes(GT_COMPRESSION_DEFAULT, COMPRESSED, inflate_packet);
	expect_same_bytes(GT_COMPRESSION_ZSTD, ZSTD_COMPRESSED, decompress_packet);
}

Test(perfetto, can_leave_out_calls)
{
	const struct gt_export_options options = {.compression = GT_COMPRESSION_NONE,
	                                          .without_calls = true};
	struct gt_trace trace;
	struct gt_view view;
	struct file file;

	make_pair(&trace);
	sample_last_call(&trace)->result = 719;
	view = gt_view_of(&trace);
	file = export_as(&view, "perfetto", &options);
	cr_expect(file.counts.api_slices == 0 && file.counts.arrows == 0);
	cr_expect(file.counts.gpu_slices == 4 && file.counts.skipped == 0);
	/* The mark of the call that failed, begin and end of the advice about it. */
	cr_expect(eq(uint, count_packets(&file, TRACK_EVENT), 3));
	free(file.bytes);
	gt_trace_release(&trace);
}

Test(perfetto, tells_what_it_was_restricted_to)
{
	struct gt_trace trace;
	struct gt_view view;
	struct file file;

	make_pair(&trace);
	view = gt_view_of(&trace);
	view.restriction = "--stream 7";
	file = export_view(&view, true);
	cr_expect(memmem(file.bytes, file.size, "restricted_to", 13) != NULL);
	cr_expect(memmem(file.bytes, file.size, "--stream 7", 10) != NULL);
	free(file.bytes);
	file = export(&trace, true);
	cr_expect(memmem(file.bytes, file.size, "restricted_to", 13) == NULL);
	free(file.bytes);
	gt_trace_release(&trace);
}

static int fail_to_write(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return -ENOSPC;
}

Test(perfetto, says_so_when_the_disk_is_full)
{
	const struct gt_export_options options = {0};
	struct gt_export_counts counts = {.bytes = 77};
	struct gt_error err = {0};
	struct gt_trace trace;
	const struct gt_target target = {.sink = {.write = fail_to_write}};

	make_pair(&trace);

	const struct gt_view view = gt_view_of(&trace);

	cr_expect(gt_exporter_find("perfetto")->write(&view, &options, &target, &counts, &err) < 0);
	cr_expect(strstr(err.text, "No space left") != NULL);
	cr_expect(counts.bytes == 77, "what failed leaves no counts");
	gt_trace_release(&trace);
}

/* Ids in a recording may be anything: what points nowhere must not be followed. */
Test(perfetto, survives_rows_that_point_nowhere)
{
	struct gt_trace trace;
	struct file file;

	make_pair(&trace);
	trace.kernels.rows[0].stream = 999;
	trace.kernels.rows[1].shape = GT_NONE;
	trace.copies.rows[0].device = 999; /* the context's device stands in */
	trace.copies.rows[1].api_call = 999;
	sample_call(&trace, 999, "cudaFree", SAMPLE_START + 3000, SAMPLE_START + 3100);
	trace.api_calls.rows[0].function = 99999;
	sample_sync(&trace, 0, 0, SAMPLE_START + 10, SAMPLE_START + 20);
	trace.syncs.rows[0].context = trace.syncs.rows[0].api_call = 999;
	sample_overhead(&trace, 999, 1, SAMPLE_START + 10, SAMPLE_START + 20);
	file = export(&trace, true);
	cr_expect(file.counts.gpu_slices == 2);
	cr_expect(file.counts.api_slices == 2);
	cr_expect(file.counts.arrows == 1);
	cr_expect(file.counts.skipped == 5);
	free(file.bytes);
	gt_trace_release(&trace);
}
