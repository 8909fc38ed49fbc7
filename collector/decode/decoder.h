/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DECODE_DECODER_H
#define GT_COLLECTOR_DECODE_DECODER_H

#include <stdint.h>

#include "collector/condition.h"
#include "collector/stage.h"
#include "format/file/reader.h"

/* State of stage decode: the chunks of one capture become rows. */
struct gt_decoder {
	struct gt_collection *collection;
	struct gt_capture *capture;
	uint8_t *scratch;     /* a chunk's payload */
	void *decompressor;   /* gt_reader_use */
	uint8_t *records;     /* a chunk's records */
	uint64_t unknown;     /* chunks of kinds a later gputrace writes */
	uint64_t damaged;     /* chunks whose checksum holds but whose columns do not */
	uint64_t misnumbered; /* strings and shapes with an id that nobody gave out */
	uint64_t cut;         /* strings longer than any that is written */
	uint64_t room;        /* bytes of memory that the recording may still take */
	uint64_t refused;     /* chunks that would have taken more */
	struct gt_recording_condition condition;
	uint64_t bytes_done; /* of the captures before this one, */
	uint64_t bytes;      /* and of all; 0: nobody wants to know how far it is */
};

/*
 * Memory that a recording may take for what its chunks become: so much, and so many times the
 * bytes of its files. The densest that real programs record is kernels of graphs, 1.1 bytes in the
 * file (bench/soak, 2026-11-21) and 112 by the guess below; zeros compress to next to nothing, and
 * without a bound a file of kilobytes could ask for gigabytes.
 */
#define GT_ROOM_BASE  ((uint64_t)40 << 20)
#define GT_ROOM_SHARE 256

/* Memory that rows and what later stages keep of them take, by a guess that is rather high. */
#define GT_ROOM_OF_ROW(bytes)    (2 * (uint64_t)(bytes))
#define GT_ROOM_OF_RECORD(bytes) (2 * (uint64_t)(bytes) + 128)
#define GT_ROOM_OF_RANGE         192 /* besides, as each may have a path of its own */
#define GT_ROOM_OF_TEXT(bytes)   ((uint64_t)(bytes) + 128)
#define GT_ROOM_OF_DEVICE        4096
#define GT_ROOM_OF_PLACE         256 /* a context, a stream, a thread, an event */

/* Whether there is room for so much more, which is then taken. */
bool gt_decoder_take(struct gt_decoder *decoder, uint64_t bytes);

/*
 * Writers give out ids one by one, but some may be lost on the way here. More than this is no
 * real program, and bounds the memory that a damaged id can ask for.
 */
#define GT_MAX_ID (1u << 26)

/*
 * The pid that the name of a capture says, HOST-PID-START.capture; 0 when it does not. The
 * capture's own pid counts more.
 */
gt_count gt_pid_of_name(const char *name);

/* Each takes one chunk; one that cannot be right is counted and left out. */
void gt_decode_meta(struct gt_decoder *decoder, const struct gt_chunk *chunk);
void gt_decode_records(struct gt_decoder *decoder, const struct gt_chunk *chunk);
void gt_decode_series(struct gt_decoder *decoder, const struct gt_chunk *chunk);

#endif
