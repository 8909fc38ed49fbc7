/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/wire/packets.h"

#include <assert.h>

#include "base/array.h"
#include "exporters/perfetto/wire/wire.h"

enum {
	/* Perfetto documents 512 KB as the most that one compressed packet may hold. */
	BLOCK_SIZE = 512 * 1000,
	FRAME_TAG = 1 << 3 | 2, /* field 1 of the file: a packet */
	FRAME_MAX = 1 + GT_VARINT_MAX,
};

int gt_packets_open(struct gt_packets *packets, const struct gt_sink *sink,
                    enum gt_compression compression, struct gt_error *err)
{
	int result = 0;

	*packets = (struct gt_packets){.written = {*sink}, .compression = compression};
	if (compression == GT_COMPRESSION_NONE)
		packets->block = gt_allocate(BLOCK_SIZE);
	else
		result = gt_crew_init(&packets->crew, compression, BLOCK_SIZE, err);
	if (result == 0 && compression != GT_COMPRESSION_NONE)
		packets->block = gt_crew_block(&packets->crew);
	return result;
}

/* One packet that holds others. For gt_packed_sink. */
static void write_packed(void *context, const uint8_t *packed, int64_t packed_size)
{
	struct gt_packets *packets = context;
	const char *field = packets->compression == GT_COMPRESSION_ZSTD ? "zstd_compressed_packets"
	                                                                : "compressed_packets";
	const uint32_t tag = gt_wire_tag(&perfetto__trace_packet__descriptor, field);
	uint8_t head[2 * FRAME_MAX];
	uint8_t *end = head;
	size_t size;

	if (packed_size < 0) {
		gt_written_fail(&packets->written, (int)-packed_size);
		return;
	}
	size = (size_t)packed_size;
	end = gt_put_varint(end, FRAME_TAG);
	end = gt_put_varint(end, gt_varint_size(tag) + gt_varint_size(size) + size);
	end = gt_put_varint(gt_put_varint(end, tag), size);
	gt_written_add(&packets->written, head, (size_t)(end - head));
	gt_written_add(&packets->written, packed, size);
}

static void flush(struct gt_packets *packets)
{
	const struct gt_packed_sink sink = {write_packed, packets};

	if (packets->size == 0)
		return;
	if (packets->compression == GT_COMPRESSION_NONE) {
		gt_written_add(&packets->written, packets->block, packets->size);
	} else {
		gt_crew_hand_over(&packets->crew, packets->size, &sink);
		packets->block = gt_crew_block(&packets->crew);
	}
	packets->size = 0;
}

/* Afterwards everything so far has been written. */
static void flush_all(struct gt_packets *packets)
{
	const struct gt_packed_sink sink = {write_packed, packets};

	if (packets->compression == GT_COMPRESSION_NONE)
		flush(packets);
	else
		gt_crew_finish(&packets->crew, packets->size, &sink);
	packets->size = 0;
}

uint8_t *gt_packets_reserve(struct gt_packets *packets, size_t size)
{
	if (size > BLOCK_SIZE)
		return NULL;
	if (size > BLOCK_SIZE - packets->size)
		flush(packets);
	return packets->block + packets->size;
}

void gt_packets_commit(struct gt_packets *packets, size_t size)
{
	assert(size <= BLOCK_SIZE - packets->size);
	packets->size += size;
	packets->raw_bytes += size;
}

void gt_packets_add_packed(struct gt_packets *packets, const uint8_t *packet, size_t size)
{
	uint8_t *const at = gt_packets_reserve(packets, FRAME_MAX + size);
	uint8_t head[FRAME_MAX];
	size_t head_size;

	if (at) {
		const uint8_t *end = gt_put_field(at, FRAME_TAG, packet, size);

		gt_packets_commit(packets, (size_t)(end - at));
		return;
	}
	/* Larger than any block, such as the launch of a graph with 100,000 nodes: goes plain. */
	flush_all(packets);
	head_size = (size_t)(gt_put_varint(gt_put_varint(head, FRAME_TAG), size) - head);
	gt_written_add(&packets->written, head, head_size);
	gt_written_add(&packets->written, packet, size);
	packets->raw_bytes += head_size + size;
}

void gt_packets_add(struct gt_packets *packets, const Perfetto__TracePacket *packet)
{
	uint8_t *const bytes = gt_allocate(perfetto__trace_packet__get_packed_size(packet));

	gt_packets_add_packed(packets, bytes, perfetto__trace_packet__pack(packet, bytes));
	gt_array_free(bytes);
}

int gt_packets_close(struct gt_packets *packets, struct gt_error *err)
{
	flush_all(packets);
	if (packets->compression == GT_COMPRESSION_NONE)
		gt_array_free(packets->block);
	else
		gt_crew_release(&packets->crew);
	packets->block = NULL;
	return gt_written_check(&packets->written, err);
}
