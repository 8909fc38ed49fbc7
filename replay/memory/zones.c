/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/memory/restored_parts.h"

#include <stdlib.h>

#include "base/error.h"

struct zone {
	CUdeviceptr address;
	size_t size;
	uint64_t seed;
};

static struct zone zone_of(const struct gt_restored *restored, size_t number, bool after)
{
	const struct gt_layout_place *at = &restored->layout.places.rows[number];
	const uint64_t size = restored->bundle->memory.rows[number].size;

	if (after)
		return (struct zone){at->address + size, at->behind, 2 * number + 1};
	return (struct zone){at->address - at->before, at->before, 2 * number};
}

static int fill_zone(const struct gt_restored *restored, struct zone zone, struct gt_error *err)
{
	uint8_t *bytes;
	int result;

	if (zone.size == 0)
		return 0;
	bytes = gt_allocate(zone.size);
	gt_zone_fill(bytes, zone.size, zone.seed);
	result = gt_restored_copy(restored, zone.address, gt_of_host(bytes), zone.size, err);
	if (result == 0)
		result = gt_gpu_wait(restored->gpu, err);
	free(bytes);
	return result;
}

int gt_restored_fill_zones(const struct gt_restored *restored, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < restored->bundle->memory.count; i++) {
		result = fill_zone(restored, zone_of(restored, i, false), err);
		if (result == 0)
			result = fill_zone(restored, zone_of(restored, i, true), err);
	}
	return result;
}

static int check_zone(const struct gt_restored *restored, struct zone zone, uint64_t *changed,
                      uint64_t *first, struct gt_error *err)
{
	uint64_t last = 0;
	uint8_t *bytes;
	int result;

	*changed = 0;
	if (zone.size == 0)
		return 0;
	bytes = gt_allocate(zone.size);
	result = gt_restored_copy(restored, gt_of_host(bytes), zone.address, zone.size, err);
	if (result == 0)
		result = gt_gpu_wait(restored->gpu, err);
	if (result == 0)
		*changed = gt_zone_changed(bytes, zone.size, zone.seed, first, &last);
	free(bytes);
	return result;
}

int gt_restored_check_zones(const struct gt_restored *restored, size_t number, uint64_t *changed,
                            int64_t *first, struct gt_error *err)
{
	const uint64_t size = restored->bundle->memory.rows[number].size;
	uint64_t before = 0;
	uint64_t after = 0;
	uint64_t first_before = 0;
	uint64_t first_after = 0;
	int result =
		check_zone(restored, zone_of(restored, number, false), &before, &first_before, err);

	if (result == 0)
		result = check_zone(restored, zone_of(restored, number, true), &after, &first_after,
		                    err);
	if (result < 0)
		return result;
	*changed = before + after;
	*first = before ? (int64_t)(first_before - restored->layout.places.rows[number].before)
	                : (int64_t)(size + first_after);
	return 0;
}
