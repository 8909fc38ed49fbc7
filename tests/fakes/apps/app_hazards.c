/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with two streams that use the same memory: a fill on one and a copy of it on the other,
 * a copy and a fill after it, and memory of a pool that the first frees while the second copies it.
 * It says in one line of JSON how often each was asked for.
 *
 *   app_hazards ROUNDS [ordered]         with events that keep the order
 *   app_hazards ROUNDS more [ordered]    instead a copy in three dimensions, a batch of copies and
 *                                        a graph with two fills; ordered: they depend on each other
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

enum { BYTES = 4096 };

static CUstream writer;
static CUstream reader;
static CUevent event;
static int ordered;

static void keep_order(CUstream before, CUstream after)
{
	if (!ordered)
		return;
	MUST(cuEventRecord, event, before);
	MUST(cuStreamWaitEvent, after, event, 0);
}

static void finish(void)
{
	MUST(cuStreamSynchronize, writer);
	MUST(cuStreamSynchronize, reader);
}

static void use_memory(CUdeviceptr memory, CUdeviceptr results)
{
	MUST(cuMemsetD8Async, memory, 1, BYTES, writer);
	keep_order(writer, reader);
	MUST(cuMemcpyDtoDAsync, results, memory, BYTES, reader);
	finish();
	MUST(cuMemcpyDtoDAsync, results, memory, BYTES, reader);
	keep_order(reader, writer);
	MUST(cuMemsetD8Async, memory, 2, BYTES, writer);
	finish();
}

static void use_pool(CUdeviceptr results)
{
	CUdeviceptr block = 0;

	MUST(cuMemAllocAsync, &block, BYTES, writer);
	MUST(cuMemsetD8Async, block, 3, BYTES, writer);
	MUST(cuStreamSynchronize, writer);
	MUST(cuMemcpyDtoDAsync, results, block, BYTES, reader);
	keep_order(reader, writer);
	MUST(cuMemFreeAsync, block, writer);
	finish();
}

/* A box of the first half, row by row, and a batch of both halves, while the other stream fills. */
static void copy_more(CUdeviceptr memory, CUdeviceptr results)
{
	CUdeviceptr from[] = {memory, memory + BYTES / 2};
	CUdeviceptr to[] = {results, results + BYTES / 2};
	size_t sizes[] = {BYTES / 2, BYTES / 2};
	const CUDA_MEMCPY3D box = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = memory,
		.srcPitch = 64,
		.srcHeight = 8,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = results,
		.dstPitch = 32,
		.dstHeight = 4,
		.WidthInBytes = 32,
		.Height = 4,
		.Depth = 4,
	};

	MUST(cuMemcpy3DAsync, &box, reader);
	keep_order(reader, writer);
	MUST(cuMemsetD8Async, memory, 1, BYTES, writer);
	finish();
	MUST(cuMemcpyBatchAsync, to, from, sizes, 2, NULL, NULL, 0, reader);
	keep_order(reader, writer);
	MUST(cuMemsetD8Async, memory + BYTES - 16, 1, 16, writer);
	finish();
}

/* Two fills of the same bytes, that are launched as one graph. */
static CUgraphExec make_graph(CUcontext context, CUdeviceptr memory)
{
	const CUDA_MEMSET_NODE_PARAMS fill = {
		.dst = memory, .elementSize = 1, .width = BYTES, .height = 1};
	CUgraphExec exec = NULL;
	CUgraphNode first = NULL;
	CUgraphNode second = NULL;
	CUgraph graph = NULL;

	MUST(cuGraphCreate, &graph, 0);
	MUST(cuGraphAddMemsetNode, &first, graph, NULL, 0, &fill, context);
	MUST(cuGraphAddMemsetNode, &second, graph, &first, ordered, &fill, context);
	MUST(cuGraphInstantiate, &exec, graph, 0);
	return exec;
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	const int more = argc > 2 && strcmp(argv[2], "more") == 0;
	CUgraphExec exec = NULL;
	CUdeviceptr memory = 0;
	CUdeviceptr results = 0;
	CUcontext context;

	ordered = argc > 2 + more;
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuStreamCreate, &writer, CU_STREAM_NON_BLOCKING);
	MUST(cuStreamCreate, &reader, CU_STREAM_NON_BLOCKING);
	MUST(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
	MUST(cuMemAlloc, &memory, BYTES);
	MUST(cuMemAlloc, &results, BYTES);
	if (more)
		exec = make_graph(context, memory);
	for (long i = 0; i < rounds; i++) {
		if (more) {
			copy_more(memory, results);
			MUST(cuGraphLaunch, exec, writer);
			finish();
			continue;
		}
		use_memory(memory, results);
		use_pool(results);
	}
	MUST(cuMemFree, results);
	MUST(cuMemFree, memory);
	printf("{\"rounds\": %ld, ", rounds);
	app_print_calls();
	printf("}\n");
	return 0;
}
