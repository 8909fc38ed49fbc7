/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/result.h"
#include "analysis/top/ended.h"
#include "analysis/top/may_run.h"
#include "analysis/top/tables.h"
#include "analysis/top/top.h"
#include "base/error.h"
#include "base/path.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/output/say.h"
#include "cli/recording/manifest.h"
#include "cli/recording/of_process.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/render/render.h"
#include "cli/top/interrupt.h"
#include "cli/top/lines.h"
#include "cli/top/screen.h"
#include "collector/collector.h"
#include "collector/decode/looks.h"
#include "format/recording.h"

#define SECOND_NS 1000000000

struct args {
	uint64_t interval_ns;
	uint64_t count; /* 0: until the program ends */
	uint64_t limit;
	const char *follow; /* NULL: figures are shown */
	bool json;
};

static const struct gt_option options[] = {
	OPT_DURATION("interval", 'i', struct args, interval_ns, "TIME", 100000000, 3600000000000,
                     "Refresh so often, with the figures of that time; default: 1s"),
	OPT_COUNT("count", 'c', struct args, count, "N",
                  "End after so many refreshes; default: when the program has ended"),
	OPT_COUNT("limit", 'n', struct args, limit, "ROWS",
                  "So many kernels of each GPU; default: 10"),
	OPT_CHOICE("follow", 0, struct args, follow, "WHAT", gt_ended_words,
                   "Print a line as each of these ends instead"),
	OPT_FLAG("json", 0, struct args, json,
                 "Print JSON with raw values: one line for each refresh, or for each end"),
	OPT_END_OF("top"),
};

/* Those of no recording. */
static void make_tables(struct gt_result *result)
{
	gt_top_add_tables(result, NULL, 0);
}

struct watch {
	const struct args *args;
	char *folder;
	struct gt_look look;
	struct gt_screen screen;
	struct gt_interrupt interrupt;
	struct gt_ended ended;
	bool said;           /* that a part of the recording cannot be read */
	size_t running;      /* processes of the look before */
	gt_time ran_ns;      /* the last look at which some ran */
	uint64_t shown;      /* refreshes */
	gt_time fetching_ns; /* so long before now ends what has been fetched, by the look before */
};

/* ---- showing ---- */

static void remark_elsewhere(const struct watch *watch, struct gt_result *result)
{
	const size_t count = watch->look.elsewhere;

	if (count > 0)
		gt_result_remark(result,
		                 "Not shown: %zu files of processes on other machines, where "
		                 "gputrace top shows them.",
		                 count);
}

static int show_figures(struct watch *watch, struct gt_trace *trace, gt_time now_ns,
                        struct gt_result *result, struct gt_error *err)
{
	const struct args *args = watch->args;
	struct gt_rendering rendering = {.style = args->json ? GT_STYLE_JSON : GT_STYLE_TEXT,
	                                 .limit = GT_LIMIT_NONE,
	                                 .one_line = true,
	                                 .width = gt_render_width(stdout),
	                                 .colour = gt_render_in_colour(NULL, stdout)};
	struct gt_top top;
	int status;

	gt_top_init(&top, trace, now_ns, (gt_time)args->interval_ns);
	gt_top_add_tables(result, &top, (size_t)args->limit);
	remark_elsewhere(watch, result);
	status = gt_result_check(result, err);
	if (status == 0) {
		status = gt_render(&rendering, &(struct gt_named_result){"top", result}, 1,
		                   gt_screen_begin(&watch->screen), err);
		if (!args->json && !watch->screen.in_place)
			putc('\n', stdout);
		gt_screen_show(&watch->screen);
	}
	gt_top_release(&top);
	return status;
}

/* The headings of lines, which come at once: who reads them knows that nothing is missed. */
static void show_headings(const struct watch *watch)
{
	struct gt_result result;

	if (!watch->args->follow || watch->args->json)
		return;
	gt_result_init(&result);
	gt_ended_begin(&watch->ended, &result);
	gt_print_lines(&result.sections.rows[0], true, stdout);
	gt_result_release(&result);
	(void)fflush(stdout);
}

static int show_ended(struct watch *watch, const struct gt_trace *trace, gt_time now_ns,
                      struct gt_result *result, struct gt_error *err)
{
	const gt_time before_ns = watch->ended.until_ns;
	int status;

	if (before_ns > 0 && trace->known_from_ns > before_ns)
		gt_say("more ended than is read at a time: some of what ended until %.3f s is not "
		       "shown",
		       (double)(trace->known_from_ns - trace->start_ns) / SECOND_NS);
	gt_ended_begin(&watch->ended, result);
	gt_ended_add(&watch->ended, trace, now_ns, result);
	status = gt_result_check(result, err);
	if (status < 0)
		return status;
	if (watch->args->json)
		gt_render_json_rows(&result->sections.rows[0], stdout);
	else
		gt_print_lines(&result->sections.rows[0], false, stdout);
	(void)fflush(stdout);
	return 0;
}

/* ---- looking ---- */

/* Whether gputrace run, or a process, still writes into the folder. */
static bool is_held(const char *folder)
{
	const int fd = gt_folder_hold(folder, GT_HOLD_ALONE);

	if (fd >= 0)
		close(fd);
	return fd == -EWOULDBLOCK;
}

static size_t count_running(const struct gt_trace *trace)
{
	size_t running = 0;

	gt_array_each(const struct gt_process, process, &trace->processes)
		running += process->ended == GT_END_RUNNING;
	return running;
}

/* Since when work is needed. A program that has ended did so after the last look at which it ran. */
static gt_time needed_since(const struct watch *watch)
{
	if (watch->args->follow)
		return watch->ended.until_ns;
	return watch->ran_ns - watch->fetching_ns - (gt_time)watch->args->interval_ns;
}

static int show(struct watch *watch, struct gt_trace *trace, gt_time now_ns, struct gt_error *err)
{
	struct gt_result result;
	int status;

	gt_result_init(&result);
	status = watch->args->follow ? show_ended(watch, trace, now_ns, &result, err)
	                             : show_figures(watch, trace, now_ns, &result, err);
	gt_result_release(&result);
	return status;
}

/* 1: the program runs, or has not come to CUDA; 0: it has ended. */
static int look(struct watch *watch, bool held, struct gt_error *err)
{
	const gt_time now_ns = gt_instant_now().boottime_ns;
	struct gt_trace trace;
	int status;

	gt_trace_init(&trace);
	watch->look.since_ns = needed_since(watch);
	status = gt_collect_look(watch->folder, &watch->look, &trace, err);
	if (status == -ENODATA && held)
		return 1;
	if (status == 0) {
		if (!watch->said)
			gt_say_condition(watch->folder, gt_trace_text(&trace, trace.condition));
		watch->said = true;
		watch->running = count_running(&trace);
		if (watch->running > 0)
			watch->ran_ns = now_ns;
		watch->fetching_ns = now_ns - gt_fetched_until(&trace, now_ns);
		status = show(watch, &trace, now_ns, err);
		watch->shown++;
	}
	gt_trace_release(&trace);
	return status < 0 ? status : held || watch->running > 0;
}

/* All processes have ended, and gputrace run has not: it may start another one. */
static bool is_waiting(const struct watch *watch, bool held)
{
	return held && watch->said && watch->running == 0 &&
	       gt_recording_writers(watch->folder) == 0;
}

/* Looks begin an interval apart; one that took longer than that is followed at once. */
static bool wait_for_next(const struct watch *watch, gt_time *next_ns)
{
	const gt_time now_ns = gt_instant_now().boottime_ns;

	*next_ns += (gt_time)watch->args->interval_ns;
	if (*next_ns < now_ns)
		*next_ns = now_ns;
	return gt_interrupt_wait(&watch->interrupt, (uint64_t)(*next_ns - now_ns));
}

static int watch_until_end(struct watch *watch, struct gt_error *err)
{
	gt_time next_ns = gt_instant_now().boottime_ns;

	for (;;) {
		/* First of all: then what the last process wrote is in what is read. */
		const bool held = watch->running > 0 || is_held(watch->folder);
		const int runs = is_waiting(watch, held) ? 1 : look(watch, held, err);

		if (runs < 0 || ferror(stdout))
			return runs < 0 ? runs
			                : gt_fail(err, EIO, "cannot write to standard output");
		if (runs == 0) {
			gt_screen_close(&watch->screen);
			gt_say("the program has ended");
			return GT_EXIT_OK;
		}
		if ((watch->args->count > 0 && watch->shown >= watch->args->count) ||
		    wait_for_next(watch, &next_ns))
			return GT_EXIT_OK;
	}
}

/* ---- the command ---- */

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.interval_ns = SECOND_NS, .limit = 10};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct watch watch = {.args = &args};
	int status;

	if (left < 0)
		return left;
	status = gt_recording_one(left, argv, err);
	if (status == 0)
		status = gt_recording_being_written(left > 0 ? argv[0] : NULL, &watch.folder, err);
	if (status < 0) {
		free(watch.folder);
		return status;
	}
	watch.look.looks = gt_looks_new();
	watch.ended.from_ns = gt_instant_now().boottime_ns;
	watch.ended.of = args.follow && strcmp(args.follow, gt_ended_words[GT_ENDED_RANGES]) == 0
	                         ? GT_ENDED_RANGES
	                         : GT_ENDED_KERNELS;
	gt_interrupt_begin(&watch.interrupt);
	gt_screen_open(&watch.screen, !args.follow && !args.json);
	show_headings(&watch);
	status = watch_until_end(&watch, err);
	gt_screen_close(&watch.screen);
	gt_interrupt_end(&watch.interrupt);
	gt_ended_release(&watch.ended);
	gt_looks_free(watch.look.looks);
	free(watch.folder);
	return status;
}

const struct gt_command gt_command_top = {
	.name = "top",
	.operands = "[RECORDING|PID]",
	.summary = "Show what GPUs do while a recorded program runs",
	.details = GT_RECORDING_HELP
	"\n\n"
	"PID is a process that is recorded now, or one that started it."
	"\n\n"
	"Shown is, of the last interval: how busy each GPU was, with which kernels, copies, memory "
	"and power; launches, steps and losses of each process; and whether recording is paused. The "
	"recording is read while the program writes it. The program is not touched: it gets no "
	"signal, and is not stopped. Ctrl-C ends the view; it ends by itself when the program has.",
	.tables = make_tables,
	.options = options,
	.run = run,
};
