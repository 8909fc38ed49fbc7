/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/data_sheet.h"

#include <math.h>

#include "model/trace.h"

struct per_cycle {
	uint32_t capability; /* 10 x major + minor */
	double flop[GT_CEILINGS];
};

static const struct per_cycle per_cycle[] = {
#define PER_CYCLE(number, f64, f32, f16, t64, t32, t16, tb16, t8)                                  \
	{number,                                                                                   \
	 {[GT_CEILING_fp64] = f64,                                                                 \
	  [GT_CEILING_fp32] = f32,                                                                 \
	  [GT_CEILING_fp16] = f16,                                                                 \
	  [GT_CEILING_tensor_fp64] = t64,                                                          \
	  [GT_CEILING_tensor_tf32] = t32,                                                          \
	  [GT_CEILING_tensor_fp16] = t16,                                                          \
	  [GT_CEILING_tensor_bf16] = tb16,                                                         \
	  [GT_CEILING_tensor_fp8] = t8}},
#include "model/gpu/data_sheet.def"
};

/* Cycles of all multiprocessors in a second; 0: not known. */
static double cycles(const struct gt_device *device)
{
	return (double)device->sm_count * device->sm_clock_khz * 1e3;
}

static double arithmetic(const struct gt_device *device, enum gt_ceiling_name name)
{
	const uint32_t capability = device->cc_major * 10 + device->cc_minor;

	for (size_t i = 0; i < GT_COUNT_OF(per_cycle); i++)
		if (per_cycle[i].capability == capability)
			return per_cycle[i].flop[name] * cycles(device);
	return 0;
}

/*
 * GDDR and HBM move data on both edges of the clock that the driver reports, so a bus of w bits
 * moves 2 x clock x w / 8 bytes a second. H200: 2 x 3.201 GHz x 6016 / 8 = 4.8 TB/s.
 */
static double memory(const struct gt_device *device)
{
	return 2e3 * device->memory_clock_khz * (device->memory_bus_bits / 8.0);
}

/* 32 banks of 4 bytes each in a cycle (CUDA C++ Programming Guide, "Shared Memory"). */
static double shared_memory(const struct gt_device *device)
{
	return cycles(device) * 128;
}

/*
 * In one direction. PCI Express Base Specification: transfers a second of one lane, a bit each, and
 * how much of them is data. 1 and 2 send 8 bits as 10, 3 to 5 send 128 as 130, 6 sends flits of 256
 * bytes of which 236 carry packets (the rest is link layer, checksum and error correction).
 */
static double pcie(const struct gt_device *device)
{
	static const struct {
		double transfers;
		double data;
	} lanes[] = {
		[1] = {2.5e9, 8.0 / 10},   [2] = {5e9, 8.0 / 10},     [3] = {8e9, 128.0 / 130},
		[4] = {16e9, 128.0 / 130}, [5] = {32e9, 128.0 / 130}, [6] = {64e9, 236.0 / 256},
	};
	const size_t generation = device->pcie_generation;

	if (generation >= GT_COUNT_OF(lanes))
		return 0;
	return lanes[generation].transfers * lanes[generation].data / 8 * device->pcie_width;
}

static double value_of(const struct gt_device *device, enum gt_ceiling_name name)
{
	switch (name) {
	case GT_CEILING_dram_read:
	case GT_CEILING_dram_write:
	case GT_CEILING_dram_copy:
		return memory(device);
	case GT_CEILING_shared_read:
		return shared_memory(device);
	case GT_CEILING_pcie_to_device_pinned:
	case GT_CEILING_pcie_to_host_pinned:
	case GT_CEILING_pcie_to_device_pageable:
	case GT_CEILING_pcie_to_host_pageable:
		return pcie(device);
	case GT_CEILING_fp64:
	case GT_CEILING_fp32:
	case GT_CEILING_fp16:
	case GT_CEILING_tensor_fp64:
	case GT_CEILING_tensor_tf32:
	case GT_CEILING_tensor_fp16:
	case GT_CEILING_tensor_bf16:
	case GT_CEILING_tensor_fp8:
		return arithmetic(device, name);
	case GT_CEILING_l2_read:
	case GT_CEILING_peer_copy:
	case GT_CEILING_launch_latency:
	case GT_CEILING_graph_launch_latency:
	case GT_CEILINGS:
		break;
	}
	return 0;
}

double gt_data_sheet(const struct gt_device *device, enum gt_ceiling_name name)
{
	const double value = value_of(device, name);

	return value > 0 ? value : NAN;
}
