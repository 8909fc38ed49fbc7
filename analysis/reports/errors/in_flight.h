/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_ERRORS_IN_FLIGHT_H
#define GT_ANALYSIS_REPORTS_ERRORS_IN_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/pending/pending.h"
#include "base/array.h"
#include "model/trace.h"

struct gt_failures;

/*
 * Work that was in flight when an error of work on a GPU came up, which may come up in any later
 * call: of each process, for the first of these. It is work that was launched before that call
 * returned and has no end in the recording (analysis/pending), and kernels with an end that came
 * after the last call that waited in their context and returned success. A filter takes none out.
 */
enum gt_in_flight_state {
	GT_IN_FLIGHT_FIRST,  /* nothing before it in its stream lacks an end */
	GT_IN_FLIGHT_BEHIND, /* other work does, or its stream waits */
	GT_IN_FLIGHT_ENDED,
};

struct gt_in_flight_work {
	size_t failure;              /* row of the failures */
	struct gt_pending_work work; /* rows of gt_whole_of(trace) */
	enum gt_in_flight_state state;
	gt_time end_ns; /* of what ended */
};

struct gt_in_flight {
	const struct gt_trace *whole; /* that the rows are of */
	/* By failure and state, then by stream; in a stream what was given first, of what ended
	   what ended last. */
	gt_array(struct gt_in_flight_work) rows;
	bool was_asked;      /* there is an error of work */
	uint64_t ended_more; /* kernels that had ended and are left out */
	uint64_t missing;    /* launches of which the recording has no kernel */
};

/* At most so many kernels of each stream that had ended. The failures' trace must outlive it. */
void gt_in_flight_init(struct gt_in_flight *flight, const struct gt_failures *failures,
                       uint64_t most_ended);
void gt_in_flight_release(struct gt_in_flight *flight);

/* For people: why it has no end, or that it has one. */
const char *gt_in_flight_state_name(const struct gt_in_flight_work *work);

#endif
