/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/kernels/achieved.h"
#include "analysis/kernels/launch_uses.h"
#include "analysis/report.h"
#include "analysis/reports/occupancy/tables.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"
#include "model/gpu/occupancy_changes.h"
#include "model/naming/shape_names.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading launch_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"device", GT_UNIT_TEXT, "GPU it ran on", GT_WORTH_LITTLE},
	{"grid", GT_UNIT_TEXT, "Blocks of the grid: x, y, z", GT_WORTH_KEY},
	{"block", GT_UNIT_TEXT, "Threads of a block: x, y, z", GT_WORTH_KEY},
	{"cluster", GT_UNIT_TEXT, "Blocks of a cluster: x, y, z; not known without clusters",
         GT_WORTH_LEAST},
	{"registers", GT_UNIT_COUNT, "Registers of a thread", GT_WORTH_LITTLE},
	{"shared_static_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory of a block that the kernel declares", GT_WORTH_LEAST},
	{"shared_dynamic_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory of a block that the launch asked for", GT_WORTH_LEAST},
	{"shared_configured_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory that a multiprocessor was configured to have; not known where CUPTI does "
         "not say",
         GT_WORTH_LEAST},
	{"calls", GT_UNIT_COUNT, "Executions that have a start and an end", GT_WORTH_ORDINARY},
	{"total_ns", GT_UNIT_NS, "Sum of end - start of these executions", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of the total_ns of all kernels",
         GT_WORTH_LITTLE},
	{"occupancy_percent", GT_UNIT_PERCENT,
         "Theoretical: warps that fit on a multiprocessor of those it can hold", GT_WORTH_KEY},
	{"limited_by", GT_UNIT_TEXT, "The limit on blocks of a multiprocessor", GT_WORTH_KEY},
	{"achieved_percent", GT_UNIT_PERCENT,
         "Warps that were on multiprocessors that had any, of those there is room for",
         GT_WORTH_KEY},
	{"achieved_source", GT_UNIT_TEXT,
         "Source of that: kernel counters, PM samples, or nothing: not measured",
         GT_WORTH_ORDINARY},
	{"blocks_per_sm", GT_UNIT_COUNT, "Blocks that fit on a multiprocessor", GT_WORTH_LITTLE},
	{"waves_per_sm", GT_UNIT_REAL,
         "Blocks of the grid / blocks the device holds; below 1: the launch does not fill it",
         GT_WORTH_KEY},
	{"empty_percent", GT_UNIT_PERCENT,
         "Places for blocks in the last wave that stay empty, of all in a wave", GT_WORTH_ORDINARY},
	{"tail_ns", GT_UNIT_NS,
         "Part of total_ns that these stand for if all blocks take equally long; not known up to one "
         "wave",
         GT_WORTH_KEY},
	{"raised_percent", GT_UNIT_PERCENT,
         "Theoretical occupancy with the change in raise; not known where no change is named",
         GT_WORTH_ORDINARY},
	{"blocks_by_warps", GT_UNIT_COUNT, "Blocks that fit by their warps alone", GT_WORTH_LEAST},
	{"blocks_by_registers", GT_UNIT_COUNT, "By their registers alone", GT_WORTH_LEAST},
	{"blocks_by_shared_memory", GT_UNIT_COUNT, "By their shared memory alone", GT_WORTH_LEAST},
	{"blocks_by_blocks", GT_UNIT_COUNT, "Blocks that a multiprocessor holds at most",
         GT_WORTH_LEAST},
	{"blocks_by_barriers", GT_UNIT_COUNT,
         "By their barriers alone; not known where the module was not kept or has none",
         GT_WORTH_LEAST},
	{"multiprocessors", GT_UNIT_COUNT,
         "That it could run on: fewer than the GPU has in a green context", GT_WORTH_LEAST},
	{"raise", GT_UNIT_TEXT, "The first of the changes below", GT_WORTH_LESSER_NAME},
	{"full_name", GT_UNIT_TEXT, "Its name as C++ writes it", GT_WORTH_DATA},
	{"mangled_name", GT_UNIT_TEXT, "The same as the compiler mangled it", GT_WORTH_DATA},
};

static void tally_init(struct gt_occupancy_tally *tally, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;
	struct gt_achieved *achieved;

	*tally = (struct gt_occupancy_tally){.trace = trace};
	gt_launch_uses_init(&tally->uses, trace);
	achieved = gt_achieved_of(view, &tally->uses);
	tally->launches = gt_allocate(tally->uses.count * sizeof(*tally->launches));
	for (size_t i = 0; i < tally->uses.count; i++) {
		const struct gt_launch_use *use = &tally->uses.rows[i];
		const struct gt_device device = gt_launch_use_device(trace, use);
		struct gt_occupancy_launch *launch = &tally->launches[i];

		*launch = (struct gt_occupancy_launch){
			.use = use,
			.occupancy = gt_launch_use_occupancy(trace, use),
			.achieved = achieved[i],
		};
		launch->tail_ns = use->calls ? (double)use->total_ns *
		                                       gt_tail_share(launch->occupancy.waves_per_sm)
		                             : NAN;
		/* Up to one wave no multiprocessor has more blocks than fit already. */
		if (use->shape < trace->launch_shapes.count && launch->occupancy.waves_per_sm > 1)
			launch->change_count = gt_occupancy_changes(
				&device, &trace->launch_shapes.rows[use->shape], launch->changes);
		tally->total_ns += use->total_ns;
	}
	gt_array_free(achieved);
}

static void tally_release(struct gt_occupancy_tally *tally)
{
	gt_launch_uses_release(&tally->uses);
	gt_array_free(tally->launches);
}

static void add_limits(struct gt_result *result, const struct gt_occupancy *occupancy,
                       gt_count barriers)
{
	if (occupancy->limit == GT_LIMIT_UNKNOWN) {
		gt_result_add_unknowns(result, 5);
		return;
	}
	gt_result_add_count(result, occupancy->blocks_by_warps);
	gt_result_add_count(result, occupancy->blocks_by_registers);
	gt_result_add_count(result, occupancy->blocks_by_shared_memory);
	gt_result_add_count(result, occupancy->blocks_by_blocks);
	gt_result_add_count_if(result, barriers > 0, occupancy->blocks_by_barriers);
}

static void add_times(struct gt_result *result, const struct gt_occupancy_tally *tally,
                      const struct gt_launch_use *use)
{
	gt_result_add_count(result, (int64_t)use->calls);
	gt_result_add_count_if(result, use->calls > 0, (int64_t)use->total_ns);
	gt_result_add_real(result,
	                   use->calls ? gt_percent((double)use->total_ns, (double)tally->total_ns)
	                              : NAN);
}

static void add_launch(struct gt_result *result, const struct gt_occupancy_tally *tally,
                       const struct gt_occupancy_launch *launch)
{
	const struct gt_trace *trace = tally->trace;
	const struct gt_launch_use *use = launch->use;
	const struct gt_occupancy *occupancy = &launch->occupancy;
	const bool known = occupancy->limit != GT_LIMIT_UNKNOWN;
	const struct gt_launch_shape none = {0};
	const struct gt_launch_shape *shape = use->shape < trace->launch_shapes.count
	                                              ? &trace->launch_shapes.rows[use->shape]
	                                              : &none;

	gt_result_add_text(result, gt_shape_name(trace, use->shape));
	gt_add_device(result, trace, use->device);
	gt_add_launch(result, trace, use->shape);
	gt_result_add_count_if(result, shape->shared_executed_bytes > 0,
	                       (int64_t)shape->shared_executed_bytes);
	add_times(result, tally, use);
	gt_add_occupancy(result, occupancy);
	gt_result_add_real(result, launch->achieved.percent);
	gt_result_add_text(result, gt_achieved_source_name(launch->achieved.source));
	gt_result_add_count_if(result, known, occupancy->blocks_per_sm);
	gt_result_add_real(result, occupancy->waves_per_sm);
	gt_result_add_real(result, gt_last_wave_empty_percent(occupancy->waves_per_sm));
	gt_add_rounded(result, launch->tail_ns);
	gt_result_add_real(result, launch->change_count ? launch->changes[0].becomes.percent : NAN);
	add_limits(result, occupancy, shape->barriers);
	gt_result_add_count_if(result, use->sm_count > 0, use->sm_count);
	if (launch->change_count)
		gt_occupancy_add_change(result, &launch->changes[0]);
	else
		gt_result_add_unknown(result);
	gt_add_names(result, trace, use->shape);
}

static void add_launches(struct gt_result *result, const struct gt_occupancy_tally *tally)
{
	gt_result_begin(result, "occupancy", launch_headings, GT_COUNT_OF(launch_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < tally->uses.count; i++)
		if (tally->uses.rows[i].calls || tally->uses.rows[i].profiled)
			add_launch(result, tally, &tally->launches[i]);
}

/* Occupancies of the tables that are not what they seem, and why some are not there. */
struct doubts {
	uint64_t launches; /* rows of the first table */
	uint64_t unknown;
	uint64_t not_measured;
	uint64_t unfilled; /* that do not fill the GPU */
	uint64_t clusters;
	uint64_t parts; /* on a part of the GPU */
};

static struct doubts doubts_of(const struct gt_occupancy_tally *tally)
{
	const struct gt_trace *trace = tally->trace;
	struct doubts doubts = {0};

	for (size_t i = 0; i < tally->uses.count; i++) {
		const struct gt_occupancy_launch *launch = &tally->launches[i];
		const struct gt_launch_use *use = launch->use;

		if (!use->calls && !use->profiled)
			continue;
		doubts.launches++;
		doubts.unfilled += launch->occupancy.waves_per_sm <= 1;
		doubts.unknown += launch->occupancy.limit == GT_LIMIT_UNKNOWN;
		doubts.not_measured += launch->achieved.source == GT_ACHIEVED_UNKNOWN;
		doubts.clusters += use->shape < trace->launch_shapes.count &&
		                   trace->launch_shapes.rows[use->shape].cluster_x > 0;
		doubts.parts += use->device < trace->devices.count &&
		                use->sm_count != trace->devices.rows[use->device].sm_count;
	}
	return doubts;
}

static void remark_achieved(struct gt_result *result, const struct gt_occupancy_tally *tally,
                            const struct doubts *doubts, bool by_work)
{
	if (!doubts->not_measured)
		return;
	gt_result_remark(
		result,
		"Achieved occupancy was not measured of %s of %s launch shapes: gputrace run "
		"--kernel-counters=occupancy measures it of single launches, run --counters "
		"samples it of kernels that run for two samples and longer.",
		gt_grouped(doubts->not_measured).text, gt_grouped(doubts->launches).text);
	if (by_work && tally->trace->series.count > 0)
		gt_result_remark(result, "No sample is given to a kernel: of what else ran a part "
		                         "was left out by the options.");
	gt_array_each(const struct gt_note, note, &tally->trace->notes) {
		const char *topic = gt_trace_text(tally->trace, note->topic);

		if (strcmp(topic, "counters") == 0 || strcmp(topic, "kernel_counters") == 0)
			gt_result_remark(result, "Noted: %s.",
			                 gt_trace_text(tally->trace, note->text));
	}
}

static void add_remarks(struct gt_result *result, const struct gt_occupancy_tally *tally,
                        bool by_work)
{
	const struct doubts doubts = doubts_of(tally);

	if (tally->trace->kernels.count == 0) {
		gt_remark_no_kernels(result, tally->trace);
		return;
	}
	if (doubts.unknown)
		gt_result_remark(result,
		                 "The occupancy of %s launch shapes is not known: the limits of "
		                 "their GPU were not recorded, or gputrace does not know its "
		                 "architecture.",
		                 gt_grouped(doubts.unknown).text);
	remark_achieved(result, tally, &doubts, by_work);
	if (doubts.unfilled)
		gt_result_remark_on(
			result, "waves_per_sm raise",
			"%s of %s launch shapes have up to one wave: no change is named "
			"for them, as more blocks fit than the grid has.",
			gt_grouped(doubts.unfilled).text, gt_grouped(doubts.launches).text);
	if (doubts.clusters)
		gt_result_remark_on(result, "waves_per_sm empty_percent tail_ns",
		                    "Blocks of a cluster run on multiprocessors that are "
		                    "neighbours; waves of such launches may be more, as the driver "
		                    "does not say which are.");
	if (doubts.parts)
		gt_result_remark_on(result, "waves_per_sm empty_percent tail_ns",
		                    "%s launch shapes ran in a green context: their waves are of "
		                    "the multiprocessors that it has.",
		                    gt_grouped(doubts.parts).text);
	gt_result_remark_on(
		result, "empty_percent tail_ns",
		"tail_ns is an estimate: the share of total_ns that the empty places "
		"of the last wave are of those of all waves, if all blocks take equally "
		"long and nothing else runs in these places.");
	gt_result_remark_on(
		result, "raise raised_percent",
		"Changes are worked out with the calculator that gives the occupancy, "
		"and only named where another block fits. More occupancy hides latency; "
		"a kernel that does not wait gains nothing by it.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_occupancy_tally tally;

	(void)arguments;
	(void)err;
	tally_init(&tally, view);
	add_launches(result, &tally);
	gt_occupancy_add_changes(result, &tally);
	gt_occupancy_add_devices(result, &tally);
	add_remarks(result, &tally, view->by_work);
	tally_release(&tally);
	return 0;
}

const struct gt_report gt_report_occupancy = {
	.name = "occupancy",
	.summary = "Occupancy of launches: limits, waves, what raises it",
	.run = run,
};
