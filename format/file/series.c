/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/series.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "format/file/chunk.h"

enum { HEAD_SIZE = 4, COLUMN_HEAD_SIZE = 5 };

/* Above it not every whole number is a double. */
static const double largest_whole = 9007199254740992.0;

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double real_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* -0.0 is not the whole number 0: its sign would be lost. */
static bool is_whole(double value)
{
	return value >= -largest_whole && value <= largest_whole &&
	       bits_of((double)(int64_t)value) == bits_of(value);
}

static enum gt_series_coding coding_of(const struct gt_samples *samples, uint32_t column)
{
	bool absent = true;
	bool whole = true;

	for (uint32_t i = 0; i < samples->count; i++) {
		const double value = samples->values[(size_t)i * samples->columns + column];

		absent &= isnan(value) != 0;
		whole &= is_whole(value);
	}
	if (absent)
		return GT_SERIES_ABSENT;
	return whole ? GT_SERIES_WHOLE : GT_SERIES_REAL;
}

static uint8_t *encode_values(const struct gt_samples *samples, uint32_t column,
                              enum gt_series_coding coding, uint8_t *out)
{
	uint64_t previous = 0;

	for (uint32_t i = 0; coding != GT_SERIES_ABSENT && i < samples->count; i++) {
		const double value = samples->values[(size_t)i * samples->columns + column];
		const bool whole = coding == GT_SERIES_WHOLE;
		const uint64_t number = whole ? (uint64_t)(int64_t)value : bits_of(value);

		out = gt_put_varint(out, whole ? gt_zigzag(number - previous)
		                               : gt_swap_u64(number ^ previous));
		previous = number;
	}
	return out;
}

/* Samples come at even intervals: what is written is how much an interval differs from the last. */
static uint8_t *encode_times(const struct gt_samples *samples, uint8_t *out)
{
	uint64_t previous = 0;
	uint64_t interval = 0;

	for (uint32_t i = 0; i < samples->count; i++) {
		const uint64_t next = samples->times_ns[i] - previous;

		out = gt_put_varint(out, gt_zigzag(next - interval));
		interval = i ? next : 0;
		previous = samples->times_ns[i];
	}
	return out;
}

static void put_head(uint8_t *head, uint8_t coding, const uint8_t *end)
{
	head[0] = coding;
	gt_put_u32(head + 1, (uint32_t)(end - head - COLUMN_HEAD_SIZE));
}

size_t gt_series_encode(const struct gt_samples *samples, uint8_t *out)
{
	uint8_t *const begin = out;
	uint8_t *head = out + HEAD_SIZE;

	gt_put_u16(out, samples->series);
	out[2] = samples->clock;
	out[3] = samples->columns;
	out = encode_times(samples, head + COLUMN_HEAD_SIZE);
	put_head(head, GT_SERIES_WHOLE, out);
	for (uint32_t column = 0; column < samples->columns; column++) {
		const enum gt_series_coding coding = coding_of(samples, column);

		head = out;
		out = encode_values(samples, column, coding, head + COLUMN_HEAD_SIZE);
		put_head(head, (uint8_t)coding, out);
	}
	return (size_t)(out - begin);
}

int gt_series_peek(const uint8_t *bytes, size_t size, struct gt_samples *samples)
{
	if (size < HEAD_SIZE || bytes[2] > GT_SERIES_CUPTI)
		return -EBADMSG;
	samples->series = gt_get_u16(bytes);
	samples->clock = bytes[2];
	samples->columns = bytes[3];
	return 0;
}

/* The rest of a payload. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

/* The values of the next column: its coding, or -EBADMSG. */
static int open_column(struct cursor *cursor, struct cursor *column)
{
	int coding;
	uint32_t length;

	if (cursor->end - cursor->at < COLUMN_HEAD_SIZE)
		return -EBADMSG;
	coding = cursor->at[0];
	length = gt_get_u32(cursor->at + 1);
	cursor->at += COLUMN_HEAD_SIZE;
	if (length > (size_t)(cursor->end - cursor->at) || coding > GT_SERIES_REAL)
		return -EBADMSG;
	*column = (struct cursor){cursor->at, cursor->at + length};
	cursor->at += length;
	return coding;
}

static int decode_times(struct cursor *cursor, struct gt_samples *samples)
{
	struct cursor column;
	uint64_t previous = 0;
	uint64_t interval = 0;

	if (open_column(cursor, &column) != GT_SERIES_WHOLE)
		return -EBADMSG;
	for (uint32_t i = 0; i < samples->count; i++) {
		uint64_t value;

		column.at = gt_get_varint(column.at, column.end, &value);
		if (!column.at)
			return -EBADMSG;

		const uint64_t next = gt_unzigzag(value) + interval;

		previous += next;
		samples->times_ns[i] = previous;
		interval = i ? next : 0;
	}
	return column.at == column.end ? 0 : -EBADMSG;
}

static int decode_values(struct cursor *cursor, struct gt_samples *samples, uint32_t place)
{
	struct cursor column;
	const int coding = open_column(cursor, &column);
	uint64_t previous = 0;

	if (coding < 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < samples->count; i++) {
		double *to = &samples->values[(size_t)i * samples->columns + place];
		uint64_t value;

		*to = NAN;
		if (coding == GT_SERIES_ABSENT)
			continue;
		column.at = gt_get_varint(column.at, column.end, &value);
		if (!column.at)
			return -EBADMSG;
		if (coding == GT_SERIES_WHOLE) {
			previous += gt_unzigzag(value);
			*to = (double)(int64_t)previous;
		} else {
			previous ^= gt_swap_u64(value);
			*to = real_of(previous);
		}
	}
	return column.at == column.end ? 0 : -EBADMSG;
}

int gt_series_decode(const uint8_t *bytes, size_t size, struct gt_samples *samples)
{
	struct cursor cursor = {bytes, bytes + size};
	int result = gt_series_peek(bytes, size, samples);

	if (result == 0 && samples->count > GT_CHUNK_MAX_RECORDS)
		result = -EBADMSG;
	if (result < 0)
		return result;
	cursor.at += HEAD_SIZE;
	result = decode_times(&cursor, samples);
	for (uint32_t column = 0; result == 0 && column < samples->columns; column++)
		result = decode_values(&cursor, samples, column);
	return result == 0 && cursor.at != cursor.end ? -EBADMSG : result;
}
