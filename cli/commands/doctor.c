/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/result.h"
#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/table.h"
#include "cli/doctor/world.h"
#include "cli/output/output.h"
#include "cli/output/variable.h"
#include "cli/render/render.h"

struct args {
	bool json;
};

static const struct gt_option options[] = {
	OPT_FLAG("json", 0, struct args, json, "Print JSON; ids of findings stay the same"),
	OPT_END,
};

/* For tests: a folder that stands in for the machine's root. */
static const char *root(void)
{
	const char *named = gt_variable("GPUTRACE_DOCTOR_ROOT");

	return named ? named : "";
}

static int print_json(const struct gt_findings *findings, FILE *out, struct gt_error *err)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_JSON, .limit = GT_LIMIT_NONE};
	struct gt_result result;
	int status;

	gt_result_init(&result);
	gt_doctor_tables(&result, findings);
	status = gt_render(&rendering, &(struct gt_named_result){"doctor", &result}, 1, out, err);
	gt_result_release(&result);
	return status;
}

static int print(const struct gt_findings *findings, bool json, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int status = gt_output_open(&output, NULL, false, err);

	if (status == 0 && json)
		status = print_json(findings, output.file, err);
	else if (status == 0)
		gt_doctor_print(findings, gt_render_width(output.file), output.file);
	if (status == 0)
		status = gt_output_commit(&output, err);
	gt_output_release(&output);
	return status;
}

/* Tables without rows, for the manual. */
static void make_tables(struct gt_result *result)
{
	gt_doctor_tables(result, &(struct gt_findings){0});
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct gt_findings findings = {0};
	struct gt_world world;
	int status;

	if (left < 0)
		return left;
	if (left > 1)
		return gt_fail(err, EINVAL,
		               "one program, without its arguments: gputrace doctor %s", argv[0]);
	gt_world_look(&world, &(struct gt_world_choice){root(), environ, left ? argv[0] : NULL});
	gt_findings_look(&findings, &world);
	status = print(&findings, args.json, err);
	if (status == 0)
		status = findings.errors ? GT_EXIT_FAILED : GT_EXIT_OK;
	gt_findings_release(&findings);
	return status;
}

const struct gt_command gt_command_doctor = {
	.name = "doctor",
	.operands = "[PROGRAM]",
	.summary = "Say what keeps a program from being recorded here",
	.details =
		"Looks at this machine, at the environment and, where it is given, at PROGRAM. Each "
		"finding has its cost and the step that mends it: an error keeps all from being "
		"recorded, a warning takes something from a recording. Nothing is changed, and PROGRAM "
		"is not started. Exit status: 0 when a recording can be made, 1 when not.\n",
	.tables = make_tables,
	.options = options,
	.run = run,
};
