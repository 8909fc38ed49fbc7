/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/launch.h"

#include <stddef.h>
#include <string.h>

#include "injection/calls/parameters.h"

/* The first member, which has two names. */
static CUgraphExec exec_of(const void *params)
{
	CUgraphExec exec;

	memcpy(&exec, params, sizeof(exec));
	return exec;
}

/* A call and its twin for programs whose default stream is one for each thread. */
#define LAUNCH(call, launch_kind, at, graph)                                                       \
	case CUPTI_DRIVER_TRACE_CBID_##call:                                                       \
	case CUPTI_DRIVER_TRACE_CBID_##call##_ptsz: {                                              \
		const call##_params *params = data->functionParams;                                \
                                                                                                   \
		launch->kind = GT_LAUNCH_##launch_kind;                                            \
		launch->stream = params ? (at) : NULL;                                             \
		launch->per_thread = id == CUPTI_DRIVER_TRACE_CBID_##call##_ptsz;                  \
		launch->exec = params ? (graph) : NULL;                                            \
		return true;                                                                       \
	}

bool gt_launch_read(CUpti_CallbackId id, const CUpti_CallbackData *data, struct gt_launch *launch)
{
	switch (id) {
		LAUNCH(cuLaunchKernel, KERNEL, params->hStream, NULL)
		LAUNCH(cuLaunchKernelEx, KERNEL, params->config ? params->config->hStream : NULL,
		       NULL)
		LAUNCH(cuLaunchCooperativeKernel, KERNEL, params->hStream, NULL)
		LAUNCH(cuGraphLaunch, GRAPH, params->hStream, exec_of(params))
	default: /* CUPTI's numbers, of which most are of other calls */
		return false;
	}
}

/* Reads the request from members of the same names. */
#define DESCRIBE(call, is_cooperative)                                                             \
	case CUPTI_DRIVER_TRACE_CBID_##call:                                                       \
	case CUPTI_DRIVER_TRACE_CBID_##call##_ptsz: {                                              \
		const call##_params *params = data->functionParams;                                \
                                                                                                   \
		*shape = (struct gt_launch_shape){                                                 \
			.function = params->f,                                                     \
			.stream = params->hStream,                                                 \
			.grid = {params->gridDimX, params->gridDimY, params->gridDimZ},            \
			.block = {params->blockDimX, params->blockDimY, params->blockDimZ},        \
			.shared_bytes = params->sharedMemBytes,                                    \
			.carveout = -2,                                                            \
			.cooperative = is_cooperative,                                             \
			.parameters = params->kernelParams,                                        \
		};                                                                                 \
		break;                                                                             \
	}

/* CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, which CUDA 12.4 does not name. */
#define ATTRIBUTE_CARVEOUT 14

static void take_attribute(struct gt_launch_shape *shape, const CUlaunchAttribute *attribute)
{
	const CUlaunchAttributeValue *value = &attribute->value;

	switch ((int)attribute->id) {
	case CU_LAUNCH_ATTRIBUTE_IGNORE:
		return;
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		shape->cooperative = value->cooperative != 0;
		return;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		shape->cluster[0] = value->clusterDim.x;
		shape->cluster[1] = value->clusterDim.y;
		shape->cluster[2] = value->clusterDim.z;
		return;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
		shape->programmatic = value->programmaticStreamSerializationAllowed != 0;
		return;
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		shape->priority = value->priority;
		shape->has_priority = true;
		return;
	case ATTRIBUTE_CARVEOUT: /* the first bytes of the value are it */
		shape->carveout = value->cooperative;
		return;
	default:
		if (!shape->others)
			shape->other = attribute->id;
		shape->others = true;
		return;
	}
}

static bool describe_config(struct gt_launch_shape *shape, const cuLaunchKernelEx_params *params)
{
	const CUlaunchConfig *config = params->config;

	if (!config)
		return false;
	*shape = (struct gt_launch_shape){
		.function = params->f,
		.stream = config->hStream,
		.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
		.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
		.shared_bytes = config->sharedMemBytes,
		.carveout = -2,
		.parameters = params->kernelParams,
		.extra = params->extra,
	};
	for (unsigned i = 0; config->attrs && i < config->numAttrs; i++)
		take_attribute(shape, &config->attrs[i]);
	return true;
}

bool gt_launch_describe(CUpti_CallbackId id, const CUpti_CallbackData *data,
                        struct gt_launch_shape *shape)
{
	if (!data->functionParams)
		return false;
	switch (id) {
		DESCRIBE(cuLaunchKernel, false)
		DESCRIBE(cuLaunchCooperativeKernel, true)
	case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
	case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
		return describe_config(shape, data->functionParams);
	default: /* CUPTI's numbers, of which most are of other calls */
		return false;
	}
	if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel ||
	    id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz)
		shape->extra = ((const cuLaunchKernel_params *)data->functionParams)->extra;
	return true;
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
