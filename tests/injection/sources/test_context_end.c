/* SPDX-License-Identifier: Apache-2.0 */
#include <semaphore.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/array.h"
#include "injection/cupti/cupti.h"
#include "injection/recorder.h"
#include "injection/session/source.h"

/*
 * Covers SOURCE(context_end): which calls end a context, in every version of them, and after which
 * waits a forked worker fetches.
 */

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

/* ---- workers ---- */

enum { CONTEXT_SYNCHRONIZE = CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize };

static _Atomic uint32_t flushes;
static _Atomic useconds_t flush_us;

static CUptiResult flush_all(uint32_t flag)
{
	(void)flag;
	atomic_fetch_add(&flushes, 1);
	usleep(atomic_load(&flush_us));
	return CUPTI_SUCCESS;
}

static CUptiResult take_dropped(CUcontext context, uint32_t stream, size_t *count)
{
	(void)context;
	(void)stream;
	*count = 0;
	return CUPTI_SUCCESS;
}

static CUptiResult no_name(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
	(void)domain;
	(void)id;
	(void)name;
	return CUPTI_ERROR_INVALID_PARAMETER;
}

static void be_worker(bool worker)
{
	static const struct gt_source *const sources[] = {&gt_source_context_end};

	recorder_init(&recorder);
	recorder.session->cupti.cuptiGetCallbackName = no_name;
	recorder.session->cupti.cuptiActivityFlushAll = flush_all;
	recorder.session->cupti.cuptiActivityGetNumDroppedRecords = take_dropped;
	recorder.session->settings.flush_interval_ns = UINT64_C(3600000000000);
	recorder.session->is_worker = worker;
	recorder_add_sources(&recorder, sources, 1);
	gt_sources_start(recorder.session);
	atomic_store(&recorder.session->cuda_up, true);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
	cr_assert(eq(int, gt_flusher_start(recorder.session), 0));
}

static void make_call(CUpti_CallbackId id, const void *params, int result)
{
	CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER, .functionParams = params};
	const struct gt_call call = {.data = &data, .id = (uint16_t)id, .driver = 1};
	struct gt_route *route = &recorder.session->router.routes[0];
	void *kept = route->enter(recorder.session, route->state, call);

	data.callbackSite = CUPTI_API_EXIT;
	data.functionReturnValue = &result;
	route->leave(recorder.session, route->state, call, kept);
}

static bool is_call_wanted(CUpti_CallbackId id)
{
	return recorder.session->router.wants[CUPTI_CB_DOMAIN_DRIVER_API][id].routes != 0;
}

Test(context_end, hears_of_waits_in_workers_alone)
{
	be_worker(false);
	cr_expect(not(is_call_wanted(CONTEXT_SYNCHRONIZE)));
}

Test(context_end, fetches_after_each_wait_of_a_worker_that_succeeded)
{
	be_worker(true);
	cr_expect(is_call_wanted(CONTEXT_SYNCHRONIZE));
	cr_expect(is_call_wanted(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2));
	cr_expect(not(is_call_wanted(CUPTI_DRIVER_TRACE_CBID_cuEventRecord)));
	make_call(CONTEXT_SYNCHRONIZE, NULL, CUDA_SUCCESS);
	make_call(CONTEXT_SYNCHRONIZE, NULL, CUDA_SUCCESS);
	cr_expect(eq(u32, flushes, 2));
	make_call(CONTEXT_SYNCHRONIZE, NULL, CUDA_ERROR_ILLEGAL_ADDRESS);
	cr_expect(eq(u32, flushes, 2));
}

/* The first sixteen, whatever they take; then a hundredth of its time. */
Test(context_end, does_not_hold_up_a_worker_that_waits_all_the_time)
{
	be_worker(true);
	atomic_store(&flush_us, 2000);
	for (int i = 0; i < 200; i++)
		make_call(CONTEXT_SYNCHRONIZE, NULL, CUDA_SUCCESS);
	cr_expect(ge(u32, flushes, 16));
	cr_expect(le(u32, flushes, 20));
}

/* Something hangs: then it is asked once. */
Test(context_end, does_not_wait_for_a_flush_that_hangs_again)
{
	be_worker(true);
	atomic_store(&flush_us, 300000);
	make_call(CONTEXT_SYNCHRONIZE, NULL, CUDA_SUCCESS);
	make_call(CONTEXT_SYNCHRONIZE, NULL, CUDA_SUCCESS);
	cr_expect(eq(u32, flushes, 1));
}
