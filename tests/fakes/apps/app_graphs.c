/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with one CUDA graph of each kind. It says in one line of JSON what it made and
 * launched: of each graph its nodes and dependencies, how it was made, how often it was launched,
 * and how often each of its kernels ran.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"

static CUcontext context;
static CUmodule module;
static CUstream stream;
static CUstream side;
static uint64_t launches = 3;
static uint64_t nodes = 4; /* of the graph that is captured, by each of two threads */
static uint64_t kernels;
static uint64_t host_calls;
static uint64_t graph_launches;

static void start(void)
{
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuModuleLoadData, &module, "fake image");
	MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	MUST(cuStreamCreate, &side, CU_STREAM_NON_BLOCKING);
}

static CUDA_KERNEL_NODE_PARAMS kernel_named(const char *name)
{
	CUDA_KERNEL_NODE_PARAMS params = {
		.gridDimX = 8,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = 64,
		.blockDimY = 1,
		.blockDimZ = 1,
	};

	MUST(cuModuleGetFunction, &params.func, module, name);
	return params;
}

static CUgraphNode add_kernel(CUgraph graph, const char *name, const CUgraphNode *before,
                              size_t count)
{
	const CUDA_KERNEL_NODE_PARAMS params = kernel_named(name);
	CUgraphNode node;

	MUST(cuGraphAddKernelNode, &node, graph, before, count, &params);
	return node;
}

static void launch_alone(const char *name, CUstream on)
{
	CUfunction function;

	MUST(cuModuleGetFunction, &function, module, name);
	MUST(cuLaunchKernel, function, 8, 1, 1, 64, 1, 1, 0, on, NULL, NULL);
}

/* Launches it and waits. each: kernels that one launch runs. */
static void launch(CUgraphExec exec, uint64_t each)
{
	for (uint64_t i = 0; i < launches; i++)
		MUST(cuGraphLaunch, exec, stream);
	MUST(cuStreamSynchronize, stream);
	kernels += launches * each;
	graph_launches += launches;
}

static CUgraphExec instantiate(CUgraph graph)
{
	CUgraphExec exec;

	MUST(cuGraphInstantiateWithFlags, &exec, graph, 0);
	return exec;
}

static void run(CUgraph graph, uint64_t each)
{
	CUgraphExec exec = instantiate(graph);

	launch(exec, each);
	MUST(cuGraphExecDestroy, exec);
}

static void *backward(void *unused)
{
	(void)unused;
	MUST(cuCtxSetCurrent, context);
	for (uint64_t i = 0; i < nodes; i++)
		launch_alone("backward", stream);
	return NULL;
}

/* Two threads capture into one stream, a second stream forks from it and comes back. */
static void captured(void)
{
	CUgraph graph;
	CUevent forked;
	CUevent joined;
	pthread_t thread;

	MUST(cuEventCreate, &forked, CU_EVENT_DISABLE_TIMING);
	MUST(cuEventCreate, &joined, CU_EVENT_DISABLE_TIMING);
	MUST(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
	for (uint64_t i = 0; i < nodes; i++)
		launch_alone("forward", stream);
	MUST(cuEventRecord, forked, stream);
	MUST(cuStreamWaitEvent, side, forked, 0);
	launch_alone("aside", side);
	MUST(cuEventRecord, joined, side);
	if (pthread_create(&thread, NULL, backward, NULL))
		app_fail("pthread_create", errno);
	(void)pthread_join(thread, NULL);
	MUST(cuStreamWaitEvent, stream, joined, 0);
	launch_alone("last", stream);
	MUST(cuStreamEndCapture, stream, &graph);
	run(graph, 2 * nodes + 2);
	for (uint64_t i = 0; i < 2; i++)
		launch_alone("forward", stream); /* the same kernel, alone */
	kernels += 2;
	MUST(cuGraphDestroy, graph);
}

static void count_call(void *unused)
{
	(void)unused;
	host_calls++;
}

/* A diamond with a fill, a function of the host and an empty node; then a clone of it. */
static void by_hand(void)
{
	const CUDA_MEMSET_NODE_PARAMS fill = {.elementSize = 1, .width = 4096, .height = 1};
	const CUDA_HOST_NODE_PARAMS host = {.fn = count_call};
	CUgraph graph;
	CUgraph clone;
	CUgraphNode first;
	CUgraphNode middle[2];
	CUgraphNode last;
	CUgraphNode node;

	MUST(cuGraphCreate, &graph, 0);
	first = add_kernel(graph, "first", NULL, 0);
	middle[0] = add_kernel(graph, "left", &first, 1);
	middle[1] = add_kernel(graph, "right", &first, 1);
	last = add_kernel(graph, "both", middle, 2);
	MUST(cuGraphAddMemsetNode, &node, graph, &last, 1, &fill, context);
	MUST(cuGraphAddHostNode, &last, graph, &node, 1, &host);
	MUST(cuGraphAddEmptyNode, &node, graph, &last, 1);
	run(graph, 4);
	MUST(cuGraphClone, &clone, graph);
	run(clone, 4);
	MUST(cuGraphDestroy, graph);
	MUST(cuGraphDestroy, clone);
}

/* Two child graphs of one graph beside each other. */
static void child(void)
{
	CUgraph inside;
	CUgraph graph;
	CUgraphNode node;
	CUgraphNode children[2];

	MUST(cuGraphCreate, &inside, 0);
	node = add_kernel(inside, "child_one", NULL, 0);
	(void)add_kernel(inside, "child_two", &node, 1);
	MUST(cuGraphCreate, &graph, 0);
	node = add_kernel(graph, "before_child", NULL, 0);
	MUST(cuGraphAddChildGraphNode, &children[0], graph, &node, 1, inside);
	MUST(cuGraphAddChildGraphNode, &children[1], graph, &node, 1, inside);
	(void)add_kernel(graph, "after_child", children, 2);
	run(graph, 6);
	MUST(cuGraphDestroy, graph);
	MUST(cuGraphDestroy, inside);
}

enum { ITERATIONS = 7 };

static void conditional(void)
{
	CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
	CUgraph graph;
	CUgraphNode before;
	CUgraphNode loop;

	MUST(cuGraphCreate, &graph, 0);
	before = add_kernel(graph, "before_loop", NULL, 0);
	MUST(cuGraphConditionalHandleCreate, &params.conditional.handle, graph, context, ITERATIONS,
	     CU_GRAPH_COND_ASSIGN_DEFAULT);
	params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
	params.conditional.size = 1;
	params.conditional.ctx = context;
	MUST(cuGraphAddNode_v2, &loop, graph, &before, NULL, 1, &params);
	(void)add_kernel(*params.conditional.phGraph_out, "body", NULL, 0);
	run(graph, 1 + ITERATIONS);
	MUST(cuGraphDestroy, graph);
}

static void expect_failure(CUgraphExec exec, CUgraph graph)
{
	CUgraphExecUpdateResultInfo info;
	const int result =
		app_counted("cuGraphExecUpdate_v2", (int)cuGraphExecUpdate(exec, graph, &info));

	if (result != (int)CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
		app_fail("cuGraphExecUpdate", result);
}

/* Updated as a whole, which then fails, then node by node; dependencies and nodes go away again. */
static void updated(void)
{
	const CUDA_KERNEL_NODE_PARAMS other = kernel_named("updated");
	CUgraphExecUpdateResultInfo info;
	CUgraph graph;
	CUgraph next;
	CUgraphNode two[2];
	CUgraphNode more;
	CUgraphExec exec;

	MUST(cuGraphCreate, &graph, 0);
	two[0] = add_kernel(graph, "old", NULL, 0);
	two[1] = add_kernel(graph, "old", &two[0], 1);
	MUST(cuGraphClone, &next, graph);
	exec = instantiate(graph);
	MUST(cuGraphUpload, exec, stream);
	launch(exec, 2);
	MUST(cuGraphExecUpdate_v2, exec, next, &info);
	more = add_kernel(next, "old", NULL, 0);
	expect_failure(exec, next);
	MUST(cuGraphExecKernelNodeSetParams_v2, exec, two[1], &other);
	launch(exec, 2);
	MUST(cuGraphRemoveDependencies_v2, graph, &two[0], &two[1], NULL, 1);
	MUST(cuGraphDestroyNode, more);
	MUST(cuGraphExecDestroy, exec);
	MUST(cuGraphDestroy, graph);
	MUST(cuGraphDestroy, next);
}

static void print_facts(void)
{
	printf("{\"pid\":%d,\"launches\":%lu,\"nodes\":%lu,\"iterations\":%d,\"host_calls\":%lu,"
	       "\"graph_launches\":%lu,\"kernel_count\":%lu,",
	       (int)getpid(), launches, nodes, ITERATIONS, host_calls, graph_launches, kernels);
	app_print_calls();
	printf("}\n");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {{"captured", captured},
	             {"by-hand", by_hand},
	             {"child", child},
	             {"conditional", conditional},
	             {"updated", updated}};
	const char *only = NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--launches") == 0 && i + 1 < argc)
			launches = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--nodes") == 0 && i + 1 < argc)
			nodes = strtoull(argv[++i], NULL, 10);
		else
			only = argv[i];
	}
	start();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!only || strcmp(only, kinds[i].name) == 0)
			kinds[i].run();
	MUST(cuCtxSynchronize, );
	print_facts();
	return 0;
}
