/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNELS_SHAPE_TOTALS_H
#define GT_ANALYSIS_KERNELS_SHAPE_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/statistics/shares.h"
#include "base/array.h"
#include "model/trace.h"

struct gt_view;

/*
 * Time of executions of kernels, one function launched in one way together, on GPUs of one model,
 * and their hardware counters: of launches that were profiled, else of samples in which nothing
 * else ran.
 */

enum gt_shape_counter {
#define COUNTER(name, add) GT_SHAPE_##name,
#include "analysis/kernels/shape_counters.def"
	GT_SHAPE_COUNTERS,
};

/*
 * Total of one launch shape on the GPUs of one model. A launch that was profiled counts as long as
 * its counters say, if they do.
 */
struct gt_shape_total {
	gt_id shape;
	uint64_t calls;       /* executions with times */
	uint64_t profiled;    /* of them */
	uint64_t summed_ns;   /* of them, also of those that ran at the same time */
	uint64_t gpus;        /* that ran it */
	gt_id device;         /* the one of them on which it took most; GT_NONE: it has no times */
	uint64_t most_ns;     /* the sum on that one */
	struct gt_united ran; /* when at least one of them ran it */
	double counters[GT_SHAPE_COUNTERS]; /* mean of one execution; NAN: not measured */
	bool sampled;                       /* the counters are of samples */
};

struct gt_shape_totals {
	gt_array(struct gt_shape_total) rows; /* in the order of their first execution */
	uint64_t *device_ns;                  /* by device: the sum of all of them */
	bool has_profiled;                    /* some launches were profiled */
};

void gt_shape_totals_init(struct gt_shape_totals *totals, const struct gt_view *view);
void gt_shape_totals_release(struct gt_shape_totals *totals);

/* As counters are named. Constant. */
const char *gt_shape_counter_name(enum gt_shape_counter counter);

/* Whether all of so many counters were measured. */
bool gt_shape_measured(const struct gt_shape_total *total, const enum gt_shape_counter *counters,
                       size_t count);

#endif
