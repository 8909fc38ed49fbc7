/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of device events on this GPU, without anybody who records: the ring is the program's own.
 * Prints key=value lines.
 *   device_events [ROUNDS]
 *
 * clock_..., globaltimer_...: what reading them takes, and what they go on by.
 * event_...: an event in a chunk that has room; off_...: one where nobody records.
 * steady_...: an event of a writer that has written hundreds, with the chunks that are taken and
 * closed meanwhile.
 * room_...: an event of eight that room was made for, with what that takes, in a chunk that has it;
 * pair_...: one of a range's two, likewise without room of its own.
 * run_...: the event that goes on to the next chunk of a run; draw_...: the one that closes a run
 * and takes another one.
 * cold_...: the event that takes a writer's first chunk, as the first one of a kernel whose code is
 * in no cache; first_...: the same of a later writer; close_...: its end.
 * All but cold_... are of code that has run before, in cycles and nanoseconds, for one warp
 * (..._one) and for as many as fit (..._all). Between two events a thread computes; the same loop
 * without events is subtracted, which takes empty_... for each event.
 * range_...: how long a range is that has nothing in it, by its own events: what they add to one.
 * pipelined_...: samples/device_phases.cuh without calls, with them and nobody who records, and
 * with them and a ring, in turns; the ratios are medians over the rounds.
 */
#include <algorithm>
#include <vector>

#include "samples/check.h"
#include "samples/device_phases.cuh"

enum {
	IN_CHUNK = 24,         /* events that are timed in a chunk, behind the one that takes it */
	TOGETHER = 8,          /* of these, that room is made for at once */
	PASSES = 32,           /* chunks in which they are */
	COLD = 4,              /* of these, and of writers, that are not counted */
	OPERATIONS = 32,       /* between two events */
	STEADY = 28 * 64,      /* events of a writer, of eight runs */
	READINGS = 4096,       /* of a clock */
	CHUNK_COUNT = 1 << 21, /* more than all warps fill */
	WARPS = 8,             /* of a block */
	EMPTY_RANGES = 4096,
	PHASE_ROUNDS = 32,
	PHASE_WORK = 4096,
};

GPUTRACE_DEVICE_NAME(event_name, "event");

/* Measured figures, in cycles. */
enum what {
	EVENT,
	EMPTY,
	STEADY_EVENT,
	RUN,
	DRAW,
	FIRST,
	CLOSE,
	COLD_FIRST,
	ROOM,
	PAIR,
	WHAT_COUNT
};

/* Sums over the warps that measured, and of what each of them counted. */
struct figures {
	unsigned long long warps;
	unsigned long long sums[WHAT_COUNT];
	unsigned long long counts[WHAT_COUNT];
	unsigned long long cycles, ns; /* of the same time */
};

static __device__ unsigned long long globaltimer()
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

struct stopwatch {
	unsigned sums[WHAT_COUNT];
	unsigned counts[WHAT_COUNT];

	__device__ __forceinline__ void add(enum what what, long long cycles, unsigned count)
	{
		sums[what] += (unsigned)cycles;
		counts[what] += count;
	}
};

/*
 * Cycles of a loop that computes, with a mark in each turn or without: what a mark adds to a warp
 * that has something else to do. Each operation waits for the one before.
 */
template <bool told>
static __device__ __forceinline__ long long time_marks(gputrace::writer &events, float &number,
                                                       int count)
{
	const long long begin = clock64();

#pragma unroll 1
	for (int i = 0; i < count; i++) {
#pragma unroll
		for (int step = 0; step < OPERATIONS; step++)
			asm volatile("fma.rn.f32 %0, %0, 0f3F000000, 0f3F800000;" : "+f"(number));
		if (told)
			events.mark(event_name);
	}
	return clock64() - begin;
}

static __device__ __forceinline__ void compute(float &number)
{
#pragma unroll
	for (int step = 0; step < OPERATIONS; step++)
		asm volatile("fma.rn.f32 %0, %0, 0f3F000000, 0f3F800000;" : "+f"(number));
}

/* Contents of such a loop: nothing, marks that room is made for, ranges. */
enum with { WITH_NOTHING, WITH_ROOM, WITH_RANGES };

/* The same of IN_CHUNK events, TOGETHER in each turn. */
template <enum with with>
static __device__ __forceinline__ long long time_turns(gputrace::writer &events, float &number)
{
	const long long begin = clock64();

#pragma unroll 1
	for (int i = 0; i < IN_CHUNK / TOGETHER; i++) {
		if (with == WITH_ROOM)
			events.room(TOGETHER);
#pragma unroll
		for (int j = 0; j < TOGETHER; j++) {
			compute(number);
			if (with == WITH_ROOM)
				events.mark(event_name);
			else if (with == WITH_RANGES && j % 2 == 0)
				events.begin(event_name);
			else if (with == WITH_RANGES)
				events.end(event_name);
		}
	}
	return clock64() - begin;
}

template <enum with with>
static __device__ __forceinline__ void watch_turns(gputrace::writer &events, float &number,
                                                   enum what what, struct figures *figures)
{
	long long sum = 0;

#pragma unroll 1
	for (int pass = 0; pass < PASSES; pass++) {
		events.mark(event_name);
		const long long told = time_turns<with>(events, number);
		const long long empty = time_turns<WITH_NOTHING>(events, number);

		for (int i = 1 + IN_CHUNK; i < GPUTRACE_DEVICE_EVENTS; i++)
			events.mark(event_name);
		if (pass >= COLD)
			sum += told - empty;
	}
	if (threadIdx.x % 32)
		return;
	atomicAdd(&figures->sums[what], (unsigned long long)sum);
	atomicAdd(&figures->counts[what], (unsigned long long)(PASSES - COLD) * IN_CHUNK);
}

/* ring 0: nobody records. */
__global__ void events_in_turns(const void *ring, struct figures *figures)
{
	gputrace::writer events(ring, gputrace::leader::warp);
	float number = (float)threadIdx.x;

	watch_turns<WITH_ROOM>(events, number, ROOM, figures);
	watch_turns<WITH_RANGES>(events, number, PAIR, figures);
	if (number < 0) /* never */
		figures->warps = 0;
}

/* Whether a writer that had so many chunks takes others: its runs are of 1, 2, 6 and 8. */
static __device__ __forceinline__ bool draws(int part)
{
	return part == 0 || part == 1 || part == 3 ||
	       (part >= 9 && (part - 9) % GPUTRACE_WRITER_RUN == 0);
}

/* ring 0: nobody records. */
__global__ void events_of_a_warp(const void *ring, struct figures *figures)
{
	const unsigned long long begin_ns = globaltimer();
	const long long begin = clock64();
	struct stopwatch watch = {};
	gputrace::writer events(ring, gputrace::leader::warp);
	float number = (float)threadIdx.x;
	long long steady = 0;

#pragma unroll 1
	for (int pass = 0; pass < PASSES; pass++) {
		const long long start = clock64();

		events.mark(event_name);
		const long long taken = clock64() - start;
		const long long told = time_marks<true>(events, number, IN_CHUNK);
		const long long empty = time_marks<false>(events, number, IN_CHUNK);

		time_marks<true>(events, number, GPUTRACE_DEVICE_EVENTS - 1 - IN_CHUNK);
		if (pass == 0)
			watch.add(COLD_FIRST, taken, 1);
		if (pass < COLD)
			continue;
		if (draws(pass))
			watch.add(DRAW, taken, 1);
		else
			watch.add(RUN, taken, 1);
		watch.add(EVENT, told - empty, IN_CHUNK);
		watch.add(EMPTY, empty, IN_CHUNK);
	}
#pragma unroll 1
	for (int pass = 0; pass < 2; pass++)
		steady = time_marks<true>(events, number, STEADY) -
		         time_marks<false>(events, number, STEADY);
	watch.add(STEADY_EVENT, steady, STEADY);
	events.close();
#pragma unroll 1
	for (int pass = 0; pass <= COLD; pass++) {
		gputrace::writer again(ring, gputrace::leader::warp);
		const long long start = clock64();

		again.mark(event_name);
		const long long between = clock64();

		again.close();
		const long long end = clock64();

		if (pass < COLD)
			continue;
		watch.add(FIRST, between - start, 1);
		watch.add(CLOSE, end - between, 1);
	}
	if (threadIdx.x % 32)
		return;
	if (number < 0) /* never; but the compiler has to compute it */
		figures->warps = 0;
	atomicAdd(&figures->warps, 1ull);
#pragma unroll
	for (int i = 0; i < WHAT_COUNT; i++) {
		atomicAdd(&figures->sums[i], (unsigned long long)(int)watch.sums[i]);
		atomicAdd(&figures->counts[i], (unsigned long long)watch.counts[i]);
	}
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
		events_in_turns<<<blocks, threads>>>(on ? ring->device : NULL, figures);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
	}
	CHECK(cudaMemcpy(&sums, figures, sizeof(sums), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(figures));
	ns_a_cycle = (double)sums.ns / (double)sums.cycles;
	const struct {
		const char *name;
		enum what what;
	} rows[] = {
		{on ? "event" : "off", EVENT},
		{on ? "room" : "off_room", ROOM},
		{on ? "pair" : "off_pair", PAIR},
		{"empty", EMPTY},
		{"steady", STEADY_EVENT},
		{"run", RUN},
		{"draw", DRAW},
		{"first", FIRST},
		{"close", CLOSE},
		{"cold", COLD_FIRST},
	};

	for (size_t i = 0; i < (on ? sizeof(rows) / sizeof(rows[0]) : 3); i++) {
		const double cycles = (double)(long long)sums.sums[rows[i].what] /
		                      (double)sums.counts[rows[i].what];

		printf("%s_%s_cycles=%.1f\n%s_%s_ns=%.2f\n", rows[i].name, name, cycles,
		       rows[i].name, name, cycles * ns_a_cycle);
	}
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

__global__ void empty_ranges(const void *ring)
{
	gputrace::writer events(ring, gputrace::leader::warp);
	float number = (float)threadIdx.x;

#pragma unroll 1
	for (int i = 0; i < EMPTY_RANGES; i++) {
#pragma unroll
		for (int step = 0; step < OPERATIONS; step++)
			asm volatile("fma.rn.f32 %0, %0, 0f3F000000, 0f3F800000;" : "+f"(number));
		events.begin(event_name);
		events.end(event_name);
	}
	if (number < 0) /* never */
		events.mark(event_name);
}

static double median(std::vector<double> numbers)
{
	std::sort(numbers.begin(), numbers.end());
	return numbers[numbers.size() / 2];
}

/* Measures all ranges whose two events are in one chunk. */
static void measure_ranges(struct own_ring *ring, int blocks, int threads, const char *name)
{
	std::vector<struct gputrace_device_chunk> chunks;
	std::vector<double> cycles;

	for (int warm = 0; warm < 2; warm++) {
		ring_empty(ring);
		empty_ranges<<<blocks, threads>>>(ring->device);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
	}
	chunks.resize(ring_read(ring).next - CHUNK_COUNT);
	CHECK(cudaMemcpy(chunks.data(), ring->chunks, chunks.size() * sizeof(chunks[0]),
	                 cudaMemcpyDeviceToHost));
	for (const struct gputrace_device_chunk &chunk : chunks)
		for (int i = 1; i < GPUTRACE_DEVICE_EVENTS; i++) {
			const struct gputrace_device_event *events = chunk.events + i - 1;

			if ((events[0].tag & 7) == GPUTRACE_DEVICE_BEGIN &&
			    (events[1].tag & 7) == GPUTRACE_DEVICE_END)
				cycles.push_back((gputrace_u32)(events[1].clock - events[0].clock));
		}
	printf("range_%s_cycles=%.1f\nranges_%s=%zu\n", name, median(cycles), name, cycles.size());
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
	measure_ranges(&ring, 1, 32, "one");
	measure_ranges(&ring, device.multiProcessorCount, WARPS * 32, "all");
	measure_pipelined(&ring, device.multiProcessorCount, rounds);
	CHECK(cudaFree(ring.device));
	CHECK(cudaFree(ring.chunks));
	CHECK(cudaFree(ring.states));
	return 0;
}
