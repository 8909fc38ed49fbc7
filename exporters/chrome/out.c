/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/chrome/out.h"

#include <errno.h>

#include "base/error.h"

enum {
	BLOCK_SIZE = 256 * 1024,
	GZIP_LEVEL = 6,
	GZIP_WINDOW = 15 + 16, /* zlib's way to say gzip */
	GZIP_MEMORY = 8,       /* zlib's default */
};

int gt_chrome_open(struct gt_chrome_out *out, const struct gt_sink *sink, bool compress,
                   struct gt_error *err)
{
	*out = (struct gt_chrome_out){
		.written = {*sink}, .compress = compress, .room = {.left = GT_TEXT_ROOM_OF_FILE}};
	out->chars.room = &out->room;
	if (!compress)
		return 0;
	if (deflateInit2(&out->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
	                 Z_DEFAULT_STRATEGY) != Z_OK)
		return gt_fail(err, ENOMEM, "cannot start zlib to compress the trace");
	out->packed = gt_allocate(BLOCK_SIZE);
	return 0;
}

/* flush: as deflate takes it. */
static void write_compressed(struct gt_chrome_out *out, int flush)
{
	z_stream *gzip = &out->gzip;
	int result = Z_OK;

	gzip->next_in = (Bytef *)out->chars.text.rows;
	gzip->avail_in = (uInt)out->chars.text.count;
	do {
		gzip->next_out = out->packed;
		gzip->avail_out = BLOCK_SIZE;
		result = deflate(gzip, flush);
		gt_written_add(&out->written, out->packed, BLOCK_SIZE - gzip->avail_out);
	} while (gzip->avail_out == 0);
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		gt_written_fail(&out->written, EIO);
}

static void hand_on(struct gt_chrome_out *out, int flush)
{
	out->raw_bytes += out->chars.text.count;
	if (out->compress)
		write_compressed(out, flush);
	else
		gt_written_add(&out->written, out->chars.text.rows, out->chars.text.count);
	out->chars.text.count = 0;
}

void gt_chrome_pass(struct gt_chrome_out *out)
{
	if (out->chars.text.count >= BLOCK_SIZE)
		hand_on(out, Z_NO_FLUSH);
}

int gt_chrome_close(struct gt_chrome_out *out, struct gt_error *err)
{
	hand_on(out, Z_FINISH);
	if (out->compress)
		deflateEnd(&out->gzip);
	gt_array_free(out->packed);
	gt_array_release(&out->chars.text);
	return gt_written_check(&out->written, err);
}
