/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/control/control.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/path.h"
#include "cli/command_line/option.h"
#include "cli/output/say.h"
#include "cli/recording/of_process.h"
#include "cli/recording/recording.h"
#include "format/control/control.h"
#include "format/recording.h"
#include "format/roll.h"

enum { TRIES = 500, TRY_NS = 10000000 };

int gt_control_run(const struct gt_option *options, void *values, int argc, char **argv,
                   gt_control_act *act, struct gt_error *err)
{
	const int left = gt_options_parse(options, values, argc, argv, err);
	char *folder = NULL;
	int result;

	if (left < 0)
		return left;
	result = gt_recording_one(left, argv, err);
	if (result == 0)
		result = gt_recording_being_written(left > 0 ? argv[0] : NULL, &folder, err);
	if (result == 0)
		result = act(folder, values, err);
	free(folder);
	return result;
}

/* ---- orders ---- */

struct answers {
	uint64_t order;
	unsigned followed;
	unsigned all;
	char waits_for[NAME_MAX + 1]; /* capture of one that has not followed */
};

static void see_answer(void *context, const struct gt_arena_counts *process)
{
	struct answers *answers = context;

	answers->all++;
	if (process->followed >> 1 >= answers->order >> 1)
		answers->followed++;
	else
		snprintf(answers->waits_for, sizeof(answers->waits_for), "%s", process->capture);
}

static int wait_for_answers(const char *folder, struct answers *answers, struct gt_error *err)
{
	const struct timespec moment = {.tv_nsec = TRY_NS};

	for (int i = 0; i < TRIES; i++) {
		int result;

		answers->followed = answers->all = 0;
		result = gt_control_each(folder, see_answer, answers, err);
		if (result < 0)
			return result;
		if (answers->followed == answers->all)
			return 0;
		nanosleep(&moment, NULL);
	}
	return gt_fail(err, ETIMEDOUT,
	               "%u of %u processes have not followed in 5 s, among them that of %s: it may "
	               "be stopped, or hang in CUDA",
	               answers->all - answers->followed, answers->all, answers->waits_for);
}

/* The roll is there from the begin of a run: it is not made here. */
static int open_roll(const char *folder, struct gt_roll **roll, struct gt_error *err)
{
	char host[HOST_NAME_MAX + 1];
	char path[PATH_MAX];

	gt_host_name(host, sizeof(host));
	snprintf(path, sizeof(path), "%s/%s" GT_ROLL_SUFFIX, folder, host);
	if (access(path, F_OK) < 0)
		return gt_fail(err, ENOENT, "no process of this machine, %s, records into %s", host,
		               folder);
	*roll = gt_roll_open(folder, host, err);
	return *roll ? 0 : -err->code;
}

static void ignore(void *context, const struct gt_arena_counts *process)
{
	(void)context;
	(void)process;
}

/* Asking for the folder alone takes half a second where a run has it. */
static int check_runs(const char *folder, struct gt_error *err)
{
	const int count = gt_control_each(folder, ignore, NULL, err);
	const int hold = count == 0 ? gt_folder_hold(folder, GT_HOLD_ALONE) : -EWOULDBLOCK;

	if (count < 0)
		return count;
	if (hold < 0)
		return 0; /* a run or a process has it */
	gt_folder_leave(hold);
	return gt_fail(err, ESRCH, "nothing records into %s any more", folder);
}

static const char *processes(unsigned count)
{
	return count == 1 ? "process" : "processes";
}

static int ask(const char *folder, bool record, struct gt_error *err)
{
	struct answers answers = {0};
	struct gt_roll *roll = NULL;
	int result = check_runs(folder, err);

	if (result == 0)
		result = open_roll(folder, &roll, err);
	if (result < 0)
		return result;
	answers.order = gt_order_give(roll, record);
	result = wait_for_answers(folder, &answers, err);
	if (result < 0)
		return result;
	if (answers.all == 0)
		gt_say("%s: no process records yet; those that begin %s", folder,
		       record ? "will be recorded" : "will be paused");
	else
		gt_say("%s: %s in %u %s", folder, record ? "recording" : "paused", answers.all,
		       processes(answers.all));
	return 0;
}

int gt_control_start(const char *folder, void *values, struct gt_error *err)
{
	(void)values;
	return ask(folder, true, err);
}

int gt_control_stop(const char *folder, void *values, struct gt_error *err)
{
	(void)values;
	return ask(folder, false, err);
}

/* ---- status ---- */

static void print_process(void *context, const struct gt_arena_counts *process)
{
	char line[NAME_MAX + 32];

	(void)context;
	snprintf(line, sizeof(line), "%-9s  %s", process->paused ? "paused" : "recording",
	         process->capture);
	gt_say_line(line, stdout);
}

int gt_control_print(const char *folder, void *values, struct gt_error *err)
{
	(void)values;
	const int result = gt_control_each(folder, print_process, NULL, err);

	if (result == 0)
		gt_say("%s: no process of this machine is recorded", folder);
	return result < 0 ? result : 0;
}
