/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_CLOCKS_LINE_H
#define GT_COLLECTOR_CLOCKS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* From one clock to another: a line through readings of both. */

/* No clock that begins in 1970 has come so far: readings and times beyond are damage. */
#define GT_MOST_CLOCK_NS ((uint64_t)1 << 62)

/* One source clock of one capture: where it stood when BOOTTIME stood where. */
struct gt_clock_pair {
	int64_t from;
	int64_t to;
};

struct gt_clock_line {
	gt_array(struct gt_clock_pair) pairs; /* sorted by from */
	size_t at;       /* the pair that was used last: times come nearly in order */
	bool is_scaled;  /* its nanosecond is only nearly one */
	double excess;   /* nanoseconds of BOOTTIME in one of its own, less 1, outside */
	int64_t from_ns; /* of BOOTTIME: what is converted to is between, or is no time */
	int64_t to_ns;
	uint64_t refused; /* times that were none */
};

/* Readings of both clocks; from 0: the first was not read. */
void gt_clock_line_add(struct gt_clock_line *line, uint64_t from, uint64_t to);

/* When all pairs are there. */
void gt_clock_line_prepare(struct gt_clock_line *line);

/* 0: the time is not known, or cannot be. */
int64_t gt_clock_line_convert(struct gt_clock_line *line, int64_t time);

/* By how much faster the other clock goes between two readings: a share. */
double gt_clock_excess(const struct gt_clock_pair *left, const struct gt_clock_pair *right);

#endif
