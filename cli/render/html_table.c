/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/result.h"
#include "base/units.h"
#include "cli/output/columns.h"
#include "cli/render/grid.h"
#include "cli/render/html.h"
#include "cli/render/render.h"
#include "cli/render/svg.h"

enum { FILTERED = 20 }; /* a table with more rows has a box to filter them by */

void gt_html_text(const char *text, FILE *out)
{
	char *printable = gt_printable(text);

	for (const char *at = printable; *at; at++)
		if (*at == '\'')
			fputs("&#39;", out);
		else if (!gt_svg_escape(*at, out))
			putc(*at, out);
	free(printable);
}

static const struct gt_heading *heading_of(const struct gt_grid *grid, size_t column)
{
	return &grid->section->headings[grid->columns[column].heading];
}

static bool is_name(const struct gt_heading *heading)
{
	return heading->worth == GT_WORTH_NAME || heading->worth == GT_WORTH_LESSER_NAME;
}

/*
 * On a page that can be scrolled, names stand first, where they stay in sight: the column that
 * stands at that place.
 */
static size_t column_at(const struct gt_grid *grid, size_t place)
{
	size_t before = 0;

	for (size_t pass = 0; pass < 2; pass++)
		for (size_t c = 0; c < grid->count; c++)
			if (is_name(heading_of(grid, c)) == (pass == 0) && before++ == place)
				return c;
	return place;
}

static const char *class_of(const struct gt_heading *heading)
{
	if (heading->unit != GT_UNIT_TEXT)
		return "n";
	if (heading->worth == GT_WORTH_PROSE)
		return "prose";
	return is_name(heading) ? "name" : "t";
}

static bool is_bad(const struct gt_heading *heading, const struct gt_cell *cell)
{
	return heading->alarming && !cell->unknown && heading->unit == GT_UNIT_COUNT &&
	       cell->count > 0;
}

/* A share has a bar behind it. */
static void write_bar(const struct gt_cell *cell, FILE *out)
{
	if (cell->unit == GT_UNIT_PERCENT && !cell->unknown && cell->real > 0)
		fprintf(out, " style=\"--share:%.1f%%\"", fmin(cell->real, 100));
}

static void write_cell(const struct gt_grid *grid, size_t row, size_t column, FILE *out)
{
	const struct gt_heading *heading = heading_of(grid, column);
	const struct gt_cell *cell = &gt_rows_get(&grid->rows, row)[grid->columns[column].heading];

	fprintf(out, "<td class=\"%s%s\"", class_of(heading), is_bad(heading, cell) ? " bad" : "");
	if (heading->unit != GT_UNIT_TEXT) {
		fputs(" data-v=\"", out);
		if (!cell->unknown)
			gt_cell_write_figure(cell, out);
		fputs("\"", out);
		write_bar(cell, out);
	}
	fputs(">", out);
	gt_html_text(grid->columns[column].texts[row + 1], out);
	fputs("</td>", out);
}

static void write_headings(const struct gt_grid *grid, FILE *out)
{
	fputs("<thead><tr>", out);
	for (size_t c = 0; c < grid->count; c++) {
		const size_t column = column_at(grid, c);
		const struct gt_heading *heading = heading_of(grid, column);

		fprintf(out, "<th scope=\"col\" class=\"%s\" title=\"", class_of(heading));
		gt_html_text(heading->help, out);
		fputs("\"><button type=\"button\">", out);
		gt_html_text(grid->columns[column].texts[0], out);
		fputs("</button></th>", out);
	}
	fputs("</tr></thead>\n", out);
}

static void write_table(const struct gt_grid *grid, FILE *out)
{
	const bool plain = grid->section->plain;

	if (grid->rows.count > FILTERED)
		fputs("<input type=\"search\" class=\"filter\" placeholder=\"Filter rows\" "
		      "aria-label=\"Filter rows\">\n",
		      out);
	fprintf(out, "<div class=\"scroll\"><table class=\"%s\">\n", plain ? "plain" : "rows");
	if (!plain)
		write_headings(grid, out);
	fputs("<tbody>\n", out);
	for (size_t r = 0; r < grid->rows.count; r++) {
		fputs("<tr>", out);
		for (size_t c = 0; c < grid->count; c++)
			write_cell(grid, r, column_at(grid, c), out);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

/* One row that is always there: its cells one below the other. */
static void write_list(const struct gt_grid *grid, FILE *out)
{
	fputs("<dl>\n", out);
	for (size_t c = 0; c < grid->count; c++) {
		fputs("<dt title=\"", out);
		gt_html_text(heading_of(grid, c)->help, out);
		fputs("\">", out);
		gt_html_text(grid->columns[c].texts[0], out);
		fputs("</dt><dd>", out);
		gt_html_text(grid->columns[c].texts[1], out);
		fputs("</dd>\n", out);
	}
	fputs("</dl>\n", out);
}

/* "Top kernels", and what they are sorted by. */
static void write_title(const struct gt_grid *grid, FILE *out)
{
	gt_print_title(grid->section->title, out);
	for (size_t i = 0; i < grid->rows.sorted_by_count; i++) {
		char *label = gt_heading_label(grid->section, grid->rows.sorted_by[i]);

		fputs(i ? ", " : " <small>by ", out);
		gt_html_text(label, out);
		free(label);
	}
	fputs(grid->rows.sorted_by_count ? "</small>" : "", out);
}

void gt_html_table(const struct gt_rendering *rendering, const struct gt_section *section,
                   FILE *out)
{
	const bool folds = section->detail;
	struct gt_grid grid;
	uint64_t more;

	gt_grid_init(&grid, rendering, section);
	more = grid.rows.left_out + section->more;
	fputs(folds ? "<details class=\"part\"><summary><h3>" : "<div class=\"part\"><h3>", out);
	write_title(&grid, out);
	fputs(folds ? "</h3></summary>\n" : "</h3>\n", out);
	if (section->single && grid.rows.count == 1)
		write_list(&grid, out);
	else
		write_table(&grid, out);
	if (more > 0)
		fprintf(out, "<p class=\"more\">%s more rows: --limit %" PRIu64 " shows all</p>\n",
		        gt_figure_count((int64_t)more).text,
		        (uint64_t)gt_section_row_count(section) + section->more);
	fputs(folds ? "</details>\n" : "</div>\n", out);
	gt_grid_release(&grid);
}
