/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CUPTI_CUPTI_H
#define GT_INJECTION_CUPTI_CUPTI_H

#include <limits.h>
#include <stdint.h>

#include <cupti.h>

struct gt_error;

/* Versions as cuptiGetVersion tells them. */
#define GT_CUPTI_12_4 22u
#define GT_CUPTI_12_8 26u
#define GT_CUPTI_12_9 27u
#define GT_CUPTI_13_0 130000u

/* libcupti, opened at run time: which one cupti/library.h says. */
struct gt_cupti {
	void *handle;
	char path[PATH_MAX];
	uint32_t version;                      /* cuptiGetVersion */
#define CALL(name)     __typeof__(name) *name; /* GNU C: the headers are the only prototypes */
#define OPTIONAL(name) CALL(name)
#include "injection/cupti/cupti_calls.def"
};

/*
 * Opens and checks the library. driver_version as cuDriverGetVersion gives it (13000), 0 when
 * not known; wanted is a path that the user chose, or "".
 */
int gt_cupti_open(struct gt_cupti *cupti, int driver_version, const char *wanted,
                  struct gt_error *err);

/* CUPTI's own words for a result; never NULL. */
const char *gt_cupti_text(const struct gt_cupti *cupti, CUptiResult result);

#endif
