/* SPDX-License-Identifier: Apache-2.0 */
#include "support/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/file/columns.h"

static void *or_abort(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static int add(void *context, const void *data, size_t size)
{
	struct capture *capture = context;
	const size_t room = capture->limit - capture->size;
	const size_t fits = size < room ? size : room;

	if (fits > 0) {
		capture->bytes = or_abort(realloc(capture->bytes, capture->size + fits));
		memcpy(capture->bytes + capture->size, data, fits);
		capture->size += fits;
	}
	return fits == size ? 0 : -ENOSPC;
}

struct gt_sink capture_sink(struct capture *capture)
{
	return (struct gt_sink){.write = add, .context = capture};
}

void capture_init(struct capture *capture, size_t limit)
{
	const size_t size = (gt_writer_memory() + 63) & ~(size_t)63;

	*capture = (struct capture){.limit = limit};
	capture->memory = or_abort(aligned_alloc(64, size));
	if (gt_writer_init(&capture->writer, capture_sink(capture), capture->memory, size) < 0)
		abort();
}

void capture_begin(struct capture *capture, size_t limit)
{
	capture_init(capture, limit);
	(void)gt_writer_file_header(&capture->writer);
}

void capture_release(struct capture *capture)
{
	free(capture->memory);
	free(capture->bytes);
	*capture = (struct capture){0};
}

void capture_add_bytes(struct capture *capture, const void *bytes, size_t size)
{
	if (add(capture, bytes, size) < 0)
		abort();
}

int capture_read(struct gt_reader *reader, const void *bytes, size_t size, void *scratch)
{
	return gt_reader_init(reader, bytes, size, scratch, NULL);
}

void *read_records(const void *bytes, size_t size, uint32_t kind, size_t *count)
{
	const struct gt_record_info *info = gt_record_info(kind);
	void *scratch = or_abort(malloc(GT_CHUNK_MAX_RAW));
	uint8_t *rows = or_abort(malloc(1));
	struct gt_reader reader;
	struct gt_chunk chunk;

	*count = 0;
	if (capture_read(&reader, bytes, size, scratch) < 0)
		abort();
	while (gt_reader_next(&reader, &chunk) > 0) {
		if (chunk.header.kind != kind)
			continue;
		rows = or_abort(realloc(rows, (*count + chunk.header.count) * info->size));
		if (gt_columns_decode(info, chunk.payload, chunk.header.raw,
		                      rows + *count * info->size, chunk.header.count) < 0)
			abort();
		*count += chunk.header.count;
	}
	free(scratch);
	return rows;
}

uint64_t next_random(uint64_t *state)
{
	/* splitmix64 (Steele, Lea, Flood 2014): good enough to vary tests, four lines. */
	uint64_t value = *state += 0x9e3779b97f4a7c15u;

	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

static uint64_t any_value(uint64_t *state, uint64_t previous)
{
	const uint64_t random = next_random(state);

	switch (next_random(state) % 6) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return UINT64_MAX;
	case 3:
		return previous + random % 1000;
	case 4:
		return random % 1000;
	default:
		return random;
	}
}

void random_records(const struct gt_record_info *info, void *rows, size_t count, uint64_t seed)
{
	uint8_t *row = rows;
	uint64_t previous = 0;

	memset(rows, 0, count * info->size);
	for (size_t i = 0; i < count; i++, row += info->size) {
		for (uint32_t f = 0; f < info->field_count; f++) {
			const struct gt_field *field = &info->fields[f];
			const uint32_t narrow = (uint32_t)(previous = any_value(&seed, previous));

			if (field->width == sizeof(narrow))
				memcpy(row + field->offset, &narrow, sizeof(narrow));
			else
				memcpy(row + field->offset, &previous, sizeof(previous));
		}
	}
}
