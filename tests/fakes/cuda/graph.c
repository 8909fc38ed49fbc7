/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/kernels.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Graphs. libcupti hears of each graph, node and dependency in the call that makes it, but never
 * what type a node has; of a clone it hears twice, that it was made and that it was cloned, but of
 * a graph inside of a node or of an executable graph only that it was made. An executable graph
 * gets a node of the driver's own. Activity has other numbers of what is inside of nodes than
 * libcupti hears, and no correlation id for what is inside of conditional ones. A launch runs the
 * nodes one after the other in the stream, in the order in which they were added. A conditional
 * node runs what is in it as often as the value that its handle was made with says, where a kernel
 * would say it.
 */

static _Atomic uint32_t last_graph;

static void tell(CUpti_CallbackIdResource id, CUpti_GraphData data)
{
	fake_tell_resource(id, fake_context(), NULL, &data);
}

static CUgraph new_graph(void)
{
	CUgraph graph = calloc(1, sizeof(*graph));

	graph->id = atomic_fetch_add(&last_graph, 1) + 1;
	return graph;
}

CUgraph fake_graph_new(void)
{
	CUgraph graph = new_graph();

	tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, (CUpti_GraphData){.graph = graph});
	return graph;
}

static CUgraphNode add_node(CUgraph graph, const struct CUgraphNode_st *node)
{
	CUgraphNode added = malloc(sizeof(*added));
	CUgraphNode *last = &graph->nodes;

	*added = *node;
	added->next = NULL;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	added->id = (uint64_t)graph->id << 32 | graph->node_count++;
	while (*last)
		last = &(*last)->next;
	*last = added;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
	     (CUpti_GraphData){.graph = graph, .node = added});
	return added;
}

/* Memory of its own: what the call named is the caller's. */
static void keep_before(CUgraphNode node, const CUgraphNode *before, const CUgraphEdgeData *edges,
                        size_t count)
{
	node->before = calloc(count + 1, sizeof(*node->before));
	node->edges = calloc(count + 1, sizeof(*node->edges));
	node->before_count = count;
	for (size_t i = 0; i < count; i++) {
		node->before[i] = before[i];
		if (edges)
			node->edges[i] = edges[i];
	}
}

/* The second of a pair is the one that waits for the first. */
static void tell_dependencies(CUpti_CallbackIdResource id, CUgraph graph, CUgraphNode node,
                              const CUgraphNode *before, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tell(id, (CUpti_GraphData){.graph = graph, .node = before[i], .dependency = node});
}

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                    const struct CUgraphNode_st *added)
{
	const CUresult result = fake_usable();

	if (result != CUDA_SUCCESS)
		return result;
	if (!node || !graph || (count && !before))
		return CUDA_ERROR_INVALID_VALUE;
	*node = add_node(graph, added);
	keep_before(*node, before, added->edges, count);
	tell_dependencies(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, graph, *node, before,
	                  count);
	return CUDA_SUCCESS;
}

void fake_frontier_join(struct fake_frontier *frontier, const struct fake_frontier *other)
{
	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (uint32_t i = 0; i < other->count; i++) {
		uint32_t at = 0;

		while (at < frontier->count && frontier->nodes[at] != other->nodes[i])
			at++;
		if (at == sizeof(frontier->nodes) / sizeof(frontier->nodes[0]))
			fake_die("a stream of a capture waits for too many others");
		if (at == frontier->count)
			frontier->nodes[frontier->count++] = other->nodes[i];
	}
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

static void capture(CUgraph graph, CUstream stream, const struct CUgraphNode_st *added)
{
	CUgraphNode node = NULL;

	(void)add(&node, graph, stream->frontier.nodes, stream->frontier.count, added);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	stream->frontier = (struct fake_frontier){.nodes = {node}, .count = 1};
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

void fake_graph_capture(CUgraph graph, CUstream stream, const struct fake_activity *kernel)
{
	capture(graph, stream,
	        &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_KERNEL, .work = *kernel});
}

void fake_graph_capture_work(CUgraph graph, CUstream stream, CUgraphNodeType type,
                             const struct fake_activity *work)
{
	capture(graph, stream, &(struct CUgraphNode_st){.type = type, .work = *work});
}

void fake_graph_capture_memory(CUgraph graph, CUstream stream, CUgraphNodeType type)
{
	capture(graph, stream, &(struct CUgraphNode_st){.type = type});
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	const CUresult result = fake_usable();

	API_BEGIN(cuGraphCreate, graph, flags);
	if (result == CUDA_SUCCESS)
		*graph = fake_graph_new();
	API_END(result);
}

static struct fake_activity work_of_kernel(const CUDA_KERNEL_NODE_PARAMS *kernel)
{
	struct fake_activity work = {
		.function = fake_function(kernel->func ? kernel->func : (CUfunction)kernel->kern),
		.grid = {kernel->gridDimX, kernel->gridDimY, kernel->gridDimZ},
		.block = {kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ},
		.shared_dynamic_bytes = kernel->sharedMemBytes,
	};

	(void)fake_take_parameters(&work, kernel->kernelParams, kernel->extra);
	return work;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphAddKernelNode_v2, node, graph, dependencies, count, kernel);
	if (kernel && kernel->func)
		result = add(node, graph, dependencies, count,
		             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_KERNEL,
		                                      .work = work_of_kernel(kernel)});
	API_END(result);
}

/* Memory that is not the device's is left alone. */
static struct fake_activity work_of_fill(const CUDA_MEMSET_NODE_PARAMS *fill)
{
	const size_t height = fill->height ? fill->height : 1;
	const size_t width = fill->width * fill->elementSize;
	const size_t bytes = width * height;
	const size_t span = (height - 1) * fill->pitch + width;
	void *target = (void *)(uintptr_t)fill->dst;

	return (struct fake_activity){
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.dst_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		.bytes = bytes,
		.value = fill->value,
		.async = 1,
		.target = fake_kind_of(target, span) == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE ? target
	                                                                                  : NULL,
		.rows = height > 1 ? (struct fake_rows){.rows = height,
	                                                .slices = 1,
	                                                .target_pitch = fill->pitch}
	                           : (struct fake_rows){0},
	};
}

static struct fake_activity work_of_copy(const CUDA_MEMCPY3D *copy)
{
	const bool from_host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;
	const bool to_host = copy->dstMemoryType == CU_MEMORYTYPE_HOST;
	const size_t source_slice = copy->srcPitch * copy->srcHeight;
	const size_t target_slice = copy->dstPitch * copy->dstHeight;
	const uintptr_t source = from_host ? (uintptr_t)copy->srcHost : copy->srcDevice;
	const uintptr_t target = to_host ? (uintptr_t)copy->dstHost : copy->dstDevice;

	return (struct fake_activity){
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copy_kind = from_host && to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH
	                     : from_host          ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
	                     : to_host            ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
	                                          : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
		.bytes = copy->WidthInBytes * copy->Height * copy->Depth,
		.async = 1,
		.source = (void *)(source + copy->srcZ * source_slice +
	                           copy->srcY * copy->srcPitch + copy->srcXInBytes),
		.target = (void *)(target + copy->dstZ * target_slice +
	                           copy->dstY * copy->dstPitch + copy->dstXInBytes),
		.rows = {copy->Height, copy->Depth, copy->dstPitch, copy->srcPitch, target_slice,
	                 source_slice},
	};
}

/* Arrays are not copied. */
CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_MEMCPY3D *copy, CUcontext context)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphAddMemcpyNode, node, graph, dependencies, count, copy, context);
	if (copy && copy->srcMemoryType != CU_MEMORYTYPE_ARRAY &&
	    copy->dstMemoryType != CU_MEMORYTYPE_ARRAY &&
	    copy->WidthInBytes * copy->Height * copy->Depth > 0)
		result = add(node, graph, dependencies, count,
		             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEMCPY,
		                                      .work = work_of_copy(copy)});
	API_END(result);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphAddMemsetNode, node, graph, dependencies, count, fill, context);
	if (fill)
		result = add(node, graph, dependencies, count,
		             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEMSET,
		                                      .work = work_of_fill(fill)});
	API_END(result);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                            size_t count, const CUDA_HOST_NODE_PARAMS *host)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphAddHostNode, node, graph, dependencies, count, host);
	if (host && host->fn)
		result = add(node, graph, dependencies, count,
		             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_HOST,
		                                      .function = host->fn,
		                                      .data = host->userData});
	API_END(result);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                             size_t count)
{
	API_BEGIN(cuGraphAddEmptyNode, node, graph, dependencies, count);
	API_END(add(node, graph, dependencies, count,
	            &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_EMPTY}));
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *asked)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphAddMemAllocNode, node, graph, dependencies, count, asked);
	if (asked && asked->bytesize) {
		asked->dptr = fake_graph_address(asked->bytesize);
		result = add(node, graph, dependencies, count,
		             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC});
	}
	API_END(result);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, CUdeviceptr address)
{
	API_BEGIN(cuGraphAddMemFreeNode, node, graph, dependencies, count, address);
	API_END(address ? add(node, graph, dependencies, count,
	                      &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEM_FREE})
	                : CUDA_ERROR_INVALID_VALUE);
}

/* ---- copies of graphs ---- */

/* The copy of a node in the graph that it was copied into. */
static CUgraphNode copy_of(CUgraph graph, CUgraphNode node)
{
	CUgraphNode copy = graph->nodes;

	while (copy && copy->original != node)
		copy = copy->next;
	return copy;
}

static void copy_before(CUgraph to, CUgraph from)
{
	for (CUgraphNode node = from->nodes; node; node = node->next) {
		CUgraphNode copy = copy_of(to, node);

		keep_before(copy, node->before, node->edges, node->before_count);
		for (size_t i = 0; i < copy->before_count; i++)
			copy->before[i] = copy_of(to, node->before[i]);
	}
}

/* Nodes of a graph, into another; libcupti hears that each node was made and cloned. */
static void copy_nodes(CUgraph to, CUgraph from)
{
	for (CUgraphNode node = from->nodes; node; node = node->next) {
		struct CUgraphNode_st made = *node;
		CUgraphNode copy;

		made.original = node;
		if (node->inside) {
			made.inside = new_graph();
			tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED,
			     (CUpti_GraphData){.graph = made.inside});
			copy_nodes(made.inside, node->inside);
		}
		copy = add_node(to, &made);
		tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, (CUpti_GraphData){.graph = to,
		                                                             .originalGraph = from,
		                                                             .node = copy,
		                                                             .originalNode = node});
	}
	copy_before(to, from);
}

static CUgraph clone_graph(CUgraph from, bool is_told)
{
	CUgraph graph = fake_graph_new();

	if (is_told)
		tell(CUPTI_CBID_RESOURCE_GRAPH_CLONED,
		     (CUpti_GraphData){.graph = graph, .originalGraph = from});
	copy_nodes(graph, from);
	return graph;
}

CUresult cuGraphClone(CUgraph *copy, CUgraph graph)
{
	const CUresult result = graph ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphClone, copy, graph);
	if (result == CUDA_SUCCESS)
		*copy = clone_graph(graph, true);
	API_END(result);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t count, CUgraph child)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphAddChildGraphNode, node, graph, dependencies, count, child);
	if (child)
		result = add(node, graph, dependencies, count,
		             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_GRAPH,
		                                      .inside = clone_graph(child, false),
		                                      .times = 1});
	API_END(result);
}

/* The handle is the number of times itself. */
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                        CUcontext context, unsigned int value, unsigned int flags)
{
	const CUresult result = handle && graph ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphConditionalHandleCreate, handle, graph, context, value, flags);
	if (result == CUDA_SUCCESS)
		*handle = value;
	API_END(result);
}

/* The others have calls of their own, and kernels both. */
static CUresult add_conditional(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUgraphNodeParams *asked)
{
	CUresult result;

	if (!asked || asked->type != CU_GRAPH_NODE_TYPE_CONDITIONAL || asked->conditional.size != 1)
		return CUDA_ERROR_INVALID_VALUE;
	result = add(node, graph, dependencies, count,
	             &(struct CUgraphNode_st){.type = asked->type,
	                                      .inside = fake_graph_new(),
	                                      .times = asked->conditional.handle});
	if (result == CUDA_SUCCESS)
		asked->conditional.phGraph_out = &(*node)->inside;
	return result;
}

static CUresult add_kernel(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *edges, size_t count,
                           const CUgraphNodeParams *asked)
{
	CUDA_KERNEL_NODE_PARAMS kernel;

	_Static_assert(sizeof(kernel) == sizeof(asked->kernel), "both have the same members");
	memcpy(&kernel, &asked->kernel, sizeof(kernel));
	return add(node, graph, dependencies, count,
	           &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_KERNEL,
	                                    .work = work_of_kernel(&kernel),
	                                    .edges = (CUgraphEdgeData *)edges});
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *asked)
{
	CUresult result;

	API_BEGIN(cuGraphAddNode_v2, node, graph, dependencies, edges, count, asked);
	if (asked && asked->type == CU_GRAPH_NODE_TYPE_KERNEL)
		result = add_kernel(node, graph, dependencies, edges, count, asked);
	else
		result = add_conditional(node, graph, dependencies, count, asked);
	API_END(result);
}

/* ---- changes of graphs ---- */

static void remove_before(CUgraphNode node, const struct CUgraphNode_st *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->before_count; i++)
		if (node->before[i] != before) {
			node->before[kept] = node->before[i];
			node->edges[kept++] = node->edges[i];
		}
	node->before_count = kept;
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *edges, size_t count)
{
	const CUresult result = graph ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphRemoveDependencies_v2, graph, from, to, edges, count);
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
		tell_dependencies(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING, graph,
		                  to[i], &from[i], 1);
		remove_before(to[i], from[i]);
	}
	API_END(result);
}

/* Its memory stays, and it runs no more. */
CUresult cuGraphDestroyNode(CUgraphNode node)
{
	const CUresult result = node ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphDestroyNode, node);
	if (result == CUDA_SUCCESS) {
		tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
		     (CUpti_GraphData){.node = node});
		node->type = CU_GRAPH_NODE_TYPE_EMPTY;
	}
	API_END(result);
}

/* ---- executable graphs ---- */

/* All nodes of a graph in a row, then for each what is inside of it. Returns the number after them.
 */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the program's graphs */
static uint64_t number_inside(CUgraph graph, uint64_t next)
{
	for (CUgraphNode node = graph->nodes; node; node = node->next)
		node->number = next++;
	for (CUgraphNode node = graph->nodes; node; node = node->next)
		if (node->inside)
			next = number_inside(node->inside, next);
	return next;
}

static CUgraphExec instantiate(CUgraph graph)
{
	CUgraphExec exec = calloc(1, sizeof(*exec));

	exec->inside = new_graph();
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, (CUpti_GraphData){.graph = graph});
	tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, (CUpti_GraphData){.graph = exec->inside});
	copy_nodes(exec->inside, graph);
	exec->inside->node_count =
		(uint32_t)number_inside(exec->inside, (uint64_t)exec->inside->id << 32);
	(void)add_node(exec->inside, &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_EMPTY});
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
	     (CUpti_GraphData){.graph = graph, .graphExec = exec});
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

CUresult cuGraphUpload(CUgraphExec exec, CUstream handle)
{
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuGraphUpload, exec, handle);
	result = exec ? fake_stream(handle, &stream) : CUDA_ERROR_INVALID_VALUE;
	API_END(result);
}

/* The driver's own node, the last one of what is executable, is no copy. */
static int have_one_topology(CUgraphNode executable, CUgraphNode node)
{
	for (; executable && executable->original; executable = executable->next) {
		if (!node || executable->type != node->type)
			return 0;
		node = node->next;
	}
	return !node;
}

static CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	CUgraphNode from = graph->nodes;

	if (!have_one_topology(exec->inside->nodes, graph->nodes)) {
		info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	for (CUgraphNode node = exec->inside->nodes; from; node = node->next, from = from->next) {
		node->work = from->work;
		tell(CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED,
		     (CUpti_GraphData){.graph = graph,
		                       .graphExec = exec,
		                       .node = node,
		                       .originalNode = from});
	}
	info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
	return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	CUresult result = exec && graph && info ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphExecUpdate_v2, exec, graph, info);
	if (result == CUDA_SUCCESS)
		result = update(exec, graph, info);
	API_END(result);
}

/* Also of what is inside of nodes. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the program's graphs */
static CUgraphNode own_node(CUgraph graph, CUgraphNode node)
{
	CUgraphNode own = copy_of(graph, node);

	for (CUgraphNode at = graph->nodes; at && !own; at = at->next)
		if (at->inside)
			own = own_node(at->inside, node);
	return own;
}

static CUgraphNode find_own(CUgraphExec exec, CUgraphNode node)
{
	return exec && node ? own_node(exec->inside, node) : NULL;
}

static CUresult set_work(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                         const struct fake_activity *work)
{
	CUgraphNode own = find_own(exec, node);
	const CUresult result = own && own->type == type ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	if (result != CUDA_SUCCESS)
		return result;
	own->work = *work;
	tell(CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS,
	     (CUpti_GraphData){.graphExec = exec, .node = own});
	return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *kernel)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphExecKernelNodeSetParams_v2, exec, node, kernel);
	if (kernel) {
		const struct fake_activity work = work_of_kernel(kernel);

		result = set_work(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, &work);
	}
	API_END(result);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphExecMemsetNodeSetParams, exec, node, fill, context);
	if (fill) {
		const struct fake_activity work = work_of_fill(fill);

		result = set_work(exec, node, CU_GRAPH_NODE_TYPE_MEMSET, &work);
	}
	API_END(result);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *copy, CUcontext context)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphExecMemcpyNodeSetParams, exec, node, copy, context);
	if (copy) {
		const struct fake_activity work = work_of_copy(copy);

		result = set_work(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, &work);
	}
	API_END(result);
}

/* The graph inside of the node is as the other one from now on: its work alone. */
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph graph)
{
	CUgraphNode own = find_own(exec, node);
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphExecChildGraphNodeSetParams, exec, node, graph);
	if (own && own->inside && graph) {
		CUgraphNode from = graph->nodes;

		for (CUgraphNode at = own->inside->nodes; at && from; at = at->next) {
			at->work = from->work;
			from = from->next;
		}
		result = fake_usable();
	}
	API_END(result);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
	CUgraphNode own = find_own(exec, node);
	const CUresult result = own ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuGraphNodeSetEnabled, exec, node, enabled);
	if (result == CUDA_SUCCESS)
		own->disabled = !enabled;
	API_END(result);
}

/* A fill that was not captured is not made. */
static void run_fill(CUstream stream, struct fake_activity *fill)
{
	if (fill->target)
		fake_make(fill);
	fake_queue(stream, fake_cuda.script.launch_ns, fake_cuda.script.kernel_ns / 2, fill);
	fake_tell(fill);
}

static void run_copy(CUstream stream, struct fake_activity *copy)
{
	fake_make(copy);
	fake_queue(stream, fake_cuda.script.launch_ns, fake_copy_ns(copy), copy);
	fake_tell(copy);
}

static void widen(struct fake_activity *whole, const struct fake_activity *work)
{
	if (!work->end_ns)
		return; /* it takes no time on the GPU */
	if (!whole->start_ns || work->start_ns < whole->start_ns)
		whole->start_ns = work->start_ns;
	if (work->end_ns > whole->end_ns)
		whole->end_ns = work->end_ns;
	whole->context = work->context;
	whole->stream = work->stream;
}

/* whole->graph: of the executable one */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the program's graphs */
static void run_nodes(CUstream stream, CUgraph graph, struct fake_activity *whole, bool is_body)
{
	for (CUgraphNode node = graph->nodes; node; node = node->next) {
		struct fake_activity work = node->work;

		if (node->disabled)
			continue;
		work.graph = whole->graph;
		work.graph_node = node->number;
		work.is_uncorrelated = is_body;
		if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
			fake_run_kernel(stream, &work);
		else if (node->type == CU_GRAPH_NODE_TYPE_MEMSET)
			run_fill(stream, &work);
		else if (node->type == CU_GRAPH_NODE_TYPE_MEMCPY)
			run_copy(stream, &work);
		else if (node->type == CU_GRAPH_NODE_TYPE_HOST)
			node->function(node->data);
		widen(whole, &work);
		for (uint64_t i = 0; node->inside && i < node->times; i++)
			run_nodes(stream, node->inside, whole,
			          is_body || node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
	}
}

/* A launch is given to the GPU at once, however long the host takes to queue its nodes. */
static void give(CUstream stream, uint64_t given_ns)
{
	(void)pthread_mutex_lock(&fake_cuda.lock);
	stream->given_ns = given_ns;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

/* All its work but that of bodies carries the correlation id of this one call. */
CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuGraphLaunch, exec, handle);
	result = exec ? fake_stream(handle, &stream) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		struct fake_activity whole = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
		                              .graph = exec->inside->id};

		give(stream, fake_realtime_ns());
		run_nodes(stream, exec->inside, &whole, false);
		give(stream, 0);
		if (whole.end_ns)
			fake_tell(&whole);
	}
	API_END(result);
}

static void free_graph(CUgraph graph)
{
	CUgraphNode node = graph->nodes;

	while (node) {
		CUgraphNode next = node->next;

		if (node->inside)
			free_graph(node->inside);
		free(node->before);
		free(node->edges);
		free(node);
		node = next;
	}
	free(graph);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	API_BEGIN(cuGraphExecDestroy, exec);
	if (exec) {
		tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
		     (CUpti_GraphData){.graphExec = exec});
		free_graph(exec->inside);
		free(exec);
	}
	API_END(fake_usable());
}

CUresult cuGraphDestroy(CUgraph graph)
{
	API_BEGIN(cuGraphDestroy, graph);
	if (graph) {
		tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, (CUpti_GraphData){.graph = graph});
		for (CUgraphNode node = graph->nodes; node; node = node->next)
			tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
			     (CUpti_GraphData){.graph = graph, .node = node});
		free_graph(graph);
	}
	API_END(fake_usable());
}
