/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/throttle.h"
#include "support/check.h"

/* The numbers are those of NVML's documentation, the names nvidia-smi's. */
Test(throttle, names_are_nvmls)
{
	static const char *const names[] = {
		"gpu_idle",
		"applications_clocks_setting",
		"sw_power_cap",
		"hw_slowdown",
		"sync_boost",
		"sw_thermal_slowdown",
		"hw_thermal_slowdown",
		"hw_power_brake_slowdown",
		"display_clock_setting",
		"board_limit",
		"reliability",
	};

	for (unsigned bit = 0; bit < sizeof(names) / sizeof(names[0]); bit++)
		expect_text(gt_throttle_name(UINT64_C(1) << bit), names[bit]);
}

Test(throttle, of_an_unknown_bit_or_of_several_is_unknown)
{
	expect_text(gt_throttle_name(0), "unknown");
	expect_text(gt_throttle_name(0x800), "unknown");
	expect_text(gt_throttle_name(GT_THROTTLE_SW_POWER_CAP | GT_THROTTLE_HW_SLOWDOWN),
	            "unknown");
	expect_text(gt_throttle_name(UINT64_C(1) << 63), "unknown");
	expect_text(gt_throttle_help(0x800), "a reason that is newer than this program");
	expect_text(gt_throttle_help(GT_THROTTLE_SW_POWER_CAP), "the power limit is reached");
}

Test(throttle, slows_work_when_power_heat_or_another_gpu_is_the_reason)
{
	cr_expect(eq(u64, gt_throttle_slowing(0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80 | 0x200),
	             0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80 | 0x200));
}

Test(throttle, is_none_when_idle_or_set_so_or_unknown)
{
	cr_expect(eq(u64, gt_throttle_slowing(0), 0));
	cr_expect(eq(u64, gt_throttle_slowing(0x1), 0));
	cr_expect(eq(u64, gt_throttle_slowing(0x2 | 0x100 | 0x400), 0));
	cr_expect(eq(u64, gt_throttle_slowing(~UINT64_C(0x7ff)), 0));
	cr_expect(eq(u64, gt_throttle_slowing(0x1 | 0x4), 0x4));
}

Test(throttle, bits_come_one_by_one)
{
	uint64_t left = UINT64_C(1) << 63 | 0x20 | 0x4;

	cr_expect(eq(u64, gt_throttle_next(&left), 0x4));
	cr_expect(eq(u64, gt_throttle_next(&left), 0x20));
	cr_expect(eq(u64, gt_throttle_next(&left), UINT64_C(1) << 63));
	cr_expect(eq(u64, gt_throttle_next(&left), 0));
	cr_expect(eq(u64, left, 0));
}
