/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/statistics/spread.h"
#include "analysis/time/measured.h"
#include "analysis/time/throttles.h"
#include "base/array.h"
#include "model/gpu/sampled.h"
#include "model/gpu/throttle.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading counter_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"counter", GT_UNIT_TEXT, "Name of the counter", GT_WORTH_NAME},
	{"unit", GT_UNIT_TEXT, "Unit of the figures in this row", GT_WORTH_KEY},
	{"samples", GT_UNIT_COUNT, "Values that were measured; 0: not measured", GT_WORTH_LITTLE},
	{"min", GT_UNIT_REAL, "Least value", GT_WORTH_KEY, .row_unit = GT_ROW_UNIT},
	{"p5", GT_UNIT_REAL, "5 percent of the values are no more", GT_WORTH_LITTLE,
         .row_unit = GT_ROW_UNIT},
	{"median", GT_UNIT_REAL, "Half of the values are no more", GT_WORTH_KEY,
         .row_unit = GT_ROW_UNIT},
	{"p95", GT_UNIT_REAL, "95 percent of the values are no more", GT_WORTH_LITTLE,
         .row_unit = GT_ROW_UNIT},
	{"max", GT_UNIT_REAL, "Most", GT_WORTH_KEY, .row_unit = GT_ROW_UNIT},
	{"mean", GT_UNIT_REAL, "Over time, the values joined by straight lines", GT_WORTH_ORDINARY,
         .row_unit = GT_ROW_UNIT},
	{"difference", GT_UNIT_REAL,
         "Growth of a counter that only counts up; where it began anew is left out",
         .row_unit = GT_ROW_UNIT},
	{"per_second", GT_UNIT_REAL, "difference / time in which it did",
         .row_unit = GT_ROW_UNIT_PER_SECOND},
	{"process", GT_UNIT_TEXT, "Whose own counter it is, sampled by the program through NVTX",
         GT_WORTH_LITTLE},
};

static const struct gt_heading energy_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"duration_ns", GT_UNIT_NS,
         "Between samples that have energy and power; without times in which nobody sampled",
         GT_WORTH_KEY},
	{"energy_j", GT_UNIT_REAL, "Joules in that time by the GPU's own counter", GT_WORTH_KEY},
	{"integrated_j", GT_UNIT_REAL, "Joules by adding up the samples of power", GT_WORTH_LITTLE},
	{"difference_percent", GT_UNIT_PERCENT,
         "integrated_j - energy_j, of energy_j: how far the samples of power can be believed",
         GT_WORTH_LITTLE},
	{"mean_w", GT_UNIT_REAL, "energy_j / duration: watts"},
};

static const struct gt_heading throttle_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"reason", GT_UNIT_TEXT, "Why the clocks were lower than they could be", GT_WORTH_KEY},
	{"slows", GT_UNIT_TEXT, "Whether it slows work down in a way that comes and goes",
         GT_WORTH_LITTLE},
	{"times", GT_UNIT_COUNT, "How often it began", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "How long it held, to the interval of samples", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of the recording, or of its window",
         GT_WORTH_ORDINARY},
	{"longest_ns", GT_UNIT_NS, "The longest time without a break", GT_WORTH_LITTLE},
	{"meaning", GT_UNIT_TEXT, "Its meaning", GT_WORTH_PROSE},
};

static void add_levels(struct gt_result *result, struct gt_measured *measured)
{
	const double mean = gt_measured_mean(measured);

	gt_sort_reals(measured->values, measured->count);
	gt_result_add_real(result, measured->values[0]);
	gt_result_add_real(result, gt_rank_of(measured->values, measured->count, 5));
	gt_result_add_real(result, gt_rank_of(measured->values, measured->count, 50));
	gt_result_add_real(result, gt_rank_of(measured->values, measured->count, 95));
	gt_result_add_real(result, measured->values[measured->count - 1]);
	gt_result_add_real(result, mean);
	gt_result_add_unknowns(result, 2);
}

/*
 * A counter begins anew when its driver is loaded anew: what it counted between the two samples
 * about that is not known.
 */
static void add_total(struct gt_result *result, const struct gt_measured *measured)
{
	double grown = 0;
	double time_ns = 0;

	for (size_t i = 0; i + 1 < measured->count; i++) {
		if (measured->values[i + 1] < measured->values[i])
			continue;
		grown += measured->values[i + 1] - measured->values[i];
		time_ns += (double)(measured->times_ns[i + 1] - measured->times_ns[i]);
	}
	gt_result_add_unknowns(result, 6);
	gt_result_add_real(result, time_ns > 0 ? grown : NAN);
	gt_result_add_real(result, time_ns > 0 ? grown * 1e9 / time_ns : NAN);
}

/* "activations: bytes_in_use" of a pool, "pool 2: ..." of one without a name; of all else its name.
 */
static void add_name(struct gt_result *result, const struct gt_trace *trace,
                     const struct gt_counter *counter)
{
	const struct gt_pool *pool =
		counter->pool < trace->pools.count ? &trace->pools.rows[counter->pool] : NULL;
	const char *name = gt_trace_text(trace, counter->name);

	if (pool && pool->name)
		gt_result_add_format(result, "%s: %s", gt_trace_text(trace, pool->name), name);
	else if (pool)
		gt_result_add_format(result, "pool %u: %s", pool->number, name);
	else
		gt_result_add_text(result, name);
}

/* Returns whether there was anything to show of it. */
static bool add_counter(struct gt_result *result, const struct gt_trace *trace,
                        const struct gt_counter *counter)
{
	struct gt_measured measured = gt_measured_of(trace, counter);
	const size_t count = measured.count;

	gt_add_device(result, trace, counter->device);
	add_name(result, trace, counter);
	gt_add_string(result, trace, counter->unit);
	gt_result_add_count(result, (int64_t)count);
	if (count == 0 || counter->kind == GT_COUNTER_MASK)
		gt_result_add_unknowns(result, 8);
	else if (counter->kind == GT_COUNTER_TOTAL)
		add_total(result, &measured);
	else
		add_levels(result, &measured);
	if (counter->device == GT_NONE)
		gt_add_process(result, trace, counter->process);
	else
		gt_result_add_unknown(result);
	gt_measured_release(&measured);
	return count > 0;
}

/* Counters that programs keep themselves, through NVTX, or of their pools of memory. */
static void add_own_counters(struct gt_result *result, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_counter, counter, &trace->counters)
		if (counter->device == GT_NONE)
			(void)add_counter(result, trace, counter);
}

/* One sentence for the device that names what has no value; none when all have some. */
static void remark_unmeasured(struct gt_result *result, const struct gt_trace *trace, gt_id device,
                              const char *names)
{
	const struct gt_device *row = &trace->devices.rows[device];

	if (*names)
		gt_result_remark(result, "Not measured on %lld: %s: %s.",
		                 (long long)gt_device_number(row), gt_trace_text(trace, row->name),
		                 names);
}

static void add_counters(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "counters", counter_headings, GT_COUNT_OF(counter_headings));
	for (size_t device = 0; device < trace->devices.count; device++) {
		char names[1024] = "";
		size_t used = 0;

		gt_array_each(const struct gt_counter, counter, &trace->counters) {
			if (counter->device != device || gt_is_sampled(counter) ||
			    add_counter(result, trace, counter))
				continue;
			if (used < sizeof(names))
				used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
				                         used ? ", " : "",
				                         gt_trace_text(trace, counter->name));
		}
		remark_unmeasured(result, trace, (gt_id)device, names);
	}
	add_own_counters(result, trace);
}

/* Energy by both ways to know it, in the times that both cover. */
struct energy {
	double counted_mj;
	double integrated_mj;
	double time_ns;
};

static struct energy energy_of(const struct gt_measured *counter, const struct gt_measured *power)
{
	struct energy energy = {0};

	/* The counter counts also while nobody reads it: that power was watched is enough. */
	for (size_t i = 0; i + 1 < counter->count; i++) {
		double area; /* mW ns */

		if (counter->values[i + 1] < counter->values[i])
			continue; /* the driver was loaded anew */
		area = gt_measured_area(power, counter->times_ns[i], counter->times_ns[i + 1]);
		if (isnan(area))
			continue;
		energy.counted_mj += counter->values[i + 1] - counter->values[i];
		energy.integrated_mj += area / 1e9;
		energy.time_ns += (double)(counter->times_ns[i + 1] - counter->times_ns[i]);
	}
	return energy;
}

static void add_energy_of(struct gt_result *result, const struct gt_trace *trace, gt_id device)
{
	const struct gt_counter *counter = gt_counter_find(trace, device, "energy_mj");
	const struct gt_counter *power = gt_counter_find(trace, device, "power_mw");
	struct gt_measured counted;
	struct gt_measured drawn;
	struct energy energy;

	if (!counter || !power)
		return;
	counted = gt_measured_of(trace, counter);
	drawn = gt_measured_of(trace, power);
	energy = energy_of(&counted, &drawn);
	if (energy.time_ns > 0) {
		gt_add_device(result, trace, device);
		gt_result_add_count(result, llround(energy.time_ns));
		gt_result_add_real(result, energy.counted_mj / 1e3);
		gt_result_add_real(result, energy.integrated_mj / 1e3);
		gt_result_add_real(result, gt_percent(energy.integrated_mj - energy.counted_mj,
		                                      energy.counted_mj));
		gt_result_add_real(result, energy.counted_mj / 1e3 / (energy.time_ns / 1e9));
	}
	gt_measured_release(&counted);
	gt_measured_release(&drawn);
}

static void add_energy(struct gt_result *result, const struct gt_trace *trace)
{
	gt_result_begin(result, "energy", energy_headings, GT_COUNT_OF(energy_headings));
	for (size_t device = 0; device < trace->devices.count; device++)
		add_energy_of(result, trace, (gt_id)device);
}

static void add_reason(struct gt_result *result, const struct gt_view *view,
                       const struct gt_throttles *throttles, gt_id device, uint64_t reason)
{
	const struct gt_throttle_sum sum = gt_throttles_sum(throttles, device, reason);

	gt_add_device(result, view->trace, device);
	gt_result_add_text(result, gt_throttle_name(reason));
	gt_result_add_text(result, gt_throttle_slowing(reason) ? "yes" : "no");
	gt_result_add_count(result, (int64_t)sum.times);
	gt_result_add_count(result, (int64_t)sum.total_ns);
	gt_result_add_real(result, gt_percent((double)sum.total_ns,
	                                      (double)(view->end_ns - view->start_ns)));
	gt_result_add_count(result, (int64_t)sum.longest_ns);
	gt_result_add_text(result, gt_throttle_help(reason));
}

/* An empty table could as well mean that nobody looked. */
static void remark_unthrottled(struct gt_result *result, const struct gt_trace *trace, gt_id device)
{
	const struct gt_device *row = &trace->devices.rows[device];
	struct gt_measured measured = gt_measured_on(trace, device, "throttle_reasons");

	gt_result_remark(result, "Nothing kept the clocks of %lld: %s low in %s samples.",
	                 (long long)gt_device_number(row), gt_trace_text(trace, row->name),
	                 gt_grouped(measured.count).text);
	gt_measured_release(&measured);
}

static void add_throttles(struct gt_result *result, const struct gt_view *view)
{
	struct gt_throttles throttles;

	gt_throttles_init(&throttles, view->trace);
	gt_result_begin(result, "throttles", throttle_headings, GT_COUNT_OF(throttle_headings));
	for (size_t device = 0; device < throttles.device_count; device++) {
		uint64_t seen = gt_throttles_seen(&throttles, (gt_id)device);

		if (!seen && gt_throttles_measured(&throttles, (gt_id)device))
			remark_unthrottled(result, view->trace, (gt_id)device);
		while (seen)
			add_reason(result, view, &throttles, (gt_id)device,
			           gt_throttle_next(&seen));
	}
	gt_throttles_release(&throttles);
}

static void add_remarks(struct gt_result *result, const struct gt_trace *trace)
{
	size_t samples = 0;

	gt_array_each(const struct gt_counter, counter, &trace->counters)
		if (!gt_is_sampled(counter) && counter->series < trace->series.count)
			samples += trace->series.rows[counter->series].count;
	if (samples == 0) {
		gt_result_remark_empty(
			result,
			"No telemetry was recorded: it was off (--telemetry off, or an older gputrace), NVML was "
			"not there, or the program ended before the first sample.");
		return;
	}
	gt_result_remark(result, "All figures of a GPU are its own, whoever used it: other "
	                         "processes draw power and cause throttling too. What happened "
	                         "between two samples is not seen.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	(void)arguments;
	(void)err;
	add_counters(result, view->trace);
	add_energy(result, view->trace);
	add_throttles(result, view);
	add_remarks(result, view->trace);
	return 0;
}

const struct gt_report gt_report_telemetry = {
	.name = "telemetry",
	.summary = "Power, clocks and energy of each GPU, and what kept it slow",
	.run = run,
};
