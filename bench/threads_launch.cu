/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that launch small kernels, each on a stream of its own, as fast as they can; prints, as
 * one line of JSON, how long one of them takes for a launch.
 *   threads_launch [--threads N] [--seconds SECONDS] [--mode base]
 *
 * It measures as programs/measure.py does: blocks of an eighth of a second after a warm-up, each
 * with the wait for the GPU at its end, and the median of the blocks. An iteration is a launch.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <cuda_runtime.h>
#include <pthread.h>

enum { MAX_THREADS = 256, MAX_BLOCKS = 4096, NUMBERS = 256, LAUNCHES_BETWEEN_LOOKS = 16 };

static const double BLOCK_NS = 125e6;
static const double WARM_UP_NS = 250e6;

/* What main and the threads share. Written by main while the threads wait at `begin`. */
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

struct block {
	long launches;
	double wall_ns;
	double launch_ns; /* what one thread takes for one launch */
};

__global__ void empty()
{
}

__global__ void add(float *numbers, float what)
{
	numbers[threadIdx.x] += what;
}

static double now_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
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
	block.launch_ns = block.wall_ns * threads / (double)block.launches;
	return block;
}

static void print(struct block *blocks, int count, long warm_up, int threads)
{
	long launches = 0;
	double wall_ns = 0;

	for (int i = 0; i < count; i++) {
		launches += blocks[i].launches;
		wall_ns += blocks[i].wall_ns;
	}
	std::sort(blocks, blocks + count, [](const struct block &a, const struct block &b) {
		return a.launch_ns < b.launch_ns;
	});
	const double median_ns =
		(blocks[(count - 1) / 2].launch_ns + blocks[count / 2].launch_ns) / 2;
	printf("{\"mode\": \"base\", \"threads\": %d, \"iteration_us\": %.4f, "
	       "\"mean_iteration_us\": %.4f, \"iterations\": %ld, \"recorded\": %ld, "
	       "\"kernels_at_least\": 1}\n",
	       threads, median_ns / 1e3, wall_ns * threads / (double)launches / 1e3, launches,
	       launches + warm_up);
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
	const int count = std::max(1, (int)(seconds * 1e9 / BLOCK_NS + 0.5));
	if (threads < 1 || threads > MAX_THREADS || seconds <= 0 || count > MAX_BLOCKS)
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
	print(blocks, count, warm_up, threads);
	return 0;
}
