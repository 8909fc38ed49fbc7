/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/array.h"
#include "exporters/perfetto/wire.h"
#include "exporters/perfetto/writer.h"

/*
 * Counters that a program counts itself, through NVTX: a line each below its process, which holds
 * from a value to the next. Those of a GPU are in the part telemetry.
 */

enum { TYPE_COUNTER = 4, EVENT_MAX = 32 };

static bool has_values(const struct gt_trace *trace, const struct gt_counter *counter)
{
	return counter->series < trace->series.count &&
	       counter->place < trace->series.rows[counter->series].column_count;
}

static uint64_t describe(struct gt_perfetto *perfetto, gt_id row)
{
	const struct gt_trace *trace = perfetto->trace;
	const struct gt_counter *counter = &trace->counters.rows[row];
	const char *unit = gt_trace_text(trace, counter->unit);
	Perfetto__CounterDescriptor line = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	line.unit_name = *unit ? gt_borrow(unit) : NULL;
	track.has_uuid = track.has_parent_uuid = 1;
	track.parent_uuid = perfetto->ids.process_uuids[counter->process];
	track.uuid = gt_ids_track_uuid(track.parent_uuid, "counter", row);
	track.name = gt_borrow(gt_trace_text(trace, counter->name));
	track.counter = &line;
	packet.track_descriptor = &track;
	gt_sequence_add(&perfetto->descriptions, &packet);
	return track.uuid;
}

static void put_value(struct gt_sequence *sequence, uint32_t tag, gt_time time_ns, double value)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint8_t message[EVENT_MAX];

	event.has_type = event.has_double_counter_value = 1;
	event.type = TYPE_COUNTER;
	event.double_counter_value = value;
	gt_sequence_put(sequence, time_ns, tag, message,
	                perfetto__track_event__pack(&event, message));
}

static void put_counter(struct gt_perfetto *perfetto, gt_id row)
{
	const struct gt_counter *counter = &perfetto->trace->counters.rows[row];
	const struct gt_series *series = &perfetto->trace->series.rows[counter->series];
	const uint32_t tag = gt_wire_tag(&perfetto__trace_packet__descriptor, "track_event");
	struct gt_sequence sequence = {0};

	gt_perfetto_start(perfetto, &sequence, describe(perfetto, row));
	for (size_t i = 0; i < series->count; i++) {
		const double value = series->columns[counter->place][i];

		if (isnan(value))
			continue;
		if (gt_ids_time_is_sound(series->times_ns[i]))
			put_value(&sequence, tag, series->times_ns[i], value);
		else
			gt_perfetto_skip(perfetto);
	}
}

void gt_perfetto_write_counters(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;

	for (gt_id i = 0; i < trace->counters.count; i++) {
		const struct gt_counter *counter = &trace->counters.rows[i];

		if (counter->device != GT_NONE || counter->process >= trace->processes.count)
			continue;
		if (has_values(trace, counter))
			put_counter(perfetto, i);
		else
			gt_perfetto_skip(perfetto);
	}
}
