/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_CHART_H
#define GT_ANALYSIS_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

/*
 * A picture that a report has beside its tables: lines and points over two logarithmic axes. What
 * it looks like is up to who draws it. Texts are the result's or constant; coordinates are above 0.
 */
struct gt_chart_line {
	const char *label;
	double from_x, from_y, to_x, to_y;
	bool dashed;
};

struct gt_chart_point {
	const char *label;
	const char *figures; /* that belong to it, for people */
	double x, y;
	double weight; /* 0 to 1: how much it matters beside the others */
};

struct gt_chart {
	const char *title;
	const char *x_label;
	const char *y_label;
	double from_x, to_x, from_y, to_y; /* what it shows */
	gt_array(struct gt_chart_line) lines;
	gt_array(struct gt_chart_point) points; /* what matters most first */
};

/*
 * Another sort of picture: rows, each with parts over time, of kinds that are the same in all rows.
 * Texts are the result's or constant.
 */
struct gt_strip_kind {
	const char *label;
	const char *figures; /* that belong to it, for people */
};

struct gt_strip_part {
	size_t row;
	size_t kind;
	double from_x, to_x;
};

struct gt_strips {
	const char *title;
	const char *x_label;
	double to_x;                          /* what it shows begins at 0 */
	const char *whole;                    /* what all of it is in, above the rows; or NULL */
	double whole_to_x;                    /* it begins at 0 as well */
	gt_array(const char *) rows;          /* what each is called, from the top */
	gt_array(struct gt_strip_kind) kinds; /* what matters most first */
	gt_array(struct gt_strip_part) parts;
};

#endif
