/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_GOLDEN_GRID_H
#define GT_TESTS_GOLDEN_GRID_H

#include <stddef.h>

#include "golden/digest.h"

/*
 * Digests of all that was made of all recordings: a line for each table, a cell in it for each
 * recording. So it is kept in a file, sorted: a table that changes is one line of a diff, and the
 * cells that changed in it say of which recordings. A cell is 16 bits of a hash, so one change in
 * 65,536 of one table of one recording is not seen.
 */
enum { MOST_INPUTS = 240, MOST_LINES = 2000, NAME_BYTES = 128 };

struct grid {
	size_t input_count, line_count;
	char inputs[MOST_INPUTS][NAME_BYTES];
	char lines[MOST_LINES][NAME_BYTES];
	struct digest cells[MOST_LINES][MOST_INPUTS];
};

/* The number of an input of that name, which is added where there is none. */
size_t grid_input(struct grid *grid, const char *name);

/* The cell of a table, which is added where there is none. */
struct digest *grid_cell(struct grid *grid, const char *line, size_t input);

/* Reads and writes the kept file; 0, or -1 with a message. */
int grid_write(const struct grid *grid, const char *path);
int grid_read(struct grid *grid, const char *path);

/*
 * Prints how the inputs of what was made now differ from those that were kept; returns how many
 * tables do. Inputs that were not read now are not looked at.
 */
size_t grid_compare(const struct grid *kept, const struct grid *made);

#endif
