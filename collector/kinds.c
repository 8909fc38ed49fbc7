/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kinds.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

/* The table of a record that becomes rows; such a record without one does not compile. */
#define INTO_row(into)   GT_TABLE_OF_##into
#define INTO_state(into) GT_TABLE_NONE
#define INTO_fact(into)  GT_TABLE_NONE
#define INTO_piece(into) GT_TABLE_NONE

static const struct {
	uint32_t kind;
	size_t table;
} tables[] = {
#define RECORD(name, number, becomes, into, help) {number, INTO_##becomes(into)},
#define FIELD(record, role, name, number, coding, help)
#define END(name)
#include "format/records.def"
};

static const struct gt_column *column_of(const struct gt_table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return &table->columns[i];
	return NULL;
}

static void init_kind(struct gt_kind *kind, const struct gt_record_info *info, size_t number)
{
	static const struct gt_trace none;
	const struct gt_table table = gt_trace_table(&none, number);

	*kind = (struct gt_kind){
		.info = info,
		.table = number,
		.context = gt_record_field(info, GT_ROLE_context),
		.device = gt_record_field(info, GT_ROLE_device),
		.has_times = gt_record_has_times(info),
	};
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct gt_column *column = column_of(&table, info->fields[i].name);

		if (column)
			kind->bindings[kind->binding_count++] =
				(struct gt_binding){&info->fields[i], column};
	}
}

void gt_kinds_init(struct gt_kinds *kinds)
{
	memset(kinds, 0, sizeof(*kinds));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].table != GT_TABLE_NONE)
			init_kind(&kinds->kinds[tables[i].kind], gt_record_info(tables[i].kind),
			          tables[i].table);
}

/* The type that a field's column must have, and the table whose rows it names. */
static bool fits(enum gt_role role, const struct gt_column *column)
{
	static const struct {
		enum gt_column_type type;
		int target;
	} wanted[GT_ROLE_COUNT] = {
		[GT_ROLE_cupti_time] = {GT_COLUMN_time, GT_TABLE_NONE},
		[GT_ROLE_host_time] = {GT_COLUMN_time, GT_TABLE_NONE},
		[GT_ROLE_mono_time] = {GT_COLUMN_wide, GT_TABLE_NONE},
		[GT_ROLE_boot_time] = {GT_COLUMN_time, GT_TABLE_NONE},
		[GT_ROLE_real_time] = {GT_COLUMN_wide, GT_TABLE_NONE},
		[GT_ROLE_wide] = {GT_COLUMN_wide, GT_TABLE_NONE},
		[GT_ROLE_size] = {GT_COLUMN_size, GT_TABLE_NONE},
		[GT_ROLE_real] = {GT_COLUMN_real, GT_TABLE_NONE},
		[GT_ROLE_count] = {GT_COLUMN_count, GT_TABLE_NONE},
		[GT_ROLE_code] = {GT_COLUMN_code, GT_TABLE_NONE},
		[GT_ROLE_string] = {GT_COLUMN_string, GT_TABLE_NONE},
		[GT_ROLE_correlation] = {GT_COLUMN_count, GT_TABLE_NONE},
		[GT_ROLE_flags] = {GT_COLUMN_count, GT_TABLE_NONE},
		[GT_ROLE_device] = {GT_COLUMN_id, GT_TABLE_devices},
		[GT_ROLE_peer] = {GT_COLUMN_id, GT_TABLE_devices},
		[GT_ROLE_context] = {GT_COLUMN_id, GT_TABLE_contexts},
		[GT_ROLE_stream] = {GT_COLUMN_id, GT_TABLE_streams},
		[GT_ROLE_stream_handle] = {GT_COLUMN_id, GT_TABLE_streams},
		[GT_ROLE_event] = {GT_COLUMN_id, GT_TABLE_events},
		[GT_ROLE_event_handle] = {GT_COLUMN_id, GT_TABLE_events},
		[GT_ROLE_shape] = {GT_COLUMN_id, GT_TABLE_launch_shapes},
		[GT_ROLE_thread] = {GT_COLUMN_id, GT_TABLE_threads},
	};

	return wanted[role].type == column->type && wanted[role].target == column->target;
}

static bool is_mapped(const struct gt_kind *kind, const struct gt_field *field)
{
	for (size_t i = 0; i < kind->binding_count; i++)
		if (kind->bindings[i].field == field)
			return true;
	return false;
}

/* Stage clocks converts them together. */
static bool are_of_one_clock(const struct gt_field *start, const struct gt_field *end)
{
	return start->role == end->role &&
	       (start->role == GT_ROLE_cupti_time || start->role == GT_ROLE_host_time);
}

static int check_kind(const struct gt_kind *kind, struct gt_error *err)
{
	const struct gt_record_info *info = kind->info;

	for (size_t i = 0; i < kind->binding_count; i++)
		if (!fits(kind->bindings[i].field->role, kind->bindings[i].column))
			return gt_fail(err, EINVAL,
			               "record %s: field %s does not fit its column's type",
			               info->name, kind->bindings[i].field->name);
	if (kind->has_times && !are_of_one_clock(&info->fields[0], &info->fields[1]))
		return gt_fail(
			err, EINVAL,
			"record %s: start_ns and end_ns are times of one clock, CUPTI's or the "
			"capture's own",
			info->name);
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct gt_field *field = &info->fields[i];

		/* A context is there to find the stream. */
		if (!is_mapped(kind, field) && field->role != GT_ROLE_context)
			return gt_fail(err, EINVAL,
			               "record %s: field %s has no column in its table", info->name,
			               field->name);
		if (field->role == GT_ROLE_flags && i + 1 != info->field_count)
			return gt_fail(err, EINVAL, "record %s: flags stand last", info->name);
		if ((field->role == GT_ROLE_stream || field->role == GT_ROLE_stream_handle) &&
		    !kind->context)
			return gt_fail(err, EINVAL, "record %s: its stream has no context",
			               info->name);
	}
	return 0;
}

int gt_kinds_check(const struct gt_kinds *kinds, struct gt_error *err)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < GT_RECORD_KIND_COUNT; i++)
		if (kinds->kinds[i].info)
			result = check_kind(&kinds->kinds[i], err);
	return result;
}
