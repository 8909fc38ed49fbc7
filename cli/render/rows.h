/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RENDER_ROWS_H
#define GT_CLI_RENDER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command_line/option.h"

struct gt_cell;
struct gt_section;

/* The rows of a section that are shown, in the order in which they are shown. */
struct gt_rows {
	const struct gt_section *section;
	size_t *order; /* row numbers of the section */
	size_t count;
	size_t left_out;                /* by the limit */
	size_t sorted_by[GT_SORT_KEYS]; /* columns, of what was asked for, else of the section's own
	                                   order */
	size_t sorted_by_count;
};

/* sort may be NULL; keys that name no column of this section are passed over. */
void gt_rows_init(struct gt_rows *rows, const struct gt_section *section,
                  const struct gt_sort *sort, uint64_t limit);
void gt_rows_release(struct gt_rows *rows);

/* Whether the rows are sorted by the column of that number. */
bool gt_rows_are_sorted_by(const struct gt_rows *rows, size_t column);

/* heading_count cells, valid as long as the section. */
const struct gt_cell *gt_rows_get(const struct gt_rows *rows, size_t index);

/* The raw figure of a cell with all its digits; nothing where it is not known, or a text. */
void gt_cell_write_figure(const struct gt_cell *cell, FILE *out);

/*
 * The column of that name; "total" also finds "total_ns", as does what text has as its heading.
 * Returns its number, or the section's heading_count when it has none.
 */
size_t gt_section_find_column(const struct gt_section *section, const char *name);

/* A heading without the unit at its end: "total" for "total_ns". Returns its length. */
size_t gt_heading_stem(const char *name);

/*
 * A heading where the unit stands in every cell: "total" for "total_ns". Where two would then be
 * the same, what is measured stands for the unit: "busy_time" and "busy_share". The caller frees it.
 */
char *gt_heading_label(const struct gt_section *section, size_t column);

#endif
