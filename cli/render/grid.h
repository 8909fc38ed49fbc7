/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RENDER_GRID_H
#define GT_CLI_RENDER_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/render/rows.h"

struct gt_rendering;
struct gt_section;

enum { GT_GRID_GAP = 2 }; /* columns between two cells */

/* A column as it is shown. */
struct gt_grid_column {
	size_t heading; /* its number in the section */
	char **texts;   /* the heading, then a cell for each row; printable, owned */
	size_t width;   /* of the widest text, or what is left for it */
};

/*
 * A section as texts, laid out for a page: its figures, then what its rows are called; columns
 * left out and names cut so that it fits.
 */
struct gt_grid {
	const struct gt_section *section;
	struct gt_rows rows;
	struct gt_grid_column *columns; /* from left to right */
	size_t count;
	size_t units;    /* column of the section with the units of reals; heading_count: none */
	size_t left_out; /* columns that did not fit and say something */
	char *same; /* columns left out as all rows shown have the same: "calls 5, size 1.34 GB";
	               NULL: none; owned */
	bool wraps_name; /* a name that stands last is wrapped, not cut */
	bool cut;        /* some text */
};

void gt_grid_init(struct gt_grid *grid, const struct gt_rendering *rendering,
                  const struct gt_section *section);

/*
 * Leaves out, narrows and cuts until a line takes at most width columns. The column that rows are
 * sorted by stays. Only a last column that is to be wrapped may still be wider.
 */
void gt_grid_fit(struct gt_grid *grid, size_t width);

/* Whether the column is to be wrapped: prose that stands last, or such a name where names are not
 * cut. */
bool gt_grid_is_wrapped(const struct gt_grid *grid, size_t column);

void gt_grid_release(struct gt_grid *grid);

/* The title of a section for people: "nn_modules" as "NN modules". */
void gt_print_title(const char *title, FILE *out);

#endif
