/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_GPUS_CHOICE_H
#define GT_CLI_GPUS_CHOICE_H

#include <stdbool.h>

#include "replay/gpu/gpu.h"

struct gt_error;

/* The GPUs that commands measure on, as their options name them: by number or by UUID. */

/*
 * Opens the driver without the profiler that the environment may name for CUDA to load: it would be
 * measured too. Fails as gt_cuda_open does.
 */
int gt_gpu_open_driver(struct gt_cuda *cuda, struct gt_error *err);

/* Whether the word is the GPU's number, as CUDA counts, or its UUID. */
bool gt_gpu_is_meant(const struct gt_cuda *cuda, const char *word, int ordinal);

/* The GPU that a word means; -EINVAL: there is none. */
int gt_gpu_choose(const struct gt_cuda *cuda, const char *word, int *ordinal, struct gt_error *err);

/* Its UUID; "": the driver does not tell. */
void gt_gpu_name(const struct gt_cuda *cuda, int ordinal, char uuid[GT_GPU_UUID_BYTES]);

#endif
