/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/throttle.h"

#include <stdbool.h>
#include <stddef.h>

static const struct reason {
	uint64_t bit;
	bool slows;
	const char *name;
	const char *help;
} reasons_known[] = {
	{GT_THROTTLE_GPU_IDLE, false, "gpu_idle", "nothing runs on the GPU"},
	{GT_THROTTLE_APPLICATIONS_CLOCKS_SETTING, false, "applications_clocks_setting",
         "someone set the clocks for applications (nvidia-smi -ac)"},
	{GT_THROTTLE_SW_POWER_CAP, true, "sw_power_cap", "the power limit is reached"},
	{GT_THROTTLE_HW_SLOWDOWN, true, "hw_slowdown",
         "the hardware cut the clocks to half or less: heat, power or a power brake"},
	{GT_THROTTLE_SYNC_BOOST, true, "sync_boost",
         "a GPU of the same sync boost group holds the clocks down"},
	{GT_THROTTLE_SW_THERMAL_SLOWDOWN, true, "sw_thermal_slowdown",
         "the chip or its memory is too hot"},
	{GT_THROTTLE_HW_THERMAL_SLOWDOWN, true, "hw_thermal_slowdown",
         "the hardware cut the clocks to half or less: too hot"},
	{GT_THROTTLE_HW_POWER_BRAKE_SLOWDOWN, true, "hw_power_brake_slowdown",
         "the machine's power supply pulled the brake"},
	{GT_THROTTLE_DISPLAY_CLOCK_SETTING, false, "display_clock_setting",
         "the clocks are set for the display"},
	{GT_THROTTLE_BOARD_LIMIT, true, "board_limit", "the board cannot deliver more power"},
	{GT_THROTTLE_RELIABILITY, false, "reliability",
         "more would need a voltage that is not reliable"},
};

#define REASON_COUNT (sizeof(reasons_known) / sizeof(reasons_known[0]))

static const struct reason *find(uint64_t bit)
{
	for (size_t i = 0; i < REASON_COUNT; i++)
		if (reasons_known[i].bit == bit)
			return &reasons_known[i];
	return NULL;
}

const char *gt_throttle_name(uint64_t reason)
{
	const struct reason *known = find(reason);

	return known ? known->name : "unknown";
}

const char *gt_throttle_help(uint64_t reason)
{
	const struct reason *known = find(reason);

	return known ? known->help : "a reason that is newer than this program";
}

uint64_t gt_throttle_slowing(uint64_t reasons)
{
	uint64_t slowing = 0;

	for (size_t i = 0; i < REASON_COUNT; i++)
		if (reasons_known[i].slows)
			slowing |= reasons_known[i].bit;
	return reasons & slowing;
}

uint64_t gt_throttle_next(uint64_t *reasons)
{
	const uint64_t lowest = *reasons & (~*reasons + 1);

	*reasons -= lowest;
	return lowest;
}
