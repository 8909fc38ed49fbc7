/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA graphs inside of CUDA graphs: a child graph with a child of its own, next to a loop and a
 * condition whose bodies hold several nodes and a child graph. Every kernel has a name of its own.
 * Usage: graph_nested [LAUNCHES]
 */
#include "samples/check.h"

#define KERNEL(name)                                                                               \
	__global__ void name(unsigned *count)                                                      \
	{                                                                                          \
		atomicAdd(count, 1);                                                               \
	}
KERNEL(at_first)
KERNEL(in_child_first)
KERNEL(in_child_last)
KERNEL(in_grandchild_first)
KERNEL(in_grandchild_last)
KERNEL(in_loop_first)
KERNEL(in_loop_child)
KERNEL(in_condition)
KERNEL(at_last)

enum { ITERATIONS = 3 };

__global__ void prepare(unsigned *left, cudaGraphConditionalHandle condition)
{
	*left = ITERATIONS;
	cudaGraphSetConditional(condition, 1);
}

__global__ void in_loop_last(unsigned *left, unsigned *count, cudaGraphConditionalHandle loop)
{
	atomicAdd(count, 1);
	cudaGraphSetConditional(loop, --*left > 0);
}

static unsigned *memory; /* counts what ran; what is left of the loop; what is filled */
static size_t host_calls;

static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t before, void *function,
                                  void **arguments)
{
	cudaKernelNodeParams params = {};
	cudaGraphNode_t node;

	params.func = function;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = arguments;
	CHECK(cudaGraphAddKernelNode(&node, graph, &before, before != NULL, &params));
	return node;
}

static cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t before, void (*kernel)(unsigned *))
{
	void *arguments[] = {&memory};

	return add_kernel(graph, before, (void *)kernel, arguments);
}

static cudaGraphNode_t add_fill(cudaGraph_t graph, cudaGraphNode_t before)
{
	cudaMemsetParams fill = {};
	cudaGraphNode_t node;

	fill.dst = memory + 2;
	fill.value = 7;
	fill.elementSize = 4;
	fill.width = fill.height = 1;
	CHECK(cudaGraphAddMemsetNode(&node, graph, &before, 1, &fill));
	return node;
}

static void count_call(void *)
{
	host_calls++;
}

static cudaGraphNode_t add_host(cudaGraph_t graph, cudaGraphNode_t before)
{
	cudaHostNodeParams host = {};
	cudaGraphNode_t node;

	host.fn = count_call;
	CHECK(cudaGraphAddHostNode(&node, graph, &before, 1, &host));
	return node;
}

static cudaGraphNode_t add_child(cudaGraph_t graph, cudaGraphNode_t before, cudaGraph_t child)
{
	cudaGraphNode_t node;

	CHECK(cudaGraphAddChildGraphNode(&node, graph, &before, 1, child));
	return node;
}

/* first, a fill, a function of the host, a graph of two, last */
static cudaGraph_t make_child(void)
{
	cudaGraph_t graph, inside;
	cudaGraphNode_t node;

	CHECK(cudaGraphCreate(&inside, 0));
	(void)add(inside, add(inside, NULL, in_grandchild_first), in_grandchild_last);
	CHECK(cudaGraphCreate(&graph, 0));
	node = add_host(graph, add_fill(graph, add(graph, NULL, in_child_first)));
	(void)add(graph, add_child(graph, node, inside), in_child_last);
	CHECK(cudaGraphDestroy(inside));
	return graph;
}

static cudaGraphNode_t add_conditional(cudaGraph_t graph, cudaGraphNode_t before,
                                       cudaGraphConditionalHandle handle,
                                       cudaGraphConditionalNodeType type, cudaGraph_t *body)
{
	cudaGraphNodeParams params = {};
	cudaGraphNode_t node;

	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = handle;
	params.conditional.type = type;
	params.conditional.size = 1;
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphAddNode(&node, graph, &before, NULL, 1, &params));
#else
	CHECK(cudaGraphAddNode(&node, graph, &before, 1, &params));
#endif
	*body = params.conditional.phGraph_out[0];
	return node;
}

static void fill_loop(cudaGraph_t body, cudaGraphConditionalHandle loop)
{
	unsigned *left = memory + 1;
	void *arguments[] = {&left, &memory, &loop};
	cudaGraphNode_t node = add(body, NULL, in_loop_first);
	cudaGraph_t inside;

	CHECK(cudaGraphCreate(&inside, 0));
	(void)add(inside, NULL, in_loop_child);
	node = add_child(body, add_fill(body, node), inside);
	(void)add_kernel(body, node, (void *)in_loop_last, arguments);
	CHECK(cudaGraphDestroy(inside));
}

static cudaGraph_t make(void)
{
	unsigned *left = memory + 1;
	cudaGraph_t graph, child, body;
	cudaGraphNode_t node;
	cudaGraphConditionalHandle loop, condition;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
	CHECK(cudaGraphConditionalHandleCreate(&condition, graph, 0, cudaGraphCondAssignDefault));

	void *arguments[] = {&left, &condition};

	node = add_kernel(graph, add(graph, NULL, at_first), (void *)prepare, arguments);
	child = make_child();
	node = add_child(graph, node, child);
	CHECK(cudaGraphDestroy(child));
	node = add_conditional(graph, node, loop, cudaGraphCondTypeWhile, &body);
	fill_loop(body, loop);
	node = add_conditional(graph, node, condition, cudaGraphCondTypeIf, &body);
	(void)add(body, NULL, in_condition);
	(void)add(graph, node, at_last);
	return graph;
}

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 10);
	const unsigned once =
		4 + 3; /* kernels that count: on top, in the child, in the condition */
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	unsigned result[3];

	CHECK(cudaMalloc((void **)&memory, sizeof(result)));
	CHECK(cudaMemset(memory, 0, sizeof(result)));
	CHECK(cudaStreamCreate(&stream));
	graph = make();
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (size_t i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemcpy(result, memory, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	printf("launches=%zu\niterations=%d\ncounted=%u\nhost_calls=%zu\n", launches, ITERATIONS,
	       result[0], host_calls);
	return result[0] != launches * (once + 3 * ITERATIONS) || result[2] != 7 ||
	       host_calls != launches;
}
