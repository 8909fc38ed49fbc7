/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/file/columns.h"
#include "format/file/meta.h"
#include "format/recording.h"
#include "support/capture.h"
#include "support/check.h"

static uint8_t scratch[GT_CHUNK_MAX_RAW];

enum { CHUNKS = 5 };

/* Chunks of every kind of payload: plain, compressed, pairs, texts, one without records. */
static size_t write_example(struct capture *capture, size_t ends[CHUNKS])
{
	static const uint8_t strings[] = {1, 3, 'a', 'b', 'c', 2, 0};
	struct gt_record_api_call calls[60];
	struct gt_record_ledger ledger = {.value = 7, .name = 1};
	const struct gt_origin origin = {.source = 3, .part = 1};

	capture_begin(capture, CAPTURE_UNLIMITED);
	gt_meta_write_one(&capture->writer, "host", "a");
	ends[0] = capture->size;
	gt_writer_payload(&capture->writer, GT_RECORD_STRINGS, strings, sizeof(strings), 2);
	ends[1] = capture->size;
	random_records(gt_record_info(GT_RECORD_api_call), calls, 60, 5);
	memset(calls + 20, 0, 40 * sizeof(calls[0]));
	gt_writer_records(&capture->writer, GT_RECORD_api_call, calls, 60, origin);
	ends[2] = capture->size;
	gt_writer_payload(&capture->writer, 4711, "", 0, 0);
	ends[3] = capture->size;
	gt_writer_records(&capture->writer, GT_RECORD_ledger, &ledger, 1, origin);
	ends[4] = capture->size;
	return capture->size;
}

/* Memory of exactly that size, so that a sanitizer sees a read behind the end. */
static uint8_t *copy_of(const void *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	return size ? memcpy(copy, bytes, size) : copy;
}

/* Where each good chunk begins; returns how many. */
static size_t find_chunks(const uint8_t *bytes, size_t size, size_t at[CHUNKS], bool packed,
                          struct gt_reader *reader)
{
	struct gt_chunk chunk;
	size_t count = 0;

	cr_assert(eq(int, capture_read(reader, bytes, size, packed ? NULL : scratch), 0));
	while ((packed ? gt_reader_next_packed(reader, &chunk) : gt_reader_next(reader, &chunk)) >
	       0) {
		cr_assert(lt(sz, count, CHUNKS));
		at[count++] = chunk.at;
		cr_expect(eq(ptr, (void *)(bytes + chunk.at + GT_CHUNK_HEADER_SIZE),
		             (void *)(packed || chunk.payload != scratch
		                              ? chunk.payload
		                              : bytes + chunk.at + GT_CHUNK_HEADER_SIZE)));
	}
	cr_expect(eq(int, gt_reader_next(reader, &chunk), 0), "the end stays the end");
	return count;
}

Test(reader, finds_every_chunk_that_was_written)
{
	struct capture capture;
	struct gt_reader reader;
	size_t ends[CHUNKS];
	size_t at[CHUNKS];
	const size_t size = write_example(&capture, ends);

	for (int packed = 0; packed < 2; packed++) {
		cr_assert(eq(sz, find_chunks(capture.bytes, size, at, packed, &reader), CHUNKS));
		cr_expect(eq(sz, at[0], GT_FILE_HEADER_SIZE));
		for (int i = 1; i < CHUNKS; i++)
			cr_expect(eq(sz, at[i], ends[i - 1]));
		cr_expect(not(reader.torn));
		cr_expect(eq(sz, reader.good_bytes, size));
		cr_expect(eq(u64, reader.skipped, 0));
	}
	capture_release(&capture);
}

Test(reader, keeps_every_chunk_before_a_cut)
{
	struct capture capture;
	size_t ends[CHUNKS];
	size_t at[CHUNKS];
	const size_t size = write_example(&capture, ends);

	for (size_t cut = 0; cut <= size; cut++) {
		uint8_t *bytes = copy_of(capture.bytes, cut);
		struct gt_reader reader;
		size_t expected = 0;
		size_t good = cut < GT_FILE_HEADER_SIZE ? 0 : GT_FILE_HEADER_SIZE;

		while (expected < CHUNKS && ends[expected] <= cut)
			good = ends[expected++];
		cr_expect(eq(sz, find_chunks(bytes, cut, at, cut & 1, &reader), expected),
		          "cut at %zu", cut);
		cr_expect(eq(sz, reader.good_bytes, good));
		cr_expect(eq(u64, reader.skipped, 0));
		cr_expect(reader.torn == (good < cut || cut < GT_FILE_HEADER_SIZE), "cut at %zu",
		          cut);
		free(bytes);
	}
	capture_release(&capture);
}

Test(reader, loses_only_the_chunk_that_is_damaged)
{
	struct capture capture;
	size_t ends[CHUNKS];
	size_t at[CHUNKS];
	const size_t size = write_example(&capture, ends);
	uint8_t *bytes = copy_of(capture.bytes, size);

	for (size_t bit = 8 * GT_FILE_HEADER_SIZE; bit < 8 * size; bit++) {
		struct gt_reader reader;
		size_t damaged = 0;
		size_t found;

		while (ends[damaged] <= bit / 8)
			damaged++;
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		found = find_chunks(bytes, size, at, bit & 1, &reader);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);

		cr_assert(eq(sz, found, CHUNKS - 1), "bit %zu", bit);
		for (size_t i = 0; i < CHUNKS - 1; i++) {
			const size_t index = i < damaged ? i : i + 1;

			cr_expect(eq(sz, at[i], index ? ends[index - 1] : GT_FILE_HEADER_SIZE));
		}
		if (damaged == CHUNKS - 1) {
			cr_expect(reader.torn);
			cr_expect(eq(sz, reader.good_bytes, ends[CHUNKS - 2]));
			continue;
		}
		cr_expect(not(reader.torn));
		cr_expect(eq(sz, reader.damage_at,
		             damaged ? ends[damaged - 1] : GT_FILE_HEADER_SIZE));
		cr_expect(eq(u64, reader.skipped, ends[damaged] - reader.damage_at));
	}
	free(bytes);
	capture_release(&capture);
}

Test(reader, never_crashes_on_a_damaged_file_header)
{
	struct capture capture;
	size_t ends[CHUNKS];
	const size_t size = write_example(&capture, ends);
	uint8_t *bytes = copy_of(capture.bytes, size);

	for (size_t bit = 0; bit < 8 * GT_FILE_HEADER_SIZE; bit++) {
		struct gt_error err = {0};
		struct gt_reader reader;
		struct gt_chunk chunk;
		int result;

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		result = gt_reader_init(&reader, bytes, size, scratch, &err);
		if (result == 0) {
			while (gt_reader_next(&reader, &chunk) > 0)
				continue;
			/* A header of another size only hides what it now covers. */
			cr_expect(ge(sz, bit / 8, 12));
		} else {
			cr_expect(
				eq(int, result,
			           bit / 8 < 8 || bit / 8 >= 12 || bit == 64 ? -EBADMSG : -EPROTO));
			cr_expect(gt(sz, strlen(err.text), 10));
		}
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(bytes);
	capture_release(&capture);
}

Test(reader, reads_on_behind_a_longer_file_header_of_the_same_version)
{
	struct capture plain;
	struct capture capture;
	struct gt_reader reader;
	struct gt_chunk chunk;
	uint8_t header[40] = GT_FILE_MAGIC;

	gt_put_u32(header + 8, GT_FORMAT_VERSION);
	gt_put_u32(header + 12, sizeof(header));
	capture_init(&plain, CAPTURE_UNLIMITED);
	gt_meta_write_one(&plain.writer, "pid", "1");
	capture_init(&capture, CAPTURE_UNLIMITED);
	capture_add_bytes(&capture, header, sizeof(header));
	capture_add_bytes(&capture, plain.bytes, plain.size);
	cr_assert(eq(int, capture_read(&reader, capture.bytes, capture.size, scratch), 0));
	cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
	cr_expect(eq(sz, chunk.at, sizeof(header)));
	cr_expect(eq(u64, reader.skipped, 0));
	capture_release(&plain);
	capture_release(&capture);
}

Test(reader, skips_garbage_between_chunks)
{
	/* Random bytes, the magic alone, and a header that claims more than there is. */
	uint8_t garbage[3][100] = {{0}, "GTCK", "GTCK"};
	struct gt_record_ledger row = {.value = 7, .name = 1};
	uint64_t state = 3;

	for (size_t i = 0; i < sizeof(garbage[0]); i++)
		garbage[0][i] = (uint8_t)next_random(&state);
	gt_put_u32(garbage[2] + 12, 2000000);
	for (size_t g = 0; g < 3; g++) {
		for (size_t length = 1; length <= sizeof(garbage[0]); length++) {
			struct capture capture;
			struct gt_reader reader;
			struct gt_chunk chunk;

			capture_begin(&capture, CAPTURE_UNLIMITED);
			gt_meta_write_one(&capture.writer, "pid", "1");

			const size_t damage_at = capture.size;

			capture_add_bytes(&capture, garbage[g], length);
			gt_writer_records(&capture.writer, GT_RECORD_ledger, &row, 1,
			                  (struct gt_origin){0});
			cr_assert(eq(int,
			             capture_read(&reader, capture.bytes, capture.size, scratch),
			             0));
			cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
			cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
			cr_expect(eq(u16, chunk.header.kind, GT_RECORD_ledger));
			cr_expect(eq(u64, reader.skipped, length));
			cr_expect(eq(sz, reader.damage_at, damage_at));
			cr_expect(eq(int, gt_reader_next(&reader, &chunk), 0));
			cr_expect(not(reader.torn));
			capture_release(&capture);
		}
	}
}

Test(reader, finds_what_was_written_after_a_chunk_that_was_cut_short)
{
	/* A full disk: half a chunk, then room again. */
	struct gt_record_ledger row = {.value = 7, .name = 1};
	struct capture capture;
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t chunks = 0;

	capture_begin(&capture, GT_FILE_HEADER_SIZE + 90);
	gt_meta_write_one(&capture.writer, "command", "a command of more than twenty bytes");
	cr_assert(eq(u64, capture.writer.failed, 1));
	capture.limit = CAPTURE_UNLIMITED;
	for (int i = 0; i < 3; i++)
		gt_writer_records(&capture.writer, GT_RECORD_ledger, &row, 1,
		                  (struct gt_origin){0});
	cr_assert(eq(int, capture_read(&reader, capture.bytes, capture.size, scratch), 0));
	while (gt_reader_next(&reader, &chunk) > 0)
		chunks++;
	cr_expect(eq(sz, chunks, 3));
	cr_expect(eq(u64, reader.skipped, 90));
	capture_release(&capture);
}

Test(reader, tells_a_newer_version_from_damage)
{
	uint8_t header[GT_FILE_HEADER_SIZE] = GT_FILE_MAGIC;
	struct gt_reader reader;
	struct gt_error err = {0};

	gt_put_u32(header + 8, GT_FORMAT_VERSION + 1);
	gt_put_u32(header + 12, GT_FILE_HEADER_SIZE);
	cr_expect(eq(int, gt_reader_init(&reader, header, sizeof(header), scratch, &err), -EPROTO));
	cr_expect(ne(ptr, strstr(err.text, "newer gputrace"), NULL), "%s", err.text);
	gt_put_u32(header + 8, 0);
	cr_expect(
		eq(int, gt_reader_init(&reader, header, sizeof(header), scratch, &err), -EBADMSG));
	cr_expect(eq(int, gt_reader_init(&reader, "ELF", 3, scratch, &err), -EBADMSG));
	expect_text(err.text, "it is not a gputrace capture");
}

Test(reader, takes_an_empty_file_for_a_torn_one)
{
	struct gt_reader reader;
	struct gt_chunk chunk;

	cr_expect(eq(int, gt_reader_init(&reader, NULL, 0, scratch, NULL), 0));
	cr_expect(eq(int, gt_reader_next(&reader, &chunk), 0));
	cr_expect(reader.torn);
	cr_expect(eq(int, gt_reader_init(&reader, "GPUTR", 5, scratch, NULL), 0));
	cr_expect(eq(int, gt_reader_next(&reader, &chunk), 0));
	cr_expect(reader.torn);
}

/* A chunk with any header and payload, and a checksum that is right. */
static void add_chunk(struct capture *capture, struct gt_chunk_header header, const void *payload)
{
	uint8_t bytes[GT_CHUNK_HEADER_SIZE];

	gt_chunk_encode_header(bytes, &header);
	header.checksum = gt_chunk_checksum(bytes, payload, header.stored);
	gt_chunk_encode_header(bytes, &header);
	capture_add_bytes(capture, bytes, sizeof(bytes));
	capture_add_bytes(capture, payload, header.stored);
}

/* The same with memory that is kept, whatever it was used for before. */
static bool accepts(struct gt_chunk_header header, const void *payload)
{
	static void *kept;
	struct capture capture;
	struct gt_reader reader;
	struct gt_chunk chunk;
	int results[2];

	if (!kept)
		kept = malloc(gt_reader_memory());
	capture_begin(&capture, CAPTURE_UNLIMITED);
	add_chunk(&capture, header, payload);
	for (int i = 0; i < 2; i++) {
		cr_assert(eq(int, capture_read(&reader, capture.bytes, capture.size, scratch), 0));
		if (i)
			gt_reader_use(&reader, kept);
		cr_expect(eq(int, reader.decompressor != NULL, i));
		results[i] = gt_reader_next(&reader, &chunk);
		cr_expect(results[i] <= 0 || header.flags != GT_CHUNK_COMPRESSED ||
		          chunk.payload == scratch);
	}
	cr_expect(eq(int, results[0], results[1]));
	capture_release(&capture);
	return results[0] > 0;
}

Test(reader, believes_no_size_without_looking)
{
	static uint8_t payload[GT_CHUNK_MAX_STORED];

	cr_expect(accepts((struct gt_chunk_header){.kind = 500, .stored = 4, .raw = 4}, "abcd"));
	/* Not compressed, and yet of another size. */
	cr_expect(
		not(accepts((struct gt_chunk_header){.kind = 500, .stored = 4, .raw = 3}, "abcd")));
	cr_expect(
		not(accepts((struct gt_chunk_header){.kind = 500, .stored = 4, .raw = 5}, "abcd")));
	cr_expect(not(
		accepts((struct gt_chunk_header){.kind = 500, .stored = 4, .raw = GT_CHUNK_MAX_RAW},
	                "abcd")));
	cr_expect(not(accepts((struct gt_chunk_header){.kind = 500, .stored = 4, .raw = UINT32_MAX},
	                      "abcd")));
	cr_expect(not(accepts((struct gt_chunk_header){.kind = 500,
	                                               .stored = GT_CHUNK_MAX_STORED,
	                                               .raw = GT_CHUNK_MAX_STORED},
	                      payload)));
}

Test(reader, decompresses_exactly_what_the_header_says)
{
	const size_t sizes[] = {1, 1000, GT_CHUNK_MAX_RAW, GT_CHUNK_MAX_RAW + 1, 64u << 20};
	uint8_t *zeros = calloc(64, 1 << 20);
	uint8_t *frame = malloc(1 << 20);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const size_t stored = ZSTD_compress(frame, 1 << 20, zeros, sizes[i], 3);
		struct gt_chunk_header header = {
			.kind = 500,
			.flags = GT_CHUNK_COMPRESSED,
			.stored = (uint32_t)stored,
			.raw = (uint32_t)sizes[i],
		};

		cr_assert(not(ZSTD_isError(stored)));
		cr_expect(accepts(header, frame) == (sizes[i] <= GT_CHUNK_MAX_RAW));
		header.raw = 1000; /* a bomb: the frame holds more than the header says */
		cr_expect(accepts(header, frame) == (sizes[i] == 1000));
		header.raw = (uint32_t)sizes[i];
		header.stored--; /* cut */
		cr_expect(not(accepts(header, frame)));
		header.stored += 2; /* followed by something */
		cr_expect(not(accepts(header, frame)));
	}
	free(zeros);
	free(frame);
}

Test(reader, takes_nothing_but_one_frame_of_zstd)
{
	uint8_t frames[200];
	const size_t one = ZSTD_compress(frames, sizeof(frames), "abcdef", 6, 3);
	const size_t two = one + ZSTD_compress(frames + one, sizeof(frames) - one, "ghi", 3, 3);
	static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0};
	struct gt_chunk_header header = {.kind = 500, .flags = GT_CHUNK_COMPRESSED, .raw = 6};

	header.stored = (uint32_t)one;
	cr_expect(accepts(header, frames));
	header.stored = (uint32_t)two;
	header.raw = 9;
	cr_expect(not(accepts(header, frames)));
	header.stored = sizeof(skippable);
	header.raw = 0;
	cr_expect(not(accepts(header, skippable)));
	header.stored = 0;
	cr_expect(not(accepts(header, frames)));
}

static struct gt_chunk payload_of(const uint8_t *bytes, size_t size)
{
	return (struct gt_chunk){.header.raw = (uint32_t)size, .payload = bytes};
}

Test(reader, walks_the_texts_of_a_chunk)
{
	static const uint8_t bytes[] = {1, 3, 'a', 'b', 'c', 0x80, 0x02, 0, 7, 1, 'x'};
	const struct gt_chunk chunk = payload_of(bytes, sizeof(bytes));
	struct gt_text text;
	size_t offset = 0;

	cr_assert(eq(int, gt_chunk_next_string(&chunk, &offset, &text), 1));
	cr_expect(eq(u32, text.id, 1));
	cr_expect(eq(u32, text.size, 3));
	cr_expect(eq(int, memcmp(text.bytes, "abc", 3), 0));
	cr_assert(eq(int, gt_chunk_next_string(&chunk, &offset, &text), 1));
	cr_expect(eq(u32, text.id, 256));
	cr_expect(eq(u32, text.size, 0));
	cr_assert(eq(int, gt_chunk_next_string(&chunk, &offset, &text), 1));
	cr_expect(eq(u32, text.id, 7));
	cr_expect(eq(int, gt_chunk_next_string(&chunk, &offset, &text), 0));
	cr_expect(eq(int, gt_chunk_next_string(&chunk, &offset, &text), 0));
}

Test(reader, stops_where_texts_and_pairs_are_damaged)
{
	static const uint8_t damaged[][12] = {
		{1, 200, 1}, /* longer than the payload */
		{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0}, /* 2^64 - 1 long */
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	         0xff}, /* endless */
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1, 'x', 0x80, 0x80,
	         0x80}, /* id over 32 bits */
	};

	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		uint8_t *bytes = copy_of(damaged[i], sizeof(damaged[i]));
		const struct gt_chunk chunk = payload_of(bytes, sizeof(damaged[i]));
		struct gt_text key = {0};
		struct gt_text value = {0};
		size_t offset = 0;

		cr_expect(eq(int, gt_chunk_next_string(&chunk, &offset, &key), 0), "case %zu", i);
		cr_expect(eq(sz, offset, 0));
		while (gt_chunk_next_pair(&chunk, &offset, &key, &value) > 0)
			cr_expect(le(sz, key.size + value.size, sizeof(damaged[i])));
		cr_expect(le(sz, offset, sizeof(damaged[i])));
		free(bytes);
	}
}

/* Each header of a file of headers alone claims as much as it can of those behind it. */
Test(reader, looks_through_no_more_than_a_multiple_of_the_file)
{
	enum { CLAIMS = 4096 };
	const size_t room = CLAIMS * GT_CHUNK_HEADER_SIZE + GT_CHUNK_MAX_RAW;
	const struct gt_chunk_header header = {.stored = GT_CHUNK_MAX_RAW, .raw = GT_CHUNK_MAX_RAW};
	uint8_t *claims = calloc(1, room);
	struct capture capture;
	struct gt_reader reader;
	struct gt_chunk chunk;

	for (size_t i = 0; i < CLAIMS; i++)
		gt_chunk_encode_header(claims + i * GT_CHUNK_HEADER_SIZE, &header);
	capture_begin(&capture, CAPTURE_UNLIMITED);
	capture_add_bytes(&capture, claims, room);
	cr_assert(eq(int, capture_read(&reader, capture.bytes, capture.size, scratch), 0));
	cr_assert(lt(u64, reader.work, (uint64_t)CLAIMS * GT_CHUNK_MAX_RAW));
	cr_expect(eq(int, gt_reader_next(&reader, &chunk), 0));
	cr_expect(eq(u64, reader.work, 0));
	cr_expect(reader.torn);
	cr_expect(eq(sz, reader.good_bytes, GT_FILE_HEADER_SIZE));
	capture_release(&capture);
	free(claims);
}

Test(reader, unpacks_no_more_than_a_multiple_of_the_file)
{
	static uint8_t zeros[GT_CHUNK_MAX_RAW];
	struct capture capture;
	struct gt_reader reader;
	struct gt_chunk chunk;
	uint64_t unpacked = 0;
	size_t added = 0;

	capture_begin(&capture, CAPTURE_UNLIMITED);
	for (; added < 100; added++)
		gt_writer_payload(&capture.writer, 4711, zeros, sizeof(zeros), 1);
	cr_assert(eq(int, capture_read(&reader, capture.bytes, capture.size, scratch), 0));
	while (gt_reader_next(&reader, &chunk) > 0)
		unpacked += chunk.header.raw;
	cr_expect(gt(u64, unpacked, GT_READER_WORK / 2));
	cr_expect(le(u64, unpacked, GT_READER_WORK + GT_READER_WORK_SHARE * capture.size));
	cr_expect(lt(u64, unpacked, added * sizeof(zeros)));
	cr_expect(reader.torn);
	capture_release(&capture);
}

/* Each page of a hole that is looked at is one that the system has to find. */
Test(reader, passes_over_holes)
{
	enum { PAGES = 20000, MOST_FAULTS = 2000 };
	const size_t page = 4096;
	const size_t size = PAGES * page;
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t pages[PAGES / 8] = {1};
	struct gt_content content = {
		.bytes = bytes, .size = size, .there = 2 * page, .pages = pages};
	struct capture capture;
	struct gt_reader reader;
	struct gt_chunk chunk;
	struct rusage before;
	struct rusage after;
	size_t chunks = 0;

	(void)madvise(bytes, size, MADV_NOHUGEPAGE);
	capture_begin(&capture, CAPTURE_UNLIMITED);
	memcpy(bytes, capture.bytes, capture.size);
	capture.size = 0;
	gt_meta_write_one(&capture.writer, "host", "a");
	memcpy(bytes + GT_FILE_HEADER_SIZE, capture.bytes, capture.size);
	memcpy(bytes + (PAGES - 8) * page + 100, capture.bytes, capture.size);
	pages[PAGES / 8 - 1] = 1;
	getrusage(RUSAGE_SELF, &before);
	cr_assert(eq(int, capture_read(&reader, bytes, size, scratch), 0));
	gt_reader_skip_holes(&reader, &content);
	while (gt_reader_next(&reader, &chunk) > 0)
		chunks++;
	getrusage(RUSAGE_SELF, &after);
	cr_expect(eq(sz, chunks, 2));
	cr_expect(lt(long, after.ru_minflt - before.ru_minflt, MOST_FAULTS));
	cr_expect(eq(sz, reader.good_bytes, (PAGES - 8) * page + 100 + capture.size));
	capture_release(&capture);
	munmap(bytes, size);
}
