/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti/profiler.h"

#include <dlfcn.h>

bool gt_profiler_open(struct gt_profiler *profiler, void *library)
{
	bool whole = true;

	/* POSIX gives functions out as void pointers; C has no cast for that. */
#define CALL(function, params)                                                                     \
	*(void **)&profiler->function = dlsym(library, #function);                                 \
	whole = whole && profiler->function;
#include "cupti/calls.def"
	return whole;
}

int gt_profiler_initialise(struct gt_profiler *profiler)
{
	struct gt_profiler_initialize params = GT_PROFILER_PARAMS(initialize, .reserved = NULL);
	int result = 0;

	if (!profiler->initialised)
		result = profiler->cuptiProfilerInitialize(&params);
	profiler->initialised = result == 0;
	return result;
}

int gt_profiler_availability(const struct gt_profiler *profiler, uint32_t device,
                             struct gt_image *image)
{
	struct gt_profiler_pm_availability params =
		GT_PROFILER_PARAMS(pm_availability, .device = device);
	int result = profiler->cuptiPmSamplingGetCounterAvailability(&params);

	if (result == 0 && gt_image_take(image, params.bytes)) {
		params.image = image->bytes;
		result = profiler->cuptiPmSamplingGetCounterAvailability(&params);
	}
	if (result != 0)
		gt_image_release(image);
	return result;
}
