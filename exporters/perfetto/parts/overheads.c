/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

/*
 * Overheads happen at the same time on several threads. CUPTI's numbers of threads are its own: the
 * thread is told by the call that it was in last, where there is one.
 */

/* 0: not known. */
static gt_count thread_of(const struct gt_trace *trace, const struct gt_overhead *overhead)
{
	const gt_id thread = overhead->api_call < trace->api_calls.count
	                             ? trace->api_calls.rows[overhead->api_call].thread
	                             : GT_NONE;

	return thread < trace->threads.count ? trace->threads.rows[thread].tid : 0;
}

static void put_overhead(struct gt_lanes *lanes, const struct gt_overhead *overhead)
{
	struct gt_names *names = &lanes->perfetto->names;
	const struct gt_annotation thread = {
		.type = GT_VALUE_NUMBER,
		.name = gt_names_add(names, "thread"),
		.number = thread_of(lanes->perfetto->trace, overhead),
	};
	const struct gt_slice slice = {
		.start_ns = overhead->start_ns,
		.end_ns = overhead->end_ns,
		.name = gt_names_add(names, gt_overhead_kind_name(overhead->kind)),
		.annotations = &thread,
		.annotation_count = thread.number != 0,
	};

	gt_lanes_put(lanes, &slice);
}

void gt_perfetto_write_overheads(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct gt_lanes *lanes = gt_allocate(trace->processes.count * sizeof(*lanes));

	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_init(&lanes[i], perfetto, perfetto->ids.process_uuids[i], "overhead",
		              "CUPTI overhead");
	gt_array_each(const struct gt_overhead, overhead, &trace->overheads)
		if (overhead->process < trace->processes.count &&
		    gt_ids_time_is_sound(overhead->start_ns))
			put_overhead(&lanes[overhead->process], overhead);
		else
			gt_perfetto_skip(perfetto);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_finish(&lanes[i]);
	gt_array_free(lanes);
}
