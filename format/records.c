/* SPDX-License-Identifier: Apache-2.0 */
#include "format/records.h"

#include <string.h>

/* clang-format off */
#define RECORD(name, number, becomes, into, help) static const struct gt_field name##_fields[] = {
#define FIELD(record, role, name, number, coding, help) \
	{#name, help, number, sizeof(gt_field_##role), GT_CODING_##coding, GT_ROLE_##role, \
	 offsetof(struct gt_record_##record, name)},
#define END(name) };
#include "format/records.def"

#define RECORD(name, number, becomes, into, help) \
	_Static_assert(sizeof(struct gt_record_##name) <= GT_RECORD_MAX_SIZE, "fits scratch rows"); \
	_Static_assert(sizeof(name##_fields) / sizeof(name##_fields[0]) <= GT_RECORD_MAX_FIELDS, \
	               "fits the encoder's buffer");
#define FIELD(record, role, name, number, coding, help)
#define END(name)
#include "format/records.def"

static const struct gt_record_info infos[GT_RECORD_KIND_COUNT] = {
#define RECORD(name, number, becomes, into, help) \
	[number] = {#name, help, name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0]), \
	            sizeof(struct gt_record_##name), GT_BECOMES_##becomes},
#define FIELD(record, role, name, number, coding, help)
#define END(name)
#include "format/records.def"
};
/* clang-format on */

const struct gt_record_info *gt_record_info(uint32_t kind)
{
	return kind < GT_RECORD_KIND_COUNT && infos[kind].fields ? &infos[kind] : NULL;
}

const struct gt_field *gt_record_field(const struct gt_record_info *info, enum gt_role role)
{
	for (uint32_t i = 0; i < info->field_count; i++)
		if (info->fields[i].role == role)
			return &info->fields[i];
	return NULL;
}

bool gt_record_passes(uint32_t kind)
{
	switch (kind) {
	case GT_RECORD_SERIES:
	case GT_RECORD_clock:
	case GT_RECORD_kernel:
	case GT_RECORD_copy:
	case GT_RECORD_fill:
	case GT_RECORD_sync:
	case GT_RECORD_sync_call:
	case GT_RECORD_query:
	case GT_RECORD_overhead:
	case GT_RECORD_api_call:
	case GT_RECORD_own_call:
	case GT_RECORD_range_begin:
	case GT_RECORD_range_end:
	case GT_RECORD_range_data:
	case GT_RECORD_ledger:
	case GT_RECORD_written:
	case GT_RECORD_gone:
	case GT_RECORD_graph_call:
	case GT_RECORD_graph_launch:
	case GT_RECORD_graph_trace:
	case GT_RECORD_unified_event:
	case GT_RECORD_access:
	case GT_RECORD_copy_place:
	case GT_RECORD_profiled_launch:
	case GT_RECORD_profiled_value:
	case GT_RECORD_device_chunk:
	case GT_RECORD_device_event:
	case GT_RECORD_device_time:
		return true;
	default:
		return false;
	}
}

bool gt_record_has_times(const struct gt_record_info *info)
{
	return info->field_count >= 2 && strcmp(info->fields[0].name, "start_ns") == 0 &&
	       strcmp(info->fields[1].name, "end_ns") == 0;
}
