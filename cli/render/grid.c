/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/grid.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/result.h"
#include "base/array.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/output/columns.h"
#include "cli/render/render.h"

/* Columns that a name, and any other text, keeps as long as something else can go. */
enum { NARROW_NAME = 24, NARROWEST_NAME = 12, NARROWEST = 8 };

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
	case GT_UNIT_BINARY_BYTES:
		return gt_figure_binary(cell->count);
	case GT_UNIT_BYTES_PER_SECOND:
		return gt_figure_rate(cell->real);
	case GT_UNIT_FLOP_PER_SECOND:
		return gt_figure_flops(cell->real);
	case GT_UNIT_JOULES:
		return gt_figure_joules(cell->real);
	case GT_UNIT_WATTS:
		return gt_figure_watts(cell->real);
	case GT_UNIT_PERCENT:
		return gt_figure_percent(cell->real);
	case GT_UNIT_REAL:
		return gt_figure_real(cell->real);
	case GT_UNIT_TEXT:
		break;
	}
	return (struct gt_figure){""};
}

static bool is_unknown(const struct gt_cell *cell)
{
	return cell->unknown ||
	       (gt_unit_content(cell->unit) == GT_CONTENT_REAL && !isfinite(cell->real));
}

/* Process ids are names made of digits: grouped, they would not be found anywhere else. */
static bool is_number_of_process(const struct gt_heading *heading)
{
	const size_t length = strlen(heading->name);

	return length >= 3 && strcmp(heading->name + length - 3, "pid") == 0;
}

/* Column of the section that has the unit of a row's reals; heading_count: there is none. */
static size_t column_of_units(const struct gt_section *section)
{
	bool has_some = false;

	for (size_t c = 0; c < section->heading_count; c++)
		has_some |= section->headings[c].row_unit != GT_ROW_UNIT_NONE;
	return has_some ? gt_section_find_column(section, "unit") : section->heading_count;
}

static struct gt_figure figure_in_row(const struct gt_heading *heading, double value,
                                      const char *unit)
{
	char other[GT_FIGURE_SIZE];
	const size_t length = strlen(unit);

	if (heading->row_unit == GT_ROW_UNIT_PER_SECOND && *unit)
		snprintf(other, sizeof(other), "%s/s", unit);
	else if (heading->row_unit == GT_ROW_UNIT_TOTAL && gt_has_suffix(unit, "/s"))
		snprintf(other, sizeof(other), "%.*s", (int)length - 2, unit);
	else
		snprintf(other, sizeof(other), "%s", unit);
	return gt_figure_in(value, other);
}

static char *text_of(const struct gt_grid *grid, const struct gt_cell *row, size_t column)
{
	const struct gt_section *section = grid->section;
	const struct gt_heading *heading = &section->headings[column];
	const struct gt_cell *cell = &row[column];
	char digits[32];

	if (is_unknown(cell))
		return gt_printable("-");
	if (cell->unit == GT_UNIT_TEXT)
		return gt_printable(cell->text ? cell->text : "");
	if (heading->row_unit != GT_ROW_UNIT_NONE && grid->units < section->heading_count) {
		const struct gt_cell *unit = &row[grid->units];

		return gt_printable(figure_in_row(heading, cell->real,
		                                  unit->unknown || !unit->text ? "" : unit->text)
		                            .text);
	}
	if (!is_number_of_process(heading))
		return gt_printable(figure_of(cell).text);
	snprintf(digits, sizeof(digits), "%" PRId64, cell->count);
	return gt_printable(digits);
}

static const struct gt_heading *heading_of(const struct gt_grid *grid, size_t column)
{
	return &grid->section->headings[grid->columns[column].heading];
}

static const struct gt_cell *cell_of(const struct gt_grid *grid, size_t row, size_t column)
{
	return &gt_rows_get(&grid->rows, row)[grid->columns[column].heading];
}

static bool is_name(const struct gt_grid *grid, size_t column)
{
	const enum gt_worth worth = heading_of(grid, column)->worth;

	return worth == GT_WORTH_NAME || worth == GT_WORTH_LESSER_NAME || worth == GT_WORTH_PROSE;
}

bool gt_grid_is_wrapped(const struct gt_grid *grid, size_t column)
{
	const enum gt_worth worth = heading_of(grid, column)->worth;

	return column + 1 == grid->count &&
	       (worth == GT_WORTH_PROSE || (worth == GT_WORTH_NAME && grid->wraps_name));
}

static bool is_wrapped_prose(const struct gt_grid *grid, size_t column)
{
	return gt_grid_is_wrapped(grid, column) &&
	       heading_of(grid, column)->worth == GT_WORTH_PROSE;
}

static void column_init(struct gt_grid *grid, size_t heading)
{
	const struct gt_section *section = grid->section;
	struct gt_grid_column *column = &grid->columns[grid->count++];

	*column = (struct gt_grid_column){.heading = heading};
	column->texts = gt_allocate((grid->rows.count + 1) * sizeof(*column->texts));
	column->texts[0] = gt_heading_label(section, heading);
	for (size_t r = 0; r < grid->rows.count; r++)
		column->texts[r + 1] = text_of(grid, gt_rows_get(&grid->rows, r), heading);
	for (size_t r = 0; r <= grid->rows.count; r++) {
		const size_t width = gt_columns_of(column->texts[r]);

		if (width > column->width)
			column->width = width;
	}
}

static void column_release(const struct gt_grid *grid, struct gt_grid_column *column)
{
	for (size_t r = 0; r <= grid->rows.count; r++)
		free(column->texts[r]);
	free(column->texts);
}

/*
 * Where a column stands: figures, names, prose; data, and units that stand in every cell, nowhere,
 * but among names if sorted by.
 */
static unsigned place_of(const struct gt_grid *grid, size_t column)
{
	if (column == column_of_units(grid->section) && !gt_rows_are_sorted_by(&grid->rows, column))
		return 3;
	switch (grid->section->headings[column].worth) {
	case GT_WORTH_ORDINARY:
	case GT_WORTH_LITTLE:
	case GT_WORTH_LEAST:
	case GT_WORTH_KEY:
		break;
	case GT_WORTH_NAME:
	case GT_WORTH_LESSER_NAME:
		return 1;
	case GT_WORTH_PROSE:
		return 2;
	case GT_WORTH_DATA:
		return gt_rows_are_sorted_by(&grid->rows, column) ? 1 : 3;
	}
	return 0;
}

/* Whether every row has the same, which tells nothing of them apart. */
static bool is_constant(const struct gt_grid *grid, size_t column)
{
	char *const *texts = grid->columns[column].texts;

	if (grid->rows.count < 2)
		return false;
	for (size_t r = 2; r <= grid->rows.count; r++)
		if (strcmp(texts[r], texts[1]) != 0)
			return false;
	return true;
}

static bool is_zero(const struct gt_cell *cell)
{
	return !cell->unknown &&
	       (gt_unit_content(cell->unit) == GT_CONTENT_REAL ? cell->real == 0
	                                                       : cell->count == 0);
}

/* Adds a column whose rows are the same to what is said of all of them. */
static void note_same(struct gt_grid *grid, const struct gt_grid_column *column)
{
	const char *before = grid->same ? grid->same : "";
	const size_t size = strlen(before) + strlen(column->texts[0]) + strlen(column->texts[1]) +
	                    sizeof(",  ");
	char *same = gt_allocate(size);

	if (is_unknown(&gt_rows_get(&grid->rows, 0)[column->heading])) {
		free(same);
		return;
	}
	snprintf(same, size, "%s%s%s %s", before, *before ? ", " : "", column->texts[0],
	         column->texts[1]);
	free(grid->same);
	grid->same = same;
}

/* Prose that is the same in all rows that are shown is read once. */
static void take_out_same(struct gt_grid *grid)
{
	struct gt_grid_column *last = &grid->columns[grid->count - 1];

	if (grid->count < 2 || grid->section->headings[last->heading].worth != GT_WORTH_PROSE ||
	    !is_constant(grid, grid->count - 1))
		return;
	note_same(grid, last);
	column_release(grid, last);
	grid->count--;
}

void gt_grid_init(struct gt_grid *grid, const struct gt_rendering *rendering,
                  const struct gt_section *section)
{
	*grid = (struct gt_grid){
		.section = section,
		.units = column_of_units(section),
		.wraps_name = rendering->whole_names,
	};
	gt_rows_init(&grid->rows, section, rendering->sort, gt_rendering_limit(rendering, section));
	grid->columns = gt_allocate(section->heading_count * sizeof(*grid->columns));
	for (unsigned place = 0; place <= 2; place++)
		for (size_t c = 0; c < section->heading_count; c++)
			if (place_of(grid, c) == place)
				column_init(grid, c);
	if (grid->count > 0)
		take_out_same(grid);
}

void gt_grid_release(struct gt_grid *grid)
{
	for (size_t c = 0; c < grid->count; c++)
		column_release(grid, &grid->columns[c]);
	free(grid->columns);
	free(grid->same);
	gt_rows_release(&grid->rows);
}

/* ---- fitting ---- */

static bool is_all_unknown(const struct gt_grid *grid, size_t column)
{
	for (size_t r = 0; r < grid->rows.count; r++)
		if (!is_unknown(cell_of(grid, r, column)))
			return false;
	return true;
}

enum { RANK_NOTHING, RANK_EQUAL, RANK_LEAST, RANK_LITTLE, RANK_ORDINARY, RANK_KEY, RANK_STAYS };

static unsigned rank_of(const struct gt_grid *grid, size_t column)
{
	const enum gt_worth worth = heading_of(grid, column)->worth;

	if (worth == GT_WORTH_NAME || worth == GT_WORTH_PROSE ||
	    gt_rows_are_sorted_by(&grid->rows, grid->columns[column].heading))
		return RANK_STAYS;
	if (is_all_unknown(grid, column))
		return RANK_NOTHING;
	if (is_constant(grid, column) &&
	    (worth != GT_WORTH_KEY || heading_of(grid, column)->unit == GT_UNIT_TEXT))
		return RANK_EQUAL;
	switch (worth) {
	case GT_WORTH_LEAST:
	case GT_WORTH_LESSER_NAME:
		return RANK_LEAST;
	case GT_WORTH_LITTLE:
		return RANK_LITTLE;
	case GT_WORTH_KEY:
		return RANK_KEY;
	case GT_WORTH_ORDINARY:
	case GT_WORTH_NAME:
	case GT_WORTH_PROSE:
	case GT_WORTH_DATA:
		break;
	}
	return RANK_ORDINARY;
}

/* Width of a line when names take at most so much each; prose is wrapped to what is left. */
static size_t line_width(const struct gt_grid *grid, size_t most)
{
	size_t width = GT_GRID_GAP * (grid->count - 1);

	for (size_t c = 0; c < grid->count; c++) {
		const size_t wide = grid->columns[c].width;
		const size_t least = is_wrapped_prose(grid, c) ? NARROW_NAME : most;

		width += is_name(grid, c) && wide > least ? least : wide;
	}
	return width;
}

/* Nobody misses a column of zeros, or one that is worth little. */
static bool is_worth_noting(const struct gt_grid *grid, size_t column)
{
	switch (heading_of(grid, column)->worth) {
	case GT_WORTH_LITTLE:
	case GT_WORTH_LEAST:
	case GT_WORTH_LESSER_NAME:
	case GT_WORTH_DATA:
		return false;
	case GT_WORTH_ORDINARY:
	case GT_WORTH_KEY:
	case GT_WORTH_NAME:
	case GT_WORTH_PROSE:
		break;
	}
	return heading_of(grid, column)->unit == GT_UNIT_TEXT || !is_zero(cell_of(grid, 0, column));
}

static void leave_out(struct gt_grid *grid, size_t column)
{
	if (is_constant(grid, column) && is_worth_noting(grid, column))
		note_same(grid, &grid->columns[column]);
	else
		grid->left_out += !is_all_unknown(grid, column);
	column_release(grid, &grid->columns[column]);
	grid->count--;
	memmove(&grid->columns[column], &grid->columns[column + 1],
	        (grid->count - column) * sizeof(*grid->columns));
}

/* Those of least rank go first, of equals the last, up to a rank; one column stays. */
static void leave_out_until(struct gt_grid *grid, size_t width, size_t names_take, unsigned most)
{
	for (unsigned rank = 0; rank <= most; rank++)
		for (size_t c = grid->count; c-- > 0;)
			if (grid->count > 1 && line_width(grid, names_take) > width &&
			    rank_of(grid, c) == rank)
				leave_out(grid, c);
}

static size_t widest(const struct gt_grid *grid, bool names, size_t narrowest)
{
	size_t widest = grid->count;

	for (size_t c = 0; c < grid->count; c++)
		if (heading_of(grid, c)->unit == GT_UNIT_TEXT && is_name(grid, c) == names &&
		    grid->columns[c].width > narrowest &&
		    (widest == grid->count || grid->columns[c].width > grid->columns[widest].width))
			widest = c;
	return widest;
}

/* Narrows the widest names, or other texts, as far as they may be and need be. */
static void narrow(struct gt_grid *grid, size_t width, bool names, size_t narrowest)
{
	size_t column;

	while (line_width(grid, SIZE_MAX) > width &&
	       (column = widest(grid, names, narrowest)) < grid->count)
		grid->columns[column].width--;
}

/* How much each name should have before figures go for it: two fifths of the page for all. */
static size_t wish_of(const struct gt_grid *grid, size_t width)
{
	size_t names = 0;

	for (size_t c = 0; c < grid->count; c++)
		names += is_name(grid, c);
	if (names == 0 || 2 * width / 5 / names < NARROW_NAME)
		return NARROW_NAME;
	return 2 * width / 5 / names;
}

/* Columns that tell nothing of rows, or are only nice beside a name, go before a name is cut. */
static bool is_below_names(const struct gt_grid *grid, size_t column)
{
	if (rank_of(grid, column) == RANK_STAYS)
		return false;
	return heading_of(grid, column)->worth == GT_WORTH_LESSER_NAME ||
	       is_all_unknown(grid, column) ||
	       (is_constant(grid, column) && (heading_of(grid, column)->unit == GT_UNIT_TEXT ||
	                                      is_zero(cell_of(grid, 0, column))));
}

static void leave_out_below_names(struct gt_grid *grid, size_t width)
{
	for (size_t c = grid->count; c-- > 0;)
		if (grid->count > 1 && line_width(grid, SIZE_MAX) > width &&
		    is_below_names(grid, c))
			leave_out(grid, c);
}

static void cut(struct gt_grid *grid, struct gt_grid_column *column, bool rows)
{
	for (size_t r = 0; rows && r <= grid->rows.count; r++)
		grid->cut |= gt_columns_of(column->texts[r]) > column->width;
	gt_cut_texts(column->texts, 1, column->width);
	if (rows)
		gt_cut_texts(column->texts + 1, grid->rows.count, column->width);
}

void gt_grid_fit(struct gt_grid *grid, size_t width)
{
	leave_out_below_names(grid, width);
	leave_out_until(grid, width, wish_of(grid, width), RANK_ORDINARY);
	narrow(grid, width, true, NARROW_NAME);
	narrow(grid, width, false, NARROWEST);
	narrow(grid, width, true, NARROWEST_NAME);
	leave_out_until(grid, width, SIZE_MAX, RANK_KEY);
	narrow(grid, width, true, 1);
	narrow(grid, width, false, 1);
	for (size_t c = 0; c < grid->count; c++)
		if (heading_of(grid, c)->unit == GT_UNIT_TEXT)
			cut(grid, &grid->columns[c], !gt_grid_is_wrapped(grid, c));
}

/* A word of a title, where it is an abbreviation; NULL: it is a word. */
static const char *abbreviation(const char *word, size_t length)
{
	static const char *const known[] = {"API", "CPU", "CUDA", "GPU", "HLO", "NN"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i]) == length && strncasecmp(known[i], word, length) == 0)
			return known[i];
	return NULL;
}

void gt_print_title(const char *title, FILE *out)
{
	for (const char *word = title; *word;) {
		const size_t length = strcspn(word, "_");
		const char *known = abbreviation(word, length);

		if (known)
			fputs(known, out);
		else
			fprintf(out, "%c%.*s",
			        word == title ? toupper((unsigned char)*word) : *word,
			        length ? (int)length - 1 : 0, word + 1);
		word += length;
		if (*word == '_')
			putc(' ', out);
		word += *word == '_';
	}
}
