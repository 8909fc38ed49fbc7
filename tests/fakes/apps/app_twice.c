/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has things twice which share a number, a name, a handle or a place, so that
 * whoever takes the wrong one of them records something else: app_twice WORD...
 *
 *     modules   two modules with functions of one name; the first is unloaded and loaded again
 *     contexts  two contexts, each with a stream, an event and memory, in turn; then the first anew
 *     events    an event that is destroyed, and one that may get its handle; waits for both
 *     streams   the same of streams
 *     graphs    graphs with an empty one inside, launched, destroyed and made again
 *     values    batches of writes and waits of 32 and 64 bits, at one address from two streams
 *     domains   ranges of one name in two domains of NVTX, around launches
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"

enum { TWICE = 2, BYTES = 4096, TIMES = 5 };

static CUcontext context;

static CUfunction function_of(CUmodule module, const char *name)
{
	CUfunction function;

	MUST(cuModuleGetFunction, &function, module, name);
	return function;
}

static CUmodule load(void)
{
	static const char image[] = "fake image"; /* any name is a function of it */
	CUmodule module;

	MUST(cuModuleLoadData, &module, image);
	return module;
}

static void launch(CUfunction function, unsigned int blocks, CUstream stream)
{
	MUST(cuLaunchKernel, function, blocks, 1, 1, 64, 1, 1, 0, stream, NULL, NULL);
}

static void modules(void)
{
	CUmodule two[TWICE] = {load(), load()};

	for (unsigned int i = 0; i < TWICE; i++) {
		launch(function_of(two[i], "same"), 1 + i, NULL);
		launch(function_of(two[i], i ? "second" : "first"), 1 + i, NULL);
	}
	MUST(cuCtxSynchronize, );
	MUST(cuModuleUnload, two[0]);
	launch(function_of(two[1], "same"), 3, NULL);
	two[0] = load();
	launch(function_of(two[0], "same"), 4, NULL);
	MUST(cuCtxSynchronize, );
	MUST(cuModuleUnload, two[1]);
	MUST(cuModuleUnload, two[0]);
}

static void work_in(CUcontext chosen, unsigned int blocks)
{
	CUmodule module;
	CUstream stream;
	CUevent event;
	CUdeviceptr memory;

	MUST(cuCtxSetCurrent, chosen);
	module = load();
	MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	MUST(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
	MUST(cuMemAlloc, &memory, BYTES * blocks);
	launch(function_of(module, "in_context"), blocks, stream);
	MUST(cuMemsetD8Async, memory, (unsigned char)blocks, BYTES, stream);
	MUST(cuEventRecord, event, stream);
	MUST(cuStreamWaitEvent, NULL, event, 0);
	launch(function_of(module, "in_context"), blocks, NULL);
	MUST(cuEventSynchronize, event);
	(void)app_counted("cuEventQuery", (int)cuEventQuery(event));
	(void)app_counted("cuStreamQuery", (int)cuStreamQuery(stream));
	MUST(cuStreamSynchronize, stream);
	MUST(cuCtxSynchronize, );
	MUST(cuMemFree, memory);
	MUST(cuEventDestroy, event);
	MUST(cuStreamDestroy, stream);
	MUST(cuModuleUnload, module);
}

static void contexts(void)
{
	int devices;
	CUcontext other;

	MUST(cuDeviceGetCount, &devices);
	MUST(cuCtxCreate, &other, NULL, 0, devices - 1);
	work_in(context, 1);
	work_in(other, 2);
	work_in(context, 3);
	MUST(cuCtxSetCurrent, other);
	MUST(cuCtxDestroy, other);
	MUST(cuCtxCreate, &other, NULL, 0, 0);
	work_in(other, 4);
	work_in(context, 5);
	MUST(cuCtxSetCurrent, context);
}

static void events(void)
{
	const CUfunction kernel = function_of(load(), "ordered");
	CUstream streams[TWICE];

	for (size_t i = 0; i < TWICE; i++)
		MUST(cuStreamCreate, &streams[i], CU_STREAM_NON_BLOCKING);
	for (unsigned int i = 0; i < TIMES; i++) {
		CUevent event;

		MUST(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
		if (i % 2)
			launch(kernel, 1 + i, streams[0]);
		MUST(cuEventRecord, event, streams[0]);
		MUST(cuStreamWaitEvent, streams[1], event, 0);
		launch(kernel, 1 + i, streams[1]);
		MUST(cuEventRecordWithFlags, event, streams[1], 0);
		MUST(cuEventSynchronize, event);
		MUST(cuEventDestroy, event);
	}
	MUST(cuCtxSynchronize, );
}

static void streams(void)
{
	const CUfunction kernel = function_of(load(), "streamed");

	for (unsigned int i = 0; i < TIMES; i++) {
		CUstream stream;

		MUST(cuStreamCreateWithPriority, &stream, i % 2 ? CU_STREAM_NON_BLOCKING : 0,
		     -(int)i);
		launch(kernel, 1 + i, stream);
		MUST(cuStreamSynchronize, stream);
		MUST(cuStreamDestroy, stream);
	}
}

static CUgraphNode add_kernel(CUgraph graph, CUfunction kernel, unsigned int blocks,
                              const CUgraphNode *after)
{
	const CUDA_KERNEL_NODE_PARAMS params = {.func = kernel,
	                                        .gridDimX = blocks,
	                                        .gridDimY = 1,
	                                        .gridDimZ = 1,
	                                        .blockDimX = 64,
	                                        .blockDimY = 1,
	                                        .blockDimZ = 1};
	CUgraphNode node;

	MUST(cuGraphAddKernelNode, &node, graph, after, after ? 1 : 0, &params);
	return node;
}

/* A kernel, an empty graph, a fill, an empty node and a kernel, one after the other. */
static CUgraph make_graph(CUfunction kernel, unsigned int blocks, CUdeviceptr memory)
{
	const CUDA_MEMSET_NODE_PARAMS fill = {
		.dst = memory, .value = blocks, .elementSize = 1, .width = BYTES, .height = 1};
	CUgraph graph, inside;
	CUgraphNode node, next;

	MUST(cuGraphCreate, &graph, 0);
	MUST(cuGraphCreate, &inside, 0);
	node = add_kernel(graph, kernel, blocks, NULL);
	MUST(cuGraphAddChildGraphNode, &next, graph, &node, 1, inside);
	MUST(cuGraphAddMemsetNode, &node, graph, &next, 1, &fill, context);
	MUST(cuGraphAddEmptyNode, &next, graph, &node, 1);
	(void)add_kernel(graph, kernel, blocks + 1, &next);
	MUST(cuGraphDestroy, inside);
	return graph;
}

static void graphs(void)
{
	const CUfunction kernel = function_of(load(), "node");
	CUdeviceptr memory;
	CUstream stream;

	MUST(cuMemAlloc, &memory, BYTES);
	MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	for (unsigned int i = 0; i < 3; i++) {
		CUgraph graph = make_graph(kernel, 1 + i, memory);
		CUgraphExec two[TWICE];

		for (size_t n = 0; n < TWICE; n++)
			MUST(cuGraphInstantiateWithFlags, &two[n], graph, 0);
		for (unsigned int n = 0; n < TIMES + i; n++) {
			MUST(cuGraphLaunch, two[n % 2], stream);
			MUST(cuGraphLaunch, two[0], stream);
		}
		MUST(cuStreamSynchronize, stream);
		for (size_t n = 0; n < TWICE; n++)
			MUST(cuGraphExecDestroy, two[n]);
		MUST(cuGraphDestroy, graph);
	}
	MUST(cuMemFree, memory);
}

static CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, CUdeviceptr address,
                                          uint64_t value)
{
	CUstreamBatchMemOpParams made;

	memset(&made, 0, sizeof(made));
	made.operation = type;
	if (type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64) {
		made.waitValue.address = address;
		made.waitValue.value64 = value;
		made.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
	} else {
		made.writeValue.address = address;
		made.writeValue.value64 = value;
	}
	return made;
}

static void values(void)
{
	const CUfunction kernel = function_of(load(), "valued");
	CUstream two[TWICE];
	CUdeviceptr memory;

	MUST(cuMemAlloc, &memory, BYTES);
	for (size_t i = 0; i < TWICE; i++)
		MUST(cuStreamCreate, &two[i], CU_STREAM_NON_BLOCKING);
	for (uint64_t i = 1; i <= 3; i++) {
		const uint64_t large = i << 40 | (4 - i);
		CUstreamBatchMemOpParams writes[] = {
			operation(CU_STREAM_MEM_OP_WRITE_VALUE_64, memory, large),
			operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, memory + 8, i),
			operation(CU_STREAM_MEM_OP_WRITE_VALUE_64, memory + 16, i << 33),
		};
		CUstreamBatchMemOpParams waits[] = {
			operation(CU_STREAM_MEM_OP_WAIT_VALUE_64, memory, large),
			operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, memory + 8, i),
		};

		launch(kernel, (unsigned int)i, two[0]);
		MUST(cuStreamBatchMemOp, two[0], 3, writes, 0);
		MUST(cuStreamBatchMemOp, two[1], 2, waits, 0);
		launch(kernel, (unsigned int)i, two[1]);
		MUST(cuStreamWriteValue64, two[1], memory + 24, large + 1, 0);
		MUST(cuStreamWaitValue64, two[0], memory + 24, large + 1, CU_STREAM_WAIT_VALUE_GEQ);
	}
	MUST(cuCtxSynchronize, );
	MUST(cuMemFree, memory);
}

static void domains(void)
{
	const CUfunction kernel = function_of(load(), "ranged");
	nvtxDomainHandle_t two[TWICE] = {nvtxDomainCreateA("one"), nvtxDomainCreateA("other")};
	nvtxEventAttributes_t step = {.version = NVTX_VERSION,
	                              .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
	                              .messageType = NVTX_MESSAGE_TYPE_ASCII,
	                              .message = {.ascii = "step"}};

	for (unsigned int i = 0; i < 3; i++) {
		nvtxDomainRangePushEx(two[0], &step);
		launch(kernel, 1 + i, NULL);
		nvtxDomainRangePushEx(two[1], &step);
		launch(kernel, 11 + i, NULL);
		nvtxDomainRangePop(two[i % 2]);
		launch(kernel, 21 + i, NULL);
		nvtxDomainRangePop(two[1 - i % 2]);
		launch(kernel, 31 + i, NULL);
	}
	MUST(cuCtxSynchronize, );
	nvtxDomainDestroy(two[0]);
	two[0] = nvtxDomainCreateA("again");
	nvtxDomainRangePushEx(two[0], &step);
	launch(kernel, 41, NULL);
	nvtxDomainRangePop(two[0]);
	MUST(cuCtxSynchronize, );
}

static void do_word(const char *word)
{
	static const struct {
		const char *word;
		void (*work)(void);
	} words[] = {{"modules", modules}, {"contexts", contexts}, {"events", events},
	             {"streams", streams}, {"graphs", graphs},     {"values", values},
	             {"domains", domains}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i].word) == 0) {
			words[i].work();
			return;
		}
	app_fail(word, 0);
}

int main(int argc, char **argv)
{
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	for (int i = 1; i < argc; i++)
		do_word(argv[i]);
	printf("{");
	app_print_calls();
	printf("}\n");
	return 0;
}
