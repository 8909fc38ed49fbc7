/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda_state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Launches and graphs of kernels. A kernel takes time and does nothing. */

struct CUgraphNode_st {
	uint64_t id;
	struct fake_activity kernel;
	CUgraphNode next;
};

struct CUgraph_st {
	uint32_t id;
	uint32_t node_count;
	CUgraphNode nodes; /* in the order they were added */
};

struct CUgraphExec_st {
	uint32_t id;
	CUgraphNode nodes; /* copies, with ids of their own */
};

static _Atomic uint32_t last_graph;

static int shape_fits(const struct fake_activity *kernel)
{
	const uint64_t threads = (uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2];

	return kernel->grid[0] && kernel->grid[1] && kernel->grid[2] && threads &&
	       threads <= 1024 && kernel->block[2] <= 64 && kernel->grid[1] <= 65535 &&
	       kernel->grid[2] <= 65535 &&
	       kernel->shared_dynamic_bytes + kernel->function->shared_static_bytes <= 232448;
}

static void run_kernel(CUstream stream, struct fake_activity *kernel)
{
	if (atomic_fetch_add(&kernel->function->launches, 1) == 0)
		fake_function_load(kernel->function, stream->context);
	kernel->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	fake_queue(stream, fake_cuda.script.launch_ns, fake_cuda.script.kernel_ns, kernel);
	fake_tell(kernel);
}

/* libcupti hears of a node in the call that makes it (release notes of CUPTI 11.0). */
static CUgraphNode add_node(CUgraph graph, const struct fake_activity *kernel)
{
	CUgraphNode added = calloc(1, sizeof(*added));
	CUpti_GraphData data = {
		.graph = graph, .node = added, .nodeType = CU_GRAPH_NODE_TYPE_KERNEL};
	CUgraphNode *last = &graph->nodes;

	added->kernel = *kernel;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	added->id = (uint64_t)graph->id << 32 | ++graph->node_count;
	while (*last)
		last = &(*last)->next;
	*last = added;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	fake_tell_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, fake_context(), NULL, &data);
	return added;
}

static CUresult launch(CUstream handle, struct fake_activity *kernel)
{
	const struct fake_capture *capture;
	CUstream stream = NULL;
	const CUresult result = fake_stream(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!kernel->function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!shape_fits(kernel))
		return CUDA_ERROR_INVALID_VALUE;
	capture = fake_capture_of(stream);
	if (capture)
		(void)add_node(fake_capture_graph(capture), kernel);
	else
		run_kernel(stream, kernel);
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void **arguments, void **extra)
{
	cuLaunchKernel_params params = {function, grid_x,       grid_y, grid_z,    block_x, block_y,
	                                block_z,  shared_bytes, stream, arguments, extra};
	struct fake_activity kernel = {
		.function = function,
		.grid = {grid_x, grid_y, grid_z},
		.block = {block_x, block_y, block_z},
		.shared_dynamic_bytes = shared_bytes,
	};
	struct fake_call call;

	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
	                "cuLaunchKernel", &params, function ? function->name : NULL);
	API_END(launch(stream, &kernel));
}

CUgraph fake_graph_new(void)
{
	CUgraph graph = calloc(1, sizeof(*graph));
	CUpti_GraphData data = {.graph = graph};

	graph->id = atomic_fetch_add(&last_graph, 1) + 1;
	fake_tell_resource(CUPTI_CBID_RESOURCE_GRAPH_CREATED, fake_context(), NULL, &data);
	return graph;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	const CUresult result = fake_usable();

	API_BEGIN(cuGraphCreate, graph, flags);
	if (result == CUDA_SUCCESS)
		*graph = fake_graph_new();
	API_END(result);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
	CUresult result = fake_usable();

	API_BEGIN(cuGraphAddKernelNode_v2, node, graph, dependencies, count, kernel);
	if (result == CUDA_SUCCESS && (!graph || !kernel || !kernel->func))
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		const struct fake_activity added = {
			.function = kernel->func,
			.grid = {kernel->gridDimX, kernel->gridDimY, kernel->gridDimZ},
			.block = {kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ},
			.shared_dynamic_bytes = kernel->sharedMemBytes,
		};

		*node = add_node(graph, &added);
	}
	API_END(result);
}

static CUgraphExec instantiate(CUgraph graph)
{
	CUgraphExec exec = calloc(1, sizeof(*exec));
	CUgraphNode *last = &exec->nodes;
	CUpti_GraphData data = {.originalGraph = graph, .graphExec = exec};

	exec->id = atomic_fetch_add(&last_graph, 1) + 1;
	fake_tell_resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, fake_context(), NULL,
	                   &data);
	for (CUgraphNode node = graph->nodes; node; node = node->next) {
		CUgraphNode copy = malloc(sizeof(*copy));

		*copy = *node;
		copy->next = NULL;
		copy->id = (uint64_t)exec->id << 32 | (uint32_t)node->id;
		*last = copy;
		last = &copy->next;
		data.node = copy;
		data.originalNode = node;
		data.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
		fake_tell_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, fake_context(), NULL,
		                   &data);
	}
	fake_tell_resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, fake_context(), NULL, &data);
	return exec;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	const CUresult result = graph ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphInstantiateWithFlags, exec, graph, flags);
	if (result == CUDA_SUCCESS)
		*exec = instantiate(graph);
	API_END(result);
}

/* All its kernels carry the correlation id of this one call. */
CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuGraphLaunch, exec, handle);
	result = exec ? fake_stream(handle, &stream) : CUDA_ERROR_INVALID_VALUE;
	for (CUgraphNode node = exec ? exec->nodes : NULL; node && result == CUDA_SUCCESS;
	     node = node->next) {
		struct fake_activity kernel = node->kernel;

		kernel.graph = exec->id;
		kernel.graph_node = node->id;
		run_kernel(stream, &kernel);
	}
	API_END(result);
}

static void free_nodes(CUgraphNode node)
{
	while (node) {
		CUgraphNode next = node->next;

		free(node);
		node = next;
	}
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	API_BEGIN(cuGraphExecDestroy, exec);
	if (exec) {
		free_nodes(exec->nodes);
		free(exec);
	}
	API_END(fake_usable());
}

CUresult cuGraphDestroy(CUgraph graph)
{
	API_BEGIN(cuGraphDestroy, graph);
	if (graph) {
		free_nodes(graph->nodes);
		free(graph);
	}
	API_END(fake_usable());
}
