/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/schema.h"

#include <jansson.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "cli/command_line/report_help.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/report/answers.h"

/* Name of a unit in the schema; NULL: the column has none, or is a text. */
static const char *unit_name(enum gt_unit unit)
{
	switch (unit) {
	case GT_UNIT_NS:
	case GT_UNIT_TIME:
		return "ns";
	case GT_UNIT_BYTES:
	case GT_UNIT_BINARY_BYTES:
		return "bytes";
	case GT_UNIT_BYTES_PER_SECOND:
		return "bytes/s";
	case GT_UNIT_FLOP_PER_SECOND:
		return "FLOP/s";
	case GT_UNIT_JOULES:
		return "J";
	case GT_UNIT_WATTS:
		return "W";
	case GT_UNIT_PERCENT:
		return "%";
	case GT_UNIT_TEXT:
	case GT_UNIT_COUNT:
	case GT_UNIT_REAL:
		break;
	}
	return NULL;
}

static const char *type_name(enum gt_unit unit)
{
	static const char *const names[] = {
		[GT_CONTENT_TEXT] = "string",
		[GT_CONTENT_COUNT] = "integer",
		[GT_CONTENT_REAL] = "number",
	};

	return names[gt_unit_content(unit)];
}

static json_t *schema_of_column(const struct gt_heading *heading)
{
	const char *unit = unit_name(heading->unit);
	json_t *column = json_pack("{s:[s,s], s:s}", "type", type_name(heading->unit), "null",
	                           "description", heading->help);

	if (unit)
		(void)json_object_set_new(column, "unit", json_string(unit));
	else if (heading->row_unit != GT_ROW_UNIT_NONE)
		(void)json_object_set_new(column, "unit",
		                          json_string("of the row: its column unit"));
	return column;
}

static json_t *schema_of_table(const struct gt_section *section)
{
	json_t *columns = json_object();
	json_t *required = json_array();

	for (size_t c = 0; c < section->heading_count; c++) {
		const struct gt_heading *heading = &section->headings[c];

		(void)json_object_set_new(columns, heading->name, schema_of_column(heading));
		(void)json_array_append_new(required, json_string(heading->name));
	}
	return json_pack("{s:s, s:{s:s, s:o, s:o}}", "type", "array", "items", "type", "object",
	                 "properties", columns, "required", required);
}

static json_t *schema_of_report(const struct gt_report *report)
{
	json_t *properties = json_pack("{s:{s:i}, s:{s:s}}", "version", "const", 1, "report",
	                               "const", report->name);
	json_t *required = json_pack("[s]", "report");
	struct gt_report_tables tables;

	gt_report_tables_init(&tables, report);
	gt_array_each(const struct gt_section, section, &tables.result.sections) {
		(void)json_object_set_new(properties, section->title, schema_of_table(section));
		(void)json_array_append_new(required, json_string(section->title));
	}
	gt_report_tables_release(&tables);
	(void)json_object_set_new(properties, "remarks",
	                          json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type",
	                                    "string"));
	(void)json_array_append_new(required, json_string("remarks"));
	return json_pack("{s:s, s:s, s:o, s:o}", "description", report->summary, "type", "object",
	                 "properties", properties, "required", required);
}

/* One report is the object itself, several are in a list. */
static json_t *schema_of(const struct gt_answers *answers)
{
	json_t *definitions = json_object();
	json_t *choices = json_array();

	gt_array_each(const struct gt_answer, answer, &answers->list) {
		const char *name = answer->report->name;

		(void)json_object_set_new(definitions, name, schema_of_report(answer->report));
		(void)json_array_append_new(choices, json_pack("{s:s+}", "$ref", "#/$defs/", name));
	}
	return json_pack(
		"{s:s, s:s, s:[{s:O, s:[s]}, {s:s, s:{s:{s:i}, s:{s:s, s:{s:o}}}, s:[s,s]}], "
		"s:o}",
		"$schema", "https://json-schema.org/draft/2020-12/schema", "title",
		"gputrace report --json", "anyOf", "anyOf", choices, "required", "version", "type",
		"object", "properties", "version", "const", 1, "reports", "type", "array", "items",
		"anyOf", choices, "required", "version", "reports", "$defs", definitions);
}

int gt_report_schema(const struct gt_show_args *args, const struct gt_answers *answers,
                     struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	json_t *schema;
	int result = gt_output_open(&output, args->output, args->force, err);

	if (result < 0)
		return result;
	schema = schema_of(answers);
	gt_json_print(schema, JSON_INDENT(2), output.file);
	json_decref(schema);
	result = gt_output_commit(&output, err);
	if (result == 0)
		gt_output_say(&output, "the JSON Schema of reports");
	gt_output_release(&output);
	return result;
}
