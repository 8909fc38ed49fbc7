/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernels/achieved.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "model/gpu/sampled.h"

/* Measurements of one use. */
struct sums {
	double counted; /* percent of all launches together */
	uint64_t launches;
	double warps; /* percent times nanoseconds, of all multiprocessors */
	double active;
	double time_ns;
};

const char *gt_achieved_source_name(enum gt_achieved_source source)
{
	switch (source) {
	case GT_ACHIEVED_COUNTED:
		return "kernel counters";
	case GT_ACHIEVED_SAMPLED:
		return "PM samples";
	case GT_ACHIEVED_UNKNOWN:
		return "not measured";
	}
	return "not measured";
}

static bool is_called(const struct gt_trace *trace, gt_string name, const char *wanted)
{
	return strcmp(gt_trace_text(trace, name), wanted) == 0;
}

static void add_counted(struct sums *sums, const struct gt_trace *trace,
                        const struct gt_launch_uses *uses)
{
	gt_array_each(const struct gt_kernel_counter, counter, &trace->kernel_counters) {
		if (counter->kernel >= trace->kernels.count || !isfinite(counter->value) ||
		    !is_called(trace, counter->name, "warps_active_percent"))
			continue;
		sums[uses->of_kernel[counter->kernel]].counted += counter->value;
		sums[uses->of_kernel[counter->kernel]].launches++;
	}
}

/* The share of multiprocessors that had a warp, sampled beside a counter; NULL: it was not. */
static const double *active_beside(const struct gt_trace *trace, const struct gt_counter *beside)
{
	gt_array_each(const struct gt_counter, counter, &trace->counters)
		if (counter->series == beside->series && counter->device == beside->device &&
		    counter->place < trace->series.rows[beside->series].column_count &&
		    is_called(trace, counter->name, "sm_active_percent"))
			return trace->series.rows[beside->series].columns[counter->place];
	return NULL;
}

/*
 * Samples say how many warps there were on all multiprocessors, whether they had any or not, and how
 * many multiprocessors had some: together what it was on those. Without the second it is of all.
 */
static void add_samples(struct sums *sums, const struct gt_sampled *sampled,
                        const struct gt_launch_uses *uses, const double *warps,
                        const double *active)
{
	for (size_t i = 0; i < sampled->series->count; i++) {
		const double length_ns = gt_sampled_length(sampled, i);
		struct sums *sum;

		if (sampled->kernels[i] == GT_NONE || !isfinite(warps[i]) ||
		    (active && !isfinite(active[i])))
			continue;
		sum = &sums[uses->of_kernel[sampled->kernels[i]]];
		sum->warps += warps[i] * length_ns;
		sum->active += (active ? active[i] : 100) * length_ns;
		sum->time_ns += length_ns;
	}
}

static void add_sampled(struct sums *sums, const struct gt_trace *trace,
                        const struct gt_launch_uses *uses)
{
	struct gt_sampled_list list;

	gt_sampled_list_init(&list, trace);
	gt_array_each(const struct gt_counter, counter, &trace->counters) {
		const struct gt_sampled *sampled = gt_sampled_of(&list, counter);

		if (sampled && is_called(trace, counter->name, "warps_active_percent"))
			add_samples(sums, sampled, uses, sampled->series->columns[counter->place],
			            active_beside(trace, counter));
	}
	gt_sampled_list_release(&list);
}

static struct gt_achieved achieved(const struct sums *sums)
{
	struct gt_achieved achieved = {
		.source = GT_ACHIEVED_UNKNOWN,
		.percent = NAN,
		.launches = sums->launches,
		.sampled_ns = sums->time_ns,
	};

	if (sums->launches) {
		achieved.source = GT_ACHIEVED_COUNTED;
		achieved.percent = sums->counted / (double)sums->launches;
	} else if (sums->active > 0) {
		achieved.source = GT_ACHIEVED_SAMPLED;
		achieved.percent = 100 * sums->warps / sums->active;
	}
	return achieved;
}

struct gt_achieved *gt_achieved_of(const struct gt_view *view, const struct gt_launch_uses *uses)
{
	struct gt_achieved *rows = gt_allocate(uses->count * sizeof(*rows));
	struct sums *sums = gt_allocate(uses->count * sizeof(*sums));

	for (size_t i = 0; i < uses->count; i++)
		sums[i] = (struct sums){0};
	add_counted(sums, view->trace, uses);
	/* Where work was left out, other running work and the owner of samples are not known. */
	if (!view->by_work)
		add_sampled(sums, view->trace, uses);
	for (size_t i = 0; i < uses->count; i++)
		rows[i] = achieved(&sums[i]);
	gt_array_free(sums);
	return rows;
}
