/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "collector/condition.h"
#include "format/arena/files.h"

enum { TRIES = 20 };

struct args {
	bool quiet;
	bool strict;
};

static const struct gt_option options[] = {
	OPT_FLAG("quiet", 'q', struct args, quiet, "Say nothing when it went well"),
	GT_STRICT_OPTION(struct args, strict),
	OPT_END_OF("finish"),
};

static int still_written(const char *folder, unsigned running, struct gt_error *err)
{
	return gt_fail(err, EBUSY, "%s is still being written by %u %s: finish it when %s ended",
	               folder, running, running == 1 ? "process" : "processes",
	               running == 1 ? "that has" : "they have");
}

/* Work to be done; refuses while a process writes, but one that was just killed gets a moment. */
static int look(const char *folder, struct gt_salvage *left, struct gt_error *err)
{
	const struct timespec moment = {.tv_nsec = 5000000};
	int result = gt_salvage_look(folder, left, err);

	for (int i = 0; result == 0 && left->running > 0 && i < TRIES; i++) {
		nanosleep(&moment, NULL);
		result = gt_salvage_look(folder, left, err);
	}
	if (result == 0 && left->running > 0)
		return still_written(folder, left->running, err);
	return result;
}

/* By the whole of it, which the other commands read anyway. */
static int status_of(const char *folder, struct gt_error *err)
{
	struct gt_progress progress = {0};
	struct gt_reading reading;
	int result;

	gt_reading_init(&reading);
	result = gt_reading_read(&reading, folder, GT_NAMES_SHORT, &progress, err);
	if (result == 0 && !reading.clean)
		gt_say("%s", reading.ledger);
	if (result == 0)
		result = gt_reading_status(&reading, true);
	gt_reading_release(&reading);
	return result;
}

/* Says what there is then, in the words of everyone who reads it. */
static int tell(const struct args *args, const char *folder, const struct gt_salvage *salvage,
                struct gt_error *err)
{
	struct gt_recording_condition recording;
	char condition[GT_RECORDING_CONDITION_BYTES];
	const int result = gt_recording_condition_read(&recording, folder, err);
	const bool whole = !gt_recording_condition_text(&recording, condition, sizeof(condition));

	if (!args->quiet && salvage->arenas > 0)
		gt_say("%s: %u %s completed with %s that killed processes had left", folder,
		       salvage->arenas, salvage->arenas == 1 ? "capture" : "captures",
		       gt_figure_bytes((int64_t)salvage->bytes).text);
	else if (!args->quiet && result == 0)
		gt_say("%s: nothing to finish%s", folder, whole ? ", it is complete" : "");
	if (result == 0)
		gt_say_condition(folder, condition);
	return result == 0 && args->strict ? status_of(folder, err) : result;
}

static int finish(const struct args *args, const char *folder, struct gt_error *err)
{
	struct gt_salvage salvage;
	int result = look(folder, &salvage, err);

	if (result == 0)
		result = gt_salvage_folder(folder, &salvage, err);
	if (result < 0)
		return result;
	if (salvage.running > 0) /* it has just begun */
		return still_written(folder, salvage.running, err);
	return tell(args, folder, &salvage, err);
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	char *recording = NULL;
	int result;

	if (left < 0)
		return left;
	result = gt_recording_one(left, argv, err);
	if (result == 0)
		result = gt_recording_choose(left > 0 ? argv[0] : NULL, &recording, err);
	if (result == 0 && !gt_path_is_folder(recording))
		result = gt_fail(
			err, ENOTDIR,
			"%s is a part of a recording: finish takes the NAME.gputrace folder",
			recording);
	if (result == 0)
		result = finish(&args, recording, err);
	free(recording);
	return result;
}

const struct gt_command gt_command_finish = {
	.name = "finish",
	.operands = "[RECORDING]",
	.summary = "Complete a recording whose processes were killed",
	.details = GT_RECORDING_HELP
	"\n\n"
	"A process that is killed leaves its last records in a file beside its capture (an arena). "
	"Every command reads them there. 'gputrace run' moves them into the capture when the program "
	"has ended; this does it where there was no 'gputrace run', or where it was killed too. It "
	"can be interrupted and repeated.",
	.options = options,
	.run = run,
};
