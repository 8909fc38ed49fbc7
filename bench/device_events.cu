/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What device events cost on this GPU, without anybody who records: the ring is the program's own.
 * Prints key=value lines.
 *   device_events [ROUNDS]
 *
 * clock_..., globaltimer_...: what reading them takes, and what they go on by.
 * event_..._cycles, _ns: an event in a chunk that has room, for one warp and for as many as fit.
 * steady_...: the same with the chunks that are taken and closed meanwhile.
 * first_..., next_...: the event that takes a writer's first chunk, and one that takes another and
 * closes the full one; off_...: an event where nobody records.
 * pipelined_...: samples/device_phases.cuh without calls, with them and nobody who records, and
 * with them and a ring, in turns; the ratios are medians over the rounds.
 */
#include <algorithm>
#include <vector>

#include "samples/check.h"
#include "samples/device_phases.cuh"

enum {
	IN_CHUNK = 24,    /* events behind the one that takes the chunk */
	STEADY = 28 * 40, /* events of a writer, of 40 chunks */
	READINGS = 4096,  /* of a clock */
	CHUNK_COUNT = 1 << 18,
	WARPS = 8, /* of a block */
	PHASE_ROUNDS = 32,
	PHASE_WORK = 4096,
};

GPUTRACE_DEVICE_NAME(event_name, "event");

/* Sums over the warps that measured. */
struct figures {
	unsigned long long warps;
	unsigned long long first, in_chunk, next, steady; /* cycles */
	unsigned long long cycles, ns;                    /* of the same time */
};

static __device__ unsigned long long globaltimer()
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* ring 0: nobody records. */
__global__ void events_of_a_warp(const void *ring, struct figures *figures)
{
	const unsigned long long begin_ns = globaltimer();
	const long long begin = clock64();
	gputrace::writer events(ring, gputrace::leader::warp);
	long long times[5];

	times[0] = clock64();
	events.mark(event_name);
	times[1] = clock64();
#pragma unroll 1
	for (int i = 0; i < IN_CHUNK; i++)
		events.mark(event_name);
	times[2] = clock64();
	for (int i = IN_CHUNK + 1; i < GPUTRACE_DEVICE_EVENTS; i++)
		events.mark(event_name);
	times[3] = clock64();
	events.mark(event_name);
	times[4] = clock64();
#pragma unroll 1
	for (int i = 1; i < STEADY; i++)
		events.mark(event_name);
	const long long end = clock64();

	events.close();
	if (threadIdx.x % 32)
		return;
	atomicAdd(&figures->warps, 1ull);
	atomicAdd(&figures->first, (unsigned long long)(times[1] - times[0]));
	atomicAdd(&figures->in_chunk, (unsigned long long)(times[2] - times[1]));
	atomicAdd(&figures->next, (unsigned long long)(times[4] - times[3]));
	atomicAdd(&figures->steady, (unsigned long long)(end - times[4]));
	atomicAdd(&figures->cycles, (unsigned long long)(clock64() - begin));
	atomicAdd(&figures->ns, globaltimer() - begin_ns);
}

/* result: cycles of READINGS of each clock, and the least that they went on by. */
__global__ void read_clocks(unsigned long long *result)
{
	unsigned long long least[2] = {~0ull, ~0ull};
	unsigned long long last;
	unsigned long long sum = 0;
	long long begin = clock64();

	for (int i = 0; i < READINGS; i++)
		sum += (unsigned long long)clock64();
	result[0] = (unsigned long long)(clock64() - begin);
	begin = clock64();
	for (int i = 0; i < READINGS; i++)
		sum += globaltimer();
	result[1] = (unsigned long long)(clock64() - begin);
	last = (unsigned long long)clock64();
	for (int i = 0; i < READINGS; i++) {
		const unsigned long long now = (unsigned long long)clock64();

		if (now != last)
			least[0] = min(least[0], now - last);
		last = now;
	}
	last = globaltimer();
	for (int i = 0; i < READINGS; i++) {
		const unsigned long long now = globaltimer();

		if (now != last)
			least[1] = min(least[1], now - last);
		last = now;
	}
	result[2] = least[0];
	result[3] = least[1];
	result[4] = sum;
}

/* A ring in memory of the program's. */
struct own_ring {
	struct gputrace_device_ring host;
	struct gputrace_device_ring *device;
	void *chunks;
	void *states;
};

static void ring_empty(struct own_ring *ring)
{
	CHECK(cudaMemset(ring->chunks, 0, (size_t)CHUNK_COUNT * GPUTRACE_DEVICE_CHUNK_BYTES));
	CHECK(cudaMemset(ring->states, 0, (size_t)CHUNK_COUNT * 4));
	CHECK(cudaMemcpy(ring->device, &ring->host, sizeof(ring->host), cudaMemcpyHostToDevice));
}

static struct own_ring ring_new()
{
	struct own_ring ring = {};

	CHECK(cudaMalloc(&ring.chunks, (size_t)CHUNK_COUNT * GPUTRACE_DEVICE_CHUNK_BYTES));
	CHECK(cudaMalloc(&ring.states, (size_t)CHUNK_COUNT * 4));
	CHECK(cudaMalloc((void **)&ring.device, sizeof(*ring.device)));
	ring.host.version = GPUTRACE_DEVICE_VERSION;
	ring.host.chunks = (gputrace_u64)ring.chunks;
	ring.host.states = (gputrace_u64)ring.states;
	ring.host.chunk_count = CHUNK_COUNT;
	ring.host.next = CHUNK_COUNT;
	ring_empty(&ring);
	return ring;
}

/* The ring's counts after the kernels that ran. */
static struct gputrace_device_ring ring_read(const struct own_ring *ring)
{
	struct gputrace_device_ring now;

	CHECK(cudaMemcpy(&now, ring->device, sizeof(now), cudaMemcpyDeviceToHost));
	return now;
}

static void measure_events(struct own_ring *ring, bool on, int blocks, int threads,
                           const char *name)
{
	struct figures *figures;
	struct figures sums;
	double ns_a_cycle;

	CHECK(cudaMalloc((void **)&figures, sizeof(*figures)));
	for (int warm = 0; warm < 2; warm++) {
		ring_empty(ring);
		CHECK(cudaMemset(figures, 0, sizeof(*figures)));
		events_of_a_warp<<<blocks, threads>>>(on ? ring->device : NULL, figures);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
	}
	CHECK(cudaMemcpy(&sums, figures, sizeof(sums), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(figures));
	ns_a_cycle = (double)sums.ns / (double)sums.cycles;
	const struct {
		const char *what;
		double cycles;
	} rows[] = {
		{on ? "event" : "off", (double)sums.in_chunk / IN_CHUNK},
		{"steady", (double)sums.steady / (STEADY - 1)},
		{"first", (double)sums.first},
		{"next", (double)sums.next},
	};

	for (int i = 0; i < (on ? 4 : 1); i++)
		printf("%s_%s_cycles=%.1f\n%s_%s_ns=%.2f\n", rows[i].what, name,
		       rows[i].cycles / (double)sums.warps, rows[i].what, name,
		       rows[i].cycles / (double)sums.warps * ns_a_cycle);
	if (on)
		printf("warps_%s=%llu\nlost_%s=%llu\nchunks_%s=%llu\n", name, sums.warps, name,
		       (unsigned long long)ring_read(ring).lost, name,
		       (unsigned long long)ring_read(ring).next - CHUNK_COUNT);
}

static void measure_clocks()
{
	unsigned long long *result;
	unsigned long long sums[5];

	CHECK(cudaMalloc((void **)&result, sizeof(sums)));
	for (int warm = 0; warm < 2; warm++)
		read_clocks<<<1, 1>>>(result);
	CHECK(cudaMemcpy(sums, result, sizeof(sums), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(result));
	printf("clock_cycles=%.1f\nglobaltimer_cycles=%.1f\n", (double)sums[0] / READINGS,
	       (double)sums[1] / READINGS);
	printf("clock_step_cycles=%llu\n", sums[2]);
	if (sums[3] == ~0ull)
		printf("globaltimer_step_ns=unknown\n");
	else
		printf("globaltimer_step_ns=%llu\n", sums[3]);
}

struct buffers {
	float *in, *out;
	cudaEvent_t begin, end;
	unsigned blocks;
};

/* Milliseconds of one launch. */
template <bool told> static float time_pipelined(const struct buffers *buffers)
{
	float ms;

	CHECK(cudaEventRecord(buffers->begin));
	pipelined<told, false><<<buffers->blocks, PHASE_THREADS>>>(buffers->in, buffers->out,
	                                                           PHASE_ROUNDS, PHASE_WORK, NULL);
	CHECK(cudaGetLastError());
	CHECK(cudaEventRecord(buffers->end));
	CHECK(cudaEventSynchronize(buffers->end));
	CHECK(cudaEventElapsedTime(&ms, buffers->begin, buffers->end));
	return ms;
}

static void set_variable(const void *ring)
{
	const gputrace_u64 address = (gputrace_u64)ring;

	CHECK(cudaMemcpyToSymbol(GPUTRACE_DEVICE_VARIABLE, &address, sizeof(address)));
}

static double median(std::vector<double> numbers)
{
	std::sort(numbers.begin(), numbers.end());
	return numbers[numbers.size() / 2];
}

static void measure_pipelined(struct own_ring *ring, int multiprocessors, size_t rounds)
{
	const unsigned blocks = 2 * (unsigned)multiprocessors;
	const size_t bytes =
		(size_t)blocks * PHASE_ROUNDS * PHASE_THREADS * PHASE_FLOATS * sizeof(float);
	struct buffers buffers = {NULL, NULL, NULL, NULL, blocks};
	std::vector<double> without, off, on;
	unsigned long long lost = 0;

	CHECK(cudaMalloc((void **)&buffers.in, bytes));
	CHECK(cudaMalloc((void **)&buffers.out, bytes));
	CHECK(cudaMemset(buffers.in, 0, bytes));
	CHECK(cudaEventCreate(&buffers.begin));
	CHECK(cudaEventCreate(&buffers.end));
	for (size_t i = 0; i < rounds + 1; i++) {
		const double base = time_pipelined<false>(&buffers);

		set_variable(NULL);
		const double idle = time_pipelined<true>(&buffers);

		ring_empty(ring);
		set_variable(ring->device);
		const double full = time_pipelined<true>(&buffers);

		lost += ring_read(ring).lost;
		if (i == 0) /* code is loaded */
			continue;
		without.push_back(base);
		off.push_back(idle / base);
		on.push_back(full / base);
	}
	set_variable(NULL);
	CHECK(cudaEventDestroy(buffers.begin));
	CHECK(cudaEventDestroy(buffers.end));
	CHECK(cudaFree(buffers.in));
	CHECK(cudaFree(buffers.out));
	printf("pipelined_ms=%.4f\npipelined_off_ratio=%.4f\npipelined_on_ratio=%.4f\n",
	       median(without), median(off), median(on));
	printf("pipelined_events=%zu\npipelined_lost=%llu\nrounds=%zu\n",
	       blocks * phase_events(PHASE_ROUNDS), lost, rounds);
}

int main(int argc, char **argv)
{
	const size_t rounds = argument(argc, argv, 1, 51);
	cudaDeviceProp device;
	struct own_ring ring;

	CHECK(cudaGetDeviceProperties(&device, 0));
	printf("device=%s\n", device.name);
	ring = ring_new();
	measure_clocks();
	measure_events(&ring, false, 1, 32, "one");
	measure_events(&ring, true, 1, 32, "one");
	measure_events(&ring, false, device.multiProcessorCount * 4, WARPS * 32, "all");
	measure_events(&ring, true, device.multiProcessorCount * 4, WARPS * 32, "all");
	measure_pipelined(&ring, device.multiProcessorCount, rounds);
	CHECK(cudaFree(ring.device));
	CHECK(cudaFree(ring.chunks));
	CHECK(cudaFree(ring.states));
	return 0;
}
