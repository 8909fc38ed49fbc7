/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/occupancy.h"

#include <math.h>

#include "model/trace.h"
#include "support/check.h"
#include "support/trace.h"

#if __has_include(<cuda_occupancy.h>)
#define HAVE_CUDA 1
#include <cuda_occupancy.h>
#endif

/* Real devices by what the driver says of them. */
static const struct gt_device devices[] = {
	{.cc_major = 5,
         .cc_minor = 2,
         .sm_count = 24,
         .max_blocks_per_sm = 32, /* M60 */
         .max_threads_per_sm = 2048,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 98304,
         .shared_per_block_bytes = 49152,
         .warp_size = 32},
	{.cc_major = 6,
         .cc_minor = 0,
         .sm_count = 56,
         .max_blocks_per_sm = 32, /* P100 */
         .max_threads_per_sm = 2048,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 65536,
         .shared_per_block_bytes = 49152,
         .warp_size = 32},
	{.cc_major = 7,
         .cc_minor = 0,
         .sm_count = 80,
         .max_blocks_per_sm = 32, /* V100 */
         .max_threads_per_sm = 2048,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 98304,
         .shared_per_block_bytes = 98304,
         .warp_size = 32},
	{.cc_major = 7,
         .cc_minor = 5,
         .sm_count = 40,
         .max_blocks_per_sm = 16, /* T4 */
         .max_threads_per_sm = 1024,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 65536,
         .shared_per_block_bytes = 65536,
         .warp_size = 32},
	{.cc_major = 8,
         .cc_minor = 0,
         .sm_count = 108,
         .max_blocks_per_sm = 32, /* A100 */
         .max_threads_per_sm = 2048,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 167936,
         .shared_per_block_bytes = 166912,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 8,
         .cc_minor = 6,
         .sm_count = 72,
         .max_blocks_per_sm = 16, /* A10 */
         .max_threads_per_sm = 1536,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 102400,
         .shared_per_block_bytes = 101376,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 8,
         .cc_minor = 9,
         .sm_count = 58,
         .max_blocks_per_sm = 24, /* L4 */
         .max_threads_per_sm = 1536,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 102400,
         .shared_per_block_bytes = 101376,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 9,
         .cc_minor = 0,
         .sm_count = 132,
         .max_blocks_per_sm = 32, /* H100, H200 */
         .max_threads_per_sm = 2048,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 233472,
         .shared_per_block_bytes = 232448,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 10,
         .cc_minor = 0,
         .sm_count = 148,
         .max_blocks_per_sm = 32, /* B200 */
         .max_threads_per_sm = 2048,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 233472,
         .shared_per_block_bytes = 232448,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 12,
         .cc_minor = 0,
         .sm_count = 188,
         .max_blocks_per_sm = 24, /* RTX PRO 6000 */
         .max_threads_per_sm = 1536,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 102400,
         .shared_per_block_bytes = 101376,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 8,
         .cc_minor = 7,
         .sm_count = 16,
         .max_blocks_per_sm = 16, /* Orin */
         .max_threads_per_sm = 1536,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 167936,
         .shared_per_block_bytes = 166912,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 8,
         .cc_minor = 8,
         .sm_count = 16,
         .max_blocks_per_sm = 16, /* an sm_88 */
         .max_threads_per_sm = 1536,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 102400,
         .shared_per_block_bytes = 101376,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 10,
         .cc_minor = 3,
         .sm_count = 148,
         .max_blocks_per_sm = 32, /* B300 */
         .max_threads_per_sm = 2048,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 233472,
         .shared_per_block_bytes = 232448,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 11,
         .cc_minor = 0,
         .sm_count = 20,
         .max_blocks_per_sm = 24, /* Thor */
         .max_threads_per_sm = 1536,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 233472,
         .shared_per_block_bytes = 232448,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
	{.cc_major = 12,
         .cc_minor = 1,
         .sm_count = 48,
         .max_blocks_per_sm = 24, /* GB10 */
         .max_threads_per_sm = 1536,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm_bytes = 102400,
         .shared_per_block_bytes = 101376,
         .shared_reserved_bytes = 1024,
         .warp_size = 32},
};

enum { DEVICE_COUNT = sizeof(devices) / sizeof(devices[0]), H200 = 7 };

static struct gt_launch_shape shape_of(gt_count blocks, gt_count threads, gt_count registers)
{
	return (struct gt_launch_shape){.grid_x = blocks,
	                                .grid_y = 1,
	                                .grid_z = 1,
	                                .block_x = threads,
	                                .block_y = 1,
	                                .block_z = 1,
	                                .registers = registers};
}

Test(occupancy, is_full_when_nothing_is_scarce)
{
	const struct gt_launch_shape shape = shape_of(132 * 8 * 3, 256, 32);
	const struct gt_occupancy occupancy = gt_occupancy_of(&devices[H200], &shape);

	cr_expect(eq(uint, occupancy.blocks_per_sm, 8));
	cr_expect(eq(uint, occupancy.warps_per_sm, 64));
	cr_expect(epsilon_eq(dbl, occupancy.percent, 100, 1e-9));
	cr_expect(epsilon_eq(dbl, occupancy.waves_per_sm, 3, 1e-9));
	cr_expect(eq(int, (int)occupancy.limit, GT_LIMIT_WARPS));
}

Test(occupancy, names_what_limits_it)
{
	struct gt_launch_shape registers = shape_of(100000, 256, 128);
	struct gt_launch_shape shared = shape_of(100000, 256, 32);
	struct gt_launch_shape blocks = shape_of(100000, 32, 16);
	struct gt_launch_shape grid = shape_of(100, 256, 128); /* too few to fill the device */

	shared.shared_dynamic_bytes = 100 * 1024;
	cr_expect(eq(int, (int)gt_occupancy_of(&devices[H200], &registers).limit,
	             GT_LIMIT_REGISTERS));
	cr_expect(epsilon_eq(dbl, gt_occupancy_of(&devices[H200], &registers).percent, 25, 1e-9));
	cr_expect(eq(int, (int)gt_occupancy_of(&devices[H200], &shared).limit,
	             GT_LIMIT_SHARED_MEMORY));
	cr_expect(eq(uint, gt_occupancy_of(&devices[H200], &shared).blocks_per_sm, 2));
	cr_expect(eq(int, (int)gt_occupancy_of(&devices[H200], &blocks).limit, GT_LIMIT_BLOCKS));
	cr_expect(epsilon_eq(dbl, gt_occupancy_of(&devices[H200], &blocks).percent, 50, 1e-9));
	cr_expect(eq(int, (int)gt_occupancy_of(&devices[H200], &grid).limit, GT_LIMIT_REGISTERS));
	cr_expect(epsilon_eq(dbl, gt_occupancy_of(&devices[H200], &grid).percent, 25, 1e-9));
	cr_expect(epsilon_eq(dbl, gt_occupancy_of(&devices[H200], &grid).waves_per_sm,
	                     100.0 / (132 * 2), 1e-9));
	expect_text(gt_occupancy_limit_name(GT_LIMIT_SHARED_MEMORY), "shared memory");
	blocks.block_x = 64;
	blocks.barriers = 16; /* of the 64 of a multiprocessor */
	cr_expect(eq(int, (int)gt_occupancy_of(&devices[H200], &blocks).limit, GT_LIMIT_BARRIERS));
	cr_expect(eq(uint, gt_occupancy_of(&devices[H200], &blocks).blocks_per_sm, 4));
}

Test(occupancy, heeds_how_much_shared_memory_was_configured)
{
	struct gt_launch_shape shape = shape_of(100000, 256, 32);

	shape.shared_static_bytes = 15 * 1024;
	cr_expect(eq(uint, gt_occupancy_of(&devices[H200], &shape).blocks_per_sm, 8));
	shape.shared_executed_bytes = 64 * 1024;
	cr_expect(eq(uint, gt_occupancy_of(&devices[H200], &shape).blocks_per_sm, 4));
	shape.shared_executed_bytes = 8 * 1024; /* less than one block: cannot be what it means */
	cr_expect(eq(uint, gt_occupancy_of(&devices[H200], &shape).blocks_per_sm, 8));
}

/* 132 blocks at a time: 396 are three waves, 397 a fourth with 131 places that nobody has. */
Test(occupancy, says_what_the_last_wave_leaves_empty)
{
	cr_expect(epsilon_eq(dbl, gt_last_wave_empty_percent(396.0 / 132), 0, 1e-9));
	cr_expect(epsilon_eq(dbl, gt_tail_share(396.0 / 132), 0, 1e-9));
	cr_expect(
		epsilon_eq(dbl, gt_last_wave_empty_percent(397.0 / 132), 100 * 131.0 / 132, 1e-9));
	cr_expect(epsilon_eq(dbl, gt_tail_share(397.0 / 132), 131.0 / 132 / 4, 1e-9));
	cr_expect(epsilon_eq(dbl, gt_last_wave_empty_percent(0.25), 75, 1e-9));
	/* nothing comes after another wave */
	cr_expect(ne(int, isnan(gt_tail_share(0.25)), 0));
	cr_expect(ne(int, isnan(gt_tail_share(1)), 0));
	cr_expect(ne(int, isnan(gt_last_wave_empty_percent(NAN)), 0));
	cr_expect(ne(int, isnan(gt_tail_share(NAN)), 0));
}

/* Two blocks of 100 KiB on each of 132 multiprocessors, in clusters of 16: 16 x 16 of 264. */
Test(occupancy, counts_waves_in_whole_clusters)
{
	struct gt_launch_shape shape = shape_of(2560, 256, 32);

	shape.shared_dynamic_bytes = 100 * 1024;
	cr_expect(epsilon_eq(dbl, gt_occupancy_of(&devices[H200], &shape).waves_per_sm,
	                     2560.0 / 264, 1e-9));
	shape.cluster_x = 4;
	shape.cluster_y = 4;
	shape.cluster_z = 1;
	cr_expect(epsilon_eq(dbl, gt_occupancy_of(&devices[H200], &shape).waves_per_sm, 10, 1e-9));
	shape.cluster_x = 1000; /* none fits */
	cr_expect(ne(int, isnan(gt_occupancy_of(&devices[H200], &shape).waves_per_sm), 0));
}

Test(occupancy, knows_the_multiprocessors_of_a_green_context)
{
	struct gt_trace trace;
	gt_id process, device, stream;

	trace_init(&trace, 1000);
	process = trace_process(&trace, "app", 100);
	device = trace_device(&trace);
	stream = trace_stream(&trace, process, device);
	cr_expect(eq(u32, gt_multiprocessors_of(&trace, stream, device), 132));
	trace.contexts.rows[trace.streams.rows[stream].context].sm_count = 32;
	cr_expect(eq(u32, gt_multiprocessors_of(&trace, stream, device), 32));
	cr_expect(eq(u32, gt_multiprocessors_of(&trace, GT_NONE, device), 132));
	cr_expect(eq(u32, gt_multiprocessors_of(&trace, GT_NONE, GT_NONE), 0));
	gt_trace_release(&trace);
}

Test(occupancy, is_unknown_without_the_devices_limits)
{
	const struct gt_launch_shape shape = shape_of(1000, 256, 32);
	const struct gt_launch_shape nothing = {0};
	struct gt_device device = {0};

	cr_expect(eq(int, (int)gt_occupancy_of(&device, &shape).limit, GT_LIMIT_UNKNOWN));
	cr_expect(ne(int, isnan(gt_occupancy_of(&device, &shape).percent), 0));
	cr_expect(ne(int, isnan(gt_occupancy_of(&device, &shape).waves_per_sm), 0));
	cr_expect(eq(int, (int)gt_occupancy_of(&devices[H200], &nothing).limit, GT_LIMIT_UNKNOWN));
	device = devices[H200];
	device.cc_major = 13;
	cr_expect(eq(int, (int)gt_occupancy_of(&device, &shape).limit, GT_LIMIT_UNKNOWN));
	device.cc_major = 9;
	device.sm_count = 0;
	cr_expect(ne(int, isnan(gt_occupancy_of(&device, &shape).waves_per_sm), 0));
	cr_expect(epsilon_eq(dbl, gt_occupancy_of(&device, &shape).percent, 100, 1e-9));
}

Test(occupancy, survives_shapes_no_device_can_run)
{
	struct gt_launch_shape shape = shape_of(UINT32_MAX, UINT32_MAX, UINT32_MAX);

	shape.grid_y = shape.grid_z = shape.block_y = shape.block_z = UINT32_MAX;
	cr_expect(eq(int, (int)gt_occupancy_of(&devices[H200], &shape).limit, GT_LIMIT_UNKNOWN));
	shape.block_x = 256;
	shape.block_y = shape.block_z = 1;
	cr_expect(eq(uint, gt_occupancy_of(&devices[H200], &shape).blocks_per_sm, 0));
	shape.registers = 0;
	shape.shared_static_bytes = shape.shared_dynamic_bytes = UINT64_MAX;
	cr_expect(eq(uint, gt_occupancy_of(&devices[H200], &shape).blocks_per_sm, 0));
}

#ifdef HAVE_CUDA

static cudaOccDeviceProp properties_of(const struct gt_device *device)
{
	return (cudaOccDeviceProp){
		.computeMajor = (int)device->cc_major,
		.computeMinor = (int)device->cc_minor,
		.maxThreadsPerBlock = 1024,
		.maxThreadsPerMultiprocessor = (int)device->max_threads_per_sm,
		.regsPerBlock = (int)device->registers_per_block,
		.regsPerMultiprocessor = (int)device->registers_per_sm,
		.warpSize = (int)device->warp_size,
		.sharedMemPerBlock = 49152,
		.sharedMemPerMultiprocessor = device->shared_per_sm_bytes,
		.numSms = (int)device->sm_count,
		.sharedMemPerBlockOptin = device->shared_per_block_bytes,
		.reservedSharedMemPerBlock = device->shared_reserved_bytes,
	};
}

/* Numbers that look random and are the same every time (xorshift). */
static unsigned next(unsigned *state, unsigned below)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % below;
}

static struct gt_launch_shape random_shape(unsigned *state, const struct gt_device *device)
{
	struct gt_launch_shape shape = shape_of(1000000, 1 + next(state, 1024), next(state, 256));
	const unsigned most = (unsigned)device->shared_per_block_bytes;

	shape.shared_static_bytes = next(state, 2) ? next(state, 49153) : 0;
	shape.shared_dynamic_bytes = next(state, 2) ? next(state, most) : 0;
	shape.barriers = next(state, 2) ? 1 + next(state, 16) : 0;
	return shape;
}

/*
 * shared_executed_bytes of a launch whose carve-out preference is so many percent:
 * the next size that the hardware has, large enough for one block.
 */
static size_t configured(const struct gt_device *device, const cudaOccDeviceState *state,
                         size_t block_bytes)
{
	const cudaOccDeviceProp properties = properties_of(device);
	size_t size = 0;

	if (device->cc_major < 7)
		return 0;
	cr_assert(eq(int, cudaOccSMemPerMultiprocessor(&size, &properties, state), 0));
	if (size < block_bytes) {
		size = block_bytes;
		cr_assert(eq(int, cudaOccAlignUpShmemSizeVoltaPlus(&size, &properties), 0));
	}
	return size;
}

static void compare(const struct gt_device *device, struct gt_launch_shape shape, int carveout)
{
	const cudaOccDeviceProp properties = properties_of(device);
	const cudaOccDeviceState state = {.carveoutConfig = carveout};
	const cudaOccFuncAttributes attributes = {
		.maxThreadsPerBlock = 1024,
		.numRegs = (int)shape.registers,
		.sharedSizeBytes = shape.shared_static_bytes,
		.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
		.maxDynamicSharedSizeBytes = shape.shared_dynamic_bytes,
		.numBlockBarriers = shape.barriers ? (int)shape.barriers : 1,
	};
	cudaOccResult expected;

	cr_assert(eq(int,
	             cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &properties, &attributes,
	                                                     &state, (int)shape.block_x,
	                                                     shape.shared_dynamic_bytes),
	             0));
	if (carveout >= 0 && expected.blockLimitSharedMem > 0)
		shape.shared_executed_bytes =
			configured(device, &state, expected.allocatedSharedMemPerBlock);

	const struct gt_occupancy occupancy = gt_occupancy_of(device, &shape);

	cr_expect(
		occupancy.blocks_per_sm == (unsigned)expected.activeBlocksPerMultiprocessor &&
			occupancy.blocks_by_warps == (unsigned)expected.blockLimitWarps &&
			occupancy.blocks_by_blocks == (unsigned)expected.blockLimitBlocks &&
			(device->cc_major < 9 || shape.barriers == 0 ||
	                 occupancy.blocks_by_barriers == (unsigned)expected.blockLimitBarriers) &&
			(expected.blockLimitRegs == INT_MAX ||
	                 occupancy.blocks_by_registers == (unsigned)expected.blockLimitRegs) &&
			(expected.blockLimitSharedMem == INT_MAX ||
	                 occupancy.blocks_by_shared_memory ==
	                         (unsigned)expected.blockLimitSharedMem),
		"%u.%u, %u threads, %u registers, %lu + %lu bytes, carve-out %d: %u blocks, not %d",
		device->cc_major, device->cc_minor, shape.block_x, shape.registers,
		(unsigned long)shape.shared_static_bytes, (unsigned long)shape.shared_dynamic_bytes,
		carveout, occupancy.blocks_per_sm, expected.activeBlocksPerMultiprocessor);
}

Test(occupancy, is_what_the_toolkit_works_out)
{
	unsigned state = 2463534242;

	for (size_t i = 0; i < DEVICE_COUNT; i++) {
		for (unsigned n = 0; n < 3000; n++) {
			const struct gt_launch_shape shape = random_shape(&state, &devices[i]);

			compare(&devices[i], shape, -1);
			compare(&devices[i], shape, (int)next(&state, 101));
		}
	}
}

Test(occupancy, knows_the_blocks_of_devices_that_do_not_say)
{
	const struct gt_launch_shape shape = shape_of(1000000, 32, 16);

	for (size_t i = 0; i < DEVICE_COUNT; i++) {
		const cudaOccDeviceProp properties = properties_of(&devices[i]);
		struct gt_device device = devices[i];
		int blocks = 0;

		device.max_blocks_per_sm = 0;
		cr_assert(eq(int, cudaOccMaxBlocksPerMultiprocessor(&blocks, &properties), 0));
		cr_expect(eq(uint, gt_occupancy_of(&device, &shape).blocks_by_blocks,
		             (unsigned)blocks));
	}
}

Test(occupancy, knows_what_shared_memory_can_be_configured_to)
{
	for (size_t i = 0; i < DEVICE_COUNT; i++) {
		const cudaOccDeviceProp properties = properties_of(&devices[i]);
		const struct gt_device *device = &devices[i];

		for (size_t bytes = 1; bytes <= device->shared_per_sm_bytes + 1024; bytes += 512) {
			size_t expected = bytes;

			if (device->cc_major < 7 ||
			    cudaOccAlignUpShmemSizeVoltaPlus(&expected, &properties) != 0)
				expected = 0;
			cr_expect(gt_shared_configuration(device, bytes) == expected,
			          "%u.%u, %lu bytes: %lu, not %lu", device->cc_major,
			          device->cc_minor, (unsigned long)bytes,
			          (unsigned long)gt_shared_configuration(device, bytes),
			          (unsigned long)expected);
		}
	}
}

#else

Test(occupancy, is_what_the_toolkit_works_out)
{
	cr_skip("no CUDA toolkit with cuda_occupancy.h to compare with");
}

#endif

/* As compiled and as CUPTI said of launches, on an H200 (driver 580, CUDA 13.0). */
Test(occupancy, launches_take_16_registers_at_least_and_no_others_are_rounded)
{
	const uint32_t seen[][2] = {{8, 16}, {10, 16}, {12, 16}, {17, 17}, {24, 24}};

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		cr_expect(eq(u32, gt_launched_registers(seen[i][0]), seen[i][1]));
}
