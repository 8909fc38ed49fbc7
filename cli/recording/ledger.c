/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/ledger.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/ledger.h"
#include "model/trace.h"

/* A class that no process has counts as 0. */
static uint64_t get(const struct gt_trace *trace, const char *name)
{
	uint64_t value = 0;

	(void)gt_trace_ledger(trace, name, &value);
	return value;
}

struct line {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *fmt, ...)
{
	const size_t length = strlen(line->text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(line->text + length, line->size - length, fmt, args);
	va_end(args);
}

static void add_count(struct line *line, const char *before, uint64_t count, const char *one,
                      const char *many)
{
	add(line, "%s%s %s", before, gt_figure_count((int64_t)count).text, count == 1 ? one : many);
}

/* Calls may be in what could not be read. */
static bool is_damaged(const struct gt_trace *trace)
{
	return get(trace, "bytes_damaged") || get(trace, "chunks_damaged") ||
	       get(trace, "chunks_left_out");
}

/* Kernels of graphs, and those that copies run as: no launch is theirs. */
static void add_no_launches(struct line *line, const struct gt_trace *trace, uint64_t kernels)
{
	add(line, " 0 launches of single kernels");
	if (get(trace, "graph_launches") == 0)
		add_count(line, ", ", kernels, "kernel of another call", "kernels of other calls");
}

/*
 * Every launch is one of these classes. One into a stream that is being captured runs nothing
 * itself, so it lacks nothing.
 */
static void add_identity(struct line *line, const struct gt_trace *trace, uint64_t launches)
{
	const uint64_t timed = get(trace, "launches_timed");
	const uint64_t unfinished = get(trace, "launches_unfinished");
	const uint64_t captured = get(trace, "launches_captured");
	const uint64_t missing = get(trace, "launches_missing");
	const uint64_t sum = timed + unfinished + captured + missing;

	add_count(line, is_damaged(trace) ? " at least " : " ", launches, "launch", "launches");
	add_count(line, " = ", timed, "kernel", "kernels");
	if (unfinished)
		add(line, " + %s unfinished", gt_figure_count((int64_t)unfinished).text);
	if (captured)
		add(line, " + %s captured into graphs", gt_figure_count((int64_t)captured).text);
	if (missing)
		add(line, " + %s missing", gt_figure_count((int64_t)missing).text);
	if (sum < launches)
		add(line, " + %s not accounted for",
		    gt_figure_count((int64_t)(launches - sum)).text);
	if (sum > launches)
		add(line, " - %s counted twice", gt_figure_count((int64_t)(sum - launches)).text);
}

/* Processes of which the end is missing, or still to come. */
static void add_ends(struct line *line, const struct gt_ledger_state *state)
{
	if (state->cut_short) {
		add_count(line, "; ", state->cut_short, "of", "of");
		add_count(line, " ", state->processes, "processes", "processes");
		add(line, " cut short: what %s did last is not known",
		    state->cut_short == 1 ? "it" : "they");
	}
	if (state->unread) {
		add_count(line, "; ", state->unread, "of", "of");
		add_count(line, " ", state->processes, "processes", "processes");
		add(line, " could not be read: what %s did is not known",
		    state->unread == 1 ? "it" : "they");
	}
	if (state->imported)
		add(line,
		    "; imported from another profiler's file, which does not say what it lost");
	if (state->running)
		add_count(line, "; ", state->running, "process still runs", "processes still run");
}

/* The note on the first process that could not be recorded, which has the reason; "" for none. */
static const char *reason(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_note, note, &trace->notes)
		if (note->process < trace->processes.count &&
		    trace->processes.rows[note->process].ended == GT_END_UNRECORDED)
			return gt_trace_text(trace, note->text);
	return "";
}

/* How each process ended, when one of them could not be recorded at all. */
static void add_unrecorded(struct line *line, const struct gt_trace *trace,
                           const struct gt_ledger_state *state)
{
	const char *why = reason(trace);
	uint64_t well = 0;
	uint64_t died = 0;

	if (!state->unrecorded)
		return;
	gt_array_each(const struct gt_process, process, &trace->processes) {
		well += process->ended == GT_END_CLEAN;
		died += process->ended == GT_END_DIED;
	}
	add_count(line, "; of ", state->processes, "process", "processes");
	if (well)
		add(line, " %s ended well,", gt_figure_count((int64_t)well).text);
	if (died)
		add(line, " %s died and %s salvaged,", gt_figure_count((int64_t)died).text,
		    died == 1 ? "was" : "were");
	add_count(line, " ", state->unrecorded, "is missing", "are missing");
	if (*why)
		add(line, ": %s", why);
	if (*why && state->unrecorded > 1)
		add_count(line, ", and ", state->unrecorded - 1, "more", "more");
}

static void add_losses(struct line *line, const struct gt_trace *trace)
{
	for (size_t i = 0; i < gt_ledger_class_count; i++) {
		const struct gt_ledger_class *class = &gt_ledger_classes[i];
		const uint64_t lost = *class->one ? get(trace, class->name) : 0;

		if (lost)
			add_count(line, "; ", lost, class->one, class->many);
	}
}

/* For graphs, or where launches were not counted: all others are launches without times. */
static void add_kernels_without_times(struct line *line, const struct gt_trace *trace)
{
	const uint64_t kernels = get(trace, "kernels_unfinished");
	const uint64_t launches = get(trace, "launches_unfinished");

	if (kernels > launches)
		add_count(line, "; ", kernels - launches, "kernel unfinished",
		          "kernels unfinished");
}

bool gt_ledger_sentence(const struct gt_trace *trace, char *text, size_t size)
{
	const struct gt_ledger_state state = gt_ledger_state(trace);
	const bool clean = gt_ledger_is_clean(&state);
	struct line line = {text, size};
	uint64_t launches;

	snprintf(text, size, "ledger:");
	if (!state.kept) {
		add(&line, " none, no process kept one");
		add_unrecorded(&line, trace, &state);
		return false;
	}
	if (gt_trace_ledger(trace, "launches", &launches) < 0) {
		add(&line, "%s",
		    get(trace, "launches_unknown") ? " launches not known"
		    : state.imported               ? " launches are not in the file"
		                                   : " launches not counted (--api none)");
		add_count(&line, ", ", get(trace, "kernels"), "kernel", "kernels");
	} else if (launches == 0 && get(trace, "kernels")) {
		add_no_launches(&line, trace, get(trace, "kernels"));
	} else {
		add_identity(&line, trace, launches);
	}
	if (get(trace, "graph_launches")) {
		add_count(&line, "; ", get(trace, "graph_launches"), "graph launch",
		          "graph launches");
		add_count(&line, ", ", get(trace, "kernels"), "kernel in all", "kernels in all");
	}
	if (get(trace, "launches_refused"))
		add_count(&line, "; ", get(trace, "launches_refused"), "launch failed",
		          "launches failed");
	add_kernels_without_times(&line, trace);
	if (!clean && get(trace, "launches") && get(trace, "kernels_without_call"))
		add_count(&line, "; ", get(trace, "kernels_without_call"),
		          "kernel whose launch is not there", "kernels whose launch is not there");
	add_losses(&line, trace);
	add_ends(&line, &state);
	add_unrecorded(&line, trace, &state);
	if (clean)
		add(&line, ", clean: nothing is missing");
	return clean;
}
