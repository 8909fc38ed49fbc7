/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_COMMANDS_H
#define GT_REPLAY_GPU_COMMANDS_H

#include <stdbool.h>

#include "replay/gpu/gpu.h"

/*
 * Work that is put together once and run as often as wanted, by one call: a CUDA graph. Work put
 * into the stream between begin and end is not run then.
 */
struct gt_commands {
	const struct gt_gpu *gpu;
	CUstream stream; /* that was captured */
	CUgraphExec exec;
};

int gt_commands_begin(struct gt_commands *commands, const struct gt_gpu *gpu, CUstream stream,
                      struct gt_error *err);

/* Is called after each begin that succeeded; failed: nothing is made of what was captured. */
int gt_commands_end(struct gt_commands *commands, bool failed, struct gt_error *err);
int gt_commands_run(const struct gt_commands *commands, CUstream stream, struct gt_error *err);
void gt_commands_close(struct gt_commands *commands);

#endif
