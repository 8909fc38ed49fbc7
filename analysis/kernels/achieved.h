/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNELS_ACHIEVED_H
#define GT_ANALYSIS_KERNELS_ACHIEVED_H

#include <stdint.h>

#include "analysis/kernels/launch_uses.h"
#include "model/view/view.h"

/*
 * Achieved occupancy: warps that were on a multiprocessor, of those there is room for, while it had
 * any; as hardware counters say.
 */
enum gt_achieved_source {
	GT_ACHIEVED_COUNTED, /* by counters of launches that were profiled */
	GT_ACHIEVED_SAMPLED, /* by PM samples in which nothing else ran */
	GT_ACHIEVED_UNKNOWN,
};

struct gt_achieved {
	enum gt_achieved_source source;
	double percent;    /* NAN: not measured */
	uint64_t launches; /* that were counted */
	double sampled_ns; /* time of the samples */
};

/* "kernel counters", "PM samples", "not measured". Constant. */
const char *gt_achieved_source_name(enum gt_achieved_source source);

/* One for each use of the trace that the view shows; the caller frees them with gt_array_free. */
struct gt_achieved *gt_achieved_of(const struct gt_view *view, const struct gt_launch_uses *uses);

#endif
