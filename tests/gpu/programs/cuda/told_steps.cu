/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop that can be told to do things between its steps: told_steps [FIRST:COUNT]. Each
 * line of its standard input is a word of ORDERS and a number; each is answered with the launches
 * so far. With FIRST:COUNT it calls cudaProfilerStart before step FIRST, from 1, and
 * cudaProfilerStop after so many. A step is a range "step" inside a range "train": so many launches
 * as its number, an allocation that stays, and a wait.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

enum { STEP_BYTES = 1024 };

static struct {
	unsigned long steps;
	unsigned long launches;
	unsigned long first; /* 0: cudaProfilerStart is not called */
	unsigned long count;
} own;

__global__ void work()
{
}

__global__ void spin(long long ns)
{
	long long begin, now;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "told_steps: %s\n", cudaGetErrorString(error));
	exit(1);
}

static void step()
{
	void *memory;

	own.steps++;
	if (own.first && own.steps == own.first)
		must(cudaProfilerStart());
	nvtxRangePushA("step");
	must(cudaMalloc(&memory, STEP_BYTES));
	for (unsigned long i = 0; i < own.steps; i++) {
		work<<<1, 32>>>();
		own.launches++;
	}
	must(cudaDeviceSynchronize());
	nvtxRangePop();
	if (own.first && own.steps == own.first + own.count - 1)
		must(cudaProfilerStop());
}

static void steps(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		step();
}

/* A kernel of so many milliseconds; nothing waits for it. */
static void spin_for(unsigned long ms)
{
	spin<<<1, 1>>>((long long)ms * 1000000);
	own.launches++;
}

static void wait(unsigned long)
{
	must(cudaDeviceSynchronize());
}

/* ORDERS */
static const struct {
	const char *word;
	void (*carry_out)(unsigned long number);
} orders[] = {{"steps", steps}, {"spin", spin_for}, {"wait", wait}};

int main(int argc, char **argv)
{
	char line[64];

	if (argc > 1)
		sscanf(argv[1], "%lu:%lu", &own.first, &own.count);
	nvtxRangePushA("train");
	while (fgets(line, sizeof(line), stdin)) {
		char word[16] = "";
		unsigned long number = 0;

		sscanf(line, "%15s %lu", word, &number);
		for (const auto &order : orders)
			if (strcmp(order.word, word) == 0)
				order.carry_out(number);
		must(cudaGetLastError());
		printf("%lu\n", own.launches);
		fflush(stdout);
	}
	nvtxRangePop();
	return 0;
}
