/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "cli/render.h"
#include "cli/rows.h"
#include "cli/say.h"
#include "cli/units.h"

/*
 * More columns than this in a section of a single row are listed one below the other. Cells
 * are never narrowed below NARROWEST columns.
 */
enum { WIDEST_SINGLE_ROW = 8, NARROWEST = 16, GAP = 2, DOTS = 3 };

/* A section as texts, before it is laid out: its shown rows and above them the headings. */
struct grid {
	const struct gt_section *section;
	struct gt_rows rows;
	char **texts;   /* row after row; the first row holds the headings; owned */
	size_t *widths; /* of each column, in characters */
	size_t columns;
};

static struct gt_figure figure_of(const struct gt_cell *cell)
{
	switch (cell->unit) {
	case GT_UNIT_COUNT:
		return gt_figure_count(cell->count);
	case GT_UNIT_NS:
		return gt_figure_ns(cell->count);
	case GT_UNIT_TIME:
		return gt_figure_time(cell->count);
	case GT_UNIT_BYTES:
		return gt_figure_bytes(cell->count);
	case GT_UNIT_BYTES_PER_SECOND:
		return gt_figure_rate(cell->real);
	case GT_UNIT_PERCENT:
		return gt_figure_percent(cell->real);
	case GT_UNIT_REAL:
		return gt_figure_real(cell->real);
	case GT_UNIT_TEXT:
		break;
	}
	return (struct gt_figure){""};
}

static bool is_real(enum gt_unit unit)
{
	return unit == GT_UNIT_BYTES_PER_SECOND || unit == GT_UNIT_PERCENT || unit == GT_UNIT_REAL;
}

static char *copy_text(const char *text, size_t length)
{
	char *copy = gt_allocate(length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

/* Process ids are names made of digits: grouped, they would not be found anywhere else. */
static bool is_number_of_process(const struct gt_heading *heading)
{
	const size_t length = strlen(heading->name);

	return length >= 3 && strcmp(heading->name + length - 3, "pid") == 0;
}

static char *text_of(const struct gt_heading *heading, const struct gt_cell *cell)
{
	if (cell->unknown || (is_real(cell->unit) && !isfinite(cell->real)))
		return copy_text("-", 1);
	if (cell->unit == GT_UNIT_TEXT)
		return copy_text(cell->text ? cell->text : "", cell->text ? strlen(cell->text) : 0);
	if (is_number_of_process(heading)) {
		char digits[32];

		snprintf(digits, sizeof(digits), "%" PRId64, cell->count);
		return copy_text(digits, strlen(digits));
	}

	const struct gt_figure figure = figure_of(cell);

	return copy_text(figure.text, strlen(figure.text));
}

/* The unit is in every cell, so the heading goes without, unless two would then be the same. */
static char *text_of_heading(const struct gt_section *section, size_t column)
{
	const char *name = section->headings[column].name;
	const size_t stem = gt_heading_stem(name);

	for (size_t c = 0; c < section->heading_count; c++) {
		const char *other = section->headings[c].name;

		if (c != column && gt_heading_stem(other) == stem && memcmp(name, other, stem) == 0)
			return copy_text(name, strlen(name));
	}
	return copy_text(name, stem);
}

/* Columns a text takes, one for each character of UTF-8. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

/* Bytes of the first so many characters. */
static size_t bytes_of(const char *text, size_t characters)
{
	size_t bytes = 0;

	while (text[bytes] && (characters > 0 || (text[bytes] & 0xc0) == 0x80)) {
		characters -= (text[bytes] & 0xc0) != 0x80;
		bytes++;
	}
	return bytes;
}

/* Cuts the middle out: kernels of one library begin alike, and end with what tells them apart. */
static void shorten(char *text, size_t width)
{
	const size_t whole = width_of(text);
	size_t kept;
	size_t head;
	size_t tail;

	if (whole <= width)
		return;
	kept = width - DOTS;
	head = bytes_of(text, kept - kept / 2);
	tail = bytes_of(text, whole - kept / 2);
	memset(text + head, '.', DOTS);
	memmove(text + head + DOTS, text + tail, strlen(text + tail) + 1);
}

static char **cell_of(const struct grid *grid, size_t row, size_t column)
{
	return &grid->texts[row * grid->columns + column];
}

static void measure(struct grid *grid)
{
	for (size_t c = 0; c < grid->columns; c++) {
		grid->widths[c] = 0;
		for (size_t r = 0; r <= grid->rows.count; r++) {
			const size_t width = width_of(*cell_of(grid, r, c));

			if (width > grid->widths[c])
				grid->widths[c] = width;
		}
	}
}

static void grid_init(struct grid *grid, const struct gt_rendering *rendering,
                      const struct gt_section *section)
{
	*grid = (struct grid){.section = section, .columns = section->heading_count};
	gt_rows_init(&grid->rows, section, rendering->sort, rendering->limit);
	grid->widths = gt_allocate(grid->columns * sizeof(*grid->widths));
	grid->texts = gt_allocate((grid->rows.count + 1) * grid->columns * sizeof(*grid->texts));
	for (size_t c = 0; c < grid->columns; c++)
		*cell_of(grid, 0, c) = text_of_heading(section, c);
	for (size_t r = 0; r < grid->rows.count; r++)
		for (size_t c = 0; c < grid->columns; c++)
			*cell_of(grid, r + 1, c) =
				text_of(&section->headings[c], &gt_rows_get(&grid->rows, r)[c]);
	measure(grid);
}

static void grid_release(struct grid *grid)
{
	for (size_t i = 0; i < (grid->rows.count + 1) * grid->columns; i++)
		free(grid->texts[i]);
	free(grid->texts);
	free(grid->widths);
	gt_rows_release(&grid->rows);
}

/* The widest column of texts; columns when none can be narrowed. */
static size_t widest_text(const struct grid *grid)
{
	size_t widest = grid->columns;

	for (size_t c = 0; c < grid->columns; c++)
		if (grid->section->headings[c].unit == GT_UNIT_TEXT &&
		    grid->widths[c] > NARROWEST &&
		    (widest == grid->columns || grid->widths[c] > grid->widths[widest]))
			widest = c;
	return widest;
}

/* Narrows the widest texts until the table fits, if it can. */
static void fit(struct grid *grid, size_t width)
{
	size_t total = GAP * (grid->columns - 1);
	size_t widest;

	for (size_t c = 0; c < grid->columns; c++)
		total += grid->widths[c];
	while (total > width && (widest = widest_text(grid)) < grid->columns) {
		grid->widths[widest]--;
		total--;
	}
	for (size_t r = 1; r <= grid->rows.count; r++)
		for (size_t c = 0; c < grid->columns; c++)
			if (grid->section->headings[c].unit == GT_UNIT_TEXT)
				shorten(*cell_of(grid, r, c), grid->widths[c]);
}

static struct libscols_table *new_table(FILE *out)
{
	struct libscols_table *table = scols_new_table();

	/* The width is ours to keep: libsmartcols would cut the ends of names. */
	(void)scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	(void)scols_table_set_column_separator(table, "  ");
	(void)scols_table_set_stream(table, out);
	return table;
}

static void print_table(struct libscols_table *table)
{
	(void)scols_print_table(table);
	scols_unref_table(table);
}

static void print_grid(const struct grid *grid, FILE *out)
{
	struct libscols_table *table = new_table(out);

	for (size_t c = 0; c < grid->columns; c++)
		(void)scols_table_new_column(
			table, *cell_of(grid, 0, c), 0,
			grid->section->headings[c].unit == GT_UNIT_TEXT ? 0 : SCOLS_FL_RIGHT);
	for (size_t r = 1; r <= grid->rows.count; r++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);

		for (size_t c = 0; c < grid->columns; c++)
			(void)scols_line_set_data(line, c, *cell_of(grid, r, c));
	}
	print_table(table);
}

/* One row as "heading  value" lines. */
static void print_list(const struct grid *grid, FILE *out)
{
	struct libscols_table *table = new_table(out);

	(void)scols_table_enable_noheadings(table, 1);
	(void)scols_table_new_column(table, "", 0, 0);
	(void)scols_table_new_column(table, "", 0, 0);
	for (size_t c = 0; c < grid->columns; c++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);

		(void)scols_line_set_data(line, 0, *cell_of(grid, 0, c));
		(void)scols_line_set_data(line, 1, *cell_of(grid, 1, c));
	}
	print_table(table);
}

/* "busiest_kernels" as "Busiest kernels". */
static void print_title(const char *title, FILE *out)
{
	putc(toupper((unsigned char)*title), out);
	while (*title && *++title)
		putc(*title == '_' ? ' ' : *title, out);
	putc('\n', out);
}

static void print_section(const struct gt_rendering *rendering, const struct gt_section *section,
                          FILE *out)
{
	struct grid grid;

	grid_init(&grid, rendering, section);
	print_title(section->title, out);
	if (gt_section_row_count(section) == 0) {
		fputs("(none)\n", out);
	} else if (grid.rows.count == 1 && grid.columns > WIDEST_SINGLE_ROW) {
		print_list(&grid, out);
	} else if (grid.rows.count > 0) {
		if (rendering->width)
			fit(&grid, rendering->width);
		print_grid(&grid, out);
	}
	if (grid.rows.left_out)
		fprintf(out, "(%s more)\n", gt_figure_count((int64_t)grid.rows.left_out).text);
	grid_release(&grid);
}

void gt_render_text(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, FILE *out)
{
	const char *between = "";

	for (size_t i = 0; i < count; i++) {
		const struct gt_result *result = results[i].result;

		gt_array_each(const struct gt_section, section, &result->sections) {
			fputs(between, out);
			print_section(rendering, section, out);
			between = "\n";
		}
		if (result->remarks.count > 0)
			fputs(between, out);
		for (size_t r = 0; r < result->remarks.count; r++)
			gt_say_line(result->remarks.rows[r], out);
	}
}
