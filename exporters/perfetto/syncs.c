/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/syncs.h"

#include "exporters/perfetto/writer.h"
#include "model/names.h"

/* Annotations being added to. */
struct list {
	struct gt_perfetto *perfetto;
	struct gt_annotation *rows;
	size_t count;
};

static struct gt_annotation *add(struct list *list, const char *name)
{
	struct gt_annotation *row = &list->rows[list->count++];

	*row = (struct gt_annotation){.type = GT_VALUE_NUMBER,
	                              .name = gt_names_add(&list->perfetto->names, name)};
	return row;
}

static void add_stream(struct list *list, const char *name, gt_id stream)
{
	const struct gt_trace *trace = list->perfetto->trace;

	if (stream < trace->streams.count)
		add(list, name)->number = trace->streams.rows[stream].number;
}

static void add_kind(struct list *list, const struct gt_sync *sync)
{
	struct gt_annotation *kind = add(list, "sync");

	kind->type = GT_VALUE_TEXT;
	kind->number = gt_names_add(&list->perfetto->names, gt_sync_kind_name(sync->kind));
}

/* That the program gave it. */
static void add_name(struct list *list, const char *name, gt_string given)
{
	struct gt_annotation *row;

	if (!*gt_trace_text(list->perfetto->trace, given))
		return;
	row = add(list, name);
	row->type = GT_VALUE_TEXT;
	row->number = gt_names_of(&list->perfetto->names, given);
}

static void add_event(struct list *list, const struct gt_sync *sync)
{
	const struct gt_trace *trace = list->perfetto->trace;

	if (sync->event < trace->events.count)
		add(list, "event")->number = trace->events.rows[sync->event].number;
	if (sync->event < trace->events.count)
		add_name(list, "event_name", trace->events.rows[sync->event].name);
	if (sync->generation != 0)
		add(list, "record")->number = sync->generation;
	if (sync->record < trace->syncs.count)
		add_stream(list, "record_stream", trace->syncs.rows[sync->record].stream);
}

static void add_memory(struct list *list, const struct gt_sync *sync)
{
	struct gt_annotation *address;

	if (sync->address == 0)
		return;
	address = add(list, "address");
	address->type = GT_VALUE_ADDRESS;
	address->number = (int64_t)sync->address;
	add(list, "value")->number = (int64_t)sync->value;
}

size_t gt_syncs_annotate(struct gt_perfetto *perfetto, const struct gt_sync *sync,
                         struct gt_annotation *annotations)
{
	struct list list = {.perfetto = perfetto, .rows = annotations};

	add_kind(&list, sync);
	add_stream(&list, "stream", sync->stream);
	add_event(&list, sync);
	add_memory(&list, sync);
	return list.count;
}
