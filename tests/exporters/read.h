/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_EXPORTERS_READ_H
#define GT_TESTS_EXPORTERS_READ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sink/file.h"
#include "exporters/exporter.h"
#include "model/view/view.h"

/*
 * Reads written traces back field by field, without the code that wrote them. The numbers are
 * those of Perfetto's format.
 */
enum {
	PACKET = 1,
	CLOCK_SNAPSHOT = 6,
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	TRACK_EVENT = 11,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	COMPRESSED = 50,
	COUNTER_EVENT = 52,
	RENDER_STAGE = 53,
	TIMESTAMP_CLOCK = 58,
	TRACK_DESCRIPTOR = 60,
	ATTRIBUTES = 126,
	GPU_INFO = 128,
	ZSTD_COMPRESSED = 133,
};

struct bytes {
	const uint8_t *at;
	const uint8_t *end;
};

struct field {
	uint32_t number;
	uint32_t type; /* 0: number, 1: eight bytes, 2: bytes */
	uint64_t value;
	struct bytes bytes;
};

static inline uint64_t take_varint(struct bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		const uint8_t byte = bytes->at < bytes->end ? *bytes->at++ : 0;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static inline bool next_field(struct bytes *message, struct field *field)
{
	uint64_t tag;

	if (message->at >= message->end)
		return false;
	tag = take_varint(message);
	*field = (struct field){.number = (uint32_t)(tag >> 3), .type = tag & 7};
	if (field->type == 0) {
		field->value = take_varint(message);
		return true;
	}
	const uint64_t size = field->type == 1 ? 8 : take_varint(message);

	cr_assert(field->type == 1 || field->type == 2, "wire type %u", field->type);
	cr_assert(size <= (uint64_t)(message->end - message->at),
	          "a field reaches out of its message");
	field->bytes = (struct bytes){message->at, message->at + size};
	if (field->type == 1)
		memcpy(&field->value, message->at, 8);
	message->at += size;
	return true;
}

/* The nth field of that number, from 0. */
static inline bool find_nth(struct bytes message, uint32_t number, unsigned n, struct field *field)
{
	while (next_field(&message, field))
		if (field->number == number && n-- == 0)
			return true;
	*field = (struct field){0};
	return false;
}

static inline bool find(struct bytes message, uint32_t number, struct field *field)
{
	return find_nth(message, number, 0, field);
}

static inline uint64_t number_in(struct bytes message, uint32_t number)
{
	struct field field;

	find(message, number, &field);
	return field.value;
}

static inline struct bytes message_in(struct bytes message, uint32_t number)
{
	struct field field;

	find(message, number, &field);
	return field.bytes;
}

static inline unsigned count_in(struct bytes message, uint32_t number)
{
	struct field field;
	unsigned count = 0;

	while (next_field(&message, &field))
		count += field.number == number;
	return count;
}

static inline bool text_is(struct bytes message, uint32_t number, const char *text)
{
	const struct bytes bytes = message_in(message, number);
	const size_t size = (size_t)(bytes.end - bytes.at);

	return size == strlen(text) && memcmp(bytes.at, text, size) == 0;
}

struct file {
	char *bytes;
	size_t size;
	struct gt_export_counts counts;
};

static inline struct file export_as(const struct gt_view *view, const char *format,
                                    const struct gt_export_options *options)
{
	struct gt_error err = {0};
	struct file file = {0};
	FILE *out = open_memstream(&file.bytes, &file.size);
	const struct gt_target target = {.sink = gt_file_sink(out)};
	const int result =
		gt_exporter_find(format)->write(view, options, &target, &file.counts, &err);

	fclose(out);
	cr_assert(result == 0, "%s", err.text);
	cr_assert(file.counts.bytes == file.size);
	return file;
}

static inline struct file export_view(const struct gt_view *view, bool uncompressed)
{
	const struct gt_export_options options = {
		.compression = uncompressed ? GT_COMPRESSION_NONE : GT_COMPRESSION_DEFAULT};

	return export_as(view, "perfetto", &options);
}

static inline struct file export(const struct gt_trace *trace, bool uncompressed)
{
	const struct gt_view view = gt_view_of(trace);

	return export_view(&view, uncompressed);
}

static inline struct bytes all(const struct file *file)
{
	const uint8_t *at = (const uint8_t *)file->bytes;

	return (struct bytes){at, at + file->size};
}

static inline bool next_packet(struct bytes *rest, struct bytes *packet)
{
	struct field field;

	if (!next_field(rest, &field))
		return false;
	cr_assert(field.number == PACKET && field.type == 2);
	*packet = field.bytes;
	return true;
}

/* The nth packet that has the field. */
static inline struct bytes find_packet(const struct file *file, uint32_t number, unsigned n)
{
	struct bytes rest = all(file);
	struct bytes packet;
	struct field field;

	while (next_packet(&rest, &packet))
		if (find(packet, number, &field) && n-- == 0)
			return packet;
	return (struct bytes){0};
}

static inline unsigned count_packets(const struct file *file, uint32_t number)
{
	struct bytes rest = all(file);
	struct bytes packet;
	unsigned count = 0;

	while (next_packet(&rest, &packet))
		count += count_in(packet, number) > 0;
	return count;
}

/* The descriptor of the track of that name; cr_assert that there is one. */
static inline struct bytes find_track(const struct file *file, const char *name)
{
	for (unsigned i = 0; i < count_packets(file, TRACK_DESCRIPTOR); i++) {
		const struct bytes track =
			message_in(find_packet(file, TRACK_DESCRIPTOR, i), TRACK_DESCRIPTOR);

		if (text_is(track, 2, name))
			return track;
	}
	cr_assert(false, "no track %s", name);
	return (struct bytes){0};
}

static inline bool has_text(const struct file *file, const char *text)
{
	return memmem(file->bytes, file->size, text, strlen(text)) != NULL;
}

#endif
