/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exporters/perfetto/gpu.h"
#include "exporters/perfetto/lines.h"

/*
 * Values of hardware counters for launches that were profiled, under CUPTI's own names, which the
 * page GPU Compute looks for: the value at the kernel's start, 0 at its end. Where the next one
 * begins at that very moment its value takes the place of the 0.
 */

struct point {
	gt_time time_ns;
	double value;
	uint32_t line;
	bool is_end;
};

struct points {
	struct gt_perfetto *perfetto;
	struct gt_lines lines;
	gt_array(struct point) all;
};

static enum gt_measure unit_of(const char *unit)
{
	static const struct {
		const char *name;
		enum gt_measure measure;
	} units[] = {{"%", GT_MEASURE_PERCENT},
	             {"bytes", GT_MEASURE_BYTE},
	             {"ns", GT_MEASURE_NANOSECOND},
	             {"Hz", GT_MEASURE_HERTZ}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, unit) == 0)
			return units[i].measure;
	return GT_MEASURE_NONE;
}

/* False for one whose kernel is not shown. */
static bool add(struct points *points, const struct gt_kernel_counter *counter)
{
	const struct gt_perfetto *perfetto = points->perfetto;
	const struct gt_trace *trace = perfetto->trace;
	const struct gt_kernel *kernel = &trace->kernels.rows[counter->kernel];
	const struct gt_placed placed = gt_ids_place(
		&perfetto->ids, gt_ids_slice(&perfetto->ids, GT_PLACED_kernels, counter->kernel));
	const struct gt_line line = {
		.device = kernel->device,
		.group = GT_GROUP_KERNELS,
		.name = gt_trace_text(trace, counter->metric),
		.help = gt_trace_text(trace, counter->name),
		.unit = unit_of(gt_trace_text(trace, counter->unit)),
	};
	uint32_t number;

	if (!placed.placed || kernel->end_ns <= kernel->start_ns || !isfinite(counter->value) ||
	    kernel->device >= trace->devices.count)
		return false;
	number = gt_lines_add(&points->lines, &line);
	*gt_array_push(&points->all) =
		(struct point){kernel->start_ns, counter->value, number, false};
	*gt_array_push(&points->all) = (struct point){kernel->end_ns, 0, number, true};
	return true;
}

/* An end stands before the beginning of the next one. */
static int by_time(const void *a, const void *b)
{
	const struct point *left = a;
	const struct point *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->is_end != right->is_end)
		return left->is_end ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

void gt_perfetto_write_kernel_counters(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct points points = {.perfetto = perfetto};

	if (trace->kernel_counters.count == 0)
		return;
	gt_lines_init(&points.lines, perfetto);
	gt_array_each(const struct gt_kernel_counter, counter, &trace->kernel_counters)
		if (counter->kernel < trace->kernels.count && !add(&points, counter))
			gt_perfetto_skip(perfetto);
	gt_lines_describe(&points.lines);
	if (points.all.count > 1)
		qsort(points.all.rows, points.all.count, sizeof(*points.all.rows), by_time);
	gt_array_each(const struct point, point, &points.all)
		gt_lines_put(&points.lines, point->line, point->time_ns, point->value);
	gt_lines_finish(&points.lines, trace->end_ns);
	gt_array_release(&points.all);
}
