/* SPDX-License-Identifier: Apache-2.0 */
#include "model/work/pauses.h"
#include "base/array.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"
#include "model/work/timed.h"

/* Times of a process in which recording was paused: an empty stretch is no idle one. */

static void put(struct gt_lanes *lanes, const struct gt_pause *row)
{
	const struct gt_slice slice = {
		.start_ns = row->start_ns,
		.end_ns = row->end_ns,
		.name = gt_names_add(&lanes->perfetto->names,
	                             gt_pause_is_dropped(row) ? "dropped, as --keep-last asks"
	                                                      : "recording paused"),
	};

	gt_lanes_put(lanes, &slice);
}

void gt_perfetto_write_pauses(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct gt_lanes *lanes = gt_allocate(trace->processes.count * sizeof(*lanes));

	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_init(&lanes[i], perfetto, perfetto->ids.process_uuids[i], "pause",
		              "Not recorded");
	gt_array_each(const struct gt_pause, row, &trace->pauses)
		if (row->process < trace->processes.count && row->end_ns >= row->start_ns &&
		    gt_ids_time_is_sound(row->start_ns))
			put(&lanes[row->process], row);
		else
			gt_perfetto_skip(perfetto);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_finish(&lanes[i]);
	gt_array_free(lanes);
}
