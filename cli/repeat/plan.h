/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPEAT_PLAN_H
#define GT_CLI_REPEAT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct gt_error;

enum { GT_REPEAT_SIDES = 2 };

/* Runs of one or two commands in turn: a-1, b-1, a-2, b-2 and so on. */
struct gt_repeat {
	const char *folder;
	const char *run_options; /* of gputrace run, with blanks between; NULL: none */
	char *const *
		commands[GT_REPEAT_SIDES]; /* words, NULL at the end; NULL: there is no such side */
	uint64_t runs;                     /* recorded, of each */
	uint64_t warm_ups;                 /* before them, of each, not recorded */
};

/* Figures that tell whether runs are alike, read from the recording as soon as it is there. */
struct gt_repeat_run {
	char name[32];  /* "a-1" */
	double step_ns; /* NAN: not known */
	double gpu_ns;
	double clock_mhz;
};

struct gt_repeated {
	gt_array(struct gt_repeat_run) runs;
	int status; /* of the first program that failed, 0: none did */
};

/*
 * Makes the folder and the recordings in it, and says a line about each. A program that fails ends
 * it: the recordings made so far stay. -EEXIST: there is such a folder already.
 */
int gt_repeat_run(const struct gt_repeat *repeat, struct gt_repeated *repeated,
                  struct gt_error *err);
void gt_repeated_release(struct gt_repeated *repeated);

#endif
