/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/writer.h"

#include "exporters/perfetto/opening.h"

void gt_perfetto_start(struct gt_perfetto *perfetto, struct gt_sequence *sequence,
                       uint64_t track_uuid)
{
	gt_sequence_start(sequence, &perfetto->packets, ++perfetto->sequences, perfetto->base_ns,
	                  track_uuid);
}

/* Nothing in the file is earlier: not the recording's own start, nor any reading of the clocks. */
static gt_time find_base(const struct gt_trace *trace)
{
	gt_time base_ns = trace->start_ns;

	gt_array_each(const struct gt_clock, clock, &trace->clocks)
		if (clock->boottime_ns > 0 && clock->boottime_ns < base_ns)
			base_ns = clock->boottime_ns;
	return base_ns > 0 ? base_ns : 0;
}

void gt_perfetto_write(struct gt_perfetto *perfetto, const struct gt_export_options *options)
{
	static void (*const parts[])(struct gt_perfetto *) = {
#define PART(name) gt_perfetto_write_##name,
#include "exporters/perfetto/parts.def"
	};

	perfetto->steps = options->steps;
	perfetto->base_ns = find_base(perfetto->trace);
	gt_ids_init(&perfetto->ids, perfetto->trace);
	perfetto->ids.without_calls = options->without_calls;
	gt_names_init(&perfetto->names, perfetto->trace);
	gt_perfetto_start(perfetto, &perfetto->descriptions, 0);
	gt_perfetto_write_first_clock(perfetto);
	if (options->opening)
		gt_perfetto_write_opening(perfetto, options->opening);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		parts[i](perfetto);
	gt_perfetto_write_last_clock(perfetto);
	gt_ids_release(&perfetto->ids);
	gt_names_release(&perfetto->names);
	gt_array_release(&perfetto->groups);
}
