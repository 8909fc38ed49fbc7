/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/critical_path/tables.h"
#include "analysis/result.h"
#include "analysis/time/path_account.h"
#include "analysis/time/profiled.h"
#include "base/array.h"
#include "base/error.h"
#include "model/path/changes.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"

static const struct gt_heading path_headings[] = {
	{"process", GT_UNIT_TEXT, "Process whose time it is", GT_WORTH_NAME},
	{"ranges", GT_UNIT_COUNT, "Chosen ranges; unknown where the path is that of the whole run"},
	{"length_ns", GT_UNIT_NS,
         "From the first to the last thing known of it; of ranges to the end of their work, summed",
         GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "length_ns of a range, on average"},
	{"path_ns", GT_UNIT_NS, "Sum of the stretches of the path: what of length_ns is explained"},
	{"certain_ns", GT_UNIT_NS,
         "Part of that up to the end that no assumed edge follows: the path whatever was assumed",
         GT_WORTH_KEY},
	{"certain_percent", GT_UNIT_PERCENT, "certain_ns of length_ns", GT_WORTH_KEY},
	{"assumed", GT_UNIT_COUNT, "Edges of the path that nobody recorded"},
	{"stretches", GT_UNIT_COUNT, "Members of the path", GT_WORTH_LITTLE},
};

static const struct gt_heading kind_headings[] = {
	{"kind", GT_UNIT_TEXT, "Kind of work or wait that took the time", GT_WORTH_KEY},
	{"stretches", GT_UNIT_COUNT, "Members of the path that are such"},
	{"total_ns", GT_UNIT_NS, "Their sum: all rows add up to path_ns", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of length_ns", GT_WORTH_KEY},
	{"assumed_ns", GT_UNIT_NS, "Part of it along edges that nobody recorded"},
};

static const struct gt_heading range_headings[] = {
	{"total_ns", GT_UNIT_NS, "Stretches of the path that were asked for, or lie, in it itself",
         GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of length_ns", GT_WORTH_KEY},
	{"gpu_ns", GT_UNIT_NS, "Part of total_ns in kernels, graphs, copies and fills"},
	{"range", GT_UNIT_TEXT, "Path of the innermost NVTX range; unknown: in none",
         GT_WORTH_NAME},
};

static const struct gt_heading process_headings[] = {
	{"path_of", GT_UNIT_TEXT, "Process whose path it is", GT_WORTH_NAME},
	{"process", GT_UNIT_TEXT, "Process whose stretches these are", GT_WORTH_NAME},
	{"stretches", GT_UNIT_COUNT, "Members of the path that are its own"},
	{"total_ns", GT_UNIT_NS, "Their sum: the rows of a path add up to its path_ns",
         GT_WORTH_KEY},
	{"gpu_ns", GT_UNIT_NS, "Part of total_ns in kernels, graphs, copies and fills"},
};

static const struct gt_heading wait_headings[] = {
	{"function", GT_UNIT_TEXT, "API call", GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Calls whose return is on the path", GT_WORTH_KEY},
	{"call_ns", GT_UNIT_NS, "From their entry to their return", GT_WORTH_KEY},
	{"return_ns", GT_UNIT_NS,
         "Part of that since the awaited work had ended: it is on the path", GT_WORTH_KEY},
};

static const char *const yes_no[] = {"yes", "no", NULL};

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_ROWS, "20", "Members, names, kernels and ranges that are listed"},
	{"kernels", GT_PARAMETER_COUNT, "3",
         "Kernels, those with most time on the path, for which it is asked what if they took none"},
	{"kernel", GT_PARAMETER_TEXT, "",
         "Kernels, by a regular expression, for which that is asked together"},
	{"assume", GT_PARAMETER_CHOICE, "yes",
         "Whether edges that nobody recorded are in it where times speak for them", yes_no},
	{0},
};

enum { TOP, KERNELS, KERNEL, ASSUME }; /* arguments, as above */

/* ---- paths ---- */

static void add_path(const struct gt_critical_figures *figures, struct gt_result *result,
                     gt_id process)
{
	const struct gt_path_account *account = &figures->account;
	uint64_t ranges = 0;
	uint64_t spans = 0;
	uint64_t assumed = 0;
	uint64_t stretches = 0;
	gt_time length_ns = 0;
	gt_time told_ns = 0;
	gt_time certain_ns = 0;

	for (size_t i = 0; i < account->spans.list.count; i++) {
		const struct gt_path_span *span = &account->spans.list.rows[i];

		if (span->process != process)
			continue;
		spans++;
		ranges += span->range != GT_NONE;
		length_ns += span->window.end_ns - span->window.start_ns;
		told_ns += account->of_span[i].told_ns;
		certain_ns += account->of_span[i].certain_ns;
		assumed += account->of_span[i].assumed;
		stretches += account->of_span[i].stretches;
	}
	if (spans == 0)
		return;
	gt_add_process(result, figures->trace, process);
	gt_result_add_count_if(result, ranges > 0, (int64_t)ranges);
	gt_result_add_count(result, length_ns);
	if (ranges > 0)
		gt_add_rounded(result, (double)length_ns / (double)ranges);
	else
		gt_result_add_unknown(result);
	gt_result_add_count(result, told_ns);
	gt_result_add_count(result, certain_ns);
	gt_result_add_real(result, gt_percent((double)certain_ns, (double)length_ns));
	gt_result_add_count(result, (int64_t)assumed);
	gt_result_add_count(result, (int64_t)stretches);
}

static void add_paths(const struct gt_critical_figures *figures, struct gt_result *result)
{
	gt_result_begin(result, "paths", path_headings, GT_COUNT_OF(path_headings));
	for (gt_id i = 0; i < figures->trace->processes.count; i++)
		add_path(figures, result, i);
}

static void add_kinds(const struct gt_critical_figures *figures, struct gt_result *result)
{
	bool told[GT_PATH_KINDS] = {false};

	gt_result_begin(result, "by_kind", kind_headings, GT_COUNT_OF(kind_headings));
	gt_result_order(result, "total_ns");
	for (size_t turn = 0; turn < GT_PATH_KINDS; turn++) {
		const struct gt_path_kind_total *kinds = figures->account.by_kind;
		size_t most = GT_PATH_KINDS;

		for (size_t i = 0; i < GT_PATH_KINDS; i++)
			if (!told[i] && kinds[i].stretches > 0 &&
			    (most == GT_PATH_KINDS || kinds[i].total_ns > kinds[most].total_ns))
				most = i;
		if (most == GT_PATH_KINDS)
			return;
		told[most] = true;
		gt_result_add_text(result, gt_path_kind_name((enum gt_path_kind)most));
		gt_result_add_count(result, (int64_t)kinds[most].stretches);
		gt_result_add_count(result, kinds[most].total_ns);
		gt_critical_add_share(figures, result, kinds[most].total_ns);
		gt_result_add_count(result, kinds[most].assumed_ns);
	}
}

/* ---- ranges ---- */

struct range {
	gt_id path; /* GT_NONE: in none */
	gt_time total_ns;
	gt_time gpu_ns;
};

static int by_time_of_range(const void *a, const void *b)
{
	const struct range *left = a;
	const struct range *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->path > right->path) - (left->path < right->path);
}

static void add_ranges(const struct gt_critical_figures *figures, struct gt_result *result)
{
	const struct gt_path_account *account = &figures->account;
	const size_t paths = account->ranges.paths.count;
	struct range *ranges = gt_allocate((paths + 1) * sizeof(*ranges));
	size_t used = 0;

	for (size_t i = 0; paths > 0 && i <= paths; i++)
		if (account->by_range_ns[i] > 0)
			ranges[used++] = (struct range){i < paths ? (gt_id)i : GT_NONE,
			                                account->by_range_ns[i],
			                                account->gpu_by_range_ns[i]};
	if (used > 1)
		qsort(ranges, used, sizeof(*ranges), by_time_of_range);
	gt_result_begin(result, "by_range", range_headings, GT_COUNT_OF(range_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < used && i < figures->top; i++) {
		char text[GT_RANGE_PATH_BYTES];

		gt_result_add_count(result, ranges[i].total_ns);
		gt_critical_add_share(figures, result, ranges[i].total_ns);
		gt_result_add_count(result, ranges[i].gpu_ns);
		if (ranges[i].path == GT_NONE) {
			gt_result_add_unknown(result);
			continue;
		}
		(void)gt_range_path_text(&account->ranges, ranges[i].path, text);
		gt_result_add_format(result, "%s", text);
	}
	gt_result_top(result, used, figures->top);
	gt_array_free(ranges);
}

/* Where each path stays in its own process there is nothing to tell. */
static void add_processes(const struct gt_critical_figures *figures, struct gt_result *result)
{
	const struct gt_path_account *account = &figures->account;
	bool mixed = false;

	gt_array_each(const struct gt_path_process_total, total, &account->by_process)
		mixed = mixed || total->of.path != total->of.time;
	gt_result_begin(result, "by_process", process_headings, GT_COUNT_OF(process_headings));
	if (!mixed)
		return;
	gt_array_each(const struct gt_path_process_total, total, &account->by_process) {
		gt_add_process(result, figures->trace, total->of.path);
		gt_add_process(result, figures->trace, total->of.time);
		gt_result_add_count(result, (int64_t)total->stretches);
		gt_result_add_count(result, total->total_ns);
		gt_result_add_count(result, total->gpu_ns);
	}
}

static void add_waits(const struct gt_critical_figures *figures, struct gt_result *result)
{
	gt_result_begin(result, "waits", wait_headings, GT_COUNT_OF(wait_headings));
	gt_result_order(result, "call_ns");
	gt_array_each(const struct gt_path_wait, wait, &figures->account.waits) {
		gt_result_add_text(result, gt_trace_text(figures->trace, wait->function));
		gt_result_add_count(result, (int64_t)wait->calls);
		gt_result_add_count(result, wait->call_ns);
		gt_result_add_count(result, wait->return_ns);
	}
}

/* ---- remarks ---- */

static void add_empty_remarks(const struct gt_critical_figures *figures, struct gt_result *result)
{
	if (figures->account.spans.list.count > 0)
		return;
	gt_result_remark_empty(
		result, figures->account.spans.of_range
				? "Nothing was called in the chosen ranges that was recorded."
				: "Neither API calls nor work on a GPU were recorded.");
}

/* Launches whose counters were read, and calls in which memory was copied for a replay. */
static void add_held_remark(const struct gt_critical_figures *figures, struct gt_result *result)
{
	const gt_time held_ns = figures->account.by_kind[GT_PATH_OF_HELD].total_ns;

	if (held_ns > 0)
		gt_result_remark(
			result,
			"%s of the path are not measured: gputrace held launches up for "
			"their counters, or to capture them. No change shortens that. Take "
			"times from a recording without.",
			gt_figure_ns(held_ns).text);
	else
		gt_remark_held_up(result, figures->trace);
}

static void add_process_remark(const struct gt_critical_figures *figures, struct gt_result *result)
{
	if (figures->trace->processes.count < 2)
		return;
	if (figures->account.path.shared > 0)
		gt_result_remark(result,
		                 "Each process has a path of its own. It goes over to another one "
		                 "where an event that both have proves the wait (%s edges); other "
		                 "waits between processes are not recorded.",
		                 gt_grouped(figures->account.path.shared).text);
	else
		gt_result_remark(result,
		                 "Each process has a path of its own: no event that two of them "
		                 "have was recorded, and other waits between processes are not.");
}

static void add_remarks(const struct gt_critical_figures *figures, struct gt_result *result)
{
	const struct gt_path_account *account = &figures->account;

	add_empty_remarks(figures, result);
	add_held_remark(figures, result);
	if (figures->trace->api_calls.count == 0)
		gt_result_remark(result,
		                 "No API calls were recorded: why work began when it did is "
		                 "known of the order of its stream alone.");
	if (account->path.against_time > 0)
		gt_result_remark(result,
		                 "%s edges are left out: by the clocks, what waited began before "
		                 "what it waited for had ended.",
		                 gt_grouped(account->path.against_time).text);
	if (account->spans.empty > 0)
		gt_result_remark(
			result,
			"%s chosen ranges in which their threads called nothing have no path.",
			gt_grouped(account->spans.empty).text);
	gt_result_remark_on(
		result, "certain_ns assumed_ns",
		account->path.assumes
			? "Threads that hand over to each other, frees and pageable "
			  "copies that wait, and work that waits for room on the GPU are "
			  "assumed from their times; --set assume=no leaves that out."
			: "Nothing is assumed: what a thread waited for outside of CUDA "
			  "is its own time.");
	add_process_remark(figures, result);
	gt_result_remark_on(result, "saved_ns",
	                    "A change is what the recorded order of things would have taken: what "
	                    "the program would have done otherwise is not known.");
}

static int compile(regex_t *regex, const char *text, struct gt_error *err)
{
	char why[128];
	const int result = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);

	if (result == 0)
		return 0;
	regerror(result, regex, why, sizeof(why));
	return gt_fail(err, EINVAL, "kernel=%s is no regular expression: %s", text, why);
}

static bool is_shown(const void *context, struct gt_step step)
{
	const struct gt_view *view = context;

	return gt_whole_shown(view->trace, (int)step.table, step.row) != GT_NONE;
}

/* A window that ends with the recording has no end: clocks may put things behind that. */
static struct gt_path_shown shown_of(const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;

	return (struct gt_path_shown){
		.is = is_shown,
		.context = view,
		.window = {view->start_ns > trace->start_ns ? view->start_ns : INT64_MIN,
	                   view->end_ns < trace->end_ns ? view->end_ns : INT64_MAX},
	};
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const char *pattern = arguments->values[KERNEL].text;
	const struct gt_path_shown shown = shown_of(view);
	regex_t regex;
	struct gt_critical_figures figures = {.trace = gt_whole_of(view->trace),
	                                      .top = arguments->values[TOP].number,
	                                      .kernels = arguments->values[KERNELS].number,
	                                      .pattern = pattern};
	struct gt_critical_kernel *kernels;

	if (*pattern) {
		if (compile(&regex, pattern, err) < 0)
			return -EINVAL;
		figures.regex = &regex;
	}
	gt_path_account_init(&figures.account, figures.trace, &shown,
	                     strcmp(arguments->values[ASSUME].text, "yes") == 0, figures.top);
	gt_path_changes_init(&figures.changes, &figures.account.path);
	kernels = gt_critical_kernels(&figures);
	add_paths(&figures, result);
	add_kinds(&figures, result);
	gt_critical_add_changes(&figures, result, kernels);
	gt_critical_add_names(&figures, result);
	gt_critical_add_kernels(&figures, kernels, result);
	add_ranges(&figures, result);
	add_processes(&figures, result);
	add_waits(&figures, result);
	gt_critical_add_members(&figures, result);
	gt_critical_add_spans(&figures, result);
	add_remarks(&figures, result);
	if (*pattern)
		regfree(&regex);
	gt_array_free(kernels);
	gt_path_changes_release(&figures.changes);
	gt_path_account_release(&figures.account);
	return 0;
}

const struct gt_report gt_report_critical_path = {
	.name = "critical-path",
	.summary = "The chain that set the time, and what-ifs",
	.parameters = parameters,
	.run = run,
};
