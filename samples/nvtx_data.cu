/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended payloads and counters of NVTX: ranges around kernels carry a struct with the shape of
 * what is computed, a counter says how much memory is in use, and a group of two what was done.
 * Usage: nvtx_data [STEPS]
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "samples/check.h"

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

static nvtxPayloadSchemaEntry_t entry(uint64_t type, const char *name)
{
	nvtxPayloadSchemaEntry_t result = {};

	result.type = type;
	result.name = name;
	return result;
}

static uint64_t register_schema(nvtxDomainHandle_t domain, const char *name,
                                const nvtxPayloadSchemaEntry_t *entries, size_t count, size_t size)
{
	nvtxPayloadSchemaAttr_t schema = {};

	schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
	                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
	                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
	                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
	                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
	schema.name = name;
	schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	schema.entries = entries;
	schema.numEntries = count;
	schema.payloadStaticSize = size;
	return nvtxPayloadSchemaRegister(domain, &schema);
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
		entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "rows"),
		entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "columns"),
		entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "layout"),
	};
	const nvtxPayloadSchemaEntry_t of_work[] = {
		entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "launches"),
		entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "share"),
	};
	nvtxDomainHandle_t domain = nvtxDomainCreateA("data");
	const uint64_t shapes = register_schema(domain, "shape", of_shape, 3, sizeof(struct shape));
	const uint64_t works = register_schema(domain, "work", of_work, 2, sizeof(struct work));
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
