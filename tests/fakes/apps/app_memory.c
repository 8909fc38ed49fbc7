/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that gets memory in every way that the fakes know, gives most of it back, and says in
 * one line of JSON what it had, in the order in which it asked: the number of the kind of
 * format/kinds/memory.def, the bytes, and whether it was given back.
 *
 *   app_memory [PAIRS]   with a number: so much memory of a pool and nothing else
 *   app_memory fails     asks for too much, after a while
 *   app_memory graph     a graph that allocates, launched three times
 *   app_memory managed   managed memory, which goes to the GPU and back once CUPTI is ready for it
 *   app_memory pools     memory of pools, which stays for a while
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

enum kind {
#define MEMORY_KIND(name, number, does, space, words) name = (number),
#include "format/kinds/memory.def"
};

#define PAGE ((size_t)2 << 20)

static int had_count;

static void had(enum kind kind, size_t bytes, int given_back)
{
	printf("%s[%d, %zu, %d]", had_count++ ? ", " : "", (int)kind, bytes, given_back);
}

static void simple(void)
{
	CUdeviceptr kept = 0;
	CUdeviceptr memory = 0;
	size_t pitch = 0;

	MUST(cuMemAlloc, &memory, 4096);
	had(ALLOCATE, 4096, 1);
	MUST(cuMemAlloc, &kept, 12288);
	had(ALLOCATE, 12288, 0);
	MUST(cuMemFree, memory);
	MUST(cuMemAllocPitch, &memory, &pitch, 100, 10, 4);
	had(ALLOCATE, pitch * 10, 1);
	MUST(cuMemFree, memory);
	MUST(cuMemAllocManaged, &memory, 8192, CU_MEM_ATTACH_GLOBAL);
	had(ALLOCATE_MANAGED, 8192, 1);
	MUST(cuMemFree, memory);
	if (cuMemAlloc(&memory, (size_t)1 << 60) == CUDA_SUCCESS)
		app_fail("cuMemAlloc", 0); /* so much is not there */
}

static void ordered(void)
{
	const CUmemPoolProps properties = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
	uint64_t threshold = 1 << 20;
	CUmemoryPool pool = NULL;
	CUdeviceptr memory = 0;

	MUST(cuMemPoolCreate, &pool, &properties);
	had(CREATE_POOL, 0, 1);
	MUST(cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
	MUST(cuMemAllocFromPoolAsync, &memory, 2048, pool, NULL);
	had(ALLOCATE_ORDERED, 2048, 1);
	MUST(cuMemFreeAsync, memory, NULL);
	MUST(cuMemAllocAsync, &memory, 1024, NULL);
	had(ALLOCATE_ORDERED, 1024, 1);
	MUST(cuMemFree, memory); /* which is allowed as well */
	MUST(cuMemPoolTrimTo, pool, 0);
	MUST(cuMemPoolDestroy, pool);
}

static void of_the_host(void)
{
	void *pinned = NULL;
	void *own = malloc(4096);

	MUST(cuMemHostAlloc, &pinned, 4096, 0);
	had(ALLOCATE_HOST, 4096, 1);
	MUST(cuMemFreeHost, pinned);
	MUST(cuMemHostRegister, own, 4096, 0);
	had(REGISTER, 4096, 1);
	MUST(cuMemHostUnregister, own);
	free(own);
}

/* Two pieces of physical memory side by side, which go with one call. */
static void mapped(void)
{
	const CUmemAllocationProp properties = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
	CUmemGenericAllocationHandle pieces[2];
	CUdeviceptr addresses = 0;

	MUST(cuMemAddressReserve, &addresses, 2 * PAGE, 0, 0, 0);
	had(RESERVE, 2 * PAGE, 1);
	for (size_t i = 0; i < 2; i++) {
		MUST(cuMemCreate, &pieces[i], PAGE, &properties, 0);
		had(CREATE, PAGE, 1);
		MUST(cuMemMap, addresses + i * PAGE, PAGE, 0, pieces[i], 0);
		had(MAP, PAGE, 1);
		MUST(cuMemRelease, pieces[i]);
	}
	MUST(cuMemUnmap, addresses, 2 * PAGE);
	MUST(cuMemAddressFree, addresses, 2 * PAGE);
}

static void others(void)
{
	const CUDA_ARRAY_DESCRIPTOR descriptor = {
		.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
	const CUipcMemHandle handle = {.reserved = "of somebody"};
	CUarray array = NULL;
	CUdeviceptr memory = 0;

	MUST(cuArrayCreate, &array, &descriptor);
	had(CREATE_ARRAY, 64 * 64 * 4, 1);
	MUST(cuArrayDestroy, array);
	MUST(cuIpcOpenMemHandle, &memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
	had(OPEN_IPC, 0, 1);
	MUST(cuIpcCloseMemHandle, memory);
}

/* Each of these is one call of the driver inside: it is there once. */
static void of_the_runtime(void)
{
	void *memory = NULL;

	MUST(cudaMalloc, &memory, 256);
	had(ALLOCATE, 256, 1);
	MUST(cudaFree, memory);
	MUST(cudaMallocHost, &memory, 512);
	had(ALLOCATE_HOST, 512, 1);
	MUST(cudaFreeHost, memory);
	MUST(cudaFree, NULL);
}

/* In the order of a stream, one after the other. */
static void pairs(long count)
{
	for (long i = 0; i < count; i++) {
		CUdeviceptr memory = 0;

		MUST(cuMemAllocAsync, &memory, 512, NULL);
		had(ALLOCATE_ORDERED, 512, 1);
		MUST(cuMemFreeAsync, memory, NULL);
	}
}

/* Captured and added by hand; the first is freed in the graph, the second by the program. */
static void of_a_graph(void)
{
	CUDA_MEM_ALLOC_NODE_PARAMS asked = {.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
	                                    .bytesize = 8192};
	CUdeviceptr inner = 0;
	CUgraphNode node;
	CUgraphExec exec;
	CUstream stream;
	CUgraph graph;

	MUST(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	MUST(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
	MUST(cuMemAllocAsync, &inner, 4096, stream);
	MUST(cuMemFreeAsync, inner, stream);
	MUST(cuStreamEndCapture, stream, &graph);
	MUST(cuGraphAddMemAllocNode, &node, graph, NULL, 0, &asked);
	MUST(cuGraphInstantiateWithFlags, &exec, graph, 0);
	for (int i = 0; i < 3; i++) {
		MUST(cuGraphLaunch, exec, stream);
		had(ALLOCATE_NODE, 4096, 1);
		had(ALLOCATE_NODE, 8192, i < 2);
		MUST(cuStreamSynchronize, stream);
		if (i < 2)
			MUST(cuMemFreeAsync, asked.dptr, stream);
	}
}

/* Long enough for several samples. */
static void of_pools(void)
{
	const CUmemPoolProps properties = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
	const struct timespec pause = {.tv_nsec = 150000000};
	uint64_t threshold = 64 << 20;
	CUdeviceptr pieces[2] = {0, 0};
	CUmemoryPool pool = NULL;

	MUST(cuMemPoolCreate, &pool, &properties);
	had(CREATE_POOL, 0, 1);
	MUST(cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
	MUST(cuMemAllocFromPoolAsync, &pieces[0], 3 << 20, pool, NULL);
	had(ALLOCATE_ORDERED, 3 << 20, 1);
	MUST(cuMemAllocAsync, &pieces[1], 1 << 20, NULL);
	had(ALLOCATE_ORDERED, 1 << 20, 0);
	nanosleep(&pause, NULL);
	MUST(cuMemFreeAsync, pieces[0], NULL);
	nanosleep(&pause, NULL);
	MUST(cuMemPoolDestroy, pool);
	nanosleep(&pause, NULL);
}

static size_t left_bytes; /* when there was not enough */

static void fails(void)
{
	size_t total_bytes;
	const struct timespec pause = {.tv_nsec = 200000000};
	CUdeviceptr memory = 0;

	nanosleep(&pause, NULL);
	if (cuMemAlloc(&memory, (size_t)1 << 60) == CUDA_SUCCESS)
		app_fail("cuMemAlloc", 0);
	MUST(cuMemGetInfo, &left_bytes, &total_bytes);
	nanosleep(&pause, NULL);
}

static void managed(void)
{
	const CUmemLocation gpu = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
	const CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST};
	const struct timespec pause = {.tv_nsec = 300000000};
	CUdeviceptr memory = 0;

	MUST(cuMemAllocManaged, &memory, 1 << 20, CU_MEM_ATTACH_GLOBAL);
	had(ALLOCATE_MANAGED, 1 << 20, 1);
	nanosleep(&pause, NULL);
	MUST(cuMemAdvise, memory, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, gpu);
	MUST(cuMemPrefetchAsync, memory, 1 << 20, gpu, 0, NULL);
	MUST(cuMemPrefetchAsync, memory, 1 << 20, host, 0, NULL);
	MUST(cuMemFree, memory);
}

int main(int argc, char **argv)
{
	CUcontext context;

	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	printf("{\"had\": [");
	if (argc > 1 && strcmp(argv[1], "graph") == 0) {
		of_a_graph();
	} else if (argc > 1 && strcmp(argv[1], "managed") == 0) {
		managed();
	} else if (argc > 1 && strcmp(argv[1], "fails") == 0) {
		fails();
	} else if (argc > 1 && strcmp(argv[1], "pools") == 0) {
		of_pools();
	} else if (argc > 1) {
		pairs(strtol(argv[1], NULL, 10));
	} else {
		simple();
		ordered();
		of_the_host();
		mapped();
		others();
		of_the_runtime();
	}
	printf("], \"left_bytes\": %zu, ", left_bytes);
	app_print_calls();
	printf("}\n");
	return 0;
}
