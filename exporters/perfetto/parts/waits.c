/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "exporters/perfetto/links.h"
#include "exporters/perfetto/syncs.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/names.h"

/*
 * Waits that no API call shows, where calls were not recorded or are left out: below the thread
 * that waited or, where that is not known, because CUPTI timed them without saying where, below
 * the process.
 */

struct waits {
	struct gt_perfetto *perfetto;
	struct gt_threads threads;
	struct gt_lanes *lanes;  /* by row of processes */
	struct gt_links awaited; /* by row of syncs */
};

static const char category[] = "sync";

/* From the context, or from the call that waited. */
static gt_id process_of(const struct gt_trace *trace, const struct gt_sync *sync)
{
	gt_id thread = GT_NONE;

	if (sync->context < trace->contexts.count)
		return trace->contexts.rows[sync->context].process;
	if (sync->api_call < trace->api_calls.count)
		thread = trace->api_calls.rows[sync->api_call].thread;
	return gt_trace_thread_process(trace, thread);
}

/* process: GT_NONE for a wait whose thread is known. */
static void put_wait(struct waits *waits, size_t row, gt_id process)
{
	struct gt_perfetto *perfetto = waits->perfetto;
	const struct gt_sync *sync = &perfetto->trace->syncs.rows[row];
	struct gt_annotation annotations[GT_SYNC_ANNOTATIONS];
	struct gt_slice slice = {
		.start_ns = sync->start_ns,
		.end_ns = sync->end_ns,
		.name = gt_names_add(&perfetto->names, gt_sync_kind_name(sync->kind)),
		.annotations = annotations,
		.annotation_count = gt_syncs_annotate(perfetto, sync, annotations),
		.awaited = gt_links_of(&waits->awaited, row),
	};

	if (process != GT_NONE) {
		gt_lanes_put(&waits->lanes[process], &slice);
		return;
	}
	if (sync->flags & GT_UNFINISHED)
		slice.end_ns = INT64_MAX;
	gt_track_put(gt_threads_get(&waits->threads, sync->thread), &slice);
}

static void put_sync(struct waits *waits, size_t row)
{
	struct gt_perfetto *perfetto = waits->perfetto;
	const struct gt_trace *trace = perfetto->trace;
	const struct gt_sync *sync = &trace->syncs.rows[row];
	const gt_id process = process_of(trace, sync);
	const bool has_thread = gt_ids_has_thread(&perfetto->ids, sync->thread);

	if (gt_ids_has_call(&perfetto->ids, sync->api_call))
		return;
	if (!gt_ids_time_is_sound(sync->start_ns) ||
	    (!has_thread && process >= trace->processes.count))
		gt_perfetto_skip(perfetto);
	else
		put_wait(waits, row, has_thread ? GT_NONE : process);
}

void gt_perfetto_write_waits(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct waits waits = {.perfetto = perfetto};

	gt_links_wait_ends(&waits.awaited, &perfetto->ids);
	waits.lanes = gt_allocate(trace->processes.count * sizeof(*waits.lanes));
	gt_threads_init(&waits.threads, perfetto, category, "CUDA waits");
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_init(&waits.lanes[i], perfetto, perfetto->ids.process_uuids[i], category,
		              "CUDA synchronization");
	for (size_t i = 0; i < trace->syncs.count; i++)
		put_sync(&waits, i);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_finish(&waits.lanes[i]);
	gt_threads_finish(&waits.threads);
	gt_array_free(waits.lanes);
	gt_links_release(&waits.awaited);
}
