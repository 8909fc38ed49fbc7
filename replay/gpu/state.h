/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_STATE_H
#define GT_REPLAY_GPU_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/nvml_types.h"

/*
 * How a GPU is while work is measured on it, as NVML says: its clock, what holds that down, and who
 * else uses it. NVML is opened at run time; what it does not tell is not known, which is not 0. For
 * one thread.
 */
struct gt_gpu_state {
	void *library; /* NULL: NVML is not there, or does not know the GPU */
	gt_nvml_handle device;
#define CALL(name, parameters) gt_nvml_result(*name) parameters; /* NULL: missing */
#include "replay/gpu/nvml_calls.def"
};

/* The GPU of that UUID. Without NVML all that is asked is not known. */
void gt_gpu_state_open(struct gt_gpu_state *state, const char *uuid);
void gt_gpu_state_close(struct gt_gpu_state *state);

/* Clock of the multiprocessors now; 0: not known. */
unsigned gt_gpu_state_sm_mhz(const struct gt_gpu_state *state);

/*
 * Reasons for which the clocks are lower now than they could be and that come and go: bits of
 * model/gpu/throttle.h. 0: none, or not known; false then.
 */
bool gt_gpu_state_slowed(const struct gt_gpu_state *state, uint64_t *reasons);

/*
 * How many processes but this one have a context on the GPU; negative: not known. Inside a container
 * the driver may tell processes by the host's numbers: ask while this process has no context.
 */
int gt_gpu_state_others(const struct gt_gpu_state *state);

#endif
