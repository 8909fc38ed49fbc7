/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_SAMPLES_DEVICE_PHASES_CUH
#define GT_SAMPLES_DEVICE_PHASES_CUH

/* A kernel in three phases, which tells of them and measures them itself. */
#include "include/gputrace/device.cuh"

enum {
	PHASE_LOAD,
	PHASE_COMPUTE,
	PHASE_STORE,
	PHASES,
	PHASE_THREADS = 256,
	/* Per thread and round, and how often it stores them: every phase takes microseconds, */
	PHASE_FLOATS = 64,
	PHASE_STORES = 4 /* so that what an event takes is little of it. */
};

/* Sums over all blocks, by their first threads. */
struct phase_sums {
	unsigned long long cycles[PHASES];
	unsigned long long kernel_cycles; /* from the first to the last round */
	unsigned long long kernel_ns;     /* the same, by %globaltimer */
};

GPUTRACE_DEVICE_NAME(phase_load, "load");
GPUTRACE_DEVICE_NAME(phase_compute, "compute");
GPUTRACE_DEVICE_NAME(phase_store, "store");

/* Events that each block writes in a launch, and the ranges that they make. */
static inline size_t phase_events(size_t rounds)
{
	return 2 * PHASES * rounds;
}

/* Most that is left of chunks when the events of a round do not fit any more. */
static inline size_t phase_filled(size_t rounds)
{
	return rounds / (GPUTRACE_DEVICE_EVENTS / phase_events(1)) *
	       (GPUTRACE_DEVICE_EVENTS % phase_events(1));
}

static inline size_t phase_ranges(size_t rounds)
{
	return PHASES * rounds;
}

static __device__ __forceinline__ unsigned long long phase_globaltimer(void)
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/*
 * Begins and ends a phase as the thread that leads sees it, inside of the range: an event that
 * needs another chunk takes it before the range begins or after it has ended.
 */
struct phase_watch {
	bool counts;
	long long begin;
	long long end;
	unsigned long long cycles[PHASES];

	__device__ __forceinline__ void start()
	{
		if (counts)
			begin = clock64();
	}

	__device__ __forceinline__ void stop()
	{
		if (counts)
			end = clock64();
	}

	/* Behind the event, which it is to be compared with. */
	__device__ __forceinline__ void count(int phase)
	{
		cycles[phase] += (unsigned long long)(end - begin);
	}
};

/*
 * in and out: PHASE_THREADS * PHASE_FLOATS numbers for each block and round. told: it writes
 * events. measured: it adds to sums.
 */
template <bool told, bool measured>
__global__ void pipelined(const float *in, float *out, unsigned rounds, unsigned work,
                          struct phase_sums *sums)
{
	__shared__ float tile[PHASE_THREADS];
	const bool first = threadIdx.x == 0;
	gputrace::writer events(told && first);
	struct phase_watch watch = {measured && first, 0, 0, {}};
	const long long start = watch.counts ? clock64() : 0;
	const unsigned long long start_ns = watch.counts ? phase_globaltimer() : 0;

	for (unsigned round = 0; round < rounds; round++) {
		const size_t at =
			((size_t)blockIdx.x * rounds + round) * PHASE_THREADS * PHASE_FLOATS +
			threadIdx.x;
		float sum = 0;

		events.room(2 * PHASES);
		events.begin(phase_load);
		watch.start();
#pragma unroll 16
		for (unsigned i = 0; i < PHASE_FLOATS; i++)
			sum += in[at + i * PHASE_THREADS];
		tile[threadIdx.x] = sum;
		__syncthreads();
		watch.stop();
		events.end(phase_load);
		watch.count(PHASE_LOAD);

		events.begin(phase_compute);
		watch.start();
		for (unsigned i = 0; i < work; i++)
			sum = sum * 0.5f + tile[(threadIdx.x + i) % PHASE_THREADS];
		__syncthreads();
		watch.stop();
		events.end(phase_compute);
		watch.count(PHASE_COMPUTE);

		events.begin(phase_store);
		watch.start();
		for (unsigned pass = 0; pass < PHASE_STORES; pass++)
#pragma unroll 16
			for (unsigned i = 0; i < PHASE_FLOATS; i++)
				((volatile float *)out)[at + i * PHASE_THREADS] = sum;
		__syncthreads();
		watch.stop();
		events.end(phase_store);
		watch.count(PHASE_STORE);
	}
	if (!watch.counts)
		return;
	for (int phase = 0; phase < PHASES; phase++)
		atomicAdd(&sums->cycles[phase], watch.cycles[phase]);
	atomicAdd(&sums->kernel_cycles, (unsigned long long)(clock64() - start));
	atomicAdd(&sums->kernel_ns, phase_globaltimer() - start_ns);
}

#endif
