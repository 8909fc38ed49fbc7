/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "exporters/perfetto/syncs.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

/*
 * Waits that no API call shows: where calls were not recorded, below the thread that waited; where
 * the thread is not known, because CUPTI timed them without saying where, below the process.
 */

static const char category[] = "sync";

/* From the context, or from the call that waited. */
static gt_id process_of(const struct gt_trace *trace, const struct gt_sync *sync)
{
	gt_id thread = GT_NONE;

	if (sync->context < trace->contexts.count)
		return trace->contexts.rows[sync->context].process;
	if (sync->api_call < trace->api_calls.count)
		thread = trace->api_calls.rows[sync->api_call].thread;
	return thread < trace->threads.count ? trace->threads.rows[thread].process : GT_NONE;
}

static void put_on_thread(struct gt_threads *threads, const struct gt_sync *sync)
{
	struct gt_annotation annotations[GT_SYNC_ANNOTATIONS];
	const struct gt_slice slice = {
		.start_ns = sync->start_ns,
		.end_ns = sync->flags & GT_UNFINISHED ? INT64_MAX : sync->end_ns,
		.name = gt_names_add(&threads->perfetto->names, gt_sync_kind_name(sync->kind)),
		.annotations = annotations,
		.annotation_count = gt_syncs_annotate(threads->perfetto, sync, annotations),
	};

	gt_track_put(gt_threads_get(threads, sync->thread), &slice);
}

static void put_on_process(struct gt_lanes *lanes, const struct gt_sync *sync)
{
	struct gt_annotation annotations[GT_SYNC_ANNOTATIONS];
	const struct gt_slice slice = {
		.start_ns = sync->start_ns,
		.end_ns = sync->end_ns,
		.name = gt_names_add(&lanes->perfetto->names, gt_sync_kind_name(sync->kind)),
		.annotations = annotations,
		.annotation_count = gt_syncs_annotate(lanes->perfetto, sync, annotations),
	};

	gt_lanes_put(lanes, &slice);
}

static void put_sync(struct gt_perfetto *perfetto, struct gt_threads *threads,
                     struct gt_lanes *lanes, const struct gt_sync *sync)
{
	const gt_id process = process_of(perfetto->trace, sync);
	const bool has_thread = gt_ids_has_thread(&perfetto->ids, sync->thread);

	if (has_thread && gt_ids_has_call(&perfetto->ids, sync->api_call))
		return;
	if (!gt_ids_time_is_sound(sync->start_ns) ||
	    (!has_thread && process >= perfetto->trace->processes.count))
		gt_perfetto_skip(perfetto);
	else if (has_thread)
		put_on_thread(threads, sync);
	else
		put_on_process(&lanes[process], sync);
}

void gt_perfetto_write_waits(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct gt_lanes *lanes = gt_allocate(trace->processes.count * sizeof(*lanes));
	struct gt_threads threads;

	gt_threads_init(&threads, perfetto, category, "CUDA waits");
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_init(&lanes[i], perfetto, perfetto->ids.process_uuids[i], category,
		              "CUDA synchronization");
	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		put_sync(perfetto, &threads, lanes, sync);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_finish(&lanes[i]);
	gt_threads_finish(&threads);
	gt_array_free(lanes);
}
