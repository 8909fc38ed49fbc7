/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "model/gpu/throttle.h"
#include "replay/gpu/cuda.h"
#include "replay/gpu/gpu.h"
#include "replay/gpu/state.h"
#include "support/check.h"

/* The fake libnvidia-ml is found where the test's environment says. */

static void open_with(struct gt_gpu_state *state, const char *script)
{
	struct gt_cuda cuda;
	struct gt_gpu gpu = {.cuda = &cuda};
	char uuid[GT_GPU_UUID_BYTES];

	cr_assert(eq(int, setenv("FAKE_CUPTI", script, 1), 0));
	cr_assert(eq(int, gt_cuda_open(&cuda, NULL), 0));
	cr_assert(eq(int, cuda.device_get(&gpu.device, 0), CUDA_SUCCESS));
	gt_gpu_uuid(&gpu, uuid);
	gt_gpu_state_open(state, uuid);
	cr_assert(ne(ptr, state->library, NULL));
}

Test(gpu_state, tells_what_slows_it_down)
{
	struct gt_gpu_state state;
	uint64_t reasons = 0;

	open_with(&state, "throttle=64");
	cr_expect(gt_gpu_state_slowed(&state, &reasons));
	cr_expect(eq(u64, reasons, GT_THROTTLE_HW_THERMAL_SLOWDOWN), "being idle slows nothing");
	cr_expect(gt(uint, gt_gpu_state_sm_mhz(&state), 0));
	gt_gpu_state_close(&state);
	gt_gpu_state_close(&state);
}

Test(gpu_state, tells_others_from_this_process)
{
	struct gt_gpu_state state;

	open_with(&state, "others_bytes=1000000");
	cr_expect(eq(int, gt_gpu_state_others(&state), 1));
	gt_gpu_state_close(&state);
}

Test(gpu_state, has_nobody_else_on_a_gpu_of_its_own)
{
	struct gt_gpu_state state;

	open_with(&state, "devices=1");
	cr_expect(eq(int, gt_gpu_state_others(&state), 0));
	gt_gpu_state_close(&state);
}

Test(gpu_state, does_not_know_what_nvml_does_not_say)
{
	struct gt_gpu_state state;
	uint64_t reasons = 0;

	open_with(&state, "nvml_fail=processes+clocks+throttle");
	cr_expect(eq(int, gt_gpu_state_others(&state), -1));
	cr_expect(eq(uint, gt_gpu_state_sm_mhz(&state), 0));
	cr_expect(not(gt_gpu_state_slowed(&state, &reasons)));
	gt_gpu_state_close(&state);
	gt_gpu_state_open(&state, "GPU-nobody");
	cr_expect(eq(int, gt_gpu_state_others(&state), -1));
	gt_gpu_state_close(&state);
}
