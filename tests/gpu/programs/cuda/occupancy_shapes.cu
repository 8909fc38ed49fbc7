/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches kernels of many register counts in random shapes, and prints what the driver's own
 * calculator says of each: occupancy_shapes [SHAPES] [SEED]. After a line of JSON about the GPU one
 * for each launch, known by its grid, which no other launch has. Where the driver knows them,
 * launches in clusters and in a green context follow. These kernels do nothing.
 *
 * occupancy_shapes busy: kernels that fill the multiprocessors, or half of them, for 20 ms with as
 * many warps as the line says.
 */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <random>
#include <unistd.h>
#include <utility>
#include <vector>

#include "samples/check.h"

enum { WARP = 32, REGISTERS_LEAST = 24, REGISTERS_STEP = 7, REGISTERS_COUNT = 34, VALUES_STEP = 5 };

/* Keeps so many values at once, so that the compiler needs a register for each that it may use. */
template <int VALUES, int BYTES> __device__ void keep(const float *from, float *to, int rounds)
{
	__shared__ float shared[BYTES / sizeof(float) + 1];
	float values[VALUES];

	if (rounds == 0)
		return;
#pragma unroll
	for (int i = 0; i < VALUES; i++)
		values[i] = from[i * WARP + threadIdx.x];
	for (int round = 0; round < rounds; round++) {
		shared[threadIdx.x % (BYTES / sizeof(float) + 1)] = values[round % 2];
		__syncthreads();
#pragma unroll
		for (int i = 0; i < VALUES; i++)
			values[i] += shared[(i + round) % 2];
	}
#pragma unroll
	for (int i = 0; i < VALUES; i++)
		to[i * WARP + threadIdx.x] = values[i];
}

template <int VALUES, int BYTES> __global__ void kept(const float *from, float *to, int rounds)
{
	keep<VALUES, BYTES>(from, to, rounds);
}

template <int REGISTERS>
__global__ void __maxnreg__(REGISTERS) capped(const float *from, float *to, int rounds)
{
	keep<REGISTERS, 0>(from, to, rounds);
}

template <int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) bounded(const float *from, float *to, int rounds)
{
	keep<65536 / THREADS / BLOCKS, 0>(from, to, rounds);
}

/* A block takes all of its barriers up to the last that it names. */
template <int BARRIERS> __global__ void barred(const float *from, float *to, int rounds)
{
	if (rounds == 0)
		return;
	asm volatile("bar.sync %0, 32;" ::"n"(BARRIERS - 1));
	to[threadIdx.x] = from[threadIdx.x];
}

typedef void (*Kernel)(const float *, float *, int);

struct Function {
	Kernel kernel;
	CUfunction driver;
	cudaFuncAttributes attributes;
};

template <int... I>
static void add_kept(std::vector<Kernel> *kernels, std::integer_sequence<int, I...>)
{
	(kernels->push_back(kept < 1 + VALUES_STEP * I, I % 3 ? 0 : 4 * (37 * I * I % 12000) >),
	 ...);
}

template <int... I>
static void add_capped(std::vector<Kernel> *kernels, std::integer_sequence<int, I...>)
{
	(kernels->push_back(capped<REGISTERS_LEAST + REGISTERS_STEP * I>), ...);
}

static std::vector<Function> all_functions(void)
{
	std::vector<Kernel> kernels;
	std::vector<Function> functions;

	add_kept(&kernels, std::make_integer_sequence<int, 47>());
	add_capped(&kernels, std::make_integer_sequence<int, REGISTERS_COUNT>());
	kernels.insert(kernels.end(), {bounded<1024, 1>, bounded<1024, 2>, bounded<768, 2>,
	                               bounded<512, 3>, bounded<256, 5>, bounded<256, 8>,
	                               bounded<128, 7>, bounded<64, 24>, bounded<32, 32>, barred<1>,
	                               barred<3>, barred<5>, barred<8>, barred<11>, barred<16>});
	for (const Kernel kernel : kernels) {
		Function function = {kernel, NULL, {}};

		CHECK(cudaFuncGetAttributes(&function.attributes, kernel));
		CHECK(cudaGetFuncBySymbol(&function.driver, (const void *)kernel));
		functions.push_back(function);
	}
	return functions;
}

/* A function of the driver's, NULL where it has none of that name. */
template <typename F> static F driver(const char *name)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	return library ? (F)dlsym(library, name) : NULL;
}

static int attribute(cudaDeviceAttr which)
{
	int value = 0;

	CHECK(cudaDeviceGetAttribute(&value, which, 0));
	return value;
}

typedef CUresult (*BlocksOf)(int *, CUfunction, int, size_t);
typedef CUresult (*ClustersOf)(int *, CUfunction, const CUlaunchConfig *);

struct Shape {
	unsigned grid;
	int threads;
	int dynamic;
	int carveout; /* percent, -1: the driver's choice */
	unsigned cluster;
};

/* Numbers that a profiler may find in the launch, and what the driver says of them. */
static void print(const Function &function, const Shape &shape, const char *what, int value)
{
	printf("{\"grid\": %u, \"threads\": %d, \"registers\": %d, \"static\": %zu, "
	       "\"dynamic\": %d, \"carveout\": %d, \"cluster\": %u, \"%s\": %d}\n",
	       shape.grid, shape.threads, function.attributes.numRegs,
	       function.attributes.sharedSizeBytes, shape.dynamic, shape.carveout, shape.cluster,
	       what, value);
}

static void configure(const Function &function, const Shape &shape)
{
	CHECK(cudaFuncSetAttribute(function.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
	                           shape.dynamic));
	CHECK(cudaFuncSetAttribute(function.kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
	                           shape.carveout));
}

static void launch(const Function &function, const Shape &shape, cudaStream_t stream)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute cluster = {};

	config.gridDim = dim3(shape.grid);
	config.blockDim = dim3(shape.threads);
	config.dynamicSmemBytes = shape.dynamic;
	config.stream = stream;
	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim.x = shape.cluster;
	cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
	config.attrs = &cluster;
	config.numAttrs = shape.cluster ? 1 : 0;
	CHECK(cudaLaunchKernelEx(&config, function.kernel, (const float *)NULL, (float *)NULL, 0));
}

/* Random, but one that the function can be launched in. */
static Shape random_shape(std::mt19937 *random, const Function &function, int most_shared)
{
	const auto below = [random](int end) { return (int)((*random)() % (unsigned)end); };
	const int most = most_shared - (int)function.attributes.sharedSizeBytes;
	Shape shape = {};

	shape.threads = 1 + below(function.attributes.maxThreadsPerBlock);
	if (below(2))
		shape.threads = (shape.threads + 31) / 32 * 32;
	if (below(2))
		shape.dynamic = below(below(3) ? most / 8 : most);
	shape.carveout = below(2) ? -1 : below(101);
	return shape;
}

static void launch_shapes(const std::vector<Function> &functions, size_t count,
                          std::mt19937 *random)
{
	const BlocksOf blocks_of = driver<BlocksOf>("cuOccupancyMaxActiveBlocksPerMultiprocessor");
	const int shared = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);

	for (size_t i = 0; i < count; i++) {
		const Function &function = functions[(*random)() % functions.size()];
		Shape shape = random_shape(random, function, shared);
		int blocks = 0;

		shape.grid = (unsigned)i + 1;
		configure(function, shape);
		if (blocks_of(&blocks, function.driver, shape.threads, shape.dynamic) !=
		    CUDA_SUCCESS)
			continue;
		if (blocks == 0)
			continue; /* no block fits: it cannot be launched */
		launch(function, shape, 0);
		print(function, shape, "blocks", blocks);
	}
	CHECK(cudaDeviceSynchronize());
}

static int clusters_of(const Function &function, const Shape &shape)
{
	const ClustersOf active = driver<ClustersOf>("cuOccupancyMaxActiveClusters");
	CUlaunchConfig config = {};
	CUlaunchAttribute cluster = {};
	int clusters = 0;

	config.gridDimX = shape.grid;
	config.blockDimX = (unsigned)shape.threads;
	config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
	config.sharedMemBytes = (unsigned)shape.dynamic;
	cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
	cluster.value.clusterDim.x = shape.cluster;
	cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
	config.attrs = &cluster;
	config.numAttrs = 1;
	if (!active || active(&clusters, function.driver, &config) != CUDA_SUCCESS)
		return 0;
	return clusters;
}

/* Grids are multiples of the cluster, of numbers that no other launch has. */
static void launch_clusters(const std::vector<Function> &functions, unsigned grid)
{
	const bool able = attribute(cudaDevAttrClusterLaunch);

	grid = (grid + 15) / 16 * 16;
	for (unsigned cluster = 1; able && cluster <= 8; cluster *= 2)
		for (size_t i = 0; i < functions.size(); i += 9) {
			const int most = functions[i].attributes.maxThreadsPerBlock;
			const Shape shape = {grid += 16, most < 256 ? most : 256, 0, -1, cluster};
			int clusters;

			configure(functions[i], shape);
			clusters = clusters_of(functions[i], shape);
			if (clusters == 0)
				continue;
			launch(functions[i], shape, 0);
			print(functions[i], shape, "clusters", clusters);
		}
	CHECK(cudaDeviceSynchronize());
}

/* A stream of a green context with a part of the GPU's multiprocessors; NULL: there is none. */
static cudaStream_t green_stream(unsigned *sm_count)
{
	typedef CUresult (*Resource)(CUdevice, CUdevResource *, CUdevResourceType);
	typedef CUresult (*Split)(CUdevResource *, unsigned *, const CUdevResource *,
	                          CUdevResource *, unsigned, unsigned);
	typedef CUresult (*Describe)(CUdevResourceDesc *, CUdevResource *, unsigned);
	typedef CUresult (*Create)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
	typedef CUresult (*Stream)(CUstream *, CUgreenCtx, unsigned, int);
	const Resource resource = driver<Resource>("cuDeviceGetDevResource");
	const Split split = driver<Split>("cuDevSmResourceSplitByCount");
	const Describe describe = driver<Describe>("cuDevResourceGenerateDesc");
	const Create create = driver<Create>("cuGreenCtxCreate");
	const Stream make = driver<Stream>("cuGreenCtxStreamCreate");
	CUdevResource all = {}, part = {}, rest = {};
	CUdevResourceDesc description;
	CUgreenCtx context;
	CUstream stream = NULL;
	unsigned groups = 1;

	if (!resource || !split || !describe || !create || !make ||
	    resource(0, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
	    split(&part, &groups, &all, &rest, 0, all.sm.smCount / 4) != CUDA_SUCCESS ||
	    describe(&description, &part, 1) != CUDA_SUCCESS ||
	    create(&context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS ||
	    make(&stream, context, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS)
		return NULL;
	*sm_count = part.sm.smCount;
	return stream;
}

static void launch_green(const std::vector<Function> &functions, unsigned grid)
{
	unsigned sm_count = 0;
	const cudaStream_t stream = green_stream(&sm_count);

	for (size_t i = 0; stream && i < functions.size(); i += 9) {
		const int most = functions[i].attributes.maxThreadsPerBlock;
		const Shape shape = {++grid, most < 256 ? most : 256, 0, -1, 0};

		configure(functions[i], shape);
		launch(functions[i], shape, stream);
		print(functions[i], shape, "multiprocessors", (int)sm_count);
	}
	CHECK(cudaDeviceSynchronize());
}

__global__ void spin(long long cycles)
{
	const long long start = clock64();

	while (clock64() - start < cycles)
		;
}

/* So much shared memory that no more than so many blocks fit. */
static int shared_for(int blocks)
{
	const int most = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
	const int reserved = attribute(cudaDevAttrReservedSharedMemoryPerBlock);

	return most / blocks / 1024 * 1024 - reserved;
}

static void launch_busy(void)
{
	const int sm_count = attribute(cudaDevAttrMultiProcessorCount);
	const long long cycles = 20ll * attribute(cudaDevAttrClockRate);
	const int warps = attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / 32;
	const struct {
		int blocks; /* on a multiprocessor */
		int grid;
		int threads;
	} shapes[] = {{1, sm_count / 2, 256},
	              {1, sm_count, 256},
	              {2, 2 * sm_count, 128},
	              {3, 3 * sm_count, 512},
	              {4, 4 * sm_count, 256}};

	/* Sampling begins some time after the context. */
	CHECK(cudaDeviceSynchronize());
	sleep(1);
	for (const auto &shape : shapes) {
		const int shared = shared_for(shape.blocks);

		CHECK(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize,
		                           shared));
		for (int i = 0; i < 3; i++)
			spin<<<shape.grid, shape.threads, shared>>>(cycles);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
		printf("{\"grid\": %d, \"percent\": %.3f}\n", shape.grid,
		       100.0 * shape.blocks * (shape.threads / 32) / warps);
	}
	sleep(1);
}

int main(int argc, char **argv)
{
	const bool busy = argc > 1 && strcmp(argv[1], "busy") == 0;
	const size_t count = busy ? 0 : argument(argc, argv, 1, 5000);
	std::mt19937 random((unsigned)argument(argc, argv, 2, 1));

	CHECK(cudaFree(NULL));
	if (busy) {
		launch_busy();
		return 0;
	}
	printf("{\"multiprocessors\": %d, \"shared\": %d, \"reserved\": %d}\n",
	       attribute(cudaDevAttrMultiProcessorCount),
	       attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
	       attribute(cudaDevAttrReservedSharedMemoryPerBlock));

	const std::vector<Function> functions = all_functions();

	launch_shapes(functions, count, &random);
	launch_clusters(functions, (unsigned)count);
	launch_green(functions, (unsigned)count + 10000);
	return 0;
}
