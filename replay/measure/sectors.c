/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/sectors.h"

#include <string.h>

size_t gt_sectors_in(uint64_t bytes)
{
	return (size_t)((bytes + GT_SECTOR - 1) / GT_SECTOR);
}

bool gt_sector_differs(const uint8_t *one, const uint8_t *other, size_t sector, size_t size)
{
	const size_t at = sector * GT_SECTOR;
	const size_t length = size - at < GT_SECTOR ? size - at : GT_SECTOR;

	return memcmp(one + at, other + at, length) != 0;
}

struct gt_sectors_compared gt_sectors_compare(const struct gt_work_memory *memory,
                                              const uint8_t *got, size_t size)
{
	struct gt_sectors_compared found = {0};

	for (size_t i = 0; i < gt_sectors_in(size); i++) {
		const bool changed = gt_sector_differs(memory->before, memory->after, i, size);

		found.changed += changed;
		if (!gt_sector_differs(memory->after, got, i, size))
			continue;
		if (changed && !gt_sector_differs(memory->before, got, i, size))
			found.missing++;
		else
			found.other++;
	}
	return found;
}

bool gt_sectors_are_less(const struct gt_sectors_compared *compared)
{
	return (compared->missing > 0 && compared->other == 0) ||
	       10 * compared->missing > compared->changed;
}
