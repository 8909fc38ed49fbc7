/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WORK_TIMED_H
#define GT_MODEL_WORK_TIMED_H

#include <stdbool.h>

#include "model/trace.h"

/* Which times a question is about. There is no default: whoever asks chooses. */
enum gt_times {
	/*
	 * Times that say how long something takes: not those of a launch that ran several times for
	 * its counters, or of a call that was held up for that.
	 */
	GT_TIMES_FIGURES,
	/* When something happened. */
	GT_TIMES_ANY,
};

/*
 * Whether a row has such times: it ended, and not before it started. The boot-time clock is never
 * negative, so the difference of two such times always fits.
 */
static inline bool gt_timed(enum gt_times times, gt_count flags, gt_time start_ns, gt_time end_ns)
{
	return !(flags & GT_UNFINISHED) && start_ns >= 0 && end_ns >= start_ns &&
	       (times == GT_TIMES_ANY || !(flags & GT_PROFILED));
}

/*
 * When a call or range ended, as far as anybody knows: one that had not ended when recording was
 * paused is known until then. open_ns: for those of which nothing is known but their begin.
 */
static inline gt_time gt_known_end(gt_count flags, gt_time end_ns, gt_time open_ns)
{
	return flags & GT_UNFINISHED && !(flags & GT_INTERRUPTED) ? open_ns : end_ns;
}

#endif
