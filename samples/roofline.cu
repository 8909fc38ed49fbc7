/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that move a known number of bytes and do a known number of operations, which ranges of
 * NVTX around their launches declare: from memory alone, over the level-2 cache and shared memory,
 * to multiplications alone, with tensor cores too. Each at two sizes, so many MiB and four times as
 * many. Usage: roofline [LAUNCHES] [MEBIBYTES]
 */
#include <cuda_bf16.h>
#include <mma.h>

#include "samples/check.h"
#include "samples/payload.h"

/* Bytes and operations that a kernel needs, as gputrace reads them: docs/reports/bandwidth.md. */
struct traffic {
	uint64_t read_bytes;
	uint64_t write_bytes;
	uint64_t fp32_flops;
	uint64_t bf16_flops; /* of tensor cores */
};

enum {
	THREADS = 256,
	BLOCKS = 132 * 8,
	MEBIBYTES = 256, /* no level-2 cache of today holds as many */
	ROUNDS = 16,     /* for each MiB */
	CACHED_BYTES = 8 << 20,
	TILES = 4, /* that a warp multiplies in a round */
};

static nvtxDomainHandle_t domain;
static uint64_t schema;
static float *from, *to;

#define EACH(i, count)                                                                             \
	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < (count);                   \
	     i += (size_t)gridDim.x * THREADS)

__global__ void copy(const float4 *from, float4 *to, size_t count)
{
	EACH(i, count)
	to[i] = from[i];
}

__global__ void saxpy(const float4 *x, float4 *y, size_t count)
{
	EACH(i, count)
	{
		const float4 a = x[i];
		const float4 b = y[i];

		y[i] = make_float4(2 * a.x + b.x, 2 * a.y + b.y, 2 * a.z + b.z, 2 * a.w + b.w);
	}
}

/* Each thread's own sum is written, so that nothing else is to be added. */
__global__ void reduce(const float4 *from, float *sums, size_t count)
{
	float sum = 0;

	EACH(i, count)
	{
		const float4 a = from[i];

		sum += a.x + a.y + a.z + a.w;
	}
	sums[(size_t)blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* One float of each 32 bytes: memory is read in such pieces, so that all of them are. */
__global__ void strided(const float *from, float *sums, size_t count)
{
	float sum = 0;

	EACH(i, count / 8)
	sum += from[8 * i];
	sums[(size_t)blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* The same few MiB again and again. */
__global__ void cached(const float4 *from, float *sums, size_t rounds)
{
	const size_t count = CACHED_BYTES / sizeof(float4);
	float sum = 0;

	for (size_t round = 0; round < rounds; round++)
		EACH(i, count)
	sum += __ldcg(&from[(i + round * 32) % count]).x;
	sums[(size_t)blockIdx.x * THREADS + threadIdx.x] = sum;
}

__global__ void shared_only(float *sums, size_t rounds)
{
	__shared__ float values[THREADS];
	float sum = 0;

	values[threadIdx.x] = (float)threadIdx.x;
	__syncthreads();
	for (size_t round = 0; round < rounds; round++)
		sum += ((volatile float *)values)[(threadIdx.x + round) % THREADS];
	sums[(size_t)blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* Four chains of multiplications with additions in each thread. */
__global__ void multiply(float *sums, size_t rounds, float factor)
{
	float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;

	for (size_t round = 0; round < rounds; round++) {
		a = fmaf(a, factor, 1.0f);
		b = fmaf(b, factor, 1.0f);
		c = fmaf(c, factor, 1.0f);
		d = fmaf(d, factor, 1.0f);
	}
	sums[(size_t)blockIdx.x * THREADS + threadIdx.x] = a + b + c + d;
}

/* Elements without a pattern, from -1 up to 1: equal ones take less power than a program's. */
template <typename Fragment> static __device__ void scramble(Fragment &tile, unsigned number)
{
	for (int i = 0; i < tile.num_elements; i++) {
		number = number * 1664525u + 1013904223u;
		tile.x[i] = __float2bfloat16((float)(int)number * 0x1p-31f);
	}
}

/*
 * Each warp multiplies tiles of 16 x 16 again and again, four sums at a time, each of tiles of its
 * own. All elements of the sums are written: what nobody reads the compiler would not multiply.
 */
__global__ void tensor(float *sums, size_t rounds)
{
	float all = 0;
#if __CUDA_ARCH__ >= 800
	using namespace nvcuda;

	wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b[TILES];
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> products[TILES];

	scramble(a, threadIdx.x);
	for (int i = 0; i < TILES; i++) {
		scramble(b[i], threadIdx.x * TILES + i + THREADS);
		wmma::fill_fragment(products[i], (float)i);
	}
	for (size_t round = 0; round < rounds; round++)
#pragma unroll
		for (int i = 0; i < TILES; i++)
			wmma::mma_sync(products[i], a, b[i], products[i]);
	for (int i = 0; i < TILES; i++)
		for (int j = 0; j < products[i].num_elements; j++)
			all += products[i].x[j];
#else
	all = (float)rounds;
#endif
	sums[(size_t)blockIdx.x * THREADS + threadIdx.x] = all;
}

static void register_schema(void)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "gputrace.read_bytes",
	                      offsetof(struct traffic, read_bytes)),
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "gputrace.write_bytes",
	                      offsetof(struct traffic, write_bytes)),
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "gputrace.flops.fp32",
	                      offsetof(struct traffic, fp32_flops)),
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "gputrace.flops.tensor_bf16",
	                      offsetof(struct traffic, bf16_flops)),
	};

	domain = nvtxDomainCreateA("roofline");
	schema = payload_schema(domain, "gputrace.traffic", entries,
	                        sizeof(entries) / sizeof(entries[0]), sizeof(struct traffic));
}

/* A range around a launch that says what its kernel must do. */
static void begin(const char *name, const struct traffic *traffic)
{
	payload_push(domain, name, schema, traffic, sizeof(*traffic));
}

static void end(void)
{
	nvtxDomainRangePop(domain);
	CHECK(cudaGetLastError());
}

/* Kernels of memory alone, in so many floats. */
static void move(size_t count)
{
	const uint64_t bytes = count * sizeof(float);
	const uint64_t sums = (uint64_t)BLOCKS * THREADS * sizeof(float);
	const struct traffic copied = {bytes, bytes, 0, 0};
	const struct traffic scaled = {2 * bytes, bytes, 2 * count, 0};
	const struct traffic reduced = {bytes, sums, count, 0};
	const struct traffic skipped = {bytes, sums, count / 8, 0};

	begin("copy", &copied);
	copy<<<BLOCKS, THREADS>>>((const float4 *)from, (float4 *)to, count / 4);
	end();
	begin("saxpy", &scaled);
	saxpy<<<BLOCKS, THREADS>>>((const float4 *)from, (float4 *)to, count / 4);
	end();
	begin("reduce", &reduced);
	reduce<<<BLOCKS, THREADS>>>((const float4 *)from, to, count / 4);
	end();
	begin("strided", &skipped);
	strided<<<BLOCKS, THREADS>>>(from, to, count);
	end();
}

/* Kernels that hardly ask memory for anything, in so many rounds. */
static void compute(size_t rounds)
{
	const uint64_t threads = (uint64_t)BLOCKS * THREADS;
	const uint64_t sums = threads * sizeof(float);
	const struct traffic kept = {CACHED_BYTES, sums,
	                             rounds / 16 * (CACHED_BYTES / sizeof(float4)), 0};
	const struct traffic added = {0, sums, threads * rounds, 0};
	const struct traffic multiplied = {0, sums, threads * rounds * 8, 0};
	const struct traffic tiled = {0, sums, 0, threads / 32 * rounds * TILES * 2 * 16 * 16 * 16};

	begin("cached", &kept);
	cached<<<BLOCKS, THREADS>>>((const float4 *)from, to, rounds / 16);
	end();
	begin("shared", &added);
	shared_only<<<BLOCKS, THREADS>>>(to, rounds);
	end();
	begin("multiply", &multiplied);
	multiply<<<BLOCKS, THREADS>>>(to, rounds, 0.5f);
	end();
	begin("tensor", &tiled);
	tensor<<<BLOCKS, THREADS>>>(to, rounds);
	end();
}

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 20);
	const size_t mebibytes = argument(argc, argv, 2, MEBIBYTES);
	const size_t most = 4 * mebibytes << 20;

	CHECK(cudaMalloc((void **)&from, most));
	CHECK(cudaMalloc((void **)&to, most));
	CHECK(cudaMemset(from, 0, most));
	CHECK(cudaMemset(to, 0, most));
	register_schema();
	for (size_t size = mebibytes; size <= 4 * mebibytes; size *= 4)
		for (size_t i = 0; i < launches; i++) {
			move((size << 20) / sizeof(float));
			compute(size * ROUNDS);
		}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(to));
	CHECK(cudaFree(from));
	printf("launches=%zu\n", launches);
	return 0;
}
