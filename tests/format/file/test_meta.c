/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/meta.h"

#include <stdio.h>
#include <string.h>

#include "support/capture.h"
#include "support/check.h"

static uint8_t scratch[GT_CHUNK_MAX_RAW];

/* The pairs of a capture as "key=value;". */
static void read_pairs(const struct capture *capture, char *out, size_t size)
{
	struct gt_reader reader;
	struct gt_chunk chunk;
	struct gt_text key;
	struct gt_text value;

	*out = '\0';
	capture_read(&reader, capture->bytes, capture->size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0) {
		size_t offset = 0;
		uint32_t count = 0;

		cr_assert(eq(u16, chunk.header.kind, GT_RECORD_META));
		while (gt_chunk_next_pair(&chunk, &offset, &key, &value) > 0) {
			const size_t used = strlen(out);

			snprintf(out + used, size - used, "%.*s=%.*s;", (int)key.size, key.bytes,
			         (int)value.size, value.bytes);
			count++;
		}
		cr_expect(eq(u32, count, chunk.header.count));
		cr_expect(eq(sz, offset, chunk.header.raw));
	}
}

Test(meta, pairs_come_back)
{
	unsigned char bytes[256];
	struct gt_meta meta = {.bytes = bytes, .capacity = sizeof(bytes)};
	struct capture capture;
	char pairs[256];

	capture_begin(&capture, CAPTURE_UNLIMITED);
	gt_meta_add(&meta, GT_META_HOST, "lab");
	gt_meta_add(&meta, "", "");
	gt_meta_add_number(&meta, GT_META_PID, 18446744073709551615ull);
	gt_meta_add_bytes(&meta, GT_META_COMMAND, "a=b;", 3);
	cr_expect(eq(int, gt_meta_write(&capture.writer, &meta), 0));
	cr_expect(eq(int, gt_meta_write_one(&capture.writer, GT_META_END, GT_META_END_CLEAN), 0));
	read_pairs(&capture, pairs, sizeof(pairs));
	expect_text(pairs, "host=lab;=;pid=18446744073709551615;command=a=b;end=clean;");
	capture_release(&capture);
}

Test(meta, words_keep_their_zero_bytes)
{
	static const char words[] = "./app\0-v\0";
	unsigned char bytes[256];
	struct gt_meta meta = {.bytes = bytes, .capacity = sizeof(bytes)};
	struct capture capture;
	struct gt_reader reader;
	struct gt_chunk chunk;
	struct gt_text key;
	struct gt_text value;
	size_t offset = 0;

	capture_begin(&capture, CAPTURE_UNLIMITED);
	gt_meta_add_bytes(&meta, GT_META_COMMAND, words, 9);
	gt_meta_write(&capture.writer, &meta);
	capture_read(&reader, capture.bytes, capture.size, scratch);
	cr_assert(eq(int, gt_reader_next(&reader, &chunk), 1));
	cr_assert(eq(int, gt_chunk_next_pair(&chunk, &offset, &key, &value), 1));
	cr_assert(eq(u32, value.size, 9));
	cr_expect(eq(int, memcmp(value.bytes, words, 9), 0));
	capture_release(&capture);
}

Test(meta, leaves_out_what_does_not_fit_and_writes_nowhere_else)
{
	unsigned char bytes[100 + 1];
	char value[100];

	memset(value, 'v', sizeof(value));
	for (size_t length = 0; length < sizeof(value); length++) {
		struct gt_meta meta = {.bytes = bytes, .capacity = 100};

		memset(bytes, 0xa5, sizeof(bytes));
		gt_meta_add_bytes(&meta, "key", value, length);
		cr_expect(eq(u32, meta.count, length <= 100 - 3 - 20));
		cr_expect(le(sz, meta.size, 100));
		gt_meta_add(&meta, "k", "v");
		cr_expect(le(sz, meta.size, 100));
		cr_expect(eq(u8, bytes[100], 0xa5));
	}
}
