/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/method.h"
#include "base/error.h"
#include "base/path.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/output/say.h"
#include "cli/recording/recording.h"
#include "cli/repeat/plan.h"

enum { RUNS = 5, WARM_UPS = 1 };

struct args {
	uint64_t runs;
	uint64_t warm_ups;
	const char *interleave;
	const char *run_options;
	const char *output;
};

static const struct gt_option options[] = {
	{OPT("runs", 'n', COUNT, struct args, runs, "N",
             "Make so many recordings of each command; default 5. A verdict needs three"),
         NULL, 1, 1000},
	OPT_TEXT("interleave", 0, struct args, interleave, "COMMAND",
                 "A second command, the other side of a comparison, in turn with the first: one text, "
                 "which a shell reads"),
	{OPT("warm-up", 0, COUNT, struct args, warm_ups, "N",
             "Run each command so often before, without recording; default 1"),
         NULL, 0, 1000},
	OPT_TEXT(
		"run-options", 0, struct args, run_options, "OPTIONS",
		"Options of gputrace run for every recording, with blanks between: '--pytorch ops'"),
	OPT_TEXT("output", 'o', struct args, output, "FOLDER",
                 "Put the recordings into this folder, which must not be there yet; default: the "
                 "program's name with .runs"),
	OPT_END_OF("repeat"),
};

/* Whether the clocks of the runs differ by more than changes that are news. */
static void say_clocks(const struct gt_repeated *repeated)
{
	double low = INFINITY;
	double high = 0;

	gt_array_each(const struct gt_repeat_run, each, &repeated->runs)
		if (each->clock_mhz > 0) {
			low = fmin(low, each->clock_mhz);
			high = fmax(high, each->clock_mhz);
		}
	if (high > low * (1 + GT_METHOD_CHANGE))
		gt_say("the clock of the GPU was between %.0f and %.0f MHz: gputrace compare divides out "
		       "what all kernels have in common, but fewer changes can be told",
		       low, high);
}

static int repeat(struct gt_repeat *plan, struct gt_error *err)
{
	struct gt_repeated repeated;
	int result = gt_repeat_run(plan, &repeated, err);

	if (result == 0 && repeated.status == 0) {
		say_clocks(&repeated);
		gt_say(plan->commands[1]
		               ? "%zu recordings in %s; next: gputrace compare %s"
		               : "%zu recordings in %s; next: gputrace compare %s OTHER.runs",
		       repeated.runs.count, plan->folder, plan->folder);
	}
	if (result == 0)
		result = repeated.status;
	gt_repeated_release(&repeated);
	return result;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.runs = RUNS, .warm_ups = WARM_UPS};
	const int left = gt_options_parse_leading(options, &args, argc, argv, err);
	char shell[] = "/bin/sh";
	char flag[] = "-c";
	char folder[4096];
	char *command;
	int result;

	if (left < 0)
		return left;
	if (left == 0)
		return gt_fail(err, EINVAL, "which program? gputrace repeat -n 5 -- ./app");
	command = gt_recording_path("exec ", args.interleave ? args.interleave : "");
	snprintf(folder, sizeof(folder), "%s.runs", gt_path_name(argv[0]));

	argv[left] = NULL; /* words of the options stand behind the operands */

	char *const other[] = {shell, flag, command, NULL};
	struct gt_repeat plan = {
		.folder = args.output ? args.output : folder,
		.run_options = args.run_options,
		.commands = {argv, args.interleave ? other : NULL},
		.runs = args.runs,
		.warm_ups = args.warm_ups,
	};

	result = repeat(&plan, err);
	free(command);
	return result;
}

const struct gt_command gt_command_repeat = {
	.name = "repeat",
	.operands = "[--] PROGRAM [ARG...]",
	.summary = "Record a program several times, alone or in turn with another",
	.details = "Recordings are called a-1, a-2, ..., those of --interleave b-1, b-2, ...\n"
		   "The standard output of the programs goes where it always goes. When a program\n"
		   "fails, repeat ends with its status, and the recordings made so far stay.\n"
		   "\n"
		   "  gputrace repeat -n 5 --interleave './app new' -- ./app old\n"
		   "  gputrace compare app.runs",
	.options = options,
	.run = run,
};
