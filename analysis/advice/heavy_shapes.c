/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/heavy_shapes.h"

#include <math.h>
#include <stdio.h>

#include "analysis/advice/facts.h"
#include "model/naming/shape_names.h"
#include "model/view/view.h"
#include "model/work/timed.h"

enum {
	LEAST_PERCENT = 5,         /* of the window: a fifth less of that is one percent */
	LEAST_KERNEL_PERCENT = 10, /* of the GPU's kernels, where replays lengthen the window */
	IN_USE_PERCENT = 60,
	MOST_SHAPES = 1000, /* that are looked at: so many take so much in no sound recording */
};

bool gt_heavy_has_share(const struct gt_heavy *heavy, unsigned percent)
{
	return gt_is_share(heavy->total->most_ns,
	                   heavy->facts->shapes.device_ns[heavy->total->device], percent);
}

static bool is_heavy(const struct gt_heavy *heavy)
{
	return gt_share_reaches(&heavy->ran, LEAST_PERCENT) ||
	       (heavy->facts->shapes.has_profiled &&
	        gt_heavy_has_share(heavy, LEAST_KERNEL_PERCENT));
}

static struct gt_heavy heavy_of(const struct gt_facts *facts, const struct gt_shape_total *total)
{
	const struct gt_trace *trace = facts->view->trace;

	return (struct gt_heavy){
		.facts = facts,
		.total = total,
		.shape = &trace->launch_shapes.rows[total->shape],
		.device = &trace->devices.rows[total->device],
		.name = gt_shape_name(trace, total->shape),
		.ran = gt_share_of(&total->ran, &facts->wall, GT_OF_RECORDING, GT_NONE),
	};
}

void gt_heavy_shapes(const struct gt_facts *facts, struct gt_advice *advice,
                     void (*look)(const struct gt_heavy *heavy, struct gt_advice *advice))
{
	size_t seen = 0;

	for (size_t i = 0; i < facts->shapes.rows.count && seen < MOST_SHAPES; i++) {
		const struct gt_shape_total *total = &facts->shapes.rows.rows[i];
		struct gt_heavy heavy;

		if (total->device == GT_NONE)
			continue;
		heavy = heavy_of(facts, total);
		if (!is_heavy(&heavy))
			continue;
		seen++;
		heavy.occupancy = gt_occupancy_of(heavy.device, heavy.shape);
		advice->device = total->device;
		look(&heavy, advice);
	}
}

/* From the begin of its first launch on the GPU to the end of the last one to begin. */
static struct gt_interval extent_of(const struct gt_heavy *heavy)
{
	struct gt_interval when = {0, 0};

	gt_array_each(const struct gt_kernel, kernel, &heavy->facts->view->trace->kernels) {
		if (kernel->shape != heavy->total->shape ||
		    kernel->device != heavy->total->device ||
		    !gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		if (when.start_ns == 0)
			when.start_ns = kernel->start_ns;
		when.end_ns = kernel->end_ns;
	}
	return when;
}

struct gt_advice_row *gt_heavy_cite_time(const struct gt_heavy *heavy, struct gt_advice_row *row)
{
	const struct gt_shape_total *total = heavy->total;
	const double each_ns = total->counters[GT_SHAPE_duration_ns];
	const struct gt_interval when = extent_of(heavy);
	char gpus[64] = "";

	gt_advice_when(row, when.start_ns, when.end_ns);
	if (total->gpus > 1)
		snprintf(gpus, sizeof(gpus), " on %s GPUs", gt_grouped(total->gpus).text);
	/* The reports of kernels have no time of launches that were profiled. */
	if (total->profiled && each_ns >= 0 && each_ns < 1e18)
		gt_advice_cite(row, "counters", "profiled", "mean_ns", each_ns, "%s %ux%ux%u: %s",
		               heavy->name, heavy->shape->grid_x, heavy->shape->grid_y,
		               heavy->shape->grid_z, gt_advice_ns((uint64_t)each_ns).text);
	else
		gt_advice_cite(row, "kernels", "launch_shapes", "total_ns",
		               (double)total->summed_ns, "%s %ux%ux%u: %s%s", heavy->name,
		               heavy->shape->grid_x, heavy->shape->grid_y, heavy->shape->grid_z,
		               gt_advice_ns(total->summed_ns).text, gpus);
	return row;
}

void gt_heavy_cite(const struct gt_heavy *heavy, struct gt_advice_row *row,
                   enum gt_shape_counter counter)
{
	const char *name = gt_shape_counter_name(counter);
	const struct gt_figure value = gt_figure_real(heavy->total->counters[counter]);

	if (heavy->total->sampled)
		gt_advice_cite(row, "counters", "kernels", name, heavy->total->counters[counter],
		               "%s: %s", heavy->name, value.text);
	else
		gt_advice_cite(row, "counters", "profiled_counters", "mean",
		               heavy->total->counters[counter], "%s of %s: %s", name, heavy->name,
		               value.text);
}

void gt_heavy_gain(const struct gt_heavy *heavy, struct gt_advice_row *row, double part,
                   const char *how)
{
	gt_advice_gain(row, GT_GAIN_AT_MOST, gt_share_part(&heavy->ran, part), how);
}

double gt_heavy_counter(const struct gt_heavy *heavy, enum gt_shape_counter counter)
{
	return heavy->total->counters[counter];
}

int gt_heavy_waits(const struct gt_heavy *heavy)
{
	const double dram = gt_heavy_counter(heavy, GT_SHAPE_dram_throughput_percent);
	const double sm = gt_heavy_counter(heavy, GT_SHAPE_sm_throughput_percent);

	if (isnan(dram) || isnan(sm))
		return -1;
	return sm < IN_USE_PERCENT && !gt_heavy_uses_memory(heavy);
}

bool gt_heavy_uses_memory(const struct gt_heavy *heavy)
{
	return gt_heavy_counter(heavy, GT_SHAPE_dram_throughput_percent) >= IN_USE_PERCENT ||
	       gt_heavy_counter(heavy, GT_SHAPE_memory_throughput_percent) >= IN_USE_PERCENT;
}

double gt_heavy_cycles(const struct gt_heavy *heavy)
{
	const double cycles = gt_heavy_counter(heavy, GT_SHAPE_sm_active_cycles);
	const double ns = gt_heavy_counter(heavy, GT_SHAPE_duration_ns);
	const double most = ns * 1e-6 * heavy->device->sm_clock_khz;

	/* Without its own counter no more than the peak clock has of that time. */
	if (heavy->device->sm_count == 0 || !(isnan(cycles) ? most > 0 : cycles > 0))
		return NAN;
	return (isnan(cycles) ? most : cycles) * heavy->device->sm_count;
}
