/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_THROTTLE_H
#define GT_MODEL_GPU_THROTTLE_H

#include <stdint.h>

/*
 * Why a GPU's clocks are lower than they could be: the bits of the counter throttle_reasons,
 * numbered as NVML does (nvmlClocksEventReason..., called nvmlClocksThrottleReason... before
 * driver 535). Several can hold at a time. Names and sentences are constant.
 */
enum gt_throttle {
	GT_THROTTLE_GPU_IDLE = 0x1,
	GT_THROTTLE_APPLICATIONS_CLOCKS_SETTING = 0x2,
	GT_THROTTLE_SW_POWER_CAP = 0x4,
	GT_THROTTLE_HW_SLOWDOWN = 0x8,
	GT_THROTTLE_SYNC_BOOST = 0x10,
	GT_THROTTLE_SW_THERMAL_SLOWDOWN = 0x20,
	GT_THROTTLE_HW_THERMAL_SLOWDOWN = 0x40,
	GT_THROTTLE_HW_POWER_BRAKE_SLOWDOWN = 0x80,
	GT_THROTTLE_DISPLAY_CLOCK_SETTING = 0x100,
	GT_THROTTLE_BOARD_LIMIT = 0x200,
	GT_THROTTLE_RELIABILITY = 0x400,
};

/* The name of a single bit, "sw_power_cap"; "unknown" for one that is not in the list. */
const char *gt_throttle_name(uint64_t reason);

/* Meaning of a single bit, as the end of a sentence: "the power limit is reached". */
const char *gt_throttle_help(uint64_t reason);

/*
 * Those of the bits that slow work down in a way that comes and goes. Being idle slows nothing,
 * clocks that someone set stay as they are for the whole run, the highest clock that a chip runs
 * at reliably is as fast as it gets, and what an unknown bit does nobody can say.
 */
uint64_t gt_throttle_slowing(uint64_t reasons);

/* Takes the lowest bit off *reasons and returns it; 0 when none is left. */
uint64_t gt_throttle_next(uint64_t *reasons);

#endif
