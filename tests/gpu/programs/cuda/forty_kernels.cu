/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forty kernels, each launched some times in every step: half of them compute, half of them move
 * memory. One can be made slower, called once more in each step, or all of them be made slower.
 * Usage: forty_kernels [STEPS] [slower KERNEL PERCENT | extra KERNEL | all PERCENT]
 */
#include <cstring>
#include <nvtx3/nvToolsExt.h>
#include <utility>

#include "samples/check.h"

enum { KERNELS = 40, LAUNCHES = 4, ROUNDS = 8000, COUNT = 1 << 25 };

struct change {
	int kernel; /* -1: all */
	double percent;
	int extra; /* the kernel that is called once more in each step, -1: none */
};

template <int K> __global__ void compute(float *data, int rounds)
{
	float sum = data[threadIdx.x];

	for (int round = 0; round < rounds; round++)
		sum = fmaf(sum, 0.999f, (float)K);
	data[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int K> __global__ void move(float *data, int count)
{
	const int stride = (int)(gridDim.x * blockDim.x);

	for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += stride)
		data[COUNT + i] = data[i] + (float)K;
}

static int amount(const struct change *change, int kernel, int plain)
{
	const bool slower = change->percent > 0 && (change->kernel < 0 || change->kernel == kernel);

	return slower ? (int)(plain * (1 + change->percent / 100)) : plain;
}

/* Kernels differ in how much they do: by up to a factor of six. */
template <int K> static void launch(const struct change *change, float *data)
{
	const int share = 1 + K % 6;
	const int launches = LAUNCHES + (change->extra == K);

	for (int i = 0; i < launches; i++)
		if (K % 2)
			move<K><<<264, 512>>>(data, amount(change, K, COUNT / 6 * share));
		else
			compute<K><<<264, 256>>>(data, amount(change, K, ROUNDS * share));
}

template <int... K>
static void launch_all(const struct change *change, float *data, std::integer_sequence<int, K...>)
{
	(launch<K>(change, data), ...);
}

static struct change read_change(int argc, char **argv)
{
	struct change change = {-2, 0, -1};

	if (argc == 5 && !strcmp(argv[2], "slower"))
		change = {atoi(argv[3]), atof(argv[4]), -1};
	else if (argc == 4 && !strcmp(argv[2], "extra"))
		change.extra = atoi(argv[3]);
	else if (argc == 4 && !strcmp(argv[2], "all"))
		change = {-1, atof(argv[3]), -1};
	else if (argc > 2)
		exit(2);
	return change;
}

int main(int argc, char **argv)
{
	const size_t steps = argument(argc, argv, 1, 30);
	const struct change change = read_change(argc, argv);
	float *data;

	CHECK(cudaMalloc((void **)&data, sizeof(*data) * COUNT * 3));
	CHECK(cudaMemset(data, 0, sizeof(*data) * COUNT * 3));
	for (size_t step = 0; step < steps; step++) {
		nvtxRangePushA("step");
		launch_all(&change, data, std::make_integer_sequence<int, KERNELS>());
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
		nvtxRangePop();
	}
	CHECK(cudaFree(data));
	printf("steps=%zu\nlaunches=%zu\n", steps,
	       steps * (KERNELS * LAUNCHES + (change.extra >= 0)));
	return 0;
}
