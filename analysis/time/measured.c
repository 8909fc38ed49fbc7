/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/measured.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/spread.h"
#include "base/array.h"
#include "base/search.h"

#define GAP_STEPS 10 /* a step so many times as long as usual was not watched */

static gt_time usual_step(const struct gt_measured *measured)
{
	int64_t *steps = gt_allocate(measured->count * sizeof(*steps));
	gt_time usual = 0;

	for (size_t i = 1; i < measured->count; i++)
		steps[i - 1] = measured->times_ns[i] - measured->times_ns[i - 1];
	if (measured->count > 1)
		usual = gt_percentile(steps, measured->count - 1, 50);
	gt_array_free(steps);
	return usual;
}

static const struct gt_series *series_of(const struct gt_trace *trace,
                                         const struct gt_counter *counter)
{
	return counter->series < trace->series.count &&
	                       counter->place < trace->series.rows[counter->series].column_count
	               ? &trace->series.rows[counter->series]
	               : NULL;
}

/* Room for that many more must be there. */
static void add_values(struct gt_measured *measured, const struct gt_series *series, size_t place)
{
	for (size_t i = 0; i < series->count; i++) {
		const double value = series->columns[place][i];

		if (!isfinite(value))
			continue;
		measured->times_ns[measured->count] = series->times_ns[i];
		measured->values[measured->count++] = value;
	}
}

static void make_room(struct gt_measured *measured, size_t count)
{
	measured->times_ns = gt_allocate(count * sizeof(*measured->times_ns));
	measured->values = gt_allocate(count * sizeof(*measured->values));
}

struct gt_measured gt_measured_of(const struct gt_trace *trace, const struct gt_counter *counter)
{
	const struct gt_series *series = series_of(trace, counter);
	struct gt_measured measured = {0};

	if (!series)
		return measured;
	make_room(&measured, series->count);
	add_values(&measured, series, counter->place);
	measured.step_ns = usual_step(&measured);
	return measured;
}

struct reading {
	gt_time time_ns;
	double value;
};

static int by_time(const void *a, const void *b)
{
	const struct reading *left = a;
	const struct reading *right = b;

	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static void sort(struct gt_measured *measured)
{
	struct reading *readings = gt_allocate(measured->count * sizeof(*readings));

	for (size_t i = 0; i < measured->count; i++)
		readings[i] = (struct reading){measured->times_ns[i], measured->values[i]};
	if (measured->count > 1)
		qsort(readings, measured->count, sizeof(*readings), by_time);
	for (size_t i = 0; i < measured->count; i++) {
		measured->times_ns[i] = readings[i].time_ns;
		measured->values[i] = readings[i].value;
	}
	gt_array_free(readings);
}

static bool is_counter(const struct gt_trace *trace, const struct gt_counter *counter, gt_id device,
                       const char *name)
{
	return counter->device == device &&
	       strcmp(gt_trace_text(trace, counter->name), name) == 0 && series_of(trace, counter);
}

struct gt_measured gt_measured_on(const struct gt_trace *trace, gt_id device, const char *name)
{
	struct gt_measured measured = {0};
	size_t counters = 0;
	size_t count = 0;

	gt_array_each(const struct gt_counter, counter, &trace->counters)
		if (is_counter(trace, counter, device, name)) {
			count += series_of(trace, counter)->count;
			counters++;
		}
	make_room(&measured, count);
	gt_array_each(const struct gt_counter, counter, &trace->counters)
		if (is_counter(trace, counter, device, name))
			add_values(&measured, series_of(trace, counter), counter->place);
	if (counters > 1)
		sort(&measured);
	measured.step_ns = usual_step(&measured);
	return measured;
}

void gt_measured_release(struct gt_measured *measured)
{
	gt_array_free(measured->times_ns);
	gt_array_free(measured->values);
	*measured = (struct gt_measured){0};
}

bool gt_measured_watched(const struct gt_measured *measured, size_t i)
{
	return i + 1 < measured->count &&
	       measured->times_ns[i + 1] - measured->times_ns[i] <= GAP_STEPS * measured->step_ns;
}

const struct gt_counter *gt_counter_find(const struct gt_trace *trace, gt_id device,
                                         const char *name)
{
	gt_array_each(const struct gt_counter, counter, &trace->counters)
		if (counter->device == device &&
		    strcmp(gt_trace_text(trace, counter->name), name) == 0)
			return counter;
	return NULL;
}

/* The area under the line from one value to the next. */
static double area_of(const struct gt_measured *measured, size_t i)
{
	return (measured->values[i] + measured->values[i + 1]) / 2 *
	       (double)(measured->times_ns[i + 1] - measured->times_ns[i]);
}

double gt_measured_mean(const struct gt_measured *measured)
{
	double area = 0;
	double time_ns = 0;

	for (size_t i = 0; i < measured->count; i++) {
		if (!gt_measured_watched(measured, i))
			continue;
		area += area_of(measured, i);
		time_ns += (double)(measured->times_ns[i + 1] - measured->times_ns[i]);
	}
	if (time_ns > 0)
		return area / time_ns;
	return measured->count ? measured->values[0] : NAN;
}

/* How many values are of that time or of before. */
static size_t count_until(const struct gt_measured *measured, gt_time time_ns)
{
	return gt_search(measured->times_ns, measured->count, sizeof(*measured->times_ns), &time_ns,
	                 gt_by_i64, 1);
}

gt_time gt_measured_until(const struct gt_measured *measured, size_t i)
{
	if (i + 1 == measured->count)
		return measured->times_ns[i];
	return gt_measured_watched(measured, i) ? measured->times_ns[i + 1]
	                                        : measured->times_ns[i] + measured->step_ns;
}

double gt_measured_at(const struct gt_measured *measured, gt_time time_ns)
{
	const size_t count = count_until(measured, time_ns);

	return count > 0 ? measured->values[count - 1] : NAN;
}

size_t gt_measured_first(const struct gt_measured *measured, gt_time time_ns)
{
	const size_t count = count_until(measured, time_ns);

	return count > 0 ? count - 1 : 0;
}

/* The area from the beginning of a step to a time in it. */
static double area_until(const struct gt_measured *measured, size_t i, gt_time time_ns)
{
	const double part_ns = (double)(time_ns - measured->times_ns[i]);
	double slope;

	if (part_ns <= 0 || i + 1 >= measured->count)
		return 0;
	slope = (measured->values[i + 1] - measured->values[i]) /
	        (double)(measured->times_ns[i + 1] - measured->times_ns[i]);
	return (measured->values[i] + slope * part_ns / 2) * part_ns;
}

double gt_measured_area(const struct gt_measured *measured, gt_time from_ns, gt_time to_ns)
{
	double area;
	size_t first;
	size_t last;

	if (measured->count == 0 || from_ns < measured->times_ns[0] ||
	    to_ns > measured->times_ns[measured->count - 1] || to_ns < from_ns)
		return NAN;
	first = gt_measured_first(measured, from_ns);
	last = gt_measured_first(measured, to_ns);
	area = area_until(measured, last, to_ns) - area_until(measured, first, from_ns);
	for (size_t i = first; i < last; i++) {
		if (!gt_measured_watched(measured, i))
			return NAN;
		area += area_of(measured, i);
	}
	return area;
}
