/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Not libsmartcols: what is hard here, which columns stay and where names are cut, it does not do,
 * and it writes what it takes for unprintable wider than it was measured.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"
#include "cli/output/columns.h"
#include "cli/render/grid.h"
#include "cli/render/render.h"
#include "cli/render/rows.h"

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
		} else if (gt_grid_is_wrapped(grid, c)) {
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

/* "busiest_kernels" as "Busiest kernels", and what they are sorted by: "Busiest kernels, by total".
 */
static void print_title(const struct gt_rendering *rendering, const struct gt_grid *grid, FILE *out)
{
	const struct gt_rows *rows = &grid->rows;
	const bool ordered = gt_section_row_count(grid->section) > 1;

	fputs(rendering->colour ? BOLD : "", out);
	gt_print_title(grid->section->title, out);
	fputs(rendering->colour ? PLAIN : "", out);
	for (size_t i = 0; ordered && i < rows->sorted_by_count; i++) {
		char *label = gt_heading_label(grid->section, rows->sorted_by[i]);

		fprintf(out, "%s%s", i ? ", " : ", by ", label);
		free(label);
	}
	putc('\n', out);
}

static void print_paragraph(const struct gt_rendering *rendering, const char *sentence, FILE *out)
{
	char *text = gt_printable(sentence);

	gt_print_wrapped(text, rendering->width, 0, out);
	putc('\n', out);
	free(text);
}

/* How many rows there are besides, and what shows them: of those who asked for a limit nothing. */
static void print_more(const struct gt_rendering *rendering, const struct gt_grid *grid, FILE *out)
{
	const uint64_t more = grid->rows.left_out + grid->section->more;
	const uint64_t all = grid->rows.count + more;
	char text[128];

	if (more == 0)
		return;
	if (rendering->limit != GT_LIMIT_NONE)
		snprintf(text, sizeof(text), "(%s more)", gt_figure_count((int64_t)more).text);
	else
		snprintf(text, sizeof(text), "(%s more: --limit %" PRIu64 " shows all%s)",
		         gt_figure_count((int64_t)more).text, all,
		         grid->section->more ? "" : ", as does --wide");
	print_paragraph(rendering, text, out);
}

static void print_rows(const struct gt_rendering *rendering, struct gt_grid *grid, FILE *out)
{
	if (gt_section_row_count(grid->section) == 0) {
		fputs("(none)\n", out);
	} else if (grid->section->single && grid->rows.count == 1) {
		print_list(rendering, grid, out);
	} else if (grid->rows.count > 0) {
		if (rendering->width)
			gt_grid_fit(grid, rendering->width);
		for (size_t line = grid->section->plain; line <= grid->rows.count; line++)
			print_line(rendering, grid, line, out);
	}
	print_more(rendering, grid, out);
}

/* Parts of its tables that a page does not show. */
struct missing {
	size_t columns;
	bool names; /* in full */
};

/* Notes which remarks are about a column that is shown. */
static void note_shown(const struct gt_grid *grid, const struct gt_result *result, bool *is_shown)
{
	for (size_t i = 0; i < result->remarks.count; i++)
		for (size_t c = 0; c < grid->count; c++)
			is_shown[i] |= gt_remark_is_on(
				&result->remarks.rows[i],
				grid->section->headings[grid->columns[c].heading].name);
}

/* "(in all these rows: calls 5, size 1.34 GB)" */
static void print_same(const struct gt_rendering *rendering, const struct gt_grid *grid, FILE *out)
{
	const size_t size = strlen(grid->same) + sizeof("(in all these rows: )");
	char *text = gt_allocate(size);

	snprintf(text, size, "(in all these rows: %s)", grid->same);
	print_paragraph(rendering, text, out);
	free(text);
}

/* Adds what of the table does not fit to what is missing. */
static void print_section(const struct gt_rendering *rendering, const struct gt_result *result,
                          const struct gt_section *section, bool *is_shown, struct missing *missing,
                          FILE *out)
{
	struct gt_grid grid;

	gt_grid_init(&grid, rendering, section);
	print_title(rendering, &grid, out);
	print_rows(rendering, &grid, out);
	if (grid.same)
		print_same(rendering, &grid, out);
	note_shown(&grid, result, is_shown);
	missing->columns += grid.left_out;
	missing->names |= grid.cut;
	gt_grid_release(&grid);
}

static bool is_shown_empty(const struct gt_rendering *rendering, const struct gt_section *section)
{
	return gt_rendering_shows(rendering, section) && gt_section_row_count(section) == 0;
}

/* Tables without rows take a line together, unless asked for, or the only one there is. */
static bool gathers_empty(const struct gt_rendering *rendering, const struct gt_result *result)
{
	size_t shown = 0;

	gt_array_each(const struct gt_section, section, &result->sections)
		shown += gt_rendering_shows(rendering, section);
	return shown > 1 && !(rendering->sections && rendering->sections->count > 0);
}

static void print_empty(const struct gt_rendering *rendering, const struct gt_result *result,
                        FILE *out)
{
	char text[512];
	size_t length = 0;

	gt_array_each(const struct gt_section, section, &result->sections)
		if (is_shown_empty(rendering, section) && length < sizeof(text))
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
			                           length ? ", " : "(no rows in ", section->title);
	if (length < sizeof(text))
		snprintf(text + length, sizeof(text) - length, ")");
	print_paragraph(rendering, text, out);
}

static void print_missing(const struct gt_rendering *rendering, const struct missing *missing,
                          FILE *out)
{
	char columns[64] = "";
	char text[160];

	if (missing->columns)
		snprintf(columns, sizeof(columns), "%zu column%s left out%s", missing->columns,
		         missing->columns == 1 ? "" : "s", missing->names ? " and " : "");
	snprintf(text, sizeof(text), "(%s%s to fit %zu; --wide shows everything)", columns,
	         missing->names ? "names cut" : "", rendering->width);
	if (missing->columns || missing->names)
		print_paragraph(rendering, text, out);
}

/* A remark about columns is for who sees one of them. */
static void print_remarks(const struct gt_rendering *rendering, const struct gt_result *result,
                          const bool *is_shown, FILE *out)
{
	for (size_t i = 0; i < result->remarks.count; i++)
		if (!result->remarks.rows[i].columns || is_shown[i])
			print_paragraph(rendering, result->remarks.rows[i].text, out);
}

static bool has_remarks(const struct gt_result *result, const bool *is_shown)
{
	for (size_t i = 0; i < result->remarks.count; i++)
		if (!result->remarks.rows[i].columns || is_shown[i])
			return true;
	return false;
}

/* Outcome for the tables of a result. */
struct tables {
	bool *is_shown; /* by remark: whether a column that it is about is */
	bool any;       /* was printed */
	bool has_empty; /* left to the line that names those without rows */
};

static struct tables print_tables(const struct gt_rendering *rendering,
                                  const struct gt_result *result, const char **between,
                                  struct missing *missing, FILE *out)
{
	const bool gathers = gathers_empty(rendering, result);
	const size_t size = (result->remarks.count + 1) * sizeof(bool);
	struct tables tables = {.is_shown = gt_allocate(size)};

	memset(tables.is_shown, 0, size);
	gt_array_each(const struct gt_section, section, &result->sections) {
		if (!gt_rendering_shows(rendering, section))
			continue;
		if (gathers && is_shown_empty(rendering, section)) {
			tables.has_empty = true;
			continue;
		}
		fputs(*between, out);
		print_section(rendering, result, section, tables.is_shown, missing, out);
		*between = "\n";
		tables.any = true;
	}
	return tables;
}

static bool has_further(const struct gt_rendering *rendering, const struct gt_result *result)
{
	gt_array_each(const struct gt_section, section, &result->sections)
		if (section->further && !(rendering->sections && rendering->sections->count > 0) &&
		    !gt_rendering_shows(rendering, section))
			return true;
	return false;
}

/* Names the tables that text leaves out, with their rows. */
static void print_further(const struct gt_rendering *rendering, const struct gt_result *result,
                          FILE *out)
{
	char text[512];
	size_t length = 0;

	gt_array_each(const struct gt_section, section, &result->sections)
		if (section->further && !gt_rendering_shows(rendering, section) &&
		    length < sizeof(text))
			length += (size_t)snprintf(
				text + length, sizeof(text) - length, "%s%s (%s)",
				length ? ", " : "(further tables, with their rows: ",
				section->title,
				gt_figure_count(
					(int64_t)(gt_section_row_count(section) + section->more))
					.text);
	if (length < sizeof(text))
		snprintf(text + length, sizeof(text) - length, ": --all shows them)");
	print_paragraph(rendering, text, out);
}

/* Where there are no rows at all, what is said of that comes first, or stands alone. */
static void print_foot(const struct gt_rendering *rendering, const struct gt_result *result,
                       const struct tables *tables, FILE *out)
{
	const bool says_why = !tables->any && gt_result_says_why_empty(result);

	if (has_further(rendering, result))
		print_further(rendering, result, out);
	if (tables->any && tables->has_empty)
		print_empty(rendering, result, out);
	print_remarks(rendering, result, tables->is_shown, out);
	if (!tables->any && tables->has_empty && !says_why)
		print_empty(rendering, result, out);
}

void gt_render_text(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, FILE *out)
{
	struct missing missing = {0};
	const char *between = "";

	for (size_t i = 0; i < count; i++) {
		const struct gt_result *result = results[i].result;
		const struct tables tables =
			print_tables(rendering, result, &between, &missing, out);
		const bool has_missing = i + 1 == count && (missing.columns || missing.names);

		if (has_missing || tables.has_empty || has_further(rendering, result) ||
		    has_remarks(result, tables.is_shown)) {
			fputs(between, out);
			between = "\n";
		}
		if (has_missing)
			print_missing(rendering, &missing, out);
		print_foot(rendering, result, &tables, out);
		gt_array_free(tables.is_shown);
	}
}
