/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_TYPES_TIMES_H
#define GT_REPLAY_TYPES_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* Times of runs, of those that count. Nanoseconds. */
struct gt_replay_times {
	gt_array(double) ns; /* by when they were run */
	double median;
	double least;
	double most;
	double p05;
	double p95;
	double error;        /* standard error of the median, relative */
	uint32_t thrown_out; /* runs with throttled clocks */
	uint32_t other_mode; /* runs of less than half of the median, or more than twice that */
	bool stable;
	double events_median; /* by a pair of events, as a cross-check; NAN: not measured */
	double sm_mhz;        /* median while it ran; NAN: not measured */
	const char *clock;    /* what timed it: "CUPTI", "events" */
	char no_cupti[256];   /* why it was not CUPTI; "" */
	/* With a warm cache: bytes that change and are restored right before a run, or are not. */
	uint64_t restored_bytes;
	uint64_t left_bytes;
	char doubt[200];    /* why it is not known that all runs did the same work; "" */
	double by_state[3]; /* medians by enum gt_l2_state; NAN: not measured */
};

#endif
