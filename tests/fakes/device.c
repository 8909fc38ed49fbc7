/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/fake.h"

/* The pretended GPU: the figures of an H200, as its driver tells them. Built into each fake. */

struct attribute {
	CUdevice_attribute attribute;
	int value;
};

#define ATTRIBUTE(name, value)                                                                     \
	{                                                                                          \
		CU_DEVICE_ATTRIBUTE_##name, value                                                  \
	}
static const struct attribute attributes[] = {
	ATTRIBUTE(MAX_THREADS_PER_BLOCK, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_X, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_Y, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_Z, 64),
	ATTRIBUTE(MAX_GRID_DIM_X, 2147483647),
	ATTRIBUTE(MAX_GRID_DIM_Y, 65535),
	ATTRIBUTE(MAX_GRID_DIM_Z, 65535),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK, 49152),
	ATTRIBUTE(TOTAL_CONSTANT_MEMORY, 65536),
	ATTRIBUTE(WARP_SIZE, 32),
	ATTRIBUTE(MAX_REGISTERS_PER_BLOCK, 65536),
	ATTRIBUTE(CLOCK_RATE, 1980000),
	ATTRIBUTE(MULTIPROCESSOR_COUNT, 132),
	ATTRIBUTE(INTEGRATED, 0),
	ATTRIBUTE(CONCURRENT_KERNELS, 1),
	ATTRIBUTE(ECC_ENABLED, 1),
	ATTRIBUTE(PCI_DEVICE_ID, 0),
	ATTRIBUTE(PCI_DOMAIN_ID, 0),
	ATTRIBUTE(MEMORY_CLOCK_RATE, 3201000),
	ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH, 6144),
	ATTRIBUTE(L2_CACHE_SIZE, 62914560),
	ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR, 2048),
	ATTRIBUTE(ASYNC_ENGINE_COUNT, 3),
	ATTRIBUTE(UNIFIED_ADDRESSING, 1),
	ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR, 9),
	ATTRIBUTE(COMPUTE_CAPABILITY_MINOR, 0),
	ATTRIBUTE(STREAM_PRIORITIES_SUPPORTED, 1),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472),
	ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR, 65536),
	ATTRIBUTE(MANAGED_MEMORY, 1),
	ATTRIBUTE(COOPERATIVE_LAUNCH, 1),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448),
	ATTRIBUTE(MAX_BLOCKS_PER_MULTIPROCESSOR, 32),
	ATTRIBUTE(RESERVED_SHARED_MEMORY_PER_BLOCK, 1024),
	ATTRIBUTE(CLUSTER_LAUNCH, 1),
};

int fake_device_attribute(CUdevice_attribute attribute, CUdevice device)
{
	if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
		return 0x19 + device;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].attribute == attribute)
			return attributes[i].value;
	return -1;
}

CUuuid fake_device_uuid(CUdevice device)
{
	CUuuid uuid;

	for (size_t i = 0; i < sizeof(uuid.bytes); i++)
		uuid.bytes[i] = (char)(0xa0 + i);
	uuid.bytes[sizeof(uuid.bytes) - 1] = (char)device;
	return uuid;
}
