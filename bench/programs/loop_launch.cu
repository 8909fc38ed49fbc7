/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches an empty kernel over and over and prints, as one line of JSON, what a launch cost the
 * host: of the loop alone, and with the wait for the last kernel.
 *   loop_launch [LAUNCHES]
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <cuda_runtime.h>

__global__ void empty()
{
}

static double now_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void launch(long count)
{
	for (long i = 0; i < count; i++)
		empty<<<1, 32>>>();
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;

	if (count < 1) {
		fprintf(stderr, "usage: loop_launch [LAUNCHES]\n");
		return 2;
	}
	/* The first launches load the module and fill the queue to its steady state. */
	const long warm_up = 5000;
	launch(warm_up);
	cudaDeviceSynchronize();

	const double begin = now_ns();
	launch(count);
	const double launched = now_ns();
	cudaDeviceSynchronize();
	const double finished = now_ns();

	const cudaError_t error = cudaGetLastError();
	if (error != cudaSuccess) {
		fprintf(stderr, "loop_launch: %s\n", cudaGetErrorString(error));
		return 1;
	}
	printf("{\"launches\": %ld, \"recorded_launches\": %ld, \"launch_ns\": %.1f, "
	       "\"launch_and_sync_ns\": %.1f}\n",
	       count, count + warm_up, (launched - begin) / (double)count,
	       (finished - begin) / (double)count);
	return 0;
}
