/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_STARTUP_STARTUP_H
#define GT_ANALYSIS_STARTUP_STARTUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/ranges/ranges.h"
#include "model/view/view.h"

/*
 * The time from the start of each process to its first steady step, and what the process did in it.
 * A step (analysis/ranges/steps) is steady when it took at most a fifth more than the median of all
 * steps of its process. A process without steps is started up when its first kernel begins.
 *
 * What happened counts, whatever a filter shows of it; rows of processes are those of
 * gt_whole_of(view->trace). Times are of the wall clock: at each moment one part counts, so the
 * parts add up to the whole.
 */
enum gt_startup_part {
#define PART(name, text) GT_STARTUP_##name,
#include "analysis/startup/parts.def"
	GT_STARTUP_PARTS
};

enum gt_startup_until {
	GT_STARTUP_STEP,   /* its first steady step begins */
	GT_STARTUP_KERNEL, /* it has no steps: its first kernel begins */
	GT_STARTUP_END,    /* nor a kernel: it ends */
};

struct gt_startup {
	gt_id process;
	gt_time start_ns; /* of the process as the kernel says, in steps of 10 ms; or as recording
	                     began, where that is not known */
	bool start_known;
	gt_time until_ns;
	enum gt_startup_until until;
	uint64_t parts[GT_STARTUP_PARTS]; /* ns */
	uint64_t calls[GT_STARTUP_PARTS]; /* API calls that began meanwhile and are in no other */

	/* Steps before the steady one, and the time that they took beyond the median. */
	uint64_t steps;
	uint64_t first_step_ns; /* the first of all; 0: there are none */
	uint64_t median_ns;
	uint64_t beyond_ns;

	/* Time that may be saved. Sums of these mean nothing: one can be part of another. */
	uint64_t jit_modules; /* loaded meanwhile, of which compiling is known to have taken time */
	uint64_t jit_ns;
	uint64_t unused_modules; /* loaded meanwhile, and nothing of them was launched at all */
	uint64_t unused_ns;
	uint64_t alone_kernels; /* launches of functions that ran before the steady step alone */
	uint64_t alone_ns;
};

struct gt_startups {
	bool knows_modules;
	gt_array(struct gt_startup) rows; /* by row of processes */
	char path[GT_RANGE_PATH_BYTES];   /* of the steps; "": there are none */
};

/* The view's trace must outlive it. */
void gt_startups_init(struct gt_startups *startups, const struct gt_view *view);
void gt_startups_release(struct gt_startups *startups);

/* For people; constant. */
const char *gt_startup_part_name(enum gt_startup_part part);

#endif
