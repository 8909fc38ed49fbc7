/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_MEASURED_H
#define GT_ANALYSIS_TIME_MEASURED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/trace.h"

/*
 * The values of a counter that were measured, in order of time. Not every sample has one, and
 * where nobody sampled for a while nothing is said of the time between: see gt_measured_watched.
 */
struct gt_measured {
	gt_time *times_ns;
	double *values;
	size_t count;
	gt_time step_ns; /* half of the steps from one to the next are no longer; 0: no steps */
};

/* The counter must be one of the trace. */
struct gt_measured gt_measured_of(const struct gt_trace *trace, const struct gt_counter *counter);
void gt_measured_release(struct gt_measured *measured);

/* Whether somebody watched from that value to the next: the step is not ten times the usual. */
bool gt_measured_watched(const struct gt_measured *measured, size_t i);

/* The counter of that name of a device, NULL when there is none. */
const struct gt_counter *gt_counter_find(const struct gt_trace *trace, gt_id device,
                                         const char *name);

/*
 * All values of the counters of that name of a device: several processes may have read the same
 * GPU. Empty where there are none.
 */
struct gt_measured gt_measured_on(const struct gt_trace *trace, gt_id device, const char *name);

/*
 * When a value that was read ceases to hold: at the next one. Before a time that nobody watched it
 * holds for as long as it usually takes to the next one, and the last one for no time.
 */
gt_time gt_measured_until(const struct gt_measured *measured, size_t i);

/* The last value at that time or before it, NAN: there is none. */
double gt_measured_at(const struct gt_measured *measured, gt_time time_ns);

/* The number of that value, or of the first where there is none. */
size_t gt_measured_first(const struct gt_measured *measured, gt_time time_ns);

/* A mean over time, the values joined by straight lines; NAN without values. */
double gt_measured_mean(const struct gt_measured *measured);

/*
 * The area under these lines between two times, in values times nanoseconds. NAN when the values
 * do not reach so far or nobody watched in between.
 */
double gt_measured_area(const struct gt_measured *measured, gt_time from_ns, gt_time to_ns);

#endif
