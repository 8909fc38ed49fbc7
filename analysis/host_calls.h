/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_HOST_CALLS_H
#define GT_ANALYSIS_HOST_CALLS_H

#include <stddef.h>

#include "model/intervals.h"
#include "model/trace.h"

/* What a thread of the program did in a stretch of time, as far as its CUDA calls tell. */

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

/* Where the calls of each thread begin, so that looking back ends. */
struct gt_thread_calls {
	const struct gt_trace *trace;
	size_t *first; /* by thread: its first row of api_calls */
};

void gt_thread_calls_init(struct gt_thread_calls *calls, const struct gt_trace *trace);
void gt_thread_calls_release(struct gt_thread_calls *calls);

/* thread is a row of threads. A call that never returned lasts to the end of the stretch. */
struct gt_host_calls gt_host_calls_in(const struct gt_thread_calls *calls,
                                      struct gt_interval stretch, gt_id thread);

#endif
