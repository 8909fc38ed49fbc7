/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs with a fault that report advice has a rule for, and the same without it: faults NAME
 * [without]. Without a name it lists them. Prints a line of JSON with how long the program took
 * from its first work to its last.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "samples/check.h"

enum { COPY_BYTES = 32 << 20, THREADS = 256, CONFLICT_WORDS = 32 * 32 };

static int sms;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* The host does something else for so long. */
static void work(double ms)
{
	const double end = now_ms() + ms;

	while (now_ms() < end)
		;
}

/* Takes so many microseconds. */
__global__ void spin(int us)
{
	uint64_t begin;
	uint64_t now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < 1000ull * us);
}

/* The same with shared memory, so that one block fits on a multiprocessor. */
__global__ void spin_alone(int us)
{
	extern __shared__ char room[];

	if (us < 0)
		room[threadIdx.x] = 1;
	const uint64_t end = clock64() + 1500ull * us;

	while (clock64() < end)
		;
}

/* Each thread reads where the last value sends it: nothing but waiting. */
__global__ void chase(const uint32_t *next, uint32_t *out, size_t count, int steps)
{
	extern __shared__ char room[];
	uint32_t at =
		(uint32_t)((blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 2654435761u % count);

	if (steps < 0)
		room[threadIdx.x] = 1;
	for (int i = 0; i < steps; i++)
		at = next[at];
	if (at == UINT32_MAX)
		*out = at;
}

__global__ void fill_chain(uint32_t *next, size_t count)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		next[i] = (uint32_t)((i * 2862933555777941757ull + 3037000493ull) % count);
}

/* Neighbours read what lies so many words apart; count: a power of two. */
__global__ void read_apart(const uint32_t *from, uint32_t *out, size_t count, size_t stride)
{
	const size_t threads = (size_t)gridDim.x * blockDim.x;
	uint32_t sum = 0;

	for (size_t round = 0; round < 64; round++)
		sum += from[((size_t)(blockIdx.x * (size_t)blockDim.x + threadIdx.x) * stride +
		             round * threads) &
		            (count - 1)];
	if (sum == 0xdeadbeef)
		*out = sum;
}

/* An array that is indexed at run time lies in local memory. */
__global__ void use_local(uint32_t *out, int words, int rounds)
{
	uint32_t array[256];

	for (int i = 0; i < 256; i++)
		array[i] = threadIdx.x + i;
	for (int i = 0; i < rounds; i++)
		array[(i * 7 + threadIdx.x) % words] += array[(i * 13) % words];
	if (array[words / 2] == 0xdeadbeef)
		*out = 1;
}

__global__ void use_registers(uint32_t *out, int rounds)
{
	uint32_t value = threadIdx.x;

	for (int i = 0; i < rounds; i++)
		value = value * 1664525u + 1013904223u;
	if (value == 0xdeadbeef)
		*out = 1;
}

/* Threads of a warp read words so far apart: 32 are all of one bank. */
__global__ void read_banks(uint32_t *out, int stride, int rounds)
{
	__shared__ volatile uint32_t words[CONFLICT_WORDS];
	uint32_t sum = 0;

	for (int i = threadIdx.x; i < CONFLICT_WORDS; i += blockDim.x)
		words[i] = i;
	__syncthreads();
	for (int i = 0; i < rounds; i++)
		sum += words[(threadIdx.x % 32 * stride + i) % CONFLICT_WORDS];
	if (sum == 0xdeadbeef)
		*out = sum;
}

__global__ void copy_words(const uint4 *from, uint4 *to, size_t count)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		to[i] = from[i];
}

static cudaStream_t new_stream(int priority = 0)
{
	cudaStream_t stream;

	CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
	return stream;
}

static void *on_device(size_t bytes)
{
	void *memory;

	CHECK(cudaMalloc(&memory, bytes));
	return memory;
}

static void *pinned(size_t bytes)
{
	void *memory;

	CHECK(cudaMallocHost(&memory, bytes));
	memset(memory, 1, bytes);
	return memory;
}

static void launch_bound(bool faulty)
{
	for (int i = 0; i < (faulty ? 20000 : 2000); i++)
		spin<<<1, 32>>>(faulty ? 0 : 50);
}

static void left_alone(bool faulty)
{
	for (int i = 0; i < 100; i++) {
		spin<<<1, 32>>>(100);
		work(faulty ? 2.5 : 0);
	}
}

static void sync_empties(bool faulty)
{
	for (int i = 0; i < 500; i++) {
		spin<<<sms, 32>>>(100);
		if (faulty)
			CHECK(cudaDeviceSynchronize());
		work(0.1);
	}
}

static void allocation_churn(bool faulty)
{
	void *kept = on_device(64 << 20);

	for (int i = 0; i < 400; i++) {
		void *memory = faulty ? on_device(64 << 20) : kept;

		spin<<<sms, 32>>>(50);
		if (faulty)
			CHECK(cudaFree(memory));
	}
	CHECK(cudaFree(kept));
}

/* Copies that kernels of the same stream wait for; without the fault two streams take turns. */
static void copy_and_spin(cudaStream_t one, cudaStream_t other)
{
	char *from = (char *)pinned(COPY_BYTES);
	void *to[2] = {on_device(COPY_BYTES), on_device(COPY_BYTES)};

	for (int i = 0; i < 60; i++) {
		const cudaStream_t stream = i % 2 ? other : one;

		CHECK(cudaMemcpyAsync(to[i % 2], from, COPY_BYTES, cudaMemcpyHostToDevice, stream));
		spin<<<1, 32, 0, stream>>>(1000);
	}
}

static void copies_alone(bool faulty)
{
	const cudaStream_t stream = new_stream();

	copy_and_spin(stream, faulty ? stream : new_stream());
}

static void default_stream(bool faulty)
{
	copy_and_spin(faulty ? 0 : new_stream(), faulty ? 0 : new_stream());
}

static void pageable_copies(bool faulty)
{
	void *from = faulty ? malloc(COPY_BYTES) : pinned(COPY_BYTES);
	void *to = on_device(COPY_BYTES);

	memset(from, 1, COPY_BYTES);
	for (int i = 0; i < 20; i++)
		CHECK(cudaMemcpy(to, from, COPY_BYTES, cudaMemcpyHostToDevice));
}

static void small_copies(bool faulty)
{
	enum { COPIES = 20000, EACH = 4096 };
	char *from = (char *)pinned((size_t)COPIES * EACH);
	char *to = (char *)on_device((size_t)COPIES * EACH);
	const size_t at_once = (size_t)EACH * (faulty ? 1 : COPIES / 4);

	for (size_t at = 0; at < (size_t)COPIES * EACH; at += at_once)
		CHECK(cudaMemcpyAsync(to + at, from + at, at_once, cudaMemcpyHostToDevice));
}

/* With one queue for all streams an urgent kernel stays behind what was asked for before. */
static void priorities_inverted(bool faulty)
{
	int least;
	int greatest;

	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));

	const cudaStream_t urgent = new_stream(faulty ? greatest : least);
	const cudaStream_t other = new_stream(least);

	for (int i = 0; i < 200; i++) {
		spin<<<16 * sms, 1024, 0, other>>>(50);
		spin<<<16 * sms, 1024, 0, other>>>(50);
		spin<<<sms, 1024, 0, urgent>>>(50);
		CHECK(cudaDeviceSynchronize());
	}
}

static void tail_effect(bool faulty)
{
	const int bytes = 200 << 10;

	CHECK(cudaFuncSetAttribute(spin_alone, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
	for (int i = 0; i < 200; i++)
		spin_alone<<<faulty ? sms + 1 : sms, 128, bytes>>>(500);
}

static void small_grids(bool faulty)
{
	for (int i = 0; i < 200; i++)
		spin<<<faulty ? 8 : 2 * sms, 128>>>(1000);
}

static void CUDART_CB work_20_us(void *nothing)
{
	(void)nothing;
	work(0.02);
}

/* Functions of the host between the kernels of a graph, for which the GPU waits. */
static void graph_gaps(bool faulty)
{
	const cudaStream_t stream = new_stream();
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 50; i++) {
		spin<<<2 * sms, 32, 0, stream>>>(20);
		if (faulty)
			CHECK(cudaLaunchHostFunc(stream, work_20_us, NULL));
	}
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 40; i++)
		CHECK(cudaGraphLaunch(exec, stream));
}

static void out_of_memory(bool faulty)
{
	void *memory;

	if (faulty && cudaMalloc(&memory, (size_t)1 << 44) == cudaSuccess)
		abort();
	spin<<<1, 32>>>(1);
}

static void low_occupancy(bool faulty)
{
	const size_t count = (size_t)1 << 28;
	uint32_t *next = (uint32_t *)on_device(count * sizeof(*next));
	const int bytes = 100 << 10;

	CHECK(cudaFuncSetAttribute(chase, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
	fill_chain<<<4 * sms, THREADS>>>(next, count);
	for (int i = 0; i < 20; i++)
		chase<<<16 * sms, 64, faulty ? bytes : 0>>>(next, next, count, 1000);
}

static void uncoalesced(bool faulty)
{
	const size_t count = (size_t)1 << 22; /* in the L2 cache, far more than in the L1 cache */
	uint32_t *from = (uint32_t *)on_device(count * sizeof(*from));

	CHECK(cudaMemset(from, 0, count * sizeof(*from)));
	for (int i = 0; i < 50; i++)
		read_apart<<<64 * sms, THREADS>>>(from, from, count, faulty ? 33 : 1);
}

static void spills(bool faulty)
{
	uint32_t *out = (uint32_t *)on_device(4);

	for (int i = 0; i < 50; i++) {
		if (faulty)
			use_local<<<16 * sms, THREADS>>>(out, 256, 100);
		else
			use_registers<<<64 * sms, THREADS>>>(out, 20000);
	}
}

static void bank_conflicts(bool faulty)
{
	uint32_t *out = (uint32_t *)on_device(4);

	for (int i = 0; i < 50; i++)
		read_banks<<<16 * sms, THREADS>>>(out, faulty ? 32 : 1, 5000);
}

static void memory_roof(bool faulty)
{
	const size_t bytes = faulty ? (size_t)512 << 20 : (size_t)8 << 20; /* or in the L2 cache */
	uint4 *from = (uint4 *)on_device(bytes);
	uint4 *to = (uint4 *)on_device(bytes);

	CHECK(cudaMemset(from, 0, bytes));
	for (int i = 0; i < (faulty ? 50 : 2000); i++)
		copy_words<<<16 * sms, THREADS>>>(from, to, bytes / sizeof(*from));
}

static const struct {
	const char *name; /* of the rule */
	void (*run)(bool faulty);
} faults[] = {
	{"launch_bound", launch_bound},
	{"left_alone", left_alone},
	{"sync_empties", sync_empties},
	{"allocation_churn", allocation_churn},
	{"copies_alone", copies_alone},
	{"default_stream", default_stream},
	{"pageable_copies", pageable_copies},
	{"small_copies", small_copies},
	{"priorities_inverted", priorities_inverted},
	{"tail_effect", tail_effect},
	{"small_grids", small_grids},
	{"graph_gaps", graph_gaps},
	{"out_of_memory", out_of_memory},
	{"low_occupancy", low_occupancy},
	{"uncoalesced", uncoalesced},
	{"spills", spills},
	{"bank_conflicts", bank_conflicts},
	{"memory_roof", memory_roof},
};

static void run(void (*fault)(bool faulty), const char *name, bool faulty)
{
	const double begin_ms = now_ms();

	fault(faulty);
	(void)cudaGetLastError(); /* of out_of_memory */
	CHECK(cudaDeviceSynchronize());
	printf("{\"fault\": \"%s\", \"faulty\": %d, \"ms\": %.1f}\n", name, faulty,
	       now_ms() - begin_ms);
}

int main(int argc, char **argv)
{
	const bool faulty = argc < 3 || strcmp(argv[2], "without") != 0;

	if (argc > 1) {
		CHECK(cudaFree(0));
		CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	}
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (argc == 1)
			puts(faults[i].name);
		else if (strcmp(argv[1], faults[i].name) == 0)
			run(faults[i].run, faults[i].name, faulty);
	}
	return 0;
}
