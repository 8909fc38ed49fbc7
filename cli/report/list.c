/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "cli/command_line/help.h"
#include "cli/render/pager.h"
#include "cli/render/print.h"
#include "cli/render/render.h"
#include "cli/report/answers.h"

void gt_report_list_for_help(void (*entry)(const char *name, const char *text, FILE *out),
                             FILE *out)
{
	for (size_t i = 0; i < gt_report_count; i++) {
		const char *summary = gt_reports[i]->summary;
		char *clause = strndup(summary, strcspn(summary, ":;"));

		entry(gt_reports[i]->name, clause, out);
		free(clause);
	}
}

/* What --list shows as text. */
static void print_parameters(const struct gt_parameter *parameter, FILE *out)
{
	for (; parameter && parameter->name; parameter++) {
		char setting[64];

		snprintf(setting, sizeof(setting), "  --set %s=%s", parameter->name,
		         parameter->initial);
		gt_help_entry(setting, parameter->help, out);
	}
}

static int print_list(const char *what, FILE *out, struct gt_error *err)
{
	(void)what;
	(void)err;
	for (size_t i = 0; i < gt_report_count; i++) {
		gt_help_short_entry(gt_reports[i]->name, gt_reports[i]->summary, out);
		print_parameters(gt_reports[i]->parameters, out);
	}
	gt_help_short_entry("all", "Every one of them but events; parameters that they share", out);
	print_parameters(gt_report_parameters, out);
	return 0;
}

static int list_as_text(const struct gt_show_args *args, struct gt_error *err)
{
	const struct gt_print_args print = {.output = args->output, .force = args->force};
	struct gt_paged page;

	if (args->output)
		return gt_print(&print, print_list, NULL, err);
	gt_paged_open(&page);
	(void)print_list(NULL, page.out, err);
	gt_paged_close(&page);
	return 0;
}

static void list_parameters(struct gt_result *result, const char *report,
                            const struct gt_parameter *parameter)
{
	for (; parameter && parameter->name; parameter++) {
		gt_result_add_text(result, report);
		gt_result_add_text(result, parameter->name);
		gt_result_add_text(result, parameter->initial);
		gt_result_add_text(result, parameter->help);
	}
}

/* The same for programs. */
static void list_as_tables(struct gt_result *result)
{
	static const struct gt_heading reports[] = {
		{"report", GT_UNIT_TEXT, "Name of the report"},
		{"answers", GT_UNIT_TEXT, "Its subject"},
	};
	static const struct gt_heading parameters[] = {
		{"report", GT_UNIT_TEXT, "Report that has the parameter"},
		{"parameter", GT_UNIT_TEXT, "Name of the parameter"},
		{"usual", GT_UNIT_TEXT, "Its value where it is not set"},
		{"help", GT_UNIT_TEXT, "Its effect"},
	};

	gt_result_begin(result, "reports", reports, sizeof(reports) / sizeof(reports[0]));
	for (size_t i = 0; i < gt_report_count; i++) {
		gt_result_add_text(result, gt_reports[i]->name);
		gt_result_add_text(result, gt_reports[i]->summary);
	}
	gt_result_begin(result, "parameters", parameters,
	                sizeof(parameters) / sizeof(parameters[0]));
	for (size_t i = 0; i < gt_report_count; i++)
		list_parameters(result, gt_reports[i]->name, gt_reports[i]->parameters);
	list_parameters(result, "all", gt_report_parameters);
}

int gt_report_list(const struct gt_show_args *args, struct gt_error *err)
{
	struct gt_rendering rendering = {0};
	struct gt_result result;
	int failed = gt_show_style(args, &rendering.style, err);

	if (failed < 0)
		return failed;
	if (rendering.style == GT_STYLE_TEXT)
		return list_as_text(args, err);
	gt_result_init(&result);
	list_as_tables(&result);
	failed = gt_show(args, &rendering, &(struct gt_named_result){"list", &result}, 1, err);
	gt_result_release(&result);
	return failed;
}
