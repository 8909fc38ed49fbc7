/* SPDX-License-Identifier: Apache-2.0 */
#include "format/records.h"

/* clang-format off */
#define RECORD(name, number, help) static const struct gt_field name##_fields[] = {
#define FIELD(record, type, name, number, coding, help) \
	{#name, help, number, sizeof(gt_field_##type), GT_CODING_##coding, \
	 offsetof(struct gt_record_##record, name)},
#define END(name) };
#include "format/records.def"

#define RECORD(name, number, help) \
	_Static_assert(sizeof(struct gt_record_##name) <= GT_RECORD_MAX_SIZE, "fits scratch rows"); \
	_Static_assert(sizeof(name##_fields) / sizeof(name##_fields[0]) <= GT_RECORD_MAX_FIELDS, \
	               "fits the encoder's buffer");
#define FIELD(record, type, name, number, coding, help)
#define END(name)
#include "format/records.def"

static const struct gt_record_info infos[GT_RECORD_KIND_COUNT] = {
#define RECORD(name, number, help) \
	[number] = {#name, help, name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0]), \
	            sizeof(struct gt_record_##name)},
#define FIELD(record, type, name, number, coding, help)
#define END(name)
#include "format/records.def"
};
/* clang-format on */

const struct gt_record_info *gt_record_info(uint32_t kind)
{
	return kind < GT_RECORD_KIND_COUNT && infos[kind].fields ? &infos[kind] : NULL;
}
