/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of every kind, a known number of each. In every round `consume` on one stream needs
 * what `produce` makes on another, twice: first through an event, then through a value in
 * memory. Usage: waits [ROUNDS]
 */
#include <atomic>
#include <climits>
#include <cuda.h> /* types alone: the driver's calls are found through the runtime */
#include <time.h>

#include "samples/check.h"

struct box {
	unsigned made; /* number of the latest produce that is through */
	unsigned seen; /* times that consume found what it expected */
};

/* Takes a while before it is through, so that whoever does not wait for it is too early. */
__global__ void produce(struct box *box, unsigned number, long long cycles)
{
	const long long start = clock64();

	while (clock64() - start < cycles)
		;
	box->made = number;
}

__global__ void consume(struct box *box, unsigned number)
{
	box->seen += box->made == number;
}

static const long long CYCLES = 3000000; /* 1.5 to 3 ms */

static cudaStream_t producer, consumer;
static cudaEvent_t made, done;
static struct box *box;
static CUdeviceptr flag;
static std::atomic<size_t> host_functions;
static size_t ready, busy; /* answers to queries */
static unsigned number;    /* of the latest produce */

static decltype(&cuStreamWaitValue32) wait_value;
static decltype(&cuStreamWriteValue32) write_value;

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void find(const char *name, void **function)
{
	cudaDriverEntryPointQueryResult found;

	if (cudaGetDriverEntryPointByVersion(name, function, 12000, cudaEnableDefault, &found) !=
	            cudaSuccess ||
	    found != cudaDriverEntryPointSuccess)
		*function = NULL;
}

static void start(void)
{
	CHECK(cudaMalloc((void **)&box, sizeof(*box)));
	CHECK(cudaMalloc((void **)&flag, sizeof(cuuint32_t)));
	CHECK(cudaMemset(box, 0, sizeof(*box)));
	CHECK(cudaMemset((void *)flag, 0, sizeof(cuuint32_t)));
	CHECK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&made));
	CHECK(cudaEventCreate(&done));
	find("cuStreamWaitValue32", (void **)&wait_value);
	find("cuStreamWriteValue32", (void **)&write_value);
	/* Loading a kernel may wait for all that runs: do it before anything is to be overlapped. */
	produce<<<1, 1, 0, producer>>>(box, 0, 1);
	consume<<<1, 1, 0, consumer>>>(box, UINT_MAX);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
}

static void count_function(void *)
{
	host_functions++;
}

/* Work that is not done is an answer, and no error. */
static void note_answer(cudaError_t answer)
{
	if (answer == cudaErrorNotReady)
		busy++;
	else
		CHECK(answer);
	ready += answer == cudaSuccess;
}

static void make(void)
{
	produce<<<1, 1, 0, producer>>>(box, ++number, CYCLES);
	CHECK(cudaGetLastError());
}

static void use(void)
{
	consume<<<1, 1, 0, consumer>>>(box, number);
	CHECK(cudaGetLastError());
}

/* Returns how long the host waited, in us. */
static double depend_through_event(void)
{
	float between_ms = 0;
	double start_us;

	make();
	CHECK(cudaEventRecord(made, producer));
	CHECK(cudaStreamWaitEvent(consumer, made, 0));
	use();
	CHECK(cudaLaunchHostFunc(consumer, count_function, NULL));
	CHECK(cudaEventRecord(done, consumer));
	note_answer(cudaEventQuery(done));
	note_answer(cudaStreamQuery(consumer));
	start_us = now_us();
	CHECK(cudaEventSynchronize(done));
	start_us = now_us() - start_us;
	note_answer(cudaEventQuery(made));
	CHECK(cudaEventElapsedTime(&between_ms, made, done));
	return start_us;
}

static double depend_through_value(void)
{
	double start_us;

	make();
	if (write_value(producer, flag, number, CU_STREAM_WRITE_VALUE_DEFAULT) != CUDA_SUCCESS ||
	    wait_value(consumer, flag, number, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS) {
		fprintf(stderr, "waits: values in memory do not work here\n");
		exit(1);
	}
	use();
	start_us = now_us();
	CHECK(cudaStreamSynchronize(consumer));
	return now_us() - start_us;
}

int main(int argc, char **argv)
{
	const size_t rounds = argument(argc, argv, 1, 10);
	double event_us = 0, stream_us = 0;
	struct box result;
	size_t values = 0;

	start();
	for (size_t round = 0; round < rounds; round++) {
		event_us += depend_through_event();
		if (wait_value && write_value) {
			stream_us += depend_through_value();
			values++;
		}
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaMemcpy(&result, box, sizeof(result), cudaMemcpyDeviceToHost));
	}
	CHECK(cudaEventDestroy(made));
	CHECK(cudaEventDestroy(done));
	CHECK(cudaStreamDestroy(producer));
	CHECK(cudaStreamDestroy(consumer));
	CHECK(cudaFree((void *)flag));
	CHECK(cudaFree(box));
	printf("rounds=%zu\nvalues=%zu\ndependencies=%u\nseen=%u\nhost_functions=%zu\n", rounds,
	       values, number, result.seen, host_functions.load());
	printf("ready=%zu\nbusy=%zu\nevent_wait_us=%.1f\nstream_wait_us=%.1f\n", ready, busy,
	       event_us, stream_us);
	return result.seen != number;
}
