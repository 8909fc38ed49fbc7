/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cupti/library.h"

_Static_assert(GT_CUPTI_OLDEST_VERSION == GT_CUPTI_12_4, "CUDA 12.4 is the oldest");

static int bind_calls(struct gt_cupti *cupti, struct gt_error *err)
{
	const char *missing = NULL;

	/* POSIX gives functions out as void pointers; C has no cast for that. */
#define OPTIONAL(name) *(void **)&cupti->name = dlsym(cupti->handle, #name);
#define CALL(name)                                                                                 \
	OPTIONAL(name)                                                                             \
	if (!cupti->name)                                                                          \
		missing = #name;
#include "injection/cupti/cupti_calls.def"
	if (!missing)
		return 0;
	return gt_fail(err, ENOTSUP, "%s has no %s: it is too old or not CUPTI", cupti->path,
	               missing);
}

int gt_cupti_open(struct gt_cupti *cupti, int driver_version, const char *wanted,
                  struct gt_error *err)
{
	int result;

	cupti->handle = gt_cupti_library_open(driver_version, wanted, cupti->path, err);
	if (!cupti->handle)
		return -ENOENT;
	result = bind_calls(cupti, err);
	if (result < 0)
		return result;
	if (cupti->cuptiGetVersion(&cupti->version) == CUPTI_SUCCESS &&
	    cupti->version >= GT_CUPTI_OLDEST_VERSION)
		return 0;
	return gt_fail(
		err, ENOTSUP,
		"%s is CUPTI version %u, and CUDA 12.4 (version %u) is the oldest that works",
		cupti->path, cupti->version, GT_CUPTI_OLDEST_VERSION);
}

const char *gt_cupti_text(const struct gt_cupti *cupti, CUptiResult result)
{
	const char *text = NULL;

	if (cupti->cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
		return "unknown CUPTI error";
	return text;
}
