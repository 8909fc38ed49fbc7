/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/wire/sequence.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "exporters/perfetto/wire/packets.h"
#include "exporters/perfetto/wire/wire.h"

enum {
	STATE_CLEARED = 1,
	NEEDS_STATE = 2,
	CLOCK_BOOTTIME_ID = 6,
	CLOCK_OWN_ID = 64, /* 64 to 127 belong to the sequence that defines them */
	STAMP_MAX = 24,    /* a time, and the number of its clock */
	FRAME_MAX = 1 + GT_VARINT_MAX,
};

/* Says on which clock and track the sequence is: its own clock counts on from packet to packet. */
static void write_state(const struct gt_sequence *sequence, gt_time base_ns, uint64_t track_uuid)
{
	Perfetto__Clock boottime = PERFETTO__CLOCK__INIT;
	Perfetto__Clock own = PERFETTO__CLOCK__INIT;
	Perfetto__Clock *clocks[] = {&boottime, &own};
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__TrackEventDefaults event = PERFETTO__TRACK_EVENT_DEFAULTS__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	boottime.has_clock_id = own.has_clock_id = 1;
	boottime.clock_id = CLOCK_BOOTTIME_ID;
	own.clock_id = CLOCK_OWN_ID;
	boottime.has_timestamp = own.has_timestamp = 1;
	boottime.timestamp = own.timestamp = (uint64_t)base_ns;
	own.has_is_incremental = own.is_incremental = 1;
	snapshot.clocks = clocks;
	snapshot.n_clocks = 2;
	event.has_track_uuid = 1;
	event.track_uuid = track_uuid;
	defaults.has_timestamp_clock_id = 1;
	defaults.timestamp_clock_id = CLOCK_OWN_ID;
	defaults.track_event_defaults = track_uuid ? &event : NULL;

	packet.has_trusted_packet_sequence_id = packet.has_sequence_flags = 1;
	packet.trusted_packet_sequence_id = sequence->id;
	packet.sequence_flags = STATE_CLEARED;
	packet.clock_snapshot = &snapshot;
	packet.trace_packet_defaults = &defaults;
	packet.has_timestamp = packet.has_timestamp_clock_id = 1;
	packet.timestamp = (uint64_t)base_ns;
	packet.timestamp_clock_id = CLOCK_BOOTTIME_ID;
	gt_packets_add(sequence->packets, &packet);
}

void gt_sequence_start(struct gt_sequence *sequence, struct gt_packets *packets, uint32_t id,
                       gt_time base_ns, uint64_t track_uuid)
{
	Perfetto__TracePacket fixed = PERFETTO__TRACE_PACKET__INIT;

	*sequence = (struct gt_sequence){.packets = packets, .id = id, .last_ns = base_ns};
	write_state(sequence, base_ns, track_uuid);

	fixed.has_trusted_packet_sequence_id = fixed.has_sequence_flags = 1;
	fixed.trusted_packet_sequence_id = id;
	fixed.sequence_flags = NEEDS_STATE;
	assert(perfetto__trace_packet__get_packed_size(&fixed) <= sizeof(sequence->fixed));
	sequence->fixed_size = (uint32_t)perfetto__trace_packet__pack(&fixed, sequence->fixed);
	sequence->timestamp_tag =
		(uint8_t)gt_wire_tag(&perfetto__trace_packet__descriptor, "timestamp");
}

void gt_sequence_add(struct gt_sequence *sequence, Perfetto__TracePacket *packet)
{
	packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = 1;
	packet->trusted_packet_sequence_id = sequence->id;
	packet->sequence_flags = NEEDS_STATE;
	gt_packets_add(sequence->packets, packet);
}

void gt_sequence_intern(struct gt_sequence *sequence, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	gt_sequence_add(sequence, &packet);
}

Perfetto__InternedString gt_interned(uint64_t iid, const char *text)
{
	Perfetto__InternedString string = PERFETTO__INTERNED_STRING__INIT;

	string.has_iid = 1;
	string.iid = iid;
	string.text = gt_borrow(text);
	return string;
}

/* The field or fields of a packet's time. The clock is named only when it is not the own one. */
struct stamp {
	size_t size;
	uint8_t bytes[STAMP_MAX];
};

static void make_stamp(struct gt_sequence *sequence, gt_time time_ns, struct stamp *stamp)
{
	uint8_t *at = stamp->bytes;

	*at++ = sequence->timestamp_tag;
	if (time_ns >= sequence->last_ns) {
		at = gt_put_varint(at, (uint64_t)(time_ns - sequence->last_ns));
		sequence->last_ns = time_ns;
	} else {
		static const char field[] = "timestamp_clock_id";
		const uint32_t tag = gt_wire_tag(&perfetto__trace_packet__descriptor, field);

		at = gt_put_varint(at, (uint64_t)time_ns);
		at = gt_put_varint(gt_put_varint(at, tag), CLOCK_BOOTTIME_ID);
	}
	stamp->size = (size_t)(at - stamp->bytes);
}

/* A packet: what is fixed, its time, and the message as the field of that tag. */
struct packet {
	const struct gt_sequence *sequence;
	struct stamp stamp;
	bool time_last;
	uint32_t tag;
	const uint8_t *message;
	size_t size;
};

/* Copies all the room of a stamp, which takes no call, and counts what is used. */
static uint8_t *put_stamp(uint8_t *at, const struct stamp *stamp)
{
	memcpy(at, stamp->bytes, sizeof(stamp->bytes));
	return at + stamp->size;
}

static uint8_t *put_packet(uint8_t *at, const struct packet *packet)
{
	memcpy(at, packet->sequence->fixed, sizeof(packet->sequence->fixed));
	at += packet->sequence->fixed_size;
	if (!packet->time_last)
		at = put_stamp(at, &packet->stamp);
	at = gt_put_field(at, packet->tag, packet->message, packet->size);
	return packet->time_last ? put_stamp(at, &packet->stamp) : at;
}

static void write_packet(const struct packet *packet)
{
	struct gt_packets *packets = packet->sequence->packets;
	const size_t size = packet->sequence->fixed_size + packet->stamp.size + packet->size +
	                    gt_varint_size(packet->tag) + gt_varint_size(packet->size);
	uint8_t *const start = gt_packets_reserve(packets, FRAME_MAX + size + STAMP_MAX);
	uint8_t *at = start;

	if (at) {
		*at++ = 1 << 3 | 2; /* a packet of the file */
		at = put_packet(gt_put_varint(at, size), packet);
		gt_packets_commit(packets, (size_t)(at - start));
		return;
	}
	uint8_t *const large = gt_allocate(size + STAMP_MAX);

	put_packet(large, packet);
	gt_packets_add_packed(packets, large, size);
	gt_array_free(large);
}

void gt_sequence_put(struct gt_sequence *sequence, gt_time time_ns, uint32_t tag,
                     const uint8_t *message, size_t size)
{
	struct packet packet = {.sequence = sequence, .tag = tag, .message = message, .size = size};

	make_stamp(sequence, time_ns, &packet.stamp);
	write_packet(&packet);
}

void gt_sequence_put_same(struct gt_sequence *sequence, gt_time time_ns, uint32_t tag,
                          const uint8_t *message, size_t size)
{
	struct packet packet = {.sequence = sequence,
	                        .time_last = true,
	                        .tag = tag,
	                        .message = message,
	                        .size = size};

	make_stamp(sequence, time_ns, &packet.stamp);
	write_packet(&packet);
}
