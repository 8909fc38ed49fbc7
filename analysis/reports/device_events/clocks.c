/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/device_events/tables.h"

#include <stdbool.h>

#include "analysis/figures.h"
#include "base/array.h"

static const struct gt_heading clock_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"bound_ns", GT_UNIT_NS, "Times of events are off by so much at most", GT_WORTH_KEY},
	{"step_ns", GT_UNIT_NS, "What %globaltimer goes on by", GT_WORTH_KEY},
	{"kernels", GT_UNIT_COUNT, "Kernels of gputrace's own that it is told from", GT_WORTH_KEY},
};

static const struct gt_heading ring_headings[] = {
	{"process", GT_UNIT_TEXT, "Whose context it is", GT_WORTH_NAME},
	{"context", GT_UNIT_COUNT, "CUPTI's number of it", GT_WORTH_ORDINARY},
	{"written", GT_UNIT_COUNT, "Events that were copied out", GT_WORTH_KEY},
	{"lost", GT_UNIT_COUNT, "Events that found no room", GT_WORTH_KEY, true},
	{"overwritten", GT_UNIT_COUNT, "Events that later ones took the place of", GT_WORTH_KEY,
         true},
	{"without_kernel", GT_UNIT_COUNT,
         "Events that no recorded launch can have written, or more than one", GT_WORTH_KEY, true},
	{"chunks", GT_UNIT_COUNT, "Chunks of the ring, of 28 events each", GT_WORTH_LITTLE},
};

struct clock {
	bool known;
	uint64_t bound_ns;
	gt_count step_ns;
	uint64_t kernels;
};

/* Clock of a GPU; GT_NONE: of all of them. */
static struct clock clock_of(const struct gt_trace *trace, gt_id device)
{
	struct clock clock = {.known = false};

	gt_array_each(const struct gt_device_clock, row, &trace->device_clocks) {
		if (device != GT_NONE && row->device != device)
			continue;
		clock.known = true;
		clock.bound_ns = row->bound_ns > clock.bound_ns ? row->bound_ns : clock.bound_ns;
		clock.step_ns = row->step_ns > clock.step_ns ? row->step_ns : clock.step_ns;
		clock.kernels += row->kernels;
	}
	return clock;
}

void gt_device_add_clocks(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "clocks", clock_headings, GT_COUNT_OF(clock_headings));
	gt_result_detail(result);
	for (gt_id i = 0; i < trace->devices.count; i++) {
		const struct clock clock = clock_of(trace, i);

		if (!clock.known)
			continue;
		gt_add_device(result, trace, i);
		gt_result_add_count(result, (int64_t)clock.bound_ns);
		gt_result_add_count_if(result, clock.step_ns > 0, clock.step_ns);
		gt_result_add_count(result, (int64_t)clock.kernels);
	}
}

void gt_device_add_rings(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "rings", ring_headings, GT_COUNT_OF(ring_headings));
	gt_result_detail(result);
	gt_array_each(const struct gt_device_ring, ring, &trace->device_rings) {
		const bool known = ring->context < trace->contexts.count;

		gt_add_process(result, trace, ring->process);
		gt_result_add_count_if(result, known,
		                       known ? trace->contexts.rows[ring->context].number : 0);
		gt_result_add_count(result, (int64_t)ring->written);
		gt_result_add_count(result, (int64_t)ring->lost);
		gt_result_add_count(result, (int64_t)ring->overwritten);
		gt_result_add_count(result, (int64_t)ring->without_kernel);
		gt_result_add_count(result, ring->chunk_count);
	}
}

static void remark_clock(struct gt_result *result, const struct gt_trace *trace)
{
	const struct clock clock = clock_of(trace, GT_NONE);

	if (!clock.known)
		gt_result_remark(result,
		                 "How well the times of events agree with those of kernels is not "
		                 "known: the recording has no calibration of the GPU's clock.");
	else if (clock.step_ns > 0)
		gt_result_remark(result,
		                 "Times of events are off from those of kernels by %s at most; "
		                 "%%globaltimer goes on by %s.",
		                 gt_figure_ns((int64_t)clock.bound_ns).text,
		                 gt_figure_ns(clock.step_ns).text);
	else
		gt_result_remark(
			result,
			"Times of events are off from those of kernels by %s at most; what "
			"%%globaltimer goes on by was not seen.",
			gt_figure_ns((int64_t)clock.bound_ns).text);
}

static void remark_losses(struct gt_result *result, const struct gt_trace *trace)
{
	uint64_t lost = 0;
	uint64_t overwritten = 0;
	uint64_t without_kernel = 0;

	gt_array_each(const struct gt_device_ring, ring, &trace->device_rings) {
		lost += ring->lost;
		overwritten += ring->overwritten;
		without_kernel += ring->without_kernel;
	}
	if (lost > 0)
		gt_result_remark(result,
		                 "Events that found no room and are lost: %s. run "
		                 "--device-events=SIZE makes more, --device-events-last keeps the "
		                 "last ones instead.",
		                 gt_grouped(lost).text);
	if (overwritten > 0)
		gt_result_remark(result,
		                 "Events that later ones took the place of: %s. run "
		                 "--device-events=SIZE makes more room.",
		                 gt_grouped(overwritten).text);
	if (without_kernel > 0)
		gt_result_remark(
			result,
			"Events that no recorded launch can have written, or more than one: "
			"%s.",
			gt_grouped(without_kernel).text);
}

static void remark_events(struct gt_result *result, const struct gt_trace *trace)
{
	uint64_t by_time_alone = 0;
	uint64_t unended = 0;

	gt_array_each(const struct gt_device_event, event, &trace->device_events) {
		by_time_alone += (event->flags & GT_DEVICE_BY_TIME) != 0;
		unended += (event->flags & (GT_DEVICE_NO_END | GT_DEVICE_NO_BEGIN)) != 0;
	}
	if (unended > 0)
		gt_result_remark(
			result,
			"Ranges whose begin or end is not there: %s. They count, and are in "
			"no time.",
			gt_grouped(unended).text);
	if (by_time_alone > 0)
		gt_result_remark(result,
		                 "Events whose launch is told by time and launch shape alone: %s.",
		                 gt_grouped(by_time_alone).text);
}

static void remark_none(struct gt_result *result, const struct gt_view *view)
{
	uint64_t written = 0;

	gt_array_each(const struct gt_device_ring, ring, &view->trace->device_rings)
		written += ring->written;
	if (written > 0 && !view->restriction)
		gt_result_remark_empty(result,
		                       "None of %s events that kernels told can be put on the "
		                       "timeline: what gputrace info notes says why.",
		                       gt_grouped(written).text);
	else if (view->restriction && view->trace->device_rings.count > 0)
		gt_result_remark_empty(result, "Nothing that was chosen told events.");
	else if (view->trace->device_rings.count > 0)
		gt_result_remark_empty(result, "No kernel told events. Those that include "
		                               "include/gputrace/device.cuh do.");
	else
		gt_result_remark_empty(result, "No events of kernels were recorded: gputrace run "
		                               "--device-events records what kernels write with "
		                               "include/gputrace/device.cuh.");
}

void gt_device_add_remarks(struct gt_result *result, const struct gt_view *view)
{
	if (view->trace->device_events.count > 0)
		remark_clock(result, view->trace);
	else
		remark_none(result, view);
	remark_losses(result, view->trace);
	remark_events(result, view->trace);
}
