/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_UTF8_H
#define GT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Replacement for bytes that are no UTF-8: U+FFFD. */
#define GT_UTF8_REPLACEMENT "\xef\xbf\xbd"

/*
 * Bytes of the character that a text begins with, 1 to 4; 0 when they are no UTF-8 (RFC 3629,
 * section 4), or the text is empty. Reads no further than the zero at its end.
 */
size_t gt_utf8_size(const char *text);

/*
 * Whether the character that a text begins with says something else than it shows: a terminal does
 * what it says (control characters), or others behind it stand elsewhere than where they are (marks
 * of direction, Unicode's UAX 9, section 2; separators of lines).
 */
bool gt_utf8_misleads(const char *text);

/* Copies as many whole characters as fit, up to the first bytes that are no UTF-8. size: not 0. */
void gt_utf8_copy(char *to, size_t size, const char *text);

#endif
