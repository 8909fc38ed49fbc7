/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are captured and run again: replay_kernels NAME [LAUNCHES] [cold] [LIBRARY]. Without
 * a name it lists them. Each is launched so often, one after the other, on the same inputs; cold:
 * with so much memory written between them that the level-2 cache holds nothing of theirs. LIBRARY:
 * libcublas, for gemm. Prints the kernel's name, which is one of C, and how many elements are
 * wrong; what is planted to be wrong is not counted.
 */
#include <cooperative_groups.h>
#include <cuda.h>
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "samples/check.h"

namespace groups = cooperative_groups;

enum {
	COUNT = 1 << 22, /* elements of most buffers */
	THREADS = 256,
	ROWS = 8,
	TILE = 64, /* elements along an edge of what a TMA descriptor brings at a time */
	EDGE = 2048,
	LARGE_SHARED = 96 << 10, /* more than a block has without asking */
	PADDED = 750000, /* elements whose memory is rounded up to much more, which nobody has */
	COLD_BYTES = 512 << 20,
};

/* A value, from its number: exact in a float. */
__host__ __device__ static float value_of(size_t i)
{
	return (float)((uint32_t)(i * 2654435761u) >> 16) / 65536 - 0.5f;
}

__device__ static size_t number(void)
{
	return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void fill_values(float *to, size_t count)
{
	for (size_t i = number(); i < count; i += (size_t)gridDim.x * blockDim.x)
		to[i] = value_of(i);
}

extern "C" {

__global__ void saxpy(float a, const float *x, const float *y, float *out, int count)
{
	const size_t i = number();

	if (i < count)
		out[i] = a * x[i] + y[i];
}

/* Changes what it reads. */
__global__ void in_place(float a, const float *x, float *y, int count)
{
	const size_t i = number();

	if (i < count)
		y[i] = a * x[i] + y[i];
}

/* One sum a block, in shared memory that it has to ask for. */
__global__ void reduction(const float *x, float *sums, int count)
{
	extern __shared__ float parts[];
	float sum = 0;

	for (size_t i = number(); i < count; i += (size_t)gridDim.x * blockDim.x)
		sum += x[i];
	parts[threadIdx.x] = sum;
	__syncthreads();
	for (unsigned half = blockDim.x / 2; half; half /= 2) {
		if (threadIdx.x < half)
			parts[threadIdx.x] += parts[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		sums[blockIdx.x] = parts[0];
}

/* Rows are found through a table of pointers, and the table through a pointer in a struct. */
struct table {
	const float *const *rows;
	int count;
};

__global__ void pointer_table(const struct table *table, float *out)
{
	const size_t i = number();
	float sum = 0;

	if (i >= table->count)
		return;
	for (int row = 0; row < ROWS; row++)
		sum += table->rows[row][i];
	out[i] = sum;
}

__constant__ float coefficients[ROWS];
__device__ float bias;

__global__ void constant_data(const float *x, float *out, int count)
{
	const size_t i = number();
	float sum = 0;

	if (i >= count)
		return;
	for (int power = 0; power < ROWS; power++)
		sum = sum * x[i] + coefficients[power];
	out[i] = sum + bias;
}

/* Every block needs what all the others made. */
__global__ void cooperative(const float *x, float *partial, float *out, int count)
{
	const size_t step = (size_t)gridDim.x * blockDim.x;
	float sum = 0;

	for (size_t i = number(); i < count; i += step)
		sum += x[i];
	partial[number()] = sum;
	groups::this_grid().sync();
	for (size_t i = number(); i < count; i += step)
		out[i] = x[i] - partial[(i * 31) % step];
}

__global__ void clusters(const float *x, float *out, int count)
{
	const size_t i = number();
	uint32_t rank = 0;

#if __CUDA_ARCH__ >= 900
	asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
	if (i < count)
		out[i] = x[i] + (float)rank;
}

/* Tiles are brought by the TMA unit, by a descriptor that is a parameter. */
__global__ void tensor_map(const __grid_constant__ CUtensorMap map, float *out)
{
#if __CUDA_ARCH__ >= 900
	__shared__ alignas(128) float tile[TILE * TILE];
	__shared__ alignas(8) uint64_t barrier;
	const uint32_t to = (uint32_t)__cvta_generic_to_shared(tile);
	const uint32_t bar = (uint32_t)__cvta_generic_to_shared(&barrier);
	uint32_t done = 0;
	float sum = 0;

	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
		asm volatile("fence.proxy.async.shared::cta;");
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile."
		             "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
		             "l"(&map), "r"(blockIdx.x * TILE), "r"(blockIdx.y * TILE), "r"(bar)
		             : "memory");
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
		             "r"((uint32_t)sizeof(tile))
		             : "memory");
	}
	while (!done)
		asm volatile("{\n"
		             ".reg .pred p;\n"
		             "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
		             "selp.u32 %0, 1, 0, p;\n"
		             "}"
		             : "=r"(done)
		             : "r"(bar)
		             : "memory");
	for (int row = 0; row < TILE; row++)
		sum += tile[row * TILE + threadIdx.x];
	out[(size_t)(blockIdx.y * gridDim.x + blockIdx.x) * TILE + threadIdx.x] = sum;
#endif
}

/* Planted: one element behind the end is written, further than sizes are rounded up. */
__global__ void outside(const float *x, float *out, int count)
{
	const size_t i = number();

	if (i < count)
		out[i] = 2 * x[i];
	if (i == 0)
		out[count + 128] = 1;
}

/* Planted: the last hundred elements are forgotten. */
__global__ void unwritten(const float *x, float *out, int count)
{
	const size_t i = number();

	if (i + 100 < count)
		out[i] = 2 * x[i];
}

/* Planted: no two runs give the same. */
__global__ void varying(const float *x, float *out, int count)
{
	const size_t i = number();

	if (i < count)
		out[i] = x[i] + (float)(clock64() & 1023);
}

/* Right with blocks of 256 threads alone, which nothing says. */
__global__ void fixed_block(const float *x, float *out, int count)
{
	const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < count)
		out[i] = 3 * x[i];
}

/* Stops the GPU where an index is none of x's. */
__global__ void checked_gather(const int *indices, const float *x, float *out, int count)
{
	const size_t i = number();

	if (i >= count)
		return;
	if (indices[i] >= count)
		asm volatile("trap;");
	out[i] = x[indices[i]];
}

/* Stops the GPU in blocks of more than 512 threads, and never ends in blocks of 32. */
__global__ void breaking(const float *x, float *out, int count)
{
	const size_t i = number();

	if (blockDim.x > 512)
		asm volatile("trap;");
	while (blockDim.x == 32)
		asm volatile("nanosleep.u32 1000;");
	if (i < count)
		out[i] = 3 * x[i];
}
}

/* ---- the host ---- */

struct run {
	size_t launches;
	bool cold;
	const char *library;
	char *flush; /* COLD_BYTES, NULL: not cold */
};

static float *take(size_t count)
{
	float *memory;

	CHECK(cudaMalloc(&memory, count * sizeof(float)));
	CHECK(cudaMemset(memory, 0, count * sizeof(float)));
	return memory;
}

static float *take_values(size_t count)
{
	float *memory = take(count);

	fill_values<<<256, THREADS>>>(memory, count);
	CHECK(cudaGetLastError());
	return memory;
}

static unsigned blocks_of(size_t count)
{
	return (unsigned)((count + THREADS - 1) / THREADS);
}

/* Launches it as often as is wanted. */
template <typename Launch> static void repeat(const struct run *run, Launch launch)
{
	CHECK(cudaDeviceSynchronize());
	for (size_t i = 0; i < run->launches; i++) {
		if (run->flush)
			CHECK(cudaMemsetAsync(run->flush, (int)i, COLD_BYTES));
		launch();
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
}

/* How many elements are further from what is expected than a rounding. */
template <typename Expected>
static size_t wrong_in(const float *out, size_t count, Expected expected)
{
	std::vector<float> got(count);
	size_t wrong = 0;

	CHECK(cudaMemcpy(got.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < count; i++) {
		const float wanted = expected(i);

		wrong += !(std::fabs(got[i] - wanted) <= 1e-3f * (1 + std::fabs(wanted)));
	}
	return wrong;
}

static size_t run_saxpy(const struct run *run)
{
	float *x = take_values(COUNT), *y = take_values(COUNT), *out = take(COUNT);

	repeat(run, [=] { saxpy<<<blocks_of(COUNT), THREADS>>>(2, x, y, out, COUNT); });
	return wrong_in(out, COUNT, [](size_t i) { return 3 * value_of(i); });
}

/* The same on memory of a pool, and on managed memory. */
static size_t run_pool(const struct run *run)
{
	float *x = take_values(COUNT), *y, *out;

	CHECK(cudaMallocAsync(&y, COUNT * sizeof(float), 0));
	CHECK(cudaMallocAsync(&out, COUNT * sizeof(float), 0));
	fill_values<<<256, THREADS>>>(y, COUNT);
	repeat(run, [=] { saxpy<<<blocks_of(COUNT), THREADS>>>(2, x, y, out, COUNT); });
	return wrong_in(out, COUNT, [](size_t i) { return 3 * value_of(i); });
}

static size_t run_managed(const struct run *run)
{
	float *x = take_values(COUNT), *y, *out;

	CHECK(cudaMallocManaged(&y, COUNT * sizeof(float)));
	CHECK(cudaMallocManaged(&out, COUNT * sizeof(float)));
	fill_values<<<256, THREADS>>>(y, COUNT);
	CHECK(cudaMemset(out, 0, COUNT * sizeof(float)));
	repeat(run, [=] { saxpy<<<blocks_of(COUNT), THREADS>>>(2, x, y, out, COUNT); });
	return wrong_in(out, COUNT, [](size_t i) { return 3 * value_of(i); });
}

static size_t run_in_place(const struct run *run)
{
	float *x = take_values(COUNT), *y = take_values(COUNT);
	const float rounds = (float)run->launches;

	repeat(run, [=] { in_place<<<blocks_of(COUNT), THREADS>>>(2, x, y, COUNT); });
	return wrong_in(y, COUNT, [=](size_t i) { return (2 * rounds + 1) * value_of(i); });
}

static size_t run_reduction(const struct run *run)
{
	const unsigned blocks = 528;
	float *x = take_values(COUNT), *sums = take(blocks);
	std::vector<float> got(blocks);
	double sum = 0, wanted = 0;

	CHECK(cudaFuncSetAttribute(reduction, cudaFuncAttributeMaxDynamicSharedMemorySize,
	                           LARGE_SHARED));
	repeat(run, [=] { reduction<<<blocks, THREADS, LARGE_SHARED>>>(x, sums, COUNT); });
	CHECK(cudaMemcpy(got.data(), sums, blocks * sizeof(float), cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < blocks; i++)
		sum += got[i];
	for (size_t i = 0; i < COUNT; i++)
		wanted += value_of(i);
	return !(std::fabs(sum - wanted) < 1);
}

static size_t run_pointer_table(const struct run *run)
{
	const float *rows[ROWS];
	struct table table = {NULL, COUNT / 4};
	struct table *there;
	float *out = take(COUNT / 4);
	const float **pointers;

	for (int i = 0; i < ROWS; i++)
		rows[i] = take_values(COUNT / 4);
	CHECK(cudaMalloc(&pointers, sizeof(rows)));
	CHECK(cudaMemcpy(pointers, rows, sizeof(rows), cudaMemcpyHostToDevice));
	table.rows = pointers;
	CHECK(cudaMalloc(&there, sizeof(table)));
	CHECK(cudaMemcpy(there, &table, sizeof(table), cudaMemcpyHostToDevice));
	repeat(run, [=] { pointer_table<<<blocks_of(COUNT / 4), THREADS>>>(there, out); });
	return wrong_in(out, COUNT / 4, [](size_t i) { return ROWS * value_of(i); });
}

static size_t run_constant_data(const struct run *run)
{
	float *x = take_values(COUNT), *out = take(COUNT);
	float numbers[ROWS];
	const float more = 7;

	for (int i = 0; i < ROWS; i++)
		numbers[i] = (float)(i + 1);
	CHECK(cudaMemcpyToSymbol(coefficients, numbers, sizeof(numbers)));
	CHECK(cudaMemcpyToSymbol(bias, &more, sizeof(more)));
	repeat(run, [=] { constant_data<<<blocks_of(COUNT), THREADS>>>(x, out, COUNT); });
	return wrong_in(out, COUNT, [](size_t i) {
		float sum = 0;

		for (int power = 0; power < ROWS; power++)
			sum = sum * value_of(i) + (float)(power + 1);
		return sum + 7;
	});
}

static size_t run_cooperative(const struct run *run)
{
	float *x = take_values(COUNT), *out = take(COUNT), *partial;
	int sms, fit, count = COUNT;

	CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, cooperative, THREADS, 0));
	const unsigned blocks = (unsigned)(sms * (fit < 2 ? fit : 2));
	const size_t step = (size_t)blocks * THREADS;

	partial = take(step);
	void *parameters[] = {&x, &partial, &out, &count};

	repeat(run, [=] {
		void *given[4];

		memcpy(given, parameters, sizeof(given));
		CHECK(cudaLaunchCooperativeKernel((void *)cooperative, blocks, THREADS, given, 0,
		                                  0));
	});
	std::vector<float> sums(step);

	for (size_t i = 0; i < COUNT; i++)
		sums[i % step] += value_of(i);
	return wrong_in(out, COUNT, [&](size_t i) { return value_of(i) - sums[(i * 31) % step]; });
}

static size_t run_clusters(const struct run *run)
{
	float *x = take_values(COUNT), *out = take(COUNT);
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = 4;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	config.gridDim = blocks_of(COUNT);
	config.blockDim = THREADS;
	config.numAttrs = 1;
	repeat(run, [&] {
		config.attrs = &attribute;
		CHECK(cudaLaunchKernelEx(&config, clusters, (const float *)x, out, (int)COUNT));
	});
	return wrong_in(out, COUNT,
	                [](size_t i) { return value_of(i) + (float)(i / THREADS % 4); });
}

static size_t run_tensor_map(const struct run *run)
{
	float *x = take_values((size_t)EDGE * EDGE), *out = take((size_t)EDGE * EDGE / TILE);
	const cuuint64_t extent[] = {EDGE, EDGE}, pitch[] = {EDGE * sizeof(float)};
	const cuuint32_t box[] = {TILE, TILE}, steps[] = {1, 1};
	cudaDriverEntryPointQueryResult found;
	decltype(&cuTensorMapEncodeTiled) encode;
	CUtensorMap map;

	CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
	                                       cudaEnableDefault, &found));
	if (found != cudaDriverEntryPointSuccess ||
	    encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, extent, pitch, box, steps,
	           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
	           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) {
		fprintf(stderr, "this GPU has no tensor maps\n");
		exit(2);
	}
	repeat(run, [=] { tensor_map<<<dim3(EDGE / TILE, EDGE / TILE), TILE>>>(map, out); });
	return wrong_in(out, (size_t)EDGE * EDGE / TILE, [](size_t i) {
		const size_t block = i / TILE;
		float sum = 0;

		for (size_t row = 0; row < TILE; row++)
			sum += value_of((block / (EDGE / TILE) * TILE + row) * EDGE +
			                block % (EDGE / TILE) * TILE + i % TILE);
		return sum;
	});
}

static size_t run_outside(const struct run *run)
{
	float *x = take_values(PADDED), *out = take(PADDED);

	repeat(run, [=] { outside<<<blocks_of(PADDED), THREADS>>>(x, out, PADDED); });
	return wrong_in(out, PADDED, [](size_t i) { return 2 * value_of(i); });
}

static size_t run_unwritten(const struct run *run)
{
	float *x = take_values(COUNT), *out = take(COUNT);

	repeat(run, [=] { unwritten<<<blocks_of(COUNT), THREADS>>>(x, out, COUNT); });
	return wrong_in(out, COUNT - 100, [](size_t i) { return 2 * value_of(i); });
}

static size_t run_varying(const struct run *run)
{
	float *x = take_values(COUNT), *out = take(COUNT);

	repeat(run, [=] { varying<<<blocks_of(COUNT), THREADS>>>(x, out, COUNT); });
	return 0;
}

static size_t run_fixed_block(const struct run *run)
{
	float *x = take_values(COUNT), *out = take(COUNT);

	repeat(run, [=] { fixed_block<<<blocks_of(COUNT), THREADS>>>(x, out, COUNT); });
	return wrong_in(out, COUNT, [](size_t i) { return 3 * value_of(i); });
}

/* So many indices that the last one, which is even, is followed by one of nothing. */
static size_t run_checked_gather(const struct run *run)
{
	const int count = COUNT - 1;
	float *x = take_values(COUNT), *out = take(COUNT);
	std::vector<int> indices(count);
	int *there;

	for (int i = 0; i < count; i++)
		indices[i] = count - 1 - i;
	CHECK(cudaMalloc(&there, count * sizeof(int)));
	CHECK(cudaMemcpy(there, indices.data(), count * sizeof(int), cudaMemcpyHostToDevice));
	repeat(run, [=] { checked_gather<<<blocks_of(count), THREADS>>>(there, x, out, count); });
	return wrong_in(out, count, [=](size_t i) { return value_of(count - 1 - i); });
}

static size_t run_breaking(const struct run *run)
{
	float *x = take_values(COUNT), *out = take(COUNT);

	repeat(run, [=] { breaking<<<blocks_of(COUNT), THREADS>>>(x, out, COUNT); });
	return wrong_in(out, COUNT, [](size_t i) { return 3 * value_of(i); });
}

/* As cublas_api.h declares them; the library is opened at run time. */
typedef int create_handle(void **handle);
typedef int multiply(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                     const float *alpha, const float *a, int lda, const float *b, int ldb,
                     const float *beta, float *c, int ldc);

static void *symbol_of(void *library, const char *name)
{
	void *symbol = library ? dlsym(library, name) : NULL;

	if (!symbol) {
		fprintf(stderr, "libcublas cannot be used: %s\n", dlerror());
		exit(2);
	}
	return symbol;
}

static size_t run_gemm(const struct run *run)
{
	void *library = dlopen(run->library ? run->library : "libcublas.so", RTLD_NOW);
	create_handle *create = (create_handle *)symbol_of(library, "cublasCreate_v2");
	multiply *sgemm = (multiply *)symbol_of(library, "cublasSgemm_v2");
	const size_t elements = (size_t)EDGE * EDGE;
	float *a = take_values(elements), *b = take_values(elements), *c = take(elements);
	const float one = 1, zero = 0;
	void *handle;
	int failed = create(&handle);

	repeat(run, [&] {
		failed |= sgemm(handle, 0, 0, EDGE, EDGE, EDGE, &one, a, EDGE, b, EDGE, &zero, c,
		                EDGE);
	});
	std::vector<float> got(elements);

	/* One column: all of them would take the host minutes. */
	CHECK(cudaMemcpy(got.data(), c, EDGE * sizeof(float), cudaMemcpyDeviceToHost));
	for (size_t row = 0; row < EDGE; row++) {
		double sum = 0;

		for (size_t k = 0; k < EDGE; k++)
			sum += (double)value_of(k * EDGE + row) * value_of(k);
		failed |= !(std::fabs(sum - got[row]) < 0.1);
	}
	return failed != 0;
}

static const struct program {
	const char *name;
	const char *kernel; /* NULL: the library's names */
	size_t (*run)(const struct run *run);
} programs[] = {
	{"saxpy", "saxpy", run_saxpy},
	{"pool", "saxpy", run_pool},
	{"managed", "saxpy", run_managed},
	{"in_place", "in_place", run_in_place},
	{"reduction", "reduction", run_reduction},
	{"pointer_table", "pointer_table", run_pointer_table},
	{"constant_data", "constant_data", run_constant_data},
	{"cooperative", "cooperative", run_cooperative},
	{"clusters", "clusters", run_clusters},
	{"tensor_map", "tensor_map", run_tensor_map},
	{"outside", "outside", run_outside},
	{"unwritten", "unwritten", run_unwritten},
	{"varying", "varying", run_varying},
	{"fixed_block", "fixed_block", run_fixed_block},
	{"checked_gather", "checked_gather", run_checked_gather},
	{"breaking", "breaking", run_breaking},
	{"gemm", NULL, run_gemm},
};

int main(int argc, char **argv)
{
	struct run run = {argument(argc, argv, 2, 40), argc > 3 && !strcmp(argv[3], "cold"),
	                  argc > 4 ? argv[4] : NULL, NULL};

	for (const struct program &program : programs) {
		if (argc < 2) {
			printf("%s\n", program.name);
		} else if (strcmp(program.name, argv[1]) == 0) {
			if (run.cold)
				CHECK(cudaMalloc(&run.flush, COLD_BYTES));
			const size_t wrong = program.run(&run);

			printf("kernel=%s\nlaunches=%zu\nwrong=%zu\n",
			       program.kernel ? program.kernel : "", run.launches, wrong);
			return wrong != 0;
		}
	}
	if (argc > 1)
		fprintf(stderr, "there is no kernel %s\n", argv[1]);
	return argc > 1 ? 2 : 0;
}
