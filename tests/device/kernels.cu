/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with device events. With PLAIN defined they have none, and the header is not there: what
 * they are made into is compared.
 */
#ifdef PLAIN
#define EVENTS(...)
#else
#include "include/gputrace/device.cuh"
#define EVENTS(...) __VA_ARGS__
GPUTRACE_DEVICE_NAME(load, "load");
GPUTRACE_DEVICE_NAME(compute, "compute");
GPUTRACE_DEVICE_NAME(depth, "depth");
#endif

enum { THREADS = 256, DEEP = 16 };

extern "C" __global__ void phases(const float *in, float *out, int rounds)
{
	__shared__ float tile[THREADS];
	float sum = 0;

	EVENTS(gputrace::writer events(gputrace::leader::block);)
	for (int i = 0; i < rounds; i++) {
		EVENTS(events.begin(load);)
		tile[threadIdx.x] = in[i * THREADS + threadIdx.x];
		__syncthreads();
		EVENTS(events.end(load);)
		EVENTS(events.begin(compute);)
		for (int j = 0; j < THREADS; j++)
			sum += tile[j ^ threadIdx.x] * sum;
		__syncthreads();
		EVENTS(events.end(compute);)
	}
	out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* The ring as an argument, ranges inside each other, and every kind of event. */
extern "C" __global__ void kinds(const void *ring, float *out, int rounds)
{
	float sum = 1;

	EVENTS(gputrace::writer events(ring, gputrace::leader::warp);)
	EVENTS(gputrace::range whole(events, load);)
	for (int i = 0; i < rounds; i++) {
		EVENTS(gputrace::range one(events, compute);)
		sum = sum * 1.5f + (float)i;
		EVENTS(events.value(depth, i);)
		EVENTS(events.value(depth, sum);)
		EVENTS(events.mark(compute);)
	}
	out[threadIdx.x] = sum;
	(void)ring;
}

/* Every thread writes, and has many registers of its own in use. */
extern "C" __global__ void many(const float *in, float *out, int rounds)
{
	float own[DEEP] = {};

	EVENTS(gputrace::writer events(gputrace::leader::thread);)
	for (int i = 0; i < rounds; i++) {
		EVENTS(events.begin(compute);)
#pragma unroll
		for (int j = 0; j < DEEP; j++)
			own[j] = own[j] * in[i * DEEP + j] + own[(j + 1) % DEEP];
		EVENTS(events.end(compute);)
	}
	for (int j = 0; j < DEEP; j++)
		out[threadIdx.x * DEEP + j] = own[j];
}

#ifdef MAIN
extern "C" __global__ void second(float *out);

int main(void)
{
	phases<<<1, THREADS>>>(NULL, NULL, 0);
	second<<<1, 1>>>(NULL);
	return 0;
}
#endif
