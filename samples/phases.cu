/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three phases, one after the other with a sleep between: each has its own kernel, its own stream,
 * its own number of launches and its own size of copies. With a number only that phase is done,
 * with the same streams and memory, so that what a filter shows of a recording of all of them can
 * be compared with a recording of one.
 * Usage: phases [PHASE, 1 to 3]
 */
#include <time.h>

#include "samples/check.h"
#include "samples/spend.cuh"

enum { PHASES = 3, SLEEP_MS = 300 };

__global__ void load(unsigned long long *counter)
{
	spend(200000);
	++*counter;
}

__global__ void solve(unsigned long long *counter)
{
	spend(400000);
	++*counter;
}

__global__ void store(unsigned long long *counter)
{
	spend(100000);
	++*counter;
}

struct phase {
	const char *kernel;
	void (*function)(unsigned long long *);
	size_t launches;
	size_t bytes; /* of the copy before each launch */
};

static const struct phase phases[PHASES] = {
	{"load", load, 20, 1 << 16},
	{"solve", solve, 30, 1 << 18},
	{"store", store, 50, 1 << 12},
};

struct memory {
	cudaStream_t streams[PHASES];
	char *host;
	char *device;
	unsigned long long *counters; /* one a phase */
};

static void prepare(struct memory *memory)
{
	CHECK(cudaMallocHost((void **)&memory->host, 1 << 20));
	CHECK(cudaMalloc((void **)&memory->device, 1 << 20));
	CHECK(cudaMalloc((void **)&memory->counters, PHASES * sizeof(*memory->counters)));
	CHECK(cudaMemset(memory->counters, 0, PHASES * sizeof(*memory->counters)));
	for (size_t i = 0; i < PHASES; i++)
		CHECK(cudaStreamCreateWithFlags(&memory->streams[i], cudaStreamNonBlocking));
	CHECK(cudaDeviceSynchronize());
}

static void sleep_between(void)
{
	const struct timespec pause = {0, SLEEP_MS * 1000000L};

	nanosleep(&pause, NULL);
}

static void run_phase(const struct memory *memory, size_t number)
{
	const struct phase *phase = &phases[number];
	const cudaStream_t stream = memory->streams[number];

	CHECK(cudaMemsetAsync(memory->device, 0, phase->bytes, stream));
	for (size_t i = 0; i < phase->launches; i++) {
		CHECK(cudaMemcpyAsync(memory->device, memory->host, phase->bytes,
		                      cudaMemcpyHostToDevice, stream));
		phase->function<<<1, 1, 0, stream>>>(memory->counters + number);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaStreamSynchronize(stream));
	printf("%s_launches=%zu\n%s_bytes=%zu\n", phase->kernel, phase->launches, phase->kernel,
	       phase->launches * phase->bytes);
}

/* Whether each phase that was done counted its launches, and no other did. */
static size_t count_wrong(const struct memory *memory, size_t first, size_t last)
{
	unsigned long long counted[PHASES];
	size_t wrong = 0;

	CHECK(cudaMemcpy(counted, memory->counters, sizeof(counted), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < PHASES; i++)
		wrong += counted[i] != (i >= first && i <= last ? phases[i].launches : 0);
	return wrong;
}

int main(int argc, char **argv)
{
	const size_t only = argc > 1 ? argument(argc, argv, 1, 0) : 0;
	const size_t first = only ? only - 1 : 0;
	const size_t last = only ? only - 1 : PHASES - 1;
	struct memory memory;
	size_t wrong;

	if (only > PHASES) {
		fprintf(stderr, "%s: there are %d phases\n", argv[0], PHASES);
		return 2;
	}
	prepare(&memory);
	for (size_t i = first; i <= last; i++) {
		sleep_between();
		run_phase(&memory, i);
	}
	sleep_between();
	wrong = count_wrong(&memory, first, last);
	for (size_t i = 0; i < PHASES; i++)
		CHECK(cudaStreamDestroy(memory.streams[i]));
	CHECK(cudaFree(memory.counters));
	CHECK(cudaFree(memory.device));
	CHECK(cudaFreeHost(memory.host));
	printf("wrong=%zu\n", wrong);
	return wrong != 0;
}
