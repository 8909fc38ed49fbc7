/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/option.h"
#include "cli/compare/baseline.h"
#include "cli/compare/profiles.h"
#include "cli/compare/sides.h"
#include "cli/output/output.h"

struct args {
	bool force;
	struct gt_option_list conditions;
	bool strict;
	struct gt_filter_args filter;
};

static const struct gt_option options[] = {
	OPT_FLAG("force", 'f', struct args, force, "save: overwrite an existing file"),
	OPT_LIST("fail-if", 0, struct args, conditions, "CONDITION",
                 "check: end with status 3 when it holds, as with gputrace compare"),
	OPT_FLAG("strict", 0, struct args, strict,
                 "check: end with status 4 when a condition cannot be told"),
	GT_FILTER_OPTIONS(struct args, filter),
	OPT_END_OF("baseline"),
};

static int save(const struct args *args, int count, char **words, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	struct gt_profiles profiles = {.whole = true};
	struct gt_sides sides = {0};
	int result;

	if (!gt_is_baseline(words[0]))
		return gt_fail(err, EINVAL, "a baseline is a file of JSON: %s.json?", words[0]);
	result = gt_sides_read_one(&sides, count - 1, words + 1, err);
	if (result == 0)
		result = gt_profiles_read(&profiles, &sides, &args->filter, err);
	if (result == 0)
		result = gt_output_open(&output, words[0], args->force, err);
	if (result == 0) {
		gt_baseline_write(&profiles, output.file);
		result = gt_output_commit(&output, err);
	}
	if (result == 0)
		gt_output_say(&output, "compare with it: gputrace baseline check");
	gt_output_release(&output);
	gt_profiles_release(&profiles);
	gt_sides_release(&sides);
	return result;
}

/* gputrace compare FILE --against RECORDING...: its options stay where they are. */
static int check(int argc, char **argv, struct gt_error *err)
{
	static char against[] = "--against";
	char **words = gt_allocate(((size_t)argc + 2) * sizeof(*words));
	int count = 0;
	int result;

	for (int i = 0; i < argc; i++) {
		words[count++] = argv[i];
		if (i == 0)
			words[count++] = against;
	}
	words[count] = NULL;
	result = gt_command_find("compare")->run(count, words, err);
	free(words);
	return result;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};
	int left;

	if (argc > 2 && strcmp(argv[0], "check") == 0 && gt_is_baseline(argv[1]))
		return check(argc - 1, argv + 1, err);
	left = gt_options_parse(options, &args, argc, argv, err);
	if (left < 0)
		return left;
	if (left < 3 || strcmp(argv[0], "save") != 0)
		return gt_fail(
			err, EINVAL,
			"gputrace baseline save FILE.json RECORDING..., or gputrace baseline "
			"check FILE.json RECORDING... --fail-if CONDITION");
	return save(&args, left - 1, argv + 1, err);
}

const struct gt_command gt_command_baseline = {
	.name = "baseline",
	.operands = "save|check FILE.json RECORDING...",
	.summary = "Keep the figures of some runs, and compare later runs with them",
	.details =
		"FILE.json is small enough for a repository, and needs its recordings no more.\n"
		"A folder stands for all recordings in it. check takes all options of gputrace\n"
		"compare. Runs of another day and machine differ by more than a change: a verdict\n"
		"is about the machine too. The file says which settings differ.\n"
		"\n"
		"  gputrace baseline save perf.json app.runs\n"
		"  gputrace baseline check perf.json new.runs --fail-if 'step slower 5%'",
	.options = options,
	.run = run,
};
