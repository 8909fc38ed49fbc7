/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_SAMPLED_H
#define GT_MODEL_SAMPLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Hardware counters that a GPU sampled of itself: series whose column GT_COUNTER_SPAN says how long
 * each sample is. What a sample counted belongs to a kernel only when it lies wholly in one
 * execution of it and nothing else, no kernel, copy, fill or graph, ran on the GPU at any time of
 * the sample; other samples are nobody's.
 */

enum gt_sampled_place {
	GT_SAMPLED_GAP,    /* no counter was measured: the samples of that time were lost */
	GT_SAMPLED_IDLE,   /* nothing ran */
	GT_SAMPLED_KERNEL, /* it is one kernel's */
	GT_SAMPLED_SHARED, /* several things ran, or one for a part of it */
};

struct gt_sampled {
	const struct gt_trace *trace;
	const struct gt_series *series;
	const struct gt_counter *span;
	uint8_t *places; /* of each sample: enum gt_sampled_place */
	gt_id *kernels; /* of each sample: the row of kernels, GT_NONE where it is not one kernel's */
};

/*
 * Reads the series of a counter, a row of the trace. False, and nothing to release, when it is not
 * a GPU's column of lengths. What filters took out of the trace is not seen to have run.
 */
bool gt_sampled_init(struct gt_sampled *sampled, const struct gt_trace *trace,
                     const struct gt_counter *span);
void gt_sampled_release(struct gt_sampled *sampled);

/* Nanoseconds that a sample lasts; 0 where that is not known. */
double gt_sampled_length(const struct gt_sampled *sampled, size_t sample);

/* Whether a counter is another column of the same series. */
bool gt_sampled_has(const struct gt_sampled *sampled, const struct gt_counter *counter);

/* Whether a counter is one that hardware sampled, or the length of its samples. */
bool gt_is_sampled(const struct gt_counter *counter);

/* The folder in which viewers show a counter of that name. A constant. */
const char *gt_sampled_group(const char *name);

#endif
