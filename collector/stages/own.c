/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/decode/cut.h"
#include "collector/kinds.h"
#include "collector/stage.h"

/*
 * Work that gputrace itself did in a program, on threads of its own, is in no figure of the
 * program: rows with a correlation id of one of its calls are taken out. So is the kernel with
 * which CUPTI waits after a launch of a graph that was counted: it has the launch's id, and is in
 * no graph. Nothing names such rows yet. When kernels ran that read the GPU's clock is kept for
 * stage device_clocks.
 */

static int by_correlation(const void *a, const void *b)
{
	const struct gt_record_own_call *left = a;
	const struct gt_record_own_call *right = b;

	return (left->correlation > right->correlation) - (left->correlation < right->correlation);
}

static bool is_own(const struct gt_capture *capture, uint32_t correlation)
{
	const struct gt_record_own_call asked = {.correlation = correlation};

	return correlation != 0 && capture->raw_own_calls.count > 0 &&
	       bsearch(&asked, capture->raw_own_calls.rows, capture->raw_own_calls.count,
	               sizeof(asked), by_correlation) != NULL;
}

/* The column that a row is joined to its call by; NULL: the kind has none. */
static const struct gt_column *correlation_column(const struct gt_kind *kind)
{
	for (size_t i = 0; i < kind->binding_count; i++)
		if (kind->bindings[i].field->role == GT_ROLE_correlation)
			return kind->bindings[i].column;
	return NULL;
}

static bool is_the_program_s(const struct gt_capture *capture, uint32_t record,
                             const struct gt_kind *kind, const uint8_t *row)
{
	const struct gt_column *column = correlation_column(kind);
	uint32_t correlation = 0;

	(void)record;
	if (column)
		memcpy(&correlation, row + column->offset, sizeof(correlation));
	return !is_own(capture, correlation);
}

/* Correlation ids of the launches of graphs that were counted in a capture, in order. */
struct counted {
	gt_array(uint32_t) ids;
};

static int by_number(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a;
	const uint32_t right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static void add_counted(struct counted *counted, const struct gt_trace *trace,
                        const struct gt_segment *segment)
{
	for (size_t i = 0; i < segment->count; i++) {
		const struct gt_profiled_launch *launch =
			&trace->profiled_launches.rows[segment->first + i];

		if (launch->kind != 0)
			*gt_array_push(&counted->ids) = launch->correlation;
	}
}

static bool is_cupti_s(const struct counted *counted, const struct gt_kernel *kernel)
{
	return kernel->graph == 0 && counted->ids.count > 0 &&
	       bsearch(&kernel->correlation, counted->ids.rows, counted->ids.count,
	               sizeof(uint32_t), by_number) != NULL;
}

/* Moves the kernels of a segment that stay behind those before it; returns how many that are. */
static size_t cut_kernels(struct gt_trace *trace, struct gt_segment *segment,
                          const struct counted *counted, size_t left)
{
	const size_t first = left;

	for (size_t i = 0; i < segment->count; i++) {
		const struct gt_kernel kernel = trace->kernels.rows[segment->first + i];

		if (!is_cupti_s(counted, &kernel))
			trace->kernels.rows[left++] = kernel;
	}
	segment->first = first;
	segment->count = left - first;
	return left;
}

static void cut_cupti_s(struct gt_collection *collection)
{
	struct gt_trace *trace = collection->trace;
	struct counted counted = {{0}};
	size_t left = 0;

	if (trace->profiled_launches.count == 0)
		return;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		counted.ids.count = 0;
		gt_array_each(const struct gt_segment, segment, &capture->segments)
			if (segment->kind == GT_RECORD_profiled_launch)
				add_counted(&counted, trace, segment);
		if (counted.ids.count > 1)
			qsort(counted.ids.rows, counted.ids.count, sizeof(uint32_t), by_number);
		gt_array_each(struct gt_segment, part, &capture->segments)
			if (part->kind == GT_RECORD_kernel)
				left = cut_kernels(trace, part, &counted, left);
	}
	trace->kernels.count = left;
	gt_array_release(&counted.ids);
}

static void keep_kernels(const struct gt_trace *trace, struct gt_capture *capture,
                         const struct gt_segment *segment, struct gt_known *wanted)
{
	for (size_t i = 0; i < segment->count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[segment->first + i];

		if (gt_known_find(wanted, kernel->correlation) != GT_NONE)
			*gt_array_push(&capture->own_kernels) = (struct gt_own_kernel){
				kernel->start_ns, kernel->end_ns, kernel->correlation};
	}
}

static void keep_times(const struct gt_trace *trace, struct gt_capture *capture)
{
	struct gt_known wanted = {0};

	if (capture->raw_device_times.count == 0)
		return;
	gt_array_each(const struct gt_record_device_time, time, &capture->raw_device_times)
		if (time->correlation && gt_known_find(&wanted, time->correlation) == GT_NONE)
			gt_known_add(&wanted, time->correlation, 0);
	gt_array_each(const struct gt_segment, segment, &capture->segments)
		if (segment->kind == GT_RECORD_kernel)
			keep_kernels(trace, capture, segment, &wanted);
	gt_known_release(&wanted);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	size_t calls = 0;

	(void)err;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		const size_t count = capture->raw_own_calls.count;

		if (count > 0)
			qsort(capture->raw_own_calls.rows, count, sizeof(struct gt_record_own_call),
			      by_correlation);
		calls += count;
		keep_times(collection->trace, capture);
	}
	if (calls > 0)
		(void)gt_cut_rows(collection, is_the_program_s);
	cut_cupti_s(collection);
	return 0;
}

const struct gt_stage gt_stage_own = {.name = "own", .run = run};
