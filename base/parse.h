/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_PARSE_H
#define GT_BASE_PARSE_H

#include <stdint.h>

/*
 * Numbers as people write them on a command line or in the environment. The whole text must
 * be one number: no blanks, no sign. Nothing is allocated or printed, so these
 * serve inside the traced program too. All return 0, -EINVAL for text that is no such number
 * or -ERANGE for one that does not fit in 64 bits; *value is then untouched.
 */

/* Decimal digits. */
int gt_parse_count(const char *text, uint64_t *value);

/* Bytes: digits, then nothing, K, M or G (1024 each, either case). */
int gt_parse_size(const char *text, uint64_t *bytes);

/*
 * Digits, perhaps a point and more of them, then ns, us, ms, s, min or h: a bare number is
 * refused, it would be a guess. So is less than a nanosecond.
 */
int gt_parse_duration(const char *text, uint64_t *ns);

#endif
