/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_ANALYSIS_TRAFFIC_SCENE_H
#define GT_TESTS_ANALYSIS_TRAFFIC_SCENE_H

#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/strings.h"
#include "model/gpu/ceilings.h"
#include "support/scene.h"

/* Known traffic of kernels, and its bounds, beside a scene. */

#define US INT64_C(1000)

static inline gt_string scene_text(const char *text)
{
	return gt_strings_add(trace.strings, text);
}

/* The kernel, launched in a range or in none. */
static inline struct gt_kernel *launch(gt_id range, gt_time call_ns, gt_time start_ns,
                                       gt_time end_ns)
{
	struct gt_kernel *kernel;
	gt_id call;

	if (range != GT_NONE)
		return scene_launch(range, call_ns, start_ns, end_ns);
	call = trace_call(&trace, thread, "cudaLaunchKernel", call_ns, call_ns + 5);
	kernel = trace_kernel(&trace, stream, shape, start_ns, end_ns);
	kernel->api_call = call;
	return kernel;
}

/* A ceiling of the GPU. */
static inline void scene_ceiling(enum gt_ceiling_name name, double value, gt_count source)
{
	*gt_array_push(&trace.ceilings) = (struct gt_ceiling){
		.device = device,
		.peer = GT_NONE,
		.name = scene_text(gt_ceiling_names[name]),
		.value = value,
		.spread = NAN,
		.source = source,
	};
}

/* A counter of the kernel that was launched last, which is profiled. */
static inline void scene_count(const char *name, double value)
{
	const gt_id kernel = (gt_id)trace.kernels.count - 1;

	trace.kernels.rows[kernel].flags |= GT_PROFILED;
	*gt_array_push(&trace.kernel_counters) = (struct gt_kernel_counter){
		.kernel = kernel, .name = scene_text(name), .value = value};
}

/* A range that says something by a payload. */
static inline gt_id scene_declare(gt_id parent, const char *name, const char *payload,
                                  gt_time start_ns, gt_time end_ns)
{
	const gt_id range = trace_range(&trace, thread, parent, name, start_ns, end_ns);

	trace.ranges.rows[range].data = scene_text(payload);
	return range;
}

/* Samples of 100 us of what was read and written, from the beginning on. */
static inline void scene_sample(const double *read_bytes, const double *write_bytes, size_t count)
{
	const struct trace_column columns[] = {
		{"dram_read_bytes", "bytes", GT_COUNTER_SUM, read_bytes},
		{"dram_write_bytes", "bytes", GT_COUNTER_SUM, write_bytes},
	};

	trace_sampled(&trace, device, 0, 100 * US, columns, 2, count);
}

#endif
