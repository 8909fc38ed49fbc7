/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended payloads and counters of NVTX: ranges around kernels carry a struct with the shape of
 * what is computed, a counter says how much memory is in use, and a group of two what was done.
 * Usage: nvtx_data [STEPS]
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>

#include "samples/check.h"
#include "samples/payload.h"

struct shape {
	uint32_t rows;
	uint32_t columns;
	const char *layout;
};

struct work {
	int64_t launches;
	double share;
};

__global__ void compute(float *values)
{
	values[threadIdx.x] += 1;
}

static uint64_t register_counter(nvtxDomainHandle_t domain, const char *name, uint64_t schema)
{
	nvtxCounterAttr_t counter = {};

	counter.structSize = sizeof(counter);
	counter.schemaId = schema;
	counter.name = name;
	return nvtxCounterRegister(domain, &counter);
}

int main(int argc, char **argv)
{
	const size_t steps = argument(argc, argv, 1, 50);
	const nvtxPayloadSchemaEntry_t of_shape[] = {
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "rows", 0),
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "columns", 0),
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "layout", 0),
	};
	const nvtxPayloadSchemaEntry_t of_work[] = {
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "launches", 0),
		payload_entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "share", 0),
	};
	nvtxDomainHandle_t domain = nvtxDomainCreateA("data");
	const uint64_t shapes = payload_schema(domain, "shape", of_shape, 3, sizeof(struct shape));
	const uint64_t works = payload_schema(domain, "work", of_work, 2, sizeof(struct work));
	const uint64_t memory = register_counter(domain, "memory", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
	const uint64_t work = register_counter(domain, "work", works);
	float *values;

	CHECK(cudaMalloc((void **)&values, 32 * sizeof(float)));
	for (size_t i = 0; i < steps; i++) {
		const struct shape shape = {(uint32_t)i, 32, "rows"};
		const struct work done = {(int64_t)i, (double)i / (double)steps};
		const nvtxPayloadData_t payload = {shapes, sizeof(shape), &shape};

		nvtxRangePushPayload(domain, &payload, 1);
		compute<<<1, 32>>>(values);
		nvtxCounterSampleInt64(domain, memory, (int64_t)(32 * sizeof(float)));
		nvtxCounterSample(domain, work, &done, sizeof(done));
		nvtxRangePopPayload(domain, NULL, 0);
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(values));
	printf("steps=%zu\n", steps);
	return 0;
}
