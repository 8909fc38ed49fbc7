/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/shape_totals.h"

#include <math.h>
#include <string.h>

#include "model/sampled.h"
#include "model/timed.h"

enum add { SUM, MEAN };

static const struct {
	const char *name;
	enum add add;
} counters[GT_SHAPE_COUNTERS] = {
#define COUNTER(name, add) {#name, add},
#include "analysis/shape_counters.def"
};

/* Means as they are gathered, by shape and counter. */
struct sum {
	double value;
	double weight;
};

const char *gt_shape_counter_name(enum gt_shape_counter counter)
{
	return counters[counter].name;
}

/* The counter of that name; GT_SHAPE_COUNTERS: none. */
static size_t counter_of(const char *name)
{
	size_t i = 0;

	while (i < GT_SHAPE_COUNTERS && strcmp(counters[i].name, name) != 0)
		i++;
	return i;
}

static void add(struct sum *sums, gt_id shape, size_t counter, double value, double weight)
{
	struct sum *sum = &sums[(size_t)shape * GT_SHAPE_COUNTERS + counter];

	sum->value += value * weight;
	sum->weight += weight;
}

static gt_id shape_of(const struct gt_shape_totals *totals, const struct gt_trace *trace,
                      gt_id kernel)
{
	const gt_id shape =
		kernel < trace->kernels.count ? trace->kernels.rows[kernel].shape : GT_NONE;

	return shape < totals->count ? shape : GT_NONE;
}

/* Launches that were profiled: each counts the same. */
static void add_profiled(const struct gt_shape_totals *totals, const struct gt_trace *trace,
                         struct sum *sums)
{
	gt_array_each(const struct gt_kernel_counter, row, &trace->kernel_counters) {
		const gt_id shape = shape_of(totals, trace, row->kernel);
		const size_t counter = counter_of(gt_trace_text(trace, row->name));

		if (shape != GT_NONE && counter < GT_SHAPE_COUNTERS && isfinite(row->value))
			add(sums, shape, counter, row->value, 1);
	}
}

/* Samples that are one kernel's: each counts as long as it is. */
static void add_samples(const struct gt_shape_totals *totals, const struct gt_trace *trace,
                        const struct gt_sampled *sampled, const struct gt_counter *row,
                        struct sum *sums)
{
	const size_t counter = counter_of(gt_trace_text(trace, row->name));

	if (counter == GT_SHAPE_COUNTERS || counters[counter].add != MEAN)
		return;
	for (size_t i = 0; i < sampled->series->count; i++) {
		const double value = sampled->series->columns[row->place][i];
		const gt_id shape = shape_of(totals, trace, sampled->kernels[i]);

		if (shape != GT_NONE && isfinite(value))
			add(sums, shape, counter, value, gt_sampled_length(sampled, i));
	}
}

static void add_all_samples(const struct gt_shape_totals *totals, const struct gt_trace *trace,
                            struct sum *sums)
{
	struct gt_sampled_list list;

	gt_sampled_list_init(&list, trace);
	gt_array_each(const struct gt_counter, row, &trace->counters) {
		const struct gt_sampled *sampled = gt_sampled_of(&list, row);

		if (sampled)
			add_samples(totals, trace, sampled, row, sums);
	}
	gt_sampled_list_release(&list);
}

static struct sum *new_sums(size_t count)
{
	struct sum *sums = gt_allocate(count * sizeof(*sums));

	for (size_t i = 0; i < count; i++)
		sums[i] = (struct sum){0};
	return sums;
}

static bool has_any(const struct sum *sums, size_t shape)
{
	for (size_t i = 0; i < GT_SHAPE_COUNTERS; i++)
		if (sums[shape * GT_SHAPE_COUNTERS + i].weight > 0)
			return true;
	return false;
}

static void add_counters(struct gt_shape_totals *totals, const struct gt_trace *trace)
{
	const size_t count = totals->count * GT_SHAPE_COUNTERS;
	struct sum *profiled = new_sums(count);
	struct sum *samples = new_sums(count);

	add_profiled(totals, trace, profiled);
	add_all_samples(totals, trace, samples);
	for (size_t i = 0; i < totals->count; i++) {
		const struct sum *sums = has_any(profiled, i) ? profiled : samples;

		totals->rows[i].sampled = sums == samples && has_any(samples, i);
		for (size_t j = 0; j < GT_SHAPE_COUNTERS; j++) {
			const struct sum *sum = &sums[i * GT_SHAPE_COUNTERS + j];

			totals->rows[i].counters[j] =
				sum->weight > 0 ? sum->value / sum->weight : NAN;
		}
	}
	gt_array_free(profiled);
	gt_array_free(samples);
}

/* A launch that was replayed took as long as its counters say. */
static uint64_t lasted_ns(const struct gt_shape_total *total, const struct gt_kernel *kernel)
{
	const double profiled_ns = total->counters[GT_SHAPE_duration_ns];

	if (!(kernel->flags & GT_PROFILED))
		return (uint64_t)(kernel->end_ns - kernel->start_ns);
	return profiled_ns >= 0 && profiled_ns < 1e18 ? (uint64_t)profiled_ns : 0;
}

static void add_times(struct gt_shape_totals *totals, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		struct gt_shape_total *total;
		uint64_t ns;

		totals->has_profiled |= (kernel->flags & GT_PROFILED) != 0;
		if (kernel->shape >= totals->count || kernel->device >= trace->devices.count ||
		    !gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		total = &totals->rows[kernel->shape];
		ns = lasted_ns(total, kernel);
		if (total->device == GT_NONE)
			total->device = kernel->device;
		total->calls++;
		total->profiled += (kernel->flags & GT_PROFILED) != 0;
		total->total_ns += ns;
		totals->device_ns[kernel->device] += ns;
	}
}

void gt_shape_totals_init(struct gt_shape_totals *totals, const struct gt_trace *trace)
{
	*totals = (struct gt_shape_totals){
		.rows = gt_allocate(trace->launch_shapes.count * sizeof(*totals->rows)),
		.count = trace->launch_shapes.count,
		.has_profiled = trace->profiled_launches.count > 0,
		.device_ns = gt_allocate(trace->devices.count * sizeof(*totals->device_ns)),
	};
	memset(totals->device_ns, 0, trace->devices.count * sizeof(*totals->device_ns));
	for (size_t i = 0; i < totals->count; i++)
		totals->rows[i] = (struct gt_shape_total){.device = GT_NONE};
	add_counters(totals, trace);
	add_times(totals, trace);
}

void gt_shape_totals_release(struct gt_shape_totals *totals)
{
	gt_array_free(totals->rows);
	gt_array_free(totals->device_ns);
	*totals = (struct gt_shape_totals){0};
}

bool gt_shape_measured(const struct gt_shape_total *total, const enum gt_shape_counter *wanted,
                       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (isnan(total->counters[wanted[i]]))
			return false;
	return true;
}
