/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "exporters/perfetto/range_slices.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/naming/labels.h"
#include "model/ranges/nesting.h"
#include "model/ranges/projection.h"
#include "model/ranges/ranges.h"

/*
 * What NVTX says that is not shown with the API calls of a thread: marks, ranges that do not lie in
 * one another, on further tracks of their thread, and for each stream the ranges that work on it
 * was asked for in, from the first start to the last end of that.
 */

static const char host_category[] = "nvtx";
static const char gpu_category[] = "nvtx_gpu";

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

/* Names of what is said beside a projection. */
struct words {
	uint32_t path;
	uint32_t kernels;
	uint32_t copies;
	uint32_t busy_ns;
	uint32_t idle_ns;
};

struct above {
	struct gt_perfetto *perfetto;
	struct gt_ranges ranges;
	struct gt_projection projection;
	gt_id *order; /* rows of the projection */
	size_t count;
	uint32_t *path_names; /* by row of paths: as gt_names_add gives it, 0: not yet */
	struct words words;
};

static uint32_t path_name(struct above *above, gt_id range)
{
	const gt_id path = gt_ranges_path(&above->ranges, range);

	if (above->path_names[path] == 0) {
		char text[GT_RANGE_PATH_BYTES];

		gt_range_path_text(&above->ranges, path, text);
		above->path_names[path] = gt_names_add(&above->perfetto->names, text);
	}
	return above->path_names[path];
}

static void put_projected(struct above *above, struct gt_stacks *stacks,
                          const struct gt_projected *row)
{
	struct gt_perfetto *perfetto = above->perfetto;
	const struct words *words = &above->words;
	const struct gt_annotation annotations[] = {
		{.type = GT_VALUE_TEXT, .name = words->path, .number = path_name(above, row->group)},
		{.name = words->kernels, .number = (int64_t)(row->kernels - row->captured)},
		{.name = words->copies, .number = (int64_t)row->copies},
		{.name = words->busy_ns, .number = (int64_t)row->span.covered_ns},
		{.name = words->idle_ns, .number = (int64_t)row->idle_ns},
	};
	const struct gt_slice slice = {
		.start_ns = row->span.start_ns,
		.end_ns = row->span.end_ns,
		.name = gt_range_slice_name(perfetto, &perfetto->trace->ranges.rows[row->group]),
		.nested = true,
		.annotations = annotations,
		.annotation_count = sizeof(annotations) / sizeof(annotations[0]),
	};

	if (gt_ids_time_is_sound(slice.start_ns) && gt_stacks_put(stacks, &slice))
		perfetto->counts.range_slices++;
	else
		gt_perfetto_skip(perfetto);
}

static gt_id stream_of(const struct above *above, size_t place)
{
	return above->projection.rows.rows[above->order[place]].place;
}

/* Below the process that the stream is of: "GPU 0 stream 7: NVTX". */
static void put_stream(struct above *above, size_t first, size_t end)
{
	struct gt_perfetto *perfetto = above->perfetto;
	const gt_id stream = stream_of(above, first);
	const gt_id process = gt_trace_stream_process(perfetto->trace, stream);
	const gt_id context = perfetto->trace->streams.rows[stream].context;
	const gt_id device = context < perfetto->trace->contexts.count
	                             ? perfetto->trace->contexts.rows[context].device
	                             : GT_NONE;
	char label[GT_LABEL_BYTES];
	char name[GT_LABEL_BYTES + 64];
	struct gt_stacks stacks;

	if (process >= perfetto->trace->processes.count ||
	    device >= perfetto->trace->devices.count) {
		perfetto->counts.skipped += end - first;
		return;
	}
	gt_stream_label(perfetto->trace, stream, label, sizeof(label));
	snprintf(name, sizeof(name), "GPU %u stream %s ranges", perfetto->ids.gpus[device], label);
	gt_stacks_init(&stacks, perfetto, perfetto->ids.process_uuids[process], gpu_category, name);
	stacks.number = stream;
	for (size_t i = first; i < end; i++)
		put_projected(above, &stacks, &above->projection.rows.rows[above->order[i]]);
	gt_stacks_finish(&stacks);
}

static void put_above_streams(struct above *above)
{
	size_t first = 0;

	for (size_t i = 1; i <= above->count; i++)
		if (i == above->count || stream_of(above, i) != stream_of(above, first)) {
			put_stream(above, first, i);
			first = i;
		}
}

static void put_above(struct gt_perfetto *perfetto)
{
	struct above above = {.perfetto = perfetto};

	above.words = (struct words){
		.path = gt_names_add(&perfetto->names, "path"),
		.kernels = gt_names_add(&perfetto->names, "kernels"),
		.copies = gt_names_add(&perfetto->names, "copies"),
		.busy_ns = gt_names_add(&perfetto->names, "busy_ns"),
		.idle_ns = gt_names_add(&perfetto->names, "idle_ns"),
	};
	gt_ranges_init(&above.ranges, perfetto->trace);
	gt_projection_init(&above.projection, &above.ranges, GT_PROJECT_STREAMS, NULL, 0);
	above.path_names = gt_allocate((above.ranges.paths.count + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < above.ranges.paths.count; i++)
		above.path_names[i] = 0;
	above.order = gt_projection_order(&above.projection, &above.ranges, &above.count);
	put_above_streams(&above);
	gt_array_free(above.order);
	gt_array_free(above.path_names);
	gt_projection_release(&above.projection);
	gt_ranges_release(&above.ranges);
}

void gt_perfetto_write_ranges(struct gt_perfetto *perfetto)
{
	if (perfetto->trace->marks.count > 0)
		put_marks(perfetto);
	if (perfetto->trace->ranges.count == 0)
		return;
	put_others(perfetto);
	put_above(perfetto);
}
