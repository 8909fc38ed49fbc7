/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain that is known, in rounds: `produce` on one stream, which the host waits for and then
 * works for a while by itself; `consume` on another stream, which waits for `produce` too; and,
 * once that is done, a thread of its own, which launches `finish` and waits for it. `beside` runs
 * on a third stream meanwhile and holds nothing, and so does not `copy` unless it is asked to. With
 * small kernels that the host launches one by one, and waits for, and then again as one graph.
 *
 * Usage: chain [--rounds N] [--without produce|consume|finish] [--copies none|before|beside]
 * [--tiny N]
 *              [--graph] [--no-wait]
 *   --without  the kernel is launched and ends at once: what its time costs
 *   --copies   a copy of pinned memory: before each produce on its stream, or on a stream of its
 * own
 *   --tiny     so many kernels that take no time, launched one by one, in each round
 *   --graph    these in one graph: what their launches cost
 *   --no-wait  the host does not wait for `produce` before it launches `consume`
 */
#include <chrono>
#include <string.h>
#include <thread>

#include "samples/check.h"
#include "samples/spend.cuh"

__global__ void produce(unsigned long long ns)
{
	spend(ns);
}

__global__ void consume(unsigned long long ns)
{
	spend(ns);
}

__global__ void finish(unsigned long long ns)
{
	spend(ns);
}

__global__ void beside(unsigned long long ns)
{
	spend(ns);
}

__global__ void tiny(unsigned *counter)
{
	++*counter;
}

static const unsigned long long PRODUCE_NS = 3000000, CONSUME_NS = 5000000, FINISH_NS = 2000000,
				BESIDE_NS = 1000000;
static const unsigned long long HOST_NS = 1000000;
static const size_t COPY_BYTES = (size_t)64 << 20;

struct options {
	size_t rounds;
	const char *without;
	const char *copies;
	size_t tiny;
	bool graph;
	bool no_wait;
};

static cudaStream_t producer, consumer, third;
static cudaEvent_t made;
static unsigned *counter;
static char *host, *device;
static cudaGraphExec_t graph;

static unsigned long long unless(const struct options *options, const char *kernel,
                                 unsigned long long ns)
{
	return options->without && strcmp(options->without, kernel) == 0 ? 0 : ns;
}

static size_t number(const char *text)
{
	char *end = NULL;
	const unsigned long value = text ? strtoul(text, &end, 10) : 0;

	if (!text || !*text || *end || value == 0) {
		fprintf(stderr, "chain: '%s' is not a number from 1 on\n", text ? text : "");
		exit(2);
	}
	return value;
}

static struct options read_options(int argc, char **argv)
{
	struct options options = {10, NULL, "none", 0, false, false};

	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--graph") == 0) {
			options.graph = true;
			continue;
		}
		if (strcmp(argv[i], "--no-wait") == 0) {
			options.no_wait = true;
			continue;
		}
		if (strcmp(argv[i], "--rounds") == 0)
			options.rounds = number(value);
		else if (strcmp(argv[i], "--without") == 0)
			options.without = value;
		else if (strcmp(argv[i], "--copies") == 0 && value)
			options.copies = value;
		else if (strcmp(argv[i], "--tiny") == 0)
			options.tiny = number(value);
		else {
			fprintf(stderr, "chain: what is '%s'?\n", argv[i]);
			exit(2);
		}
		i++;
	}
	return options;
}

static void launch_tiny(size_t count)
{
	for (size_t i = 0; i < count; i++)
		tiny<<<1, 1, 0, producer>>>(counter);
	CHECK(cudaGetLastError());
}

/* Loading code may wait for all that runs: each kernel runs once before it counts. */
static void start(const struct options *options)
{
	cudaGraph_t captured;

	CHECK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
	CHECK(cudaMalloc((void **)&counter, sizeof(*counter)));
	CHECK(cudaMalloc((void **)&device, COPY_BYTES));
	CHECK(cudaMallocHost((void **)&host, COPY_BYTES));
	memset(host, 1, COPY_BYTES);
	CHECK(cudaMemcpy(device, host, COPY_BYTES, cudaMemcpyHostToDevice));
	produce<<<1, 1, 0, producer>>>(0);
	consume<<<1, 1, 0, producer>>>(0);
	finish<<<1, 1, 0, producer>>>(0);
	beside<<<1, 1, 0, producer>>>(0);
	launch_tiny(1);
	if (options->tiny && options->graph) {
		CHECK(cudaStreamBeginCapture(producer, cudaStreamCaptureModeThreadLocal));
		launch_tiny(options->tiny);
		CHECK(cudaStreamEndCapture(producer, &captured));
		CHECK(cudaGraphInstantiate(&graph, captured, 0));
		CHECK(cudaGraphDestroy(captured));
		CHECK(cudaGraphLaunch(graph, producer));
	}
	CHECK(cudaDeviceSynchronize());
}

static void run_tiny(const struct options *options)
{
	if (graph)
		CHECK(cudaGraphLaunch(graph, producer));
	else
		launch_tiny(options->tiny);
	CHECK(cudaStreamSynchronize(producer));
}

/* The host's own part: no call of CUDA. */
static void work(unsigned long long ns)
{
	const std::chrono::steady_clock::time_point end =
		std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);

	while (std::chrono::steady_clock::now() < end)
		;
}

/* On a thread of its own. */
static void end_round(unsigned long long ns)
{
	finish<<<1, 1, 0, consumer>>>(ns);
	CHECK(cudaGetLastError());
	CHECK(cudaStreamSynchronize(consumer));
}

static void run_round(const struct options *options)
{
	const bool before = strcmp(options->copies, "before") == 0;

	if (options->tiny)
		run_tiny(options);
	if (before || strcmp(options->copies, "beside") == 0)
		CHECK(cudaMemcpyAsync(device, host, COPY_BYTES, cudaMemcpyHostToDevice,
		                      before ? producer : third));
	produce<<<1, 1, 0, producer>>>(unless(options, "produce", PRODUCE_NS));
	CHECK(cudaGetLastError());
	CHECK(cudaEventRecord(made, producer));
	beside<<<1, 1, 0, third>>>(BESIDE_NS);
	CHECK(cudaGetLastError());
	CHECK(cudaStreamWaitEvent(consumer, made, 0));
	if (!options->no_wait)
		CHECK(cudaEventSynchronize(made));
	work(HOST_NS);
	consume<<<1, 1, 0, consumer>>>(unless(options, "consume", CONSUME_NS));
	CHECK(cudaGetLastError());
	CHECK(cudaStreamSynchronize(consumer));
	std::thread(end_round, unless(options, "finish", FINISH_NS)).join();
}

int main(int argc, char **argv)
{
	const struct options options = read_options(argc, argv);
	std::chrono::steady_clock::time_point begin;
	double took_ms;

	start(&options);
	begin = std::chrono::steady_clock::now();
	for (size_t i = 0; i < options.rounds; i++)
		run_round(&options);
	took_ms =
		std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
			.count();
	CHECK(cudaDeviceSynchronize());
	printf("rounds=%zu\nproduce_ns=%llu\nconsume_ns=%llu\nfinish_ns=%llu\nhost_ns=%llu\n"
	       "tiny=%zu\n",
	       options.rounds, PRODUCE_NS, CONSUME_NS, FINISH_NS, HOST_NS, options.tiny);
	printf("chain=produce,host,consume,finish\nrounds_ms=%.3f\n", took_ms);
	return 0;
}
