/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/layout.h"

#include <stddef.h>

#include <cupti.h>

#include "format/activity.h"
#include "injection/cupti/cupti.h"

/* clang-format off */
#define ACTIVITY(name, number, kind, type, record, how) \
	typedef type raw_##name; \
	_Static_assert(CUPTI_ACTIVITY_KIND_##kind == (number), "CUPTI's number of " #kind);
#define GREW(name, version, before, member) \
	_Static_assert(offsetof(raw_##name, member) == offsetof(before, member), \
	               #before " is the beginning of a later record");
#define RAW(name, field, member)
#include "format/activity.def"
/* clang-format on */

_Static_assert(offsetof(CUpti_ActivityOverhead3, correlationId) ==
                       offsetof(CUpti_ActivityOverhead2, correlationId),
               "so is an overhead record");

/* What the records of an older CUPTI do not reach to reads as 0. */
static struct gt_raw_place place_in(uint32_t record_bytes, size_t offset, size_t width)
{
	if (offset + width > record_bytes)
		return (struct gt_raw_place){0};
	return (struct gt_raw_place){.offset = (uint16_t)offset, .width = (uint16_t)width};
}

void gt_layout_fill(struct gt_activity_layout *layout, uint32_t cupti_version)
{
	layout->cupti_version = cupti_version;
#define ACTIVITY(name, number, kind, type, record, how)                                            \
	layout->sizes[GT_ACTIVITY_##name] = sizeof(type);
#define GREW(name, version, before, member)                                                        \
	if (cupti_version < (version))                                                             \
		layout->sizes[GT_ACTIVITY_##name] = sizeof(before);
#define RAW(name, field, member)                                                                   \
	layout->places[GT_RAW_##name##_##field] =                                                  \
		place_in(layout->sizes[GT_ACTIVITY_##name], offsetof(raw_##name, member),          \
	                 sizeof(((raw_##name *)NULL)->member));
#include "format/activity.def"

	if (cupti_version < GT_CUPTI_13_0)
		layout->places[GT_RAW_kernel_device_launched] = (struct gt_raw_place){0};
}
