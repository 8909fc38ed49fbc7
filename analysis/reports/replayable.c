/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/kernels/groups.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/timed.h"

/*
 * Which launches can be run again: those that were captured, and of the kernels what is known of
 * whether they could be.
 */

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"launches", GT_UNIT_COUNT, "Executions of it", GT_WORTH_KEY},
	{"nodes", GT_UNIT_COUNT,
         "Nodes of CUDA graphs among them, which are captured with all of a launch of their graph",
         GT_WORTH_KEY},
	{"captured", GT_UNIT_COUNT, "Captured ones: gputrace replay runs them again", GT_WORTH_KEY},
	{"refused", GT_UNIT_COUNT, "Those that were chosen to be captured, and refused",
         GT_WORTH_KEY},
	{"clusters", GT_UNIT_COUNT, "Those that were launched in clusters of blocks",
         GT_WORTH_LITTLE},
	{"cooperative", GT_UNIT_COUNT, "Those that were launched by a call for cooperative kernels",
         GT_WORTH_LITTLE},
	{"profiled", GT_UNIT_COUNT, "Those that ran several times for their counters",
         GT_WORTH_LITTLE},
	{"code", GT_UNIT_TEXT,
         "Whether the recording has the code of a module with a function of that name",
         GT_WORTH_ORDINARY},
	{"full_name", GT_UNIT_TEXT, "As the compiler mangled it", GT_WORTH_DATA},
	{"replay", GT_UNIT_TEXT, "How it can be run again, or why it cannot", GT_WORTH_PROSE},
};

static const struct gt_heading captured_headings[] = {
	{"kernel", GT_UNIT_TEXT,
         "Name; of a sequence the range that it is an occurrence of; of a CUDA graph that",
         GT_WORTH_NAME},
	{"process", GT_UNIT_COUNT, "Process id", GT_WORTH_LITTLE, .label = "pid"},
	{"number", GT_UNIT_COUNT,
         "Number among the launches chosen by name and range, or the range's occurrences, from 1",
         GT_WORTH_KEY},
	{"steps", GT_UNIT_COUNT,
         "Steps of a sequence or a launch of a CUDA graph: launches, copies, fills and their order",
         GT_WORTH_ORDINARY},
	{"held_ns", GT_UNIT_NS,
         "For which the program was held up; of a sequence, how long it took so",
         GT_WORTH_ORDINARY},
	{"start_time_ns", GT_UNIT_TIME, "When it began on the GPU, since the recording began",
         GT_WORTH_ORDINARY},
	{"duration_ns", GT_UNIT_NS, "How long it ran, after a pause of the GPU", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BYTES, "That its bundle takes on disk", GT_WORTH_KEY},
	{"bundle", GT_UNIT_TEXT, "Its folder in launches/ of the recording", GT_WORTH_LESSER_NAME},
	{"reason", GT_UNIT_TEXT, "Why it was refused", GT_WORTH_PROSE},
};

static const struct gt_parameter parameters[] = {
	{"kernels", GT_PARAMETER_ROWS, "20", "Kernels that are listed, most launches first"},
	{"launches", GT_PARAMETER_ROWS, "20", "Launches that were captured or refused"},
	{0},
};

enum { KERNELS, LAUNCHES }; /* arguments, as above */

/* The kernels of one name. */
struct group {
	size_t number;
	const char *label;
	uint64_t launches;
	uint64_t nodes;
	uint64_t captured;
	uint64_t refused;
	uint64_t clusters;
	uint64_t cooperative;
	uint64_t profiled;
	gt_id reason; /* the last of captured_launches that was refused; GT_NONE */
	bool code;
};

struct tally {
	const struct gt_trace *trace;
	struct gt_kernel_groups groups;
	struct group *all; /* by number */
};

static bool is_node(const struct gt_kernel *kernel)
{
	return kernel->graph != 0 || kernel->graph_node != 0 || kernel->node != GT_NONE;
}

static bool has_clusters(const struct gt_trace *trace, const struct gt_kernel *kernel)
{
	return kernel->shape < trace->launch_shapes.count &&
	       trace->launch_shapes.rows[kernel->shape].cluster_x > 0;
}

static bool is_cooperative(const struct gt_trace *trace, const struct gt_kernel *kernel)
{
	const char *name =
		kernel->api_call < trace->api_calls.count
			? gt_trace_text(trace, trace->api_calls.rows[kernel->api_call].function)
			: "";

	return strstr(name, "Cooperative") != NULL;
}

static void count_kernel(struct tally *tally, const struct gt_kernel *kernel)
{
	struct group *group = &tally->all[gt_kernel_group_of(&tally->groups, kernel)];

	group->launches++;
	group->nodes += is_node(kernel);
	group->clusters += has_clusters(tally->trace, kernel);
	group->cooperative += is_cooperative(tally->trace, kernel);
	group->profiled += (kernel->flags & GT_PROFILED) != 0;
}

static const struct gt_kernel *kernel_of(const struct gt_trace *trace,
                                         const struct gt_captured_launch *launch)
{
	return launch->kernel < trace->kernels.count ? &trace->kernels.rows[launch->kernel] : NULL;
}

static bool is_refused(const struct gt_trace *trace, const struct gt_captured_launch *launch)
{
	return *gt_trace_text(trace, launch->bundle) == '\0';
}

static void count_captured(struct tally *tally, size_t row)
{
	const struct gt_captured_launch *launch = &tally->trace->captured_launches.rows[row];
	const struct gt_kernel *kernel = kernel_of(tally->trace, launch);
	struct group *group;

	if (!kernel)
		return;
	group = &tally->all[gt_kernel_group_of(&tally->groups, kernel)];
	if (is_refused(tally->trace, launch)) {
		group->refused++;
		group->reason = (gt_id)row;
	} else {
		group->captured++;
	}
}

/* The group that a function of a kept module belongs to, by its name. */
static void note_code(struct tally *tally)
{
	const struct gt_trace *trace = tally->trace;

	gt_array_each(const struct gt_function, function, &trace->functions) {
		if (function->module >= trace->modules.count ||
		    *gt_trace_text(trace, trace->modules.rows[function->module].file) == '\0')
			continue;
		for (size_t i = 0; i < tally->groups.count; i++) {
			const gt_id shape = tally->groups.shapes[i];

			if (shape < trace->launch_shapes.count &&
			    trace->launch_shapes.rows[shape].name == function->name)
				tally->all[i].code = true;
		}
	}
}

static void tally_init(struct tally *tally, const struct gt_trace *trace)
{
	tally->trace = trace;
	gt_kernel_groups_init(&tally->groups, trace, GT_BY_NAME);
	tally->all = gt_allocate(tally->groups.count * sizeof(*tally->all));
	for (size_t i = 0; i < tally->groups.count; i++)
		tally->all[i] = (struct group){
			.number = i, .label = tally->groups.labels[i], .reason = GT_NONE};
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		count_kernel(tally, kernel);
	for (size_t i = 0; i < trace->captured_launches.count; i++)
		count_captured(tally, i);
	note_code(tally);
}

static void tally_release(struct tally *tally)
{
	gt_kernel_groups_release(&tally->groups);
	gt_array_free(tally->all);
}

static int by_launches(const void *a, const void *b)
{
	const struct group *left = a;
	const struct group *right = b;

	if (left->launches != right->launches)
		return left->launches < right->launches ? 1 : -1;
	return strcmp(left->label, right->label);
}

static const char *full_name(const struct tally *tally, const struct group *group)
{
	const gt_id shape = tally->groups.shapes[group->number];

	return shape < tally->trace->launch_shapes.count
	               ? gt_trace_text(tally->trace, tally->trace->launch_shapes.rows[shape].name)
	               : "";
}

/* The verdict that says most comes first. */
static void add_verdict(struct gt_result *result, const struct tally *tally,
                        const struct group *group)
{
	const struct gt_trace *trace = tally->trace;

	if (group->captured > 0)
		gt_result_add_text(result, "captured: gputrace replay runs it again");
	else if (group->reason != GT_NONE)
		gt_result_add_format(
			result, "refused: %s",
			gt_trace_text(trace, trace->captured_launches.rows[group->reason].reason));
	else
		gt_result_add_text(result, "if it is captured");
}

static void add_kernel(struct gt_result *result, const struct tally *tally,
                       const struct group *group)
{
	gt_result_add_format(result, "%s", group->label);
	gt_result_add_count(result, (int64_t)group->launches);
	gt_result_add_count(result, (int64_t)group->nodes);
	gt_result_add_count(result, (int64_t)group->captured);
	gt_result_add_count(result, (int64_t)group->refused);
	gt_result_add_count(result, (int64_t)group->clusters);
	gt_result_add_count(result, (int64_t)group->cooperative);
	gt_result_add_count(result, (int64_t)group->profiled);
	gt_result_add_text(result, group->code ? "kept" : "not kept");
	gt_result_add_text(result, full_name(tally, group));
	add_verdict(result, tally, group);
}

static void add_kernels(struct gt_result *result, const struct tally *tally, uint64_t top)
{
	uint64_t count = 0;

	qsort(tally->all, tally->groups.count, sizeof(*tally->all), by_launches);
	gt_result_begin(result, "kernels", kernel_headings,
	                sizeof(kernel_headings) / sizeof(kernel_headings[0]));
	gt_result_order(result, "launches");
	for (size_t i = 0; i < tally->groups.count; i++)
		count += tally->all[i].launches > 0;
	gt_result_top(result, count, top);
	for (size_t i = 0; i < count && i < top; i++)
		add_kernel(result, tally, &tally->all[i]);
}

static void add_what(struct gt_result *result, const struct tally *tally,
                     const struct gt_captured_launch *launch)
{
	const struct gt_kernel *kernel = kernel_of(tally->trace, launch);
	const char *range = gt_trace_text(tally->trace, launch->range);
	const char *node = gt_trace_text(tally->trace, launch->node);

	if (*range)
		gt_result_add_format(result, "range %s", range);
	else if (strcmp(node, "*") == 0)
		gt_result_add_text(result, "CUDA graph");
	else
		gt_result_add_format(
			result, "%s",
			kernel ? tally->groups.labels[gt_kernel_group_of(&tally->groups, kernel)]
			       : node);
}

static void add_launch(struct gt_result *result, const struct tally *tally,
                       const struct gt_captured_launch *launch)
{
	const struct gt_trace *trace = tally->trace;
	const struct gt_kernel *kernel = kernel_of(trace, launch);
	const bool refused = is_refused(trace, launch);
	const bool timed =
		kernel && gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns);

	add_what(result, tally, launch);
	gt_result_add_count_if(result, launch->process < trace->processes.count,
	                       launch->process < trace->processes.count
	                               ? trace->processes.rows[launch->process].pid
	                               : 0);
	gt_result_add_count_if(result, launch->number > 0, (int64_t)launch->number);
	gt_result_add_count_if(
		result, *gt_trace_text(trace, launch->range) || *gt_trace_text(trace, launch->node),
		(int64_t)launch->steps);
	gt_result_add_count(result, launch->end_ns - launch->start_ns);
	if (timed)
		gt_add_moment(result, trace, kernel->start_ns);
	else
		gt_result_add_unknown(result);
	gt_result_add_count_if(result, timed, timed ? kernel->end_ns - kernel->start_ns : 0);
	gt_result_add_count_if(result, !refused, (int64_t)launch->bytes);
	gt_result_add_text(result, gt_trace_text(trace, launch->bundle));
	gt_result_add_text(result, gt_trace_text(trace, launch->reason));
}

static void add_launches(struct gt_result *result, const struct tally *tally, uint64_t top)
{
	const struct gt_trace *trace = tally->trace;

	gt_result_begin(result, "captured", captured_headings,
	                sizeof(captured_headings) / sizeof(captured_headings[0]));
	gt_result_top(result, trace->captured_launches.count, top);
	for (size_t i = 0; i < trace->captured_launches.count && i < top; i++)
		add_launch(result, tally, &trace->captured_launches.rows[i]);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct tally tally;

	(void)err;
	tally_init(&tally, view->trace);
	add_launches(result, &tally, arguments->values[LAUNCHES].number);
	add_kernels(result, &tally, arguments->values[KERNELS].number);
	if (view->trace->captured_launches.count == 0)
		gt_result_remark(
			result,
			"No launch was captured: gputrace run --capture-kernels REGEX does, and "
			"--capture-sequence NAME of a range or --capture-graphs; gputrace replay runs what was "
			"captured again.");
	gt_result_remark(
		result,
		"The memory that a launch uses is not known before it is captured: memory of "
		"other GPUs and processes, sparse arrays and arrays of others' memory are "
		"refused then, with the reason.");
	tally_release(&tally);
	return 0;
}

const struct gt_report gt_report_replayable = {
	.name = "replayable",
	.summary = "Which launches can be replayed, and why not the others",
	.parameters = parameters,
	.run = run,
};
