/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/range_slices.h"

#include <stdio.h>

#include "exporters/perfetto/writer.h"
#include "exporters/timeline/said.h"
#include "model/naming/operations.h"
#include "model/ranges/payload.h"
#include "model/ranges/ranges.h"

static void add_text(struct gt_perfetto *perfetto, struct gt_slice *slice,
                     struct gt_annotation *annotations, const char *name, gt_string text)
{
	if (!*gt_trace_text(perfetto->trace, text))
		return;
	annotations[slice->annotation_count++] = (struct gt_annotation){
		.type = GT_VALUE_TEXT,
		.name = gt_names_add(&perfetto->names, name),
		.number = gt_names_of(&perfetto->names, text),
	};
}

static void add_payload(struct gt_perfetto *perfetto, struct gt_slice *slice,
                        struct gt_annotation *annotations, const struct gt_said *said)
{
	const struct gt_payload payload = gt_payload_of(said->payload, said->payload_type);

	if (payload.type == GT_PAYLOAD_NONE)
		return;
	annotations[slice->annotation_count++] = (struct gt_annotation){
		.type = payload.type == GT_PAYLOAD_REAL ? GT_VALUE_REAL : GT_VALUE_NUMBER,
		.name = gt_names_add(&perfetto->names, "payload"),
		.number = payload.number,
		.real = payload.real,
	};
}

static void add_color(struct gt_perfetto *perfetto, struct gt_slice *slice,
                      struct gt_annotation *annotations, gt_count color)
{
	char text[16];

	if (color == 0)
		return;
	snprintf(text, sizeof(text), "#%06x", color & 0xffffff);
	annotations[slice->annotation_count++] = (struct gt_annotation){
		.type = GT_VALUE_TEXT,
		.name = gt_names_add(&perfetto->names, "color"),
		.number = gt_names_add(&perfetto->names, text),
	};
}

static void annotate(struct gt_perfetto *perfetto, struct gt_slice *slice,
                     struct gt_annotation *annotations, const struct gt_said *said)
{
	const struct gt_trace *trace = perfetto->trace;

	slice->annotations = annotations;
	if (said->domain < trace->domains.count)
		add_text(perfetto, slice, annotations, "domain",
		         trace->domains.rows[said->domain].name);
	add_text(perfetto, slice, annotations, "category", said->category);
	add_payload(perfetto, slice, annotations, said);
	add_color(perfetto, slice, annotations, said->color);
	add_text(perfetto, slice, annotations, "data", said->data);
}

uint32_t gt_range_slice_name(struct gt_perfetto *perfetto, const struct gt_range *range)
{
	const struct gt_trace *trace = perfetto->trace;
	const gt_string domain =
		range->domain < trace->domains.count ? trace->domains.rows[range->domain].name : 0;
	const struct gt_operation operation =
		gt_operation_of(gt_trace_text(trace, domain), gt_trace_text(trace, range->text));

	return operation.kind == GT_OPERATION_OP ? gt_names_add(&perfetto->names, operation.name)
	                                         : gt_names_of(&perfetto->names, range->text);
}

struct gt_slice gt_range_slice(struct gt_perfetto *perfetto, const struct gt_range *range,
                               struct gt_annotation *annotations)
{
	const struct gt_said said = gt_said_of_range(range);
	struct gt_slice slice = {
		.start_ns = range->start_ns,
		.end_ns = gt_range_end(range),
		.name = gt_range_slice_name(perfetto, range),
		.nested = true,
		.is_range = true,
	};

	annotate(perfetto, &slice, annotations, &said);
	if (slice.name != gt_names_of(&perfetto->names, range->text))
		add_text(perfetto, &slice, annotations, "text", range->text);
	return slice;
}

struct gt_slice gt_mark_slice(struct gt_perfetto *perfetto, const struct gt_mark *mark,
                              struct gt_annotation *annotations)
{
	const struct gt_said said = gt_said_of_mark(mark);
	struct gt_slice slice = {
		.start_ns = mark->start_ns,
		.end_ns = mark->start_ns,
		.name = gt_names_of(&perfetto->names, mark->text),
		.nested = true,
		.instant = true,
		.is_range = true,
	};

	annotate(perfetto, &slice, annotations, &said);
	return slice;
}
