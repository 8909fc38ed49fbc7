/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_OUTPUT_ROLL_H
#define GT_INJECTION_OUTPUT_ROLL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/roll.h"

struct gt_output;

/*
 * The share of this process in the roll of the recording (format/roll.h), which outlives it: that
 * it could not be recorded, and calls that nobody hears any more. The child of a fork has the roll
 * still, when it has nothing else of its parent's.
 */
struct gt_roll_share {
	struct gt_roll *roll; /* NULL: it could not be made */
	/* The entry that calls are counted in; NULL: none yet, or there was none left. */
	_Atomic(struct gt_roll_entry *) entry;
	_Atomic bool full; /* there was none left */
};

/* Maps the roll in the recording's folder, which is there. */
void gt_roll_join(struct gt_output *output);

/*
 * The process cannot be recorded: enters it with the reason, in the roll or, where that is out of
 * reach (another user's folder), by a word to gputrace run. A sentence without a full stop.
 */
void gt_roll_enter(struct gt_output *output, const char *why);

/*
 * Counts a call that succeeded and is not recorded: any thread, after the program's exit has begun
 * (GT_ROLL_LATE) or in the child of a fork (GT_ROLL_FORKED).
 */
void gt_roll_add(struct gt_output *output, enum gt_roll_kind kind, bool launch);

/* In the child of a fork: it has no entry yet. */
void gt_roll_forget(struct gt_output *output);

#endif
