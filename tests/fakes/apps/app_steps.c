/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop that can be told to do things between its steps: app_steps [FIRST:COUNT]. Each
 * line of its standard input is a number of steps to make, "slow": a step that takes SLOW_MS
 * longer, or "fail": a call that fails; then it answers with the number of launches so far. With
 * FIRST:COUNT it calls cudaProfilerStart before step FIRST, from 1, and cudaProfilerStop after so
 * many. A step is a range "step" inside a range "train": so many launches as its number, an
 * allocation that stays, and a wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nvtx3/nvToolsExt.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

#define STEP_BYTES 1024
#define SLOW_MS    300

static struct {
	unsigned long steps;
	unsigned long launches;
	unsigned long first; /* 0: cudaProfilerStart is not called */
	unsigned long count;
} own;

static void step(unsigned long more_ms)
{
	const struct timespec more = {0, (long)more_ms * 1000000};
	const dim3 one = {1, 1, 1};
	void *memory = NULL;

	own.steps++;
	if (own.first && own.steps == own.first)
		MUST(cudaProfilerStart, );
	nvtxRangePushA("step");
	MUST(cudaMalloc, &memory, STEP_BYTES);
	for (unsigned long i = 0; i < own.steps; i++) {
		MUST(cudaLaunchKernel, "work", one, one, NULL, 0, NULL);
		own.launches++;
	}
	MUST(cudaDeviceSynchronize, );
	nanosleep(&more, NULL);
	nvtxRangePop();
	if (own.first && own.steps == own.first + own.count - 1)
		MUST(cudaProfilerStop, );
}

int main(int argc, char **argv)
{
	char line[64];
	char *end = NULL;

	if (argc > 1)
		own.first = strtoul(argv[1], &end, 10);
	if (end && *end == ':')
		own.count = strtoul(end + 1, NULL, 10);
	nvtxRangePushA("train");
	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "slow", 4) == 0)
			step(SLOW_MS);
		else if (strncmp(line, "fail", 4) == 0)
			(void)cudaFree(&own); /* it is no memory of the GPU */
		for (unsigned long left = strtoul(line, NULL, 10); left > 0; left--)
			step(0);
		printf("%lu\n", own.launches);
		(void)fflush(stdout);
	}
	nvtxRangePop();
	return 0;
}
