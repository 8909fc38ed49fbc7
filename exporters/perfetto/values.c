/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/values.h"

#include <math.h>

#include "exporters/perfetto/wire/wire.h"
#include "exporters/perfetto/writer.h"

enum { TYPE_COUNTER = 4, EVENT_MAX = 32 };

void gt_values_start(struct gt_values *values, struct gt_perfetto *perfetto,
                     const struct gt_value_track *track)
{
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	counter.has_unit = track->unit != GT_VALUE_UNIT_TEXT;
	counter.unit = track->unit;
	counter.unit_name =
		track->unit_text && *track->unit_text ? gt_borrow(track->unit_text) : NULL;
	counter.y_axis_share_key = track->share_scale ? gt_borrow(track->share_scale) : NULL;
	descriptor.has_uuid = descriptor.has_parent_uuid = 1;
	descriptor.parent_uuid = track->parent_uuid;
	descriptor.uuid = gt_ids_track_uuid(track->parent_uuid, track->kind, track->number);
	descriptor.name = gt_borrow(track->name);
	descriptor.counter = &counter;
	descriptor.has_sibling_order_rank = track->rank != 0;
	descriptor.sibling_order_rank = track->rank;
	packet.track_descriptor = &descriptor;
	gt_sequence_add(&perfetto->descriptions, &packet);
	*values = (struct gt_values){
		.perfetto = perfetto,
		.event_tag = gt_wire_tag(&perfetto__trace_packet__descriptor, "track_event"),
	};
	gt_perfetto_start(perfetto, &values->sequence, descriptor.uuid);
}

/* Whole numbers take fewer bytes; up to here doubles have all of them. */
static bool is_whole(double value)
{
	return value == floor(value) && fabs(value) < 0x1p53;
}

bool gt_values_put(struct gt_values *values, gt_time time_ns, double value)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint8_t message[EVENT_MAX];

	if (!gt_ids_time_is_sound(time_ns)) {
		gt_perfetto_skip(values->perfetto);
		return false;
	}
	event.has_type = 1;
	event.type = TYPE_COUNTER;
	event.has_counter_value = is_whole(value);
	event.has_double_counter_value = !event.has_counter_value;
	if (event.has_counter_value)
		event.counter_value = (int64_t)value;
	else
		event.double_counter_value = value;
	gt_sequence_put(&values->sequence, time_ns, values->event_tag, message,
	                perfetto__track_event__pack(&event, message));
	return true;
}
