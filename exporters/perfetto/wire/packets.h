/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_WIRE_PACKETS_H
#define GT_EXPORTERS_PERFETTO_WIRE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/crew.h"
#include "exporters/timeline/written.h"
#include <perfetto.pb-c.h>

struct gt_error;
struct gt_sink;

/*
 * A file of Perfetto packets being written. Whole packets are collected in a block; a full block
 * is compressed into one packet that holds them, or written as it is.
 */
struct gt_packets {
	struct gt_written written;
	enum gt_compression compression;
	struct gt_crew crew; /* none with NONE */
	uint8_t *block;      /* the crew's, or own memory */
	size_t size;         /* bytes in block */
	uint64_t raw_bytes;
};

/* compression: NONE, ZLIB or ZSTD. */
int gt_packets_open(struct gt_packets *packets, const struct gt_sink *sink,
                    enum gt_compression compression, struct gt_error *err);

/* Writes what is left and releases everything. Says whether any write failed. */
int gt_packets_close(struct gt_packets *packets, struct gt_error *err);

void gt_packets_add(struct gt_packets *packets, const Perfetto__TracePacket *packet);

/* The same for a packet that is already packed: its bytes, without the frame. */
void gt_packets_add_packed(struct gt_packets *packets, const uint8_t *packet, size_t size);

/*
 * For a packet that is made in place: room for size bytes at the end of the block; NULL when it
 * would never fit. gt_packets_commit then says how many bytes, frame included, were put there.
 */
uint8_t *gt_packets_reserve(struct gt_packets *packets, size_t size);
void gt_packets_commit(struct gt_packets *packets, size_t size);

#endif
