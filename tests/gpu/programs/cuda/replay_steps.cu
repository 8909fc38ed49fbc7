/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps with more than launches and copies of bytes on end, for the sequences of
 * scripts/run-gpu-tests: replay_steps HOW [STEPS]. Each step is a range of NVTX that is called
 * step. HOW: rows, copies and fills in two and three dimensions; batch, many copies in one call;
 * symbols, variables by their names, and symbols_first, before a launch of their module in the
 * step; host, what the host writes into managed and pinned memory in between; free, memory that the
 * step asks for and frees. Prints how many elements are wrong, or unsupported=1.
 */
#include <nvtx3/nvToolsExt.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "samples/check.h"

enum {
	COUNT = 1 << 16,
	THREADS = 256,
	BLOCKS = COUNT / THREADS,
	ROWS = 64, /* of a pitched matrix */
	WIDTH = 250,
	BATCH = 100,
};

__device__ float factors[4];
__constant__ float offsets[4];

extern "C" {

__global__ void scale(float *values, float by, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] *= by;
}

__global__ void weigh(float *values, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] = values[i] * factors[i % 4] + offsets[i % 4];
}
}

struct state {
	cudaStream_t stream;
	float *x;      /* COUNT on the GPU */
	float *matrix; /* ROWS rows, pitch bytes apart */
	size_t pitch;
	float *managed; /* COUNT */
	float *pinned;  /* COUNT, of the host */
	std::vector<float> in, out, expected;
};

static void wait(const struct state *state)
{
	CHECK(cudaStreamSynchronize(state->stream));
}

static void launch_scale(const struct state *state, float *values, float by)
{
	scale<<<BLOCKS, THREADS, 0, state->stream>>>(values, by, COUNT);
}

static void copy_in(struct state *state, float *to)
{
	CHECK(cudaMemcpyAsync(to, state->in.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice,
	                      state->stream));
	state->expected = state->in;
}

static void copy_out(struct state *state, const float *from)
{
	CHECK(cudaMemcpyAsync(state->out.data(), from, COUNT * sizeof(float),
	                      cudaMemcpyDeviceToHost, state->stream));
	wait(state);
}

/* ---- what a step does, and what x is then ---- */

/*
 * The matrix is made of rows of the host's, some of its columns are filled, boxes of it go to x, of
 * which boxes are filled: slices of 5 of 8 rows.
 */
static void do_rows(struct state *state)
{
	const size_t bytes = 100 * sizeof(float);
	struct cudaMemcpy3DParms box = {};

	copy_in(state, state->x);
	CHECK(cudaMemcpy2DAsync(state->matrix, state->pitch, state->in.data(), 1024,
	                        WIDTH * sizeof(float), ROWS, cudaMemcpyHostToDevice,
	                        state->stream));
	CHECK(cudaMemset2DAsync((char *)state->matrix + 40, state->pitch, 0, 40, ROWS,
	                        state->stream));
	box.srcPtr = make_cudaPitchedPtr(state->matrix, state->pitch, WIDTH * sizeof(float), 8);
	box.srcPos = make_cudaPos(8, 2, 1);
	box.dstPtr = make_cudaPitchedPtr(state->x, 512, 512, 6);
	box.extent = make_cudaExtent(bytes, 5, 6);
	box.kind = cudaMemcpyDeviceToDevice;
	CHECK(cudaMemcpy3DAsync(&box, state->stream));
	CHECK(cudaMemset3DAsync(make_cudaPitchedPtr(state->x + 128 * 60, 512, 512, 6), 0,
	                        make_cudaExtent(64, 3, 4), state->stream));
	launch_scale(state, state->x, 2);
	copy_out(state, state->x);
	for (size_t slice = 0; slice < 6; slice++)
		for (size_t row = 0; row < 5; row++)
			for (size_t i = 0; i < 100; i++) {
				const size_t from = 256 * (8 * (slice + 1) + row + 2) + i + 2;

				state->expected[128 * (6 * slice + row) + i] =
					i + 2 >= 10 && i + 2 < 20 ? 0 : state->in[from];
			}
	for (size_t slice = 0; slice < 4; slice++)
		for (size_t row = 0; row < 3; row++)
			for (size_t i = 0; i < 16; i++)
				state->expected[128 * (60 + 6 * slice + row) + i] = 0;
	for (float &value : state->expected)
		value *= 2;
}

#if CUDART_VERSION >= 13000
/* From the host and, every second one, from the matrix, which has the host's first values. */
static void do_batch(struct state *state)
{
	const size_t bytes = 128 * sizeof(float);
	std::vector<void *> to;
	std::vector<const void *> from;
	std::vector<size_t> sizes(BATCH, bytes);
	cudaMemcpyAttributes attributes = {};
	size_t first = 0;

	copy_in(state, state->x);
	CHECK(cudaMemcpyAsync(state->matrix, state->in.data(), bytes, cudaMemcpyHostToDevice,
	                      state->stream));
	for (size_t i = 0; i < BATCH; i++) {
		to.push_back(state->x + 256 * i);
		from.push_back(i % 2 ? (const void *)(state->in.data() + 4096 + i)
		                     : (const void *)state->matrix);
	}
	attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
	CHECK(cudaMemcpyBatchAsync(to.data(), from.data(), sizes.data(), BATCH, &attributes, &first,
	                           1, state->stream));
	launch_scale(state, state->x, 2);
	copy_out(state, state->x);
	for (size_t i = 0; i < BATCH; i++)
		for (size_t j = 0; j < 128; j++)
			state->expected[256 * i + j] = state->in[i % 2 ? 4096 + i + j : j];
	for (float &value : state->expected)
		value *= 2;
}
#else
static void do_batch(struct state *)
{
	printf("unsupported=1\n");
	exit(0);
}
#endif

static void do_symbols(struct state *state, bool launches_first)
{
	const float by[4] = {1, 2, 3, 4};
	const float plus[4] = {5, 6, 7, 8};
	float last[4] = {};

	if (launches_first)
		weigh<<<1, 1, 0, state->stream>>>(state->x, 0);
	CHECK(cudaMemcpyToSymbolAsync(factors, by, sizeof(by), 0, cudaMemcpyHostToDevice,
	                              state->stream));
	CHECK(cudaMemcpyToSymbol(offsets, plus, sizeof(plus)));
	CHECK(cudaDeviceSynchronize());
	copy_in(state, state->x);
	weigh<<<BLOCKS, THREADS, 0, state->stream>>>(state->x, COUNT);
	copy_out(state, state->x);
	CHECK(cudaMemcpyFromSymbol(last, factors, sizeof(float), 3 * sizeof(float)));
	for (size_t i = 0; i < COUNT; i++)
		state->expected[i] = state->in[i] * by[i % 4] + plus[i % 4];
	state->expected[0] += last[0] != 4;
}

/* In between, and after all; memory is as it was at the begin of each step before it. */
static void do_host(struct state *state)
{
	launch_scale(state, state->managed, 2);
	launch_scale(state, state->pinned, 2);
	wait(state);
	state->managed[5] = 100;
	state->managed[COUNT - 1] = 7;
	state->pinned[77] = -3;
	launch_scale(state, state->managed, 3);
	launch_scale(state, state->pinned, 3);
	wait(state);
	state->managed[6] = -1;
	for (size_t i = 0; i < COUNT / 2; i++) {
		state->out[i] = state->managed[i];
		state->out[COUNT / 2 + i] = state->pinned[i];
		state->expected[i] = 6 * state->in[i];
		state->expected[COUNT / 2 + i] = 6 * state->in[i];
	}
	state->expected[5] = 300;
	state->expected[6] = -1;
	state->expected[COUNT / 2 + 77] = -9;
}

static void do_free(struct state *state)
{
	const size_t bytes = COUNT * sizeof(float);
	float *scratch;
	float *ordered;

	CHECK(cudaMalloc(&scratch, bytes));
	CHECK(cudaMallocAsync(&ordered, bytes, state->stream));
	copy_in(state, scratch);
	launch_scale(state, scratch, 2);
	CHECK(cudaMemcpyAsync(ordered, scratch, bytes, cudaMemcpyDeviceToDevice, state->stream));
	launch_scale(state, ordered, 3);
	CHECK(cudaMemcpyAsync(state->x, ordered, bytes, cudaMemcpyDeviceToDevice, state->stream));
	CHECK(cudaFreeAsync(ordered, state->stream));
	CHECK(cudaFree(scratch));
	copy_out(state, state->x);
	for (float &value : state->expected)
		value *= 6;
}

static void run_step(struct state *state, const std::string &how)
{
	nvtxRangePushA("step");
	if (how == "rows")
		do_rows(state);
	else if (how == "batch")
		do_batch(state);
	else if (how == "host")
		do_host(state);
	else if (how == "free")
		do_free(state);
	else
		do_symbols(state, how == "symbols");
	nvtxRangePop();
}

static size_t count_wrong(const struct state *state)
{
	size_t wrong = 0;

	for (size_t i = 0; i < COUNT; i++)
		wrong += !(std::fabs(state->out[i] - state->expected[i]) <= 1e-3f);
	return wrong;
}

static void make(struct state *state)
{
	const size_t bytes = COUNT * sizeof(float);

	CHECK(cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&state->x, bytes));
	CHECK(cudaMallocPitch(&state->matrix, &state->pitch, WIDTH * sizeof(float), ROWS));
	CHECK(cudaMallocManaged(&state->managed, bytes));
	CHECK(cudaMallocHost(&state->pinned, bytes));
	for (size_t i = 0; i < COUNT; i++)
		state->in.push_back((float)(i % 1000));
	state->out.resize(COUNT);
	state->expected.resize(COUNT);
}

int main(int argc, char **argv)
{
	const std::string how = argc > 1 ? argv[1] : "rows";
	const size_t steps = argument(argc, argv, 2, 10);
	struct state state = {};
	size_t wrong = 0;

	make(&state);
	for (size_t step = 0; step < steps; step++) {
		CHECK(cudaDeviceSynchronize());
		memcpy(state.managed, state.in.data(), COUNT * sizeof(float));
		memcpy(state.pinned, state.in.data(), COUNT * sizeof(float));
		run_step(&state, how);
		wrong += count_wrong(&state);
	}
	printf("wrong=%zu\n", wrong);
	return wrong != 0;
}
