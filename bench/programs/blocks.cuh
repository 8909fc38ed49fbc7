/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the compiled programs of attach measure and what they print: as measure.py does, in
 * blocks of an eighth of a second after a warm-up, each with the wait for the GPU at its end.
 */
#ifndef GT_BENCH_PROGRAMS_BLOCKS_CUH
#define GT_BENCH_PROGRAMS_BLOCKS_CUH

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <cuda_runtime.h>

enum { MAX_BLOCKS = 4096 };

static const double BLOCK_NS = 125e6;
static const double WARM_UP_NS = 250e6;

/* Ends the program with a sentence when CUDA fails. */
#define MUST(call)                                                                                 \
	do {                                                                                       \
		const cudaError_t error_ = (call);                                                 \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct block {
	long launches;
	double wall_ns;
};

static inline double now_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Blocks in so many seconds: at least one, 0 for a number that cannot be. */
static inline int blocks_in(double seconds)
{
	const double blocks = seconds * 1e9 / BLOCK_NS + 0.5;

	return seconds > 0 && blocks < MAX_BLOCKS + 1.0 ? std::max(1, (int)blocks) : 0;
}

static inline double launch_ns(const struct block &block, int threads)
{
	return block.wall_ns * threads / (double)block.launches;
}

/*
 * The line of JSON: what one of the threads takes for one launch, as the median of the blocks,
 * which it sorts, and how much there is to find in a recording.
 */
static inline void print_blocks(struct block *blocks, int count, long warm_up, int threads,
                                int kernels_at_least)
{
	long launches = 0;
	double wall_ns = 0;

	for (int i = 0; i < count; i++) {
		launches += blocks[i].launches;
		wall_ns += blocks[i].wall_ns;
	}
	std::sort(blocks, blocks + count, [](const struct block &a, const struct block &b) {
		return launch_ns(a, 1) < launch_ns(b, 1);
	});
	const double median_ns = (launch_ns(blocks[(count - 1) / 2], threads) +
	                          launch_ns(blocks[count / 2], threads)) /
	                         2;
	printf("{\"mode\": \"base\", \"threads\": %d, \"iteration_us\": %.4f, "
	       "\"mean_iteration_us\": %.4f, \"iterations\": %ld, \"recorded\": %ld, "
	       "\"kernels_at_least\": %d}\n",
	       threads, median_ns / 1e3, wall_ns * threads / (double)launches / 1e3, launches,
	       launches + warm_up, kernels_at_least);
}

#endif
