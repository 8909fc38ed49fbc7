/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "base/error.h"
#include "exporters/exporter.h"
#include "exporters/perfetto/writer.h"
#include "model/view.h"

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

static int write_view(const struct gt_view *view, const struct gt_export_options *options,
                      const struct gt_target *target, struct gt_export_counts *counts,
                      struct gt_error *err)
{
	const struct gt_trace *trace = view->trace;
	struct gt_perfetto perfetto = {.view = view, .trace = trace, .base_ns = find_base(trace)};
	int result = gt_packets_open(&perfetto.packets, &target->sink, !options->uncompressed, err);

	if (result < 0)
		return result;
	gt_ids_init(&perfetto.ids, trace);
	gt_perfetto_start(&perfetto, &perfetto.descriptions, 0);
	gt_perfetto_write_first_clock(&perfetto);
	gt_perfetto_write_descriptors(&perfetto);
	gt_perfetto_write_gpu(&perfetto);
	gt_perfetto_write_bandwidth(&perfetto);
	gt_perfetto_write_calls(&perfetto);
	gt_perfetto_write_waits(&perfetto);
	gt_perfetto_write_attributes(&perfetto);
	gt_perfetto_write_last_clock(&perfetto);
	result = gt_packets_close(&perfetto.packets, err);
	gt_ids_release(&perfetto.ids);

	perfetto.counts.bytes = perfetto.packets.bytes;
	perfetto.counts.raw_bytes = perfetto.packets.raw_bytes;
	if (result == 0 && counts)
		*counts = perfetto.counts;
	return result;
}

const struct gt_exporter gt_exporter_perfetto = {
	.name = "perfetto",
	.extension = ".perfetto",
	.summary = "Perfetto trace, to be opened in ui.perfetto.dev",
	.write = write_view,
};
