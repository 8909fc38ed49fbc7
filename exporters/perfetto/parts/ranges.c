/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "exporters/perfetto/range_slices.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/ranges/nesting.h"

/*
 * What NVTX says that is not shown with the API calls of a thread: marks, and ranges that do not
 * lie in one another, on further tracks of their thread.
 */

static const char host_category[] = "nvtx";

static bool is_shown(const struct gt_perfetto *perfetto, gt_id thread, gt_time start_ns)
{
	return gt_ids_has_thread(&perfetto->ids, thread) && gt_ids_time_is_sound(start_ns);
}

static void put_marks(struct gt_perfetto *perfetto)
{
	struct gt_annotation annotations[GT_RANGE_ANNOTATIONS];
	struct gt_threads threads;

	/* Marks have no length: they need not nest with what else is on the track. */
	gt_threads_init(&threads, perfetto, host_category, NULL);
	gt_array_each(const struct gt_mark, mark, &perfetto->trace->marks) {
		struct gt_slice slice;

		if (!is_shown(perfetto, mark->thread, mark->start_ns)) {
			gt_perfetto_skip(perfetto);
			continue;
		}
		slice = gt_mark_slice(perfetto, mark, annotations);
		gt_track_put(gt_threads_get(&threads, mark->thread), &slice);
		perfetto->counts.range_slices++;
	}
	gt_threads_finish(&threads);
}

static void put_other(struct gt_perfetto *perfetto, struct gt_stacks *threads,
                      const struct gt_range *range)
{
	struct gt_annotation annotations[GT_RANGE_ANNOTATIONS];
	struct gt_slice slice;

	if (!is_shown(perfetto, range->thread, range->start_ns)) {
		gt_perfetto_skip(perfetto);
		return;
	}
	slice = gt_range_slice(perfetto, range, annotations);
	if (gt_stacks_put(&threads[range->thread], &slice))
		perfetto->counts.range_slices++;
	else
		gt_perfetto_skip(perfetto);
}

static void put_others(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct gt_stacks *threads = gt_allocate(trace->threads.count * sizeof(*threads));
	bool *nest = gt_ranges_nest(trace);

	for (gt_id i = 0; i < trace->threads.count; i++)
		gt_stacks_init(&threads[i], perfetto,
		               gt_ids_has_thread(&perfetto->ids, i)
		                       ? gt_ids_thread_uuid(&perfetto->ids, &trace->threads.rows[i])
		                       : 0,
		               host_category, "NVTX ranges");
	for (size_t i = 0; i < trace->ranges.count; i++)
		if (!nest[i])
			put_other(perfetto, threads, &trace->ranges.rows[i]);
		else if (!is_shown(perfetto, trace->ranges.rows[i].thread,
		                   trace->ranges.rows[i].start_ns))
			gt_perfetto_skip(perfetto);
	for (size_t i = 0; i < trace->threads.count; i++)
		gt_stacks_finish(&threads[i]);
	gt_array_free(threads);
	gt_array_free(nest);
}

void gt_perfetto_write_ranges(struct gt_perfetto *perfetto)
{
	if (perfetto->trace->marks.count > 0)
		put_marks(perfetto);
	if (perfetto->trace->ranges.count > 0)
		put_others(perfetto);
}
