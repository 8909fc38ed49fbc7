/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/occupancy.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Facts that the device row lacks: how a multiprocessor deals its resources out, by compute
 * capability. CUDA C++ Programming Guide, appendix "Compute Capabilities", and the figures the
 * toolkit's own occupancy header uses (cuda_occupancy.h, checked by test_occupancy.c).
 */
enum {
	OLDEST_MAJOR = 5,
	NEWEST_MAJOR = 12,
	REGISTER_UNIT = 256, /* registers are given to a warp in units of so many */
	/*
	 * A launch is checked as if its warps were spread over all partitions, so their number is
	 * rounded up to this; also the partitions of a multiprocessor on all but GP100.
	 */
	WARP_UNIT = 4,
	LEAST_REGISTERS = 16, /* of a thread */
};

struct capability {
	uint64_t shared_unit; /* shared memory is given to a block in units of so many bytes */
	unsigned partitions;  /* of a multiprocessor, each with its share of the registers */
	unsigned blocks;      /* a multiprocessor holds; for devices whose row does not say */
	unsigned barriers;    /* of a multiprocessor */
};

static unsigned blocks_of_capability(unsigned major, unsigned minor)
{
	switch (major * 10 + minor) {
	case 75: /* TU10x */
	case 86: /* GA10x */
	case 87: /* Orin */
	case 88:
		return 16;
	case 89:  /* AD10x */
	case 101: /* Thor as CUDA 12 numbers it */
	case 110: /* Thor as CUDA 13 numbers it */
		return 24;
	default:
		return major == 12 ? 24 : 32;
	}
}

/*
 * Barriers for each block that a multiprocessor holds; 0: they are no limit, which the toolkit's
 * calculator knows from 9.0 on.
 */
static unsigned barriers_of_capability(unsigned major, unsigned minor)
{
	if (major < 9)
		return 0;
	if (major > 10)
		return 1;
	return major == 10 && minor == 1 ? 1 : 2; /* 10.1: Thor, as above */
}

static unsigned blocks_by_barriers(const struct gt_launch_shape *shape,
                                   const struct capability *capability)
{
	if (capability->barriers == 0 || shape->barriers == 0)
		return capability->blocks;
	return capability->barriers / shape->barriers;
}

static bool capability_of(const struct gt_device *device, struct capability *capability)
{
	if (device->cc_major < OLDEST_MAJOR || device->cc_major > NEWEST_MAJOR)
		return false;
	*capability = (struct capability){
		.shared_unit = device->cc_major >= 8 ? 128 : 256,
		.partitions = device->cc_major == 6 && device->cc_minor == 0 ? 2 : 4,
		.blocks = device->max_blocks_per_sm
	                          ? device->max_blocks_per_sm
	                          : blocks_of_capability(device->cc_major, device->cc_minor),
	};
	capability->barriers =
		capability->blocks * barriers_of_capability(device->cc_major, device->cc_minor);
	return true;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Counts come from a file and may be anything; what they multiply to must not wrap around. */
static uint64_t capped_product(uint64_t a, uint64_t b)
{
	return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static uint64_t product(uint32_t x, uint32_t y, uint32_t z)
{
	return capped_product(capped_product(x, y), z);
}

static unsigned blocks_by_registers(const struct gt_device *device,
                                    const struct gt_launch_shape *shape,
                                    const struct capability *capability, uint64_t warps)
{
	const uint64_t per_warp =
		round_up((uint64_t)shape->registers * device->warp_size, REGISTER_UNIT);

	if (per_warp == 0)
		return capability->blocks;
	if (device->registers_per_block &&
	    capped_product(per_warp, round_up(warps, WARP_UNIT)) > device->registers_per_block)
		return 0;

	const uint64_t warps_per_partition =
		device->registers_per_sm / capability->partitions / per_warp;

	return (unsigned)(warps_per_partition * capability->partitions / warps);
}

/*
 * Since 7.0 shared memory and level-1 cache are one memory, and the driver decides for each
 * launch how much of it is shared memory. Before, all of it always is.
 */
static uint64_t shared_configured(const struct gt_device *device,
                                  const struct gt_launch_shape *shape, uint64_t block_bytes)
{
	const uint64_t executed = shape->shared_executed_bytes;

	if (device->cc_major < 7 || executed < block_bytes || executed == 0 ||
	    executed > device->shared_per_sm_bytes)
		return device->shared_per_sm_bytes;
	return executed;
}

static unsigned blocks_by_shared_memory(const struct gt_device *device,
                                        const struct gt_launch_shape *shape,
                                        const struct capability *capability)
{
	const uint64_t limit = UINT32_MAX; /* far above any device: keeps the sum from wrapping */

	if (shape->shared_static_bytes > limit || shape->shared_dynamic_bytes > limit ||
	    device->shared_reserved_bytes > limit)
		return 0;

	const uint64_t used = shape->shared_static_bytes + shape->shared_dynamic_bytes;
	const uint64_t block_bytes =
		round_up(used + device->shared_reserved_bytes, capability->shared_unit);

	if (block_bytes == 0)
		return capability->blocks;
	if (device->shared_per_block_bytes &&
	    block_bytes > device->shared_per_block_bytes + device->shared_reserved_bytes)
		return 0;

	const uint64_t blocks = shared_configured(device, shape, block_bytes) / block_bytes;

	return blocks < UINT32_MAX ? (unsigned)blocks : UINT32_MAX;
}

/*
 * Limits that are not used up first lose against those that are: a kernel without shared memory
 * is never limited by it, and one that fills all warps is limited by warps.
 */
static void find_smallest(struct gt_occupancy *occupancy)
{
	const struct {
		unsigned blocks;
		enum gt_occupancy_limit limit;
	} limits[] = {
		{occupancy->blocks_by_warps, GT_LIMIT_WARPS},
		{occupancy->blocks_by_blocks, GT_LIMIT_BLOCKS},
		{occupancy->blocks_by_registers, GT_LIMIT_REGISTERS},
		{occupancy->blocks_by_shared_memory, GT_LIMIT_SHARED_MEMORY},
		{occupancy->blocks_by_barriers, GT_LIMIT_BARRIERS},
	};

	occupancy->blocks_per_sm = limits[0].blocks;
	occupancy->limit = limits[0].limit;
	for (size_t i = 1; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (limits[i].blocks < occupancy->blocks_per_sm) {
			occupancy->blocks_per_sm = limits[i].blocks;
			occupancy->limit = limits[i].limit;
		}
	}
}

static void add_waves(struct gt_occupancy *occupancy, const struct gt_device *device,
                      const struct gt_launch_shape *shape)
{
	const uint64_t grid = product(shape->grid_x, shape->grid_y, shape->grid_z);
	const uint64_t cluster = product(shape->cluster_x, shape->cluster_y, shape->cluster_z);
	uint64_t resident = (uint64_t)occupancy->blocks_per_sm * device->sm_count;

	if (cluster)
		resident -= resident % cluster;
	if (grid == 0 || resident == 0)
		return;
	occupancy->waves_per_sm = (double)grid / (double)resident;
}

struct gt_occupancy gt_occupancy_of(const struct gt_device *device,
                                    const struct gt_launch_shape *shape)
{
	struct gt_occupancy occupancy = {.percent = NAN, .waves_per_sm = NAN};
	const uint64_t threads = product(shape->block_x, shape->block_y, shape->block_z);
	struct capability capability;

	if (!capability_of(device, &capability) || device->warp_size == 0 || threads == 0 ||
	    threads > device->max_threads_per_sm ||
	    device->max_threads_per_sm < device->warp_size || device->registers_per_sm == 0 ||
	    device->shared_per_sm_bytes == 0)
		return occupancy;

	const unsigned warps_of_sm = device->max_threads_per_sm / device->warp_size;
	const uint64_t warps = round_up(threads, device->warp_size) / device->warp_size;

	occupancy.blocks_by_warps = (unsigned)(warps_of_sm / warps);
	occupancy.blocks_by_blocks = capability.blocks;
	occupancy.blocks_by_registers = blocks_by_registers(device, shape, &capability, warps);
	occupancy.blocks_by_shared_memory = blocks_by_shared_memory(device, shape, &capability);
	occupancy.blocks_by_barriers = blocks_by_barriers(shape, &capability);
	find_smallest(&occupancy);
	occupancy.warps_per_sm = (unsigned)(occupancy.blocks_per_sm * warps);
	occupancy.percent = 100.0 * occupancy.warps_per_sm / warps_of_sm;
	add_waves(&occupancy, device, shape);
	return occupancy;
}

double gt_last_wave_empty_percent(double waves)
{
	return waves > 0 ? 100 * (ceil(waves) - waves) : NAN;
}

double gt_tail_share(double waves)
{
	return waves > 1 ? 1 - waves / ceil(waves) : NAN;
}

/* KiB that shared memory can be configured to. CUDA C++ Programming Guide, as above. */
static const uint16_t *shared_sizes(const struct gt_device *device)
{
	static const uint16_t volta[] = {8, 16, 32, 64, 96, 0};
	static const uint16_t turing[] = {32, 64, 0};
	static const uint16_t small[] = {8, 16, 32, 64, 100, 0};
	static const uint16_t medium[] = {8, 16, 32, 64, 100, 132, 164, 0};
	static const uint16_t large[] = {8, 16, 32, 64, 100, 132, 164, 196, 228, 0};

	switch (device->cc_major) {
	case 7:
		return device->cc_minor == 5 ? turing : volta;
	case 8: /* GA100 and Orin have more than the others */
		return device->cc_minor == 0 || device->cc_minor == 7 ? medium : small;
	case 9:
	case 10:
	case 11:
		return large;
	case 12:
		return small;
	default:
		return NULL;
	}
}

uint64_t gt_shared_configuration(const struct gt_device *device, uint64_t bytes)
{
	for (const uint16_t *size = shared_sizes(device); size && *size; size++)
		if (bytes <= *size * UINT64_C(1024))
			return *size * UINT64_C(1024);
	return 0;
}

uint32_t gt_multiprocessors_of(const struct gt_trace *trace, uint32_t stream, uint32_t device)
{
	gt_id context = GT_NONE;

	if (stream < trace->streams.count)
		context = trace->streams.rows[stream].context;
	if (context < trace->contexts.count && trace->contexts.rows[context].sm_count)
		return trace->contexts.rows[context].sm_count;
	return device < trace->devices.count ? trace->devices.rows[device].sm_count : 0;
}

uint32_t gt_launched_registers(uint32_t compiled)
{
	return compiled > LEAST_REGISTERS ? compiled : LEAST_REGISTERS;
}

const char *gt_occupancy_limit_name(enum gt_occupancy_limit limit)
{
	switch (limit) {
	case GT_LIMIT_UNKNOWN:
		return "unknown";
	case GT_LIMIT_WARPS:
		return "warps";
	case GT_LIMIT_REGISTERS:
		return "registers";
	case GT_LIMIT_SHARED_MEMORY:
		return "shared memory";
	case GT_LIMIT_BLOCKS:
		return "blocks";
	case GT_LIMIT_BARRIERS:
		return "barriers";
	}
	return "unknown";
}
