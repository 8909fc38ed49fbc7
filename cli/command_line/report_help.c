/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/report_help.h"

#include <stddef.h>
#include <stdio.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "cli/command_line/help.h"
#include "model/view/view.h"

void gt_report_tables_init(struct gt_report_tables *tables, const struct gt_report *report)
{
	struct gt_view view;

	gt_trace_init(&tables->trace);
	gt_result_init(&tables->result);
	view = gt_view_of(&tables->trace);
	(void)gt_report_run(report, &view, NULL, &tables->result, NULL);
}

void gt_report_tables_release(struct gt_report_tables *tables)
{
	gt_result_release(&tables->result);
	gt_trace_release(&tables->trace);
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

static void print_usage(const struct gt_report *report, FILE *out)
{
	char usage[512];

	snprintf(
		usage, sizeof(usage),
		"usage: gputrace report [RECORDING] %s [OPTION...]\n\n%s.\n"
		"Options are those of 'gputrace report --help'. Names are those of JSON and CSV.\n",
		report->name, report->summary);
	gt_help_text(usage, out);
}

void gt_report_help(const struct gt_report *report, FILE *out)
{
	struct gt_report_tables tables;

	gt_report_tables_init(&tables, report);
	print_usage(report, out);
	print_parameters(report, out);
	gt_array_each(const struct gt_section, section, &tables.result.sections) {
		fprintf(out, "\nColumns of %s:\n", section->title);
		for (size_t i = 0; i < section->heading_count; i++)
			gt_help_entry(section->headings[i].name, section->headings[i].help, out);
	}
	gt_report_tables_release(&tables);
}
