/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/decode/long_ago.h"

#include <stdlib.h>

#include "format/file/reader.h"
#include "support/capture.h"
#include "support/check.h"

enum { CALLS = 1000, CHUNKS = 300 };

static uint8_t scratch[GT_CHUNK_MAX_RAW];

/* A description of a stream, then chunks of calls that hardly compress. */
static void write(struct capture *capture)
{
	const struct gt_record_stream stream = {.id = 7};
	struct gt_record_api_call *calls = calloc(CALLS, sizeof(*calls));

	capture_begin(capture, CAPTURE_UNLIMITED);
	cr_assert(eq(int,
	             gt_writer_records(&capture->writer, GT_RECORD_stream, &stream, 1,
	                               (struct gt_origin){0}),
	             0));
	for (uint64_t i = 0; i < CHUNKS; i++) {
		random_records(gt_record_info(GT_RECORD_api_call), calls, CALLS, i);
		cr_assert(eq(int,
		             gt_writer_records(&capture->writer, GT_RECORD_api_call, calls, CALLS,
		                               (struct gt_origin){0}),
		             0));
	}
	free(calls);
}

Test(long_ago, events_before_the_last_bytes_are_passed_over_and_descriptions_are_not)
{
	struct capture capture;
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t calls = 0;
	size_t streams = 0;

	write(&capture);
	cr_assert(gt(sz, capture.size, 2 * (size_t)GT_RECENT_BYTES));
	capture_read(&reader, capture.bytes, capture.size, scratch);
	reader.passes = gt_is_long_ago;
	while (gt_reader_next(&reader, &chunk) > 0) {
		calls += chunk.header.kind == GT_RECORD_api_call;
		streams += chunk.header.kind == GT_RECORD_stream;
		if (chunk.header.kind == GT_RECORD_api_call)
			cr_assert(le(sz, capture.size - chunk.at, GT_RECENT_BYTES));
	}
	cr_expect(eq(sz, streams, 1));
	cr_expect(gt(sz, calls, 0));
	cr_expect(lt(sz, calls, CHUNKS / 2));
	cr_expect(not(reader.torn));
	cr_expect(eq(u64, reader.skipped, 0), "passed over is not damaged");
	capture_release(&capture);
}

Test(long_ago, a_short_capture_is_read_whole)
{
	struct gt_reader reader = {.size = GT_RECENT_BYTES, .offset = 0};

	cr_expect(not(
		gt_is_long_ago(&reader, &(struct gt_chunk_header){.kind = GT_RECORD_api_call})));
}
