/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose steps, NVTX ranges, each launch a CUDA graph, whose source is destroyed as soon
 * as it was instantiated: app_graph_steps --cubin FILE [--how WHAT] [--steps N]. Says in one line
 * of JSON where its memory is and what the first elements of it are at the end. Memory i begins as
 * i + 1 in all elements.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "fakes/apps/app_calls.h"
#include "fakes/apps/captured/app_steps.h"
#include "fakes/fake.h"

enum { COUNT = 256, BRANCHES = 40 };

static CUcontext context;
static CUstream streams[2];
static CUevent events[2];
static CUfunction scale;
static CUfunction reciprocal;
static CUdeviceptr memory[BRANCHES];
static float in[COUNT];
static float out[COUNT];
static float *pinned;
static CUdeviceptr managed;
static CUgraphExec executable;
static CUgraphExec other;
static CUgraphNode nodes[4];

/* ---- graphs that are captured ---- */

static void launch_scale(CUdeviceptr values, float by, CUstream stream)
{
	int count = COUNT;
	void *arguments[] = {&values, &by, &count};

	MUST(cuLaunchKernel, scale, 1, 1, 1, COUNT, 1, 1, 0, stream, arguments, NULL);
}

/* Some of all kinds, one after the other. */
static void capture_chain(void)
{
	MUST(cuMemcpyHtoDAsync, memory[0], in, sizeof(in), streams[0]);
	launch_scale(memory[0], 2, streams[0]);
	MUST(cuMemsetD8Async, memory[1], 0, sizeof(in), streams[0]);
	MUST(cuMemcpyDtoDAsync, memory[1], memory[0], sizeof(in) / 2, streams[0]);
	MUST(cuMemcpyDtoHAsync, out, memory[1], sizeof(out), streams[0]);
}

/* One, then two beside each other, then one of both. */
static void capture_fork(void)
{
	launch_scale(memory[0], 2, streams[0]);
	MUST(cuEventRecord, events[0], streams[0]);
	MUST(cuStreamWaitEvent, streams[1], events[0], 0);
	launch_scale(memory[1], 3, streams[1]);
	launch_scale(memory[0], 5, streams[0]);
	MUST(cuEventRecord, events[1], streams[1]);
	MUST(cuStreamWaitEvent, streams[0], events[1], 0);
	launch_scale(memory[1], 7, streams[0]);
}

static CUgraph capture(void (*work)(void))
{
	CUgraph graph;

	MUST(cuStreamBeginCapture, streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL);
	work();
	MUST(cuStreamEndCapture, streams[0], &graph);
	return graph;
}

/* ---- graphs that are made by hand ---- */

struct kernel {
	CUdeviceptr values;
	float by;
	int count;
	void *arguments[3];
	CUDA_KERNEL_NODE_PARAMS asked;
};

static const CUDA_KERNEL_NODE_PARAMS *describe(struct kernel *kernel, CUdeviceptr values, float by)
{
	kernel->values = values;
	kernel->by = by;
	kernel->count = COUNT;
	kernel->arguments[0] = &kernel->values;
	kernel->arguments[1] = &kernel->by;
	kernel->arguments[2] = &kernel->count;
	kernel->asked = (CUDA_KERNEL_NODE_PARAMS){.func = scale,
	                                          .gridDimX = 1,
	                                          .gridDimY = 1,
	                                          .gridDimZ = 1,
	                                          .blockDimX = COUNT,
	                                          .blockDimY = 1,
	                                          .blockDimZ = 1,
	                                          .kernelParams = kernel->arguments};
	return &kernel->asked;
}

static CUgraphNode add_scale(CUgraph graph, const CUgraphNode *before, size_t count,
                             CUdeviceptr values, float by)
{
	struct kernel kernel;
	CUgraphNode node;

	MUST(cuGraphAddKernelNode, &node, graph, before, count, describe(&kernel, values, by));
	return node;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr target, unsigned value)
{
	return (CUDA_MEMSET_NODE_PARAMS){
		.dst = target, .value = value, .elementSize = 1, .width = sizeof(in), .height = 1};
}

static CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from)
{
	return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcDevice = from,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstDevice = to,
	                       .WidthInBytes = sizeof(in),
	                       .Height = 1,
	                       .Depth = 1};
}

/* A kernel, a fill, a copy and a kernel, one after the other. */
static CUgraph make_by_hand(float by)
{
	const CUDA_MEMSET_NODE_PARAMS fill = fill_of(memory[1], 0x40);
	const CUDA_MEMCPY3D copy = copy_of(memory[2], memory[1]);
	CUgraph graph;

	MUST(cuGraphCreate, &graph, 0);
	nodes[0] = add_scale(graph, NULL, 0, memory[0], by);
	MUST(cuGraphAddMemsetNode, &nodes[1], graph, &nodes[0], 1, &fill, context);
	MUST(cuGraphAddMemcpyNode, &nodes[2], graph, &nodes[1], 1, &copy, context);
	nodes[3] = add_scale(graph, &nodes[2], 1, memory[2], by);
	return graph;
}

/* A kernel, a graph of two that wait for nothing of each other, or of none, and a kernel. */
static CUgraph make_child(void)
{
	CUgraph graph;
	CUgraph child;

	MUST(cuGraphCreate, &child, 0);
	if (!is("hollow")) {
		(void)add_scale(child, NULL, 0, memory[1], 3);
		(void)add_scale(child, NULL, 0, memory[2], 5);
	}
	MUST(cuGraphCreate, &graph, 0);
	nodes[0] = add_scale(graph, NULL, 0, memory[1], 2);
	MUST(cuGraphAddChildGraphNode, &nodes[1], graph, &nodes[0], 1, child);
	nodes[2] = add_scale(graph, &nodes[1], 1, memory[2], 7);
	MUST(cuGraphDestroy, child);
	return graph;
}

/* Branches that all wait for one node, and one that waits for them. */
static CUgraph make_many(void)
{
	CUgraphNode branches[BRANCHES];
	CUgraph graph;

	MUST(cuGraphCreate, &graph, 0);
	nodes[0] = add_scale(graph, NULL, 0, memory[0], 2);
	for (int i = 0; i < BRANCHES; i++)
		branches[i] = add_scale(graph, nodes, 1, memory[i], 3);
	(void)add_scale(graph, branches, BRANCHES, memory[0], 5);
	return graph;
}

static CUgraph make_programmatic(void)
{
	const CUgraphEdgeData edge = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
	                              .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
	CUgraphNodeParams asked = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
	struct kernel kernel;
	CUgraph graph;

	MUST(cuGraphCreate, &graph, 0);
	nodes[0] = add_scale(graph, NULL, 0, memory[0], 2);
	(void)describe(&kernel, memory[0], 3);
	memcpy(&asked.kernel, &kernel.asked, sizeof(kernel.asked));
	MUST(cuGraphAddNode, &nodes[1], graph, nodes, &edge, 1, &asked);
	return graph;
}

/* Rows of the host's, slices of rows and a fill of some, with gaps, rows back, and a kernel. */
static CUgraph make_boxes(void)
{
	const CUDA_MEMCPY3D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                            .srcHost = in,
	                            .srcXInBytes = 4,
	                            .srcY = 1,
	                            .srcPitch = 96,
	                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                            .dstDevice = memory[0],
	                            .dstPitch = 128,
	                            .WidthInBytes = 64,
	                            .Height = 8,
	                            .Depth = 1};
	const CUDA_MEMCPY3D slices = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                              .srcDevice = memory[0],
	                              .srcXInBytes = 16,
	                              .srcPitch = 128,
	                              .srcHeight = 2,
	                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                              .dstDevice = memory[1],
	                              .dstY = 1,
	                              .dstPitch = 64,
	                              .dstHeight = 5,
	                              .WidthInBytes = 32,
	                              .Height = 2,
	                              .Depth = 3};
	const CUDA_MEMSET_NODE_PARAMS fill = {.dst = memory[2] + 32,
	                                      .pitch = 128,
	                                      .value = 0x3f,
	                                      .elementSize = 1,
	                                      .width = 64,
	                                      .height = 4};
	const CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                            .srcDevice = memory[1],
	                            .srcPitch = 128,
	                            .dstMemoryType = CU_MEMORYTYPE_HOST,
	                            .dstHost = out,
	                            .dstPitch = 80,
	                            .WidthInBytes = 64,
	                            .Height = 4,
	                            .Depth = 1};
	CUgraph graph;

	for (int i = 0; i < COUNT; i++)
		in[i] = (float)i;
	MUST(cuGraphCreate, &graph, 0);
	MUST(cuGraphAddMemcpyNode, &nodes[0], graph, NULL, 0, &rows, context);
	MUST(cuGraphAddMemcpyNode, &nodes[1], graph, &nodes[0], 1, &slices, context);
	MUST(cuGraphAddMemsetNode, &nodes[2], graph, &nodes[1], 1, &fill, context);
	MUST(cuGraphAddMemcpyNode, &nodes[3], graph, &nodes[2], 1, &back, context);
	(void)add_scale(graph, &nodes[3], 1, memory[3], 2);
	return graph;
}

/*
 * Nodes that only order others: one, and two that wait for it; or no node at all. Or the first is a
 * copy that has nothing to do with the GPU.
 */
static CUgraph make_empty(void)
{
	const CUDA_MEMCPY3D within = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                              .srcHost = in,
	                              .dstMemoryType = CU_MEMORYTYPE_HOST,
	                              .dstHost = out,
	                              .WidthInBytes = sizeof(in),
	                              .Height = 1,
	                              .Depth = 1};
	CUgraph graph;

	MUST(cuGraphCreate, &graph, 0);
	if (is("bare"))
		return graph;
	if (is("within"))
		MUST(cuGraphAddMemcpyNode, &nodes[0], graph, NULL, 0, &within, context);
	else
		MUST(cuGraphAddEmptyNode, &nodes[0], graph, NULL, 0);
	MUST(cuGraphAddEmptyNode, &nodes[1], graph, &nodes[0], 1);
	MUST(cuGraphAddEmptyNode, &nodes[2], graph, &nodes[0], 1);
	return graph;
}

/* Uses memory that the host can write as well. */
static CUgraph make_written(void)
{
	CUgraph graph;

	MUST(cuMemAllocManaged, &managed, sizeof(in), CU_MEM_ATTACH_GLOBAL);
	MUST(cuMemHostAlloc, (void **)&pinned, sizeof(in), CU_MEMHOSTALLOC_DEVICEMAP);
	for (int i = 0; i < COUNT; i++)
		pinned[i] = ((float *)(uintptr_t)managed)[i] = 1;
	MUST(cuGraphCreate, &graph, 0);
	nodes[0] = add_scale(graph, NULL, 0, managed, 2);
	nodes[1] = add_scale(graph, nodes, 1, (CUdeviceptr)(uintptr_t)pinned, 3);
	return graph;
}

/* ---- nodes that are refused ---- */

static void host_function(void *data)
{
	(void)data;
}

static void add_conditional(CUgraph graph)
{
	CUgraphNodeParams asked = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};

	MUST(cuGraphConditionalHandleCreate, &asked.conditional.handle, graph, context, 1, 0);
	asked.conditional.type = CU_GRAPH_COND_TYPE_IF;
	asked.conditional.size = 1;
	asked.conditional.ctx = context;
	MUST(cuGraphAddNode, &nodes[1], graph, nodes, NULL, 1, &asked);
}

static CUgraph make_refused(void)
{
	CUDA_MEM_ALLOC_NODE_PARAMS memory_asked = {.bytesize = 256};
	const CUDA_HOST_NODE_PARAMS host = {.fn = host_function};
	const CUlaunchAttributeValue updatable = {
		.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
	CUgraph graph;

	MUST(cuGraphCreate, &graph, 0);
	nodes[0] = add_scale(graph, NULL, 0, memory[0], 2);
	if (is("host"))
		MUST(cuGraphAddHostNode, &nodes[1], graph, nodes, 1, &host);
	if (is("alloc"))
		MUST(cuGraphAddMemAllocNode, &nodes[1], graph, nodes, 1, &memory_asked);
	if (is("conditional"))
		add_conditional(graph);
	if (is("updatable"))
		MUST(cuGraphKernelNodeSetAttribute, nodes[0],
		     CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &updatable);
	return graph;
}

/* Another copy brings back what one copy takes to the host. */
static void capture_round_trip(void)
{
	MUST(cuMemcpyDtoHAsync, out, memory[0], sizeof(out), streams[0]);
	MUST(cuMemcpyHtoDAsync, memory[1], out, sizeof(out), streams[0]);
}

/* A kernel reads what a copy takes to the host. */
static void capture_pinned(void)
{
	if (!pinned)
		MUST(cuMemHostAlloc, (void **)&pinned, sizeof(out), CU_MEMHOSTALLOC_DEVICEMAP);
	MUST(cuMemcpyDtoHAsync, pinned, memory[0], sizeof(out), streams[0]);
	launch_scale((CUdeviceptr)(uintptr_t)pinned, 2, streams[0]);
}

static CUgraph make(void)
{
	if (is("chain"))
		return capture(capture_chain);
	if (is("fork") || is("twice"))
		return capture(capture_fork);
	if (is("roundtrip"))
		return capture(capture_round_trip);
	if (is("pinned"))
		return capture(capture_pinned);
	if (is("child") || is("childchange") || is("hollow"))
		return make_child();
	if (is("many"))
		return make_many();
	if (is("programmatic"))
		return make_programmatic();
	if (is("boxes"))
		return make_boxes();
	if (is("empty") || is("bare") || is("within"))
		return make_empty();
	if (is("written"))
		return make_written();
	if (is("hand") || is("renamed") || is("update") || is("set") || is("disabled") ||
	    is("disabledkernel") || is("disabledupdate") || is("gone") || is("busy"))
		return make_by_hand(2);
	return make_refused();
}

/* ---- what becomes of an executable one ---- */

static void update(void)
{
	CUgraphExecUpdateResultInfo info;
	CUgraph graph = make_by_hand(3);

	MUST(cuGraphExecUpdate, executable, graph, &info);
	MUST(cuGraphDestroy, graph);
}

/* Other memory in each of its nodes but the last. */
static void set_nodes(void)
{
	const CUDA_MEMSET_NODE_PARAMS fill = fill_of(memory[3], 0x41);
	const CUDA_MEMCPY3D copy = copy_of(memory[2], memory[3]);
	struct kernel kernel;

	(void)describe(&kernel, memory[4], 11);
	MUST(cuGraphExecKernelNodeSetParams, executable, nodes[0], &kernel.asked);
	MUST(cuGraphExecMemsetNodeSetParams, executable, nodes[1], &fill, context);
	MUST(cuGraphExecMemcpyNodeSetParams, executable, nodes[2], &copy, context);
}

static void change_child(void)
{
	CUgraph child;

	MUST(cuGraphCreate, &child, 0);
	(void)add_scale(child, NULL, 0, memory[3], 3);
	(void)add_scale(child, NULL, 0, memory[4], 5);
	MUST(cuGraphExecChildGraphNodeSetParams, executable, nodes[1], child);
	MUST(cuGraphDestroy, child);
}

static void instantiate(void)
{
	CUgraph graph = make();

	MUST(cuGraphInstantiateWithFlags, &executable, graph, 0);
	if (is("set"))
		set_nodes();
	if (is("disabled") || is("disabledupdate"))
		MUST(cuGraphNodeSetEnabled, executable, nodes[1], 0);
	if (is("disabledkernel"))
		MUST(cuGraphNodeSetEnabled, executable, nodes[0], 0);
	if (is("childchange"))
		change_child();
	if (!is("renamed"))
		MUST(cuGraphDestroy, graph);
	if (is("update") || is("disabledupdate"))
		update();
}

/* The first of its nodes becomes a launch of another function, then of the first one again. */
static void rename_node(uint64_t number)
{
	CUDA_KERNEL_NODE_PARAMS asked;
	struct kernel kernel;

	asked = *describe(&kernel, memory[0], 2);
	if (number == 1) {
		asked.func = reciprocal;
		kernel.arguments[1] = &kernel.count;
	}
	if (number > 0)
		MUST(cuGraphExecKernelNodeSetParams, executable, nodes[0], &asked);
}

/* With work, after one that has none. */
static void launch_other(void)
{
	CUgraph graph;

	if (!other) {
		graph = make_by_hand(2);
		MUST(cuGraphInstantiateWithFlags, &other, graph, 0);
		MUST(cuGraphDestroy, graph);
	}
	MUST(cuGraphLaunch, executable, streams[1]);
	MUST(cuGraphLaunch, other, streams[0]);
}

/* Between two launches: what is to be seen before the first node of the second one. */
static void write_by_host(void)
{
	MUST(cuStreamSynchronize, streams[0]);
	((float *)(uintptr_t)managed)[5] = 100;
	pinned[7] = 50;
	MUST(cuGraphLaunch, executable, streams[1]);
}

/* Another one has the same handle, as likely as not. */
static void replace(void)
{
	MUST(cuGraphExecDestroy, executable);
	how = "programmatic";
	instantiate();
	how = "gone";
}

static void step(uint64_t number)
{
	nvtxRangePushA("step");
	if (is("renamed"))
		rename_node(number);
	if (is("busy")) /* nothing can be captured before it ends */
		launch_scale(memory[2], 2, streams[1]);
	MUST(cuGraphLaunch, executable, streams[0]);
	if (is("busy"))
		MUST(cuGraphExecDestroy, executable);
	if (is("twice")) {
		launch_scale(memory[2], 2, streams[0]);
		MUST(cuGraphLaunch, executable, streams[1]);
	}
	if (is("empty") || is("bare") || is("within"))
		launch_other();
	if (is("written"))
		write_by_host();
	MUST(cuStreamSynchronize, streams[0]);
	MUST(cuStreamSynchronize, streams[1]);
	nvtxRangePop();
}

static void make_memory(void)
{
	for (int i = 0; i < BRANCHES; i++) {
		for (int j = 0; j < COUNT; j++)
			in[j] = (float)(i + 1);
		MUST(cuMemAlloc, &memory[i], sizeof(in));
		MUST(cuMemcpyHtoD, memory[i], in, sizeof(in));
	}
}

static void print_memory(void)
{
	float first[COUNT];

	printf("{\"pid\":%d,\"memory\":[", (int)getpid());
	for (int i = 0; i < BRANCHES; i++)
		printf("%s%llu", i ? "," : "", memory[i]);
	printf("],\"values\":[");
	for (int i = 0; i < BRANCHES; i++) {
		MUST(cuMemcpyDtoH, first, memory[i], sizeof(first));
		printf("%s%.9g", i ? "," : "", (double)first[0]);
	}
	printf("],\"managed\":%llu,\"pinned\":%llu,", managed,
	       (unsigned long long)(uintptr_t)pinned);
	app_print_calls();
	printf("}\n");
}

int main(int argc, char **argv)
{
	CUmodule module;

	how = "chain";
	steps = 2;
	app_read_words(argc, argv);
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuStreamCreateWithPriority, &streams[0], CU_STREAM_NON_BLOCKING, -1);
	MUST(cuStreamCreate, &streams[1], CU_STREAM_NON_BLOCKING);
	for (int i = 0; i < 2; i++)
		MUST(cuEventCreate, &events[i], CU_EVENT_DISABLE_TIMING);
	MUST(cuModuleLoadData, &module, image);
	MUST(cuModuleGetFunction, &scale, module, "replay_scale");
	MUST(cuModuleGetFunction, &reciprocal, module, "replay_reciprocal");
	make_memory();
	instantiate();
	if (is("gone"))
		replace();
	for (uint64_t i = 0; i < steps; i++)
		step(i);
	MUST(cuCtxSynchronize, );
	print_memory();
	return 0;
}
