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

/* Calls whose parameters name the function itself. */
#define OF_LAUNCH(call)                                                                            \
	case CUPTI_DRIVER_TRACE_CBID_##call:                                                       \
	case CUPTI_DRIVER_TRACE_CBID_##call##_ptsz:                                                \
		return ((const call##_params *)data->functionParams)->f;

/* Those that describe a node of a graph: at first without, later with kernels of no context. */
#define OF_OLD_NODE(call)                                                                          \
	case CUPTI_DRIVER_TRACE_CBID_##call: {                                                     \
		const call##_params *params = data->functionParams;                                \
                                                                                                   \
		return params->nodeParams ? params->nodeParams->func : NULL;                       \
	}
#define OF_NODE(call)                                                                              \
	case CUPTI_DRIVER_TRACE_CBID_##call: {                                                     \
		const call##_params *params = data->functionParams;                                \
                                                                                                   \
		return params->nodeParams                                                          \
		               ? function_of(params->nodeParams->func, params->nodeParams->kern)   \
		               : NULL;                                                             \
	}
#define OF_ANY_NODE(call)                                                                          \
	case CUPTI_DRIVER_TRACE_CBID_##call: {                                                     \
		const call##_params *params = data->functionParams;                                \
                                                                                                   \
		return function_of_node(params->nodeParams);                                       \
	}

static CUfunction function_of(CUfunction function, CUkernel kernel)
{
	return function ? function : (CUfunction)kernel;
}

static CUfunction function_of_node(const CUgraphNodeParams *node)
{
	return node && node->type == CU_GRAPH_NODE_TYPE_KERNEL
	               ? function_of(node->kernel.func, node->kernel.kern)
	               : NULL;
}

CUfunction gt_launch_function(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	if (!data->functionParams)
		return NULL;
	switch (id) {
		OF_LAUNCH(cuLaunchKernel)
		OF_LAUNCH(cuLaunchKernelEx)
		OF_LAUNCH(cuLaunchCooperativeKernel)
		OF_OLD_NODE(cuGraphAddKernelNode)
		OF_OLD_NODE(cuGraphKernelNodeSetParams)
		OF_OLD_NODE(cuGraphExecKernelNodeSetParams)
		OF_NODE(cuGraphAddKernelNode_v2)
		OF_NODE(cuGraphKernelNodeSetParams_v2)
		OF_NODE(cuGraphExecKernelNodeSetParams_v2)
		OF_ANY_NODE(cuGraphAddNode)
		OF_ANY_NODE(cuGraphAddNode_v2)
	default: /* CUPTI's numbers, of which most are of other calls */
		return NULL;
	}
}

static const CUpti_CallbackId about_kernels[] = {
	CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode,
	CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams,
	CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams,
	CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2,
	CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2,
	CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
	CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode,
	CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2,
};

bool gt_launch_names_kernel(CUpti_CallbackId id)
{
	for (size_t i = 0; i < sizeof(about_kernels) / sizeof(about_kernels[0]); i++)
		if (about_kernels[i] == id)
			return true;
	return false;
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
