/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_SCENE_H
#define GT_TESTS_SUPPORT_SCENE_H

#include "support/trace.h"

/*
 * The begin of most tests of a trace: one program, of one thread, on one GPU with one stream,
 * and a kernel that it launches. For one file of tests; more of each comes with support/trace.h.
 */

static struct gt_trace trace;
static gt_id process;
static gt_id thread;
static gt_id device;
static gt_id stream;
static gt_id shape;

static inline void scene_begin(gt_time duration_ns)
{
	trace_init(&trace, duration_ns);
	process = trace_process(&trace, "app", 100);
	thread = trace_thread(&trace, process, 7);
	device = trace_device(&trace);
	stream = trace_stream(&trace, process, device);
	shape = trace_shape(&trace, "gemm", 1, 32);
}

/* The kernel, launched inside a range by a call of 5 ns. */
static inline struct gt_kernel *scene_launch(gt_id range, gt_time call_ns, gt_time start_ns,
                                             gt_time end_ns)
{
	const gt_id call = trace_call_in(&trace, range, "cudaLaunchKernel", call_ns, call_ns + 5);
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, start_ns, end_ns);

	kernel->api_call = call;
	return kernel;
}

#endif
