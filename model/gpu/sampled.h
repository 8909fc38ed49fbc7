/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_SAMPLED_H
#define GT_MODEL_GPU_SAMPLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Hardware counters that a GPU sampled of itself: series whose column GT_COUNTER_SPAN says how long
 * each sample is. A sample belongs to a kernel only when it lies wholly in one execution of the
 * kernel and nothing else, no kernel, copy, fill or graph, ran on the GPU at any time of the
 * sample; other samples are nobody's.
 */

enum gt_sampled_place {
	GT_SAMPLED_GAP,    /* no counter was measured: the samples of that time were lost */
	GT_SAMPLED_IDLE,   /* nothing ran */
	GT_SAMPLED_KERNEL, /* it is one kernel's */
	GT_SAMPLED_SHARED, /* several things ran, or one for a part of it */
};

/* One series of one GPU. */
struct gt_sampled {
	const struct gt_series *series;
	const struct gt_counter *span;
	uint8_t *places; /* of each sample: enum gt_sampled_place */
	gt_id *kernels; /* of each sample: the row of kernels, GT_NONE where it is not one kernel's */
};

/* All of a trace. Work that filters took out of it is not seen to have run. */
struct gt_sampled_list {
	struct gt_sampled *rows;
	size_t count;
	size_t *of_series; /* by number of the series: its row here, SIZE_MAX: it has none */
	size_t series_count;
};

/* The trace must outlive the list and not change. */
void gt_sampled_list_init(struct gt_sampled_list *list, const struct gt_trace *trace);
void gt_sampled_list_release(struct gt_sampled_list *list);

/* Where the values of a hardware counter of the trace are; NULL: it is none, or has no lengths. */
const struct gt_sampled *gt_sampled_of(const struct gt_sampled_list *list,
                                       const struct gt_counter *counter);

/*
 * Groups that kernels are sorted into. They may lie in one another, as NVTX ranges do. An outer
 * group has a smaller number than those inside it.
 */
struct gt_sampled_groups {
	const gt_id *of_kernel; /* by row of kernels; GT_NONE: it is in none */
	const gt_id *outer; /* by group: the one around it, GT_NONE: none; NULL: no group has one */
};

/* The innermost group that both lie in, or both are; GT_NONE: there is none. */
gt_id gt_sampled_common(const struct gt_sampled_groups *groups, gt_id a, gt_id b);

/* Whose a sample is where one group may have run several things in it. */
struct gt_sampled_owner {
	gt_id group;    /* the innermost that all lies in that ran in the sample; GT_NONE: none */
	double busy_ns; /* of the sample something of that ran */
	double work_ns; /* the same, what ran beside each other counting in full */
};

/*
 * The owner of each sample: a sample in which anything else than kernels of one group ran, or
 * nothing did, is nobody's. The caller frees them with gt_array_free. The trace is that of the list.
 */
struct gt_sampled_owner *gt_sampled_owners(const struct gt_sampled *sampled,
                                           const struct gt_trace *trace,
                                           const struct gt_sampled_groups *groups);

/* Nanoseconds that a sample lasts; 0 where that is not known. */
double gt_sampled_length(const struct gt_sampled *sampled, size_t sample);

/* Whether a counter is one that hardware sampled, or the length of its samples. */
bool gt_is_sampled(const struct gt_counter *counter);

/* The folder in which viewers show a counter of that name. A constant. */
const char *gt_sampled_group(const char *name);

#endif
