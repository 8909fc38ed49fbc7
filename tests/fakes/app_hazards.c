/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with two streams that use the same memory: a fill on one and a copy of it on the other,
 * a copy and a fill after it, and memory of a pool that the first frees while the second copies it.
 * It says in one line of JSON how often each was asked for.
 *
 *   app_hazards ROUNDS [ordered]   with events that keep the order
 */
#include <stdio.h>
#include <stdlib.h>

#include "fakes/app_calls.h"
#include "fakes/fake.h"
#include "fakes/runtime.h"

enum { BYTES = 4096 };

static CUstream writer;
static CUstream reader;
static CUevent event;
static int ordered;

static void keep_order(CUstream before, CUstream after)
{
	if (!ordered)
		return;
	MUST(cuEventRecord, event, before);
	MUST(cuStreamWaitEvent, after, event, 0);
}

static void finish(void)
{
	MUST(cuStreamSynchronize, writer);
	MUST(cuStreamSynchronize, reader);
}

static void use_memory(CUdeviceptr memory, CUdeviceptr results)
{
	MUST(cuMemsetD8Async, memory, 1, BYTES, writer);
	keep_order(writer, reader);
	MUST(cuMemcpyDtoDAsync, results, memory, BYTES, reader);
	finish();
	MUST(cuMemcpyDtoDAsync, results, memory, BYTES, reader);
	keep_order(reader, writer);
	MUST(cuMemsetD8Async, memory, 2, BYTES, writer);
	finish();
}

static void use_pool(CUdeviceptr results)
{
	CUdeviceptr block = 0;

	MUST(cuMemAllocAsync, &block, BYTES, writer);
	MUST(cuMemsetD8Async, block, 3, BYTES, writer);
	MUST(cuStreamSynchronize, writer);
	MUST(cuMemcpyDtoDAsync, results, block, BYTES, reader);
	keep_order(reader, writer);
	MUST(cuMemFreeAsync, block, writer);
	finish();
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	CUdeviceptr memory = 0;
	CUdeviceptr results = 0;
	CUcontext context;

	ordered = argc > 2;
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuStreamCreate, &writer, CU_STREAM_NON_BLOCKING);
	MUST(cuStreamCreate, &reader, CU_STREAM_NON_BLOCKING);
	MUST(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
	MUST(cuMemAlloc, &memory, BYTES);
	MUST(cuMemAlloc, &results, BYTES);
	for (long i = 0; i < rounds; i++) {
		use_memory(memory, results);
		use_pool(results);
	}
	MUST(cuMemFree, results);
	MUST(cuMemFree, memory);
	printf("{\"rounds\": %ld, ", rounds);
	app_print_calls();
	printf("}\n");
	return 0;
}
