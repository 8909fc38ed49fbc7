/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_RANGE_H
#define GT_CLI_VIEW_RANGE_H

#include <stdint.h>

/* Bytes of a file that HTTP asks for: from begin up to, not including, end. */
struct gt_range {
	uint64_t begin;
	uint64_t end;
};

enum gt_range_answer {
	GT_RANGE_WHOLE,   /* no range, several, or none that is understood: the whole file */
	GT_RANGE_PART,    /* *range, which is not empty */
	GT_RANGE_OUTSIDE, /* nothing of the file: 416 */
};

/* Reads the value of a Range header, or NULL for none (RFC 9110, 14.1), for a file of that size. */
enum gt_range_answer gt_range_read(const char *text, uint64_t size, struct gt_range *range);

#endif
