/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_STRINGS_H
#define GT_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

/* A set of distinct strings, each known by a small number. Id 0 is "". */
struct gt_strings;

struct gt_strings *gt_strings_new(void);
void gt_strings_free(struct gt_strings *strings);

/* Copies text into the set if it is new. */
uint32_t gt_strings_add(struct gt_strings *strings, const char *text);

/* The same for size bytes without a terminator; stops at a zero byte inside them. */
uint32_t gt_strings_add_bytes(struct gt_strings *strings, const char *bytes, size_t size);

/* The text lives as long as the set. An id the set never gave out reads as "". */
const char *gt_strings_get(const struct gt_strings *strings, uint32_t id);

size_t gt_strings_count(const struct gt_strings *strings);

#endif
