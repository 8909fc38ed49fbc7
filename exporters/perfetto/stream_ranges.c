/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "base/minima.h"
#include "exporters/perfetto/gpu.h"
#include "exporters/perfetto/range_slices.h"
#include "exporters/perfetto/wire/wire.h"
#include "model/ranges/projection.h"

/*
 * Ranges that work on a stream was asked for in, from the first start to the last end of that. They
 * are slices of the GPU, on a queue that is called as the stream's is and "ranges": viewers sort
 * queues by name, and show slices that overlap below each other, the one that came first on top.
 */

enum { LANES_MOST = 256 /* slices that a viewer would have to show below each other */ };

struct above {
	struct gt_gpu *gpu;
	struct gt_projection projection;
	gt_id *order; /* rows of the projection */
	size_t count;
	size_t number; /* of the next slice, behind those of all tables */
};

static void intern_queue(struct gt_gpu *gpu, gt_id stream, uint64_t iid)
{
	char of_stream[GT_QUEUE_NAME_BYTES];
	char name[sizeof(of_stream) + sizeof(" ranges")];
	Perfetto__InternedGpuRenderStageSpecification row =
		PERFETTO__INTERNED_GPU_RENDER_STAGE_SPECIFICATION__INIT;
	Perfetto__InternedGpuRenderStageSpecification *list[] = {&row};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	gt_gpu_name_queue(gpu->perfetto, stream, of_stream);
	snprintf(name, sizeof(name), "%s ranges", of_stream);
	row.has_iid = 1;
	row.iid = iid;
	row.name = name;
	data.gpu_specifications = list;
	data.n_gpu_specifications = 1;
	gt_sequence_intern(&gpu->sequence, &data);
}

static void add_args(struct gt_gpu *gpu, const struct gt_projected *row, struct gt_args *args)
{
	gt_args_init(args);
	gt_args_add_text(args, GT_ARG_KIND, "range");
	gt_gpu_add_path(gpu, args, GT_ARG_PATH, row->group);
	gt_args_add_int(args, GT_ARG_KERNELS, (int64_t)(row->kernels - row->captured));
	gt_args_add_int(args, GT_ARG_COPIES, (int64_t)row->copies);
	gt_args_add_int(args, GT_ARG_BUSY, (int64_t)row->span.covered_ns);
	gt_args_add_int(args, GT_ARG_IDLE, (int64_t)row->idle_ns);
}

static void put(struct above *above, const struct gt_placed *placed, uint64_t queue,
                const struct gt_projected *row)
{
	struct gt_gpu *gpu = above->gpu;
	struct gt_perfetto *perfetto = gpu->perfetto;
	const uint32_t name =
		gt_range_slice_name(perfetto, &perfetto->trace->ranges.rows[row->group]);
	Perfetto__ComputeKernelLaunch launch = PERFETTO__COMPUTE_KERNEL_LAUNCH__INIT;
	Perfetto__GpuRenderStageEvent event = PERFETTO__GPU_RENDER_STAGE_EVENT__INIT;
	struct gt_args args;
	uint8_t message[256];

	add_args(gpu, row, &args);
	launch.args = args.list;
	launch.n_args = args.count;
	gt_gpu_describe(gpu, placed, &event);
	event.hw_queue_iid = queue;
	event.has_event_id = event.has_duration = event.has_stage_iid = event.has_name_iid = 1;
	event.event_id = gt_ids_event(above->number++);
	event.duration = (uint64_t)(placed->end_ns - placed->start_ns);
	event.stage_iid = GT_STAGE_RANGE;
	event.name_iid = gt_gpu_title(gpu, gt_names_text(&perfetto->names, name));
	event.launch = &launch;
	assert(perfetto__gpu_render_stage_event__get_packed_size(&event) <= sizeof(message));
	gt_sequence_put(&gpu->sequence, placed->start_ns, gpu->event_tag, message,
	                perfetto__gpu_render_stage_event__pack(&event, message));
	perfetto->counts.range_slices++;
}

/* False: too many ranges are open on the stream, or the time is none. */
static bool find_place(struct gt_minima *ends, const struct gt_projected *row,
                       struct gt_placed *placed)
{
	const size_t lane = gt_minima_find(ends, row->span.start_ns);

	placed->start_ns = row->span.start_ns;
	placed->end_ns =
		row->span.end_ns > row->span.start_ns ? row->span.end_ns : row->span.start_ns + 1;
	if (lane >= LANES_MOST || !gt_ids_time_is_sound(placed->start_ns))
		return false;
	gt_minima_set(ends, lane, placed->end_ns);
	return true;
}

static gt_id stream_of(const struct above *above, size_t place)
{
	return above->projection.rows.rows[above->order[place]].place;
}

static void put_stream(struct above *above, size_t first, size_t end)
{
	struct gt_gpu *gpu = above->gpu;
	const struct gt_trace *trace = gpu->perfetto->trace;
	const gt_id stream = stream_of(above, first);
	const uint64_t queue = GT_QUEUE_FIRST + trace->streams.count + stream;
	struct gt_placed placed = {.stream = stream, .device = gt_stream_device(trace, stream)};
	struct gt_minima ends = {0};

	if (gt_trace_stream_process(trace, stream) >= trace->processes.count ||
	    placed.device >= trace->devices.count) {
		gpu->perfetto->counts.skipped += end - first;
		return;
	}
	intern_queue(gpu, stream, queue);
	for (size_t i = first; i < end; i++) {
		const struct gt_projected *row = &above->projection.rows.rows[above->order[i]];

		if (find_place(&ends, row, &placed))
			put(above, &placed, queue, row);
		else
			gt_perfetto_skip(gpu->perfetto);
	}
	gt_minima_release(&ends);
}

void gt_gpu_put_stream_ranges(struct gt_gpu *gpu)
{
	struct above above = {.gpu = gpu, .number = gt_ids_slice_count(&gpu->perfetto->ids)};
	size_t first = 0;

	gt_projection_init(&above.projection, &gpu->ranges, GT_PROJECT_STREAMS, NULL, 0);
	above.order = gt_projection_order(&above.projection, &gpu->ranges, &above.count);
	for (size_t i = 1; i <= above.count; i++)
		if (i == above.count || stream_of(&above, i) != stream_of(&above, first)) {
			put_stream(&above, first, i);
			first = i;
		}
	gt_array_free(above.order);
	gt_projection_release(&above.projection);
}
