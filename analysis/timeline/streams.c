/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/figures.h"
#include "analysis/timeline/parts.h"
#include "base/strings.h"
#include "base/sums.h"
#include "model/names.h"
#include "model/naming/labels.h"
#include "model/naming/shape_names.h"
#include "model/view/view.h"
#include "model/work/activity.h"

/* The work of the view on the streams that have most of it. */

/* The time of each stream's work. The caller frees it. */
static uint64_t *weigh(const struct gt_trace *trace)
{
	uint64_t *weights = gt_allocate_zeroed(trace->streams.count + 1, sizeof(*weights));
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id stream = gt_activity_stream(trace, &activity);

		if (stream < trace->streams.count) /* 1: work of no length is work */
			gt_sum_add(&weights[stream],
			           (uint64_t)(activity.end_ns - activity.start_ns) + 1);
	}
	return weights;
}

static void label_stream(struct gt_timeline *timeline, struct gt_timeline_track *row)
{
	const struct gt_trace *trace = timeline->view->trace;
	char label[GT_LABEL_BYTES];

	row->device = gt_stream_device(trace, row->row);
	gt_stream_label(trace, row->row, label, sizeof(label));
	snprintf(row->label, sizeof(row->label), "stream %s", label);
	gt_timeline_label_process(timeline, gt_trace_stream_process(trace, row->row), row->label);
}

static uint32_t name_of(struct gt_timeline *timeline, const struct gt_activity *activity,
                        uint32_t *of_shape)
{
	const struct gt_trace *trace = timeline->view->trace;
	char text[64];
	gt_id shape;

	switch (activity->type) {
	case GT_ACTIVITY_KERNEL:
		shape = trace->kernels.rows[activity->row].shape;
		if (shape >= trace->launch_shapes.count)
			return gt_strings_add(timeline->names, "kernel");
		if (of_shape[shape] == 0)
			of_shape[shape] =
				gt_strings_add(timeline->names, gt_shape_name(trace, shape));
		return of_shape[shape];
	case GT_ACTIVITY_COPY:
		snprintf(text, sizeof(text), "copy %s",
		         gt_copy_kind_name(trace->copies.rows[activity->row].kind));
		return gt_strings_add(timeline->names, text);
	case GT_ACTIVITY_FILL:
		return gt_strings_add(timeline->names, "fill");
	case GT_ACTIVITY_GRAPH:
		return gt_strings_add(timeline->names, "graph launch");
	}
	return 0;
}

/* tracks: by row of streams, SIZE_MAX: it is not drawn. */
static void put_work(struct gt_timeline *timeline, const size_t *tracks)
{
	const struct gt_trace *trace = timeline->view->trace;
	uint32_t *of_shape = gt_allocate_zeroed(trace->launch_shapes.count + 1, sizeof(*of_shape));
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id stream = gt_activity_stream(trace, &activity);

		if (stream < trace->streams.count && tracks[stream] != SIZE_MAX)
			gt_timeline_put_one(timeline, tracks[stream],
			                    (struct gt_interval){activity.start_ns,
			                                         activity.end_ns},
			                    name_of(timeline, &activity, of_shape));
	}
	gt_array_free(of_shape);
}

void gt_timeline_add_streams(struct gt_timeline *timeline)
{
	const struct gt_trace *trace = timeline->view->trace;
	uint64_t *weights = weigh(trace);
	const struct gt_timeline_rows rows = {
		.kind = GT_TIMELINE_STREAM,
		.weights = weights,
		.count = trace->streams.count,
		.most = GT_TIMELINE_STREAMS,
		.label = label_stream,
	};
	size_t *tracks = gt_timeline_add_heaviest(timeline, &rows, &timeline->streams_left_out);

	put_work(timeline, tracks);
	gt_array_free(tracks);
	gt_array_free(weights);
}
