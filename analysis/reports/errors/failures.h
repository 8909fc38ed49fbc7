/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_ERRORS_FAILURES_H
#define GT_ANALYSIS_REPORTS_ERRORS_FAILURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * CUDA calls that returned an error (gt_api_failed), by process and result code: which call was the
 * first to return each, and how many did. A call made inside another one is part of that, and is
 * not looked at. The first of two calls is the one that returned first.
 */
struct gt_failure {
	gt_id process; /* GT_NONE: not known */
	gt_code code;
	gt_id call; /* row of api_calls: the first that returned it */
	uint64_t calls;
	bool is_first; /* no call of the process failed before, whatever a filter left out */
};

struct gt_failures {
	const struct gt_trace *trace;
	gt_array(struct gt_failure) rows; /* in the order in which the calls returned */
	uint64_t calls;
	uint64_t nested; /* calls inside other calls, which are in none of them */
	size_t hidden;   /* processes whose first failed call a filter left out */
};

/* The trace must outlive it. */
void gt_failures_init(struct gt_failures *failures, const struct gt_trace *trace);
void gt_failures_release(struct gt_failures *failures);

/* The call of a failure. */
const struct gt_api_call *gt_failure_call(const struct gt_failures *failures,
                                          const struct gt_failure *failure);

/* Its name as the API of its call has it; NULL: it has none for the number. */
const char *gt_failure_name(const struct gt_failures *failures, const struct gt_failure *failure);

/* Whether work on a GPU failed, and no call can be told from the error: sticky ones, hardware. */
bool gt_failure_is_of_work(const struct gt_failure *failure);

#endif
