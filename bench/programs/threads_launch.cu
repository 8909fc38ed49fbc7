/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that launch small kernels, each on a stream of its own, as fast as they can; prints, as
 * one line of JSON, how long one of them takes for a launch.
 *   threads_launch [--threads N] [--seconds SECONDS] [--mode base]
 *
 * It measures as blocks.cuh says. An iteration is a launch.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <pthread.h>

#include "blocks.cuh"

enum { MAX_THREADS = 256, NUMBERS = 256, LAUNCHES_BETWEEN_LOOKS = 16 };

/* Shared by main and the threads. Written by main while the threads wait at `begin`. */
struct race {
	pthread_barrier_t begin;
	pthread_barrier_t end;
	double until_ns;
	bool over;
};

struct worker {
	pthread_t thread;
	struct race *race;
	long launches; /* of the last block */
	cudaError_t error;
};

__global__ void empty()
{
}

__global__ void add(float *numbers, float what)
{
	numbers[threadIdx.x] += what;
}

static long launch_until(double until_ns, cudaStream_t stream, float *numbers)
{
	long launches = 0;

	while (now_ns() < until_ns) {
		for (int i = 0; i < LAUNCHES_BETWEEN_LOOKS / 2; i++) {
			empty<<<1, 32, 0, stream>>>();
			add<<<1, NUMBERS, 0, stream>>>(numbers, 1.0f);
		}
		launches += LAUNCHES_BETWEEN_LOOKS;
	}
	return launches;
}

/* A thread: a block of launches whenever main lets it, until the race is over. */
static void *work(void *argument)
{
	struct worker *worker = (struct worker *)argument;
	struct race *race = worker->race;
	cudaStream_t stream = NULL;
	float *numbers = NULL;

	worker->error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	if (worker->error == cudaSuccess)
		worker->error = cudaMalloc((void **)&numbers, NUMBERS * sizeof(*numbers));
	for (;;) {
		pthread_barrier_wait(&race->begin);
		if (race->over)
			return NULL;
		worker->launches = 0;
		if (worker->error == cudaSuccess) {
			worker->launches = launch_until(race->until_ns, stream, numbers);
			worker->error = cudaStreamSynchronize(stream);
		}
		if (worker->error == cudaSuccess)
			worker->error = cudaGetLastError();
		pthread_barrier_wait(&race->end);
	}
}

static struct block run_block(struct race *race, struct worker *workers, int threads, double ns)
{
	struct block block = {};
	const double begin = now_ns();

	race->until_ns = begin + ns;
	pthread_barrier_wait(&race->begin);
	pthread_barrier_wait(&race->end);
	block.wall_ns = now_ns() - begin;
	for (int i = 0; i < threads; i++) {
		if (workers[i].error != cudaSuccess) {
			fprintf(stderr, "threads_launch: %s\n",
			        cudaGetErrorString(workers[i].error));
			exit(1);
		}
		block.launches += workers[i].launches;
	}
	return block;
}

static int usage()
{
	fprintf(stderr, "usage: threads_launch [--threads N] [--seconds SECONDS] [--mode base]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct worker workers[MAX_THREADS];
	static struct block blocks[MAX_BLOCKS];
	struct race race = {};
	double seconds = 1;
	int threads = 8;

	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "--threads") == 0)
			threads = atoi(value);
		else if (strcmp(argv[i], "--seconds") == 0)
			seconds = atof(value);
		else if (strcmp(argv[i], "--mode") != 0 || strcmp(value, "base") != 0)
			return usage();
	}
	const int count = blocks_in(seconds);
	if (threads < 1 || threads > MAX_THREADS || count < 1)
		return usage();

	pthread_barrier_init(&race.begin, NULL, (unsigned)threads + 1);
	pthread_barrier_init(&race.end, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++) {
		workers[i].race = &race;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			fprintf(stderr, "threads_launch: no thread %d\n", i);
			return 1;
		}
	}
	/* The threads make their streams before the first block; it is not measured. */
	const long warm_up = run_block(&race, workers, threads, WARM_UP_NS).launches;
	for (int i = 0; i < count; i++)
		blocks[i] = run_block(&race, workers, threads, BLOCK_NS);
	race.over = true;
	pthread_barrier_wait(&race.begin);
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	print_blocks(blocks, count, warm_up, threads, 1);
	return 0;
}
