/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_STEPS_PERIOD_H
#define GT_ANALYSIS_RANGES_STEPS_PERIOD_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * Steps of a program without ranges, guessed by the period of its launches: a program that repeats
 * its work launches the same kernels, and graphs as a whole, again and again. A step begins where a
 * process launches a kernel of one function, the anchor, and ends at its next launch. The kernels
 * of a graph are launched by one call: they are all of one step, and of it a function's first
 * counts.
 *
 * A function is an anchor where
 * - three of four of its steps have the same launches, whatever their order, and at least
 *   GT_PERIOD_LEAST - 1 have,
 * - these have half of all launches of the process, and more than one each, or a graph, and
 * - the others are not an outer period: three or more that are the same, and half as long again.
 *   Then it is a loop inside a step, as over the layers of a model.
 * The shortest period of several anchors counts, and of equal ones the function that came first. A
 * stretch that has half as many launches again as a step is none, as an evaluation between two, nor
 * is one that has so many fewer that a step has half as many again, as where the function also
 * makes the first values.
 *
 * A period is looked for in the first million launches of the recording.
 *
 * All that happened counts, whatever a filter shows of it; rows are those of the trace that is
 * given, which is a whole one (model/whole.h).
 */
enum { GT_PERIOD_LEAST = 5 };

struct gt_period_step {
	gt_id process;
	gt_id thread; /* that launched the anchor; GT_NONE: not known */
	gt_time start_ns;
	gt_time end_ns;
};

struct gt_periods {
	const char *anchor; /* name of that of the first process that has one; the trace's */
	uint64_t others;    /* stretches between launches of anchors that are no steps */
	gt_array(struct gt_period_step) rows; /* process after process, in order of time */
};

void gt_periods_init(struct gt_periods *periods, const struct gt_trace *whole);
void gt_periods_release(struct gt_periods *periods);

#endif
