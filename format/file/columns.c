/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/columns.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "format/file/chunk.h"
#include "format/records.h"

static uint64_t load(const uint8_t *row, const struct gt_field *field)
{
	if (field->width == sizeof(uint64_t)) {
		uint64_t wide;

		memcpy(&wide, row + field->offset, sizeof(wide));
		return wide;
	}

	uint32_t narrow;

	memcpy(&narrow, row + field->offset, sizeof(narrow));
	return narrow;
}

static void store(uint8_t *row, const struct gt_field *field, uint64_t value)
{
	if (field->width == sizeof(uint64_t)) {
		memcpy(row + field->offset, &value, sizeof(value));
	} else {
		const uint32_t narrow = (uint32_t)value;

		memcpy(row + field->offset, &narrow, sizeof(narrow));
	}
}

/* The number that stands for a value in the file. */
static uint64_t coded(enum gt_coding coding, uint64_t value, uint64_t previous, uint64_t first)
{
	switch (coding) {
	case GT_CODING_plain:
		break;
	case GT_CODING_delta:
		return gt_zigzag(value - previous);
	case GT_CODING_span:
		return gt_zigzag(value - first);
	case GT_CODING_real:
		return gt_swap_u64(value ^ previous);
	}
	return value;
}

/* The values of one column. Inlined with coding constant, as for decoding below. */
static inline __attribute__((always_inline)) uint8_t *
encode_values(const struct gt_record_info *info, const struct gt_field *field,
              enum gt_coding coding, const uint8_t *rows, size_t count, uint8_t *out)
{
	uint64_t previous = 0;

	for (size_t i = 0; i < count; i++, rows += info->size) {
		const uint64_t value = load(rows, field);
		const uint64_t first = coding == GT_CODING_span ? load(rows, info->fields) : 0;

		out = gt_put_varint(out, coded(coding, value, previous, first));
		previous = value;
	}
	return out;
}

static uint8_t *encode_column(const struct gt_record_info *info, const struct gt_field *field,
                              const uint8_t *rows, size_t count, uint8_t *out)
{
	switch ((enum gt_coding)field->coding) {
	case GT_CODING_plain:
		break;
	case GT_CODING_delta:
		return encode_values(info, field, GT_CODING_delta, rows, count, out);
	case GT_CODING_span:
		return encode_values(info, field, GT_CODING_span, rows, count, out);
	case GT_CODING_real:
		return encode_values(info, field, GT_CODING_real, rows, count, out);
	}
	return encode_values(info, field, GT_CODING_plain, rows, count, out);
}

size_t gt_columns_encode(const struct gt_record_info *info, const void *rows, size_t count,
                         uint8_t *out)
{
	uint8_t *const begin = out;

	for (uint32_t f = 0; f < info->field_count; f++) {
		const struct gt_field *field = &info->fields[f];
		uint8_t *const header = out;

		out = encode_column(info, field, rows, count, out + GT_COLUMN_HEADER_SIZE);
		header[0] = field->number;
		header[1] = field->coding;
		gt_put_u32(header + 2, (uint32_t)(out - header - GT_COLUMN_HEADER_SIZE));
	}
	return (size_t)(out - begin);
}

static const struct gt_field *find_field(const struct gt_record_info *info, uint8_t number)
{
	for (uint32_t f = 0; f < info->field_count; f++)
		if (info->fields[f].number == number)
			return &info->fields[f];
	return NULL;
}

/* The bytes of a column and the field that they are of. */
struct column {
	const struct gt_record_info *info;
	const struct gt_field *field;
	const uint8_t *bytes;
	const uint8_t *end;
};

/*
 * The values of one column. Inlined with coding and width constant, so that the loop, which
 * every byte of a capture goes through, decides nothing that the column has decided.
 */
static inline __attribute__((always_inline)) int decode_values(const struct column *column,
                                                               enum gt_coding coding, uint8_t width,
                                                               uint8_t *rows, size_t count)
{
	const struct gt_field *const first = column->info->fields;
	const struct gt_field to = {.offset = column->field->offset, .width = width};
	const size_t size = column->info->size;
	const uint8_t *const end = column->end;
	const uint8_t *bytes = column->bytes;
	uint64_t previous = 0;

	for (size_t i = 0; i < count; i++, rows += size) {
		uint64_t value;

		if (bytes < end && *bytes < 0x80) {
			value = *bytes++; /* most are differences of a byte */
		} else if (bytes + 1 < end && bytes[1] < 0x80) {
			value = (*bytes & 0x7fu) | (uint64_t)bytes[1] << 7; /* or of two */
			bytes += 2;
		} else {
			bytes = gt_get_varint(bytes, end, &value);
			if (!bytes)
				return -EBADMSG;
		}
		if (coding == GT_CODING_delta)
			value = gt_unzigzag(value) + previous;
		else if (coding == GT_CODING_span)
			value = gt_unzigzag(value) + load(rows, first);
		else if (coding == GT_CODING_real)
			value = gt_swap_u64(value) ^ previous;
		store(rows, &to, value);
		previous = value;
	}
	return bytes == end ? 0 : -EBADMSG;
}

/* Whether it says what all records hold already, 0: several columns of most captures do. */
static bool is_zero(const struct column *column, enum gt_coding coding, size_t count)
{
	return (coding == GT_CODING_plain || coding == GT_CODING_delta) && count > 0 &&
	       (size_t)(column->end - column->bytes) == count && column->bytes[0] == 0 &&
	       memcmp(column->bytes, column->bytes + 1, count - 1) == 0;
}

static int decode_column(const struct column *column, enum gt_coding coding, uint8_t *rows,
                         size_t count)
{
	const bool wide = column->field->width == sizeof(uint64_t);

	if (is_zero(column, coding, count))
		return 0;
	switch (coding) {
	case GT_CODING_plain:
		return wide ? decode_values(column, GT_CODING_plain, 8, rows, count)
		            : decode_values(column, GT_CODING_plain, 4, rows, count);
	case GT_CODING_delta:
		return wide ? decode_values(column, GT_CODING_delta, 8, rows, count)
		            : decode_values(column, GT_CODING_delta, 4, rows, count);
	case GT_CODING_span:
		return wide ? decode_values(column, GT_CODING_span, 8, rows, count)
		            : decode_values(column, GT_CODING_span, 4, rows, count);
	case GT_CODING_real:
		return wide ? decode_values(column, GT_CODING_real, 8, rows, count) : -EBADMSG;
	}
	return -EBADMSG;
}

int gt_columns_decode(const struct gt_record_info *info, const uint8_t *bytes, size_t size,
                      void *rows, size_t count)
{
	const uint8_t *const end = bytes + size;

	/* A file says how many: never more than the caller has room for. */
	if (count > GT_CHUNK_MAX_RECORDS)
		return -EBADMSG;
	memset(rows, 0, count * info->size);
	while (bytes < end) {
		if (end - bytes < GT_COLUMN_HEADER_SIZE)
			return -EBADMSG;

		const struct gt_field *field = find_field(info, bytes[0]);
		const uint8_t coding = bytes[1];
		const uint32_t length = gt_get_u32(bytes + 2);

		bytes += GT_COLUMN_HEADER_SIZE;
		if (length > (size_t)(end - bytes))
			return -EBADMSG;

		const struct column column = {info, field, bytes, bytes + length};

		if (field && decode_column(&column, (enum gt_coding)coding, rows, count) < 0)
			return -EBADMSG;
		bytes += length;
	}
	return 0;
}
