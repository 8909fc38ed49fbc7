/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_CHROME_OUT_H
#define GT_EXPORTERS_CHROME_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include <zlib.h>

#include "base/sink.h"
#include "exporters/chrome/chars.h"

struct gt_error;

/* A file of JSON on its way to the sink: chars is what was not handed on yet. */
struct gt_chrome_out {
	struct gt_chars chars;
	struct gt_sink sink;
	bool compress;
	int error; /* errno value of the first write that failed; nothing is written after it */
	z_stream gzip;
	uint8_t *packed;
	uint64_t raw_bytes;
	uint64_t bytes; /* written to the sink */
};

int gt_chrome_open(struct gt_chrome_out *out, const struct gt_sink *sink, bool compress,
                   struct gt_error *err);

/* After each event: hands on what there is when it is much. */
void gt_chrome_pass(struct gt_chrome_out *out);

/* Writes what is left and releases everything. Says whether any write failed. */
int gt_chrome_close(struct gt_chrome_out *out, struct gt_error *err);

#endif
