/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels whose work depends on what memory holds: replay_counters NAME [LAUNCHES] [cold]. Without
 * a name it lists them. Each is launched so often, on the same inputs; what it does not leave as it
 * found it is set to 0 before each launch, as libraries do. cold: so much memory is written between
 * launches that the level-2 cache holds nothing of theirs. Prints how many elements are wrong.
 */
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "samples/check.h"

enum {
	COUNT = 1 << 21, /* elements of each buffer */
	THREADS = 256,
	EACH = 8, /* elements of a thread */
	TILE = THREADS * EACH,
	TILES = COUNT / TILE,
	ROUNDS = 24, /* that a value is worked on, so that a launch takes some 10 us */
	COLD_BYTES = 512 << 20,
};

__host__ __device__ static float value_of(size_t i)
{
	return (float)((uint32_t)(i * 2654435761u) >> 16) / 65536;
}

__host__ __device__ static float worked(float value)
{
	for (int i = 0; i < ROUNDS; i++)
		value = value * 0.5f + 0.25f * value * value;
	return value;
}

__global__ void fill_values(float *to)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT;
	     i += gridDim.x * blockDim.x)
		to[i] = value_of(i);
}

__device__ static void work_on(const float *x, float *out, unsigned tile)
{
	for (int i = 0; i < EACH; i++) {
		const size_t at = (size_t)tile * TILE + i * THREADS + threadIdx.x;

		out[at] = x[at] + worked(x[at]);
	}
}

__device__ static unsigned next_tile(unsigned *counter)
{
	__shared__ unsigned taken;

	__syncthreads();
	if (threadIdx.x == 0)
		taken = atomicAdd(counter, 1);
	__syncthreads();
	return taken;
}

extern "C" {

/* The counter is left where it ends: launched again over that, it does nothing. */
__global__ void takes_tiles(const float *x, float *out, unsigned *counter)
{
	for (unsigned tile = next_tile(counter); tile < TILES; tile = next_tile(counter))
		work_on(x, out, tile);
}

/* The last block sets both counters to 0. */
__global__ void resets_tiles(const float *x, float *out, unsigned *counters)
{
	for (unsigned tile = next_tile(counters); tile < TILES; tile = next_tile(counters))
		work_on(x, out, tile);
	if (threadIdx.x == 0 && atomicAdd(&counters[1], 1) == gridDim.x - 1)
		counters[0] = counters[1] = 0;
}

/* Each block waits for the sum of those before it, unless it finds it. */
struct tile_state {
	float sum;
	unsigned ready;
};

__global__ void looks_back(const float *x, float *out, tile_state *states)
{
	__shared__ float sums[THREADS];
	__shared__ float before;
	volatile tile_state *mine = states + blockIdx.x;
	float own[EACH], sum = 0;

	for (int i = 0; i < EACH; i++)
		own[i] = sum += x[(size_t)blockIdx.x * TILE + threadIdx.x * EACH + i];
	sums[threadIdx.x] = sum;
	__syncthreads();
	for (unsigned step = 1; step < THREADS; step *= 2) {
		const float more = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;

		__syncthreads();
		sums[threadIdx.x] += more;
		__syncthreads();
	}
	if (threadIdx.x == 0) {
		while (blockIdx.x > 0 && mine[-1].ready == 0) {
		}
		__threadfence();
		before = blockIdx.x > 0 ? mine[-1].sum : 0;
		mine->sum = before + sums[THREADS - 1];
		__threadfence();
		mine->ready = 1;
	}
	__syncthreads();
	for (int i = 0; i < EACH; i++)
		out[(size_t)blockIdx.x * TILE + threadIdx.x * EACH + i] =
			before + sums[threadIdx.x] - sum + own[i];
}

/* Reads what it changes. */
__global__ void accumulates(const float *x, float *y)
{
	const size_t i = blockIdx.x * blockDim.x + threadIdx.x;

	y[i] += x[i];
}
}

struct run {
	size_t launches;
	char *flush; /* COLD_BYTES; NULL: not cold */
	float *x;
	float *out; /* behind it, in the same memory: */
	unsigned *behind;
	unsigned *apart; /* memory of its own, for a state of each tile */
	unsigned blocks;
};

template <typename Launch> static void repeat(const struct run *run, Launch launch)
{
	for (size_t i = 0; i < run->launches; i++) {
		if (run->flush)
			CHECK(cudaMemsetAsync(run->flush, (int)i, COLD_BYTES));
		launch();
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
}

static void run_takes_tiles(const struct run *run)
{
	repeat(run, [=] {
		CHECK(cudaMemsetAsync(run->apart, 0, sizeof(unsigned)));
		takes_tiles<<<run->blocks, THREADS>>>(run->x, run->out, run->apart);
	});
}

/* The counter lies behind the output, in the same memory. */
static void run_takes_tiles_behind(const struct run *run)
{
	repeat(run, [=] {
		CHECK(cudaMemsetAsync(run->behind, 0, sizeof(unsigned)));
		takes_tiles<<<run->blocks, THREADS>>>(run->x, run->out, run->behind);
	});
}

static void run_resets_tiles(const struct run *run)
{
	repeat(run, [=] { resets_tiles<<<run->blocks, THREADS>>>(run->x, run->out, run->apart); });
}

static void run_looks_back(const struct run *run)
{
	repeat(run, [=] {
		CHECK(cudaMemsetAsync(run->apart, 0, TILES * sizeof(tile_state)));
		looks_back<<<TILES, THREADS>>>(run->x, run->out, (tile_state *)run->apart);
	});
}

static void run_accumulates(const struct run *run)
{
	repeat(run, [=] { accumulates<<<COUNT / THREADS, THREADS>>>(run->x, run->out); });
}

/* ---- what comes out ---- */

static bool is_near(float got, double wanted)
{
	return std::fabs(got - wanted) <= 1e-3 * (1 + std::fabs(wanted));
}

static size_t wrong_tiles(const struct run *, const std::vector<float> &got)
{
	size_t wrong = 0;

	for (size_t i = 0; i < COUNT; i++)
		wrong += !is_near(got[i], value_of(i) + worked(value_of(i)));
	return wrong;
}

static size_t wrong_sums(const struct run *, const std::vector<float> &got)
{
	size_t wrong = 0;
	double sum = 0;

	for (size_t i = 0; i < COUNT; i++)
		wrong += !is_near(got[i], sum += value_of(i));
	return wrong;
}

static size_t wrong_multiples(const struct run *run, const std::vector<float> &got)
{
	size_t wrong = 0;

	for (size_t i = 0; i < COUNT; i++)
		wrong += !is_near(got[i], run->launches * (double)value_of(i));
	return wrong;
}

static const struct program {
	const char *name;
	void (*run)(const struct run *run);
	size_t (*wrong)(const struct run *run, const std::vector<float> &got);
} programs[] = {
	{"takes_tiles", run_takes_tiles, wrong_tiles},
	{"takes_tiles_behind", run_takes_tiles_behind, wrong_tiles},
	{"resets_tiles", run_resets_tiles, wrong_tiles},
	{"looks_back", run_looks_back, wrong_sums},
	{"accumulates", run_accumulates, wrong_multiples},
};

static void prepare(struct run *run)
{
	cudaDeviceProp properties;

	CHECK(cudaGetDeviceProperties(&properties, 0));
	run->blocks = 4 * (unsigned)properties.multiProcessorCount;
	CHECK(cudaMalloc(&run->x, COUNT * sizeof(float)));
	CHECK(cudaMalloc(&run->out, COUNT * sizeof(float) + sizeof(unsigned)));
	CHECK(cudaMemset(run->out, 0, COUNT * sizeof(float) + sizeof(unsigned)));
	run->behind = (unsigned *)(run->out + COUNT);
	CHECK(cudaMalloc(&run->apart, TILES * sizeof(tile_state)));
	CHECK(cudaMemset(run->apart, 0, TILES * sizeof(tile_state)));
	fill_values<<<256, THREADS>>>(run->x);
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	struct run run = {};

	run.launches = argument(argc, argv, 2, 40);

	for (const struct program &program : programs) {
		std::vector<float> got(COUNT);

		if (argc < 2)
			printf("%s\n", program.name);
		if (argc < 2 || strcmp(program.name, argv[1]) != 0)
			continue;
		if (argc > 3 && strcmp(argv[3], "cold") == 0)
			CHECK(cudaMalloc(&run.flush, COLD_BYTES));
		prepare(&run);
		program.run(&run);
		CHECK(cudaMemcpy(got.data(), run.out, COUNT * sizeof(float),
		                 cudaMemcpyDeviceToHost));

		const size_t wrong = program.wrong(&run, got);

		printf("launches=%zu\nwrong=%zu\n", run.launches, wrong);
		return wrong != 0;
	}
	if (argc > 1)
		fprintf(stderr, "there is no kernel %s\n", argv[1]);
	return argc > 1 ? 2 : 0;
}
