/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_COUNTERS_RANGE_PROFILER_H
#define GT_INJECTION_COUNTERS_RANGE_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/counters/pm_sampler.h"

/*
 * Hardware counters of single launches, by CUPTI's range profiler: what of a context runs between
 * the begin and the end that are told here is counted. All that is known of that part of CUPTI is
 * here. CUPTI takes these calls on any thread, also in the callback of a launch (seen on an H200,
 * driver 580.159.04, CUPTI 13.0.1), and allocates in them; calls for one profiler come from one
 * thread at a time. A context has one profiler, in one mode: a second one, or another mode, makes
 * CUPTI crash.
 *
 * A kernel is replayed: CUPTI runs it as often as the counters need passes, puts the memory that it
 * changed back in between, and returns when that is done; its activity record has no times then.
 * Launches of graphs must never come in between, as CUPTI leaves them out: a graph is counted in
 * another way, as one range, in the pass that runs anyway, with as many counters as fit into it.
 */

#define STRUCT(name, theirs)               struct gt_range_##name {
#define MEMBER(name, type, member, theirs) type member;
#define END(name, last)                                                                            \
	}                                                                                          \
	;
/* clang-format off */
#include "injection/counters/range_structs.def"
/* clang-format on */

/* libcupti's functions. */
struct gt_ranges {
	const struct gt_cupti *cupti;
	struct gt_profiler profiler;
#define CALL(function, params) CUptiResult (*function)(struct gt_range_##params * params);
#include "injection/counters/range_calls.def"
};

/* False when one of them is not there: CUPTI is older than CUDA 12.6. */
bool gt_ranges_open(struct gt_ranges *ranges, const struct gt_cupti *cupti);

#define GT_RANGE_METRICS 64 /* of one profiler */

enum gt_range_mode { GT_RANGE_KERNEL, GT_RANGE_GRAPH };

/* The metrics that are counted. */
struct gt_range_plan {
	const char *metrics[GT_RANGE_METRICS]; /* texts are the caller's */
	size_t count;
	size_t passes;       /* that they need together */
	struct gt_chip chip; /* with these metrics */
	struct gt_image data;
};

/* One context's; before gt_range_prepare the first three are set and all else is zeroed. */
struct gt_range_profiler {
	struct gt_ranges *ranges;
	uint32_t device; /* ordinal of its GPU */
	enum gt_range_mode mode;
	void *object;
	struct gt_range_plan plan;
};

typedef void gt_range_unknown(void *context, const char *metric);

struct gt_range_wanted {
	const char *const *metrics;
	size_t count;
	gt_range_unknown *unknown;
	void *context; /* of unknown */
};

/*
 * Takes the metrics that the chip has of those that are wanted, at most GT_RANGE_METRICS, tells of
 * each of the others, and makes the counters ready for the context; of graphs the first of them
 * that fit into one pass together. 0, or a negative errno value and a sentence that says what
 * stands against it and what to do.
 */
int gt_range_prepare(struct gt_range_profiler *profiler, CUcontext context, CUdevice device,
                     const struct gt_range_wanted *wanted, struct gt_error *err);

/* CUPTI's facts about a metric; texts are CUPTI's. False: it knows none of that name. */
bool gt_range_property_of(const struct gt_range_profiler *profiler, const char *metric,
                          struct gt_metric_property *property);

/* Counts all that the context runs, from here to gt_range_end. The same as gt_range_prepare. */
int gt_range_begin(struct gt_range_profiler *profiler, struct gt_error *err);

/*
 * Ends that, once the launch has returned, and reads the values of the one launch that came in
 * between, one for each metric of the plan, NAN where CUPTI has none. Returns how many
 * launches there were (of none and of several there are no values), or a negative errno value and a
 * sentence.
 */
int gt_range_end(struct gt_range_profiler *profiler, double *values, struct gt_error *err);

/* Gives back all that it has; may be called twice, also on one that could not be prepared. */
void gt_range_release(struct gt_range_profiler *profiler);

#endif
