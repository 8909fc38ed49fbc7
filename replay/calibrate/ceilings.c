/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/calibrate/ceilings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/calibrate/bench.h"
#include "replay/gpu/describe.h"

#define WARM_NS INT64_C(300000000) /* clocks rise when a GPU begins to work */

static int prepare(struct gt_bench *bench, struct gt_error *err)
{
	const struct gt_calibration *calibration = bench->out;
	char text[96];
	void *spent = NULL;
	const char *why;
	int result;

	bench->sm_count = (int)calibration->sm_count;
	bench->capability = calibration->cc_major * 10 + calibration->cc_minor;
	why = gt_bench_refuses(bench, GT_KERNELS_plain, text, sizeof(text));
	if (why)
		return gt_fail(err, ENOTSUP,
		               "%s, of compute capability %u.%u, cannot be measured: %s",
		               calibration->device, calibration->cc_major, calibration->cc_minor,
		               why);
	result = gt_gpu_alloc_pinned(&bench->gpu, sizeof(*bench->spent), &spent, err);
	if (result == 0)
		memset(spent, 0, sizeof(*bench->spent));
	bench->spent = spent;
	return result;
}

/* Until the clocks are up. */
static int warm(struct gt_bench *bench, struct gt_error *err)
{
	const int64_t begun_ns = gt_gpu_now_ns();
	struct gt_bench_kernel kernel = {
		.threads = GT_BENCH_THREADS,
		.count = 1,
	};
	CUfunction function;
	int result = gt_gpu_alloc(&bench->gpu, 1 << 16, &kernel.to, err);

	if (result == 0)
		result = gt_bench_function(bench, GT_KERNELS_plain, "gt_fp32", &function, err);
	while (result == 0 && gt_gpu_now_ns() - begun_ns < WARM_NS) {
		result = gt_bench_launch(bench, function, &kernel, 8 * (unsigned)bench->sm_count,
		                         1000, err);
		if (result == 0)
			result = gt_gpu_wait(&bench->gpu, err);
	}
	return result;
}

static int by_name(const void *a, const void *b)
{
	const struct gt_calibrated *left = a;
	const struct gt_calibrated *right = b;

	return (left->name > right->name) - (left->name < right->name);
}

static int measure_all(struct gt_bench *bench, struct gt_error *err)
{
	int result = prepare(bench, err);

	if (result == 0)
		result = warm(bench, err);
	if (result == 0)
		result = gt_measure_memory(bench, err);
	if (result == 0)
		result = gt_measure_links(bench, err);
	if (result == 0)
		result = gt_measure_arithmetic(bench, err);
	if (result == 0)
		result = gt_measure_launches(bench, err);
	if (result == 0 && bench->out->list.count > 0)
		qsort(bench->out->list.rows, bench->out->list.count, sizeof(*bench->out->list.rows),
		      by_name);
	return result;
}

int gt_ceilings_measure(const struct gt_cuda *cuda, int ordinal, const bool wanted[GT_CEILINGS],
                        struct gt_calibration *calibration, struct gt_error *err)
{
	struct gt_bench bench = {.wanted = wanted, .out = calibration};
	int result;

	if (!gt_kernels_files[GT_KERNELS_plain].ptx)
		return gt_fail(err, ENOTSUP,
		               "this build of gputrace cannot measure: there was no nvcc, the CUDA "
		               "compiler, when it was made");
	result = gt_gpu_open(&bench.gpu, cuda, ordinal, err);
	if (result < 0)
		return result;
	gt_gpu_tell(&bench.gpu, calibration);
	result = measure_all(&bench, err);
	gt_gpu_close(&bench.gpu);
	return result;
}
