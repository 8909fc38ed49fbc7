/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/result.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/parameter.h"
#include "base/error.h"

/* Bytes of long texts in a result. */
#define LONG_TEXTS ((uint64_t)64 << 20)

void gt_result_init(struct gt_result *result)
{
	*result = (struct gt_result){.room = {.left = LONG_TEXTS}};
}

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		gt_array_free(texts[i]);
}

void gt_result_release(struct gt_result *result)
{
	gt_array_each(struct gt_section, section, &result->sections)
		gt_array_release(&section->cells);
	gt_array_release(&result->sections);
	gt_array_each(struct gt_remark, remark, &result->remarks)
		gt_array_free(remark->text);
	gt_array_release(&result->remarks);
	gt_array_each(struct gt_chart, chart, &result->charts) {
		gt_array_release(&chart->lines);
		gt_array_release(&chart->points);
	}
	gt_array_release(&result->charts);
	gt_array_each(struct gt_strips, strips, &result->strips) {
		gt_array_release(&strips->rows);
		gt_array_release(&strips->kinds);
		gt_array_release(&strips->parts);
	}
	gt_array_release(&result->strips);
	free_texts(result->texts.rows, result->texts.count);
	gt_array_release(&result->texts);
}

static void note_wrong(struct gt_result *result, const char *what)
{
	if (!result->wrong)
		result->wrong = what;
}

static bool is_whole(const struct gt_section *section)
{
	return section->cells.count % section->heading_count == 0;
}

void gt_result_begin(struct gt_result *result, const char *title, const struct gt_heading *headings,
                     size_t count)
{
	assert(count > 0);
	*gt_array_push(&result->sections) = (struct gt_section){
		.title = title,
		.headings = headings,
		.heading_count = count,
	};
}

/* The table that was begun last; NULL when there is none. */
static struct gt_section *last_section(struct gt_result *result)
{
	const size_t count = result->sections.count;

	return count > 0 ? &result->sections.rows[count - 1] : NULL;
}

void gt_result_detail(struct gt_result *result)
{
	struct gt_section *section = last_section(result);

	if (section)
		section->detail = true;
}

bool gt_result_detail_if_unknown(struct gt_result *result, const char *column)
{
	struct gt_section *section = &result->sections.rows[result->sections.count - 1];
	const size_t rows = gt_section_row_count(section);

	for (size_t r = 0; r < rows; r++) {
		const struct gt_cell *cell = gt_section_cell(section, r, column);

		if (cell && !cell->unknown)
			return false;
	}
	section->detail = rows > 0;
	return rows > 0;
}

void gt_result_mark_further(struct gt_result *result)
{
	size_t seen = 0;

	if (result->is_page)
		return;
	gt_array_each(struct gt_section, section, &result->sections)
		if (gt_section_row_count(section) > 0 && !section->detail && !section->plain &&
		    !section->single)
			section->further = seen++ >= GT_TABLES_FIRST;
}

void gt_result_plain(struct gt_result *result)
{
	struct gt_section *section = last_section(result);

	if (section)
		section->plain = true;
}

void gt_result_single(struct gt_result *result)
{
	struct gt_section *section = last_section(result);

	if (section)
		section->single = true;
}

void gt_result_whole(struct gt_result *result)
{
	struct gt_section *section = last_section(result);

	if (section)
		section->whole = true;
}

static bool has_column(const struct gt_section *section, const char *name)
{
	for (size_t i = 0; i < section->heading_count; i++)
		if (strcmp(section->headings[i].name, name) == 0)
			return true;
	return false;
}

void gt_result_order(struct gt_result *result, const char *column)
{
	struct gt_section *section = last_section(result);

	if (!section)
		return;
	if (!has_column(section, column))
		note_wrong(result, "a table is sorted by a column that it does not have");
	else
		section->order = column;
}

void gt_result_reserve(struct gt_result *result, size_t rows)
{
	struct gt_section *section = last_section(result);
	const size_t cells = section ? rows * section->heading_count : 0;

	if (cells <= (section ? section->cells.capacity : 0))
		return;
	section->cells.rows =
		gt_array_resize(section->cells.rows, cells, sizeof(*section->cells.rows));
	section->cells.capacity = cells;
}

void gt_result_top(struct gt_result *result, uint64_t all, uint64_t top)
{
	struct gt_section *section = last_section(result);

	if (!section)
		return;
	section->whole = top != GT_ROWS_ALL;
	section->more = all > top ? all - top : 0;
}

enum gt_cell_content gt_unit_content(enum gt_unit unit)
{
	switch (unit) {
	case GT_UNIT_TEXT:
		return GT_CONTENT_TEXT;
	case GT_UNIT_COUNT:
	case GT_UNIT_NS:
	case GT_UNIT_TIME:
	case GT_UNIT_BYTES:
	case GT_UNIT_BINARY_BYTES:
		return GT_CONTENT_COUNT;
	case GT_UNIT_BYTES_PER_SECOND:
	case GT_UNIT_FLOP_PER_SECOND:
	case GT_UNIT_JOULES:
	case GT_UNIT_WATTS:
	case GT_UNIT_PERCENT:
	case GT_UNIT_REAL:
		return GT_CONTENT_REAL;
	}
	return GT_CONTENT_TEXT;
}

/* An unknown cell; NULL when there is no table to add it to. */
static struct gt_cell *next_cell(struct gt_result *result)
{
	struct gt_section *section = last_section(result);

	if (!section) {
		note_wrong(result, "a cell is in no table");
		return NULL;
	}

	const size_t column = section->cells.count % section->heading_count;
	struct gt_cell *cell = gt_array_push(&section->cells);

	*cell = (struct gt_cell){.unit = section->headings[column].unit, .unknown = 1};
	return cell;
}

/* The next cell, if that is what its heading says it holds. */
static struct gt_cell *next_of(struct gt_result *result, enum gt_cell_content content)
{
	struct gt_cell *cell = next_cell(result);

	if (!cell || gt_unit_content(cell->unit) == content)
		return cell;
	note_wrong(result, "a cell is of another unit than its heading");
	return NULL;
}

int gt_result_check(const struct gt_result *result, struct gt_error *err)
{
	if (result->wrong)
		return gt_fail(err, EPROTO, "%s", result->wrong);
	gt_array_each(const struct gt_section, section, &result->sections)
		if (!is_whole(section))
			return gt_fail(err, EPROTO, "the last row of %s has too few cells",
			               section->title);
	return 0;
}

/* The caller owns the text, which is empty if it cannot be made. */
__attribute__((format(printf, 1, 0))) static char *format_text(const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0) {
		text = gt_allocate(1);
		text[0] = '\0';
	}
	return text;
}

void gt_result_add_text(struct gt_result *result, const char *text)
{
	struct gt_cell *cell = next_of(result, GT_CONTENT_TEXT);
	size_t size;

	if (!text)
		note_wrong(result, "a text is missing");
	if (!cell || !text)
		return;
	size = gt_text_room_take(&result->room, text);
	cell->text =
		text[size] ? gt_result_keep(result, "%.*s" GT_TEXT_CUT, (int)size, text) : text;
	cell->unknown = 0;
}

void gt_result_add_format(struct gt_result *result, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *text = format_text(fmt, args);
	va_end(args);

	*gt_array_push(&result->texts) = text;
	gt_result_add_text(result, text);
}

void gt_result_add_copy(struct gt_result *result, const char *text)
{
	if (*text)
		gt_result_add_format(result, "%s", text);
	else
		gt_result_add_unknown(result);
}

const char *gt_result_keep(struct gt_result *result, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *text = format_text(fmt, args);
	va_end(args);

	*gt_array_push(&result->texts) = text;
	return text;
}

struct gt_chart *gt_result_add_chart(struct gt_result *result)
{
	struct gt_chart *chart = gt_array_push(&result->charts);

	*chart = (struct gt_chart){0};
	return chart;
}

struct gt_strips *gt_result_add_strips(struct gt_result *result)
{
	struct gt_strips *strips = gt_array_push(&result->strips);

	*strips = (struct gt_strips){.title = NULL};
	return strips;
}

/* Efficiencies may be above 100, caches being what they are; nothing is far above it. */
#define MOST_PERCENT 1000
#define MOST_NS      ((int64_t)1 << 61) /* 73 years */

/*
 * A value that no cell can hold comes of times and sizes of a damaged recording, or of sums of them
 * that are more than fits: it is not known. Times that are differences may be below 0.
 */
static bool is_possible(const struct gt_cell *cell)
{
	switch (cell->unit) {
	case GT_UNIT_TEXT:
	case GT_UNIT_COUNT:
	case GT_UNIT_TIME:
		return true;
	case GT_UNIT_NS:
		return cell->count > -MOST_NS && cell->count < MOST_NS;
	case GT_UNIT_BYTES:
	case GT_UNIT_BINARY_BYTES:
		return cell->count >= 0;
	case GT_UNIT_BYTES_PER_SECOND:
	case GT_UNIT_FLOP_PER_SECOND:
	case GT_UNIT_JOULES:
	case GT_UNIT_WATTS:
		return isfinite(cell->real) && cell->real >= 0;
	case GT_UNIT_PERCENT:
		return cell->real >= -MOST_PERCENT && cell->real <= MOST_PERCENT;
	case GT_UNIT_REAL:
		return isfinite(cell->real);
	}
	return false;
}

void gt_result_add_count(struct gt_result *result, int64_t count)
{
	struct gt_cell *cell = next_of(result, GT_CONTENT_COUNT);

	if (!cell)
		return;
	cell->count = count;
	cell->unknown = !is_possible(cell);
}

void gt_result_add_real(struct gt_result *result, double real)
{
	struct gt_cell *cell = next_of(result, GT_CONTENT_REAL);

	if (!cell)
		return;
	cell->real = real;
	cell->unknown = !is_possible(cell);
}

void gt_result_add_unknown(struct gt_result *result)
{
	(void)next_cell(result);
}

void gt_result_add_unknowns(struct gt_result *result, size_t cells)
{
	for (size_t i = 0; i < cells; i++)
		gt_result_add_unknown(result);
}

void gt_result_add_count_if(struct gt_result *result, bool known, int64_t count)
{
	if (known)
		gt_result_add_count(result, count);
	else
		gt_result_add_unknown(result);
}

void gt_result_remark(struct gt_result *result, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *text = format_text(fmt, args);
	va_end(args);

	*gt_array_push(&result->remarks) = (struct gt_remark){.text = text};
}

void gt_result_remark_empty(struct gt_result *result, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *text = format_text(fmt, args);
	va_end(args);

	*gt_array_push(&result->remarks) = (struct gt_remark){.text = text, .says_why_empty = true};
}

bool gt_result_says_why_empty(const struct gt_result *result)
{
	gt_array_each(const struct gt_remark, remark, &result->remarks)
		if (remark->says_why_empty)
			return true;
	return false;
}

void gt_result_remark_on(struct gt_result *result, const char *columns, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *text = format_text(fmt, args);
	va_end(args);

	*gt_array_push(&result->remarks) = (struct gt_remark){.text = text, .columns = columns};
}

bool gt_remark_is_on(const struct gt_remark *remark, const char *column)
{
	const size_t length = strlen(column);

	for (const char *at = remark->columns; at && *at;) {
		const size_t word = strcspn(at, " ");

		if (word == length && memcmp(at, column, length) == 0)
			return true;
		at += word + strspn(at + word, " ");
	}
	return false;
}

size_t gt_section_row_count(const struct gt_section *section)
{
	return section->cells.count / section->heading_count;
}

const struct gt_cell *gt_section_row(const struct gt_section *section, size_t row)
{
	assert(row < gt_section_row_count(section));
	return &section->cells.rows[row * section->heading_count];
}

const struct gt_cell *gt_section_cell(const struct gt_section *section, size_t row,
                                      const char *heading)
{
	const struct gt_cell *cells = gt_section_row(section, row);

	for (size_t i = 0; i < section->heading_count; i++)
		if (strcmp(section->headings[i].name, heading) == 0)
			return &cells[i];
	return NULL;
}

const struct gt_section *gt_result_find(const struct gt_result *result, const char *title)
{
	gt_array_each(const struct gt_section, section, &result->sections)
		if (strcmp(section->title, title) == 0)
			return section;
	return NULL;
}
