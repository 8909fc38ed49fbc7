/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gaps/cause.h"
#include "analysis/gaps/idle.h"
#include "analysis/time/busy.h"
#include "analysis/time/host_calls.h"
#include "analysis/timeline/parts.h"
#include "base/strings.h"
#include "model/view/view.h"
#include "model/whole.h"

/*
 * When each GPU was busy, and why it was not: of all that happened, whatever is shown, as the
 * reports summary and gaps have it.
 */

enum { NAME_BYTES = 400 };

/* A GPU and its tracks. */
struct gpu {
	bool drawn;
	size_t busy; /* track */
	size_t idle; /* track */
	struct gt_timeline_piece
		open; /* united kernels, to which others may be added; count 0: none */
	struct gt_idle gaps;
};

struct gpus {
	struct gt_timeline *timeline;
	struct gt_thread_calls calls;
	struct gt_inside window;
	struct gpu *list; /* by row of devices */
	size_t count;
};

static void put_gap(void *hearer, gt_id device, const struct gt_gap *gap)
{
	struct gpus *gpus = hearer;
	struct gt_timeline *timeline = gpus->timeline;
	struct gt_gap_cause cause;
	char name[NAME_BYTES];

	if ((gt_time)gt_gap_ns(gap) < timeline->least_gap_ns)
		return;
	cause = gt_gap_cause_of(&gpus->calls, gap);
	gt_gap_cause_text(&cause, gpus->calls.trace, name, sizeof(name));
	gt_timeline_put_one(timeline, gpus->list[device].idle,
	                    (struct gt_interval){gap->start_ns, gap->end_ns},
	                    gt_strings_add(timeline->names, *name ? name : "not known why"));
}

static void close_busy(struct gpus *gpus, struct gpu *gpu)
{
	struct gt_timeline_piece *open = &gpu->open;

	if (open->count == 0)
		return;
	open->longest_ns = open->end_ns - open->start_ns;
	open->total_ns = (uint64_t)open->longest_ns;
	gt_timeline_put(gpus->timeline, gpu->busy, open);
	open->count = 0;
}

/* Kernels that overlap or follow each other at once are one piece; a piece of a kernel is one. */
static void see_busy(struct gpus *gpus, struct gpu *gpu, struct gt_interval when)
{
	struct gt_pieces pieces = gt_pieces_of(&gpus->window, when);
	struct gt_interval piece;

	while (gt_pieces_next(&pieces, &piece)) {
		if (gpu->open.count > 0 && piece.start_ns <= gpu->open.end_ns) {
			gpu->open.count++;
			if (piece.end_ns > gpu->open.end_ns)
				gpu->open.end_ns = piece.end_ns;
			continue;
		}
		close_busy(gpus, gpu);
		gpu->open = (struct gt_timeline_piece){
			.start_ns = piece.start_ns, .end_ns = piece.end_ns, .count = 1};
	}
}

static void begin_gpu(struct gpus *gpus, gt_id device)
{
	struct gt_timeline *timeline = gpus->timeline;
	struct gpu *gpu = &gpus->list[device];

	gpu->drawn = true;
	gpu->busy = gt_timeline_add_track(timeline, GT_TIMELINE_BUSY, device, device);
	gt_timeline_label_gpu(timeline, device, " busy", timeline->tracks.rows[gpu->busy].label);
	gpu->idle = gt_timeline_add_track(timeline, GT_TIMELINE_IDLE, device, device);
	gt_timeline_label_gpu(timeline, device, " idle", timeline->tracks.rows[gpu->idle].label);
	gpu->gaps = (struct gt_idle){
		.window = gpus->window,
		.hear = put_gap,
		.hearer = gpus,
		.device = device,
	};
}

static void begin(struct gpus *gpus)
{
	const struct gt_trace *trace = gpus->timeline->view->trace;
	size_t drawn = 0;

	for (gt_id i = 0; i < gpus->count; i++) {
		if (!gt_whole_has_rows(trace, i))
			continue;
		if (drawn++ < GT_TIMELINE_GPUS)
			begin_gpu(gpus, i);
		else
			gpus->timeline->gpus_left_out++;
	}
}

static void see_all(struct gpus *gpus)
{
	const struct gt_trace *trace = gpus->timeline->view->trace;
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, gt_whole_of(trace), GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id device = gt_whole_device(trace, activity.device);

		if (device >= gpus->count || !gpus->list[device].drawn)
			continue;
		gt_idle_see(&gpus->list[device].gaps, &activity);
		if (gt_activity_is_work(activity.type))
			see_busy(gpus, &gpus->list[device],
			         (struct gt_interval){activity.start_ns, activity.end_ns});
	}
}

void gt_timeline_add_gpus(struct gt_timeline *timeline)
{
	const struct gt_view *view = timeline->view;
	const gt_time part_ns = (gt_time)(gt_view_lasts_ns(view) / timeline->most);
	struct gpus gpus = {
		.timeline = timeline,
		.window = gt_window_of(view),
		.count = view->trace->devices.count,
	};

	timeline->least_gap_ns = part_ns > GT_GAP_SHORT_NS ? part_ns : GT_GAP_SHORT_NS;
	gpus.list = gt_allocate_zeroed(gpus.count + 1, sizeof(*gpus.list));
	gt_thread_calls_init(&gpus.calls, gt_whole_of(view->trace));
	begin(&gpus);
	see_all(&gpus);
	for (size_t i = 0; i < gpus.count; i++) {
		close_busy(&gpus, &gpus.list[i]);
		gt_idle_end(&gpus.list[i].gaps);
		gt_idle_release(&gpus.list[i].gaps);
	}
	gt_thread_calls_release(&gpus.calls);
	gt_array_free(gpus.list);
}
