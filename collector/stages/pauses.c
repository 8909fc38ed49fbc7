/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>

#include "collector/stage.h"
#include "model/work/pauses.h"

/*
 * Times in which recording was paused. A process tells of each twice, when it begins and when it
 * ends, so that one that was killed meanwhile is known to have been paused: then the last thing
 * known of the process is its end. Calls that a pause interrupted end with its begin, unfinished.
 */

/* The longest row that begins at a moment is the first: the one with an end is among those kept. */
static bool is_told(const struct gt_trace *trace, size_t kept, const struct gt_pause *pause)
{
	for (; kept > 0 && trace->pauses.rows[kept - 1].start_ns == pause->start_ns; kept--)
		if (trace->pauses.rows[kept - 1].process == pause->process)
			return true;
	return false;
}

static void end_with_process(struct gt_trace *trace, struct gt_pause *pause)
{
	if (pause->process < trace->processes.count)
		pause->end_ns = trace->processes.rows[pause->process].end_ns;
	if (pause->end_ns < pause->start_ns)
		pause->end_ns = pause->start_ns;
	pause->flags |= GT_UNFINISHED;
}

/* Nobody heard their return: they lasted to the begin of the pause, and nobody knows how on. */
static void end_calls(struct gt_trace *trace)
{
	gt_array_each(struct gt_api_call, call, &trace->api_calls) {
		const gt_id process = gt_trace_process_of(trace, GT_TABLE_api_calls, call);
		const struct gt_pause *pause =
			call->end_ns > 0 ? NULL : gt_pause_next(trace, process, call->start_ns);

		if (pause) {
			call->end_ns = pause->start_ns;
			call->flags |= GT_INTERRUPTED;
		}
	}
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	size_t kept = 0;

	(void)err;
	for (size_t i = 0; i < trace->pauses.count; i++) {
		struct gt_pause pause = trace->pauses.rows[i];

		if (pause.end_ns == 0 && is_told(trace, kept, &pause))
			continue;
		if (pause.end_ns == 0)
			end_with_process(trace, &pause);
		trace->pauses.rows[kept++] = pause;
	}
	trace->pauses.count = kept;
	if (kept > 0)
		end_calls(trace);
	return 0;
}

const struct gt_stage gt_stage_pauses = {
	.name = "pauses",
	.run = run,
};
