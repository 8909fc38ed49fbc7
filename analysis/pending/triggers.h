/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_PENDING_TRIGGERS_H
#define GT_ANALYSIS_PENDING_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_error;

/*
 * Things that may go wrong in a program that runs, which whoever waits for them wants to have the
 * recording of: an API call that fails, memory that runs out, work that hangs, a step that takes
 * too long. They are looked for again and again, in what was recorded until then.
 */

struct gt_triggers {
	bool errors;       /* an API call fails */
	bool memory;       /* an API call fails for lack of memory */
	gt_time hang_ns;   /* nothing is launched and nothing ends for so long, and work has not
	                      ended;   0: nobody asks */
	char range[128];   /* NVTX range that takes too long: one step; "": nobody asks */
	gt_time limit_ns;  /* longer than that, 0: no limit */
	double deviations; /* longer than the median of the last so much, 0: does not count */
};

/*
 * Reads words with commas between: error, memory, hang=TIME, slow=RANGE:TIME, slow=RANGE:+NUMBER
 * (so many deviations above the median). 0, or -EINVAL with a sentence.
 */
int gt_triggers_parse(struct gt_triggers *triggers, const char *text, struct gt_error *err);

/* Durations of a process's steps, the last of them; a ring. */
#define GT_TRIGGER_STEPS 100

struct gt_trigger_steps {
	gt_count pid;
	gt_time last_ns; /* end of the last step that was looked at */
	uint64_t count;  /* of all */
	gt_time durations[GT_TRIGGER_STEPS];
};

/* All that was seen so far; zero at the begin. */
struct gt_trigger_state {
	gt_time error_ns; /* begin of the last call that failed and was told of */
	gt_time hang_ns;  /* the last thing that happened before the hang that was told of */
	gt_array(struct gt_trigger_steps) steps;
};

/*
 * Looks at a recording that is being written (gt_collect_live). now_ns: CLOCK_BOOTTIME before it
 * was read. True: something has gone wrong since the last look, said in a sentence.
 */
bool gt_triggers_look(const struct gt_triggers *triggers, struct gt_trigger_state *state,
                      const struct gt_trace *trace, gt_time now_ns, char *text, size_t size);

void gt_trigger_state_release(struct gt_trigger_state *state);

#endif
