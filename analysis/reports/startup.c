/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/startup/startup.h"

#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/time/profiled.h"
#include "base/units.h"
#include "model/trace.h"
#include "model/whole.h"

static const struct gt_heading process_headings[] = {
	{"startup_ns", GT_UNIT_NS, "From the start of the process to its first steady step",
         GT_WORTH_KEY},
	{"before_ns", GT_UNIT_NS,
         "Part of it before the process used CUDA (cuInit), when recording began", GT_WORTH_KEY},
	{"steps", GT_UNIT_COUNT, "Steps before the steady one"},
	{"first_step_ns", GT_UNIT_NS, "Wall time of the first of all steps", GT_WORTH_KEY},
	{"median_ns", GT_UNIT_NS, "Median of all its steps", .label = "median_step"},
	{"until", GT_UNIT_TEXT, "The step, or kernel, whose begin ends start-up", GT_WORTH_NAME},
	{"process", GT_UNIT_TEXT, "Name of the program and process id", GT_WORTH_NAME},
};

static const struct gt_heading part_headings[] = {
	{"wall_ns", GT_UNIT_NS, "Time in which this was the first of these parts that went on",
         GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "wall_ns of startup_ns", GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "CUDA calls of it that began meanwhile, without those in others"},
	{"part", GT_UNIT_TEXT, "Activity of the process", GT_WORTH_NAME},
	{"process", GT_UNIT_TEXT, "Name of the program and process id", GT_WORTH_LESSER_NAME},
};

static const struct gt_heading saving_headings[] = {
	{"could_save_ns", GT_UNIT_NS, "At most; one of these can be part of another", GT_WORTH_KEY},
	{"count", GT_UNIT_COUNT, "How many modules, steps or launches that are"},
	{"cause", GT_UNIT_TEXT, "Reason for the time", GT_WORTH_NAME},
	{"process", GT_UNIT_TEXT, "Name of the program and process id", GT_WORTH_LESSER_NAME},
	{"remedy", GT_UNIT_TEXT, "Change that would save it", GT_WORTH_PROSE},
};

struct report {
	const struct gt_trace *trace;
	const struct gt_startups *startups;
	struct gt_result *result;
};

static bool is_shown(const struct report *report, const struct gt_startup *row)
{
	return gt_whole_shown(report->trace, GT_TABLE_processes, row->process) != GT_NONE;
}

static void add_process(const struct report *report, const struct gt_startup *row)
{
	gt_add_process(report->result, report->trace,
	               gt_whole_shown(report->trace, GT_TABLE_processes, row->process));
}

static int64_t length_of(const struct gt_startup *row)
{
	return row->until_ns > row->start_ns ? row->until_ns - row->start_ns : 0;
}

static void add_until(const struct report *report, const struct gt_startup *row)
{
	switch (row->until) {
	case GT_STARTUP_STEP:
		gt_result_add_format(report->result, "step %llu of %s",
		                     (unsigned long long)row->steps + 1, report->startups->path);
		return;
	case GT_STARTUP_KERNEL:
		gt_result_add_text(report->result, "first kernel");
		return;
	case GT_STARTUP_END:
		break;
	}
	gt_result_add_text(report->result, "end: no kernel ran");
}

static void add_processes(const struct report *report)
{
	gt_result_begin(report->result, "startup", process_headings, GT_COUNT_OF(process_headings));
	gt_array_each(const struct gt_startup, row, &report->startups->rows) {
		const bool has_steps = row->until == GT_STARTUP_STEP;

		if (!is_shown(report, row))
			continue;
		gt_result_add_count(report->result, length_of(row));
		gt_result_add_count_if(report->result, row->start_known,
		                       (int64_t)row->parts[GT_STARTUP_before]);
		gt_result_add_count_if(report->result, has_steps, (int64_t)row->steps);
		gt_result_add_count_if(report->result, has_steps, (int64_t)row->first_step_ns);
		gt_result_add_count_if(report->result, has_steps, (int64_t)row->median_ns);
		add_until(report, row);
		add_process(report, row);
	}
}

static bool has_calls(enum gt_startup_part part)
{
	return part != GT_STARTUP_before && part != GT_STARTUP_driver && part != GT_STARTUP_host;
}

/* Without calls it is not known what a process did; that it did not yet use CUDA is. */
static void add_parts(const struct report *report)
{
	gt_result_begin(report->result, "parts", part_headings, GT_COUNT_OF(part_headings));
	gt_array_each(const struct gt_startup, row, &report->startups->rows)
		for (enum gt_startup_part part = 0; part < GT_STARTUP_PARTS; part++) {
			if (!is_shown(report, row) || row->parts[part] == 0)
				continue;
			gt_result_add_count(report->result, (int64_t)row->parts[part]);
			gt_result_add_real(report->result, gt_percent((double)row->parts[part],
			                                              (double)length_of(row)));
			gt_result_add_count_if(report->result, has_calls(part),
			                       (int64_t)row->calls[part]);
			gt_result_add_text(report->result, gt_startup_part_name(part));
			add_process(report, row);
		}
}

static void add_saving(const struct report *report, const struct gt_startup *row, uint64_t ns,
                       uint64_t count, const char *cause, const char *remedy)
{
	if (ns == 0)
		return;
	gt_result_add_count(report->result, (int64_t)ns);
	gt_result_add_count(report->result, (int64_t)count);
	gt_result_add_text(report->result, cause);
	add_process(report, row);
	gt_result_add_text(report->result, remedy);
}

static void add_savings(const struct report *report)
{
	gt_result_begin(report->result, "savings", saving_headings, GT_COUNT_OF(saving_headings));
	gt_array_each(const struct gt_startup, row, &report->startups->rows) {
		if (!is_shown(report, row))
			continue;
		add_saving(report, row, row->beyond_ns, row->steps,
		           "steps before the steady one, beyond the median",
		           "Run a few steps before work that counts: what they load and choose is "
		           "there then.");
		add_saving(report, row, row->jit_ns, row->jit_modules,
		           "compiling code at run time, or getting it out of the cache",
		           "Build machine code for this GPU (nvcc -gencode), or keep the driver's "
		           "cache (CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE).");
		add_saving(report, row, row->unused_ns, row->unused_modules,
		           "loading modules of which nothing was launched",
		           "CUDA_MODULE_LOADING=LAZY loads code when it is first needed.");
		add_saving(report, row, row->alone_ns, row->alone_kernels,
		           "kernels that ran before the steady step alone",
		           "They initialise, or are trials of an autotuner: keep its choice "
		           "(cuDNN's benchmark mode, Triton's and torch.compile's caches).");
	}
}

static void add_remarks(const struct report *report)
{
	const struct gt_startups *startups = report->startups;
	bool without_steps = false;
	bool unknown = false;

	gt_array_each(const struct gt_startup, row, &startups->rows) {
		if (!is_shown(report, row))
			continue;
		without_steps = without_steps || row->until != GT_STARTUP_STEP;
		unknown = unknown || !row->start_known;
	}
	if (without_steps)
		gt_result_remark(report->result,
		                 "A process without steps (report steps) is started up when its "
		                 "first kernel begins: --range NAME says which range is a step.");
	if (unknown)
		gt_result_remark(
			report->result,
			"When some process started is not known: its start-up begins where "
			"its recording does.");
	if (!gt_trace_has_calls(report->trace))
		gt_result_remark(report->result,
		                 "%s: what processes did after recording began is not known.",
		                 gt_no_calls(report->trace));
	else if (!startups->knows_modules)
		gt_result_remark(report->result,
		                 "No loadings of code were recorded: code that was loaded in other "
		                 "calls counts as these.");
	gt_remark_held_up(report->result, report->trace);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_startups startups;
	const struct report report = {view->trace, &startups, result};

	(void)arguments;
	(void)err;
	gt_startups_init(&startups, view);
	add_processes(&report);
	add_parts(&report);
	add_savings(&report);
	add_remarks(&report);
	gt_startups_release(&startups);
	return 0;
}

const struct gt_report gt_report_startup = {
	.name = "startup",
	.summary = "The time from the start of a process to its first steady step",
	.run = run,
};
