/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/occupancy_changes.h"

#include <math.h>
#include <stdbool.h>

#include "model/trace.h"

enum { BLOCK_THREADS = 1024 }; /* most, of every compute capability */

/* Goal of the search: more blocks of a launch on a multiprocessor. */
struct wanted {
	const struct gt_device *device;
	const struct gt_launch_shape *shape;
	unsigned blocks;
};

static uint64_t shared_of(const struct gt_launch_shape *shape)
{
	return shape->shared_static_bytes + shape->shared_dynamic_bytes;
}

static void set_shared(struct gt_launch_shape *shape, uint64_t bytes)
{
	shape->shared_static_bytes = 0;
	shape->shared_dynamic_bytes = bytes;
}

static bool fit_registers(const struct wanted *wanted, uint64_t registers)
{
	struct gt_launch_shape shape = *wanted->shape;

	shape.registers = (uint32_t)registers;
	return gt_occupancy_of(wanted->device, &shape).blocks_by_registers >= wanted->blocks;
}

static bool fit_shared(const struct wanted *wanted, uint64_t bytes)
{
	struct gt_launch_shape shape = *wanted->shape;

	set_shared(&shape, bytes);
	return gt_occupancy_of(wanted->device, &shape).blocks_by_shared_memory >= wanted->blocks;
}

/* The most from least to most that fits, where less fits as well; 0: not even the least does. */
static uint64_t most_that_fits(const struct wanted *wanted, uint64_t least, uint64_t most,
                               bool (*fit)(const struct wanted *wanted, uint64_t value))
{
	if (most < least || !fit(wanted, least))
		return 0;
	while (least < most) {
		const uint64_t middle = most - (most - least) / 2;

		if (fit(wanted, middle))
			least = middle;
		else
			most = middle - 1;
	}
	return least;
}

/* How many registers and how much shared memory let so many blocks be resident. */
static bool find_use(const struct wanted *wanted, const struct gt_occupancy *now,
                     struct gt_occupancy_change *change)
{
	struct gt_launch_shape shape = *wanted->shape;

	*change = (struct gt_occupancy_change){.kind = GT_CHANGE_USE};
	if (now->blocks_by_registers < wanted->blocks) {
		change->registers = (uint32_t)most_that_fits(wanted, gt_launched_registers(0),
		                                             shape.registers, fit_registers);
		if (change->registers == 0)
			return false;
		shape.registers = change->registers;
	}
	if (now->blocks_by_shared_memory < wanted->blocks) {
		change->shared_bytes = most_that_fits(wanted, 1, shared_of(&shape), fit_shared);
		if (change->shared_bytes == 0)
			return false;
		set_shared(&shape, change->shared_bytes);
	}
	change->becomes = gt_occupancy_of(wanted->device, &shape);
	return change->becomes.blocks_per_sm > now->blocks_per_sm;
}

/* The smallest configuration of those that let most blocks be resident. */
static bool find_configuration(const struct gt_device *device, const struct gt_launch_shape *shape,
                               const struct gt_occupancy *now, struct gt_occupancy_change *change)
{
	struct gt_launch_shape changed = *shape;
	uint64_t bytes = shape->shared_executed_bytes;

	*change = (struct gt_occupancy_change){.kind = GT_CHANGE_CONFIGURATION, .becomes = *now};
	if (now->limit != GT_LIMIT_SHARED_MEMORY || bytes == 0)
		return false;
	while ((bytes = gt_shared_configuration(device, bytes + 1)) != 0 &&
	       bytes <= device->shared_per_sm_bytes) {
		struct gt_occupancy becomes;

		changed.shared_executed_bytes = bytes;
		becomes = gt_occupancy_of(device, &changed);
		if (becomes.blocks_per_sm > change->becomes.blocks_per_sm) {
			change->configured_bytes = bytes;
			change->becomes = becomes;
		}
	}
	return change->configured_bytes != 0;
}

/* How far two numbers of threads are from each other, as a ratio. */
static double apart(uint64_t a, uint64_t b)
{
	return a > b ? (double)a / (double)b : (double)b / (double)a;
}

/* The block that gives the highest occupancy; of equals that which is most like the present one. */
static bool find_block(const struct gt_device *device, const struct gt_launch_shape *shape,
                       const struct gt_occupancy *now, struct gt_occupancy_change *change)
{
	const uint64_t threads = (uint64_t)shape->block_x * shape->block_y * shape->block_z;
	const double blocks = (double)shape->grid_x * shape->grid_y * shape->grid_z;
	struct gt_launch_shape changed = *shape;

	*change = (struct gt_occupancy_change){.kind = GT_CHANGE_BLOCK, .becomes = *now};
	changed.block_y = changed.block_z = changed.grid_y = changed.grid_z = 1;
	for (uint32_t size = device->warp_size; size <= BLOCK_THREADS; size += device->warp_size) {
		const double grid = ceil(blocks * (double)threads / size);
		struct gt_occupancy becomes;

		changed.block_x = size;
		changed.grid_x = grid < (double)UINT32_MAX ? (uint32_t)grid : UINT32_MAX;
		becomes = gt_occupancy_of(device, &changed);
		if (becomes.warps_per_sm > change->becomes.warps_per_sm ||
		    (change->threads && becomes.warps_per_sm == change->becomes.warps_per_sm &&
		     apart(size, threads) < apart(change->threads, threads))) {
			change->threads = size;
			change->becomes = becomes;
		}
	}
	return change->threads != 0;
}

/* Blocks that fit however little they take of what can be less. */
static unsigned most_blocks(const struct gt_occupancy *now)
{
	unsigned most = now->blocks_by_warps;

	if (now->blocks_by_blocks < most)
		most = now->blocks_by_blocks;
	return now->blocks_by_barriers < most ? now->blocks_by_barriers : most;
}

size_t gt_occupancy_changes(const struct gt_device *device, const struct gt_launch_shape *shape,
                            struct gt_occupancy_change changes[GT_OCCUPANCY_CHANGES])
{
	const struct gt_occupancy now = gt_occupancy_of(device, shape);
	struct wanted wanted = {.device = device, .shape = shape};
	const unsigned most = most_blocks(&now);
	size_t count = 0;

	if (now.limit == GT_LIMIT_UNKNOWN)
		return 0;
	count += find_configuration(device, shape, &now, &changes[count]);
	wanted.blocks = now.blocks_per_sm + 1;
	if (wanted.blocks <= most && find_use(&wanted, &now, &changes[count])) {
		const unsigned reached = changes[count++].becomes.blocks_per_sm;

		wanted.blocks = most;
		count += most > reached && find_use(&wanted, &now, &changes[count]);
	}
	count += find_block(device, shape, &now, &changes[count]);
	return count;
}
