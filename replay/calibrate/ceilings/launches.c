/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "replay/calibrate/bench.h"
#include "replay/gpu/commands.h"

/*
 * Launch latency: from the call to when the host sees what the kernel's first thread stored in
 * pinned memory, the GPU idle before. The way of that store to the host is part of it.
 */

enum {
	LAUNCHES = 101,           /* of a measurement, whose median counts */
	PATIENCE_NS = 1000000000, /* a kernel that has not begun by then never will */
};

struct launching {
	struct gt_bench *bench;
	volatile unsigned *flag; /* pinned */
	CUfunction function;
	struct gt_commands graph; /* without an exec the kernel is launched as it is */
};

static int launch(const struct launching *launching, struct gt_error *err)
{
	struct gt_bench *bench = launching->bench;
	const struct gt_bench_kernel kernel = {
		.to = (CUdeviceptr)(uintptr_t)launching->flag,
		.threads = 1,
	};

	if (!launching->graph.exec)
		return gt_bench_launch(bench, launching->function, &kernel, 1, 1, err);
	return gt_commands_run(&launching->graph, bench->gpu.stream, err);
}

static int launch_once(const struct launching *launching, int64_t *ns, struct gt_error *err)
{
	const int64_t begun_ns = gt_gpu_now_ns();
	int64_t seen_ns = begun_ns;
	int result;

	*launching->flag = 0;
	result = launch(launching, err);
	while (result == 0 && !*launching->flag && seen_ns - begun_ns < PATIENCE_NS)
		seen_ns = gt_gpu_now_ns();
	*ns = gt_gpu_now_ns() - begun_ns;
	if (result == 0 && !*launching->flag)
		return gt_fail(err, ETIMEDOUT, "a kernel was launched and did not begin");
	return result < 0 ? result : gt_gpu_wait(&launching->bench->gpu, err);
}

static int by_size(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a;
	const int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

static int measure(void *context, double *value, struct gt_error *err)
{
	int64_t times[LAUNCHES];
	int64_t median;
	int result = 0;

	for (int i = 0; result == 0 && i < LAUNCHES; i++)
		result = launch_once(context, &times[i], err);
	if (result < 0)
		return result;
	qsort(times, LAUNCHES, sizeof(times[0]), by_size);
	median = times[LAUNCHES / 2];
	*value = (double)median;
	return 0;
}

static int add(struct launching *launching, enum gt_ceiling_name name, const char *how,
               struct gt_error *err)
{
	struct gt_calibrated row = {.name = name};
	const int result = gt_bench_steady(launching->bench, measure, launching, true, &row, err);

	snprintf(row.how, sizeof(row.how), "%s, median of %d, until the host sees its store", how,
	         LAUNCHES);
	if (result == 0)
		gt_bench_add(launching->bench, &row);
	return result;
}

static int make_graph(struct launching *launching, struct gt_error *err)
{
	const struct gt_gpu *gpu = &launching->bench->gpu;
	struct gt_commands graph;
	int result = gt_commands_begin(&graph, gpu, gpu->stream, err);
	int ended;

	if (result < 0)
		return result;
	result = launch(launching, err);
	ended = gt_commands_end(&graph, result < 0, err);
	launching->graph = graph;
	return result < 0 ? result : ended;
}

static int measure_graph(struct launching *launching, struct gt_error *err)
{
	int result = make_graph(launching, err);

	if (result == 0)
		result = add(launching, GT_CEILING_graph_launch_latency,
		             "cuGraphLaunch of one kernel", err);
	gt_commands_close(&launching->graph);
	return result;
}

int gt_measure_launches(struct gt_bench *bench, struct gt_error *err)
{
	struct launching launching = {.bench = bench};
	void *flag = NULL;
	int result = gt_gpu_alloc_pinned(&bench->gpu, 4096, &flag, err);

	launching.flag = flag;
	if (result == 0)
		result = gt_bench_function(bench, GT_KERNELS_plain, "gt_store", &launching.function,
		                           err);
	if (result == 0 && gt_bench_wants(bench, GT_CEILING_launch_latency))
		result = add(&launching, GT_CEILING_launch_latency, "cuLaunchKernel", err);
	if (result == 0 && gt_bench_wants(bench, GT_CEILING_graph_launch_latency))
		result = measure_graph(&launching, err);
	return result;
}
