/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_PARSE_H
#define GT_BASE_PARSE_H

#include <stdint.h>

/*
 * Numbers as people write them on a command line or in the environment. The whole text must
 * be one number: no sign, no blanks but one before the unit; units in either case. Nothing is
 * allocated or printed, so these serve inside the traced program too. All return 0, -EINVAL for text
 * that is no such number or -ERANGE for one that does not fit in 64 bits; *value is then untouched.
 */

/* Decimal digits. */
int gt_parse_count(const char *text, uint64_t *value);

/*
 * Bytes: digits, perhaps a point and at most six more of them, then nothing, K, M, G or T (1024
 * each), also as KB and KiB.
 */
int gt_parse_size(const char *text, uint64_t *bytes);

/*
 * Digits, perhaps a point and more of them, then ns, us, ms, s, min or h, or those in words as
 * "sec": a bare number is refused, it would be a guess, and so is "m". So is less than a
 * nanosecond.
 */
int gt_parse_duration(const char *text, uint64_t *ns);

#endif
