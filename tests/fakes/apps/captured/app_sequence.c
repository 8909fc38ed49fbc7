/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose steps are NVTX ranges: two streams, an event between them, copies, a fill and two
 * of the kernels of tests/cubins/replay.cu. Says in one line of JSON where its memory is. Each step
 * leaves the same: of the 1000 elements that kernels are told of, x[i] is 2 i; y[i] is 6 i, in its
 * first half, and 3 times FILLED in its second one.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "fakes/apps/app_calls.h"
#include "fakes/apps/captured/app_steps.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

#define FILLED 0x3f3f3f3fu /* the fake driver fills with its last byte: 0.747 */

enum { COUNT = 1000, ROOM = COUNT + 24, ROWS = 8 };

static CUstream streams[2];
static CUevent event;
static CUmodule module;
static CUmodule second; /* the same again, with variables of its own */
static CUfunction scale;
static CUfunction scale_of_second;
static CUfunction gather;
static CUfunction reciprocal;
static CUfunction weigh;
static CUdeviceptr x;
static CUdeviceptr y;
static CUdeviceptr table;
static float in[ROOM];
static float out[ROOM];

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

/* Variables by their names, the first before a function of their module is launched in the step. */
static void set_weights(void)
{
	const float weights[] = {1, 2, 3, 4};
	const struct fake_symbol symbol = {module, "replay_weights"};
	void *last;

	MUST(cudaMemcpyToSymbolAsync, &symbol, weights, sizeof(weights), 0, cudaMemcpyHostToDevice,
	     streams[0]);
	MUST(cudaGetSymbolAddress, &last, &symbol);
	MUST(cuMemsetD32Async, (CUdeviceptr)(uintptr_t)last + 8, FILLED, 1, streams[0]);
}

static void load_second(void)
{
	const CUdeviceptr addresses[] = {x, y};
	CUdeviceptr weights;

	MUST(cuModuleLoadData, &second, image);
	MUST(cuModuleGetFunction, &scale_of_second, second, "replay_scale");
	for (int i = 0; i < 2; i++) {
		MUST(cuModuleGetGlobal, &weights, NULL, i ? second : module, "replay_weights");
		MUST(cuMemcpyHtoD, weights, &addresses[i], sizeof(addresses[i]));
	}
}

/* A variable before a function of either module is launched in the step. */
static void fill_variable(void)
{
	CUdeviceptr weights;

	MUST(cuModuleGetGlobal, &weights, NULL, module, "replay_weights");
	MUST(cuMemsetD32Async, weights + 8, FILLED, 1, streams[0]);
}

static void launch_of_second(void)
{
	float by = 1;
	int count = COUNT;
	void *arguments[] = {&x, &by, &count};

	MUST(cuLaunchKernel, scale_of_second, 4, 1, 1, 256, 1, 1, 0, streams[0], arguments, NULL);
}

static void weigh_values(void)
{
	const struct fake_symbol symbol = {module, "replay_launches"};
	static unsigned launches;
	int count = COUNT;
	void *arguments[] = {&x, &y, &count};

	MUST(cuLaunchKernel, weigh, 4, 1, 1, 256, 1, 1, 0, streams[0], arguments, NULL);
	MUST(cudaMemcpyFromSymbol, &launches, &symbol, sizeof(launches), 0, cudaMemcpyDeviceToHost);
}

static void copy_out_of_sight(void)
{
	const struct fake_symbol symbol = {NULL, "replay_launches"};
	unsigned launches;

	MUST(cudaMemcpyFromSymbol, &launches, &symbol, sizeof(launches), 0, cudaMemcpyDeviceToHost);
}

/* More than is compared of what the host can write. */
static void use_large(void)
{
	static CUdeviceptr large;

	if (!large)
		MUST(cuMemAllocManaged, &large, 65 << 20, CU_MEM_ATTACH_GLOBAL);
	launch_scale(large, 2, streams[0]);
	MUST(cuStreamSynchronize, streams[0]);
	((float *)(uintptr_t)large)[1] = 1;
	launch_scale(large, 2, streams[0]);
}

static void write_by_host(CUdeviceptr at, size_t element, float value)
{
	((float *)(uintptr_t)at)[element] = value;
}

/*
 * Managed and pinned memory that a kernel changes and the host in between: in turn, beside what the
 * kernel writes, and after all. The host's table is new, with a row that nothing names before.
 */
static void write_between(void)
{
	static CUdeviceptr managed;
	static void *pinned;
	static CUdeviceptr row;
	int row_count = 1;
	int count = COUNT;
	void *arguments[] = {&pinned, &y, &row_count, &count};

	if (!managed) {
		MUST(cuMemAllocManaged, &managed, sizeof(in), CU_MEM_ATTACH_GLOBAL);
		MUST(cuMemAllocHost, &pinned, 4096);
		MUST(cuMemAlloc, &row, sizeof(in));
		MUST(cuMemcpyHtoD, row, in, sizeof(in));
		memset(pinned, 0, 4096);
	}
	memcpy((void *)(uintptr_t)managed, in, sizeof(in));
	memcpy(pinned, &x, sizeof(x));
	launch_scale(managed, 2, streams[0]);
	MUST(cuLaunchKernel, gather, 4, 1, 1, 256, 1, 1, 0, streams[0], arguments, NULL);
	MUST(cuStreamSynchronize, streams[0]);
	write_by_host(managed, 5, 100);
	write_by_host(managed, 1020, 7);
	memcpy(pinned, &row, sizeof(row));
	launch_scale(managed, 3, streams[1]);
	MUST(cuLaunchKernel, gather, 4, 1, 1, 256, 1, 1, 0, streams[0], arguments, NULL);
	MUST(cuStreamSynchronize, streams[1]);
	MUST(cuStreamSynchronize, streams[0]);
	write_by_host(managed, 6, -1);
}

/* Memory that is freed after its steps, and memory of the same size that may be the same. */
static void use_scratch(void)
{
	CUdeviceptr scratch;
	CUdeviceptr ordered;

	MUST(cuMemAlloc, &scratch, sizeof(in));
	MUST(cuMemAllocAsync, &ordered, sizeof(in) / 2, streams[0]);
	MUST(cuMemcpyDtoDAsync, scratch, x, sizeof(in), streams[0]);
	launch_scale(scratch, 5, streams[0]);
	MUST(cuMemcpyDtoDAsync, y, scratch, sizeof(in), streams[0]);
	MUST(cuMemFree, scratch);
	MUST(cuMemAlloc, &scratch, sizeof(in));
	MUST(cuMemsetD32Async, scratch, 0, ROOM, streams[0]);
	MUST(cuMemcpyDtoDAsync, y + 64, scratch, 64, streams[0]);
	MUST(cuMemsetD32Async, ordered, FILLED, ROOM / 2, streams[0]);
	MUST(cuMemcpyDtoDAsync, y, ordered, 64, streams[0]);
	MUST(cuMemFreeAsync, ordered, streams[0]);
	MUST(cuMemFree, scratch);
}

enum { PAGE = 2 << 20 };

static void map(CUdeviceptr at, size_t size)
{
	const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	                                        .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
	const CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	                                .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle;

	MUST(cuMemCreate, &handle, size, &properties, 0);
	MUST(cuMemMap, at, size, 0, handle, 0);
	MUST(cuMemRelease, handle);
	MUST(cuMemSetAccess, at, size, &access, 1);
	MUST(cuMemsetD32Async, at, FILLED, 16, streams[0]);
}

/* Other memory where other memory was. */
static void map_again(void)
{
	CUdeviceptr at;

	MUST(cuMemAddressReserve, &at, 4 * PAGE, 0, 0, 0);
	map(at + PAGE, PAGE);
	MUST(cuMemUnmap, at + PAGE, PAGE);
	map(at, 2 * PAGE);
}

static void host_function(void *data)
{
	(void)data;
}

/*
 * Rows of the host's and slices of rows, with gaps on both sides, between x and y; fills of some,
 * and a copy of slices without gaps, which is one of bytes on end.
 */
static void copy_boxes(void)
{
	const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                            .srcHost = in,
	                            .srcXInBytes = 4,
	                            .srcY = 1,
	                            .srcPitch = 400,
	                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                            .dstDevice = x,
	                            .dstPitch = 512,
	                            .WidthInBytes = 100,
	                            .Height = 8};
	const CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                           .srcDevice = x,
	                           .srcPitch = 512,
	                           .srcHeight = 4,
	                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                           .dstDevice = y,
	                           .dstY = 1,
	                           .dstPitch = 128,
	                           .dstHeight = 5,
	                           .WidthInBytes = 64,
	                           .Height = 3,
	                           .Depth = 2};
	const CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                            .srcDevice = y,
	                            .srcPitch = 512,
	                            .dstMemoryType = CU_MEMORYTYPE_HOST,
	                            .dstHost = out,
	                            .dstPitch = 256,
	                            .WidthInBytes = 128,
	                            .Height = 4};
	const CUDA_MEMCPY3D whole = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                             .srcHost = in,
	                             .srcPitch = 32,
	                             .srcHeight = 4,
	                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                             .dstDevice = y + 3072,
	                             .dstPitch = 32,
	                             .dstHeight = 4,
	                             .WidthInBytes = 32,
	                             .Height = 4,
	                             .Depth = 2};
	const struct cudaPitchedPtr filled = {(void *)(uintptr_t)(x + 64), 512, 512, 4};
	const struct cudaExtent extent = {16, 2, 2};

	MUST(cuMemcpy2DAsync, &rows, streams[0]);
	MUST(cuMemcpy3DAsync, &box, streams[0]);
	MUST(cuMemsetD2D16Async, y + 2048, 64, 0x3f3f, 8, 5, streams[0]);
	MUST(cudaMemset3DAsync, filled, 0x3f, extent, streams[0]);
	MUST(cuMemcpy3DAsync, &whole, streams[0]);
	MUST(cuMemcpy2D, &back);
}

enum { COPIES = 70 }; /* more than are read of a call at once */

/* Copies in one call, from the host and on the GPU, and boxes in another one. */
static void copy_batches(void)
{
	static CUdeviceptr to[COPIES];
	static CUdeviceptr from[COPIES];
	static size_t sizes[COPIES];
	size_t first = 0;
	CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
	                                 .flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE};
	CUDA_MEMCPY3D_BATCH_OP box = {
		.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
	                .op.ptr = {.ptr = x + 3072, .rowLength = 64, .layerHeight = 4}},
		.dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
	                .op.ptr = {.ptr = y + 3072, .rowLength = 32, .layerHeight = 3}},
		.extent = {16, 2, 2},
		.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
	};

	for (int i = 0; i < COPIES; i++) {
		to[i] = i % 2 ? x + 16 * (unsigned)i : y + 32 * (unsigned)i;
		from[i] = i % 2 ? (CUdeviceptr)(uintptr_t)&in[i] : x + 2048;
		sizes[i] = i % 2 ? 16 : 32;
	}
	MUST(cuMemcpyBatchAsync, to, from, sizes, COPIES, &attributes, &first, 1, streams[0]);
	MUST(cuMemcpy3DBatchAsync, 1, &box, 0, streams[0]);
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

/* Calls that no sequence can have, at the end of a step. */
static void do_something_else(void)
{
	CUcontext other = NULL;
	CUcontext own = NULL;
	CUdeviceptr address = 0;

	if (is("rows"))
		copy_boxes();
	if (is("symbols"))
		weigh_values();
	if (is("modules"))
		launch_of_second();
	if (is("host"))
		write_between();
	if (is("large"))
		use_large();
	if (is("batches"))
		copy_batches();
	if (is("graph"))
		launch_graph();
	if (is("unheard"))
		copy_out_of_sight();
	if (is("function"))
		MUST(cuLaunchHostFunc, streams[0], host_function, NULL);
	if (is("free"))
		use_scratch();
	if (is("remapped"))
		map_again();
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
	static float *pinned;

	if (is("pinned") && !pinned) {
		MUST(cuMemAllocHost, (void **)&pinned, sizeof(in));
		memcpy(pinned, in, sizeof(in));
	}
	if (is("runtime"))
		MUST(cudaMemcpyAsync, (void *)(uintptr_t)x, in, sizeof(in), cudaMemcpyHostToDevice,
		     streams[0]);
	else
		MUST(cuMemcpyHtoDAsync, x, pinned ? pinned : in, sizeof(in), streams[0]);
}

static void step(void)
{
	nvtxRangePushA("step");
	if (is("symbols"))
		set_weights();
	if (is("modules"))
		fill_variable();
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

	steps = 3;
	app_read_words(argc, argv);
	for (int i = 0; i < ROOM; i++)
		in[i] = (float)i;
	MUST(cuInit, 0);
	if (is("runtime") || is("rows") || is("symbols") || is("unheard")) {
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
	MUST(cuModuleGetFunction, &weigh, module, "replay_weigh");
	MUST(cuMemAlloc, &x, sizeof(in));
	MUST(cuMemAlloc, &y, sizeof(in));
	MUST(cuMemAlloc, &table, ROWS * sizeof(table));
	if (is("modules"))
		load_second();
	for (uint64_t i = 0; i < steps; i++)
		step();
	MUST(cuCtxSynchronize, );
	printf("{\"pid\":%d,\"x\":%llu,\"y\":%llu,\"steps\":%lu,\"last\":%.9g,", (int)getpid(), x,
	       y, steps, (double)out[COUNT - 1]);
	app_print_calls();
	printf("}\n");
	return 0;
}
