/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/launch_calls.h"

#include <stddef.h>

#include "injection/call_parameters.h"

/* A call and its twin for programs whose default stream is one for each thread. */
#define LAUNCH(call, launch_kind, at)                                                              \
	case CUPTI_DRIVER_TRACE_CBID_##call:                                                       \
	case CUPTI_DRIVER_TRACE_CBID_##call##_ptsz: {                                              \
		const call##_params *params = data->functionParams;                                \
                                                                                                   \
		launch->kind = GT_LAUNCH_##launch_kind;                                            \
		launch->stream = params ? (at) : NULL;                                             \
		launch->per_thread = id == CUPTI_DRIVER_TRACE_CBID_##call##_ptsz;                  \
		return true;                                                                       \
	}

bool gt_launch_read(CUpti_CallbackId id, const CUpti_CallbackData *data, struct gt_launch *launch)
{
	switch (id) {
		LAUNCH(cuLaunchKernel, KERNEL, params->hStream)
		LAUNCH(cuLaunchKernelEx, KERNEL, params->config ? params->config->hStream : NULL)
		LAUNCH(cuLaunchCooperativeKernel, KERNEL, params->hStream)
		LAUNCH(cuGraphLaunch, GRAPH, params->hStream)
	default: /* CUPTI's numbers, of which most are of other calls */
		return false;
	}
}

int gt_capture_step(CUpti_CallbackId id)
{
	switch (id) {
	case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
	case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
	case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
	case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
	case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
	case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
		return 1;
	case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
	case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
		return -1;
	default: /* CUPTI's numbers, of which most are of other calls */
		return 0;
	}
}
