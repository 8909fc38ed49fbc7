/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "collector/decode/cut.h"
#include "collector/kinds.h"
#include "collector/stage.h"
#include "format/control/control.h"

/*
 * Captures of which what is old was taken out again (GPUTRACE_KEEP_LAST). All that began after some
 * moment is there, of what began before only a part: that goes, too, so that nothing is half there.
 * Work of the GPU stays if it ended after that moment, though its launch may be gone. The time
 * before is one in which nothing was recorded: a pause.
 *
 * And dumps, which were copied while the process went on: of calls, ranges and waits that began
 * when the copy had, only a part is there.
 */

static gt_time until_of(const struct gt_capture *capture)
{
	gt_time until_ns = 0;

	gt_array_each(const struct gt_record_gone, gone, &capture->raw_gone)
		if ((gt_time)gone->until_ns > until_ns)
			until_ns = (gt_time)gone->until_ns;
	return until_ns;
}

/* Each says how many there are in all; the last counts. */
static void count_gone(struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_gone, gone, &capture->raw_gone)
		if (gone->kind < GT_RECORD_KIND_COUNT)
			capture->written[gone->kind].gone = gone->rows;
}

static bool is_cut(const struct gt_capture *capture)
{
	return capture->gone_until > 0 || capture->dumped_at > 0;
}

static gt_time last_of(const struct gt_capture *capture)
{
	return capture->dumped_at > 0 ? capture->dumped_at : INT64_MAX;
}

static bool is_work_of_gpu(const struct gt_kind *kind)
{
	return kind->bindings[0].field->role == GT_ROLE_cupti_time;
}

static bool stays(const struct gt_capture *capture, uint32_t record, const struct gt_kind *kind,
                  const uint8_t *row)
{
	gt_time times[2];

	if (!is_cut(capture) || !kind->has_times || !gt_record_passes(record))
		return true;
	memcpy(times, row, sizeof(times));
	if (times[0] == 0)
		return true;
	if (is_work_of_gpu(kind))
		return times[1] >= capture->gone_until;
	return times[0] >= capture->gone_until && times[0] <= last_of(capture);
}

#define CUT_PIECES(list)                                                                           \
	do {                                                                                       \
		size_t kept = 0;                                                                   \
                                                                                                   \
		for (size_t i = 0; i < capture->list.count; i++)                                   \
			if ((gt_time)capture->list.rows[i].time_ns >= capture->gone_until &&       \
			    (gt_time)capture->list.rows[i].time_ns <= last_of(capture))            \
				capture->list.rows[kept++] = capture->list.rows[i];                \
		capture->list.count = kept;                                                        \
	} while (0)

static void add_pause(struct gt_trace *trace, const struct gt_capture *capture)
{
	gt_time start_ns = trace->processes.rows[capture->process].start_ns;

	gt_array_each(const struct gt_record_clock, clock, &capture->clocks)
		if ((gt_time)clock->boottime_ns < start_ns)
			start_ns = (gt_time)clock->boottime_ns;
	*gt_array_push(&trace->pauses) = (struct gt_pause){
		.start_ns = start_ns < capture->gone_until ? start_ns : capture->gone_until,
		.end_ns = capture->gone_until,
		.process = capture->process,
		.paused_by = GT_CAUSE_KEPT,
		.resumed_by = GT_CAUSE_KEPT,
	};
}

static void see(struct gt_trace *trace, struct gt_capture *capture)
{
	capture->gone_until = until_of(capture);
	if (!is_cut(capture))
		return;
	count_gone(capture);
	CUT_PIECES(raw_range_begins);
	CUT_PIECES(raw_range_ends);
	capture->kernels_gone = capture->written[GT_RECORD_kernel].gone +
	                        gt_capture_count(capture, GT_RECORD_kernel);
	if (capture->gone_until > 0)
		add_pause(trace, capture);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	bool any = false;

	(void)err;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		see(trace, capture);
		any |= is_cut(capture);
	}
	if (!any)
		return 0;
	(void)gt_cut_rows(collection, stays);
	gt_array_each(const struct gt_capture, one, &collection->captures)
		if (one->gone_until > 0)
			gt_trace_add_ledger(trace, one->process, "kernels_gone",
			                    one->kernels_gone -
			                            gt_capture_count(one, GT_RECORD_kernel));
	return 0;
}

const struct gt_stage gt_stage_gone = {.name = "gone", .run = run};
