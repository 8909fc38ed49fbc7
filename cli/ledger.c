/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ledger.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "model/trace.h"

/* A class of what is not in the recording: all of them are 0 in a clean ledger. */
struct loss {
	const char *name;
	const char *one;
	const char *many;
};

static const struct loss losses[] = {
	{"dropped_by_cupti", "record dropped by CUPTI", "records dropped by CUPTI"},
	{"discarded_no_buffer", "record discarded for lack of a buffer",
         "records discarded for lack of a buffer"},
	{"discarded_uncounted", "moment at which records were lost uncounted",
         "moments at which records were lost uncounted"},
	{"unknown_records", "record of an unknown kind", "records of an unknown kind"},
	{"launches_unknown", "process whose launches are not known",
         "processes whose launches are not known"},
	{"api_lost", "API call lost", "API calls lost"},
	{"records_lost", "record lost", "records lost"},
	{"strings_lost", "name lost", "names lost"},
	{"not_written", "record that could not be written", "records that could not be written"},
	{"sources_failed", "source could not start", "sources could not start"},
};

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

/*
 * Every launch is one of these classes. One into a stream that is being captured runs nothing
 * itself, so it lacks nothing. Returns whether no launch lacks its kernel.
 */
static bool add_identity(struct line *line, const struct gt_trace *trace, uint64_t launches)
{
	const uint64_t timed = get(trace, "launches_timed");
	const uint64_t unfinished = get(trace, "launches_unfinished");
	const uint64_t captured = get(trace, "launches_captured");
	const uint64_t missing = get(trace, "launches_missing");
	const uint64_t sum = timed + unfinished + captured + missing;

	add_count(line, " ", launches, "launch", "launches");
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
	return timed + captured == launches && sum == launches;
}

/* Processes of which the end is missing, or still to come. Returns whether there are none. */
static bool add_ends(struct line *line, const struct gt_trace *trace)
{
	uint64_t torn = 0;
	uint64_t running = 0;

	gt_array_each(const struct gt_process, process, &trace->processes) {
		torn += process->ended == GT_END_TORN;
		running += process->ended == GT_END_RUNNING;
	}
	if (torn) {
		add_count(line, "; ", torn, "of", "of");
		add_count(line, " ", trace->processes.count, "processes", "processes");
		add(line, " cut short: what %s did last is not known", torn == 1 ? "it" : "they");
	}
	if (running)
		add_count(line, "; ", running, "process still runs", "processes still run");
	return torn + running == 0;
}

bool gt_ledger_sentence(const struct gt_trace *trace, char *text, size_t size)
{
	struct line line = {text, size};
	uint64_t launches;
	bool clean = true;

	snprintf(text, size, "ledger:");
	if (trace->ledgers.count == 0) {
		add(&line, " none, no process kept one");
		return false;
	}
	if (gt_trace_ledger(trace, "launches", &launches) < 0) {
		add(&line, "%s",
		    get(trace, "launches_unknown") ? " launches not known"
		                                   : " launches not counted (--api none)");
		add_count(&line, ", ", get(trace, "kernels"), "kernel", "kernels");
	} else {
		clean = add_identity(&line, trace, launches);
	}
	if (get(trace, "graph_launches")) {
		add_count(&line, "; ", get(trace, "graph_launches"), "graph launch",
		          "graph launches");
		add_count(&line, ", ", get(trace, "kernels"), "kernel in all", "kernels in all");
	}
	if (get(trace, "launches_refused"))
		add_count(&line, "; ", get(trace, "launches_refused"), "launch failed",
		          "launches failed");
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		const uint64_t lost = get(trace, losses[i].name);

		if (lost)
			add_count(&line, "; ", lost, losses[i].one, losses[i].many);
		clean = clean && lost == 0;
	}
	clean = add_ends(&line, trace) && clean;
	if (clean)
		add(&line, ", clean");
	return clean;
}
