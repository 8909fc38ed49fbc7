/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_WIRE_SEQUENCE_H
#define GT_EXPORTERS_PERFETTO_WIRE_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include <perfetto.pb-c.h>

#include "model/trace.h"

struct gt_packets;

/*
 * A row of packets that share interned names and a clock. Times are written as the distance to
 * the packet before on the same sequence, so events should be put in order of time; one that goes
 * back is written with its full time and costs some bytes more.
 */
struct gt_sequence {
	struct gt_packets *packets;
	gt_time last_ns;
	uint32_t id;         /* 0: not started */
	uint32_t fixed_size; /* of fixed */
	uint8_t fixed[16];   /* what every packet of the sequence carries, packed */
	uint8_t timestamp_tag;
};

/* Id numbers must differ inside a file. Times begin at base_ns. All events without a track of
 * their own are on track_uuid. */
void gt_sequence_start(struct gt_sequence *sequence, struct gt_packets *packets, uint32_t id,
                       gt_time base_ns, uint64_t track_uuid);

/* A packet without a time. Fills in the number of the sequence and its flags. */
void gt_sequence_add(struct gt_sequence *sequence, Perfetto__TracePacket *packet);

/* Interned names, in a packet of their own: before the first packet that uses them. */
void gt_sequence_intern(struct gt_sequence *sequence, Perfetto__InternedData *data);

/* An entry of most tables of interned names. The text must outlive it. */
Perfetto__InternedString gt_interned(uint64_t iid, const char *text);

/*
 * A packet that is one packed message, at a time. tag: its field in TracePacket. Fields that are
 * the same in every packet stand together and varying ones follow, time first: it then compresses
 * best.
 */
void gt_sequence_put(struct gt_sequence *sequence, gt_time time_ns, uint32_t tag,
                     const uint8_t *message, size_t size);

/* The same for messages that do not vary: the time comes last. */
void gt_sequence_put_same(struct gt_sequence *sequence, gt_time time_ns, uint32_t tag,
                          const uint8_t *message, size_t size);

#endif
