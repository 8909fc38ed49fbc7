/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/strings.h"
#include "collector/stage.h"

/*
 * Entries of the machines' rolls (format/roll.h): processes that could not be recorded become rows
 * of processes, so that whoever counts processes counts them, and with the calls that are in no
 * capture classes of the ledger. A note says what happened to each.
 */

/* A count of zero has no row. */
static void add(struct gt_trace *trace, gt_id process, const char *name, uint64_t value)
{
	if (value)
		gt_trace_add_ledger(trace, process, name, value);
}

static void add_calls(struct gt_trace *trace, gt_id process, uint64_t launches, uint64_t calls)
{
	add(trace, process, "launches_unrecorded", launches);
	add(trace, process, "calls_unrecorded", calls);
}

static gt_id add_process(struct gt_trace *trace, const struct gt_host_roll *roll,
                         const struct gt_roll_facts *facts)
{
	const gt_id process = (gt_id)trace->processes.count;
	const bool in_time = facts->time_ns >= (uint64_t)trace->start_ns &&
	                     facts->time_ns <= (uint64_t)trace->end_ns;
	/* The recording is not made longer by it. */
	const gt_time time_ns = in_time ? (gt_time)facts->time_ns : trace->start_ns;

	*gt_array_push(&trace->processes) = (struct gt_process){
		.start_ns = time_ns,
		.end_ns = time_ns,
		.started_ticks = facts->started_ticks,
		.pid = facts->pid,
		.parent_pid = facts->parent_pid,
		.name = gt_strings_add(trace->strings, facts->program),
		.host = gt_strings_add(trace->strings, roll->host),
		.ended = GT_END_UNRECORDED,
	};
	add(trace, process, "processes_unrecorded", 1);
	return process;
}

static void take_refused(struct gt_collection *collection, const struct gt_host_roll *roll,
                         const struct gt_roll_line *line)
{
	const struct gt_roll_facts *facts = &line->facts;

	gt_collection_note(collection, add_process(collection->trace, roll, facts), "roll",
	                   "%s (process %u of user %u) is not recorded: %s", facts->program,
	                   facts->pid, facts->user, facts->text);
}

/* The child was recorded from when it started CUDA; GT_NONE: it was not. */
static gt_id find_recorded(const struct gt_collection *collection, const struct gt_host_roll *roll,
                           const struct gt_roll_facts *facts)
{
	const struct gt_trace *trace = collection->trace;

	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		const struct gt_process *process = &trace->processes.rows[capture->process];

		if (process->pid == facts->pid && process->started_ticks == facts->started_ticks &&
		    strcmp(gt_trace_text(trace, process->host), roll->host) == 0)
			return capture->process;
	}
	return GT_NONE;
}

static void take_forked(struct gt_collection *collection, const struct gt_host_roll *roll,
                        const struct gt_roll_line *line)
{
	const struct gt_roll_facts *facts = &line->facts;
	gt_id process = find_recorded(collection, roll, facts);

	if (process != GT_NONE) {
		add_calls(collection->trace, process, line->launches, line->calls);
		gt_collection_note(collection, process, "roll",
		                   "%s (process %u), forked from process %u, called NVTX before it "
		                   "started CUDA: %" PRIu64 " calls are only counted",
		                   facts->program, facts->pid, facts->parent_pid, line->calls);
		return;
	}
	process = add_process(collection->trace, roll, facts);
	add_calls(collection->trace, process, line->launches, line->calls);
	gt_collection_note(collection, process, "roll",
	                   "%s (process %u) is not recorded: it was forked from process %u after "
	                   "that had started to be recorded, and called CUDA or NVTX itself",
	                   facts->program, facts->pid, facts->parent_pid);
}

/* The process whose capture the line names; GT_NONE when it is not among those that were read. */
static gt_id find_process(const struct gt_collection *collection, const struct gt_roll_facts *facts)
{
	gt_array_each(const struct gt_capture, capture, &collection->captures)
		if (*facts->text &&
		    strncmp(capture->name, facts->text, sizeof(facts->text) - 1) == 0)
			return capture->process;
	return GT_NONE;
}

static void take_late(struct gt_collection *collection, const struct gt_roll_line *line)
{
	const gt_id process = find_process(collection, &line->facts);

	if (line->launches + line->calls == 0)
		return;
	add_calls(collection->trace, process, line->launches, line->calls);
	gt_collection_note(
		collection, process, "roll",
		"%s (process %u) went on calling CUDA after its exit had begun, when the "
		"recording was complete: %" PRIu64 " launches and %" PRIu64
		" other calls are only counted",
		line->facts.program, line->facts.pid, line->launches, line->calls);
}

static void take_more(struct gt_collection *collection, const struct gt_host_roll *roll)
{
	const struct gt_roll_lines *lines = &roll->lines;

	add(collection->trace, GT_NONE, "processes_unrecorded", lines->more_processes);
	add_calls(collection->trace, GT_NONE, lines->more_launches, lines->more_calls);
	if (lines->more_processes)
		gt_collection_note(collection, GT_NONE, "roll",
		                   "%" PRIu64 " more processes on %s are not recorded",
		                   lines->more_processes, roll->host);
}

static void take_line(struct gt_collection *collection, const struct gt_host_roll *roll,
                      const struct gt_roll_line *line)
{
	switch (line->kind) {
	case GT_ROLL_REFUSED:
		take_refused(collection, roll, line);
		break;
	case GT_ROLL_FORKED:
		take_forked(collection, roll, line);
		break;
	case GT_ROLL_LATE:
		take_late(collection, line);
		break;
	case GT_ROLL_FREE:
	case GT_ROLL_CLAIMED:
	case GT_ROLL_KINDS:
		break;
	}
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	(void)err;
	add(collection->trace, GT_NONE, "rolls_unread", collection->rolls_unread);
	gt_array_each(const struct gt_host_roll, roll, &collection->rolls) {
		for (uint32_t i = 0; i < roll->lines.count; i++)
			take_line(collection, roll, &roll->lines.lines[i]);
		take_more(collection, roll);
	}
	return 0;
}

const struct gt_stage gt_stage_roll = {.name = "roll", .run = run};
