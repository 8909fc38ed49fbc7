/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "exporters/chrome/events.h"
#include "exporters/timeline/device_lanes.h"
#include "model/naming/shape_names.h"

/*
 * Events that kernels told of themselves: each multiprocessor is a thread of its GPU, with further
 * ones where several writers were on it at a time. Where there is too much for that nothing is
 * written, and counts as left out.
 */

static void add_value(struct gt_chrome *chrome, const struct gt_device_event *event)
{
	if (event->kind == GT_DEVICE_INT) {
		gt_chrome_add_number(&chrome->out.chars, "value", (int64_t)event->value);
	} else if (event->kind == GT_DEVICE_REAL) {
		gt_chars_add(&chrome->out.chars, ",\"value\":");
		gt_chars_add_real(&chrome->out.chars, gt_device_real(event));
	}
}

static void put_event(struct gt_chrome *chrome, struct gt_place place,
                      const struct gt_device_writer *writer, gt_id row)
{
	const struct gt_device_event *event = &chrome->trace->device_events.rows[row];
	const bool lasts = gt_device_is_timed(event);
	gt_time end_ns = INT64_MAX;

	if (!gt_ids_time_is_sound(event->start_ns) ||
	    (lasts && !gt_ids_time_is_sound(event->end_ns))) {
		chrome->counts.skipped++;
		return;
	}
	if (lasts)
		end_ns = event->end_ns > event->start_ns ? event->end_ns : event->start_ns + 1;
	gt_chrome_begin(chrome, lasts ? "X" : "i", "device_event",
	                gt_trace_text(chrome->trace, event->name), 0);
	gt_chrome_add_place(chrome, place, event->start_ns, end_ns);
	gt_chars_add(&chrome->out.chars, lasts ? ",\"args\":{" : ",\"s\":\"t\",\"args\":{");
	gt_chars_add(&chrome->out.chars, "\"block\":");
	gt_chars_add_number(&chrome->out.chars, writer->block);
	gt_chrome_add_number(&chrome->out.chars, "thread", writer->thread);
	if (writer->kernel < chrome->trace->kernels.count)
		gt_chrome_add_text(
			&chrome->out.chars, "kernel",
			gt_shape_name(chrome->trace,
		                      chrome->trace->kernels.rows[writer->kernel].shape));
	add_value(chrome, event);
	gt_chars_add(&chrome->out.chars, "}}");
	gt_chrome_pass(&chrome->out);
	chrome->counts.device_slices++;
}

static void put_group(struct gt_chrome *chrome, const struct gt_device_lanes *lanes,
                      const struct gt_device_group *group)
{
	struct gt_place tracks[GT_DEVICE_LANES_MOST];
	uint32_t count = 0;

	for (size_t i = group->first; i < group->end; i++) {
		const struct gt_device_writer *writer = gt_device_laid_writer(lanes, i);
		const uint32_t lane = lanes->laid[i].lane;
		gt_id *rows = gt_device_rows_of(lanes, writer);

		if (i == group->first || gt_device_laid_writer(lanes, i - 1)->sm != writer->sm)
			count = 0;
		/* A new lane is always the next one. */
		if (lane == count)
			tracks[count++] = gt_places_of_multiprocessor(&chrome->places,
			                                              group->device, writer->sm);
		for (size_t e = 0; e < writer->count; e++)
			put_event(chrome, tracks[lane], writer, rows[e]);
		gt_array_free(rows);
	}
}

void gt_chrome_write_device_events(struct gt_chrome *chrome)
{
	struct gt_device_lanes lanes;

	if (chrome->trace->device_events.count == 0)
		return;
	gt_device_lanes_init(&lanes, chrome->trace);
	gt_array_each(const struct gt_device_group, group, &lanes.groups)
		if (group->too_many || group->device >= chrome->trace->devices.count)
			chrome->counts.skipped += group->events;
		else
			put_group(chrome, &lanes, group);
	gt_device_lanes_release(&lanes);
}
