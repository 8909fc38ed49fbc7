/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/kernels.h"

#include <stdlib.h>
#include <string.h>

/* Queries of graphs and their nodes. Parameters that are told stay the node's. */

static CUresult tell_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	size_t found = 0;

	for (CUgraphNode node = graph->nodes; node; node = node->next, found++)
		if (nodes && found < *count)
			nodes[found] = node;
	*count = nodes && *count < found ? *count : found;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	CUresult result = graph && count ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphGetNodes, graph, nodes, count);
	if (result == CUDA_SUCCESS)
		result = tell_nodes(graph, nodes, count);
	API_END(result);
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	const CUresult result = node && type ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphNodeGetType, node, type);
	if (result == CUDA_SUCCESS)
		*type = node->type;
	API_END(result);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *before,
                                       CUgraphEdgeData *edges, size_t *count)
{
	const CUresult result = node && count ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphNodeGetDependencies_v2, node, before, edges, count);
	if (result == CUDA_SUCCESS) {
		const size_t room = before ? *count : 0;

		for (size_t i = 0; i < node->before_count && i < room; i++) {
			before[i] = node->before[i];
			if (edges)
				edges[i] = node->edges[i];
		}
		*count = before && room < node->before_count ? room : node->before_count;
	}
	API_END(result);
}

/* Where the parameters stand: of each node, as long as it lives. */
static void **arguments_of(CUgraphNode node)
{
	const struct fake_known_kernel *known = fake_known_kernel(node->work.function->name);
	size_t offset;
	size_t size;

	if (!known || !known->sizes[0])
		return NULL;
	for (size_t i = 0; fake_parameter(known, i, &offset, &size); i++)
		node->arguments[i] = node->work.parameters + offset;
	return node->arguments;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *kernel)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphKernelNodeGetParams_v2, node, kernel);
	if (node && kernel && node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
		const struct fake_activity *work = &node->work;

		*kernel = (CUDA_KERNEL_NODE_PARAMS){
			.func = work->function,
			.gridDimX = work->grid[0],
			.gridDimY = work->grid[1],
			.gridDimZ = work->grid[2],
			.blockDimX = work->block[0],
			.blockDimY = work->block[1],
			.blockDimZ = work->block[2],
			.sharedMemBytes = work->shared_dynamic_bytes,
			.kernelParams = arguments_of(node),
		};
		result = fake_usable();
	}
	API_END(result);
}

static CUresult check_attribute(CUgraphNode node, CUlaunchAttributeID attribute)
{
	return node && node->type == CU_GRAPH_NODE_TYPE_KERNEL &&
	                       (int)attribute < (int)FAKE_NODE_ATTRIBUTES
	               ? fake_usable()
	               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID attribute,
                                       CUlaunchAttributeValue *value)
{
	const CUresult result = check_attribute(node, attribute);

	API_BEGIN(cuGraphKernelNodeGetAttribute, node, attribute, value);
	if (result == CUDA_SUCCESS)
		*value = node->attributes[attribute];
	API_END(result);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID attribute,
                                       const CUlaunchAttributeValue *value)
{
	const CUresult result = check_attribute(node, attribute);

	API_BEGIN(cuGraphKernelNodeSetAttribute, node, attribute, value);
	if (result == CUDA_SUCCESS)
		node->attributes[attribute] = *value;
	API_END(result);
}

static size_t height_of(size_t slice_pitch, size_t pitch)
{
	return pitch ? slice_pitch / pitch : 0;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphMemcpyNodeGetParams, node, copy);
	if (node && copy && node->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
		const struct fake_activity *work = &node->work;
		const struct fake_rows *rows = &work->rows;
		const int within_host = work->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
		const int from_host =
			within_host || work->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
		const int to_host =
			within_host || work->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;

		*copy = (CUDA_MEMCPY3D){
			.srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
			.srcHost = from_host ? work->source : NULL,
			.srcDevice = from_host ? 0 : (uintptr_t)work->source,
			.dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
			.dstHost = to_host ? work->target : NULL,
			.dstDevice = to_host ? 0 : (uintptr_t)work->target,
			.srcPitch = rows->source_pitch,
			.srcHeight = height_of(rows->source_slice_pitch, rows->source_pitch),
			.dstPitch = rows->target_pitch,
			.dstHeight = height_of(rows->target_slice_pitch, rows->target_pitch),
			.WidthInBytes =
				rows->rows ? work->bytes / rows->rows / rows->slices : work->bytes,
			.Height = rows->rows ? rows->rows : 1,
			.Depth = rows->rows ? rows->slices : 1,
		};
		result = fake_usable();
	}
	API_END(result);
}

/* Fills are made byte by byte here. */
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *fill)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphMemsetNodeGetParams, node, fill);
	if (node && fill && node->type == CU_GRAPH_NODE_TYPE_MEMSET) {
		const struct fake_rows *rows = &node->work.rows;

		*fill = (CUDA_MEMSET_NODE_PARAMS){
			.dst = (uintptr_t)node->work.target,
			.value = (uint8_t)node->work.value,
			.elementSize = 1,
			.pitch = rows->target_pitch,
			.width = rows->rows ? node->work.bytes / rows->rows : node->work.bytes,
			.height = rows->rows ? rows->rows : 1,
		};
		result = fake_usable();
	}
	API_END(result);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphChildGraphNodeGetGraph, node, graph);
	if (node && graph && node->type == CU_GRAPH_NODE_TYPE_GRAPH) {
		*graph = node->inside;
		result = fake_usable();
	}
	API_END(result);
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
	const CUresult result = name && function ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuFuncGetName, name, function);
	if (result == CUDA_SUCCESS)
		*name = function->name;
	API_END(result);
}
