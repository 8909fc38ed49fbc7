/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that makes one kind of call so many times, for who counts what recording adds to each
 * (bench/callback_cost): app_repeat CALL COUNT [cold]. With cold it goes through more data and code
 * before each call than the first caches hold, as programs do that work between two calls.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

enum { BYTES = 4096, LINE = 64, COLD_BYTES = 256 << 10 };

static struct {
	cudaStream_t streams[2];
	cudaEvent_t event;
	void *memory[2];
	unsigned char *cold; /* NULL: nothing happens between calls */
} own;

static void launch(void)
{
	const dim3 one = {1, 1, 1};

	MUST(cudaLaunchKernel, "repeated", one, one, NULL, 0, own.streams[0]);
}

static void copy(void)
{
	MUST(cudaMemcpyAsync, own.memory[0], own.memory[1], BYTES, cudaMemcpyDeviceToDevice,
	     own.streams[0]);
}

static void record_event(void)
{
	MUST(cudaEventRecord, own.event, own.streams[0]);
}

static void wait_in_stream(void)
{
	MUST(cudaStreamWaitEvent, own.streams[1], own.event, 0);
}

static void query_event(void)
{
	(void)cudaEventQuery(own.event);
}

static void synchronise(void)
{
	MUST(cudaStreamSynchronize, own.streams[0]);
}

static void allocate(void)
{
	void *memory = NULL;

	MUST(cudaMalloc, &memory, BYTES);
	MUST(cudaFree, memory);
}

static void allocate_in_stream(void)
{
	CUdeviceptr memory = 0;

	MUST(cuMemAllocAsync, &memory, BYTES, own.streams[0]);
	MUST(cuMemFreeAsync, memory, own.streams[0]);
}

static const struct {
	const char *name;
	void (*make)(void);
} calls[] = {
	{"launch", launch},        {"copy", copy},
	{"record", record_event},  {"wait", wait_in_stream},
	{"query", query_event},    {"synchronize", synchronise},
	{"malloc-free", allocate}, {"alloc-free-async", allocate_in_stream},
};

/* 64 KiB of instructions that do nothing. */
static __attribute__((noinline)) void run_code(void)
{
#ifdef __x86_64__
	__asm__ volatile(".rept 8192\n\t.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n\t.endr");
#endif
}

static void work_between(void)
{
	for (size_t i = 0; own.cold && i < COLD_BYTES; i += LINE)
		own.cold[i]++;
	if (own.cold)
		run_code();
}

static void make_ready(void)
{
	MUST(cudaSetDevice, 0);
	for (int i = 0; i < 2; i++) {
		MUST(cudaStreamCreate, &own.streams[i]);
		MUST(cudaMalloc, &own.memory[i], BYTES);
	}
	MUST(cudaEventCreate, &own.event);
	MUST(cudaEventRecord, own.event, own.streams[0]);
	MUST(cudaDeviceSynchronize, );
}

static int find_call(const char *name)
{
	const int count = (int)(sizeof(calls) / sizeof(calls[0]));

	for (int i = 0; i < count; i++)
		if (strcmp(name, calls[i].name) == 0)
			return i;
	return -1;
}

int main(int argc, char **argv)
{
	const int call = argc > 2 ? find_call(argv[1]) : -1;
	const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (call < 0 || argc > 4 || (argc == 4 && strcmp(argv[3], "cold") != 0)) {
		(void)fprintf(stderr, "usage: app_repeat CALL COUNT [cold]; calls:");
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			(void)fprintf(stderr, " %s", calls[i].name);
		(void)fprintf(stderr, "\n");
		return 2;
	}
	if (argc == 4)
		own.cold = calloc(1, COLD_BYTES);
	make_ready();
	for (uint64_t i = 0; i < count; i++) {
		work_between();
		calls[call].make();
	}
	MUST(cudaDeviceSynchronize, );
	free(own.cold);
	return 0;
}
