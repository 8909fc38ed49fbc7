/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_SHAPE_TOTALS_H
#define GT_ANALYSIS_SHAPE_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * What executions of kernels took, one function launched in one way together, and what hardware
 * counters said of them: of launches that were profiled, else of samples in which nothing else ran.
 */

enum gt_shape_counter {
#define COUNTER(name, add) GT_SHAPE_##name,
#include "analysis/shape_counters.def"
	GT_SHAPE_COUNTERS,
};

struct gt_shape_total {
	uint64_t calls;    /* executions with times */
	uint64_t profiled; /* of them */
	uint64_t total_ns; /* of them; of those that were profiled as their counters say, if they do
	                    */
	gt_id device;      /* GPU of the first of them; GT_NONE: there is none */
	double counters[GT_SHAPE_COUNTERS]; /* mean of one execution; NAN: not measured */
	bool sampled;                       /* the counters are of samples */
};

struct gt_shape_totals {
	struct gt_shape_total *rows; /* by row of launch_shapes */
	size_t count;
	uint64_t *device_ns; /* by device: total_ns of all of them */
	bool has_profiled;   /* some launches were profiled */
};

void gt_shape_totals_init(struct gt_shape_totals *totals, const struct gt_trace *trace);
void gt_shape_totals_release(struct gt_shape_totals *totals);

/* As counters are named. Constant. */
const char *gt_shape_counter_name(enum gt_shape_counter counter);

/* Whether all of so many counters were measured. */
bool gt_shape_measured(const struct gt_shape_total *total, const enum gt_shape_counter *counters,
                       size_t count);

#endif
