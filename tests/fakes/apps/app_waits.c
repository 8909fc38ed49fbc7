/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that waits, orders and asks a known number of times, and says so in one line of
 * JSON. Each round has two dependencies between its two streams: `consume` follows `produce`,
 * once through an event and once through a value in memory.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/apps/app_calls.h"
#include "fakes/fake.h"
#include "fakes/libraries/runtime.h"

enum { BYTES = 4096 };

/* The kinds of waits, in a row. */
enum {
#define SYNC_KIND(name, number, words, waits_host) name,
#include "format/kinds/sync.def"
	KINDS
};

static uint64_t done[KINDS]; /* calls, and operations of batches, of each kind */
static uint64_t ready;       /* queries that found the work done, and that did not */
static uint64_t busy;
static uint64_t launches;
static uint64_t rounds = 3;
static int driver; /* the driver API instead of the runtime's, wherever both have the call */

static CUcontext context;
static CUmodule module;
static CUstream streams[2];
static CUevent events[2];
static CUdeviceptr flag; /* what streams wait for, and write */
static CUdeviceptr memory;
static char bytes[BYTES];
static atomic_ullong host_functions;

/* The same call of either API, as one more of its kind. */
#define EITHER(kind, driver_call, runtime_call, ...)                                               \
	do {                                                                                       \
		if (driver)                                                                        \
			MUST(driver_call, __VA_ARGS__);                                            \
		else                                                                               \
			MUST(runtime_call, __VA_ARGS__);                                           \
		done[kind]++;                                                                      \
	} while (0)

static void start(void)
{
	void *address = NULL;

	if (driver) {
		MUST(cuInit, 0);
		MUST(cuCtxCreate, &context, NULL, 0, 0);
		MUST(cuModuleLoadData, &module, "fake image");
		MUST(cuMemAlloc, &memory, BYTES);
		MUST(cuMemAlloc, &flag, sizeof(uint32_t));
	} else {
		MUST(cudaSetDevice, 0);
		MUST(cudaMalloc, &address, BYTES);
		memory = (CUdeviceptr)(uintptr_t)address;
		MUST(cudaMalloc, &address, sizeof(uint32_t));
		flag = (CUdeviceptr)(uintptr_t)address;
	}
	for (size_t i = 0; i < 2; i++) {
		if (driver)
			MUST(cuStreamCreate, &streams[i], CU_STREAM_NON_BLOCKING);
		else
			MUST(cudaStreamCreateWithFlags, &streams[i], cudaStreamNonBlocking);
		EITHER(EVENT_CREATE, cuEventCreate, cudaEventCreateWithFlags, &events[i], 0);
	}
	memset((void *)(uintptr_t)flag, 0, sizeof(uint32_t)); /* the fakes' memory is the host's */
}

static void finish(void)
{
	for (size_t i = 0; i < 2; i++) {
		EITHER(EVENT_DESTROY, cuEventDestroy, cudaEventDestroy, events[i]);
		if (driver)
			MUST(cuStreamDestroy, streams[i]);
		else
			MUST(cudaStreamDestroy, streams[i]);
	}
	if (driver) {
		MUST(cuMemFree, memory);
		MUST(cuMemFree, flag);
	} else {
		MUST(cudaFree, (void *)(uintptr_t)memory);
		MUST(cudaFree, (void *)(uintptr_t)flag);
	}
	done[BLOCKING_FREE] += 2;
}

static void launch(const char *name, CUstream stream)
{
	if (driver) {
		CUfunction function;

		MUST(cuModuleGetFunction, &function, module, name);
		MUST(cuLaunchKernel, function, 64, 1, 1, 128, 1, 1, 0, stream, NULL, NULL);
	} else {
		const dim3 grid = {64, 1, 1};
		const dim3 block = {128, 1, 1};

		MUST(cudaLaunchKernel, name, grid, block, NULL, 0, stream);
	}
	launches++;
}

static void count_function(void *unused)
{
	(void)unused;
	atomic_fetch_add(&host_functions, 1);
}

/* Work that has just been queued is not done; that is an answer and no error. */
static void note_answer(const char *call, int result)
{
	if (app_counted(call, result) != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
		app_fail(call, result);
	ready += result == CUDA_SUCCESS;
	busy += result != CUDA_SUCCESS;
}

static void query_event(CUevent event)
{
	if (driver)
		note_answer("cuEventQuery", (int)cuEventQuery(event));
	else
		note_answer("cudaEventQuery", (int)cudaEventQuery(event));
	done[EVENT_QUERY]++;
}

static void query_stream(CUstream stream)
{
	if (driver)
		note_answer("cuStreamQuery", (int)cuStreamQuery(stream));
	else
		note_answer("cudaStreamQuery", (int)cudaStreamQuery(stream));
	done[STREAM_QUERY]++;
}

static void measure(void)
{
	float milliseconds = -1;

	EITHER(EVENT_ELAPSED_TIME, cuEventElapsedTime, cudaEventElapsedTime, &milliseconds,
	       events[0], events[1]);
	if (milliseconds <= 0)
		app_fail("the time between two events in a row, us", (int)(milliseconds * 1000));
}

static void depend_through_event(uint64_t round)
{
	launch("produce", streams[0]);
	EITHER(EVENT_RECORD, cuEventRecord, cudaEventRecord, events[0], streams[0]);
	EITHER(STREAM_WAIT_EVENT, cuStreamWaitEvent, cudaStreamWaitEvent, streams[1], events[0], 0);
	launch("consume", streams[1]);
	EITHER(HOST_FUNCTION, cuLaunchHostFunc, cudaLaunchHostFunc, streams[1], count_function,
	       NULL);
	EITHER(EVENT_RECORD, cuEventRecord, cudaEventRecord, events[1], streams[1]);
	query_event(events[1]);
	query_stream(streams[1]);
	EITHER(EVENT_SYNCHRONIZE, cuEventSynchronize, cudaEventSynchronize, events[1]);
	if (atomic_load(&host_functions) != round + 1)
		app_fail("functions of the host that have run", (int)host_functions);
	query_event(events[0]);
	measure();
}

/* Calls that only the driver has. */
static void depend_through_value(uint64_t round)
{
	const cuuint32_t value = (cuuint32_t)round * 2 + 1;
	CUstreamBatchMemOpParams batch[2] = {{0}};

	launch("produce", streams[0]);
	MUST(cuStreamWriteValue32, streams[0], flag, value, 0);
	MUST(cuStreamWaitValue32, streams[1], flag, value, CU_STREAM_WAIT_VALUE_EQ);
	launch("consume", streams[1]);
	batch[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	batch[0].waitValue.address = flag;
	batch[0].waitValue.value = value;
	batch[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	batch[1].writeValue.address = flag;
	batch[1].writeValue.value = value + 1;
	MUST(cuStreamBatchMemOp, streams[1], 2, batch, 0);
	done[WRITE_VALUE] += 2;
	done[WAIT_VALUE] += 2;
	EITHER(STREAM_SYNCHRONIZE, cuStreamSynchronize, cudaStreamSynchronize, streams[1]);
}

static void copy_and_fill(void)
{
	if (driver) {
		MUST(cuMemsetD8, memory, 7, BYTES);
		MUST(cuMemcpyHtoD, memory, bytes, BYTES);
		MUST(cuMemcpyDtoH, bytes, memory, BYTES);
		MUST(cuCtxSynchronize, );
	} else {
		void *device = (void *)(uintptr_t)memory;

		MUST(cudaMemset, device, 7, BYTES);
		MUST(cudaMemcpy, device, bytes, BYTES, cudaMemcpyHostToDevice);
		MUST(cudaMemcpy, bytes, device, BYTES, cudaMemcpyDeviceToHost);
		MUST(cudaDeviceSynchronize, );
	}
	done[BLOCKING_FILL]++;
	done[BLOCKING_COPY] += 2;
	done[CONTEXT_SYNCHRONIZE]++;
}

static void print_facts(void)
{
	static const char *const names[] = {
#define SYNC_KIND(name, number, words, waits_host) #name,
#include "format/kinds/sync.def"
	};
	size_t printed = 0;

	printf("{\"pid\":%d,\"rounds\":%lu,\"streams\":2,\"kernel_count\":%lu,"
	       "\"dependencies\":%lu,\"host_functions\":%llu,\"ready\":%lu,\"busy\":%lu,\"waits\":{",
	       (int)getpid(), rounds, launches, rounds * 2, atomic_load(&host_functions), ready,
	       busy);
	for (size_t i = 0; i < KINDS; i++)
		if (done[i])
			printf("%s\"%s\":%lu", printed++ ? "," : "", names[i], done[i]);
	printf("},");
	app_print_calls();
	printf("}\n");
}

static void usage(void)
{
	(void)fputs("usage: app_waits [--driver] [--rounds N]\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--driver") == 0)
			driver = 1;
		else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
			rounds = strtoull(argv[++i], NULL, 10);
		else
			usage();
	}
	start();
	for (uint64_t round = 0; round < rounds; round++) {
		depend_through_event(round);
		depend_through_value(round);
		copy_and_fill();
	}
	finish();
	print_facts();
	return 0;
}
