/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Not libsmartcols: what is hard here, which columns stay and where names are cut, it does not do,
 * and it writes what it takes for unprintable wider than it was measured.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/units.h"
#include "cli/columns.h"
#include "cli/grid.h"
#include "cli/render.h"
#include "cli/rows.h"

/* More columns than this in a section of a single row are listed one below the other. */
enum { WIDEST_SINGLE_ROW = 8 };

/* Select Graphic Rendition (ECMA-48, 8.3.117). */
#define BOLD  "\033[1m"
#define RED   "\033[31m"
#define PLAIN "\033[0m"

static void print_coloured(const char *text, const char *colour, FILE *out)
{
	if (colour)
		fprintf(out, "%s%s" PLAIN, colour, text);
	else
		fputs(text, out);
}

static const char *colour_of(const struct gt_rendering *rendering, const struct gt_heading *heading,
                             const struct gt_cell *cell)
{
	const bool bad = heading->alarming && heading->unit == GT_UNIT_COUNT && !cell->unknown &&
	                 cell->count > 0;

	return rendering->colour && bad ? RED : NULL;
}

static const char *colour_of_cell(const struct gt_rendering *rendering, const struct gt_grid *grid,
                                  size_t column, size_t line)
{
	const size_t heading = grid->columns[column].heading;

	if (line == 0)
		return NULL;
	return colour_of(rendering, &grid->section->headings[heading],
	                 &gt_rows_get(&grid->rows, line - 1)[heading]);
}

/* One line of a table; the first is that of the headings. */
static void print_line(const struct gt_rendering *rendering, const struct gt_grid *grid,
                       size_t line, FILE *out)
{
	size_t indent = 0;

	for (size_t c = 0; c < grid->count; c++) {
		const struct gt_grid_column *column = &grid->columns[c];
		const char *text = column->texts[line];
		const size_t wide = gt_columns_of(text);
		const int blanks = wide < column->width ? (int)(column->width - wide) : 0;
		const char *colour = colour_of_cell(rendering, grid, c, line);

		if (grid->section->headings[column->heading].unit != GT_UNIT_TEXT) {
			fprintf(out, "%*s", blanks, "");
			print_coloured(text, colour, out);
		} else if (gt_grid_is_prose(grid, c)) {
			gt_print_wrapped(text, rendering->width, indent, out);
		} else {
			print_coloured(text, colour, out);
			if (c + 1 < grid->count)
				fprintf(out, "%*s", blanks, "");
		}
		fprintf(out, "%*s", c + 1 < grid->count ? GT_GRID_GAP : 0, "");
		indent += column->width + GT_GRID_GAP;
	}
	putc('\n', out);
}

static void print_list_line(const struct gt_rendering *rendering, const struct gt_grid *grid,
                            size_t column, size_t indent, FILE *out)
{
	const char *value = grid->columns[column].texts[1];
	const char *colour = colour_of_cell(rendering, grid, column, 1);

	fprintf(out, "%-*s", (int)indent, grid->columns[column].texts[0]);
	if (colour)
		print_coloured(value, colour, out);
	else
		gt_print_wrapped(value, rendering->width, indent, out);
	putc('\n', out);
}

/* One row as "heading  value" lines, in the order of the report. */
static void print_list(const struct gt_rendering *rendering, const struct gt_grid *grid, FILE *out)
{
	size_t indent = 0;

	for (size_t c = 0; c < grid->count; c++)
		if (gt_columns_of(grid->columns[c].texts[0]) > indent)
			indent = gt_columns_of(grid->columns[c].texts[0]);
	for (size_t heading = 0; heading < grid->section->heading_count; heading++)
		for (size_t c = 0; c < grid->count; c++)
			if (grid->columns[c].heading == heading)
				print_list_line(rendering, grid, c, indent + GT_GRID_GAP, out);
}

/* "busiest_kernels" as "Busiest kernels". */
static void print_title(const struct gt_rendering *rendering, const char *title, FILE *out)
{
	fputs(rendering->colour ? BOLD : "", out);
	putc(toupper((unsigned char)*title), out);
	while (*title && *++title)
		putc(*title == '_' ? ' ' : *title, out);
	fputs(rendering->colour ? PLAIN "\n" : "\n", out);
}

/* Returns how many columns did not fit. */
static size_t print_section(const struct gt_rendering *rendering, const struct gt_section *section,
                            FILE *out)
{
	struct gt_grid grid;
	size_t left_out;

	gt_grid_init(&grid, rendering, section);
	print_title(rendering, section->title, out);
	if (gt_section_row_count(section) == 0) {
		fputs("(none)\n", out);
	} else if (grid.rows.count == 1 && grid.count > WIDEST_SINGLE_ROW) {
		print_list(rendering, &grid, out);
	} else if (grid.rows.count > 0) {
		if (rendering->width)
			gt_grid_fit(&grid, rendering->width);
		for (size_t line = section->plain; line <= grid.rows.count; line++)
			print_line(rendering, &grid, line, out);
	}
	if (grid.rows.left_out)
		fprintf(out, "(%s more)\n", gt_figure_count((int64_t)grid.rows.left_out).text);
	left_out = grid.left_out;
	gt_grid_release(&grid);
	return left_out;
}

static void print_paragraph(const struct gt_rendering *rendering, const char *sentence, FILE *out)
{
	char *text = gt_printable(sentence);

	gt_print_wrapped(text, rendering->width, 0, out);
	putc('\n', out);
	free(text);
}

static void print_left_out(const struct gt_rendering *rendering, size_t left_out, FILE *out)
{
	char text[96];

	snprintf(text, sizeof(text), "(%zu column%s left out to fit %zu; --wide shows everything)",
	         left_out, left_out == 1 ? "" : "s", rendering->width);
	print_paragraph(rendering, text, out);
}

void gt_render_text(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, FILE *out)
{
	const char *between = "";
	size_t left_out = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gt_result *result = results[i].result;

		gt_array_each(const struct gt_section, section, &result->sections) {
			if (!gt_rendering_shows(rendering, section))
				continue;
			fputs(between, out);
			left_out += print_section(rendering, section, out);
			between = "\n";
		}
		if (result->remarks.count > 0 || (left_out && i + 1 == count))
			fputs(between, out);
		if (left_out && i + 1 == count)
			print_left_out(rendering, left_out, out);
		for (size_t r = 0; r < result->remarks.count; r++)
			print_paragraph(rendering, result->remarks.rows[r], out);
	}
}
