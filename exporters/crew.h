/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_CREW_H
#define GT_EXPORTERS_CREW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/compress.h"

struct gt_error;

/*
 * Compresses blocks while the next ones are being filled: compressing takes several times as long
 * as what it compresses took to write. Each block has a thread, which starts when there is
 * something to do for it; on one processor there is none. The output is the same bytes in the same
 * order, however many threads there are, and the caller alone writes it.
 */

enum gt_block_state {
	GT_BLOCK_EMPTY,  /* or being filled by the caller */
	GT_BLOCK_FULL,   /* to be compressed by its thread */
	GT_BLOCK_PACKED, /* to be written by the caller */
	GT_BLOCK_OVER,   /* its thread shall end */
};

struct gt_block {
	pthread_t thread;
	pthread_mutex_t lock; /* of state; who it belongs to by its state uses the rest alone */
	pthread_cond_t changed;
	enum gt_block_state state;
	bool has_thread;
	struct gt_compressor compressor;
	uint8_t *bytes;
	size_t size;
	int64_t packed; /* bytes in the compressor, or a negative errno value */
};

struct gt_crew {
	struct gt_block *blocks; /* a ring: behind the one being filled comes the oldest */
	size_t count;
	size_t at; /* the one being filled */
};

/* Takes what came of one block after the other: packed.size as gt_compressor_pack returns it. */
struct gt_packed_sink {
	void (*write)(void *context, const uint8_t *packed, int64_t size);
	void *context;
};

/* kind: GT_COMPRESSION_ZLIB or GT_COMPRESSION_ZSTD. */
int gt_crew_init(struct gt_crew *crew, enum gt_compression kind, size_t block_size,
                 struct gt_error *err);

/* The memory to fill next. */
uint8_t *gt_crew_block(struct gt_crew *crew);

/* So many bytes of it are filled: it is compressed, and written some time. */
void gt_crew_hand_over(struct gt_crew *crew, size_t size, const struct gt_packed_sink *sink);

/* Writes all that was handed over, and what is filled of the last block. */
void gt_crew_finish(struct gt_crew *crew, size_t size, const struct gt_packed_sink *sink);

void gt_crew_release(struct gt_crew *crew);

#endif
