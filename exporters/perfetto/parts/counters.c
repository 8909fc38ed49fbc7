/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/array.h"
#include "exporters/perfetto/values.h"
#include "exporters/perfetto/writer.h"

/*
 * Counters that a program counts itself, through NVTX: a line each below its process, which holds
 * from a value to the next. Those of a GPU are in the part telemetry, those of pools in the part
 * memory.
 */

static bool has_values(const struct gt_trace *trace, const struct gt_counter *counter)
{
	return counter->series < trace->series.count &&
	       counter->place < trace->series.rows[counter->series].column_count;
}

static void put_counter(struct gt_perfetto *perfetto, gt_id row)
{
	const struct gt_trace *trace = perfetto->trace;
	const struct gt_counter *counter = &trace->counters.rows[row];
	const struct gt_series *series = &trace->series.rows[counter->series];
	const struct gt_value_track track = {
		.parent_uuid = perfetto->ids.process_uuids[counter->process],
		.kind = "counter",
		.number = row,
		.name = gt_trace_text(trace, counter->name),
		.unit_text = gt_trace_text(trace, counter->unit),
	};
	struct gt_values values;

	gt_values_start(&values, perfetto, &track);
	for (size_t i = 0; i < series->count; i++)
		if (!isnan(series->columns[counter->place][i]))
			(void)gt_values_put(&values, series->times_ns[i],
			                    series->columns[counter->place][i]);
}

void gt_perfetto_write_counters(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;

	for (gt_id i = 0; i < trace->counters.count; i++) {
		const struct gt_counter *counter = &trace->counters.rows[i];

		if (counter->device != GT_NONE || counter->process >= trace->processes.count ||
		    counter->pool < trace->pools.count)
			continue;
		if (has_values(trace, counter))
			put_counter(perfetto, i);
		else
			gt_perfetto_skip(perfetto);
	}
}
