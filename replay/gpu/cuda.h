/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_CUDA_H
#define GT_REPLAY_GPU_CUDA_H

#include <cuda.h>

struct gt_error;

/*
 * The CUDA driver of this machine, opened at run time: gputrace is not linked with it, since most
 * of what it does needs none.
 */
struct gt_cuda {
	void *library;
#define CALL(name, symbol, parameters) CUresult(*name) parameters;
#include "replay/gpu/cuda_calls.def"
};

/*
 * Opens libcuda and initialises it. Fails in words of the user: -ENODEV no driver or no GPU,
 * -ENOTSUP a driver that is too old. The library stays loaded, as CUDA cannot be started twice.
 */
int gt_cuda_open(struct gt_cuda *cuda, struct gt_error *err);

/* 0 for CUDA_SUCCESS; else fails with "WHAT: NAME (text)", -ENOMEM for too little memory, or -EIO. */
int gt_cuda_check(const struct gt_cuda *cuda, CUresult code, struct gt_error *err,
                  const char *what);

/* How many GPUs there are: those of CUDA_VISIBLE_DEVICES, where that is set. */
int gt_cuda_count(const struct gt_cuda *cuda);

#endif
