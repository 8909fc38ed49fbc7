/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose steps are NVTX ranges: two streams, an event between them, copies, a fill and two
 * of the kernels of tests/cubins/replay.cu. Says in one line of JSON where its memory is. Each step
 * leaves the same: of the 1000 elements that kernels are told of, x[i] is 2 i; y[i] is 6 i, in its
 * first half, and 3 times FILLED in its second one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "fakes/app_calls.h"
#include "fakes/fake.h"
#include "fakes/runtime.h"

#define FILLED 0x3f3f3f3fu /* the fake driver fills with its last byte: 0.747 */

enum { COUNT = 1000, ROOM = COUNT + 24, ROWS = 8, MOST_IMAGE = 8 << 20 };

static const char *how = "plain";
static uint64_t steps = 3;
static char image[MOST_IMAGE];
static CUstream streams[2];
static CUevent event;
static CUfunction scale;
static CUfunction gather;
static CUfunction reciprocal;
static CUdeviceptr x;
static CUdeviceptr y;
static CUdeviceptr table;
static float in[ROOM];
static float out[ROOM];

static int is(const char *wanted)
{
	return strcmp(how, wanted) == 0;
}

static void read_image(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file || fread(image, 1, sizeof(image) - 1, file) == 0)
		app_fail(path, errno);
	(void)fclose(file);
}

static void launch_scale(CUdeviceptr values, float by, CUstream stream)
{
	int count = COUNT;
	void *arguments[] = {&values, &by, &count};

	MUST(cuLaunchKernel, scale, 4, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
}

/* A table that the host makes in the step, of rows that nothing else in it names. */
static void gather_rows(void)
{
	static CUdeviceptr rows[ROWS];
	int row_count = ROWS;
	int count = COUNT;
	void *arguments[] = {&table, &y, &row_count, &count};

	for (int i = 0; i < ROWS && !rows[i]; i++) {
		MUST(cuMemAlloc, &rows[i], sizeof(in));
		MUST(cuMemcpyHtoD, rows[i], in, sizeof(in));
	}
	MUST(cuMemcpyHtoDAsync, table, rows, sizeof(rows), streams[0]);
	MUST(cuLaunchKernel, gather, 4, 1, 1, 256, 1, 1, 0, streams[0], arguments, NULL);
}

static void host_function(void *data)
{
	(void)data;
}

static void copy_box(void)
{
	const CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                           .srcDevice = x,
	                           .srcPitch = 512,
	                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                           .dstDevice = y,
	                           .dstPitch = 256,
	                           .WidthInBytes = 64,
	                           .Height = 4,
	                           .Depth = 1};

	MUST(cuMemcpy3DAsync, &box, streams[0]);
}

static void launch_graph(void)
{
	CUgraph graph;
	CUgraphExec executable;

	MUST(cuStreamBeginCapture, streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL);
	launch_scale(x, 2, streams[0]);
	MUST(cuStreamEndCapture, streams[0], &graph);
	MUST(cuGraphInstantiateWithFlags, &executable, graph, 0);
	MUST(cuGraphLaunch, executable, streams[0]);
}

/* An infinity of the 0 that y begins with. */
static void make_infinite(void)
{
	int count = COUNT;
	void *arguments[] = {&y, &count};

	MUST(cuLaunchKernel, reciprocal, 4, 1, 1, 256, 1, 1, 0, streams[1], arguments, NULL);
}

/* What no sequence can have, at the end of a step. */
static void do_something_else(void)
{
	CUcontext other = NULL;
	CUcontext own = NULL;
	CUdeviceptr address = 0;

	if (is("rows"))
		copy_box();
	if (is("graph"))
		launch_graph();
	if (is("function"))
		MUST(cuLaunchHostFunc, streams[0], host_function, NULL);
	if (is("free")) {
		MUST(cuMemFree, y);
		MUST(cuMemAlloc, &y, sizeof(in));
	}
	if (is("context")) {
		MUST(cuCtxGetCurrent, &own);
		MUST(cuCtxCreate, &other, NULL, 0, 0);
		MUST(cuMemAlloc, &address, sizeof(in));
		MUST(cuMemsetD8Async, address, 0, sizeof(in), NULL);
		MUST(cuCtxSetCurrent, own);
	}
	if (is("fails"))
		(void)cuMemsetD8Async(x, 0, 100 * sizeof(in), streams[0]);
}

static void copy_in(void)
{
	if (is("runtime"))
		MUST(cudaMemcpyAsync, (void *)(uintptr_t)x, in, sizeof(in), cudaMemcpyHostToDevice,
		     streams[0]);
	else
		MUST(cuMemcpyHtoDAsync, x, in, sizeof(in), streams[0]);
}

static void step(void)
{
	nvtxRangePushA("step");
	copy_in();
	launch_scale(x, 2, streams[0]);
	MUST(cuEventRecord, event, streams[0]);
	MUST(cuStreamWaitEvent, streams[1], event, 0);
	MUST(cuMemsetD32Async, y, FILLED, ROOM, streams[1]);
	MUST(cuMemcpyDtoDAsync, y, x, sizeof(in) / 2, streams[1]);
	nvtxRangePushA("inner");
	launch_scale(y, 3, streams[1]);
	nvtxRangePop();
	MUST(cuStreamSynchronize, streams[1]);
	if (is("table"))
		gather_rows();
	if (is("infinite"))
		make_infinite();
	MUST(cuMemcpyDtoH, out, y, sizeof(out));
	if (is("runtime"))
		MUST(cudaDeviceSynchronize, );
	do_something_else();
	if (!is("never"))
		nvtxRangePop();
}

int main(int argc, char **argv)
{
	CUcontext context;
	CUmodule module;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--cubin") == 0)
			read_image(argv[i + 1]);
		else if (strcmp(argv[i], "--how") == 0)
			how = argv[i + 1];
		else if (strcmp(argv[i], "--steps") == 0)
			steps = strtoull(argv[i + 1], NULL, 10);
	}
	for (int i = 0; i < ROOM; i++)
		in[i] = (float)i;
	MUST(cuInit, 0);
	if (is("runtime")) {
		MUST(cuDevicePrimaryCtxRetain, &context, 0);
		MUST(cuCtxSetCurrent, context);
	} else {
		MUST(cuCtxCreate, &context, NULL, 0, 0);
	}
	MUST(cuStreamCreateWithPriority, &streams[0], CU_STREAM_NON_BLOCKING, -1);
	MUST(cuStreamCreate, &streams[1], CU_STREAM_DEFAULT);
	MUST(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
	MUST(cuModuleLoadData, &module, image);
	MUST(cuModuleGetFunction, &scale, module, "replay_scale");
	MUST(cuModuleGetFunction, &gather, module, "replay_gather");
	MUST(cuModuleGetFunction, &reciprocal, module, "replay_reciprocal");
	MUST(cuMemAlloc, &x, sizeof(in));
	MUST(cuMemAlloc, &y, sizeof(in));
	MUST(cuMemAlloc, &table, ROWS * sizeof(table));
	for (uint64_t i = 0; i < steps; i++)
		step();
	MUST(cuCtxSynchronize, );
	printf("{\"pid\":%d,\"x\":%llu,\"y\":%llu,\"steps\":%lu,\"last\":%.9g,", (int)getpid(), x,
	       y, steps, (double)out[COUNT - 1]);
	app_print_calls();
	printf("}\n");
	return 0;
}
