/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/gaps/cause.h"
#include "analysis/gaps/idle.h"
#include "analysis/time/busy.h"
#include "base/array.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/view/view.h"
#include "model/whole.h"

/*
 * When each GPU had nothing to do, as slices that are named by their cause, as report gaps names
 * it. All that happened counts, whatever is shown. Short gaps are between any two kernels of a
 * stream, and would be most of the file: they are left out.
 */

enum {
	GAPS_MOST = 20000, /* of one GPU: none is shorter than this part of the time */
	NAME_BYTES = 400,
};

struct idle {
	struct gt_perfetto *perfetto;
	struct gt_thread_calls calls;
	gt_time least_ns;
	struct gt_idle *gaps;   /* by row of devices */
	struct gt_lanes *lanes; /* likewise */
	char (*names)[32];      /* of the lanes */
};

static void put_gap(void *hearer, gt_id device, const struct gt_gap *gap)
{
	struct idle *idle = hearer;
	const struct gt_trace *trace = idle->calls.trace;
	struct gt_gap_cause cause;
	struct gt_slice slice = {.start_ns = gap->start_ns, .end_ns = gap->end_ns};
	char name[NAME_BYTES];

	if ((gt_time)gt_gap_ns(gap) < idle->least_ns || !gt_ids_time_is_sound(gap->start_ns))
		return;
	cause = gt_gap_cause_of(&idle->calls, gap);
	gt_gap_cause_text(&cause, trace, name, sizeof(name));
	slice.name = gt_names_add(&idle->perfetto->names, *name ? name : "not known why");
	gt_lanes_put(&idle->lanes[device], &slice);
}

static void begin(struct idle *idle)
{
	const struct gt_trace *trace = idle->perfetto->trace;
	const size_t devices = trace->devices.count;
	/* Processes may share a GPU: then it stands beside them. */
	const uint64_t parent =
		trace->processes.count == 1 ? idle->perfetto->ids.process_uuids[0] : 0;

	idle->gaps = gt_allocate((devices + 1) * sizeof(*idle->gaps));
	idle->lanes = gt_allocate((devices + 1) * sizeof(*idle->lanes));
	idle->names = gt_allocate((devices + 1) * sizeof(*idle->names));
	for (size_t i = 0; i < devices; i++) {
		snprintf(idle->names[i], sizeof(*idle->names), "GPU %lld idle",
		         (long long)gt_device_number(&trace->devices.rows[i]));
		gt_lanes_init(&idle->lanes[i], idle->perfetto, parent, "idle", idle->names[i]);
		idle->gaps[i] = (struct gt_idle){
			.window = gt_window_of(idle->perfetto->view),
			.hear = put_gap,
			.hearer = idle,
			.device = (gt_id)i,
		};
	}
}

static void end(struct idle *idle)
{
	for (size_t i = 0; i < idle->perfetto->trace->devices.count; i++) {
		gt_idle_end(&idle->gaps[i]);
		gt_lanes_finish(&idle->lanes[i]);
		gt_idle_release(&idle->gaps[i]);
	}
	gt_array_free(idle->gaps);
	gt_array_free(idle->lanes);
	gt_array_free(idle->names);
}

void gt_perfetto_write_idle(struct gt_perfetto *perfetto)
{
	const struct gt_view *view = perfetto->view;
	const struct gt_trace *whole = gt_whole_of(perfetto->trace);
	const gt_time part_ns = (gt_time)(gt_view_lasts_ns(view) / GAPS_MOST);
	struct idle idle = {
		.perfetto = perfetto,
		.least_ns = part_ns > GT_GAP_SHORT_NS ? part_ns : GT_GAP_SHORT_NS,
	};
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_thread_calls_init(&idle.calls, whole);
	begin(&idle);
	gt_activity_walk_init(&walk, whole, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id device = gt_whole_device(perfetto->trace, activity.device);

		if (device < perfetto->trace->devices.count)
			gt_idle_see(&idle.gaps[device], &activity);
	}
	end(&idle);
	gt_thread_calls_release(&idle.calls);
}
