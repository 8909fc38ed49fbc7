/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/digest.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/result.h"
#include "model/trace.h"

enum { SIGNIFICANT = 9 };

/* FNV-1a of 64 bits. */
void digest_add_bytes(struct digest *digest, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;
	uint64_t hash = digest->hash ? digest->hash : 0xcbf29ce484222325;

	if (size == 0)
		return;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ from[i]) * 0x100000001b3;
	digest->hash = hash;
	if (digest->shown)
		(void)fwrite(bytes, size, 1, digest->shown);
}

void digest_add_text(struct digest *digest, const char *text)
{
	digest_add_bytes(digest, text, strlen(text));
}

/* As printf would, which takes most of the time of a debug build. */
static void add_number(struct digest *digest, uint64_t number, bool negative)
{
	char text[24];
	size_t at = sizeof(text);

	do
		text[--at] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	if (negative)
		text[--at] = '-';
	digest_add_bytes(digest, text + at, sizeof(text) - at);
}

static void add_signed(struct digest *digest, int64_t number)
{
	add_number(digest, number < 0 ? -(uint64_t)number : (uint64_t)number, number < 0);
}

static void add_real(struct digest *digest, double real)
{
	char text[40];

	if (isnan(real))
		snprintf(text, sizeof(text), "nan"); /* some libraries write -nan */
	else
		snprintf(text, sizeof(text), "%.*g", SIGNIFICANT, real);
	digest_add_text(digest, text);
}

static void add_cell(struct digest *digest, const struct gt_cell *cell)
{
	if (cell->unknown)
		digest_add_text(digest, "?");
	else if (cell->unit == GT_UNIT_TEXT)
		digest_add_text(digest, cell->text);
	else if (cell->unit == GT_UNIT_BYTES_PER_SECOND || cell->unit == GT_UNIT_FLOP_PER_SECOND ||
	         cell->unit == GT_UNIT_JOULES || cell->unit == GT_UNIT_WATTS ||
	         cell->unit == GT_UNIT_PERCENT || cell->unit == GT_UNIT_REAL)
		add_real(digest, cell->real);
	else
		add_signed(digest, cell->count);
	digest_add_text(digest, "\t");
}

void digest_add_section(struct digest *digest, const struct gt_section *section)
{
	const size_t rows = gt_section_row_count(section);

	if (rows == 0)
		return;
	for (size_t i = 0; i < section->heading_count; i++) {
		digest_add_text(digest, section->headings[i].name);
		digest_add_text(digest, "\t");
	}
	for (size_t row = 0; row < rows; row++) {
		const struct gt_cell *cells = gt_section_row(section, row);

		digest_add_text(digest, "\n");
		for (size_t i = 0; i < section->heading_count; i++)
			add_cell(digest, &cells[i]);
	}
	digest_add_text(digest, "\nmore ");
	add_number(digest, section->more, false);
	digest_add_text(digest, "\n");
	digest->rows += rows;
}

static void add_column(struct digest *digest, const struct gt_trace *trace, const void *value,
                       enum gt_column_type type)
{
	switch (type) {
	case GT_COLUMN_time:
		add_signed(digest, *(const gt_time *)value);
		break;
	case GT_COLUMN_code:
		add_signed(digest, *(const gt_code *)value);
		break;
	case GT_COLUMN_size:
	case GT_COLUMN_wide:
		add_number(digest, *(const uint64_t *)value, false);
		break;
	case GT_COLUMN_id:
	case GT_COLUMN_count:
		add_number(digest, *(const uint32_t *)value, false);
		break;
	case GT_COLUMN_string:
		digest_add_text(digest, gt_trace_text(trace, *(const gt_string *)value));
		break;
	case GT_COLUMN_real:
		add_real(digest, *(const gt_real *)value);
		break;
	}
	digest_add_text(digest, "\t");
}

void digest_add_table(struct digest *digest, const struct gt_trace *trace,
                      const struct gt_table *table)
{
	if (table->row_count == 0)
		return;
	for (size_t i = 0; i < table->column_count; i++) {
		digest_add_text(digest, table->columns[i].name);
		digest_add_text(digest, "\t");
	}
	for (size_t row = 0; row < table->row_count; row++) {
		const char *bytes = (const char *)table->rows + row * table->row_size;

		digest_add_text(digest, "\n");
		for (size_t i = 0; i < table->column_count; i++)
			add_column(digest, trace, bytes + table->columns[i].offset,
			           table->columns[i].type);
	}
	digest_add_text(digest, "\n");
	digest->rows += table->row_count;
}

void digest_add_series(struct digest *digest, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_series, series, &trace->series) {
		for (size_t i = 0; i < series->count; i++) {
			add_signed(digest, series->times_ns[i]);
			for (size_t column = 0; column < series->column_count; column++) {
				digest_add_text(digest, "\t");
				add_real(digest, series->columns[column][i]);
			}
			digest_add_text(digest, "\n");
		}
		digest->rows += series->count;
	}
}

void digest_add_remarks(struct digest *digest, const struct gt_result *result)
{
	gt_array_each(const struct gt_remark, remark, &result->remarks) {
		digest_add_text(digest, remark->text);
		digest_add_text(digest, remark->columns ? remark->columns : "");
		digest_add_text(digest, remark->says_why_empty ? " empty\n" : "\n");
		digest->rows++;
	}
}

static void add_words(struct digest *digest, const char *text)
{
	digest_add_text(digest, text ? text : "");
	digest_add_text(digest, "\t");
}

static void add_reals(struct digest *digest, const double *reals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		add_real(digest, reals[i]);
		digest_add_text(digest, i + 1 < count ? "\t" : "\n");
	}
	digest->rows++;
}

static void add_chart(struct digest *digest, const struct gt_chart *chart)
{
	add_words(digest, chart->title);
	add_words(digest, chart->x_label);
	add_words(digest, chart->y_label);
	add_reals(digest, (double[]){chart->from_x, chart->to_x, chart->from_y, chart->to_y}, 4);
	gt_array_each(const struct gt_chart_line, line, &chart->lines) {
		add_words(digest, line->label);
		add_reals(digest,
		          (double[]){line->from_x, line->from_y, line->to_x, line->to_y,
		                     line->dashed},
		          5);
	}
	gt_array_each(const struct gt_chart_point, point, &chart->points) {
		add_words(digest, point->label);
		add_words(digest, point->figures);
		add_reals(digest, (double[]){point->x, point->y, point->weight}, 3);
	}
}

static void add_strips(struct digest *digest, const struct gt_strips *strips)
{
	add_words(digest, strips->title);
	add_words(digest, strips->x_label);
	add_words(digest, strips->whole);
	add_reals(digest, (double[]){strips->to_x, strips->whole_to_x}, 2);
	gt_array_each(const char *const, row, &strips->rows)
		add_words(digest, *row);
	gt_array_each(const struct gt_strip_kind, kind, &strips->kinds) {
		add_words(digest, kind->label);
		add_words(digest, kind->figures);
	}
	gt_array_each(const struct gt_strip_part, part, &strips->parts)
		add_reals(digest,
		          (double[]){(double)part->row, (double)part->kind, part->from_x,
		                     part->to_x},
		          4);
}

void digest_add_charts(struct digest *digest, const struct gt_result *result)
{
	gt_array_each(const struct gt_chart, chart, &result->charts)
		add_chart(digest, chart);
	gt_array_each(const struct gt_strips, strips, &result->strips)
		add_strips(digest, strips);
}

void digest_add_file(struct digest *digest, const char *bytes, size_t size)
{
	static const char version[] = GPUTRACE_VERSION;
	const char *end = bytes + size;
	const char *found;

	while ((found = memmem(bytes, (size_t)(end - bytes), version, sizeof(version) - 1))) {
		digest_add_bytes(digest, bytes, (size_t)(found - bytes));
		bytes = found + sizeof(version) - 1;
	}
	digest_add_bytes(digest, bytes, (size_t)(end - bytes));
	digest->rows++;
}
