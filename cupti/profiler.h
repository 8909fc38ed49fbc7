/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CUPTI_PROFILER_H
#define GT_CUPTI_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/image.h"

/*
 * The part of libcupti that knows of hardware counters: which there are, and what they need. Nothing
 * here is about a program that is traced, or needs CUPTI's headers. Functions return a CUptiResult.
 */

#define STRUCT(name, theirs)               struct gt_profiler_##name {
#define MEMBER(name, type, member, theirs) type member;
#define END(name, last)                                                                            \
	}                                                                                          \
	;
/* clang-format off */
#include "cupti/structs.def"
/* clang-format on */

/* The size that CUPTI wants to know: up to the end of the last member. */
#define STRUCT(name, theirs)
#define MEMBER(name, type, member, theirs)
#define END(name, last)                                                                            \
	enum {                                                                                     \
		GT_PROFILER_SIZE_OF_##name = offsetof(struct gt_profiler_##name, last) +           \
		                             sizeof(((struct gt_profiler_##name *)0)->last)        \
	};
#include "cupti/structs.def"

#define GT_PROFILER_PARAMS(name, ...)                                                              \
	((struct gt_profiler_##name){.size = GT_PROFILER_SIZE_OF_##name, __VA_ARGS__})

/* libcupti's functions. */
struct gt_profiler {
	bool initialised; /* this part of CUPTI: once in a process, see gt_profiler_initialise */
#define CALL(function, params) int (*function)(struct gt_profiler_##params * params);
#include "cupti/calls.def"
};

/* Those of an open libcupti. False when one is not there: CUPTI is older than CUDA 12.6. */
bool gt_profiler_open(struct gt_profiler *profiler, void *library);

/*
 * Initialises CUPTI to tell of the GPUs of this machine; the driver must be initialised.
 * Facts about chips do not need it. One thread at a time. 0, or a CUptiResult.
 */
int gt_profiler_initialise(struct gt_profiler *profiler);

/*
 * Which of its chip's counters a GPU has for PM sampling, for gt_chip. 0, or a CUptiResult: nothing
 * is known then, and the image is empty.
 */
int gt_profiler_availability(const struct gt_profiler *profiler, uint32_t device,
                             struct gt_image *image);

#endif
