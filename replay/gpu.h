/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_H
#define GT_REPLAY_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "replay/cuda.h"

struct gt_error;

/*
 * A GPU in use: its primary context, one stream, two events to time what is in that stream, and all
 * modules and memory that were taken, which are given back together. For one thread, whose current
 * context it sets.
 */
struct gt_gpu {
	const struct gt_cuda *cuda;
	CUdevice device;
	int ordinal;
	CUcontext context;
	CUstream stream;
	CUevent begin;
	CUevent end;
	gt_array(CUmodule) modules;
	gt_array(CUdeviceptr) blocks;
	gt_array(void *) pinned;
};

/* The GPU of that number. After a failure it is closed. cuda must outlive it. */
int gt_gpu_open(struct gt_gpu *gpu, const struct gt_cuda *cuda, int ordinal, struct gt_error *err);
void gt_gpu_close(struct gt_gpu *gpu);

/* Makes its context the thread's again, after that of another GPU. */
int gt_gpu_select(const struct gt_gpu *gpu, struct gt_error *err);

/* 0 where the driver does not say. */
int gt_gpu_attribute(const struct gt_gpu *gpu, CUdevice_attribute attribute);

enum { GT_GPU_UUID_BYTES = 48 };

/* GPU- and so on, as nvidia-smi prints it; "" when the driver does not tell. */
void gt_gpu_uuid(const struct gt_gpu *gpu, char text[GT_GPU_UUID_BYTES]);

/* Memory of the GPU, and of the host, which the GPU can address; until the GPU is closed. */
int gt_gpu_alloc(struct gt_gpu *gpu, size_t bytes, CUdeviceptr *address, struct gt_error *err);
int gt_gpu_alloc_pinned(struct gt_gpu *gpu, size_t bytes, void **address, struct gt_error *err);

/* Gives back the memory, before the GPU is closed. */
void gt_gpu_free_all(struct gt_gpu *gpu);

/* Code for the GPU: PTX, which the driver compiles, or a cubin. what is what a sentence calls it. */
int gt_gpu_load(struct gt_gpu *gpu, const void *image, const char *what, CUmodule *module,
                struct gt_error *err);

/* Between the two: work in the stream, whose time is then waited for. */
int gt_gpu_start_timer(const struct gt_gpu *gpu, struct gt_error *err);
int gt_gpu_stop_timer(const struct gt_gpu *gpu, double *ns, struct gt_error *err);

/* Waits for all that is in the stream. */
int gt_gpu_wait(const struct gt_gpu *gpu, struct gt_error *err);

#endif
