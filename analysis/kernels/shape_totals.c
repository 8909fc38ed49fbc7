/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernels/shape_totals.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/gpu/sampled.h"
#include "model/index.h"
#include "model/view/view.h"
#include "model/work/timed.h"

enum add { SUM, MEAN };

static const struct {
	const char *name;
	enum add add;
} counters[GT_SHAPE_COUNTERS] = {
#define COUNTER(name, add) {#name, add},
#include "analysis/kernels/shape_counters.def"
};

/* Means as they are gathered, by row and counter. */
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

/* ---- what is told apart ---- */

/* Key of a model of GPU: the same kernel is the same work for two GPUs of one model. */
struct model {
	gt_string name;
	gt_count sm_count;
	gt_count sm_clock_khz;
	gt_count memory_clock_khz;
};

struct pair {
	gt_id shape;
	gt_id other; /* a device, or a model */
};

/* A shape on one GPU. */
struct place {
	gt_id shape;
	gt_id device;
	size_t row; /* of the totals */
	uint64_t ns;
	bool seen; /* it has an execution with times */
};

struct finder {
	struct gt_shape_totals *totals;
	const struct gt_trace *trace;
	struct gt_wall wall;
	gt_id *model_of; /* by device */
	struct gt_index *row_numbers;
	struct gt_index *place_numbers;
	gt_array(struct place) places;
	gt_id *place_of; /* by kernel; GT_NONE: its shape or its GPU is not known */
};

/* The caller frees it with gt_array_free. */
static gt_id *models_of(const struct gt_trace *trace)
{
	gt_id *model_of = gt_allocate(trace->devices.count * sizeof(*model_of));
	struct gt_index *index = gt_index_new(sizeof(struct model));

	for (size_t i = 0; i < trace->devices.count; i++) {
		const struct gt_device *device = &trace->devices.rows[i];
		const struct model model = {
			.name = device->name,
			.sm_count = device->sm_count,
			.sm_clock_khz = device->sm_clock_khz,
			.memory_clock_khz = device->memory_clock_khz,
		};

		model_of[i] = (gt_id)gt_index_add(index, &model);
	}
	gt_index_free(index);
	return model_of;
}

static size_t row_of(struct finder *finder, gt_id shape, gt_id device)
{
	const struct pair pair = {shape, finder->model_of[device]};
	const size_t number = gt_index_add(finder->row_numbers, &pair);

	if (number == finder->totals->rows.count)
		*gt_array_push(&finder->totals->rows) =
			(struct gt_shape_total){.shape = shape, .device = GT_NONE};
	return number;
}

static struct place *place_at(const struct finder *finder, gt_id number)
{
	assert(number < finder->places.count && finder->places.rows);
	return &finder->places.rows[number];
}

/* latest: the place of the kernel of that shape before this one; GT_NONE: there was none. */
static gt_id place_of(struct finder *finder, gt_id latest, gt_id shape, gt_id device)
{
	const struct pair pair = {shape, device};
	size_t number;

	if (latest != GT_NONE && place_at(finder, latest)->device == device)
		return latest;
	number = gt_index_add(finder->place_numbers, &pair);
	if (number == finder->places.count)
		*gt_array_push(&finder->places) = (struct place){
			.shape = shape,
			.device = device,
			.row = row_of(finder, shape, device),
		};
	return (gt_id)number;
}

static void find_places(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	gt_id *latest = gt_allocate(trace->launch_shapes.count * sizeof(*latest));

	for (size_t i = 0; i < trace->launch_shapes.count; i++)
		latest[i] = GT_NONE;
	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];

		finder->place_of[i] = GT_NONE;
		if (kernel->shape >= trace->launch_shapes.count ||
		    kernel->device >= trace->devices.count)
			continue;
		latest[kernel->shape] =
			place_of(finder, latest[kernel->shape], kernel->shape, kernel->device);
		finder->place_of[i] = latest[kernel->shape];
	}
	gt_array_free(latest);
}

static void finder_init(struct finder *finder, struct gt_shape_totals *totals,
                        const struct gt_view *view)
{
	*finder = (struct finder){
		.totals = totals,
		.trace = view->trace,
		.wall = gt_wall_of(view),
		.model_of = models_of(view->trace),
		.row_numbers = gt_index_new(sizeof(struct pair)),
		.place_numbers = gt_index_new(sizeof(struct pair)),
		.place_of = gt_allocate(view->trace->kernels.count * sizeof(*finder->place_of)),
	};
	find_places(finder);
}

static void finder_release(struct finder *finder)
{
	gt_index_free(finder->row_numbers);
	gt_index_free(finder->place_numbers);
	gt_array_free(finder->model_of);
	gt_array_release(&finder->places);
	gt_array_free(finder->place_of);
}

/* ---- counters ---- */

static void add(const struct finder *finder, struct sum *sums, gt_id kernel, size_t counter,
                double value, double weight)
{
	const gt_id place =
		kernel < finder->trace->kernels.count ? finder->place_of[kernel] : GT_NONE;
	struct sum *sum;

	if (place == GT_NONE || !isfinite(value))
		return;
	sum = &sums[place_at(finder, place)->row * GT_SHAPE_COUNTERS + counter];
	sum->value += value * weight;
	sum->weight += weight;
}

/* Launches that were profiled: each counts the same. */
static void add_profiled(const struct finder *finder, struct sum *sums)
{
	gt_array_each(const struct gt_kernel_counter, row, &finder->trace->kernel_counters) {
		const size_t counter = counter_of(gt_trace_text(finder->trace, row->name));

		if (counter < GT_SHAPE_COUNTERS)
			add(finder, sums, row->kernel, counter, row->value, 1);
	}
}

/* Samples that are one kernel's: each counts as long as it is. */
static void add_samples(const struct finder *finder, const struct gt_sampled *sampled,
                        const struct gt_counter *row, struct sum *sums)
{
	const size_t counter = counter_of(gt_trace_text(finder->trace, row->name));

	if (counter == GT_SHAPE_COUNTERS || counters[counter].add != MEAN)
		return;
	for (size_t i = 0; i < sampled->series->count; i++)
		add(finder, sums, sampled->kernels[i], counter,
		    sampled->series->columns[row->place][i], gt_sampled_length(sampled, i));
}

static void add_all_samples(const struct finder *finder, struct sum *sums)
{
	struct gt_sampled_list list;

	gt_sampled_list_init(&list, finder->trace);
	gt_array_each(const struct gt_counter, row, &finder->trace->counters) {
		const struct gt_sampled *sampled = gt_sampled_of(&list, row);

		if (sampled)
			add_samples(finder, sampled, row, sums);
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

static bool has_any(const struct sum *sums, size_t row)
{
	for (size_t i = 0; i < GT_SHAPE_COUNTERS; i++)
		if (sums[row * GT_SHAPE_COUNTERS + i].weight > 0)
			return true;
	return false;
}

static void add_counters(const struct finder *finder)
{
	struct gt_shape_totals *totals = finder->totals;
	const size_t count = totals->rows.count * GT_SHAPE_COUNTERS;
	struct sum *profiled = new_sums(count);
	struct sum *samples = new_sums(count);

	add_profiled(finder, profiled);
	add_all_samples(finder, samples);
	for (size_t i = 0; i < totals->rows.count; i++) {
		const struct sum *sums = has_any(profiled, i) ? profiled : samples;
		struct gt_shape_total *total = &totals->rows.rows[i];

		total->sampled = sums == samples && has_any(samples, i);
		for (size_t j = 0; j < GT_SHAPE_COUNTERS; j++) {
			const struct sum *sum = &sums[i * GT_SHAPE_COUNTERS + j];

			total->counters[j] = sum->weight > 0 ? sum->value / sum->weight : NAN;
		}
	}
	gt_array_free(profiled);
	gt_array_free(samples);
}

/* ---- times ---- */

/* A launch that was replayed took as long as its counters say; without them nobody knows. */
static struct gt_interval when_of(const struct gt_shape_total *total,
                                  const struct gt_kernel *kernel)
{
	const double profiled_ns = total->counters[GT_SHAPE_duration_ns];
	struct gt_interval when = {kernel->start_ns, kernel->end_ns};

	if (!(kernel->flags & GT_PROFILED))
		return when;
	if (!(profiled_ns > 0))
		when.end_ns = when.start_ns;
	else if (profiled_ns < (double)(when.end_ns - when.start_ns))
		when.end_ns = when.start_ns + (gt_time)profiled_ns;
	return when;
}

static void add_kernel(struct finder *finder, const struct gt_kernel *kernel, gt_id number)
{
	struct place *place = place_at(finder, number);
	struct gt_shape_total *total = &finder->totals->rows.rows[place->row];
	const struct gt_interval when = when_of(total, kernel);
	const uint64_t ns = (uint64_t)(when.end_ns - when.start_ns);

	total->calls++;
	total->profiled += (kernel->flags & GT_PROFILED) != 0;
	total->summed_ns += ns;
	total->gpus += !place->seen;
	place->seen = true;
	place->ns += ns;
	gt_unite(&total->ran, &finder->wall, when);
	finder->totals->device_ns[place->device] += ns;
	if (total->device == GT_NONE || place->ns > total->most_ns) {
		total->device = place->device;
		total->most_ns = place->ns;
	}
}

static void add_times(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;

	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];

		finder->totals->has_profiled |= (kernel->flags & GT_PROFILED) != 0;
		if (finder->place_of[i] != GT_NONE &&
		    gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns))
			add_kernel(finder, kernel, finder->place_of[i]);
	}
}

void gt_shape_totals_init(struct gt_shape_totals *totals, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;
	struct finder finder;

	*totals = (struct gt_shape_totals){
		.has_profiled = trace->profiled_launches.count > 0,
		.device_ns = gt_allocate(trace->devices.count * sizeof(*totals->device_ns)),
	};
	memset(totals->device_ns, 0, trace->devices.count * sizeof(*totals->device_ns));
	finder_init(&finder, totals, view);
	add_counters(&finder);
	add_times(&finder);
	finder_release(&finder);
}

void gt_shape_totals_release(struct gt_shape_totals *totals)
{
	gt_array_release(&totals->rows);
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
