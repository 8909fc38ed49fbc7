/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/top/tables.h"

#include <math.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "analysis/top/top.h"
#include "model/naming/job_rank.h"

static const struct gt_heading window_headings[] = {
	{"from_time_ns", GT_UNIT_TIME, "When the window of the figures begins"},
	{"to_time_ns", GT_UNIT_TIME, "When it ends: newer records may not have been fetched"},
	{"now_time_ns", GT_UNIT_TIME, "When the recording was read"},
	{"asked_ns", GT_UNIT_NS, "Length of the window that was asked for"},
	{"running", GT_UNIT_COUNT, "Processes that run"},
	{"paused", GT_UNIT_COUNT, "Processes of these in which recording is paused"},
};

static const struct gt_heading gpu_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"busy_percent", GT_UNIT_PERCENT, "busy_ns of known_ns", GT_WORTH_KEY},
	{"busy_ns", GT_UNIT_NS, "Time in which at least one kernel or whole graph ran",
         GT_WORTH_LITTLE},
	{"known_ns", GT_UNIT_NS, "Part of the window in which it is known what ran",
         GT_WORTH_LITTLE},
	{"kernels", GT_UNIT_COUNT, "Kernels with times that began in the window", GT_WORTH_KEY},
	{"kernel_ns", GT_UNIT_NS, "Sum of their times", GT_WORTH_LITTLE},
	{"copies", GT_UNIT_COUNT, "Copies with times that began in the window"},
	{"copied_bytes", GT_UNIT_BYTES, "Bytes of these copies", GT_WORTH_LITTLE},
	{"copied_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "copied_bytes / known_ns",
         GT_WORTH_KEY},
	{"memory_bytes", GT_UNIT_BYTES, "Memory on it that recorded calls have allocated, now",
         GT_WORTH_KEY},
	{"power_w", GT_UNIT_WATTS, "Power of the board, as sampled last", GT_WORTH_KEY},
	{"may_run", GT_UNIT_TEXT, "Work that has not ended and may run", GT_WORTH_LESSER_NAME},
	{"may_run_ns", GT_UNIT_NS, "Since that may have begun"},
};

static const struct gt_heading kernel_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "Executions with times that began in the window", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of their times", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of that of all kernels on the GPU",
         GT_WORTH_KEY},
	{"kernel", GT_UNIT_TEXT, "Function", GT_WORTH_NAME},
};

static const struct gt_heading process_headings[] = {
	{"rank", GT_UNIT_COUNT, "In its job", GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Program and process id", GT_WORTH_KEY},
	{"state", GT_UNIT_TEXT, "recording, paused or ended", GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "Launches of kernels and graphs in the window",
         GT_WORTH_LITTLE},
	{"launches_per_second", GT_UNIT_REAL, "Launches / time in which it was recorded",
         GT_WORTH_KEY},
	{"steps", GT_UNIT_COUNT, "Steps that ended in the window", GT_WORTH_KEY},
	{"steps_per_second", GT_UNIT_REAL, "Steps / time in which it was recorded", GT_WORTH_KEY},
	{"step_ns", GT_UNIT_NS, "Mean wall time of these steps; else that of the last that ended",
         GT_WORTH_KEY},
	{"losses", GT_UNIT_COUNT, "Records that are lost, since it began", GT_WORTH_KEY, true},
	{"pid", GT_UNIT_COUNT, "Its process id", GT_WORTH_DATA},
	{"step", GT_UNIT_TEXT, "Range that is a step", GT_WORTH_NAME},
};

static void add_window(struct gt_result *result, const struct gt_top *top)
{
	gt_add_moment(result, top->trace, top->window.start_ns);
	gt_add_moment(result, top->trace, top->window.end_ns);
	gt_add_moment(result, top->trace, top->now_ns);
	gt_result_add_count(result, top->asked.end_ns - top->asked.start_ns);
	gt_result_add_count(result, (int64_t)top->running);
	gt_result_add_count(result, (int64_t)top->paused);
}

static void add_may_run(struct gt_result *result, const struct gt_top *top, gt_id device)
{
	const struct gt_may_run *may_run = &top->may_run[device];

	if (may_run->since_ns >= top->window.end_ns) {
		gt_result_add_unknowns(result, 2);
		return;
	}
	gt_result_add_copy(result, may_run->name);
	gt_result_add_count_if(result, may_run->since_ns > 0, top->now_ns - may_run->since_ns);
}

static void add_gpu(struct gt_result *result, const struct gt_top *top, gt_id device)
{
	const struct gt_top_device *row = &top->devices[device];
	const bool known = row->known_ns > 0;

	gt_add_device(result, top->trace, device);
	gt_result_add_real(result, gt_percent((double)row->busy_ns, (double)row->known_ns));
	gt_result_add_count_if(result, known, (int64_t)row->busy_ns);
	gt_result_add_count(result, (int64_t)row->known_ns);
	gt_result_add_count_if(result, known, (int64_t)row->kernels);
	gt_result_add_count_if(result, known, (int64_t)row->kernel_ns);
	gt_result_add_count_if(result, known, (int64_t)row->copies);
	gt_result_add_count_if(result, known, (int64_t)row->copied_bytes);
	gt_result_add_real(result, known ? gt_bytes_per_second((double)row->copied_bytes,
	                                                       (double)row->known_ns)
	                                 : NAN);
	gt_result_add_count_if(result, row->memory_bytes >= 0, row->memory_bytes);
	gt_result_add_real(result, row->watts);
	add_may_run(result, top, device);
}

static void add_kernels(struct gt_result *result, const struct gt_top *top, size_t rows)
{
	const struct gt_top_kernel *all = top->kernels.rows;
	size_t shown = 0; /* of the GPU */
	uint64_t more = 0;

	for (size_t i = 0; i < top->kernels.count; i++) {
		shown = i > 0 && all[i].device == all[i - 1].device ? shown + 1 : 0;
		if (shown >= rows) {
			more++;
			continue;
		}
		gt_add_device_number(result, top->trace, all[i].device);
		gt_result_add_count(result, (int64_t)all[i].calls);
		gt_result_add_count(result, (int64_t)all[i].total_ns);
		gt_result_add_real(result,
		                   gt_percent((double)all[i].total_ns,
		                              (double)top->devices[all[i].device].kernel_ns));
		gt_result_add_copy(result, top->groups.labels[all[i].group]);
	}
	if (more > 0)
		gt_result_remark(result, "%s more kernels ran: --limit ROWS shows more of them.",
		                 gt_grouped(more).text);
}

static const char *state_of(const struct gt_top *top, gt_id process)
{
	if (top->trace->processes.rows[process].ended != GT_END_RUNNING)
		return "ended";
	return top->processes[process].paused ? "paused" : "recording";
}

static double per_second(uint64_t count, uint64_t duration_ns)
{
	return duration_ns ? (double)count / ((double)duration_ns / 1e9) : NAN;
}

/* "train/step", where the program has steps. */
static void add_step_name(struct gt_result *result, const struct gt_top *top)
{
	char name[GT_RANGE_PATH_BYTES];

	gt_steps_name(&top->steps, name);
	gt_result_add_copy(result, name);
}

static void add_steps(struct gt_result *result, const struct gt_top_process *row)
{
	const bool known = row->last_step_ns >= 0 && row->known_ns > 0;

	gt_result_add_count_if(result, known, (int64_t)row->steps);
	gt_result_add_real(result, known ? per_second(row->steps, row->known_ns) : NAN);
	gt_result_add_count_if(result, row->last_step_ns >= 0,
	                       row->steps ? (int64_t)(row->steps_ns / row->steps)
	                                  : row->last_step_ns);
}

static void add_process(struct gt_result *result, const struct gt_top *top, gt_id process)
{
	const struct gt_process *of = &top->trace->processes.rows[process];
	const struct gt_top_process *row = &top->processes[process];
	const struct gt_job_rank rank = gt_job_rank_of(top->trace, of);
	const bool known = row->has_calls && row->known_ns > 0;

	gt_result_add_count_if(result, rank.rank >= 0, rank.rank);
	gt_add_process(result, top->trace, process);
	gt_result_add_text(result, state_of(top, process));
	gt_result_add_count_if(result, known, (int64_t)row->launches);
	gt_result_add_real(result, known ? per_second(row->launches, row->known_ns) : NAN);
	add_steps(result, row);
	gt_result_add_count_if(result, row->losses >= 0, row->losses);
	gt_result_add_count_if(result, of->pid > 0, of->pid);
	if (row->last_step_ns >= 0)
		add_step_name(result, top);
	else
		gt_result_add_unknown(result);
}

/* One that ended before the window says nothing of it. */
static bool is_shown(const struct gt_top *top, gt_id process)
{
	const struct gt_process *row = &top->trace->processes.rows[process];

	return row->ended == GT_END_RUNNING || row->end_ns >= top->window.start_ns;
}

static void remark_window(struct gt_result *result, const struct gt_top *top)
{
	const gt_time known_ns = top->window.end_ns - top->window.start_ns;

	if (top->running > 0)
		gt_result_remark(result,
		                 "Figures are of %s, which ended %s ago: records of later work may "
		                 "not have been fetched.",
		                 gt_figure_ns(known_ns).text,
		                 gt_figure_ns(top->now_ns - top->window.end_ns).text);
	else
		gt_result_remark(result, "The program has ended: figures are of its last %s.",
		                 gt_figure_ns(known_ns).text);
	if (top->trace->known_from_ns > top->asked.start_ns)
		gt_result_remark(result,
		                 "Of the %s that were asked for, the rest is not covered: more was "
		                 "recorded than is read at a time.",
		                 gt_figure_ns(top->asked.end_ns - top->asked.start_ns).text);
}

static void remark_unknown(struct gt_result *result, const struct gt_top *top)
{
	bool runs = false;

	for (size_t i = 0; i < top->trace->devices.count; i++)
		runs |= top->may_run[i].since_ns < top->window.end_ns;
	if (runs)
		gt_result_remark_on(result, "busy_percent busy_ns known_ns may_run",
		                    "Work that has not ended may run on a GPU: how busy it was is "
		                    "known until that may have begun.");
	if (top->paused > 0)
		gt_result_remark(result,
		                 "Recording is paused in %zu of %zu processes: nobody knows what "
		                 "ran meanwhile.",
		                 top->paused, top->running);
	if (top->unrecorded_losses > 0)
		gt_result_remark(
			result,
			"Not recorded at all, or of no process that is: %s launches, calls "
			"and processes.",
			gt_grouped((uint64_t)top->unrecorded_losses).text);
	if (top->steps.anchor)
		gt_result_remark_on(result, "steps steps_per_second step_ns",
		                    "Steps are guessed: the same kernels are launched again and "
		                    "again. NVTX ranges around steps say it without a guess.");
}

void gt_top_add_tables(struct gt_result *result, const struct gt_top *top, size_t rows)
{
	gt_result_begin(result, "window", window_headings, GT_COUNT_OF(window_headings));
	gt_result_single(result);
	gt_result_detail(result);
	if (top)
		add_window(result, top);
	gt_result_begin(result, "gpus", gpu_headings, GT_COUNT_OF(gpu_headings));
	for (gt_id i = 0; top && i < top->trace->devices.count; i++)
		add_gpu(result, top, i);
	gt_result_begin(result, "processes", process_headings, GT_COUNT_OF(process_headings));
	for (gt_id i = 0; top && i < top->trace->processes.count; i++)
		if (is_shown(top, i))
			add_process(result, top, i);
	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	if (!top)
		return;
	add_kernels(result, top, rows);
	remark_window(result, top);
	remark_unknown(result, top);
}
