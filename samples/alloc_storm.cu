/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in the order of a stream, again and again at a steady rate: an allocation and its free are
 * a pair. Usage: alloc_storm [SECONDS] [PAIRS A SECOND]
 */
#include <time.h>

#include "samples/check.h"

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	const size_t seconds = argument(argc, argv, 1, 1);
	const size_t rate = argument(argc, argv, 2, 50000);
	const size_t pairs = seconds * rate;
	cudaStream_t stream;
	double begin_s;
	double took_s;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	begin_s = now_s();
	for (size_t i = 0; i < pairs; i++) {
		void *block = NULL;

		while (now_s() - begin_s < (double)i / (double)rate)
			;
		CHECK(cudaMallocAsync(&block, 512 + i % 8 * 512, stream));
		CHECK(cudaFreeAsync(block, stream));
		if (i % 1024 == 1023)
			CHECK(cudaStreamSynchronize(stream));
	}
	CHECK(cudaStreamSynchronize(stream));
	took_s = now_s() - begin_s;
	printf("pairs=%zu\nseconds=%.3f\ncalls_per_second=%.0f\n", pairs, took_s,
	       2 * (double)pairs / took_s);
	return 0;
}
