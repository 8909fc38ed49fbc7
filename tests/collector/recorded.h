/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_COLLECTOR_RECORDED_H
#define GT_TESTS_COLLECTOR_RECORDED_H

#include "collector/collect.h"

/*
 * The begin and end of most tests of a stage: a recording with the capture of one process and its
 * basics, to which the test adds, and the trace that comes of it. For one file of tests.
 */

static struct recording recording;
static struct gt_trace trace;

static inline void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
}

static inline void finish(void)
{
	recording_end(&recording, true);
	trace = collect(&recording);
}

static inline void drop(void)
{
	gt_trace_release(&trace);
	recording_release(&recording);
}

#endif
