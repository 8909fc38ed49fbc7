/* SPDX-License-Identifier: Apache-2.0 */
#include "model/data_sheet.h"

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
#include "model/data_sheet.def"
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

/* Two transfers in a cycle: of all memory that GPUs have had since GDDR3. */
static double memory(const struct gt_device *device)
{
	return device->memory_clock_khz * 1e3 * 2 * device->memory_bus_bits / 8;
}

/* 32 banks of 4 bytes each in a cycle (CUDA C++ Programming Guide, "Shared Memory"). */
static double shared_memory(const struct gt_device *device)
{
	return cycles(device) * 128;
}

/*
 * Bytes of one lane in a second and direction: transfers in a second and what their coding leaves
 * (PCI Express Base Specification: 8b/10b, from generation 3 on 128b/130b, in generation 6 flits
 * of 256 bytes with 242 of them for packets). What packets' headers take is not taken off.
 */
static double lane(uint32_t generation)
{
	static const double bytes[] = {
		0,
		2.5e9 / 8 * 8 / 10,
		5e9 / 8 * 8 / 10,
		8e9 / 8 * 128 / 130,
		16e9 / 8 * 128 / 130,
		32e9 / 8 * 128 / 130,
		64e9 / 8 * 242 / 256,
	};

	return generation < GT_COUNT_OF(bytes) ? bytes[generation] : 0;
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
		return lane(device->pcie_generation) * device->pcie_width;
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
