/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEASURE_SECTORS_H
#define GT_REPLAY_MEASURE_SECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/measure/work.h"

/* Comparison of memory sector by sector: of what one run changed with what another one left. */

enum { GT_SECTOR = 32 }; /* bytes that are looked at together: of the GPU's memory */

/* Comparison of the sectors that the first run changed. */
struct gt_sectors_compared {
	size_t changed; /* by the first run */
	size_t missing; /* of these, not by the other one */
	size_t other;   /* changed into something else, or changed here alone */
};

size_t gt_sectors_in(uint64_t bytes);
bool gt_sector_differs(const uint8_t *one, const uint8_t *other, size_t sector, size_t size);

/* got: what the other run left. */
struct gt_sectors_compared gt_sectors_compare(const struct gt_work_memory *memory,
                                              const uint8_t *got, size_t size);

/*
 * Where all else is as the first run wrote it, each sector that is not written is less work. Where
 * runs differ anyway, a sector may come out as it was before by chance: a tenth of them does not.
 */
bool gt_sectors_are_less(const struct gt_sectors_compared *compared);

#endif
