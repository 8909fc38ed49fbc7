/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/file/chunk.h"
#include "format/file/columns.h"
#include "format/file/reader.h"
#include "support/capture.h"
#include "support/check.h"

static uint8_t scratch[GT_CHUNK_MAX_RAW];
static uint8_t rows[GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE];
static uint8_t decoded[GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE];

static struct gt_chunk only_chunk(const struct capture *capture)
{
	struct gt_reader reader;
	struct gt_chunk chunk;
	struct gt_chunk second;

	cr_assert(eq(int, capture_read(&reader, capture->bytes, capture->size, scratch), 0));
	cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
	cr_assert(eq(int, gt_reader_next(&reader, &second), 0));
	cr_expect(not(reader.torn));
	return chunk;
}

Test(writer, fits_a_full_chunk_of_every_kind)
{
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++) {
		const struct gt_record_info *info = gt_record_info(kind);
		const size_t count = GT_CHUNK_MAX_RECORDS;
		const struct gt_origin origin = {.source = 77, .part = 3};
		struct capture capture;
		struct gt_chunk chunk;

		if (!info)
			continue;
		capture_begin(&capture, CAPTURE_UNLIMITED);
		random_records(info, rows, count, kind);
		cr_assert(
			eq(int, gt_writer_records(&capture.writer, kind, rows, count, origin), 0));
		chunk = only_chunk(&capture);
		cr_expect(eq(u16, chunk.header.kind, kind));
		cr_expect(eq(u16, chunk.header.part, 3));
		cr_expect(eq(u64, chunk.header.source, 77));
		cr_expect(eq(u32, chunk.header.count, count));
		cr_assert(
			eq(int,
		           gt_columns_decode(info, chunk.payload, chunk.header.raw, decoded, count),
		           0));
		cr_expect(eq(int, memcmp(rows, decoded, count * info->size), 0), "%s", info->name);
		cr_expect(eq(u64, capture.writer.chunks, 1));
		cr_expect(eq(u64, capture.writer.bytes, capture.size));
		capture_release(&capture);
	}
}

Test(writer, notes_the_span_of_times_and_leaves_out_unknown_ones)
{
	const struct gt_record_kernel kernels[] = {
		{.start_ns = 0, .end_ns = 0},
		{.start_ns = 700, .end_ns = 900},
		{.start_ns = 300, .end_ns = 0},
		{.start_ns = 500, .end_ns = 950},
	};
	struct capture capture;
	struct gt_chunk chunk;

	capture_begin(&capture, CAPTURE_UNLIMITED);
	gt_writer_records(&capture.writer, GT_RECORD_kernel, kernels, 4, (struct gt_origin){0});
	chunk = only_chunk(&capture);
	cr_expect(eq(u64, chunk.header.first, 300));
	cr_expect(eq(u64, chunk.header.last, 950));
	capture_release(&capture);
}

Test(writer, has_no_span_for_records_without_times)
{
	const struct gt_record_ledger row = {.value = 99, .name = 3};
	struct capture capture;
	struct gt_chunk chunk;

	capture_begin(&capture, CAPTURE_UNLIMITED);
	gt_writer_records(&capture.writer, GT_RECORD_ledger, &row, 1, (struct gt_origin){0});
	chunk = only_chunk(&capture);
	cr_expect(eq(u64, chunk.header.first, 0));
	cr_expect(eq(u64, chunk.header.last, 0));
	capture_release(&capture);
}

Test(writer, compresses_what_gets_smaller_and_nothing_else)
{
	static uint8_t payload[4096];
	struct capture capture;
	struct gt_chunk chunk;
	uint64_t state = 1;

	capture_begin(&capture, CAPTURE_UNLIMITED);
	cr_assert(eq(int, gt_writer_payload(&capture.writer, 500, payload, sizeof(payload), 1), 0));
	chunk = only_chunk(&capture);
	cr_expect(eq(u32, chunk.header.flags, GT_CHUNK_COMPRESSED));
	cr_expect(lt(u32, chunk.header.stored, 100));
	cr_expect(eq(int, memcmp(chunk.payload, payload, sizeof(payload)), 0));
	capture_release(&capture);

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)next_random(&state);
	capture_begin(&capture, CAPTURE_UNLIMITED);
	cr_assert(eq(int, gt_writer_payload(&capture.writer, 500, payload, sizeof(payload), 1), 0));
	chunk = only_chunk(&capture);
	cr_expect(eq(u32, chunk.header.flags, 0));
	cr_expect(eq(u32, chunk.header.stored, sizeof(payload)));
	cr_expect(eq(int, memcmp(chunk.payload, payload, sizeof(payload)), 0));
	capture_release(&capture);
}

Test(writer, takes_the_largest_payload_there_may_be)
{
	uint8_t *payload = malloc(GT_CHUNK_MAX_RAW);
	struct capture capture;
	struct gt_chunk chunk;
	uint64_t state = 1;

	for (size_t i = 0; i < GT_CHUNK_MAX_RAW; i++)
		payload[i] = (uint8_t)next_random(&state);
	capture_begin(&capture, CAPTURE_UNLIMITED);
	cr_expect(eq(int, gt_writer_payload(&capture.writer, 500, payload, GT_CHUNK_MAX_RAW + 1, 1),
	             -EMSGSIZE));
	cr_assert(
		eq(int, gt_writer_payload(&capture.writer, 500, payload, GT_CHUNK_MAX_RAW, 1), 0));
	chunk = only_chunk(&capture);
	cr_expect(eq(int, memcmp(chunk.payload, payload, GT_CHUNK_MAX_RAW), 0));
	capture_release(&capture);
	free(payload);
}

Test(writer, writes_an_empty_payload)
{
	struct capture capture;
	struct gt_chunk chunk;

	capture_begin(&capture, CAPTURE_UNLIMITED);
	cr_assert(eq(int, gt_writer_payload(&capture.writer, 500, "", 0, 0), 0));
	chunk = only_chunk(&capture);
	cr_expect(eq(u32, chunk.header.raw, 0));
	cr_expect(eq(u32, chunk.header.stored, 0));
	capture_release(&capture);
}

Test(writer, refuses_what_it_cannot_write)
{
	struct gt_record_note note = {0};
	struct capture capture;
	struct gt_writer *const writer = &capture.writer;
	const struct gt_origin none = {0};

	capture_begin(&capture, CAPTURE_UNLIMITED);
	cr_expect(eq(int, gt_writer_records(writer, GT_RECORD_META, &note, 1, none), -EINVAL));
	cr_expect(eq(int, gt_writer_records(writer, 9999, &note, 1, none), -EINVAL));
	cr_expect(
		eq(int,
	           gt_writer_records(writer, GT_RECORD_note, &note, GT_CHUNK_MAX_RECORDS + 1, none),
	           -EINVAL));
	cr_expect(eq(int, gt_writer_records(writer, GT_RECORD_note, &note, 0, none), 0));
	cr_expect(eq(sz, capture.size, GT_FILE_HEADER_SIZE));
	capture_release(&capture);
}

Test(writer, says_when_its_memory_is_too_small)
{
	const size_t size = gt_writer_memory();
	void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
	struct gt_writer writer;

	cr_expect(eq(int, gt_writer_init(&writer, (struct gt_sink){0}, memory, size - 1), -ENOMEM));
	cr_expect(eq(int, gt_writer_init(&writer, (struct gt_sink){0}, memory, size), 0));
	free(memory);
}

static void write_three(struct capture *capture, size_t limit)
{
	const struct gt_record_ledger ledger = {.value = 5, .name = 1};
	const struct gt_origin origin = {.source = 1};

	capture_begin(capture, limit);
	gt_writer_records(&capture->writer, GT_RECORD_ledger, &ledger, 1, origin);
	random_records(gt_record_info(GT_RECORD_api_call), rows, 20, 9);
	gt_writer_records(&capture->writer, GT_RECORD_api_call, rows, 20, origin);
	gt_writer_records(&capture->writer, GT_RECORD_ledger, &ledger, 1, origin);
}

Test(writer, counts_each_record_that_a_full_disk_refuses)
{
	struct capture capture;

	write_three(&capture, GT_FILE_HEADER_SIZE);
	cr_expect(eq(u64, capture.writer.failed, 3));
	cr_expect(eq(u64, capture.writer.failed_records, 1 + 20 + 1));
	capture_release(&capture);
}

Test(writer, leaves_a_readable_file_on_a_full_disk)
{
	struct capture whole;
	size_t seen = 0;

	write_three(&whole, CAPTURE_UNLIMITED);
	cr_assert(eq(u64, whole.writer.chunks, 3));
	for (size_t limit = 0; limit < whole.size; limit++) {
		struct capture capture;
		struct gt_reader reader;
		struct gt_chunk chunk;
		uint64_t chunks = 0;

		write_three(&capture, limit);
		cr_expect(eq(sz, capture.size, limit));
		cr_assert(eq(int, capture_read(&reader, capture.bytes, capture.size, scratch), 0));
		while (gt_reader_next(&reader, &chunk) > 0)
			chunks++;
		/* Chunks that the writer says it wrote are there, and it counted the rest. */
		cr_expect(eq(u64, chunks, capture.writer.chunks), "limit %zu", limit);
		cr_expect(
			eq(u64, capture.writer.failed, 3 - chunks + (limit < GT_FILE_HEADER_SIZE)));
		cr_expect(ge(sz, chunks, seen));
		seen = chunks;
		capture_release(&capture);
	}
	cr_expect(eq(sz, seen, 2));
	capture_release(&whole);
}
