/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_CHROME_OUT_H
#define GT_EXPORTERS_CHROME_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include <zlib.h>

#include "exporters/chrome/chars.h"
#include "exporters/timeline/written.h"

struct gt_error;
struct gt_sink;

/* A file of JSON on its way to the sink: chars is what was not handed on yet. */
struct gt_chrome_out {
	struct gt_chars chars;
	struct gt_text_room room; /* of chars */
	struct gt_written written;
	bool compress;
	z_stream gzip;
	uint8_t *packed;
	uint64_t raw_bytes;
};

int gt_chrome_open(struct gt_chrome_out *out, const struct gt_sink *sink, bool compress,
                   struct gt_error *err);

/* After each event: hands on what there is when it is much. */
void gt_chrome_pass(struct gt_chrome_out *out);

/* Writes what is left and releases everything. Says whether any write failed. */
int gt_chrome_close(struct gt_chrome_out *out, struct gt_error *err);

#endif
