/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/columns.h"

#include <stddef.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "cli/option.h"
#include "model/view.h"

void gt_columns_init(struct gt_columns *columns, const struct gt_report *report)
{
	struct gt_view view;

	gt_trace_init(&columns->trace);
	gt_result_init(&columns->result);
	view = gt_view_of(&columns->trace);
	(void)gt_report_run(report, &view, NULL, &columns->result, NULL);
}

void gt_columns_release(struct gt_columns *columns)
{
	gt_result_release(&columns->result);
	gt_trace_release(&columns->trace);
}

static void print_parameters(const struct gt_report *report, FILE *out)
{
	const struct gt_parameter *parameter = report->parameters;

	if (!parameter || !parameter->name)
		return;
	fputs("\nParameters:\n", out);
	for (; parameter->name; parameter++) {
		char setting[64];

		snprintf(setting, sizeof(setting), "--set %s=%s", parameter->name,
		         parameter->initial);
		gt_help_entry(setting, parameter->help, out);
	}
}

void gt_columns_help(const struct gt_report *report, FILE *out)
{
	struct gt_columns columns;

	gt_columns_init(&columns, report);
	fprintf(out,
	        "usage: gputrace report [RECORDING] %s [OPTION...]\n\n%s.\n"
	        "Options are those of 'gputrace report --help'. Names are those of JSON and CSV.\n",
	        report->name, report->summary);
	print_parameters(report, out);
	gt_array_each(const struct gt_section, section, &columns.result.sections) {
		fprintf(out, "\nColumns of %s:\n", section->title);
		for (size_t i = 0; i < section->heading_count; i++)
			gt_help_entry(section->headings[i].name, section->headings[i].help, out);
	}
	gt_columns_release(&columns);
}
