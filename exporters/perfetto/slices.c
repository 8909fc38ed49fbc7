/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/slices.h"

#include <assert.h>

#include "exporters/perfetto/sequence.h"
#include "exporters/perfetto/wire.h"
#include "exporters/perfetto/writer.h"

enum {
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	CATEGORY = 1, /* interned number of the only one that a sequence has */
	ANNOTATIONS_MAX = 4,
};

void gt_slices_start(struct gt_perfetto *perfetto, struct gt_sequence *sequence,
                     uint64_t track_uuid, const char *category, const char *const *annotations,
                     size_t annotation_count)
{
	Perfetto__InternedString category_name = gt_interned(CATEGORY, category);
	Perfetto__InternedString *categories[] = {&category_name};
	Perfetto__InternedString names[ANNOTATIONS_MAX];
	Perfetto__InternedString *list[ANNOTATIONS_MAX];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	assert(annotation_count <= ANNOTATIONS_MAX);
	for (size_t i = 0; i < annotation_count; i++) {
		names[i] = gt_interned(i + 1, annotations[i]);
		list[i] = &names[i];
	}
	data.event_categories = categories;
	data.n_event_categories = 1;
	data.debug_annotation_names = list;
	data.n_debug_annotation_names = annotation_count;
	gt_perfetto_start(perfetto, sequence, track_uuid);
	gt_sequence_intern(sequence, &data);
}

void gt_slices_intern_name(struct gt_sequence *sequence, uint64_t iid, const char *name)
{
	Perfetto__InternedString string = gt_interned(iid, name);
	Perfetto__InternedString *list[] = {&string};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	data.event_names = list;
	data.n_event_names = 1;
	gt_sequence_intern(sequence, &data);
}

void gt_slices_intern_text(struct gt_sequence *sequence, uint64_t iid, const char *text)
{
	Perfetto__InternedString string = gt_interned(iid, text);
	Perfetto__InternedString *list[] = {&string};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	data.debug_annotation_string_values = list;
	data.n_debug_annotation_string_values = 1;
	gt_sequence_intern(sequence, &data);
}

size_t gt_slices_pack_begin(uint64_t name_iid, Perfetto__DebugAnnotation *annotation,
                            uint8_t bytes[GT_SLICE_BEGIN_MAX])
{
	uint64_t category = CATEGORY;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	event.category_iids = &category;
	event.n_category_iids = 1;
	event.has_type = event.has_name_iid = 1;
	event.type = TYPE_BEGIN;
	event.name_iid = name_iid;
	event.debug_annotations = &annotation;
	event.n_debug_annotations = annotation ? 1 : 0;
	assert(perfetto__track_event__get_packed_size(&event) <= GT_SLICE_BEGIN_MAX);
	return perfetto__track_event__pack(&event, bytes);
}

void gt_slices_end(struct gt_sequence *sequence, gt_time time_ns)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint8_t bytes[8];

	event.has_type = 1;
	event.type = TYPE_END;
	gt_sequence_put(sequence, time_ns, gt_slices_tag(), bytes,
	                perfetto__track_event__pack(&event, bytes));
}

uint32_t gt_slices_tag(void)
{
	return gt_wire_tag(&perfetto__trace_packet__descriptor, "track_event");
}
