/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/kernels/launch_shapes.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/gpu/occupancy.h"
#include "model/naming/shape_names.h"

static const struct gt_heading shape_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"device", GT_UNIT_TEXT, "GPU it ran on", GT_WORTH_KEY},
	{"grid", GT_UNIT_TEXT, "Blocks of the grid: x, y, z", GT_WORTH_KEY},
	{"block", GT_UNIT_TEXT, "Threads of a block: x, y, z", GT_WORTH_KEY},
	{"cluster", GT_UNIT_TEXT, "Blocks of a cluster: x, y, z; not known without clusters",
         GT_WORTH_LEAST},
	{"registers", GT_UNIT_COUNT, "Registers of a thread", GT_WORTH_LITTLE},
	{"shared_static_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory of a block that the kernel declares", GT_WORTH_LITTLE},
	{"shared_dynamic_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory of a block that the launch asked for", GT_WORTH_LITTLE},
	{"local_bytes", GT_UNIT_BINARY_BYTES,
         "Local memory of a thread: spilled registers, and arrays; where it is known",
         GT_WORTH_LEAST},
	{"calls", GT_UNIT_COUNT, "Executions that have a start and an end", GT_WORTH_ORDINARY},
	{"total_ns", GT_UNIT_NS, "Sum of end - start of these executions", GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "total_ns / calls", GT_WORTH_LITTLE},
	{"occupancy_percent", GT_UNIT_PERCENT,
         "Theoretical: warps that fit on a multiprocessor of those it can hold", GT_WORTH_KEY},
	{"limited_by", GT_UNIT_TEXT, "The limit on blocks of a multiprocessor", GT_WORTH_LITTLE},
	{"waves_per_sm", GT_UNIT_REAL,
         "Blocks of the grid / blocks the device holds; below 1: the launch does not fill it"},
	{"full_name", GT_UNIT_TEXT, "Its name as C++ writes it", GT_WORTH_DATA},
	{"mangled_name", GT_UNIT_TEXT, "The same as the compiler mangled it", GT_WORTH_DATA},
};

static bool is_local_known(const struct gt_trace *trace, gt_id shape)
{
	return shape < trace->launch_shapes.count && trace->launch_shapes.rows[shape].local_known;
}

static void add_local(struct gt_result *result, const struct gt_trace *trace, gt_id shape)
{
	if (is_local_known(trace, shape))
		gt_result_add_count(
			result, (int64_t)trace->launch_shapes.rows[shape].local_per_thread_bytes);
	else
		gt_result_add_unknown(result);
}

void gt_add_launch_shapes(struct gt_result *result, const struct gt_trace *trace,
                          const struct gt_launch_uses *uses)
{
	gt_result_begin(result, "launch_shapes", shape_headings, GT_COUNT_OF(shape_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < uses->count; i++) {
		const struct gt_launch_use *use = &uses->rows[i];
		const struct gt_occupancy occupancy = gt_launch_use_occupancy(trace, use);

		if (use->calls == 0 && use->profiled == 0)
			continue;
		gt_result_add_text(result, gt_shape_name(trace, use->shape));
		gt_add_device(result, trace, use->device);
		gt_add_launch(result, trace, use->shape);
		add_local(result, trace, use->shape);
		gt_result_add_count(result, (int64_t)use->calls);
		gt_result_add_count_if(result, use->calls > 0, (int64_t)use->total_ns);
		gt_add_rounded(result,
		               use->calls ? (double)use->total_ns / (double)use->calls : NAN);
		gt_add_occupancy(result, &occupancy);
		gt_result_add_real(result, occupancy.waves_per_sm);
		gt_add_names(result, trace, use->shape);
	}
}

void gt_remark_local_memory(struct gt_result *result, const struct gt_trace *trace,
                            const struct gt_launch_uses *uses)
{
	uint64_t rows = 0;
	uint64_t unknown = 0;

	for (size_t i = 0; i < uses->count; i++) {
		const struct gt_launch_use *use = &uses->rows[i];

		if (use->calls == 0 && use->profiled == 0)
			continue;
		rows++;
		unknown += !is_local_known(trace, use->shape);
	}
	if (unknown > 0)
		gt_result_remark_on(
			result, "local_bytes",
			"local_bytes was not measured of %s of %s launch shapes: CUPTI says 0, which "
			"it does of kernels with local memory, too, and their code is not in the "
			"recording (run --keep-modules).",
			gt_grouped(unknown).text, gt_grouped(rows).text);
}
