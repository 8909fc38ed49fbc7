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
#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"
#include "model/gpu/occupancy_changes.h"
#include "model/naming/short_name.h"
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

static const struct gt_heading change_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"grid", GT_UNIT_TEXT, "Blocks of the grid: x, y, z", GT_WORTH_LITTLE},
	{"block", GT_UNIT_TEXT, "Threads of a block: x, y, z", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Time of the executions with this launch shape", GT_WORTH_KEY},
	{"limited_by", GT_UNIT_TEXT, "The limit on blocks as it is", GT_WORTH_ORDINARY},
	{"occupancy_percent", GT_UNIT_PERCENT, "Theoretical occupancy as it is", GT_WORTH_KEY},
	{"raised_percent", GT_UNIT_PERCENT, "Theoretical occupancy with the change", GT_WORTH_KEY},
	{"blocks_per_sm", GT_UNIT_COUNT, "Blocks that fit on a multiprocessor as it is",
         GT_WORTH_LITTLE},
	{"raised_blocks_per_sm", GT_UNIT_COUNT, "Blocks that fit with the change", GT_WORTH_LITTLE},
	{"raised_limited_by", GT_UNIT_TEXT, "The limit on blocks then", GT_WORTH_LITTLE},
	{"raise", GT_UNIT_TEXT,
         "The change: the most registers or shared memory, a configuration, or another block",
         GT_WORTH_KEY},
	{"how", GT_UNIT_TEXT,
         "Setting that asks for it; nothing where the source has to be changed",
         GT_WORTH_LESSER_NAME},
	{"raised_registers", GT_UNIT_COUNT,
         "Registers of a thread; not known, here and below: as it is", GT_WORTH_DATA},
	{"raised_shared_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory of a block, declared and asked for", GT_WORTH_DATA},
	{"raised_configured_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory that the multiprocessor is configured to have", GT_WORTH_DATA},
	{"raised_threads", GT_UNIT_COUNT, "Threads of a block", GT_WORTH_DATA},
};

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"multiprocessors", GT_UNIT_COUNT, "That it has", GT_WORTH_KEY},
	{"warps", GT_UNIT_COUNT, "That one multiprocessor holds", GT_WORTH_ORDINARY},
	{"blocks", GT_UNIT_COUNT, "That one multiprocessor holds", GT_WORTH_ORDINARY},
	{"registers", GT_UNIT_COUNT, "Registers of one multiprocessor, of 32 bits",
         GT_WORTH_ORDINARY},
	{"shared_bytes", GT_UNIT_BINARY_BYTES, "Shared memory of one multiprocessor at most",
         GT_WORTH_ORDINARY},
	{"total_ns", GT_UNIT_NS, "Time of all kernels on it", GT_WORTH_KEY},
	{"occupancy_percent", GT_UNIT_PERCENT,
         "Mean of the theoretical occupancy, each launch shape as heavy as its time", GT_WORTH_KEY},
	{"achieved_percent", GT_UNIT_PERCENT,
         "The same of the achieved occupancy, of those where it was measured", GT_WORTH_KEY},
	{"achieved_share_percent", GT_UNIT_PERCENT, "Time of these, of total_ns",
         GT_WORTH_ORDINARY},
	{"tail_ns", GT_UNIT_NS, "Sum of tail_ns where it is known", GT_WORTH_KEY},
};

/* One row: a launch shape on a GPU, with all that is worked out of it. */
struct launch {
	const struct gt_launch_use *use;
	struct gt_occupancy occupancy;
	struct gt_achieved achieved;
	struct gt_occupancy_change changes[GT_OCCUPANCY_CHANGES];
	size_t change_count;
	double tail_ns; /* NAN: not known */
};

struct tally {
	const struct gt_trace *trace;
	struct gt_launch_uses uses;
	struct launch *launches; /* of each use */
	uint64_t total_ns;
};

static void tally_init(struct tally *tally, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;
	struct gt_achieved *achieved;

	*tally = (struct tally){.trace = trace};
	gt_launch_uses_init(&tally->uses, trace);
	achieved = gt_achieved_of(view, &tally->uses);
	tally->launches = gt_allocate(tally->uses.count * sizeof(*tally->launches));
	for (size_t i = 0; i < tally->uses.count; i++) {
		const struct gt_launch_use *use = &tally->uses.rows[i];
		const struct gt_device device = gt_launch_use_device(trace, use);
		struct launch *launch = &tally->launches[i];

		*launch = (struct launch){
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

static void tally_release(struct tally *tally)
{
	gt_launch_uses_release(&tally->uses);
	gt_array_free(tally->launches);
}

/* "64 registers, 74.9 KiB shared". */
static void add_change(struct gt_result *result, const struct gt_occupancy_change *change)
{
	const struct gt_figure shared = gt_figure_binary((int64_t)change->shared_bytes);

	if (change->configured_bytes)
		gt_result_add_format(result, "%s configured",
		                     gt_figure_binary((int64_t)change->configured_bytes).text);
	else if (change->threads)
		gt_result_add_format(result, "blocks of %u", change->threads);
	else if (change->registers && change->shared_bytes)
		gt_result_add_format(result, "%u registers, %s shared", change->registers,
		                     shared.text);
	else if (change->registers)
		gt_result_add_format(result, "%u registers", change->registers);
	else
		gt_result_add_format(result, "%s shared", shared.text);
}

static void add_how(struct gt_result *result, const struct gt_device *device,
                    const struct gt_launch_shape *shape, const struct gt_occupancy_change *change)
{
	if (change->configured_bytes)
		gt_result_add_format(result,
		                     "cudaFuncAttributePreferredSharedMemoryCarveout of %.0f",
		                     ceil(100 * (double)change->configured_bytes /
		                          (double)device->shared_per_sm_bytes));
	else if (change->registers)
		gt_result_add_format(result, "__launch_bounds__(%u, %u) or -maxrregcount=%u",
		                     shape->block_x * shape->block_y * shape->block_z,
		                     change->becomes.blocks_per_sm, change->registers);
	else
		gt_result_add_unknown(result);
}

/* The same for programs; 0 stands for what stays as it is. */
static void add_figures(struct gt_result *result, const struct gt_occupancy_change *change)
{
	gt_result_add_count_if(result, change->registers > 0, change->registers);
	gt_result_add_count_if(result, change->shared_bytes > 0, (int64_t)change->shared_bytes);
	gt_result_add_count_if(result, change->configured_bytes > 0,
	                       (int64_t)change->configured_bytes);
	gt_result_add_count_if(result, change->threads > 0, change->threads);
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

static void add_times(struct gt_result *result, const struct tally *tally,
                      const struct gt_launch_use *use)
{
	gt_result_add_count(result, (int64_t)use->calls);
	gt_result_add_count_if(result, use->calls > 0, (int64_t)use->total_ns);
	gt_result_add_real(result,
	                   use->calls ? gt_percent((double)use->total_ns, (double)tally->total_ns)
	                              : NAN);
}

static void add_launch(struct gt_result *result, const struct tally *tally,
                       const struct launch *launch)
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
		add_change(result, &launch->changes[0]);
	else
		gt_result_add_unknown(result);
	gt_add_names(result, trace, use->shape);
}

static void add_launches(struct gt_result *result, const struct tally *tally)
{
	gt_result_begin(result, "occupancy", launch_headings, GT_COUNT_OF(launch_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < tally->uses.count; i++)
		if (tally->uses.rows[i].calls || tally->uses.rows[i].profiled)
			add_launch(result, tally, &tally->launches[i]);
}

static void add_changes_of(struct gt_result *result, const struct tally *tally,
                           const struct launch *launch)
{
	const struct gt_launch_use *use = launch->use;
	const struct gt_launch_shape *shape = &tally->trace->launch_shapes.rows[use->shape];
	const struct gt_device device = gt_launch_use_device(tally->trace, use);

	for (size_t i = 0; i < launch->change_count; i++) {
		const struct gt_occupancy_change *change = &launch->changes[i];

		gt_result_add_text(result, gt_shape_name(tally->trace, use->shape));
		gt_add_size(result, shape->grid_x, shape->grid_y, shape->grid_z);
		gt_add_size(result, shape->block_x, shape->block_y, shape->block_z);
		gt_result_add_count(result, (int64_t)use->total_ns);
		gt_result_add_text(result, gt_occupancy_limit_name(launch->occupancy.limit));
		gt_result_add_real(result, launch->occupancy.percent);
		gt_result_add_real(result, change->becomes.percent);
		gt_result_add_count(result, launch->occupancy.blocks_per_sm);
		gt_result_add_count(result, change->becomes.blocks_per_sm);
		gt_result_add_text(result, gt_occupancy_limit_name(change->becomes.limit));
		add_change(result, change);
		add_how(result, &device, shape, change);
		add_figures(result, change);
	}
}

static void add_changes(struct gt_result *result, const struct tally *tally)
{
	gt_result_begin(result, "changes", change_headings, GT_COUNT_OF(change_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < tally->uses.count; i++)
		if (tally->uses.rows[i].calls)
			add_changes_of(result, tally, &tally->launches[i]);
}

/* A mean of percents by time. */
struct mean {
	double area;
	double time_ns;
};

static void mean_add(struct mean *mean, double percent, double time_ns)
{
	if (isnan(percent))
		return;
	mean->area += percent * time_ns;
	mean->time_ns += time_ns;
}

static double mean_of(const struct mean *mean)
{
	return mean->time_ns > 0 ? mean->area / mean->time_ns : NAN;
}

/* Resources of one multiprocessor of it. */
static void add_room(struct gt_result *result, const struct gt_device *device)
{
	/* The least that a launch can be: what limits it are the device's own figures. */
	const struct gt_launch_shape least = {.block_x = 1, .block_y = 1, .block_z = 1};
	const struct gt_occupancy room = gt_occupancy_of(device, &least);
	const bool known = room.limit != GT_LIMIT_UNKNOWN;

	gt_result_add_count_if(result, device->sm_count > 0, device->sm_count);
	gt_result_add_count_if(result, known, room.blocks_by_warps);
	gt_result_add_count_if(result, known, room.blocks_by_blocks);
	gt_result_add_count_if(result, known, device->registers_per_sm);
	gt_result_add_count_if(result, known, (int64_t)device->shared_per_sm_bytes);
}

static void add_device(struct gt_result *result, const struct tally *tally, gt_id device)
{
	struct mean theoretical = {0};
	struct mean achieved = {0};
	double total_ns = 0;
	double tail_ns = NAN;
	bool ran = false;

	for (size_t i = 0; i < tally->uses.count; i++) {
		const struct launch *launch = &tally->launches[i];
		const double time_ns = (double)launch->use->total_ns;

		if (launch->use->device != device || !launch->use->calls)
			continue;
		ran = true;
		total_ns += time_ns;
		if (!isnan(launch->tail_ns))
			tail_ns = launch->tail_ns + (isnan(tail_ns) ? 0 : tail_ns);
		mean_add(&theoretical, launch->occupancy.percent, time_ns);
		mean_add(&achieved, launch->achieved.percent, time_ns);
	}
	if (!ran)
		return;
	gt_add_device(result, tally->trace, device);
	add_room(result, &tally->trace->devices.rows[device]);
	gt_add_rounded(result, total_ns);
	gt_result_add_real(result, mean_of(&theoretical));
	gt_result_add_real(result, mean_of(&achieved));
	gt_result_add_real(result, gt_percent(achieved.time_ns, total_ns));
	gt_add_rounded(result, tail_ns);
}

static void add_devices(struct gt_result *result, const struct tally *tally)
{
	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	for (size_t i = 0; i < tally->trace->devices.count; i++)
		add_device(result, tally, (gt_id)i);
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

static struct doubts doubts_of(const struct tally *tally)
{
	const struct gt_trace *trace = tally->trace;
	struct doubts doubts = {0};

	for (size_t i = 0; i < tally->uses.count; i++) {
		const struct launch *launch = &tally->launches[i];
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

static void remark_achieved(struct gt_result *result, const struct tally *tally,
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

static void add_remarks(struct gt_result *result, const struct tally *tally, bool by_work)
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
	struct tally tally;

	(void)arguments;
	(void)err;
	tally_init(&tally, view);
	add_launches(result, &tally);
	add_changes(result, &tally);
	add_devices(result, &tally);
	add_remarks(result, &tally, view->by_work);
	tally_release(&tally);
	return 0;
}

const struct gt_report gt_report_occupancy = {
	.name = "occupancy",
	.summary = "Occupancy of launches: limits, waves, what raises it",
	.run = run,
};
