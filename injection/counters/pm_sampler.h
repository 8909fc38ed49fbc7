/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_COUNTERS_PM_SAMPLER_H
#define GT_INJECTION_COUNTERS_PM_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "cupti/chip.h"
#include "cupti/image.h"
#include "cupti/profiler.h"

struct gt_cupti;
struct gt_error;

/*
 * Hardware counters of one GPU, sampled by CUPTI's PM sampling: the GPU itself reads them at an
 * interval into a buffer, which is decoded from time to time. All that is known of that part of
 * CUPTI is here. Calls for one sampler come from one thread at a time; they belong on threads of
 * ours, as they take the driver's locks and CUPTI allocates in them.
 */

#define STRUCT(name, theirs)               struct gt_pm_##name {
#define MEMBER(name, type, member, theirs) type member;
#define END(name, last)                                                                            \
	}                                                                                          \
	;
/* clang-format off */
#include "injection/counters/pm_structs.def"
/* clang-format on */

/* libcupti's functions. */
struct gt_pm {
	const struct gt_cupti *cupti;
	struct gt_profiler profiler;
#define CALL(function, params) CUptiResult (*function)(struct gt_pm_##params * params);
#include "injection/counters/pm_calls.def"
};

/* False when one of them is not there: CUPTI is older than CUDA 12.6. */
bool gt_pm_open(struct gt_pm *pm, const struct gt_cupti *cupti);

#define GT_PM_METRICS 63 /* of one sampler */

/* The meaning of an answer of CUPTI for who runs the program; NULL: nothing that has a name. */
const char *gt_pm_reason(CUptiResult result);

/*
 * The gist of CUPTI's answer about a GPU: CUPTI_SUCCESS where it names nothing that stands against
 * counters, CUPTI_ERROR_NOT_SUPPORTED where it is the architecture.
 */
CUptiResult gt_pm_verdict(const struct gt_profiler_device_supported *answer);

/* One GPU's; zeroed before gt_pm_prepare. */
struct gt_pm_sampler {
	struct gt_pm *pm;
	uint32_t device;
	uint64_t interval_ns;
	uint64_t clock_khz; /* of the GPU, for those that cannot sample by time; 0: not known */
	const char *metrics[GT_PM_METRICS]; /* that are sampled */
	size_t count;
	struct gt_chip chip; /* with the metrics that are sampled */
	void *object;
	struct gt_image availability;
	struct gt_image data;
	struct gt_image empty; /* the same without samples */
	size_t room;           /* samples that an image can have */
	bool runs;
	bool was_full;        /* the hardware's buffer, since the start */
	bool begun;           /* the first sample since the start has been left out */
	size_t told;          /* samples in data that were told */
	size_t last_count;    /* of them by the last decoding */
	uint64_t last_end_ns; /* of the last sample that was told; 0: none */
};

/*
 * Chooses what can be sampled of what is wanted, whose texts live as long as the sampler, and takes
 * the GPU's counters. 0, or a negative errno value and a sentence that says what stands against it
 * and what to do.
 */
int gt_pm_prepare(struct gt_pm_sampler *sampler, CUdevice device, struct gt_metric_wanted *wanted,
                  size_t count, struct gt_error *err);

/* The same for its beginning, at any time after gt_pm_prepare or gt_pm_stop. */
int gt_pm_start(struct gt_pm_sampler *sampler, struct gt_error *err);

/* Ends it; what the GPU has sampled can still be decoded. */
void gt_pm_stop(struct gt_pm_sampler *sampler);

/* Gives back all that it has; may be called twice, also on one that could not be prepared. */
void gt_pm_release(struct gt_pm_sampler *sampler);

/* A sample in CUPTI's time. values NULL: for that time there is none, as it was lost. */
struct gt_pm_sample {
	uint64_t start_ns;
	uint64_t end_ns;
	const double *values; /* one for each metric that is sampled */
};

typedef void gt_pm_use(void *context, const struct gt_pm_sample *sample);

/*
 * Tells of each sample that is new, in order of time, and of the gaps between them. Returns 0,
 * 1 when the hardware's buffer was full in the meantime: nothing comes any more until it is stopped
 * and started, or a negative errno value.
 */
int gt_pm_decode(struct gt_pm_sampler *sampler, gt_pm_use *use, void *context);

#endif
