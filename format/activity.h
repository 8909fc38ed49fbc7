/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ACTIVITY_H
#define GT_FORMAT_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Where the fields of CUPTI's raw activity records stand in the library that runs. The table
 * lies in the arena, so that whoever finds the arena of a dead process can read its buffers
 * without CUPTI. Sizes are learned from the running library where possible.
 */

enum gt_cupti_activity {
#define ACTIVITY(name, number, kind, type, record, how) GT_ACTIVITY_##name,
#define RAW(name, field, member)
#include "format/activity.def"
	GT_ACTIVITY_COUNT
};

/* CUpti_ActivityKind of each. */
enum gt_cupti_kind {
#define ACTIVITY(name, number, kind, type, record, how) GT_KIND_##name = (number),
#define RAW(name, field, member)
#include "format/activity.def"
};

enum gt_raw_field {
#define ACTIVITY(name, number, kind, type, record, how)
#define RAW(name, field, member) GT_RAW_##name##_##field,
#include "format/activity.def"
	GT_RAW_COUNT
};

struct gt_raw_place {
	uint16_t offset;
	uint16_t width; /* 1, 2, 4 or 8; 0: this library does not have the field */
};

struct gt_activity_layout {
	uint32_t cupti_version; /* cuptiGetVersion */
	uint32_t sizes[GT_ACTIVITY_COUNT];
	struct gt_raw_place places[GT_RAW_COUNT];
};

/* Bit 31 of a raw record's kind: CUPTI has not finished it (measured, CUPTI 13.0). */
#define GT_RAW_KIND_OPEN 0x80000000u

/* The activity of a CUpti_ActivityKind, or GT_ACTIVITY_COUNT when it is not read. */
enum gt_cupti_activity gt_activity_of_kind(uint32_t kind);

/* The value of a field of the raw record at bytes. */
uint64_t gt_raw_get(const struct gt_activity_layout *layout, const uint8_t *record,
                    enum gt_raw_field field);

/* 0 when every place lies inside its record's size, -EBADMSG otherwise. */
int gt_activity_layout_check(const struct gt_activity_layout *layout);

#endif
