/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/array.h"
#include "base/path.h"
#include "cli/command_line/option.h"

struct key {
	size_t column;
	bool descending;
};

struct keys {
	const struct gt_section *section;
	struct key list[GT_SORT_KEYS];
	size_t count;
};

/* Ends of headings, and what they say is measured. */
struct unit_suffix {
	const char *end;
	const char *measured;
};

static const struct unit_suffix suffixes[] = {
	{"_bytes_per_second", "rate"},
	{"_flop_per_second", "flops"},
	{"_joules", "energy"},
	{"_watts", "power"},
	{"_bytes", "size"},
	{"_percent", "share"},
	{"_ns", "time"},
};

static const struct unit_suffix *suffix_of(const char *name)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (gt_has_suffix(name, suffixes[i].end))
			return &suffixes[i];
	return NULL;
}

size_t gt_heading_stem(const char *name)
{
	const struct unit_suffix *suffix = suffix_of(name);

	return strlen(name) - (suffix ? strlen(suffix->end) : 0);
}

static bool is_alone(const struct gt_section *section, size_t column)
{
	const char *name = section->headings[column].name;
	const size_t stem = gt_heading_stem(name);

	for (size_t c = 0; c < section->heading_count; c++) {
		const char *other = section->headings[c].name;

		if (c != column && gt_heading_stem(other) == stem && memcmp(name, other, stem) == 0)
			return false;
	}
	return true;
}

char *gt_heading_label(const struct gt_section *section, size_t column)
{
	const char *name = section->headings[column].name;
	const struct unit_suffix *suffix = suffix_of(name);
	const char *given = section->headings[column].label;
	const size_t size = (given ? strlen(given) : strlen(name)) + sizeof("_share");
	char *label = gt_allocate(size);

	if (given)
		snprintf(label, size, "%s", given);
	else if (strcmp(name, "bytes") == 0)
		snprintf(label, size, "size");
	else if (!suffix || is_alone(section, column))
		snprintf(label, size, "%.*s", (int)gt_heading_stem(name), name);
	else
		snprintf(label, size, "%.*s_%s", (int)gt_heading_stem(name), name,
		         suffix->measured);
	return label;
}

static bool is_labelled(const struct gt_section *section, size_t column, const char *name)
{
	char *label = gt_heading_label(section, column);
	const bool same = strcmp(label, name) == 0;

	free(label);
	return same;
}

size_t gt_section_find_column(const struct gt_section *section, const char *name)
{
	size_t column;

	for (column = 0; column < section->heading_count; column++)
		if (strcmp(section->headings[column].name, name) == 0)
			return column;
	for (column = 0; column < section->heading_count; column++) {
		const char *heading = section->headings[column].name;

		if (is_labelled(section, column, name) ||
		    (gt_heading_stem(heading) == strlen(name) &&
		     memcmp(heading, name, strlen(name)) == 0))
			return column;
	}
	return section->heading_count;
}

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_values(const struct gt_cell *a, const struct gt_cell *b)
{
	switch (gt_unit_content(a->unit)) {
	case GT_CONTENT_TEXT:
		return strcmp(a->text ? a->text : "", b->text ? b->text : "");
	case GT_CONTENT_COUNT:
		return (a->count > b->count) - (a->count < b->count);
	case GT_CONTENT_REAL:
		return compare_numbers(a->real, b->real);
	}
	return 0;
}

void gt_cell_write_figure(const struct gt_cell *cell, FILE *out)
{
	if (cell->unknown)
		return;
	switch (gt_unit_content(cell->unit)) {
	case GT_CONTENT_TEXT:
		break;
	case GT_CONTENT_COUNT:
		fprintf(out, "%" PRId64, cell->count);
		break;
	case GT_CONTENT_REAL:
		if (isfinite(cell->real))
			fprintf(out, "%.15g", cell->real);
		break;
	}
}

/* Unknown values come last in either direction. */
static int compare_cells(const struct gt_cell *a, const struct gt_cell *b, bool descending)
{
	if (a->unknown || b->unknown)
		return (a->unknown != 0) - (b->unknown != 0);
	return descending ? compare_values(b, a) : compare_values(a, b);
}

/* Rows that are equal keep the report's own order. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct keys *keys = context;
	const size_t row_a = *(const size_t *)a;
	const size_t row_b = *(const size_t *)b;
	const struct gt_cell *cells_a = gt_section_row(keys->section, row_a);
	const struct gt_cell *cells_b = gt_section_row(keys->section, row_b);

	for (size_t i = 0; i < keys->count; i++) {
		const struct key *key = &keys->list[i];
		const int order = compare_cells(&cells_a[key->column], &cells_b[key->column],
		                                key->descending);

		if (order != 0)
			return order;
	}
	return (row_a > row_b) - (row_a < row_b);
}

static struct keys find_keys(const struct gt_section *section, const struct gt_sort *sort)
{
	struct keys keys = {.section = section};

	for (size_t i = 0; sort && i < sort->count; i++) {
		const size_t column = gt_section_find_column(section, sort->keys[i].column);
		const enum gt_sort_order order = sort->keys[i].order;

		if (column == section->heading_count)
			continue;
		keys.list[keys.count++] = (struct key){
			column, order == GT_SORT_DESCENDING ||
					(order == GT_SORT_NATURAL &&
		                         section->headings[column].unit != GT_UNIT_TEXT)};
	}
	return keys;
}

static void note_order(struct gt_rows *rows, const struct keys *keys)
{
	const struct gt_section *section = rows->section;

	for (size_t i = 0; i < keys->count; i++)
		rows->sorted_by[rows->sorted_by_count++] = keys->list[i].column;
	if (keys->count == 0 && section->order)
		rows->sorted_by[rows->sorted_by_count++] =
			gt_section_find_column(section, section->order);
}

void gt_rows_init(struct gt_rows *rows, const struct gt_section *section,
                  const struct gt_sort *sort, uint64_t limit)
{
	const size_t count = gt_section_row_count(section);
	/* Plain sections are read in the order in which they were written, and to their end. */
	struct keys keys = find_keys(section, section->plain ? NULL : sort);

	*rows = (struct gt_rows){.section = section, .count = count};
	rows->order = gt_allocate(count * sizeof(*rows->order));
	for (size_t i = 0; i < count; i++)
		rows->order[i] = i;
	note_order(rows, &keys);
	if (keys.count > 0)
		qsort_r(rows->order, count, sizeof(*rows->order), compare_rows, &keys);
	if (limit < count && !section->plain) {
		rows->count = (size_t)limit;
		rows->left_out = count - rows->count;
	}
}

bool gt_rows_are_sorted_by(const struct gt_rows *rows, size_t column)
{
	for (size_t i = 0; i < rows->sorted_by_count; i++)
		if (rows->sorted_by[i] == column)
			return true;
	return false;
}

void gt_rows_release(struct gt_rows *rows)
{
	free(rows->order);
	*rows = (struct gt_rows){0};
}

const struct gt_cell *gt_rows_get(const struct gt_rows *rows, size_t index)
{
	return gt_section_row(rows->section, rows->order[index]);
}
