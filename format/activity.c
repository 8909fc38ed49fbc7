/* SPDX-License-Identifier: Apache-2.0 */
#include "format/activity.h"

#include <errno.h>
#include <string.h>

enum gt_cupti_activity gt_activity_of_kind(uint32_t kind)
{
	switch (kind) {
#define ACTIVITY(name, number, kind, type, record, how)                                            \
	case number:                                                                               \
		return GT_ACTIVITY_##name;
#define RAW(name, field, member)
#include "format/activity.def"
	case 3: /* CUPTI_ACTIVITY_KIND_KERNEL: the same struct, serialised kernels */
		return GT_ACTIVITY_kernel;
	default:
		return GT_ACTIVITY_COUNT;
	}
}

uint64_t gt_raw_get(const struct gt_activity_layout *layout, const uint8_t *record,
                    enum gt_raw_field field)
{
	const struct gt_raw_place place = layout->places[field];
	uint64_t value = 0;

	/* CUPTI runs on little-endian machines only: the low bytes come first. */
	switch (place.width) {
	case 1:
		return record[place.offset];
	case 2:
		memcpy(&value, record + place.offset, 2);
		return value;
	case 4:
		memcpy(&value, record + place.offset, 4);
		return value;
	case 8:
		memcpy(&value, record + place.offset, 8);
		return value;
	default:
		return 0;
	}
}

static int check_place(const struct gt_activity_layout *layout, enum gt_cupti_activity activity,
                       enum gt_raw_field field)
{
	const struct gt_raw_place place = layout->places[field];

	return (uint32_t)place.offset + place.width <= layout->sizes[activity] ? 0 : -EBADMSG;
}

int gt_activity_layout_check(const struct gt_activity_layout *layout)
{
	int result = 0;

#define ACTIVITY(name, number, kind, type, record, how)                                            \
	if (layout->sizes[GT_ACTIVITY_##name] < 8 || layout->sizes[GT_ACTIVITY_##name] > 4096)     \
		result = -EBADMSG;
#define RAW(name, field, member)                                                                   \
	if (check_place(layout, GT_ACTIVITY_##name, GT_RAW_##name##_##field) < 0)                  \
		result = -EBADMSG;
#include "format/activity.def"
	return result;
}
