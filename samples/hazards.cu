/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two streams that use the same memory in no order, a known number of times in each way, to be
 * recorded with gputrace run --hazards. The result harms nobody: the memory stays where it
 * is, and nobody looks at what is in it. With the word "ordered" events keep the order, and there
 * is nothing to find. Usage: hazards [ROUNDS] [ordered]
 */
#include <string.h>

#include "samples/check.h"
#include "samples/payload.h"

/* Memory that a kernel uses, as gputrace reads it: docs/reports/hazards.md. */
struct access {
	const void *address;
	uint64_t bytes;
	uint32_t mode; /* 1 reads, 2 writes, 3 both */
};

static const size_t BYTES = 64 << 20;

static cudaStream_t writer, reader;
static cudaEvent_t written, was_read;
static unsigned char *memory, *results;
static nvtxDomainHandle_t domain;
static uint64_t schema;
static bool ordered;

__global__ void fill(unsigned char *bytes, size_t count, unsigned char value)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		bytes[i] = value;
}

__global__ void take(const unsigned char *bytes, size_t count, unsigned char *sum)
{
	unsigned char mine = 0;

	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		mine ^= bytes[i];
	sum[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

static void register_schema(void)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, "gputrace.address",
	                      offsetof(struct access, address)),
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "gputrace.bytes",
	                      offsetof(struct access, bytes)),
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "gputrace.mode",
	                      offsetof(struct access, mode)),
	};

	domain = nvtxDomainCreateA("hazards");
	schema = payload_schema(domain, "gputrace.access", entries,
	                        sizeof(entries) / sizeof(entries[0]), sizeof(struct access));
}

/* A range around a launch that says what its kernel uses. */
static void begin(const char *name, const struct access *access)
{
	payload_push(domain, name, schema, access, sizeof(*access));
}

/* Work of one stream is done before the next work of the other one: if it is to be so. */
static void keep_order(cudaEvent_t event, cudaStream_t before, cudaStream_t after)
{
	if (!ordered)
		return;
	CHECK(cudaEventRecord(event, before));
	CHECK(cudaStreamWaitEvent(after, event, 0));
}

static void finish(void)
{
	CHECK(cudaStreamSynchronize(reader));
	CHECK(cudaStreamSynchronize(writer));
}

static void read_too_early(unsigned char value)
{
	CHECK(cudaMemsetAsync(memory, value, BYTES, writer));
	keep_order(written, writer, reader);
	CHECK(cudaMemcpyAsync(results, memory, BYTES, cudaMemcpyDeviceToDevice, reader));
	finish();
}

static void write_too_early(unsigned char value)
{
	CHECK(cudaMemcpyAsync(results, memory, BYTES, cudaMemcpyDeviceToDevice, reader));
	keep_order(was_read, reader, writer);
	CHECK(cudaMemsetAsync(memory, value, BYTES, writer));
	finish();
}

static void launch_too_early(unsigned char value)
{
	const struct access writes = {memory, BYTES, 2};
	const struct access reads = {memory, BYTES, 1};

	begin("fill", &writes);
	fill<<<256, 256, 0, writer>>>(memory, BYTES, value);
	nvtxDomainRangePop(domain);
	keep_order(written, writer, reader);
	begin("take", &reads);
	take<<<256, 256, 0, reader>>>(memory, BYTES, results);
	nvtxDomainRangePop(domain);
	CHECK(cudaGetLastError());
	finish();
}

/* The pool keeps the memory, so that it is there all the same. */
static void free_too_early(void)
{
	unsigned char *block;

	CHECK(cudaMallocAsync((void **)&block, BYTES, writer));
	CHECK(cudaMemsetAsync(block, 1, BYTES, writer));
	CHECK(cudaStreamSynchronize(writer));
	CHECK(cudaMemcpyAsync(results, block, BYTES, cudaMemcpyDeviceToDevice, reader));
	keep_order(was_read, reader, writer);
	CHECK(cudaFreeAsync(block, writer));
	finish();
}

static void start(void)
{
	uint64_t keep = UINT64_MAX;
	cudaMemPool_t pool;

	CHECK(cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&was_read, cudaEventDisableTiming));
	CHECK(cudaMalloc((void **)&memory, BYTES));
	CHECK(cudaMalloc((void **)&results, BYTES));
	CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	register_schema();
}

int main(int argc, char **argv)
{
	const size_t rounds = argument(argc, argv, 1, 10);
	size_t planted;

	ordered = argc > 2 && strcmp(argv[2], "ordered") == 0;
	planted = ordered ? 0 : rounds;
	start();
	for (size_t round = 0; round < rounds; round++) {
		read_too_early((unsigned char)round);
		write_too_early((unsigned char)round);
		launch_too_early((unsigned char)round);
		free_too_early();
	}
	printf("rounds=%zu\nread_too_early=%zu\nwritten_too_early=%zu\nfreed_too_early=%zu\n",
	       rounds, 2 * planted, planted, planted);
	CHECK(cudaFree(results));
	CHECK(cudaFree(memory));
	CHECK(cudaEventDestroy(written));
	CHECK(cudaEventDestroy(was_read));
	CHECK(cudaStreamDestroy(writer));
	CHECK(cudaStreamDestroy(reader));
	return 0;
}
