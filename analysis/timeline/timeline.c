/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/timeline/parts.h"
#include "base/strings.h"
#include "base/sums.h"
#include "model/view/view.h"

enum { FINEST_NS = 64 }; /* that pieces become one by, when they are too many */

/* ---- pieces ---- */

/* Takes in the piece that follows on its lane. */
static void take_in(struct gt_timeline_piece *piece, const struct gt_timeline_piece *next)
{
	piece->end_ns = next->end_ns;
	piece->count += next->count;
	gt_sum_add(&piece->total_ns, next->total_ns);
	if (next->longest_ns > piece->longest_ns) {
		piece->longest_ns = next->longest_ns;
		piece->name = next->name;
	}
}

static bool lie_together(const struct gt_timeline *timeline,
                         const struct gt_timeline_piece *earlier,
                         const struct gt_timeline_piece *later)
{
	return timeline->together_ns > 0 &&
	       later->end_ns - earlier->start_ns <= timeline->together_ns;
}

static void coarsen_lane(struct gt_timeline *timeline, struct gt_timeline_lane *lane)
{
	size_t kept = 0;

	for (size_t i = 1; i < lane->pieces.count; i++) {
		struct gt_timeline_piece *piece = &lane->pieces.rows[kept];

		if (lie_together(timeline, piece, &lane->pieces.rows[i]))
			take_in(piece, &lane->pieces.rows[i]);
		else
			lane->pieces.rows[++kept] = lane->pieces.rows[i];
	}
	timeline->piece_count -= lane->pieces.count - (kept + 1);
	lane->pieces.count = kept + 1;
}

/* Until a quarter of the room is free again, so that this seldom happens. */
static void coarsen(struct gt_timeline *timeline)
{
	while (timeline->piece_count > timeline->most / 4 * 3 &&
	       timeline->together_ns < INT64_MAX / 4) {
		timeline->together_ns =
			timeline->together_ns ? timeline->together_ns * 3 / 2 : FINEST_NS;
		gt_array_each(struct gt_timeline_track, track, &timeline->tracks)
			gt_array_each(struct gt_timeline_lane, lane, &track->lanes)
				coarsen_lane(timeline, lane);
	}
}

/* The first lane that is free then, else a new one; NULL: there are too many. */
static struct gt_timeline_lane *free_lane(struct gt_timeline_track *track, gt_time start_ns)
{
	gt_array_each(struct gt_timeline_lane, lane, &track->lanes)
		if (lane->end_ns <= start_ns)
			return lane;
	if (track->lanes.count == GT_TIMELINE_LANES)
		return NULL;

	struct gt_timeline_lane *lane = gt_array_push(&track->lanes);

	memset(lane, 0, sizeof(*lane));
	return lane;
}

void gt_timeline_put(struct gt_timeline *timeline, size_t track,
                     const struct gt_timeline_piece *piece)
{
	struct gt_timeline_track *to = &timeline->tracks.rows[track];
	struct gt_timeline_lane *lane;
	struct gt_timeline_piece *last;

	if (piece->start_ns > timeline->view->end_ns || piece->end_ns < timeline->view->start_ns)
		return;
	lane = free_lane(to, piece->start_ns);
	if (!lane) {
		to->hidden++;
		return;
	}
	last = lane->pieces.count > 0 ? &lane->pieces.rows[lane->pieces.count - 1] : NULL;
	lane->end_ns = piece->end_ns;
	if (last && lie_together(timeline, last, piece)) {
		take_in(last, piece);
		return;
	}
	*gt_array_push(&lane->pieces) = *piece;
	if (++timeline->piece_count > timeline->most)
		coarsen(timeline);
}

void gt_timeline_put_one(struct gt_timeline *timeline, size_t track, struct gt_interval when,
                         uint32_t name)
{
	const gt_time length_ns = when.end_ns - when.start_ns;

	gt_timeline_put(timeline, track,
	                &(struct gt_timeline_piece){when.start_ns, when.end_ns, 1,
	                                            (uint64_t)length_ns, length_ns, name});
}

/* ---- tracks ---- */

size_t gt_timeline_add_track(struct gt_timeline *timeline, enum gt_timeline_kind kind, gt_id device,
                             gt_id row)
{
	*gt_array_push(&timeline->tracks) =
		(struct gt_timeline_track){.kind = kind, .device = device, .row = row};
	return timeline->tracks.count - 1;
}

void gt_timeline_label_gpu(const struct gt_timeline *timeline, gt_id device, const char *what,
                           char label[GT_TIMELINE_LABEL])
{
	const struct gt_trace *trace = timeline->view->trace;
	const struct gt_device *row = &trace->devices.rows[device];
	const char *host = gt_several_hosts(trace) ? gt_trace_text(trace, row->host) : "";

	snprintf(label, GT_TIMELINE_LABEL, "%.64s%sGPU %lld%s", host, *host ? " " : "",
	         (long long)gt_device_number(row), what);
}

void gt_timeline_label_process(const struct gt_timeline *timeline, gt_id process,
                               char label[GT_TIMELINE_LABEL])
{
	const struct gt_trace *trace = timeline->view->trace;
	const size_t length = strlen(label);

	if (trace->processes.count > 1 && process < trace->processes.count)
		snprintf(label + length, GT_TIMELINE_LABEL - length, " (%.64s %u)",
		         gt_trace_text(trace, trace->processes.rows[process].name),
		         trace->processes.rows[process].pid);
}

/* The heaviest row without a track; rows->count: none of them weighs anything. */
static size_t heaviest(const struct gt_timeline_rows *rows, const size_t *tracks)
{
	size_t found = rows->count;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->weights[i] > 0 && tracks[i] == SIZE_MAX &&
		    (found == rows->count || rows->weights[i] > rows->weights[found]))
			found = i;
	return found;
}

size_t *gt_timeline_add_heaviest(struct gt_timeline *timeline, const struct gt_timeline_rows *rows,
                                 uint64_t *left_out)
{
	size_t *tracks = gt_allocate((rows->count + 1) * sizeof(*tracks));
	size_t row;

	memset(tracks, 0xff, (rows->count + 1) * sizeof(*tracks));
	for (size_t i = 0; i < rows->most && (row = heaviest(rows, tracks)) < rows->count; i++) {
		tracks[row] = gt_timeline_add_track(timeline, rows->kind, GT_NONE, (gt_id)row);
		rows->label(timeline, &timeline->tracks.rows[tracks[row]]);
	}
	for (size_t i = 0; i < rows->count; i++)
		*left_out += rows->weights[i] > 0 && tracks[i] == SIZE_MAX;
	return tracks;
}

void gt_timeline_init(struct gt_timeline *timeline, const struct gt_view *view, size_t most)
{
	*timeline = (struct gt_timeline){
		.view = view,
		.names = gt_strings_new(),
		.most = most,
	};
	gt_timeline_add_gpus(timeline);
	gt_timeline_add_streams(timeline);
	gt_timeline_add_ranges(timeline);
	gt_timeline_add_memory(timeline);
}

uint64_t gt_timeline_hidden(const struct gt_timeline *timeline)
{
	uint64_t hidden = 0;

	gt_array_each(const struct gt_timeline_track, track, &timeline->tracks)
		hidden += track->hidden;
	return hidden;
}

void gt_timeline_release(struct gt_timeline *timeline)
{
	gt_array_each(struct gt_timeline_track, track, &timeline->tracks) {
		gt_array_each(struct gt_timeline_lane, lane, &track->lanes)
			gt_array_release(&lane->pieces);
		gt_array_release(&track->lanes);
	}
	gt_array_each(struct gt_timeline_curve, curve, &timeline->curves)
		gt_thinned_release(&curve->values);
	gt_array_release(&timeline->tracks);
	gt_array_release(&timeline->curves);
	gt_strings_free(timeline->names);
	timeline->names = NULL;
}
