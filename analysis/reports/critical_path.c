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
#include "analysis/result.h"
#include "analysis/time/path_account.h"
#include "analysis/time/profiled.h"
#include "base/array.h"
#include "base/error.h"
#include "model/names.h"
#include "model/naming/short_name.h"
#include "model/path/changes.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"
#include "model/work/intervals.h"

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

static const struct gt_heading name_headings[] = {
	{"kind", GT_UNIT_TEXT, "Kind of work or wait that took the time", GT_WORTH_KEY},
	{"stretches", GT_UNIT_COUNT, "Members of the path that are such"},
	{"total_ns", GT_UNIT_NS, "Their sum", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of length_ns", GT_WORTH_KEY},
	{"name", GT_UNIT_TEXT,
         "Kernel, kind of copy or API call; of the program's own time the call after it",
         GT_WORTH_NAME},
};

static const struct gt_heading kernel_headings[] = {
	{"calls", GT_UNIT_COUNT, "Executions; of ranges those that were launched in them",
         GT_WORTH_ORDINARY},
	{"total_ns", GT_UNIT_NS, "Their time"},
	{"on_path", GT_UNIT_COUNT, "Executions on the path, wherever they were launched",
         GT_WORTH_KEY},
	{"on_path_ns", GT_UNIT_NS, "Their stretches of the path", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "on_path_ns of length_ns", GT_WORTH_KEY},
	{"slack_ns", GT_UNIT_NS,
         "Least of those off the path: so much later they could end, and nothing change",
         GT_WORTH_KEY},
	{"kernel", GT_UNIT_TEXT, "Name of the kernel", GT_WORTH_NAME},
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

static const struct gt_heading change_headings[] = {
	{"change", GT_UNIT_TEXT, "The change", GT_WORTH_NAME},
	{"length_ns", GT_UNIT_NS, "Length then, all ranges together", GT_WORTH_KEY},
	{"saved_ns", GT_UNIT_NS, "length_ns as it is less that", GT_WORTH_KEY},
	{"saved_percent", GT_UNIT_PERCENT, "saved_ns of length_ns as it is", GT_WORTH_KEY},
};

static const struct gt_heading member_headings[] = {
	{"start_time_ns", GT_UNIT_TIME, "When it began, since the recording began", GT_WORTH_KEY},
	{"duration_ns", GT_UNIT_NS, "How long it took", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "duration_ns of length_ns"},
	{"kind", GT_UNIT_TEXT, "Kind of work or wait that took the time", GT_WORTH_KEY},
	{"basis", GT_UNIT_TEXT, "recorded, or assumed: nobody recorded the edge",
         GT_WORTH_ORDINARY},
	{"where", GT_UNIT_TEXT, "Thread, or stream"},
	{"name", GT_UNIT_TEXT,
         "Kernel, kind of copy or API call; of the program's own time the call after it",
         GT_WORTH_NAME},
	{"range", GT_UNIT_TEXT, "Innermost NVTX range", GT_WORTH_LESSER_NAME},
	{"process", GT_UNIT_TEXT, "Process whose stretch it is", GT_WORTH_LITTLE},
};

static const struct gt_heading span_headings[] = {
	{"start_time_ns", GT_UNIT_TIME, "When the range began, since the recording began",
         GT_WORTH_KEY},
	{"length_ns", GT_UNIT_NS, "Until it had ended, and all that was asked for inside",
         GT_WORTH_KEY},
	{"kernels_ns", GT_UNIT_NS, "On its path: kernels, and graphs as a whole", GT_WORTH_KEY},
	{"copies_ns", GT_UNIT_NS, "On its path: copies and fills"},
	{"launch_ns", GT_UNIT_NS, "On its path: launch latency"},
	{"order_ns", GT_UNIT_NS, "On its path: between work on the GPU, and delays of it"},
	{"calls_ns", GT_UNIT_NS, "On its path: API calls"},
	{"host_ns", GT_UNIT_NS, "On its path: the program's own time", GT_WORTH_KEY},
	{"waits_ns", GT_UNIT_NS,
         "On its path: returns from waits, and waits for what is not known"},
	{"held_ns", GT_UNIT_NS, "On its path: not measured, as gputrace held launches up",
         GT_WORTH_LITTLE},
	{"certain_percent", GT_UNIT_PERCENT, "Share of length_ns that no assumed edge follows",
         GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "Path of the range", GT_WORTH_NAME},
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

/* Name of work that is on a GPU and not shown. */
static const char other_work[] = "other work";

struct figures {
	const struct gt_trace *trace; /* all that happened */
	struct gt_path_account account;
	struct gt_path_changes changes;
	uint64_t top;
};

static void add_share(const struct figures *figures, struct gt_result *result, gt_time part_ns)
{
	gt_result_add_real(result, gt_percent((double)part_ns, (double)figures->account.lasts_ns));
}

/* ---- paths ---- */

static void add_path(const struct figures *figures, struct gt_result *result, gt_id process)
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

static void add_paths(const struct figures *figures, struct gt_result *result)
{
	gt_result_begin(result, "paths", path_headings, GT_COUNT_OF(path_headings));
	for (gt_id i = 0; i < figures->trace->processes.count; i++)
		add_path(figures, result, i);
}

static void add_kinds(const struct figures *figures, struct gt_result *result)
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
		add_share(figures, result, kinds[most].total_ns);
		gt_result_add_count(result, kinds[most].assumed_ns);
	}
}

/* ---- names ---- */

static void add_name(const struct figures *figures, struct gt_result *result,
                     const struct gt_path_key *key)
{
	switch ((enum gt_path_what)key->what) {
	case GT_PATH_WHAT_KERNEL:
		gt_result_add_format(result, "%s", figures->account.kernels.labels[key->name]);
		break;
	case GT_PATH_WHAT_CALL:
		if (key->kind == GT_PATH_OF_HOST)
			gt_result_add_format(result, "before %s",
			                     gt_trace_text(figures->trace, key->name));
		else
			gt_result_add_text(result, gt_trace_text(figures->trace, key->name));
		break;
	case GT_PATH_WHAT_COPY:
		gt_result_add_format(result, "copy %s", gt_copy_kind_name(key->name));
		break;
	case GT_PATH_WHAT_FILL:
		gt_result_add_text(result, "fill");
		break;
	case GT_PATH_WHAT_GRAPH:
		gt_result_add_text(result, "graph launch");
		break;
	case GT_PATH_WHAT_END:
		gt_result_add_text(result, "after the last call");
		break;
	case GT_PATH_WHAT_OTHER:
		gt_result_add_text(result, other_work);
		break;
	}
}

static void add_names(const struct figures *figures, struct gt_result *result)
{
	const struct gt_path_account *account = &figures->account;

	gt_result_begin(result, "by_name", name_headings, GT_COUNT_OF(name_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < account->by_name.count && i < figures->top; i++) {
		const struct gt_path_total *total = &account->by_name.rows[i];

		gt_result_add_text(result, gt_path_kind_name((enum gt_path_kind)total->key.kind));
		gt_result_add_count(result, (int64_t)total->stretches);
		gt_result_add_count(result, total->total_ns);
		add_share(figures, result, total->total_ns);
		add_name(figures, result, &total->key);
	}
	gt_result_top(result, account->by_name.count, figures->top);
}

/* ---- kernels, and their slack ---- */

struct kernel {
	size_t group; /* their count: kernels that are not shown */
	uint64_t calls;
	uint64_t on_path;
	gt_time total_ns;
	gt_time on_path_ns;
	gt_time slack_ns; /* INT64_MAX: none was off the path */
};

static int by_time_on_path(const void *a, const void *b)
{
	const struct kernel *left = a;
	const struct kernel *right = b;

	if (left->on_path_ns != right->on_path_ns)
		return left->on_path_ns < right->on_path_ns ? 1 : -1;
	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->group > right->group) - (left->group < right->group);
}

/* Executions that were asked for in the spans, and how late those off the path could be. */
static void see_kernel(const struct figures *figures, struct kernel *kernels, gt_id row)
{
	const struct gt_kernel *kernel = &figures->trace->kernels.rows[row];
	const gt_id item =
		gt_path_item(&figures->account.path, (struct gt_step){GT_TABLE_kernels, row});
	const gt_time slack_ns = figures->changes.times_ns[2 * item + 1];
	struct kernel *found;

	if (!gt_path_has(&figures->account.path, item) ||
	    gt_path_is_held_up(&figures->account.path, item) ||
	    gt_path_span_of(&figures->account.spans, &figures->account.path, item) == GT_NONE)
		return;
	found = &kernels[gt_path_account_shows(&figures->account, item)
	                         ? gt_kernel_group_of(&figures->account.kernels, kernel)
	                         : figures->account.kernels.count];
	found->calls++;
	found->total_ns += kernel->end_ns - kernel->start_ns;
	if (!gt_path_account_has(&figures->account, item) && slack_ns < found->slack_ns)
		found->slack_ns = slack_ns;
}

/* By time on the path, and behind them those that are not shown as one. */
static struct kernel *find_kernels(struct figures *figures)
{
	const size_t count = figures->account.kernels.count;
	struct kernel *kernels = gt_allocate((count + 1) * sizeof(*kernels));

	for (size_t i = 0; i <= count; i++)
		kernels[i] = (struct kernel){.group = i, .slack_ns = INT64_MAX};
	gt_array_each(const struct gt_path_total, total, &figures->account.by_name) {
		const size_t group =
			total->key.what == GT_PATH_WHAT_OTHER ? count : total->key.name;

		if (total->key.kind != GT_PATH_OF_KERNEL)
			continue;
		kernels[group].on_path = total->stretches;
		kernels[group].on_path_ns = total->total_ns;
	}
	gt_path_changes_slack(&figures->changes, &figures->account.spans);
	for (gt_id i = 0; i < figures->trace->kernels.count; i++)
		see_kernel(figures, kernels, i);
	if (count > 1)
		qsort(kernels, count, sizeof(*kernels), by_time_on_path);
	return kernels;
}

static void add_kernel(const struct figures *figures, const struct kernel *kernel,
                       struct gt_result *result)
{
	const struct gt_kernel_groups *groups = &figures->account.kernels;

	gt_result_add_count(result, (int64_t)kernel->calls);
	gt_result_add_count(result, kernel->total_ns);
	gt_result_add_count(result, (int64_t)kernel->on_path);
	gt_result_add_count(result, kernel->on_path_ns);
	add_share(figures, result, kernel->on_path_ns);
	gt_result_add_count_if(result, kernel->slack_ns != INT64_MAX, kernel->slack_ns);
	gt_result_add_format(result, "%s",
	                     kernel->group < groups->count ? groups->labels[kernel->group]
	                                                   : other_work);
}

static void add_kernels(const struct figures *figures, const struct kernel *kernels,
                        struct gt_result *result)
{
	const size_t count = figures->account.kernels.count;
	uint64_t all = 0;

	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	gt_result_order(result, "on_path_ns");
	for (size_t i = 0; i < count; i++)
		if (kernels[i].calls + kernels[i].on_path > 0 && all++ < figures->top)
			add_kernel(figures, &kernels[i], result);
	if (kernels[count].calls + kernels[count].on_path > 0 && all++ < figures->top)
		add_kernel(figures, &kernels[count], result);
	gt_result_top(result, all, figures->top);
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

static void add_ranges(const struct figures *figures, struct gt_result *result)
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
		add_share(figures, result, ranges[i].total_ns);
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

/* ---- what if ---- */

/* A change, and its name in three parts. */
struct what_if {
	const char *words[3];
	struct gt_path_change change;
	bool *shapes; /* of the change */
};

struct what_ifs {
	gt_array(struct what_if) list;
};

static bool *shapes_of_group(const struct figures *figures, size_t group)
{
	const struct gt_trace *trace = figures->trace;
	bool *shapes = gt_allocate((trace->launch_shapes.count + 1) * sizeof(*shapes));

	for (gt_id i = 0; i < trace->launch_shapes.count; i++)
		shapes[i] = gt_kernel_group_of(&figures->account.kernels,
		                               &(struct gt_kernel){.shape = i}) == group;
	return shapes;
}

static bool fits(const struct gt_trace *trace, const regex_t *regex, gt_id row)
{
	const struct gt_launch_shape *shape = &trace->launch_shapes.rows[row];

	return regexec(regex, gt_shape_text(trace, shape, GT_NAMES_SHORT), 0, NULL, 0) == 0 ||
	       regexec(regex, gt_shape_text(trace, shape, GT_NAMES_FULL), 0, NULL, 0) == 0;
}

static void ask_of_fitting(const struct figures *figures, struct what_ifs *what_ifs,
                           const char *text, const regex_t *regex)
{
	const struct gt_trace *trace = figures->trace;
	bool *shapes = gt_allocate((trace->launch_shapes.count + 1) * sizeof(*shapes));

	for (gt_id i = 0; i < trace->launch_shapes.count; i++)
		shapes[i] = fits(trace, regex, i);
	*gt_array_push(&what_ifs->list) =
		(struct what_if){.words = {"kernels that fit ", text, " take no time"},
	                         .change = {.shapes = shapes},
	                         .shapes = shapes};
}

static void ask_of_kernels(const struct figures *figures, struct what_ifs *what_ifs,
                           const struct kernel *kernels, uint64_t most)
{
	for (size_t i = 0; i < figures->account.kernels.count && i < most; i++) {
		bool *shapes;

		if (kernels[i].on_path == 0)
			return;
		shapes = shapes_of_group(figures, kernels[i].group);
		*gt_array_push(&what_ifs->list) = (struct what_if){
			.words = {"", figures->account.kernels.labels[kernels[i].group],
		                  " takes no time"},
			.change = {.shapes = shapes},
			.shapes = shapes,
		};
	}
}

static void ask_of_waits(const struct figures *figures, struct what_ifs *what_ifs)
{
	enum { MOST = 2 };
	const struct gt_path_account *account = &figures->account;

	for (size_t i = 0; i < account->waits.count && i < MOST; i++) {
		const gt_string function = account->waits.rows[i].function;

		*gt_array_push(&what_ifs->list) = (struct what_if){
			.words = {"", gt_trace_text(figures->trace, function),
		                  " waits for nothing"},
			.change = {.wait_in = function},
		};
	}
}

static void add_change(const struct figures *figures, struct gt_result *result, gt_time length_ns)
{
	const gt_time saved_ns = figures->account.lasts_ns - length_ns;

	gt_result_add_count(result, length_ns);
	gt_result_add_count(result, saved_ns);
	add_share(figures, result, saved_ns);
}

static void add_what_ifs(struct figures *figures, struct gt_result *result,
                         const struct what_ifs *what_ifs)
{
	const size_t spans = figures->account.spans.list.count;
	const size_t count = what_ifs->list.count;
	struct gt_path_change *changes = gt_allocate((count + 1) * sizeof(*changes));
	gt_time *lasts_ns = gt_allocate((count * spans + 1) * sizeof(*lasts_ns));

	for (size_t i = 0; i < count; i++)
		changes[i] = what_ifs->list.rows[i].change;
	gt_path_changes_last(&figures->changes, &figures->account.spans, changes, count, lasts_ns);
	for (size_t i = 0; i < count; i++) {
		const char *const *words = what_ifs->list.rows[i].words;
		gt_time length_ns = 0;

		for (size_t span = 0; span < spans; span++)
			length_ns += lasts_ns[i * spans + span];
		gt_result_add_format(result, "%s%s%s", words[0], words[1], words[2]);
		add_change(figures, result, length_ns);
	}
	gt_array_free(changes);
	gt_array_free(lasts_ns);
}

static void add_changes(struct figures *figures, struct gt_result *result,
                        const struct kernel *kernels, const struct gt_arguments *arguments,
                        const regex_t *regex)
{
	struct what_ifs what_ifs = {0};

	gt_result_begin(result, "what_if", change_headings, GT_COUNT_OF(change_headings));
	gt_result_whole(result);
	if (figures->account.spans.list.count == 0)
		return;
	gt_result_add_text(result, "as it is");
	add_change(figures, result, figures->account.lasts_ns);
	if (regex)
		ask_of_fitting(figures, &what_ifs, arguments->values[KERNEL].text, regex);
	ask_of_kernels(figures, &what_ifs, kernels, arguments->values[KERNELS].number);
	*gt_array_push(&what_ifs.list) = (struct what_if){
		.words = {"launches cost nothing", "", ""}, .change = {.launches = true}};
	if (figures->trace->copies.count + figures->trace->fills.count > 0)
		*gt_array_push(&what_ifs.list) =
			(struct what_if){.words = {"copies and fills run beside all else", "", ""},
		                         .change = {.copies = true}};
	ask_of_waits(figures, &what_ifs);
	add_what_ifs(figures, result, &what_ifs);
	gt_array_each(const struct what_if, what_if, &what_ifs.list)
		gt_array_free(what_if->shapes);
	gt_array_release(&what_ifs.list);
}

/* ---- processes ---- */

/* Where each path stays in its own process there is nothing to tell. */
static void add_processes(const struct figures *figures, struct gt_result *result)
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

/* ---- waits, members and spans ---- */

static void add_waits(const struct figures *figures, struct gt_result *result)
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

static gt_id stream_of(const struct gt_trace *trace, struct gt_step step)
{
	switch (step.table) {
	case GT_TABLE_kernels:
		return trace->kernels.rows[step.row].stream;
	case GT_TABLE_copies:
		return trace->copies.rows[step.row].stream;
	case GT_TABLE_fills:
		return trace->fills.rows[step.row].stream;
	case GT_TABLE_graph_traces:
		return trace->graph_traces.rows[step.row].stream;
	default:
		return GT_NONE;
	}
}

static void add_where(const struct figures *figures, struct gt_result *result, gt_id item)
{
	const struct gt_trace *trace = figures->trace;
	const struct gt_step step = gt_path_step(&figures->account.path, item);
	const gt_id stream = stream_of(trace, step);
	const gt_id thread =
		step.table == GT_TABLE_api_calls ? trace->api_calls.rows[step.row].thread : GT_NONE;

	if (stream < trace->streams.count)
		gt_result_add_format(result, "stream %u", trace->streams.rows[stream].number);
	else if (thread < trace->threads.count)
		gt_result_add_format(result, "thread %u", trace->threads.rows[thread].tid);
	else
		gt_result_add_unknown(result);
}

static void add_members(const struct figures *figures, struct gt_result *result)
{
	const struct gt_path_account *account = &figures->account;

	gt_result_begin(result, "longest_members", member_headings, GT_COUNT_OF(member_headings));
	gt_result_order(result, "duration_ns");
	gt_array_each(const struct gt_path_member, member, &account->longest) {
		const struct gt_path_key key = gt_path_key_of(account, member);

		gt_add_moment(result, figures->trace, member->start_ns);
		gt_result_add_count(result, member->end_ns - member->start_ns);
		add_share(figures, result, member->end_ns - member->start_ns);
		gt_result_add_text(result, gt_path_kind_name(member->kind));
		gt_result_add_text(result, member->assumed ? "assumed" : "recorded");
		add_where(figures, result, member->item);
		add_name(figures, result, &key);
		gt_add_range(result, &account->ranges, gt_path_range_of(account, member));
		gt_add_process(result, figures->trace,
		               gt_path_process(&account->path, member->item));
	}
	gt_result_top(result, account->members, figures->top);
}

static void add_span(const struct figures *figures, struct gt_result *result, size_t number)
{
	const struct gt_path_span *span = &figures->account.spans.list.rows[number];
	const struct gt_path_span_total *total = &figures->account.of_span[number];
	const gt_time *by = total->by_kind_ns;
	const gt_time length_ns = span->window.end_ns - span->window.start_ns;

	gt_add_moment(result, figures->trace, span->window.start_ns);
	gt_result_add_count(result, length_ns);
	gt_result_add_count(result, by[GT_PATH_OF_KERNEL] + by[GT_PATH_OF_GRAPH]);
	gt_result_add_count(result, by[GT_PATH_OF_COPY]);
	gt_result_add_count(result, by[GT_PATH_OF_LAUNCH]);
	gt_result_add_count(result, by[GT_PATH_OF_ORDER] + by[GT_PATH_OF_DELAY]);
	gt_result_add_count(result, by[GT_PATH_OF_CALL]);
	gt_result_add_count(result, by[GT_PATH_OF_HOST]);
	gt_result_add_count(result, by[GT_PATH_OF_RETURN] + by[GT_PATH_OF_WAIT]);
	gt_result_add_count(result, by[GT_PATH_OF_HELD]);
	gt_result_add_real(result, gt_percent((double)total->certain_ns, (double)length_ns));
	gt_add_range(result, &figures->account.ranges, span->range);
}

static void add_spans(const struct figures *figures, struct gt_result *result)
{
	const size_t count = figures->account.spans.list.count;

	gt_result_begin(result, "each", span_headings, GT_COUNT_OF(span_headings));
	for (size_t i = 0; figures->account.spans.of_range && i < count; i++)
		add_span(figures, result, i);
}

/* ---- remarks ---- */

static void add_empty_remarks(const struct figures *figures, struct gt_result *result)
{
	if (figures->account.spans.list.count > 0)
		return;
	gt_result_remark_empty(
		result, figures->account.spans.of_range
				? "Nothing was called in the chosen ranges that was recorded."
				: "Neither API calls nor work on a GPU were recorded.");
}

/* Launches whose counters were read, and calls in which memory was copied for a replay. */
static void add_held_remark(const struct figures *figures, struct gt_result *result)
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

static void add_process_remark(const struct figures *figures, struct gt_result *result)
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

static void add_remarks(const struct figures *figures, struct gt_result *result)
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
	struct figures figures = {.trace = gt_whole_of(view->trace),
	                          .top = arguments->values[TOP].number};
	struct kernel *kernels;
	regex_t regex;

	if (*pattern && compile(&regex, pattern, err) < 0)
		return -EINVAL;
	gt_path_account_init(&figures.account, figures.trace, &shown,
	                     strcmp(arguments->values[ASSUME].text, "yes") == 0, figures.top);
	gt_path_changes_init(&figures.changes, &figures.account.path);
	kernels = find_kernels(&figures);
	add_paths(&figures, result);
	add_kinds(&figures, result);
	add_changes(&figures, result, kernels, arguments, *pattern ? &regex : NULL);
	add_names(&figures, result);
	add_kernels(&figures, kernels, result);
	add_ranges(&figures, result);
	add_processes(&figures, result);
	add_waits(&figures, result);
	add_members(&figures, result);
	add_spans(&figures, result);
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
