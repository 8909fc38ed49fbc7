/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/heavy_shapes.h"
#include "model/gpu/ceilings.h"
#include "model/trace.h"
#include "model/view/view.h"

enum {
	MOST_PERCENT = 5,        /* of the cycles tensor cores work: they are not used */
	LEAST_DRAM_PERCENT = 60, /* bound by memory: tensor cores would change nothing */
	FIRST_MAJOR = 8,         /* the first that has tensor cores for FP32, as TF32 */
};

/* Of FP32 kernels: how much faster TF32 is at most, by ceilings; NAN: not known. */
static double tf32_gain(const struct gt_heavy *heavy)
{
	const struct gt_trace *trace = heavy->facts->view->trace;
	const struct gt_ceiling_pair fp32 =
		gt_ceilings_of(trace, heavy->total->device, GT_CEILING_fp32);
	const struct gt_ceiling_pair tf32 =
		gt_ceilings_of(trace, heavy->total->device, GT_CEILING_tensor_tf32);

	if (fp32.measured && tf32.measured)
		return 1 - fp32.measured->value / tf32.measured->value;
	if (fp32.theoretical && tf32.theoretical)
		return 1 - fp32.theoretical->value / tf32.theoretical->value;
	return NAN;
}

/* Names of cuBLAS, cuDNN and CUTLASS tell what a kernel multiplies: "gemm 32x32x8 tn fp32". */
static bool is_fp32(const struct gt_heavy *heavy)
{
	const char *name = gt_trace_text(heavy->facts->view->trace, heavy->shape->short_name);

	return strstr(name, " fp32") != NULL;
}

static void say_idle(const struct gt_heavy *heavy, struct gt_advice *advice, double active)
{
	const double gain = tf32_gain(heavy);
	struct gt_advice_row *row =
		gt_advise(advice, GT_ADVICE_CHANGE,
	                  "%s multiplies matrices, and tensor cores worked in %s of its cycles. %s",
	                  heavy->name, gt_figure_percent(active).text,
	                  is_fp32(heavy)
	                          ? "FP32 runs on them as TF32 where that is allowed "
	                            "(torch.set_float32_matmul_precision, "
	                            "JAX_DEFAULT_MATMUL_PRECISION), with 10 bits of the mantissa."
	                          : "Other types, or sizes that are multiples of 8, may bring it "
	                            "there.");

	(void)gt_heavy_cite_time(heavy, row);
	gt_heavy_cite(heavy, row, GT_SHAPE_tensor_active_percent);
	if (is_fp32(heavy) && gain > 0 && gain < 1)
		gt_heavy_gain(heavy, row, gain,
		              "time of the kernel, times 1 - peak of FP32 / peak of TF32");
}

static void say_unmeasured(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	gt_advice_unasked(advice, GT_NO_COMPUTE_COUNTERS);
	if (!is_fp32(heavy))
		return;
	(void)gt_heavy_cite_time(
		heavy, gt_advise(advice, GT_ADVICE_MEASURE,
	                         "%s multiplies FP32 matrices, by its name without tensor cores: "
	                         "run --kernel-counters=compute tells whether they work.",
	                         heavy->name));
}

/* Only kernels whose name tells the tile of a multiplication: others may be vectors or sums. */
static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const double active = gt_heavy_counter(heavy, GT_SHAPE_tensor_active_percent);
	const double dram = gt_heavy_counter(heavy, GT_SHAPE_dram_throughput_percent);

	if (heavy->shape->tile == 0 || heavy->device->cc_major < FIRST_MAJOR ||
	    active > MOST_PERCENT || dram >= LEAST_DRAM_PERCENT)
		return;
	if (isnan(active))
		say_unmeasured(heavy, advice);
	else
		say_idle(heavy, advice, active);
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_heavy_shapes(facts, advice, look_at);
}

const struct gt_advice_rule gt_advice_tensor_idle = {
	.name = "tensor_idle",
	.summary = "Multiplications of matrices that leave the tensor cores idle",
	.report = "kernels",
	.of_recording = look,
};
