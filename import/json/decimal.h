/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_JSON_DECIMAL_H
#define GT_IMPORT_JSON_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A decimal number, as JSON writes them ("-12.5e3"), times 10^scale, rounded to an integer:
 * exactly, with no double in between. False: it is no such number, or is too large.
 */
bool gt_decimal(const char *text, int scale, int64_t *value);

#endif
