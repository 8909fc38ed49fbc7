/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of every kind that CUDA has, of known sizes, and given back but for one block of each size
 * of "kept". The driver's calls are asked for at run time. Usage: allocations [UNITS], of 2 MiB
 */
#include <cuda.h>
#include <vector>

#include "samples/check.h"

#define MIB ((size_t)1 << 20)

#define CHECK_DRIVER(call)                                                                         \
	do {                                                                                       \
		const CUresult result_ = (call);                                                   \
		if (result_ != CUDA_SUCCESS) {                                                     \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call,              \
			        (int)result_);                                                     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

template <typename T> static T *driver_call(const char *name)
{
	cudaDriverEntryPointQueryResult found;
	void *call = NULL;

	CHECK(cudaGetDriverEntryPointByVersion(name, &call, 12000, cudaEnableDefault, &found));
	if (!call || found != cudaDriverEntryPointSuccess) {
		fprintf(stderr, "the driver has no %s\n", name);
		exit(1);
	}
	return (T *)call;
}

/* Two pitched rows of blocks, of which the driver says how wide they became. */
static size_t simple(size_t bytes)
{
	cudaExtent extent = make_cudaExtent(1000, 10, 3);
	cudaPitchedPtr volume;
	void *memory = NULL;
	size_t pitch = 0;

	CHECK(cudaMalloc(&memory, bytes));
	CHECK(cudaFree(memory));
	CHECK(cudaMallocPitch(&memory, &pitch, 1000, 10));
	CHECK(cudaFree(memory));
	CHECK(cudaMalloc3D(&volume, extent));
	CHECK(cudaFree(volume.ptr));
	CHECK(cudaMalloc(&memory, bytes)); /* is kept */
	return 2 * bytes + pitch * 10 + volume.pitch * 30;
}

static size_t arrays(void)
{
	const cudaChannelFormatDesc element = cudaCreateChannelDesc<float4>();
	cudaMipmappedArray_t mipmap;
	cudaArray_t array;

	CHECK(cudaMallocArray(&array, &element, 64, 32));
	CHECK(cudaFreeArray(array));
	CHECK(cudaMallocMipmappedArray(&mipmap, &element, make_cudaExtent(64, 64, 0), 2));
	CHECK(cudaFreeMipmappedArray(mipmap));
	return 16 * (64 * 32 + 64 * 64 + 32 * 32);
}

static void of_the_host(size_t bytes)
{
	void *own = aligned_alloc(4096, bytes);
	void *memory = NULL;

	CHECK(cudaMallocHost(&memory, bytes));
	CHECK(cudaFreeHost(memory));
	CHECK(cudaHostRegister(own, bytes, cudaHostRegisterDefault));
	CHECK(cudaHostUnregister(own));
	free(own);
	CHECK(cudaMallocManaged(&memory, bytes));
	CHECK(cudaFree(memory));
}

static void of_pools(size_t bytes, cudaStream_t stream)
{
	cudaMemPoolProps properties = {};
	cudaMemPool_t pool;
	void *memory = NULL;

	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	CHECK(cudaMemPoolCreate(&pool, &properties));
	CHECK(cudaMallocFromPoolAsync(&memory, bytes, pool, stream));
	CHECK(cudaFreeAsync(memory, stream));
	CHECK(cudaMallocAsync(&memory, bytes, stream));
	CHECK(cudaFreeAsync(memory, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemPoolDestroy(pool));
}

/* One piece of physical memory that is mapped twice, and released while it still is. */
static size_t mapped(size_t bytes)
{
	auto *granularity_of = driver_call<decltype(cuMemGetAllocationGranularity)>(
		"cuMemGetAllocationGranularity");
	auto *reserve = driver_call<decltype(cuMemAddressReserve)>("cuMemAddressReserve");
	auto *create = driver_call<decltype(cuMemCreate)>("cuMemCreate");
	auto *map = driver_call<decltype(cuMemMap)>("cuMemMap");
	auto *release = driver_call<decltype(cuMemRelease)>("cuMemRelease");
	auto *unmap = driver_call<decltype(cuMemUnmap)>("cuMemUnmap");
	auto *give_back = driver_call<decltype(cuMemAddressFree)>("cuMemAddressFree");
	CUmemAllocationProp properties = {};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr addresses = 0;
	size_t granularity = 0;

	properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	CHECK_DRIVER(
		granularity_of(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	bytes = (bytes + granularity - 1) / granularity * granularity;
	CHECK_DRIVER(reserve(&addresses, 2 * bytes, 0, 0, 0));
	CHECK_DRIVER(create(&handle, bytes, &properties, 0));
	CHECK_DRIVER(map(addresses, bytes, 0, handle, 0));
	CHECK_DRIVER(map(addresses + bytes, bytes, 0, handle, 0));
	CHECK_DRIVER(release(handle));
	CHECK_DRIVER(unmap(addresses, 2 * bytes));
	CHECK_DRIVER(give_back(addresses, 2 * bytes));
	return bytes;
}

/* Captured, and launched three times: the graph frees it itself. */
static void of_a_graph(size_t bytes, cudaStream_t stream)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	void *memory = NULL;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	CHECK(cudaMallocAsync(&memory, bytes, stream));
	CHECK(cudaMemsetAsync(memory, 1, bytes, stream));
	CHECK(cudaFreeAsync(memory, stream));
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaDeviceGraphMemTrim(0));
}

int main(int argc, char **argv)
{
	const size_t bytes = argument(argc, argv, 1, 2) * 2 * MIB;
	cudaStream_t stream;
	size_t simple_bytes;
	size_t physical_bytes;
	size_t array_bytes;

	CHECK(cudaStreamCreate(&stream));
	simple_bytes = simple(bytes);
	array_bytes = arrays();
	of_the_host(bytes);
	of_pools(bytes, stream);
	physical_bytes = mapped(bytes);
	of_a_graph(bytes, stream);
	printf("bytes=%zu\nsimple_bytes=%zu\narray_bytes=%zu\nphysical_bytes=%zu\n", bytes,
	       simple_bytes, array_bytes, physical_bytes);
	return 0;
}
