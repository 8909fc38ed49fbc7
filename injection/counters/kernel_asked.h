/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_COUNTERS_KERNEL_ASKED_H
#define GT_INJECTION_COUNTERS_KERNEL_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/counters/range_profiler.h"

struct gt_session;

/*
 * The counters of single launches that the program's setting asks for, by name, as sets, or as
 * CUPTI calls them: the metrics that they are, and the records that tell of these.
 */

enum { GT_KERNEL_COUNTERS_TEXT_BYTES = 2048 };

struct gt_known_kernel_counter;

struct gt_asked_kernel_counters {
	char text[GT_KERNEL_COUNTERS_TEXT_BYTES]; /* the setting, cut at its commas */
	const char *metrics[GT_RANGE_METRICS];
	/* NULL: asked for as CUPTI calls it */
	const struct gt_known_kernel_counter *known[GT_RANGE_METRICS];
	size_t count;
	bool graphs; /* they are to be of launches of graphs, not of kernels */
};

/* The words of the setting, each into metrics; says which are none. */
void gt_asked_kernel_counters_read(struct gt_session *session,
                                   struct gt_asked_kernel_counters *counters);

/* A record of a metric, by the number that it has in the capture. */
void gt_asked_kernel_counters_tell(struct gt_session *session,
                                   const struct gt_asked_kernel_counters *counters,
                                   const struct gt_range_profiler *profiler, const char *metric,
                                   uint32_t number);

#endif
