/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_HOST_CALLS_H
#define GT_ANALYSIS_TIME_HOST_CALLS_H

#include <stddef.h>

#include "model/trace.h"
#include "model/work/intervals.h"

/* Activity of a thread of the program in a stretch of time, as far as its CUDA calls tell. */

enum { GT_HOST_FUNCTIONS = 8 }; /* that a stretch is told apart by, those called first */

struct gt_host_function {
	gt_string name;
	size_t calls;
	gt_time total_ns;
};

struct gt_host_calls {
	const struct gt_api_call *longest; /* the one that took most of it; NULL: there was none */
	gt_time longest_ns;
	gt_time all_ns; /* all its calls together, without those inside others */
	struct gt_host_function functions[GT_HOST_FUNCTIONS];
	size_t function_count;
};

/* The one that took most of all that are told apart; NULL: there is none. */
const struct gt_host_function *gt_host_calls_most(const struct gt_host_calls *calls);

/* The calls of each thread that are not inside others, in the order in which they were entered. */
struct gt_thread_calls {
	const struct gt_trace *trace;
	gt_id *rows;   /* of api_calls, those of one thread after those of the one before it */
	size_t *first; /* by thread, and one more: where its own begin in rows */
};

void gt_thread_calls_init(struct gt_thread_calls *calls, const struct gt_trace *trace);
void gt_thread_calls_release(struct gt_thread_calls *calls);

/*
 * Those of a thread, a row of threads, that may reach into a stretch: of rows, from the first to
 * one behind the last. Only the last call that was entered before the stretch is one, as the
 * calls of a thread follow each other.
 */
struct gt_call_reach {
	size_t first;
	size_t end;
};
struct gt_call_reach gt_thread_calls_reaching(const struct gt_thread_calls *calls,
                                              struct gt_interval stretch, gt_id thread);

/* A call that never returned lasts to the end of the stretch. */
struct gt_host_calls gt_host_calls_in(const struct gt_thread_calls *calls,
                                      struct gt_interval stretch, gt_id thread);

#endif
