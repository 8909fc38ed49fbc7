/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * cudaProfilerStart and cudaProfilerStop, where they are to begin and end recording. Both are heard
 * at their return: until then a call of the driver's inside that of the runtime's is heard.
 */

static const CUpti_CallbackId begins[] = {CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000,
                                          CUPTI_DRIVER_TRACE_CBID_cuProfilerStart};
static const CUpti_CallbackId ends[] = {CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000,
                                        CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	(void)state;
	(void)kept;
	gt_ask_recording(session, call.callee.id == begins[call.callee.driver], GT_CAUSE_PROGRAM);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	if (!gt_settings_of(session)->profiler_api)
		return 0;
	gt_want(session, CUPTI_CB_DOMAIN_RUNTIME_API, begins[0]);
	gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, begins[1]);
	gt_want(session, CUPTI_CB_DOMAIN_RUNTIME_API, ends[0]);
	gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, ends[1]);
	return 0;
}

const struct gt_source gt_source_profiler = {
	.name = "profiler",
	.goes_on = true,
	.start = start,
	.hears = {.leave = leave},
};
