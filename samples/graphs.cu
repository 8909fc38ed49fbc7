/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA graphs built by hand: a diamond of kernels with a fill, a copy, a function of the host, an
 * empty node, an allocation and its free; a clone of it; a graph with two child graphs; one that is
 * updated as a whole, fails to be, and is changed node by node. Usage: graphs [LAUNCHES]
 */
#include "samples/check.h"

__global__ void step(unsigned *count, unsigned by)
{
	atomicAdd(count, by);
}

__global__ void child(unsigned *count)
{
	atomicAdd(count, 1);
}

static cudaStream_t stream;
static unsigned *counts; /* of steps, of children, what is filled, what is copied */
static size_t launches;
static size_t host_calls;
static size_t steps, children; /* kernels that run */
static size_t graph_launches;

static cudaGraphNode_t add_step(cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                unsigned by)
{
	void *arguments[] = {&counts, &by};
	cudaKernelNodeParams params = {};
	cudaGraphNode_t node;

	params.func = (void *)step;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = arguments;
	CHECK(cudaGraphAddKernelNode(&node, graph, before, count, &params));
	return node;
}

static cudaGraphNode_t add_child(cudaGraph_t graph, const cudaGraphNode_t *before, size_t count)
{
	unsigned *where = counts + 1;
	void *arguments[] = {&where};
	cudaKernelNodeParams params = {};
	cudaGraphNode_t node;

	params.func = (void *)child;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = arguments;
	CHECK(cudaGraphAddKernelNode(&node, graph, before, count, &params));
	return node;
}

static void count_call(void *)
{
	host_calls++;
}

static void launch(cudaGraphExec_t exec, size_t steps_of_one, size_t children_of_one)
{
	for (size_t i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	graph_launches += launches;
	steps += launches * steps_of_one;
	children += launches * children_of_one;
}

static void run(cudaGraph_t graph, size_t steps_of_one, size_t children_of_one)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphUpload(exec, stream));
	launch(exec, steps_of_one, children_of_one);
	CHECK(cudaGraphExecDestroy(exec));
}

static cudaGraphNode_t add_memory(cudaGraph_t graph, cudaGraphNode_t before)
{
	cudaMemAllocNodeParams allocation = {};
	cudaGraphNode_t node;

	allocation.poolProps.allocType = cudaMemAllocationTypePinned;
	allocation.poolProps.location.type = cudaMemLocationTypeDevice;
	allocation.bytesize = 1 << 20;
	CHECK(cudaGraphAddMemAllocNode(&node, graph, &before, 1, &allocation));
	CHECK(cudaGraphAddMemFreeNode(&node, graph, &node, 1, allocation.dptr));
	return node;
}

/* Twelve nodes, of which six run on the GPU and are seen. */
static void diamond(void)
{
	cudaMemsetParams fill = {};
	cudaHostNodeParams host = {};
	cudaGraph_t graph, clone;
	cudaGraphNode_t first, middle[2], last, node;

	CHECK(cudaGraphCreate(&graph, 0));
	first = add_step(graph, NULL, 0, 1);
	middle[0] = add_step(graph, &first, 1, 1);
	middle[1] = add_step(graph, &first, 1, 1);
	last = add_step(graph, middle, 2, 1);
	fill.dst = counts + 2;
	fill.value = 7;
	fill.elementSize = 4;
	fill.width = fill.height = 1;
	CHECK(cudaGraphAddMemsetNode(&node, graph, &last, 1, &fill));
	CHECK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, counts + 3, counts + 2, 4,
	                               cudaMemcpyDeviceToDevice));
	host.fn = count_call;
	CHECK(cudaGraphAddHostNode(&node, graph, &node, 1, &host));
	CHECK(cudaGraphAddEmptyNode(&node, graph, &node, 1));
	CHECK(cudaGraphClone(&clone, graph)); /* what allocates cannot be cloned */
	node = add_memory(graph, node);
	run(graph, 4, 0);
	run(clone, 4, 0);
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(clone));
}

static void with_children(void)
{
	cudaGraph_t inside, graph;
	cudaGraphNode_t node, both[2];

	CHECK(cudaGraphCreate(&inside, 0));
	node = add_child(inside, NULL, 0);
	(void)add_child(inside, &node, 1);
	CHECK(cudaGraphCreate(&graph, 0));
	node = add_step(graph, NULL, 0, 1);
	CHECK(cudaGraphAddChildGraphNode(&both[0], graph, &node, 1, inside));
	CHECK(cudaGraphAddChildGraphNode(&both[1], graph, &node, 1, inside));
	(void)add_step(graph, both, 2, 1);
	run(graph, 2, 4);
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(inside));
}

static void updated(void)
{
	unsigned by = 1;
	void *arguments[] = {&counts, &by};
	cudaKernelNodeParams params = {};
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph, next;
	cudaGraphNode_t two[2];
	cudaGraphExec_t exec;

	CHECK(cudaGraphCreate(&graph, 0));
	two[0] = add_step(graph, NULL, 0, 1);
	two[1] = add_step(graph, &two[0], 1, 1);
	CHECK(cudaGraphClone(&next, graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	launch(exec, 2, 0);
	CHECK(cudaGraphExecUpdate(exec, next, &info));
	(void)add_step(next, NULL, 0, 1);
	if (cudaGraphExecUpdate(exec, next, &info) != cudaErrorGraphExecUpdateFailure) {
		fprintf(stderr, "graphs: an update that cannot be made is made\n");
		exit(1);
	}
	(void)cudaGetLastError();
	params.func = (void *)step;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = arguments;
	CHECK(cudaGraphExecKernelNodeSetParams(exec, two[1], &params));
	launch(exec, 2, 0);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(next));
}

int main(int argc, char **argv)
{
	unsigned result[4];

	launches = argument(argc, argv, 1, 10);
	CHECK(cudaMalloc((void **)&counts, sizeof(result)));
	CHECK(cudaMemset(counts, 0, sizeof(result)));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaDeviceSynchronize());
	diamond();
	with_children();
	updated();
	CHECK(cudaMemcpy(result, counts, sizeof(result), cudaMemcpyDeviceToHost));
	printf("launches=%zu\ngraph_launches=%zu\nsteps=%u\nchildren=%u\nhost_calls=%zu\n",
	       launches, graph_launches, result[0], result[1], host_calls);
	return result[0] != steps || result[1] != children || result[2] != 7 || result[3] != 7 ||
	       host_calls != 2 * launches;
}
