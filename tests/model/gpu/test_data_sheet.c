/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/data_sheet.h"

#include <math.h>

#include "model/trace.h"
#include "support/check.h"

/* Within this share of what NVIDIA's data sheets say, whose clocks are rounded. */
static bool near(double value, double said, double share)
{
	return fabs(value - said) <= share * said;
}

/* H200 SXM: 4.8 TB/s, FP64 34, FP32 67, FP64 on tensor cores 67, and half of what it says of sparse
 * matrices: TF32 494.5, FP16 and BF16 989.5, FP8 1979 TFLOP/s, at a boost clock of 1830 MHz. */
static const struct gt_device h200 = {
	.cc_major = 9,
	.cc_minor = 0,
	.sm_count = 132,
	.sm_clock_khz = 1980000,
	.memory_clock_khz = 3201000,
	.memory_bus_bits = 6016,
	.pcie_generation = 5,
	.pcie_width = 16,
};

Test(data_sheet, says_what_the_h200s_says)
{
	struct gt_device boosted = h200;

	boosted.sm_clock_khz = 1830000;
	cr_expect(near(gt_data_sheet(&h200, GT_CEILING_dram_read), 4.8e12, 0.01));
	cr_expect(near(gt_data_sheet(&h200, GT_CEILING_fp64), 33.5e12, 0.01));
	cr_expect(near(gt_data_sheet(&h200, GT_CEILING_fp32), 67e12, 0.01));
	cr_expect(near(gt_data_sheet(&h200, GT_CEILING_tensor_fp64), 67e12, 0.01));
	cr_expect(near(gt_data_sheet(&boosted, GT_CEILING_tensor_tf32), 494.5e12, 0.01));
	cr_expect(near(gt_data_sheet(&boosted, GT_CEILING_tensor_bf16), 989.5e12, 0.01));
	cr_expect(near(gt_data_sheet(&boosted, GT_CEILING_tensor_fp8), 1979e12, 0.01));
	cr_expect(near(gt_data_sheet(&h200, GT_CEILING_pcie_to_host_pinned), 63e9, 0.01));
}

/* A100 40 GB: 1555 GB/s, FP64 9.7, FP32 19.5, FP16 78, TF32 156, FP16 on tensor cores 312. */
Test(data_sheet, says_what_the_a100s_says)
{
	const struct gt_device a100 = {
		.cc_major = 8,
		.sm_count = 108,
		.sm_clock_khz = 1410000,
		.memory_clock_khz = 1215000,
		.memory_bus_bits = 5120,
	};

	cr_expect(near(gt_data_sheet(&a100, GT_CEILING_dram_copy), 1555e9, 0.01));
	cr_expect(near(gt_data_sheet(&a100, GT_CEILING_fp64), 9.7e12, 0.01));
	cr_expect(near(gt_data_sheet(&a100, GT_CEILING_fp32), 19.5e12, 0.01));
	cr_expect(near(gt_data_sheet(&a100, GT_CEILING_fp16), 78e12, 0.01));
	cr_expect(near(gt_data_sheet(&a100, GT_CEILING_tensor_tf32), 156e12, 0.01));
	cr_expect(near(gt_data_sheet(&a100, GT_CEILING_tensor_fp16), 312e12, 0.01));
	cr_expect(isnan(gt_data_sheet(&a100, GT_CEILING_tensor_fp8)), "it has none");
}

Test(data_sheet, does_not_know_what_the_driver_did_not_say)
{
	struct gt_device device = h200;

	device.sm_clock_khz = 0;
	device.memory_bus_bits = 0;
	device.pcie_generation = 99;
	for (unsigned name = 0; name < GT_CEILINGS; name++)
		cr_expect(isnan(gt_data_sheet(&device, name)), "%s", gt_ceiling_names[name]);
	device = h200;
	device.cc_minor = 7;
	cr_expect(isnan(gt_data_sheet(&device, GT_CEILING_fp32)), "a capability of no table");
	cr_expect(isnan(gt_data_sheet(&h200, GT_CEILING_launch_latency)));
}
