/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/path.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/control/control.h"
#include "cli/dump/dump.h"
#include "cli/output/say.h"
#include "cli/recording/recording.h"
#include "format/recording.h"

struct args {
	const char *output;
};

static const struct gt_option options[] = {
	OPT_TEXT("output", 'o', struct args, output, "NAME",
                 "Write NAME.gputrace. Default: NAME.dump-1.gputrace beside the recording, or the next "
                 "number that is free"),
	OPT_END_OF("dump"),
};

static char *name_of(const struct args *args, const char *folder)
{
	char *stem;
	char *path;

	if (!args->output)
		return gt_recording_dump_name(folder);
	stem = gt_recording_stem(args->output);
	path = gt_recording_path(stem, GT_RECORDING_SUFFIX);
	free(stem);
	return path;
}

static int dump(const char *folder, void *values, struct gt_error *err)
{
	char *into = name_of(values, folder);
	const int result = gt_recording_dump(folder, into, err);

	if (result == 0)
		gt_say("%s: what is recorded until now is in %s", folder, into);
	free(into);
	return result;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};

	return gt_control_run(options, &args, argc, argv, dump, err);
}

const struct gt_command gt_command_dump = {
	.name = "dump",
	.operands = "[RECORDING|PID]",
	.summary = "Copy what is recorded of a running program until now",
	.details =
		"RECORDING is one that gputrace run is writing, PID a process that it records. The\n"
		"copy is a recording like any other: it can be read at once, while the program\n"
		"runs on and is recorded on. The program is not touched, and may hang. With run\n"
		"--keep-last this is what happened last.",
	.options = options,
	.run = run,
};
