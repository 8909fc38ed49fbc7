/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DECODER_H
#define GT_COLLECTOR_DECODER_H

#include <stdint.h>

#include "collector/stage.h"
#include "format/reader.h"

/* What stage decode is in the middle of: the chunks of one capture become rows. */
struct gt_decoder {
	struct gt_collection *collection;
	struct gt_capture *capture;
	uint8_t *scratch; /* a chunk's payload */
	struct ZSTD_DCtx_s *unpacker;
	uint8_t *records;     /* a chunk's records */
	uint64_t unknown;     /* chunks of kinds a later gputrace writes */
	uint64_t damaged;     /* chunks whose checksum holds but whose columns do not */
	uint64_t misnumbered; /* strings and shapes with an id that nobody gave out */
};

/*
 * Writers give out ids one by one, but some may be lost on the way here. More than this is no
 * real program, and bounds the memory that a damaged id can ask for.
 */
#define GT_MAX_ID (1u << 26)

/*
 * The pid that the name of a capture says, HOST-PID-START.capture; 0 when it does not. What the
 * capture itself says counts more.
 */
gt_count gt_pid_of_name(const char *name);

/* Each takes one chunk; one that cannot be right is counted and left out. */
void gt_decode_meta(struct gt_decoder *decoder, const struct gt_chunk *chunk);
void gt_decode_records(struct gt_decoder *decoder, const struct gt_chunk *chunk);
void gt_decode_series(struct gt_decoder *decoder, const struct gt_chunk *chunk);

#endif
