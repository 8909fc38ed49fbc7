/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "base/array.h"
#include "injection/cupti/cupti.h"
#include "injection/recorder.h"
#include "injection/source.h"

/* Covers SOURCE(context_end): which calls end a context, in every version of them. */

extern const struct gt_source gt_source_context_end;

static const char *const runtime_names[] = {
	NULL,
	"cudaDeviceReset_v3020",
	"cudaDeviceSynchronize_v3020",
	"cudaThreadExit_v3020",
};
static const char *const driver_names[] = {
	NULL,
	"cuCtxDestroy",
	"cuCtxDestroy_v2",
	"cuDevicePrimaryCtxRelease",
	"cuDevicePrimaryCtxRelease_v2",
	"cuDevicePrimaryCtxReset",
	"cuDevicePrimaryCtxReset_v2",
	"cuCtxCreate_v4",
	"cuDevicePrimaryCtxRetain",
	"cuCtxSynchronize",
};

static CUptiResult name_of(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
	const bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
	const size_t count = driver ? GT_COUNT_OF(driver_names) : GT_COUNT_OF(runtime_names);

	if (id >= count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = driver ? driver_names[id] : runtime_names[id];
	return CUPTI_SUCCESS;
}

static struct recorder recorder;

static bool is_wanted(CUpti_CallbackDomain domain, const char *const *names, size_t count,
                      const char *name)
{
	for (size_t id = 1; id < count; id++)
		if (strcmp(names[id], name) == 0)
			return recorder.session->router.wants[domain][id].routes != 0;
	cr_assert(false, "%s", name);
	return false;
}

#define is_runtime_wanted(name)                                                                    \
	is_wanted(CUPTI_CB_DOMAIN_RUNTIME_API, runtime_names, GT_COUNT_OF(runtime_names), name)
#define is_driver_wanted(name)                                                                     \
	is_wanted(CUPTI_CB_DOMAIN_DRIVER_API, driver_names, GT_COUNT_OF(driver_names), name)

Test(context_end, waits_before_every_call_that_ends_a_context_and_no_other)
{
	static const struct gt_source *const sources[] = {&gt_source_context_end};

	recorder_init(&recorder);
	recorder.session->cupti.cuptiGetCallbackName = name_of;
	recorder_add_sources(&recorder, sources, 1);
	gt_sources_start(recorder.session);
	cr_expect(is_runtime_wanted("cudaDeviceReset_v3020"));
	cr_expect(not(is_runtime_wanted("cudaDeviceSynchronize_v3020")));
	cr_expect(is_driver_wanted("cuCtxDestroy"));
	cr_expect(is_driver_wanted("cuCtxDestroy_v2"));
	cr_expect(is_driver_wanted("cuDevicePrimaryCtxRelease"));
	cr_expect(is_driver_wanted("cuDevicePrimaryCtxRelease_v2"));
	cr_expect(is_driver_wanted("cuDevicePrimaryCtxReset"));
	cr_expect(is_driver_wanted("cuDevicePrimaryCtxReset_v2"));
	cr_expect(not(is_driver_wanted("cuCtxCreate_v4")));
	cr_expect(not(is_driver_wanted("cuDevicePrimaryCtxRetain")));
	cr_expect(not(is_driver_wanted("cuCtxSynchronize")));
}
