/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/result.h"
#include "cli/output/json.h"
#include "cli/render/render.h"
#include "cli/render/rows.h"

/* 15 digits give every decimal fraction back as it was written: 12.3, not 12.300000000000001. */
#define REALS JSON_REAL_PRECISION(15)

static json_t *json_of_cell(const struct gt_cell *cell)
{
	if (cell->unknown)
		return json_null();
	switch (gt_unit_content(cell->unit)) {
	case GT_CONTENT_TEXT:
		return gt_json_text(cell->text);
	case GT_CONTENT_COUNT:
		return json_integer(cell->count);
	case GT_CONTENT_REAL:
		return isfinite(cell->real) ? json_real(cell->real) : json_null();
	}
	return json_null();
}

static json_t *json_of_row(const struct gt_section *section, const struct gt_cell *cells)
{
	json_t *row = json_object();

	for (size_t c = 0; c < section->heading_count; c++)
		(void)json_object_set_new(row, section->headings[c].name, json_of_cell(&cells[c]));
	return row;
}

static json_t *json_of_section(const struct gt_rendering *rendering,
                               const struct gt_section *section)
{
	json_t *array = json_array();
	struct gt_rows rows;

	gt_rows_init(&rows, section, rendering->sort, gt_rendering_limit(rendering, section));
	for (size_t r = 0; r < rows.count; r++)
		(void)json_array_append_new(array, json_of_row(section, gt_rows_get(&rows, r)));
	gt_rows_release(&rows);
	return array;
}

/* Remarks about columns that are in no table which is shown are not for its reader. */
static bool is_for_reader(const struct gt_rendering *rendering, const struct gt_result *result,
                          const struct gt_remark *remark)
{
	gt_array_each(const struct gt_section, section, &result->sections)
		for (size_t c = 0; c < section->heading_count; c++)
			if (gt_rendering_shows(rendering, section) &&
			    gt_remark_is_on(remark, section->headings[c].name))
				return true;
	return !remark->columns;
}

static void add_remarks(json_t *remarks, const struct gt_rendering *rendering,
                        const struct gt_result *result)
{
	gt_array_each(const struct gt_remark, remark, &result->remarks)
		if (is_for_reader(rendering, result, remark))
			(void)json_array_append_new(remarks, gt_json_text(remark->text));
	gt_array_each(const struct gt_section, section, &result->sections) {
		const size_t rows = gt_section_row_count(section);

		if (section->more && gt_rendering_shows(rendering, section))
			(void)json_array_append_new(
				remarks,
				json_sprintf("The table %s has %zu rows, the first %zu are "
			                     "here: --limit %zu shows all.",
			                     section->title, rows + (size_t)section->more, rows,
			                     rows + (size_t)section->more));
	}
}

static void add_result(json_t *object, const struct gt_rendering *rendering,
                       const struct gt_named_result *named)
{
	json_t *remarks = json_array();

	(void)json_object_set_new(object, "report", json_string(named->name));
	gt_array_each(const struct gt_section, section, &named->result->sections)
		if (gt_rendering_shows(rendering, section))
			(void)json_object_set_new(object, section->title,
			                          json_of_section(rendering, section));
	add_remarks(remarks, rendering, named->result);
	(void)json_object_set_new(object, "remarks", remarks);
}

void gt_render_json(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, FILE *out)
{
	json_t *root = json_object();

	(void)json_object_set_new(root, "version", json_integer(1));
	if (count == 1) {
		add_result(root, rendering, &results[0]);
	} else {
		json_t *list = json_array();

		for (size_t i = 0; i < count; i++) {
			json_t *object = json_object();

			add_result(object, rendering, &results[i]);
			(void)json_array_append_new(list, object);
		}
		(void)json_object_set_new(root, "reports", list);
	}
	gt_json_print(root, REALS | (rendering->one_line ? JSON_COMPACT : JSON_INDENT(2)), out);
	json_decref(root);
}

void gt_render_json_rows(const struct gt_section *section, FILE *out)
{
	for (size_t r = 0; r < gt_section_row_count(section); r++) {
		json_t *row = json_of_row(section, gt_section_row(section, r));

		gt_json_print(row, REALS | JSON_COMPACT, out);
		json_decref(row);
	}
}
