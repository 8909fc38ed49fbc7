/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_CHROME_CHARS_H
#define GT_EXPORTERS_CHROME_CHARS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/text_room.h"

/* JSON being made: bytes that grow at their end. Zero-initialise it. */
struct gt_chars {
	gt_array(char) text;       /* not terminated */
	struct gt_text_room *room; /* for what is quoted; NULL: as much as it takes */
};

void gt_chars_add_bytes(struct gt_chars *chars, const char *bytes, size_t size);

/* The text as it is. */
void gt_chars_add(struct gt_chars *chars, const char *text);
void gt_chars_add_number(struct gt_chars *chars, int64_t number);

/* In six digits; null for what is no number. */
void gt_chars_add_real(struct gt_chars *chars, double value);

/* Nanoseconds as microseconds with three decimals. */
void gt_chars_add_us(struct gt_chars *chars, int64_t time_ns);

/*
 * In quotes. Names of kernels are bytes: what is not UTF-8 in them becomes the replacement
 * character, byte by byte. Text that does not fit is cut, with GT_TEXT_CUT behind it.
 */
void gt_chars_add_quoted(struct gt_chars *chars, const char *text);

#endif
