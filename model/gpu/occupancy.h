/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_OCCUPANCY_H
#define GT_MODEL_GPU_OCCUPANCY_H

#include <stdint.h>

struct gt_device;
struct gt_launch_shape;
struct gt_trace;

/* The limit that keeps more blocks from fitting on one multiprocessor at a time. */
enum gt_occupancy_limit {
	GT_LIMIT_UNKNOWN, /* the device's limits were not recorded */
	GT_LIMIT_WARPS,
	GT_LIMIT_REGISTERS,
	GT_LIMIT_SHARED_MEMORY,
	GT_LIMIT_BLOCKS,
	GT_LIMIT_BARRIERS,
};

/*
 * Theoretical occupancy: how many blocks of a launch fit on one multiprocessor, from the
 * device's limits and allocation granularity (CUDA C++ Programming Guide, "Hardware
 * Multithreading", and the table of technical specifications per compute capability).
 * It says what could be resident, not what was.
 */
struct gt_occupancy {
	unsigned blocks_by_warps; /* blocks a multiprocessor holds by each limit alone */
	unsigned blocks_by_registers;
	unsigned blocks_by_shared_memory;
	unsigned blocks_by_blocks;
	unsigned blocks_by_barriers; /* blocks_by_blocks where the shape does not say how many */
	unsigned blocks_per_sm;      /* the smallest of them */
	unsigned warps_per_sm;       /* blocks_per_sm x warps of a block */
	double percent;              /* of the warps a multiprocessor can hold; NAN when unknown */
	/*
	 * Blocks of the grid / (blocks_per_sm x sm_count), of blocks in clusters / those of whole
	 * clusters; NAN when unknown. Below 1 the launch does not fill the device, whatever the
	 * occupancy is. With clusters it may be more: one lies on neighbouring multiprocessors, and
	 * how many of them are neighbours the driver does not say.
	 */
	double waves_per_sm;
	enum gt_occupancy_limit limit; /* the one that gives blocks_per_sm */
};

struct gt_occupancy gt_occupancy_of(const struct gt_device *device,
                                    const struct gt_launch_shape *shape);

/*
 * The last wave of a launch, which began when all others had ended if all blocks take equally long.
 * Percent of the blocks it has room for that it has not; NAN when unknown.
 */
double gt_last_wave_empty_percent(double waves);

/*
 * Share of the launch's time that this room stands for: 1 - waves / waves rounded up, which blocks
 * that could be spread evenly would save if all take equally long. NAN when unknown, and up to one
 * wave: nothing comes after another one then.
 */
double gt_tail_share(double waves);

/*
 * The least shared memory of so many bytes and more that a multiprocessor can be configured to
 * have; 0: it cannot have so much, or is not configured (before compute capability 7.0).
 */
uint64_t gt_shared_configuration(const struct gt_device *device, uint64_t bytes);

/*
 * Multiprocessors that work of a stream can run on: those of its context where that is a green one,
 * else of the device; 0: not known.
 */
uint32_t gt_multiprocessors_of(const struct gt_trace *trace, uint32_t stream, uint32_t device);

/*
 * Registers of a thread that launches take of code that was compiled for so many. CUPTI shows no
 * fewer than 16, as Nsight Compute does (seen on sm_86 and sm_90), and from there on what the
 * compiler says, not rounded up to what warps are given. Code that calls functions of the driver's
 * own, as a launch of a graph in a kernel, takes more.
 */
uint32_t gt_launched_registers(uint32_t compiled);

const char *gt_occupancy_limit_name(enum gt_occupancy_limit limit);

#endif
