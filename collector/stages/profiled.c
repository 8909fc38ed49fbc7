/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/stage.h"

/*
 * Times of kernels that were run several times for their counters. CUPTI's records of them have
 * none: such a kernel is put to where the program went on, and lasts as long as the GPU's own
 * counter says. Before rows are ordered by time.
 */

static const char duration_metric[] = "gpu__time_duration.sum";

struct profiled {
	uint32_t correlation;
	gt_time duration_ns; /* 0: it was not counted */
	gt_time start_ns;
	gt_time end_ns;
};

struct list {
	gt_array(struct profiled) launches; /* of one capture, in the order of by_correlation */
};

static int by_correlation(const void *a, const void *b)
{
	const struct profiled *left = a;
	const struct profiled *right = b;

	return (left->correlation > right->correlation) - (left->correlation < right->correlation);
}

static struct profiled *find(const struct list *list, uint32_t correlation)
{
	const struct profiled wanted = {.correlation = correlation};

	return list->launches.count ? bsearch(&wanted, list->launches.rows, list->launches.count,
	                                      sizeof(wanted), by_correlation)
	                            : NULL;
}

static void add_launches(struct list *list, const struct gt_trace *trace,
                         const struct gt_segment *segment)
{
	for (size_t i = 0; i < segment->count; i++) {
		const struct gt_profiled_launch *launch =
			&trace->profiled_launches.rows[segment->first + i];

		if (launch->kind == 0)
			*gt_array_push(&list->launches) =
				(struct profiled){.correlation = launch->correlation,
			                          .start_ns = launch->start_ns,
			                          .end_ns = launch->end_ns};
	}
}

static bool is_duration(const struct gt_trace *trace, const struct gt_capture *capture,
                        uint32_t number)
{
	gt_array_each(const struct gt_record_profiled_metric, metric,
	              &capture->raw_profiled_metrics)
		if (metric->number == number)
			return strcmp(gt_trace_text(trace,
			                            gt_capture_string(capture, metric->metric)),
			              duration_metric) == 0;
	return false;
}

/* A launch lasts no longer than the program was held up for it. */
static void add_durations(struct list *list, const struct gt_trace *trace,
                          const struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_profiled_value, value, &capture->raw_profiled_values) {
		struct profiled *launch = find(list, value->correlation);

		if (!launch || !is_duration(trace, capture, value->metric) || !(value->value > 0) ||
		    value->value > (double)(launch->end_ns - launch->start_ns))
			continue;
		launch->duration_ns = (gt_time)value->value;
	}
}

static void set_times(const struct list *list, struct gt_trace *trace,
                      const struct gt_segment *segment)
{
	for (size_t i = 0; i < segment->count; i++) {
		struct gt_kernel *kernel = &trace->kernels.rows[segment->first + i];
		const struct profiled *launch =
			kernel->flags & GT_UNFINISHED ? find(list, kernel->correlation) : NULL;

		if (!launch || launch->start_ns == 0 || launch->end_ns < launch->start_ns)
			continue;
		kernel->end_ns = launch->end_ns;
		kernel->start_ns = launch->duration_ns ? launch->end_ns - launch->duration_ns
		                                       : launch->start_ns;
		kernel->flags &= ~(gt_count)GT_UNFINISHED;
	}
}

static void look_at(struct list *list, struct gt_trace *trace, const struct gt_capture *capture)
{
	list->launches.count = 0;
	gt_array_each(const struct gt_segment, segment, &capture->segments)
		if (segment->kind == GT_RECORD_profiled_launch)
			add_launches(list, trace, segment);
	if (list->launches.count == 0)
		return;
	qsort(list->launches.rows, list->launches.count, sizeof(*list->launches.rows),
	      by_correlation);
	add_durations(list, trace, capture);
	gt_array_each(const struct gt_segment, segment, &capture->segments)
		if (segment->kind == GT_RECORD_kernel)
			set_times(list, trace, segment);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct list list = {{0}};

	(void)err;
	gt_array_each(const struct gt_capture, capture, &collection->captures)
		look_at(&list, collection->trace, capture);
	gt_array_release(&list.launches);
	return 0;
}

const struct gt_stage gt_stage_profiled = {.name = "profiled", .run = run};
