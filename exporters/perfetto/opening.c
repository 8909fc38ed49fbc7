/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/opening.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"
#include "exporters/perfetto/wire/wire.h"
#include "exporters/perfetto/writer.h"

static const char key[] = "gputrace.opening";

enum {
	BLOCK_MOST = 1 << 20, /* of the file's first block, packed or not; ours have half */
	PACKET_TAG = 1 << 3 | 2,
	ZLIB_FIELD = 50,
	ZSTD_FIELD = 133,
	WIRE_BYTES = 2, /* a field with a length */
};

struct bytes {
	const uint8_t *at;
	size_t size;
};

/* False at the end, or where there is no number. */
static bool take_number(struct bytes *bytes, uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; bytes->size > 0 && shift < 64; shift += 7) {
		const uint8_t byte = *bytes->at++;

		bytes->size--;
		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_bytes(struct bytes *bytes, struct bytes *taken)
{
	uint64_t size;

	if (!take_number(bytes, &size) || size > bytes->size)
		return false;
	*taken = (struct bytes){bytes->at, (size_t)size};
	bytes->at += size;
	bytes->size -= (size_t)size;
	return true;
}

static bool take_packet(struct bytes *bytes, struct bytes *packet)
{
	uint64_t tag;

	return take_number(bytes, &tag) && tag == PACKET_TAG && take_bytes(bytes, packet);
}

static bool has_opening(const struct bytes *packet, char text[GT_OPENING_BYTES])
{
	Perfetto__TracePacket *read =
		perfetto__trace_packet__unpack(NULL, packet->size, packet->at);
	bool found = false;

	for (size_t i = 0;
	     read && read->trace_attributes && !found && i < read->trace_attributes->n_attribute;
	     i++) {
		const Perfetto__TraceAttribute *attribute = read->trace_attributes->attribute[i];

		found = attribute->key && strcmp(attribute->key, key) == 0 &&
		        attribute->string_value &&
		        strlen(attribute->string_value) < GT_OPENING_BYTES;
		if (found)
			snprintf(text, GT_OPENING_BYTES, "%s", attribute->string_value);
	}
	if (read)
		perfetto__trace_packet__free_unpacked(read, NULL);
	return found;
}

static bool find_opening(struct bytes packets, char text[GT_OPENING_BYTES])
{
	struct bytes packet;

	while (take_packet(&packets, &packet))
		if (has_opening(&packet, text))
			return true;
	return false;
}

/* How much a packed block holds; 0: it is damaged, or holds more than ours. */
static size_t unpack(uint64_t field, const struct bytes *packed, uint8_t *block)
{
	uLongf zlib_size = BLOCK_MOST;
	size_t size;

	if (field == ZLIB_FIELD)
		return uncompress(block, &zlib_size, packed->at, (uLong)packed->size) == Z_OK
		               ? (size_t)zlib_size
		               : 0;
	size = ZSTD_decompress(block, BLOCK_MOST, packed->at, packed->size);
	return ZSTD_isError(size) ? 0 : size;
}

static bool find_in_file(struct bytes file, char text[GT_OPENING_BYTES])
{
	struct bytes rest = file;
	struct bytes packet;
	struct bytes packed;
	uint64_t tag;
	uint8_t *block;
	bool found;

	if (!take_packet(&rest, &packet) || !take_number(&packet, &tag))
		return false;
	if (tag != (ZLIB_FIELD << 3 | WIRE_BYTES) && tag != (ZSTD_FIELD << 3 | WIRE_BYTES))
		return find_opening(file, text);
	if (!take_bytes(&packet, &packed))
		return false;
	block = gt_allocate(BLOCK_MOST);
	found = find_opening((struct bytes){block, unpack(tag >> 3, &packed, block)}, text);
	gt_array_free(block);
	return found;
}

bool gt_perfetto_read_opening(int file, char text[GT_OPENING_BYTES])
{
	uint8_t *block = gt_allocate(BLOCK_MOST);
	const ssize_t size = pread(file, block, BLOCK_MOST, 0);
	const bool found = size > 0 && find_in_file((struct bytes){block, (size_t)size}, text);

	gt_array_free(block);
	return found;
}

void gt_perfetto_write_opening(struct gt_perfetto *perfetto, const char *text)
{
	Perfetto__TraceAttribute attribute = PERFETTO__TRACE_ATTRIBUTE__INIT;
	Perfetto__TraceAttribute *list[] = {&attribute};
	Perfetto__TraceAttributes message = PERFETTO__TRACE_ATTRIBUTES__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	attribute.key = gt_borrow(key);
	attribute.string_value = gt_borrow(text);
	message.attribute = list;
	message.n_attribute = 1;
	packet.trace_attributes = &message;
	gt_sequence_add(&perfetto->descriptions, &packet);
}
