/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/raw_records.h"

#include <string.h>

#include "format/arena/arena.h"
#include "injection/cupti/cupti.h"

#define MOST_BYTES 4096 /* that a record may have */

/* CUPTI's records may be larger than the headers say: the distance between two is the truth. */
static void learn_size(struct gt_arena *arena, const uint8_t *record, const uint8_t *next)
{
	uint32_t *sizes = arena->header->layout.sizes;
	uint32_t kind;

	memcpy(&kind, record, sizeof(kind));

	const enum gt_cupti_activity activity = gt_activity_of_kind(kind & ~GT_RAW_KIND_OPEN);

	if (activity == GT_ACTIVITY_COUNT || next <= record || next - record <= sizes[activity] ||
	    next - record > MOST_BYTES)
		return;
	sizes[activity] = (uint32_t)(next - record);
	/* Names were looked for in the wrong places. */
	for (uint32_t i = 0; i < arena->header->slot_count; i++)
		if (arena->slots[i].kind == GT_SLOT_ACTIVITY)
			arena->slots[i].scanned = 0;
}

void gt_each_raw_record(const struct gt_cupti *cupti, struct gt_arena *arena, uint8_t *bytes,
                        uint32_t used, void (*use)(void *context, const uint8_t *record),
                        void *context)
{
	CUpti_Activity *record = NULL;
	const uint8_t *previous = NULL;
	CUptiResult result;

	while ((result = cupti->cuptiActivityGetNextRecord(bytes, used, &record)) ==
	       CUPTI_SUCCESS) {
		const uint8_t *at = (const uint8_t *)record;

		if (previous)
			learn_size(arena, previous, at);
		use(context, at);
		previous = at;
	}
	/* Records behind one that CUPTI itself cannot read are lost: counted once a buffer. */
	if (used && result != CUPTI_ERROR_MAX_LIMIT_REACHED)
		gt_ledger_add(arena, GT_LEDGER_unknown_records, 1);
}
