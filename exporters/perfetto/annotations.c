/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/annotations.h"

#include "exporters/perfetto/wire/names.h"

static struct gt_annotation *add(struct gt_annotations *list, const char *name)
{
	struct gt_annotation *row = &list->rows[list->count++];

	*row = (struct gt_annotation){.type = GT_VALUE_NUMBER,
	                              .name = gt_names_add(list->names, name)};
	return row;
}

void gt_annotations_add_number(struct gt_annotations *list, const char *name, int64_t number)
{
	add(list, name)->number = number;
}

void gt_annotations_add_size(struct gt_annotations *list, const char *name, uint64_t size)
{
	add(list, name)->number = size <= INT64_MAX ? (int64_t)size : INT64_MAX;
}

void gt_annotations_add_address(struct gt_annotations *list, const char *name, uint64_t address)
{
	struct gt_annotation *row;

	if (address == 0)
		return;
	row = add(list, name);
	row->type = GT_VALUE_ADDRESS;
	row->number = (int64_t)address;
}

void gt_annotations_add_text(struct gt_annotations *list, const char *name, const char *text)
{
	struct gt_annotation *row;

	if (!*text)
		return;
	row = add(list, name);
	row->type = GT_VALUE_TEXT;
	row->number = gt_names_add(list->names, text);
}

void gt_annotations_add_string(struct gt_annotations *list, const char *name, gt_string text)
{
	struct gt_annotation *row;

	if (!*gt_trace_text(list->names->trace, text))
		return;
	row = add(list, name);
	row->type = GT_VALUE_TEXT;
	row->number = gt_names_of(list->names, text);
}
