/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "exporters/perfetto/writer.h"

enum {
	CLOCK_REALTIME_ID = 1,
	CLOCK_MONOTONIC_ID = 3,
	CLOCK_BOOTTIME_ID = 6,
};

/* shift_ns: says what the clocks read so much later. */
static void write_clock(struct gt_perfetto *perfetto, const struct gt_clock *clock,
                        gt_time shift_ns)
{
	Perfetto__Clock rows[3] = {PERFETTO__CLOCK__INIT, PERFETTO__CLOCK__INIT,
	                           PERFETTO__CLOCK__INIT};
	Perfetto__Clock *list[3] = {&rows[0], &rows[1], &rows[2]};
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	const uint64_t shift = (uint64_t)shift_ns;

	for (size_t i = 0; i < 3; i++)
		rows[i].has_clock_id = rows[i].has_timestamp = 1;
	rows[0].clock_id = CLOCK_BOOTTIME_ID;
	rows[0].timestamp = (uint64_t)clock->boottime_ns + shift;
	rows[1].clock_id = CLOCK_MONOTONIC_ID;
	rows[1].timestamp = clock->monotonic_ns + shift;
	rows[2].clock_id = CLOCK_REALTIME_ID;
	rows[2].timestamp = clock->realtime_ns + shift;
	snapshot.clocks = list;
	snapshot.n_clocks = 3;
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock = CLOCK_BOOTTIME_ID;
	packet.clock_snapshot = &snapshot;
	gt_sequence_add(&perfetto->descriptions, &packet);
}

/* A reading that can stand in a snapshot: one that goes below zero would be refused. */
static bool is_usable(const struct gt_clock *clock, gt_time base_ns)
{
	uint64_t before_ns;

	if (!gt_ids_time_is_sound(clock->boottime_ns) || clock->boottime_ns < base_ns)
		return false;
	before_ns = (uint64_t)(clock->boottime_ns - base_ns);
	return clock->monotonic_ns > before_ns && clock->realtime_ns > before_ns;
}

/*
 * Readings are moved to the base so that no clock ever goes back inside the file: Perfetto then
 * refuses it. Clocks tick alike over the short time between.
 */
void gt_perfetto_write_first_clock(struct gt_perfetto *perfetto)
{
	const struct gt_clock *first = NULL;

	gt_array_each(const struct gt_clock, clock, &perfetto->trace->clocks)
		if (is_usable(clock, perfetto->base_ns) &&
		    (!first || clock->boottime_ns < first->boottime_ns))
			first = clock;
	if (first)
		write_clock(perfetto, first, perfetto->base_ns - first->boottime_ns);
}

void gt_perfetto_write_last_clock(struct gt_perfetto *perfetto)
{
	const struct gt_clock *last = NULL;

	gt_array_each(const struct gt_clock, clock, &perfetto->trace->clocks)
		if (is_usable(clock, perfetto->base_ns) && clock->boottime_ns > perfetto->base_ns &&
		    (!last || clock->boottime_ns > last->boottime_ns))
			last = clock;
	if (last)
		write_clock(perfetto, last, 0);
}
