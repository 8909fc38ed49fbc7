/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/error.h"
#include "replay/calibrate/bench.h"

/*
 * Arithmetic: each instruction that a GPU may reach its peak by is tried, and the fastest one
 * counts. FLOP of a thread in a round: chains x links x 2 of replay/calibrate/kernels/plain.cu, and
 * tiles x turns x 2 x M x N x K / 32 of mma.cuh, / 128 of wgmma90a.cu.
 */
struct candidate {
	enum gt_ceiling_name name;
	enum gt_kernels file;
	const char *symbol;
	const char *how;
	double flop;
	unsigned threads;
};

#define CHAIN        (8.0 * 32 * 2)
#define MMA(m, n, k) (8.0 * 8 * 2 * (m) * (n) * (k) / 32)
#define WGMMA(k)     (16.0 * 2 * 64 * 256 * (k) / 128)

static const struct candidate candidates[] = {
	{GT_CEILING_fp64, GT_KERNELS_plain, "gt_fp64", "fma.f64", CHAIN, GT_BENCH_THREADS},
	{GT_CEILING_fp64, GT_KERNELS_plain, "gt_fp64_two", "fma.f64", CHAIN, GT_BENCH_THREADS},
	{GT_CEILING_fp32, GT_KERNELS_plain, "gt_fp32", "fma.f32", CHAIN, GT_BENCH_THREADS},
	{GT_CEILING_fp16, GT_KERNELS_plain, "gt_fp16", "fma.f16x2", 2 * CHAIN, GT_BENCH_THREADS},
	{GT_CEILING_tensor_fp64, GT_KERNELS_mma80, "gt_mma_m8n8k4_fp64", "mma.sync m8n8k4",
         MMA(8, 8, 4), GT_BENCH_THREADS},
	{GT_CEILING_tensor_fp64, GT_KERNELS_mma90, "gt_mma_m16n8k16_fp64", "mma.sync m16n8k16",
         MMA(16, 8, 16), GT_BENCH_THREADS},
	{GT_CEILING_tensor_tf32, GT_KERNELS_mma80, "gt_mma_m16n8k8_tf32", "mma.sync m16n8k8",
         MMA(16, 8, 8), GT_BENCH_THREADS},
	{GT_CEILING_tensor_tf32, GT_KERNELS_wgmma90a, "gt_wgmma_tf32", "wgmma m64n256k8", WGMMA(8),
         128},
	{GT_CEILING_tensor_fp16, GT_KERNELS_mma75, "gt_mma_m16n8k8_fp16", "mma.sync m16n8k8",
         MMA(16, 8, 8), GT_BENCH_THREADS},
	{GT_CEILING_tensor_fp16, GT_KERNELS_mma80, "gt_mma_m16n8k16_fp16", "mma.sync m16n8k16",
         MMA(16, 8, 16), GT_BENCH_THREADS},
	{GT_CEILING_tensor_fp16, GT_KERNELS_wgmma90a, "gt_wgmma_fp16", "wgmma m64n256k16",
         WGMMA(16), 128},
	{GT_CEILING_tensor_bf16, GT_KERNELS_mma80, "gt_mma_m16n8k16_bf16", "mma.sync m16n8k16",
         MMA(16, 8, 16), GT_BENCH_THREADS},
	{GT_CEILING_tensor_bf16, GT_KERNELS_wgmma90a, "gt_wgmma_bf16", "wgmma m64n256k16",
         WGMMA(16), 128},
	{GT_CEILING_tensor_fp8, GT_KERNELS_mma89, "gt_mma_m16n8k32_fp8", "mma.sync m16n8k32",
         MMA(16, 8, 32), GT_BENCH_THREADS},
	{GT_CEILING_tensor_fp8, GT_KERNELS_wgmma90a, "gt_wgmma_fp8", "wgmma m64n256k32", WGMMA(32),
         128},
};

static int measure(struct gt_bench *bench, const struct candidate *candidate, CUdeviceptr to,
                   struct gt_error *err)
{
	const struct gt_bench_kernel kernel = {
		.file = candidate->file,
		.symbol = candidate->symbol,
		.to = to,
		.count = 1,
		.threads = candidate->threads,
		.per_thread = candidate->flop,
	};
	struct gt_calibrated row = {.name = candidate->name};
	const int result = gt_bench_rate(bench, &kernel, &row, err);

	snprintf(row.how, sizeof(row.how), "%s", candidate->how);
	if (result == 0)
		gt_bench_add(bench, &row);
	return result;
}

/* Says of a ceiling that none of its instructions is there; the first one is the oldest. */
static void leave_out(struct gt_bench *bench, const struct candidate *candidate)
{
	char text[96];
	const char *why = gt_bench_refuses(bench, candidate->file, text, sizeof(text));

	if (why)
		gt_bench_leave_out(bench, candidate->name, "%s", why);
}

int gt_measure_arithmetic(struct gt_bench *bench, struct gt_error *err)
{
	CUdeviceptr to = 0;
	char why[96];
	int result = gt_gpu_alloc(&bench->gpu, 1 << 16, &to, err);

	for (size_t i = 0; result == 0 && i < GT_COUNT_OF(candidates); i++) {
		const struct candidate *candidate = &candidates[i];

		if (gt_bench_wants(bench, candidate->name) &&
		    !gt_bench_refuses(bench, candidate->file, why, sizeof(why)))
			result = measure(bench, candidate, to, err);
	}
	for (size_t i = 0; result == 0 && i < GT_COUNT_OF(candidates); i++)
		if (gt_bench_wants(bench, candidates[i].name))
			leave_out(bench, &candidates[i]);
	return result;
}
