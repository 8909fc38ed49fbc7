/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/repeat/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/compare/profile.h"
#include "base/error.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/output/process.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/output/words.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"

static int there_already(const char *folder, struct gt_error *err)
{
	return gt_fail(err, EEXIST, "the folder %s exists already: choose another one with -o",
	               folder);
}

static int make_folder(const char *folder, struct gt_error *err)
{
	char problem[512];

	if (mkdir(folder, 0777) == 0)
		return 0;
	if (errno == EEXIST)
		return there_already(folder, err);
	return gt_fail(err, errno, "%s: %s", folder,
	               gt_path_problem(folder, errno, problem, sizeof(problem)));
}

/* ---- one run ---- */

struct line {
	gt_array(char *) words; /* owned by nobody here, but for those of own */
	struct gt_words own;
};

static void put(struct line *line, char *word)
{
	*gt_array_push(&line->words) = word;
}

/* Words of the text, with blanks between. */
static void put_words(struct line *line, const char *text)
{
	while (text && *text) {
		const size_t blanks = strspn(text, " \t");
		const size_t length = strcspn(text + blanks, " \t");

		if (length > 0)
			gt_words_add(&line->own, text + blanks, length);
		text += blanks + length;
	}
	gt_array_each(char *, word, &line->own.list)
		put(line, *word);
}

static int run_line(struct line *line, char *const *command, int *status, struct gt_error *err)
{
	struct gt_ending ending;
	bool not_run = false;
	int result;

	for (; *command; command++)
		put(line, *command);
	put(line, NULL);
	result = gt_process_run(line->words.rows, environ, NULL, &ending, &not_run, err);
	gt_array_release(&line->words);
	gt_words_release(&line->own);
	if (result == 0)
		*status = gt_ending_status(&ending);
	return result;
}

/* gputrace run of this very program. */
static int record(const struct gt_repeat *repeat, char *const *command, char *path, int *status,
                  struct gt_error *err)
{
	static char self[] = "/proc/self/exe";
	static char run[] = "run";
	static char quiet[] = "--quiet";
	static char no_export[] = "--no-export";
	static char output[] = "--output";
	static char end[] = "--";
	char *const first[] = {self, run, quiet, no_export, output, path};
	struct line line = {0};

	for (size_t i = 0; i < GT_COUNT_OF(first); i++)
		put(&line, first[i]);
	put_words(&line, repeat->run_options);
	put(&line, end);
	return run_line(&line, command, status, err);
}

/* ---- what came of it ---- */

/* Without the tables of reports, which take longest: the next run waits for this. */
static int look(struct gt_repeated *repeated, const char *name, const char *path,
                struct gt_error *err)
{
	struct gt_repeat_run *run = gt_array_push(&repeated->runs);
	struct gt_progress progress = {0};
	struct gt_reading reading;
	struct gt_profile profile;
	int result;

	*run = (struct gt_repeat_run){.step_ns = NAN, .gpu_ns = NAN, .clock_mhz = NAN};
	snprintf(run->name, sizeof(run->name), "%s", name);
	gt_reading_init(&reading);
	gt_progress_begin(&progress, false, "reading %s", path);
	result = gt_reading_read(&reading, path, GT_NAMES_SHORT, &progress, err);
	gt_progress_end(&progress);
	gt_say_condition(path, reading.condition);
	if (result == 0) {
		gt_profile_init(&profile, path, &reading.view);
		run->step_ns = profile.figures[GT_FIGURE_step_wall];
		run->gpu_ns = profile.figures[GT_FIGURE_gpu_time];
		run->clock_mhz = profile.figures[GT_FIGURE_sm_clock];
		gt_profile_release(&profile);
	}
	gt_reading_release(&reading);
	return result;
}

static void say_run(const struct gt_repeat_run *run)
{
	char step[80] = "";
	char clock[80] = "";

	if (run->step_ns > 0)
		snprintf(step, sizeof(step), "a step %s, ",
		         gt_figure_ns(llround(run->step_ns)).text);
	if (run->clock_mhz > 0)
		snprintf(clock, sizeof(clock), ", GPU clock %s",
		         gt_figure_in(run->clock_mhz, "MHz").text);
	gt_say("%s: %skernels %s%s", run->name, step,
	       run->gpu_ns >= 0 ? gt_figure_ns(llround(run->gpu_ns)).text : "not known", clock);
}

static int run_one(const struct gt_repeat *repeat, struct gt_repeated *repeated, int side,
                   uint64_t number, struct gt_error *err)
{
	char name[32];
	char *stem;
	char *path;
	int result;

	snprintf(name, sizeof(name), "%c-%" PRIu64, "ab"[side], number);
	stem = gt_recording_path(repeat->folder, "/");
	path = gt_recording_path(stem, name);
	free(stem);
	result = record(repeat, repeat->commands[side], path, &repeated->status, err);
	if (result == 0 && repeated->status != 0)
		gt_say("%s: the program ended with status %d, and no more runs are made", name,
		       repeated->status);
	else if (result == 0) {
		stem = gt_recording_path(path, ".gputrace");
		result =
			access(stem, F_OK) == 0
				? look(repeated, name, stem, err)
				: gt_fail(err, ENODATA,
		                          "%s: the program was not recorded, and no more runs are made",
		                          name);
		free(stem);
		if (result == 0)
			say_run(&repeated->runs.rows[repeated->runs.count - 1]);
	}
	free(path);
	return result;
}

static int warm_up(const struct gt_repeat *repeat, struct gt_repeated *repeated, int side,
                   uint64_t number, struct gt_error *err)
{
	struct line line = {0};
	const int result = run_line(&line, repeat->commands[side], &repeated->status, err);

	(void)number;
	if (result == 0 && repeated->status != 0)
		gt_say("warm-up: the program ended with status %d, and no runs are made",
		       repeated->status);
	return result;
}

/* One turn of each side, unless something failed before. */
static int each_side(const struct gt_repeat *repeat, struct gt_repeated *repeated, int result,
                     uint64_t turn,
                     int (*take)(const struct gt_repeat *repeat, struct gt_repeated *repeated,
                                 int side, uint64_t number, struct gt_error *err),
                     struct gt_error *err)
{
	for (int side = 0; side < GT_REPEAT_SIDES; side++)
		if (result == 0 && repeated->status == 0 && repeat->commands[side])
			result = take(repeat, repeated, side, turn + 1, err);
	return result;
}

int gt_repeat_run(const struct gt_repeat *repeat, struct gt_repeated *repeated,
                  struct gt_error *err)
{
	int result;

	*repeated = (struct gt_repeated){0};
	for (int side = 0; side < GT_REPEAT_SIDES; side++)
		if (repeat->commands[side]) {
			result = gt_process_find(repeat->commands[side][0], err);
			if (result < 0)
				return result;
		}
	result = access(repeat->folder, F_OK) == 0 ? there_already(repeat->folder, err) : 0;
	for (uint64_t i = 0; i < repeat->warm_ups; i++)
		result = each_side(repeat, repeated, result, i, warm_up, err);
	if (result == 0 && repeated->status == 0)
		result = make_folder(repeat->folder, err);
	if (result < 0 || repeated->status != 0)
		return result;
	for (uint64_t i = 0; i < repeat->runs; i++)
		result = each_side(repeat, repeated, result, i, run_one, err);
	if (repeated->runs.count == 0)
		(void)rmdir(repeat->folder); /* stays where there is anything in it */
	return result;
}

void gt_repeated_release(struct gt_repeated *repeated)
{
	gt_array_release(&repeated->runs);
}
