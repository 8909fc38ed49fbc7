/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of the host that cost something, or nothing, and could go, or not: a known number of each.
 * Every launch is of a kernel that takes a while, so that a wait right behind it waits. Usage:
 * stalls [ROUNDS]
 */
#include <time.h>

#include "samples/check.h"

__global__ void spin(int *value, long long cycles)
{
	const long long start = clock64();

	while (clock64() - start < cycles)
		;
	*value += 1;
}

static const long long CYCLES = 3000000; /* 1.5 to 3 ms */
static const size_t MUCH = 1 << 20;      /* bytes: more than a small read */

static cudaStream_t one, other;
static int *value;      /* on the device, with much behind it */
static int *read_value; /* pinned */
static double waited_us;

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void work(cudaStream_t stream)
{
	spin<<<1, 1, 0, stream>>>(value, CYCLES);
	CHECK(cudaGetLastError());
}

static void wait(cudaStream_t stream)
{
	const double start_us = now_us();

	CHECK(cudaStreamSynchronize(stream));
	waited_us += now_us() - start_us;
}

/* The stream would keep the order by itself. */
static void wait_before_more_work(size_t rounds)
{
	for (size_t round = 0; round < rounds; round++) {
		work(one);
		wait(one);
	}
}

/* An event would keep the order. */
static void wait_before_another_stream(size_t rounds)
{
	for (size_t round = 0; round < rounds; round++) {
		work(one);
		wait(one);
		work(other);
		wait(other);
	}
}

static void wait_for_nothing(size_t rounds)
{
	work(one);
	wait(one);
	for (size_t round = 0; round < rounds; round++)
		wait(one);
}

/* As .item() does, and by a copy that waits by itself. */
static void read_little(size_t rounds)
{
	int here = 0;

	for (size_t round = 0; round < rounds; round++) {
		work(one);
		CHECK(cudaMemcpyAsync(read_value, value, sizeof(*value), cudaMemcpyDeviceToHost,
		                      one));
		wait(one);
		work(0);
		CHECK(cudaMemcpy(&here, value, sizeof(here), cudaMemcpyDeviceToHost));
	}
}

/* These have to be. */
static void read_much(size_t rounds)
{
	for (size_t round = 0; round < rounds; round++) {
		work(one);
		CHECK(cudaMemcpyAsync(read_value, value, MUCH, cudaMemcpyDeviceToHost, one));
		wait(one);
	}
}

/* Events that serve once, for nobody, and one that is asked about all the time. */
static size_t waste_events(size_t rounds)
{
	size_t not_ready = 0;
	cudaEvent_t asked;

	CHECK(cudaEventCreateWithFlags(&asked, cudaEventDisableTiming));
	for (size_t round = 0; round < rounds; round++) {
		cudaEvent_t wasted;
		cudaError_t answer;

		work(one);
		CHECK(cudaEventCreateWithFlags(&wasted, cudaEventDisableTiming));
		CHECK(cudaEventRecord(wasted, one));
		CHECK(cudaEventDestroy(wasted));
		CHECK(cudaEventRecord(asked, one));
		while ((answer = cudaEventQuery(asked)) == cudaErrorNotReady)
			not_ready++;
		CHECK(answer);
	}
	CHECK(cudaEventDestroy(asked));
	return not_ready;
}

int main(int argc, char **argv)
{
	const size_t rounds = argument(argc, argv, 1, 20);
	size_t not_ready;

	CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&value, MUCH));
	CHECK(cudaMallocHost((void **)&read_value, MUCH));
	wait_before_more_work(rounds);
	wait_before_another_stream(rounds);
	wait_for_nothing(rounds);
	read_little(rounds);
	read_much(rounds);
	not_ready = waste_events(rounds);
	CHECK(cudaDeviceSynchronize());
	printf("rounds=%zu\nlaunches=%zu\nstream_waits=%zu\n", rounds, 7 * rounds + 1,
	       6 * rounds + 1);
	printf("emptied=%zu\nnot_ready=%zu\nwaited_us=%.1f\n", 6 * rounds + 1, not_ready,
	       waited_us);
	CHECK(cudaFreeHost(read_value));
	CHECK(cudaFree(value));
	CHECK(cudaStreamDestroy(one));
	CHECK(cudaStreamDestroy(other));
	return 0;
}
