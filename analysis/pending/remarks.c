/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pending/remarks.h"

#include <stdio.h>

#include "analysis/pending/pending.h"
#include "analysis/result.h"
#include "base/units.h"

struct counts {
	size_t works;
	size_t untold; /* whose record may be on its way */
	size_t hidden;
	size_t doubtful;
	size_t processes;
	size_t paused;
	size_t ended;
	size_t silent;
	gt_count silent_pid;
	gt_time silent_ns;
	gt_time fresh_ns; /* the longest */
};

static void count_works(struct counts *counts, const struct gt_pending *pending)
{
	counts->works += pending->works.count;
	gt_array_each(const struct gt_pending_work, work, &pending->works) {
		counts->untold += work->state == GT_PENDING_UNTOLD;
		counts->hidden += work->state == GT_PENDING_HIDDEN;
		counts->doubtful += work->state == GT_PENDING_MAYBE;
	}
	if (pending->fresh_ns > counts->fresh_ns)
		counts->fresh_ns = pending->fresh_ns;
}

static void count_processes(struct counts *counts, const struct gt_pending *pending)
{
	for (gt_id i = 0; i < pending->trace->processes.count; i++) {
		const struct gt_process *process = &pending->trace->processes.rows[i];

		counts->processes++;
		if (process->ended != GT_END_RUNNING) {
			counts->ended++;
		} else if (!gt_pending_is_heard(pending, i) && counts->silent++ == 0) {
			counts->silent_pid = process->pid;
			counts->silent_ns = pending->now_ns - process->end_ns;
		}
	}
}

/* Those whose recording is paused now. */
static void count_pauses(struct counts *counts, const struct gt_pending *pending)
{
	gt_array_each(const struct gt_pause, pause, &pending->trace->pauses)
		counts->paused +=
			(pause->flags & GT_UNFINISHED) != 0 &&
			pending->trace->processes.rows[pause->process].ended == GT_END_RUNNING;
}

static void remark_paused(struct gt_result *result, size_t paused)
{
	gt_result_remark(
		result, "Recording is paused in %zu %s: work that was launched since is not known.",
		paused, paused == 1 ? "process" : "processes");
}

static void remark_silent(struct gt_result *result, const struct counts *counts)
{
	char since[64] = "";
	char more[64] = "";

	if (counts->silent_ns > 0)
		snprintf(since, sizeof(since), " for %s", gt_figure_ns(counts->silent_ns).text);
	if (counts->silent > 1)
		snprintf(more, sizeof(more), ", and of %zu more", counts->silent - 1);
	gt_result_remark(result,
	                 "Nothing was heard of process %u%s%s: it was stopped, or runs on another "
	                 "machine. Ages of its work are up to the last thing known of it.",
	                 counts->silent_pid, since, more);
}

static void remark_ended(struct gt_result *result, const struct counts *counts)
{
	if (counts->ended == counts->processes)
		gt_result_remark(result,
		                 "The program has ended: shown is what had not ended then. Ages "
		                 "are up to the last thing known of each process.");
	else
		gt_result_remark(result,
		                 "%zu of %zu processes have ended. Ages of their work are up to "
		                 "the last thing known of each.",
		                 counts->ended, counts->processes);
}

void gt_pending_remark(struct gt_result *result, const struct gt_pending *pendings, size_t count)
{
	struct counts counts = {0};

	for (size_t i = 0; i < count; i++) {
		count_works(&counts, &pendings[i]);
		count_processes(&counts, &pendings[i]);
		count_pauses(&counts, &pendings[i]);
	}
	if (counts.works == 0)
		gt_result_remark_empty(result,
		                       "Nothing is pending: as far as is recorded, all work "
		                       "that was given to streams has ended.");
	else
		gt_result_remark(result, "The first work of a stream runs or is stuck. Work behind "
		                         "it waits.");
	if (counts.untold > 0)
		gt_result_remark(
			result,
			"No record yet: the work is younger than %s, twice the interval at "
			"which records are fetched, or its launch is not known. It may "
			"have ended.",
			gt_figure_ns(counts.fresh_ns).text);
	if (counts.hidden > 0)
		gt_result_remark(
			result,
			"Work may have ended: CUPTI tells what a thread launched in the order "
			"of its launches, and an earlier one of that thread has not ended.");
	if (counts.doubtful > 0)
		gt_result_remark(
			result, "A stream may wait: that what it waits for has ended is not known, "
				"as of a host function, or of a value that nobody is known to "
				"write.");
	if (counts.paused > 0)
		remark_paused(result, counts.paused);
	if (counts.silent > 0)
		remark_silent(result, &counts);
	if (counts.ended > 0)
		remark_ended(result, &counts);
}
