/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes that wait for each other on the GPU, through events that both have: in each round
 * the first launches `produce` and records its event; the second has its stream wait for that,
 * launches `consume` and records its own event, which the first waits for. So that waits come after
 * records they take turns over two pipes. Their result needs both: each round is produce, then
 * consume, one after the other.
 *
 * Usage: ipc_events [ROUNDS]
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static const unsigned long long PRODUCE_NS = 3000000, CONSUME_NS = 5000000;

static cudaStream_t stream;
static cudaEvent_t own, other;

static void fail(const char *what)
{
	fprintf(stderr, "ipc_events: %s\n", what);
	exit(1);
}

static void send(int to, const void *bytes, size_t size)
{
	if (write(to, bytes, size) != (ssize_t)size)
		fail("the other process is gone");
}

static void receive(int from, void *bytes, size_t size)
{
	if (read(from, bytes, size) != (ssize_t)size)
		fail("the other process is gone");
}

/* Loading code may wait for all that runs: each kernel runs once before it counts. */
static void start(int from, int to)
{
	cudaIpcEventHandle_t handle;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	produce<<<1, 1, 0, stream>>>(0);
	consume<<<1, 1, 0, stream>>>(0);
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaEventCreateWithFlags(&own, cudaEventInterprocess | cudaEventDisableTiming));
	CHECK(cudaIpcGetEventHandle(&handle, own));
	send(to, &handle, sizeof(handle));
	receive(from, &handle, sizeof(handle));
	CHECK(cudaIpcOpenEventHandle(&other, handle));
}

static void end(int from, int to)
{
	char turn = 0;

	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaEventDestroy(other));
	/* Nobody destroys an event that the other process still has. */
	send(to, &turn, 1);
	receive(from, &turn, 1);
	CHECK(cudaEventDestroy(own));
}

static void run_producer(unsigned long rounds, int from, int to)
{
	char turn = 0;

	start(from, to);
	for (unsigned long i = 0; i < rounds; i++) {
		produce<<<1, 1, 0, stream>>>(PRODUCE_NS);
		CHECK(cudaGetLastError());
		CHECK(cudaEventRecord(own, stream));
		send(to, &turn, 1);
		receive(from, &turn, 1);
		CHECK(cudaEventSynchronize(other));
	}
	end(from, to);
}

static void run_consumer(unsigned long rounds, int from, int to)
{
	char turn = 0;

	start(from, to);
	for (unsigned long i = 0; i < rounds; i++) {
		receive(from, &turn, 1);
		CHECK(cudaStreamWaitEvent(stream, other, 0));
		consume<<<1, 1, 0, stream>>>(CONSUME_NS);
		CHECK(cudaGetLastError());
		CHECK(cudaEventRecord(own, stream));
		send(to, &turn, 1);
	}
	end(from, to);
}

/* The second process: this program again, since CUDA does not live through a fork. */
static pid_t begin_consumer(const char *rounds, int from, int to)
{
	char words[2][24];
	const pid_t child = fork();

	if (child != 0)
		return child;
	snprintf(words[0], sizeof(words[0]), "%d", from);
	snprintf(words[1], sizeof(words[1]), "%d", to);
	execl("/proc/self/exe", "ipc_events", rounds, words[0], words[1], (char *)NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "20";
	const unsigned long rounds = strtoul(text, NULL, 10);
	int there[2], back[2], status = 0;
	pid_t child;

	if (rounds == 0)
		fail("usage: ipc_events [ROUNDS]");
	if (argc > 3) {
		run_consumer(rounds, (int)strtol(argv[2], NULL, 10),
		             (int)strtol(argv[3], NULL, 10));
		return 0;
	}
	if (pipe(there) || pipe(back))
		fail("there are no pipes");
	child = begin_consumer(text, there[0], back[1]);
	run_producer(rounds, back[0], there[1]);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		fail("the second process failed");
	printf("rounds=%lu\nproduce_ns=%llu\nconsume_ns=%llu\nchain=produce,consume\n", rounds,
	       PRODUCE_NS, CONSUME_NS);
	return 0;
}
