/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_TRANSLATE_H
#define GT_FORMAT_ARENA_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/activity.h"

struct gt_record_shape;

/*
 * CUPTI's raw activity records into records of a capture. With activity.def the only place that
 * knows what CUPTI's fields and numbers mean; it needs no CUPTI, so that a salvager can use it.
 */
struct gt_translator {
	const struct gt_activity_layout *layout;
	uint32_t record_flags; /* set in every record that has flags */
	/* The string id of a name pointer found in a raw record, 0 when it is not known. */
	uint32_t (*name_of)(void *context, uint64_t pointer);
	/* The id of a launch shape, which is the callee's to fill in and to write. */
	uint32_t (*shape_of)(void *context, struct gt_record_shape *shape);
	void *context;
};

/* The activity of a raw record, or GT_ACTIVITY_COUNT when it is of a kind that is not read. */
enum gt_cupti_activity gt_raw_activity(const uint8_t *raw);

/* Bytes of a raw record, from CUPTI's kind in its first four; 0: of a kind that is not read. */
uint32_t gt_raw_bytes(const struct gt_activity_layout *layout, const uint8_t *raw);

/* The kind of record (GT_RECORD_...) that an activity becomes. */
uint16_t gt_activity_record(enum gt_cupti_activity activity);

/*
 * Fills a zeroed record of that kind. False when the raw one means nothing here, such as a GPU
 * that the process cannot use: there is then no record.
 */
bool gt_translate(const struct gt_translator *translator, enum gt_cupti_activity activity,
                  const uint8_t *raw, void *record);

#endif
