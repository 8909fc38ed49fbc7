/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/syncs.h"

#include "exporters/perfetto/annotations.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

static void add_stream(const struct gt_trace *trace, struct gt_annotations *list, const char *name,
                       gt_id stream)
{
	if (stream < trace->streams.count)
		gt_annotations_add_number(list, name, trace->streams.rows[stream].number);
}

static void add_event(const struct gt_trace *trace, struct gt_annotations *list,
                      const struct gt_sync *sync)
{
	if (sync->event < trace->events.count) {
		gt_annotations_add_number(list, "event", trace->events.rows[sync->event].number);
		gt_annotations_add_string(list, "event_name", trace->events.rows[sync->event].name);
	}
	if (sync->generation != 0)
		gt_annotations_add_number(list, "record", sync->generation);
	if (sync->record < trace->syncs.count)
		add_stream(trace, list, "record_stream", trace->syncs.rows[sync->record].stream);
}

size_t gt_syncs_annotate(struct gt_perfetto *perfetto, const struct gt_sync *sync,
                         struct gt_annotation *annotations)
{
	struct gt_annotations list = {.names = &perfetto->names, .rows = annotations};

	gt_annotations_add_text(&list, "sync", gt_sync_kind_name(sync->kind));
	add_stream(perfetto->trace, &list, "stream", sync->stream);
	add_event(perfetto->trace, &list, sync);
	gt_annotations_add_address(&list, "address", sync->address);
	if (sync->address)
		gt_annotations_add_number(&list, "value", (int64_t)sync->value);
	return list.count;
}
