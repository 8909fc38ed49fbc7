/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "analysis/energy/boards.h"
#include "analysis/figures.h"
#include "analysis/kernels/groups.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/energy/tables.h"
#include "analysis/result.h"
#include "analysis/time/busy.h"
#include "analysis/time/profiled.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_parameter parameters[] = {
	{"by", GT_PARAMETER_CHOICE, "name", "Property by which kernels are counted together",
         gt_group_words},
	{0},
};

enum { BY }; /* arguments, as above */

static void add_remarks(struct gt_result *result, const struct gt_boards *boards)
{
	const gt_time interval_ns = gt_boards_interval(boards);

	if (interval_ns == 0) {
		gt_result_remark_empty(
			result,
			"No energy or power was sampled twice: telemetry was off, NVML does not "
			"tell it of this GPU, or the program was shorter than its interval. "
			"gputrace run --telemetry 100ms samples it.");
		return;
	}
	gt_result_remark(result, "Energy is the whole board's, whoever used it: other processes "
	                         "draw power too.");
	gt_result_remark_on(
		result, "at_most_joules shared_joules alone_watts",
		"Samples are %s apart. Work between two of them is taken to draw the same power, so "
		"kernels of one interval are not told apart; at_most does without that.",
		gt_figure_ns(interval_ns).text);
	if (!gt_trace_has_work(boards->trace))
		gt_result_remark(result, "No GPU activity was recorded: which joules were active "
		                         "is not known.");
	gt_remark_whole_graphs(result, boards->trace, "active_joules");
	gt_remark_not_measured(result, boards->trace, "active_joules");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_boards boards;

	(void)err;
	gt_boards_init(&boards, view);
	gt_add_energy_devices(result, &boards, view);
	gt_add_energy_work(result, &boards, arguments->values[BY].text);
	(void)gt_result_detail_if_unknown(result, "at_most_joules");
	gt_add_energy_ranges(result, &boards);
	(void)gt_result_detail_if_unknown(result, "at_most_joules");
	gt_add_energy_steps(result, &boards, view);
	(void)gt_result_detail_if_unknown(result, "mean_joules");
	add_remarks(result, &boards);
	gt_boards_release(&boards);
	return 0;
}

const struct gt_report gt_report_energy = {
	.name = "energy",
	.summary = "Joules of each GPU, kernel, NVTX range and step",
	.parameters = parameters,
	.run = run,
};
