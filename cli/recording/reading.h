/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RECORDING_READING_H
#define GT_CLI_RECORDING_READING_H

#include <stdbool.h>

#include "cli/recording/ledger.h"
#include "collector/condition.h"
#include "model/trace.h"
#include "model/view/filter.h"
#include "model/view/view.h"

struct gt_error;
struct gt_filter_args;
struct gt_progress;

/*
 * A recording as a command has it: collected, with what the options choose of it. The ledger's
 * sentence is of the whole: it is made before anything is cut out.
 */
struct gt_reading {
	struct gt_filter filter;
	struct gt_trace trace;
	struct gt_view view; /* what was chosen */
	char ledger[GT_LEDGER_BYTES];
	char condition[GT_RECORDING_CONDITION_BYTES]; /* "": all of its files could be read */
	bool clean;                                   /* the ledger is */
};

void gt_reading_init(struct gt_reading *reading);
void gt_reading_release(struct gt_reading *reading);

/* Takes the options' choice: once, before it is read. */
int gt_reading_choose(struct gt_reading *reading, const struct gt_filter_args *args,
                      struct gt_error *err);

/*
 * Reads the recording, whose kernels are called by names of that form, and cuts it. The progress
 * has begun ("reading app.gputrace") and is not ended. -ENODATA: nothing was recorded, or chosen.
 */
int gt_reading_read(struct gt_reading *reading, const char *recording, enum gt_name_form names,
                    struct gt_progress *progress, struct gt_error *err);

/*
 * Says on standard error what of the recording cannot be read; nothing where all can. Every command
 * that reads one does, in the same words.
 */
void gt_say_condition(const char *recording, const char *condition);

/*
 * The one rule for the exit status of commands that read a recording: GT_EXIT_INCOMPLETE where it
 * is to be whole (--strict) and files of it cannot be read in full, its processes still write, or
 * its ledger is not clean; else GT_EXIT_OK, and what is missing was said.
 */
int gt_reading_status(const struct gt_reading *reading, bool strict);

/* The option of such commands: a flag in the command's arguments. */
/* clang-format off */
#define GT_STRICT_OPTION(type, field) \
	OPT_FLAG("strict", 0, type, field, \
	         "End with status 3 where the recording is damaged or lacks anything; else that is said, " \
	         "and the status is 0")
/* clang-format on */

#endif
