/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_WIRE_WIRE_H
#define GT_EXPORTERS_PERFETTO_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#include "base/bytes.h"

/*
 * Single pieces of protobuf's wire format, for the packets that are written millions of times:
 * their constant part is packed once by libprotobuf-c, the rest is put before or behind it
 * (fields may come in any order). Everything else is packed by libprotobuf-c as a whole.
 */

static inline uint8_t *gt_put_bytes(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

/* A field that is a message or bytes. */
static inline uint8_t *gt_put_field(uint8_t *at, uint32_t tag, const void *bytes, size_t size)
{
	return gt_put_bytes(gt_put_varint(gt_put_varint(at, tag), size), bytes, size);
}

static inline size_t gt_varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

/* The tag before a field: its number in the .proto file and its wire type. */
uint32_t gt_wire_tag(const ProtobufCMessageDescriptor *message, const char *field);

/* libprotobuf-c wants char * where it only reads. The text must outlive the message. */
static inline char *gt_borrow(const char *text)
{
	union {
		const char *given;
		char *wanted;
	} pointer = {.given = text};

	return pointer.wanted;
}

#endif
